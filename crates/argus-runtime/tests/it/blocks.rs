//! Tasks on several cores: blocks, mixes, and cohorts that start together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use argus_abi::{FatalCode, KernelArgs};
use argus_runtime::{Arg, Hazards, MixedKernels, RunConfig};
use argus_tile::{Core, Fault, KernelResult};

use crate::programs::{BUMP, FILL, Kernels, bump, config, fill, own, refusal, results, wait_ms, write};

/// Waits until `expected` kernels have arrived; a partner that never comes is a fault and not a hang.
fn meet(arrived: &AtomicU32, expected: u32) -> KernelResult {
    arrived.fetch_add(1, SeqCst);
    until(arrived, expected)
}

fn until(count: &AtomicU32, expected: u32) -> KernelResult {
    for _ in 0..3000 {
        if count.load(SeqCst) >= expected {
            return Ok(());
        }
        wait_ms(1);
    }
    Err(Fault::kernel(format!("{} of {expected} came", count.load(SeqCst))))
}

/// Adds the number of blocks to element `block_idx` of slot 0.
fn counting_blocks(core: &mut Core, args: &KernelArgs<'_>) -> KernelResult {
    let element = args.tensor(0)?.view(&[1], &[args.block_idx() as u32]).unwrap();
    let value = crate::programs::read(core, &element)?[0];
    write(core, &element, &[value + args.block_num()])
}

#[test]
fn blocks_beyond_the_cores_run_in_waves_and_each_runs_once() {
    let program = Kernels::standard().own(0, counting_blocks).own_aic(1, counting_blocks).trb(|trb, args| {
        trb.submit_aiv(own(0), Arg::new().inout(args.tensor(0)?).blocks(300))?;
        trb.submit_aic(own(1), Arg::new().inout(args.tensor(1)?).blocks(77))?;
        // Waits for the last block, not for the first.
        trb.submit_aiv(BUMP, bump(args.tensor(0)?, 0)).map(drop)
    });
    for clusters in [1, 3, 24] {
        let config = RunConfig { block_dim: Some(clusters), ..config() };
        let expected = [vec![301; 300], vec![77; 77]];
        assert_eq!(results(&program, &[&[0; 300], &[0; 77]], &config), expected, "{clusters} clusters");
    }
}

/// Every member of a mix notes `1 + place` in its element and leaves only when all three have come.
fn mixes() -> Kernels {
    let arrived: Arc<Vec<AtomicU32>> = Arc::new((0..64).map(|_| AtomicU32::new(0)).collect());
    let member = move |place: i32| {
        let arrived = Arc::clone(&arrived);
        move |core: &mut Core, args: &KernelArgs<'_>| {
            let number = args.scalar(1)? as usize + args.block_idx() as usize;
            let place = if place == 0 { 0 } else { 1 + args.sub_block_id() };
            let at = number as u32 * 3 + place as u32;
            write(core, &args.tensor(0)?.view(&[1], &[at]).unwrap(), &[1 + place])?;
            meet(&arrived[number], 3)
        }
    };
    Kernels::standard().own_aic(0, member(0)).own(1, member(1))
}

fn mix() -> MixedKernels {
    MixedKernels { aic: Some(own(0)), aiv0: Some(own(1)), aiv1: Some(own(1)) }
}

#[test]
fn members_of_a_mix_that_wait_for_each_other_finish_on_any_number_of_threads() {
    for (host_threads, clusters) in [(1, 1), (1, 4), (2, 2), (8, 4)] {
        let program = mixes().trb(|trb, args| {
            let all = args.tensor(0)?.with_manual_dep(true);
            trb.submit(mix(), Arg::new().inout(&all).scalar(0).blocks(10))?;
            trb.submit(mix(), Arg::new().inout(&all).scalar(10).blocks(6)).map(drop)
        });
        let config = RunConfig { host_threads: Some(host_threads), block_dim: Some(clusters), ..config() };
        let expected: Vec<i32> = (0..48).map(|index| 1 + index % 3).collect();
        assert_eq!(results(&program, &[&[0; 48]], &config), [expected], "{host_threads} threads");
    }
}

#[test]
fn a_lone_second_vector_kernel_is_a_single_task() {
    let program = mixes().trb(|trb, args| {
        let kernels = MixedKernels { aiv1: Some(crate::programs::FILL), ..MixedKernels::default() };
        trb.submit(kernels, fill(args.tensor(0)?, 6, 0).blocks(3)).map(drop)
    });
    assert_eq!(results(&program, &[&[0]], &config()), [[6]]);
}

#[test]
fn a_cohort_is_on_cores_together_even_on_one_thread() {
    // Vector blocks fill both vector cores of every cluster; matrix and mix blocks all clusters.
    for host_threads in [1, 3] {
        let arrived = Arc::new([AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0)]);
        let kernel = || {
            let arrived = Arc::clone(&arrived);
            move |core: &mut Core, args: &KernelArgs<'_>| {
                let at = args.block_idx() as u32;
                write(core, &args.tensor(0)?.view(&[1], &[at]).unwrap(), &[at as i32 + 1])?;
                meet(&arrived[args.scalar(1)? as usize], args.scalar(2)? as u32)
            }
        };
        let kernels = Kernels::standard().own_aic(0, kernel()).own(1, kernel());
        let program = kernels.trb(|trb, args| {
            let arg = |index: usize, blocks: u32, all: u64| {
                let arg = Arg::new().inout(args.tensor(index)?).scalar(index as u64).scalar(all);
                Ok(arg.blocks(blocks).sync_start())
            };
            trb.submit_aiv(own(1), arg(0, 8, 8)?)?;
            trb.submit_aic(own(0), arg(1, 4, 4)?)?;
            trb.submit(mix(), arg(2, 4, 12)?).map(drop)
        });
        let config = RunConfig { host_threads: Some(host_threads), ..config() };
        let expected = [(1..=8).collect::<Vec<i32>>(), vec![1, 2, 3, 4], vec![1, 2, 3, 4]];
        assert_eq!(results(&program, &[&[0; 8], &[0; 4], &[0; 4]], &config), expected);
    }
}

#[test]
fn cohorts_and_mixes_get_their_cores_while_singles_flood_the_chip() {
    for (host_threads, control_threads) in [(1, 1), (3, 4)] {
        let rounds = 6;
        let arrived: Arc<Vec<AtomicU32>> = Arc::new((0..rounds).map(|_| AtomicU32::new(0)).collect());
        let kernels = mixes().own(2, move |_, args| meet(&arrived[args.scalar(0)? as usize], 6));
        let program = kernels.trb(move |trb, args| {
            let (words, marks) = (args.tensor(0)?, args.tensor(1)?.with_manual_dep(true));
            for round in 0..rounds as u64 {
                for index in 0..40 {
                    let word = words.view(&[1], &[(index + round as u32) % 64]).unwrap();
                    trb.submit_aiv(BUMP, bump(&word, u64::from(index % 16 == 0)))?;
                }
                trb.submit_aiv(own(2), Arg::new().scalar(round).blocks(6).sync_start())?;
                trb.submit(mix(), Arg::new().inout(&marks).scalar(round * 2).blocks(2))?;
            }
            Ok(())
        });
        let config = RunConfig {
            host_threads: Some(host_threads),
            control_threads: Some(control_threads),
            block_dim: Some(3),
            ..config()
        };
        let mut expected = vec![0; 64];
        for round in 0..rounds {
            (0..40).for_each(|index| expected[(index + round) % 64] += 1);
        }
        let marks: Vec<i32> = (0..rounds as i32 * 6).map(|index| 1 + index % 3).collect();
        assert_eq!(results(&program, &[&[0; 64], &vec![0; rounds * 6]], &config), [expected, marks]);
    }
}

/// The orchestrator counts as a free thread only while it helps. When it continues with its own work, a thread
/// else must be there for the partner of a kernel that waits.
#[test]
fn a_mix_finishes_while_the_orchestrator_is_busy_with_something_else() {
    let [started, helping, arrived, done] = [(); 4].map(|()| Arc::new(AtomicU32::new(0)));
    let member = || {
        let (arrived, done) = (Arc::clone(&arrived), Arc::clone(&done));
        move |_: &mut Core, _: &KernelArgs<'_>| {
            meet(&arrived, 2)?;
            done.fetch_add(1, SeqCst);
            Ok(())
        }
    };
    let (starts, helps, sees_help) = (Arc::clone(&started), Arc::clone(&helping), helping);
    let kernels = Kernels::standard()
        .own_aic(0, member())
        .own(1, member())
        // Keeps the second thread until the orchestrator's runs the other kernel.
        .own(2, move |_, _| {
            starts.store(1, SeqCst);
            until(&sees_help, 1)
        })
        .own(3, move |core, args| {
            helps.store(1, SeqCst);
            wait_ms(40);
            write(core, args.tensor(0)?, &[1])
        });
    let program = kernels.trb(move |trb, args| {
        let first = trb.submit_aiv(own(2), Arg::new())?.task_id();
        until(&started, 1).unwrap();
        trb.submit(MixedKernels { aiv1: None, ..mix() }, Arg::new().after(&[first]))?;
        trb.submit_aiv(own(3), Arg::new().output(args.tensor(0)?))?;
        assert_eq!(trb.get_tensor_data::<i32>(args.tensor(0)?, &[0])?, 1);
        until(&done, 2).unwrap();
        Ok(())
    });
    let config = RunConfig { host_threads: Some(2), ..config() };
    assert_eq!(results(&program, &[&[0]], &config), [[1]]);
}

#[test]
fn a_cohort_larger_than_the_machine_is_code_7_and_one_block_is_no_cohort() {
    let submit = |blocks: u32, matrix: bool| {
        let kernels = Kernels::standard().own_aic(0, |_, _| Ok(()));
        kernels.trb(move |trb, args| {
            let arg = fill(args.tensor(0)?, 1, 0).blocks(blocks).sync_start();
            if matrix { trb.submit_aic(own(0), arg).map(drop) } else { trb.submit_aiv(FILL, arg).map(drop) }
        })
    };
    for (blocks, matrix) in [(9, false), (5, true)] {
        let error = refusal(&submit(blocks, matrix), &[&[0]], &config());
        assert_eq!(error.fatal_code(), Some(FatalCode::RequireSyncStartInvalid), "{error}");
        results(&submit(blocks - 1, matrix), &[&[0]], &config());
        results(&submit(1, matrix), &[&[0]], &config());
    }
}

#[test]
fn every_order_of_kinds_comes_out_the_same_with_the_references_hazards_too() {
    // One element per task, so no hazards: counts only.
    let program = mixes().own(2, |core, args| write(core, args.tensor(0)?, &[9])).trb(|trb, args| {
        let [marks, words] = [args.tensor(0)?, args.tensor(1)?];
        for round in 0..10u32 {
            let own_marks = marks.view(&[3], &[round * 3]).unwrap();
            trb.submit_aiv(own(2), Arg::new().output(&words.view(&[1], &[round * 2]).unwrap()))?;
            // The mix numbers its elements from the start of the argument.
            trb.submit(mix(), Arg::new().inout(&marks.with_manual_dep(true)).scalar(u64::from(round)))?;
            trb.submit_aiv(own(2), Arg::new().output(&words.view(&[1], &[round * 2 + 1]).unwrap()))?;
            trb.submit_dummy(Arg::new().input(&own_marks))?;
        }
        Ok(())
    });
    let config = RunConfig { hazards: Hazards::Reference, block_dim: Some(1), ..config() };
    let expected = [(0..30).map(|index| 1 + index % 3).collect::<Vec<i32>>(), vec![9; 20]];
    assert_eq!(results(&program, &[&[0; 30], &[0; 20]], &config), expected);
}
