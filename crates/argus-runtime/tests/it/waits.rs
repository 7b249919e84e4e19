//! Kernels that wait for what a later task writes: each core is a machine of its own, however few threads there are.

use std::time::Duration;

use argus_runtime::{Arg, Program, RunConfig, RunError};
use argus_tile::{GlobalShape, WaitFor};

use crate::programs::{FILL, Kernels, MOVE, config, fill, own, read, refusal, results, shift, write};

/// Vector cores of the chip under test.
const CORES: u32 = 8;

fn narrow(host_threads: usize) -> RunConfig {
    RunConfig { host_threads: Some(host_threads), progress_timeout: Duration::from_secs(10), ..config() }
}

/// All vector cores but one wait for the gate, which a task behind them opens.
fn gated(kernels: Kernels, waiting: u32) -> Program {
    kernels.trb(move |trb, args| {
        let (gate, seen) = (args.tensor(0)?, args.tensor(1)?);
        for index in 0..waiting {
            let at = seen.view(&[1], &[index]).unwrap();
            trb.submit_aiv(own(0), Arg::new().no_dep(gate).output(&at))?;
        }
        trb.submit_aiv(FILL, fill(gate, 7, 0)).map(drop)
    })
}

#[test]
fn kernels_may_wait_for_a_task_behind_them_by_looking_at_memory() {
    let kernels = || {
        Kernels::standard().own(0, |core, args| {
            while read(core, args.tensor(0)?)? == [0] {
                std::thread::yield_now();
            }
            let seen = read(core, args.tensor(0)?)?;
            write(core, args.tensor(1)?, &seen)
        })
    };
    for host_threads in [1, 2] {
        let ended = results(&gated(kernels(), CORES - 1), &[&[0], &[0; 7]], &narrow(host_threads));
        assert_eq!(ended, [vec![7], vec![7; 7]], "{host_threads} threads");
    }
}

#[test]
fn kernels_may_wait_for_a_task_behind_them_by_a_signal() {
    let kernels = || {
        Kernels::standard().own(0, |core, args| {
            let gate = core.global(args.tensor(0)?, GlobalShape::nd(1, 1))?;
            core.twait(&gate, 7, WaitFor::GreaterOrEqual)?;
            write(core, args.tensor(1)?, &[7])
        })
    };
    for host_threads in [1, 2] {
        let ended = results(&gated(kernels(), CORES - 1), &[&[0], &[0; 7]], &narrow(host_threads));
        assert_eq!(ended, [vec![7], vec![7; 7]], "{host_threads} threads");
    }
}

/// Writes 5 and is complete when the gate is open.
fn deferring() -> Kernels {
    Kernels::standard().own(0, |core, args| {
        let gate = core.global(args.tensor(0)?, GlobalShape::nd(1, 1))?;
        core.complete_when(&gate, 7)?;
        write(core, args.tensor(1)?, &[5])
    })
}

/// More of them than cores: each frees its core, so the task that opens the gate finds one. A consumer of the first
/// looks at the gate, which is open by then.
#[test]
fn tasks_that_complete_later_hold_no_core_and_hold_back_their_consumers() {
    let program = deferring().own(1, |core, args| {
        let gate = read(core, args.tensor(1)?)?;
        write(core, args.tensor(2)?, &gate)
    });
    let program = program.trb(|trb, args| {
        let (gate, seen, copied) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
        for index in 0..2 * CORES {
            let at = seen.view(&[1], &[index]).unwrap();
            trb.submit_aiv(own(0), Arg::new().no_dep(gate).output(&at))?;
        }
        let first = seen.view(&[1], &[0]).unwrap();
        trb.submit_aiv(own(1), Arg::new().input(&first).no_dep(gate).output(copied))?;
        trb.submit_aiv(MOVE, shift(&first, &seen.view(&[1], &[2 * CORES]).unwrap(), 0))?;
        trb.submit_aiv(FILL, fill(gate, 7, 5)).map(drop)
    });
    for host_threads in [1, 2, 4] {
        let ended = results(&program, &[&[0], &[0; 17], &[0]], &narrow(host_threads));
        let mut seen = vec![5; 17];
        seen[16] = 6;
        assert_eq!(ended, [vec![7], seen, vec![7]], "{host_threads} threads");
    }
}

#[test]
fn a_task_that_nobody_notifies_is_named_with_what_it_waits_for() {
    let program = deferring().trb(|trb, args| {
        let (gate, seen) = (args.tensor(0)?, args.tensor(1)?);
        trb.submit_aiv(own(0), Arg::new().no_dep(gate).output(seen)).map(drop)
    });
    let config = RunConfig { progress_timeout: Duration::from_millis(200), ..config() };
    let error = refusal(&program, &[&[3], &[0]], &config);
    assert!(matches!(error, RunError::NotNotified { .. }), "{error}");
    let told = error.to_string();
    for part in [
        "no task completed for 200ms; kernel 'a test's kernel' of task 0x0000000000000000",
        "has ended, but its completion waits for a signal >= 7, which is 3 (",
        "waits.rs:",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}
