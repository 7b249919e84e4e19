//! How runs fail: the latch, the codes of exhausted rings, clocks, and what is left behind.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use argus_abi::{CoreType, FatalCode};
use argus_chip::CHIPS;
use argus_facts::StallClass;
use argus_runtime::{Arg, Device, Fatal, Program, RunConfig, RunError, ScopeMode, TensorCreateInfo, Trb};
use argus_tile::Fault;

use crate::programs::{
    BUMP, FILL, Kernels, arguments, bump, config, fill, fill_new, i32s, own, refusal, results, run, wait_ms,
};

#[test]
fn after_a_fatal_every_call_returns_it_again() {
    let program = Kernels::standard().trb(|trb, args| {
        let word = *args.tensor(0)?;
        assert!(!trb.is_fatal());
        let first = trb.report_fatal(FatalCode::ExplicitOrchFatal, "the first");
        assert!(trb.is_fatal());
        let calls: [Result<(), Fatal>; 9] = [
            trb.submit_aiv(FILL, fill(&word, 1, 0)).map(drop),
            trb.submit_aic(FILL, Arg::new()).map(drop),
            trb.submit_dummy(Arg::new()).map(drop),
            trb.alloc_tensors(&[]).map(drop),
            trb.scope_begin(ScopeMode::Manual),
            trb.scope_end(),
            trb.get_tensor_data::<i32>(&word, &[9]).map(drop),
            trb.set_tensor_data(&word, &[9], 1u8),
            trb.scope(ScopeMode::Auto, |_| Ok(())),
        ];
        for call in calls {
            assert_eq!(call, Err(first.clone()));
        }
        assert_eq!(trb.report_fatal(FatalCode::InvalidArgs, "the second"), first);
        // Also an orchestration that looks away ends with it.
        Ok(())
    });
    let error = refusal(&program, &[&[0]], &config());
    let first = Fatal::new(FatalCode::ExplicitOrchFatal, "the first");
    assert!(matches!(&error, RunError::Fatal(fatal) if *fatal == first), "{error}");
}

#[test]
fn an_abg_run_latches_too() {
    let program = Kernels::standard().abg(|abg, _| {
        let first = abg.report_fatal(FatalCode::ExplicitOrchFatal, "the first");
        assert!(abg.is_fatal());
        let id = argus_abi::TaskId::new(0, 0);
        for call in [
            abg.submit_aiv(FILL, Arg::new()).map(drop),
            abg.alloc_tensors(&[]).map(drop),
            abg.add_dependency(id, id),
            abg.scope_begin(),
            abg.scope_end(),
        ] {
            assert_eq!(call, Err(first.clone()));
        }
        Ok(())
    });
    let error = refusal(&program, &[], &config());
    assert_eq!(error.to_string(), "fatal 9 (EXPLICIT_ORCH_FATAL): the first");
}

/// The error of a scope's body is fatal also if the orchestration drops it: the scope never ended.
#[test]
fn the_error_of_a_scope_cannot_be_dropped() {
    let program = Kernels::standard().trb(|trb, args| {
        let made = trb.submit_aiv(FILL, fill(args.tensor(0)?, 1, 0))?;
        let lost = trb.scope(ScopeMode::Auto, |_| made.tensor(3).map(drop));
        assert!(lost.is_err() && trb.is_fatal());
        Ok(())
    });
    let error = refusal(&program, &[&[0]], &config());
    assert_eq!(error.fatal_code(), Some(FatalCode::InvalidArgs), "{error}");
}

#[test]
fn a_kernel_fault_ends_the_run_while_the_orchestrator_waits() {
    let kernels = || Kernels::standard().own(0, |_, _| Err(Fault::kernel("no such recipe")));
    // In data access, for a slot of the ring, and in its own code.
    type Wait = fn(&mut Trb, &argus_abi::Tensor) -> Result<(), Fatal>;
    let waits: [Wait; 3] = [
        |trb, word| trb.get_tensor_data::<i32>(word, &[0]).map(drop),
        |trb, word| {
            (0..1000).try_for_each(|_| {
                trb.scope(ScopeMode::Auto, |trb| trb.submit_aiv(BUMP, bump(word, 0)).map(drop))
            })
        },
        |trb, _| {
            (0..200).take_while(|_| !trb.is_fatal()).for_each(|_| wait_ms(5));
            assert!(trb.is_fatal());
            Ok(())
        },
    ];
    for wait in waits {
        let program = kernels().trb(move |trb, args| {
            trb.submit_aiv(own(0), Arg::new().output(args.tensor(0)?))?;
            wait(trb, args.tensor(0)?)
        });
        let mut config = config();
        config.rings[1].window = 4;
        let error = refusal(&program, &[&[0]], &config);
        let RunError::KernelFault { site, fault } = &error else { panic!("{error}") };
        assert_eq!((site.task.raw(), site.block, site.core_type), (0, 0, CoreType::Aiv));
        assert!(fault.to_string().contains("no such recipe"), "{fault}");
    }
}

#[test]
fn a_panicking_kernel_or_orchestration_is_named() {
    let program = Kernels::standard()
        .own(0, |_, _| panic!("ouch {}", 7))
        .trb(|trb, _| trb.submit_aiv(own(0), Arg::new()).map(drop));
    let error = refusal(&program, &[], &config());
    assert!(matches!(&error, RunError::KernelPanic { message, .. } if message == "ouch 7"), "{error}");
    let program = Kernels::standard().trb(|_, _| panic!("lost"));
    let error = refusal(&program, &[], &config());
    assert!(matches!(&error, RunError::OrchestrationPanic { message } if message == "lost"), "{error}");
}

/// A program, how to shrink the configuration for it, and the code it must end with.
fn exhaustions() -> Vec<(FatalCode, Program, RunConfig)> {
    let trb = |body: fn(&mut Trb, &argus_abi::Tensor) -> Result<(), Fatal>| {
        Kernels::standard().trb(move |trb, args| body(trb, args.tensor(0)?))
    };
    let mut tiny = config();
    for ring in &mut tiny.rings {
        (ring.window, ring.heap, ring.dep_pool) = (8, 4096, 8);
    }
    let with = |change: fn(&mut RunConfig)| {
        let mut config = tiny.clone();
        change(&mut config);
        config
    };
    vec![
        (
            FatalCode::ScopeDeadlock,
            trb(|trb, word| (0..8).try_for_each(|_| trb.submit_aiv(BUMP, bump(word, 0)).map(drop))),
            tiny.clone(),
        ),
        (
            FatalCode::HeapRingDeadlock,
            trb(|trb, _| (0..5).try_for_each(|_| trb.submit_aiv(FILL, fill_new(200, 1, 0)?).map(drop))),
            tiny.clone(),
        ),
        (
            FatalCode::HeapRingDeadlock,
            trb(|trb, _| trb.alloc_tensors(&[i32s(1025)?]).map(drop)),
            tiny.clone(),
        ),
        (
            // Scopes at depth 3 and deeper share a ring; together they fill it, none alone.
            FatalCode::FlowControlDeadlock,
            trb(|trb, _| {
                for _ in 0..5 {
                    trb.scope_begin(ScopeMode::Auto)?;
                    (0..3).try_for_each(|_| trb.submit_dummy(Arg::new()).map(drop))?;
                }
                Ok(())
            }),
            tiny.clone(),
        ),
        (
            FatalCode::DepPoolOverflow,
            trb(|trb, word| {
                let slow = trb.submit_aiv(FILL, fill(word, 1, 30))?.task_id();
                let other = trb.submit_dummy(Arg::new().after(&[slow]))?.task_id();
                (0..4).try_for_each(|_| trb.submit_dummy(Arg::new().after(&[slow, other])).map(drop))
            }),
            tiny.clone(),
        ),
        (
            FatalCode::DependencyOverflow,
            trb(|trb, word| {
                let mut all = Vec::new();
                for _ in 0..5 {
                    all.push(trb.submit_aiv(FILL, fill(&word.with_manual_dep(true), 1, 30))?.task_id());
                }
                trb.submit_dummy(Arg::new().after(&all)).map(drop)
            }),
            with(|config| config.rings[0].dep_pool = 4),
        ),
        (
            FatalCode::ExplicitOrchFatal,
            trb(|trb, _| Err(trb.report_fatal(FatalCode::ExplicitOrchFatal, "enough"))),
            tiny.clone(),
        ),
        (
            FatalCode::ScopeTasksOverflow,
            trb(|trb, _| (0..4).try_for_each(|_| trb.submit_dummy(Arg::new()).map(drop))),
            with(|config| config.scope_tasks = 3),
        ),
        (
            FatalCode::TensormapOverflow,
            trb(|trb, word| trb.submit_dummy(Arg::new().input(word).input(word)).map(drop)),
            with(|config| config.tensormap_entries = 1),
        ),
    ]
}

#[test]
fn what_cannot_be_freed_is_fatal_at_once_with_its_code() {
    for (code, program, config) in exhaustions() {
        for host_threads in [1, 3] {
            let config = RunConfig { host_threads: Some(host_threads), ..config.clone() };
            let started = Instant::now();
            let error = refusal(&program, &[&[0]], &config);
            assert_eq!(error.fatal_code(), Some(code), "{error}");
            assert!(
                started.elapsed() < Duration::from_secs(3),
                "{code} is found without waiting for a clock"
            );
        }
    }
}

/// Entries of created tensors are not tracked, so they need no room in the map.
#[test]
fn created_tensors_need_no_room_in_the_map() {
    let program = Kernels::standard().trb(|trb, args| {
        let arg = (0..3).try_fold(Arg::new(), |arg, _| Ok(arg.create(&i32s(1)?)))?;
        trb.submit_dummy(arg.output(args.tensor(0)?)).map(drop)
    });
    results(&program, &[&[0]], &RunConfig { tensormap_entries: 1, ..config() });
}

#[test]
fn slow_progress_is_progress() {
    // No task takes as long as the limit, all of them together take three times that.
    let program = Kernels::standard()
        .trb(|trb, args| (0..10).try_for_each(|_| trb.submit_aiv(BUMP, bump(args.tensor(0)?, 60)).map(drop)));
    let config = RunConfig { progress_timeout: Duration::from_millis(200), ..config() };
    assert_eq!(results(&program, &[&[0]], &config), [[10]]);
}

#[test]
fn blocks_of_one_long_task_are_progress() {
    let ran = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&ran);
    let kernels = Kernels::standard().own(0, move |_, _| {
        wait_ms(50);
        counter.fetch_add(1, SeqCst);
        Ok(())
    });
    let program = kernels.trb(|trb, _| trb.submit_aiv(own(0), Arg::new().blocks(14)).map(drop));
    let config = RunConfig {
        progress_timeout: Duration::from_millis(200),
        block_dim: Some(1),
        host_threads: Some(1),
        ..config()
    };
    results(&program, &[], &config);
    assert_eq!(ran.load(SeqCst), 14);
}

#[test]
fn a_kernel_that_does_not_end_is_named() {
    let kernels = Kernels::standard().own(0, |core, args| {
        loop {
            wait_ms(5);
            crate::programs::read(core, args.tensor(0)?)?;
        }
    });
    let program = kernels.trb(|trb, args| {
        trb.submit_aiv(BUMP, bump(args.tensor(0)?, 0))?;
        trb.submit_aiv(own(0), Arg::new().input(args.tensor(0)?))?;
        trb.submit_aiv(BUMP, bump(args.tensor(0)?, 0)).map(drop)
    });
    let limit = Duration::from_millis(150);
    let mut device = Device::new(CHIPS[0]);
    let config = RunConfig { progress_timeout: limit, ..config() };
    let error = device.run(&program, &mut arguments(&[&[0]]), &config).unwrap_err();
    let RunError::Stuck { site, abandoned, .. } = &error else { panic!("{error}") };
    assert_eq!((site.task.raw(), *abandoned), (1, false));
    // One task was done, one runs, one waits for it; the orchestration has ended.
    let stall = error.stall().unwrap();
    assert_eq!(stall.class, StallClass::RunningStalled);
    assert_eq!((stall.completed, stall.submitted, stall.running), (1, 3, 1));
    assert_eq!((stall.ready, stall.waiting, stall.orchestrator_done), (0, 1, true));
    assert_eq!((stall.task.unwrap().raw(), stall.core), (1, Some(site.core)));
    assert_eq!(error.fatal_code(), Some(FatalCode::SchedulerTimeout));
    assert!(
        error.to_string().contains("LOAD_SCALAR") || error.to_string().contains("instruction"),
        "{error}"
    );
    // It reached an instruction and stopped, so the device is as good as before.
    let good = Kernels::standard().trb(|trb, args| trb.submit_aiv(BUMP, bump(args.tensor(0)?, 0)).map(drop));
    device.run(&good, &mut arguments(&[&[0]]), &config).unwrap();
}

#[test]
fn an_orchestration_that_sleeps_for_ever_is_given_up() {
    let program = Kernels::standard().trb(|_, _| {
        loop {
            std::thread::park();
        }
    });
    let limit = Duration::from_millis(100);
    let started = Instant::now();
    let error = refusal(&program, &[], &RunConfig { progress_timeout: limit, ..config() });
    assert!(matches!(error, RunError::OrchestrationStuck { .. }), "{error}");
    let stall = error.stall().unwrap();
    assert_eq!((stall.class, stall.orchestrator_done), (StallClass::OrchestratorStarvation, false));
    assert_eq!((stall.submitted, stall.task, stall.core), (0, None, None));
    assert!(started.elapsed() < Duration::from_secs(5));
}

/// How a run of a thousand pending tasks ends.
#[derive(Clone, Copy, Debug)]
enum Ending {
    Success,
    Fatal,
    Fault,
    Panic,
    OrchestrationPanic,
}

fn large(ending: Ending, probe: &Arc<Mutex<u32>>) -> [Program; 3] {
    let kernels = || {
        let probe = Arc::clone(probe);
        Kernels::standard().own(0, move |_, args| {
            let mut count = probe.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            *count += 1;
            drop(count);
            // A slow first task, so that the rest of the graph is pending when it ends.
            if args.scalar(args.tensor_count())? == 0 {
                wait_ms(20);
                match ending {
                    Ending::Fault => return Err(Fault::kernel("on purpose")),
                    Ending::Panic => panic!("on purpose"),
                    Ending::Success | Ending::Fatal | Ending::OrchestrationPanic => {}
                }
            }
            Ok(())
        })
    };
    let finish = move || match ending {
        Ending::Fatal => Err(Fatal::new(FatalCode::ExplicitOrchFatal, "on purpose")),
        Ending::OrchestrationPanic => panic!("on purpose"),
        Ending::Success | Ending::Fault | Ending::Panic => Ok(()),
    };
    let trb = kernels().trb(move |trb, _| {
        let memory =
            *trb.alloc_tensors(&[TensorCreateInfo::new(&[64], argus_abi::DType::I32)?])?.tensor(0)?;
        let first = trb.submit_aiv(own(0), Arg::new().inout(&memory).scalar(0))?.task_id();
        for index in 1..1000 {
            let arg = Arg::new().inout(&memory).create(&i32s(1)?).scalar(index).after(&[first]);
            trb.submit_aiv(own(0), arg)?;
        }
        finish()
    });
    let abg = kernels().abg(move |abg, _| {
        let first = abg.submit_aiv(own(0), Arg::new().scalar(0))?.task_id();
        for index in 1..1000 {
            abg.submit_aiv(own(0), Arg::new().scalar(index).after(&[first]))?;
        }
        finish()
    });
    let hbg = kernels().hbg(move |hbg, _| {
        for index in 0..1000 {
            hbg.add_task(&[index as u64], own(0), CoreType::Aiv)?;
            if index > 0 {
                hbg.add_successor(index - 1, index)?;
            }
        }
        finish()
    });
    [trb, abg, hbg]
}

#[test]
fn nothing_outlives_a_run_however_it_ends() {
    for ending in [Ending::Success, Ending::Fatal, Ending::Fault, Ending::Panic, Ending::OrchestrationPanic] {
        let probe = Arc::new(Mutex::new(0));
        for program in large(ending, &probe) {
            let name = format!("{ending:?} of {:?}", program.orchestration);
            let result = run(&program, &mut arguments(&[]), &config());
            assert_eq!(result.is_ok(), matches!(ending, Ending::Success), "{name}: {result:?}");
            drop(program);
        }
        assert_eq!(Arc::strong_count(&probe), 1, "{ending:?}");
        if matches!(ending, Ending::Success) {
            assert_eq!(*probe.lock().unwrap(), 3000);
        }
    }
}
