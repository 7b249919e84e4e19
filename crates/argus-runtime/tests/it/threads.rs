//! The same results with any number of control threads, host threads, devices and runs.

use argus_chip::CHIPS;
use argus_runtime::{Arg, Device, HostArgs, Program, RINGS, RingConfig, RunConfig, RunError, ScopeMode};
use argus_tile::Fault;

use crate::programs::{
    BUMP, FILL, Kernels, MOVE, arguments, bump, config, fill_new, i32s, own, results, shift, values, write,
};

const WORDS: usize = 16;

/// Some of everything: created and external tensors, chains, blocks, dummies, data access, tiny rings.
fn program(rounds: u32) -> Program {
    let kernels = Kernels::standard().own_aic(0, |core, args| {
        let at = args.block_idx() as u32;
        write(core, &args.tensor(0)?.view(&[1], &[at]).unwrap(), &[at as i32])
    });
    kernels.trb(move |trb, args| {
        let words = args.tensor(0)?;
        let at = |index: u32| words.view(&[1], &[index % WORDS as u32]).unwrap();
        for round in 0..rounds {
            trb.scope(ScopeMode::Auto, |trb| {
                let made = *trb.submit_aiv(FILL, fill_new(4, round as i32, 0)?)?.tensor(0)?;
                trb.submit_aiv(MOVE, shift(&made.view(&[1], &[3]).unwrap(), &at(round), 0))?;
                let spread = *trb.submit_aic(own(0), Arg::new().create(&i32s(5)?).blocks(5))?.tensor(0)?;
                trb.scope(ScopeMode::Auto, |trb| trb.submit_aiv(BUMP, bump(&at(round * 7), 0)).map(drop))?;
                trb.submit_dummy(Arg::new().input(words))?;
                trb.submit_aiv(MOVE, shift(&spread.view(&[1], &[4]).unwrap(), &at(round * 3 + 1), 0))
                    .map(drop)
            })?;
            if round % 16 == 0 {
                let value: i32 = trb.get_tensor_data(words, &[round % WORDS as u32])?;
                trb.set_tensor_data(words, &[round % WORDS as u32], value + 1000)?;
            }
        }
        Ok(())
    })
}

/// The same, one step after the other.
fn expected(rounds: usize) -> Vec<i32> {
    let mut words = vec![0; WORDS];
    for round in 0..rounds {
        words[round % WORDS] = round as i32 + 1;
        words[round * 7 % WORDS] += 1;
        words[(round * 3 + 1) % WORDS] = 5;
        if round % 16 == 0 {
            words[round % WORDS] += 1000;
        }
    }
    words
}

fn tiny() -> RunConfig {
    RunConfig { rings: [RingConfig { window: 8, heap: 16384, dep_pool: 64 }; RINGS], ..config() }
}

fn run_on(device: &mut Device, program: &Program, config: &RunConfig) -> Result<Vec<i32>, RunError> {
    let mut args: HostArgs = arguments(&[&[0; WORDS]]);
    device.run(program, &mut args, config)?;
    Ok(values(&args, 0))
}

#[test]
fn one_control_thread_is_enough() {
    // The orchestrator schedules whenever it would wait; one host thread does everything.
    for host_threads in [1, 4] {
        let config = RunConfig { control_threads: Some(1), host_threads: Some(host_threads), ..tiny() };
        assert_eq!(results(&program(100), &[&[0; WORDS]], &config), [expected(100)]);
    }
}

#[test]
fn any_number_of_control_and_host_threads_gives_the_same() {
    let a5 = CHIPS[1];
    for control_threads in 1..=a5.control_threads {
        for host_threads in [1, 2, 3, 5, 8] {
            for block_dim in [1, 36] {
                let config = RunConfig {
                    control_threads: Some(control_threads),
                    host_threads: Some(host_threads),
                    block_dim: Some(block_dim),
                    ..tiny()
                };
                let result = run_on(&mut Device::new(a5), &program(24), &config);
                let name = format!("{control_threads} control, {host_threads} host, {block_dim} clusters");
                assert_eq!(result.unwrap_or_else(|error| panic!("{name}: {error}")), expected(24), "{name}");
            }
        }
    }
}

#[test]
fn devices_side_by_side_do_not_disturb_each_other() {
    let workers: Vec<_> = (0..2)
        .map(|index| {
            std::thread::spawn(move || {
                let mut device = Device::new(CHIPS[index]);
                (0..10)
                    .map(|round| run_on(&mut device, &program(20 + round), &tiny()).unwrap())
                    .collect::<Vec<_>>()
            })
        })
        .collect();
    for worker in workers {
        let results = worker.join().unwrap();
        assert_eq!(results, (20..30).map(expected).collect::<Vec<_>>());
    }
}

#[test]
fn a_hundred_runs_on_one_device_are_equal() {
    let mut device = Device::new(CHIPS[0]);
    let (program, expected) = (program(12), expected(12));
    for round in 0..100 {
        assert_eq!(run_on(&mut device, &program, &tiny()).unwrap(), expected, "run {round}");
    }
}

#[test]
fn a_failed_run_leaves_a_device_that_works() {
    let failing = |kind: u32| {
        let kernels = Kernels::standard()
            .own(0, |_, _| Err(Fault::kernel("on purpose")))
            .own(1, |_, _| panic!("on purpose"));
        kernels.trb(move |trb, args| {
            for _ in 0..50 {
                trb.submit_aiv(BUMP, bump(args.tensor(0)?, 0))?;
            }
            match kind {
                0 | 1 => trb.submit_aiv(own(kind), Arg::new()).map(drop),
                2 => trb.submit_aiv(own(9), Arg::new()).map(drop),
                _ => panic!("on purpose"),
            }
        })
    };
    let mut device = Device::new(CHIPS[0]);
    for round in 0..12 {
        let mut args = arguments(&[&[3; WORDS]]);
        let error = device.run(&failing(round % 4), &mut args, &tiny()).unwrap_err();
        assert_eq!(values(&args, 0), [3; WORDS], "arguments of a failed run stay: {error}");
        assert_eq!(run_on(&mut device, &program(12), &tiny()).unwrap(), expected(12));
    }
}
