//! host_build_graph: explicit tasks and edges, nothing runs before the graph is whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use argus_abi::{CoreType, DType, FatalCode};
use argus_runtime::{Fatal, RunError};
use argus_tile::GlobalShape;

use crate::programs::{Kernels, arguments, config, own, refusal, results, run, values, wait_ms};

/// `word at args[0] = word at args[1] * 10 + args[2]`, scalars and addresses in any order.
fn append_digit() -> Kernels {
    Kernels::standard().own(0, |core, args| {
        let dst = core.global_raw(args.scalar(0)?, DType::I32, GlobalShape::nd(1, 1))?;
        let src = core.global_raw(args.scalar(1)?, DType::I32, GlobalShape::nd(1, 1))?;
        let value = core.load_scalar::<i32>(&src, 0)? * 10 + args.scalar(2)? as i32;
        core.store_scalar(&dst, 0, value)
    })
}

#[test]
fn no_kernel_runs_before_the_orchestration_returns() {
    let ran = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&ran);
    let kernels = Kernels::standard().own(0, move |_, _| {
        counter.fetch_add(1, SeqCst);
        Ok(())
    });
    let seen = Arc::clone(&ran);
    let program = kernels.hbg(move |hbg, _| {
        for _ in 0..10 {
            hbg.add_task(&[], own(0), CoreType::Aiv)?;
        }
        wait_ms(60);
        assert_eq!(seen.load(SeqCst), 0);
        assert_eq!(hbg.task_count(), 10);
        Ok(())
    });
    results(&program, &[], &config());
    assert_eq!(ran.load(SeqCst), 10);
}

#[test]
fn edges_order_tasks_whatever_their_numbers() {
    // 2 -> 0 -> 3 -> 1, each appends its number as a digit.
    let program = append_digit().hbg(|hbg, _| {
        let word = hbg.upload(0)?;
        hbg.record_tensor_pair(0, word)?;
        for digit in 0..4 {
            hbg.add_task(&[word, word, digit], own(0), CoreType::Aiv)?;
        }
        for (from, to) in [(2, 0), (0, 3), (3, 1)] {
            hbg.add_successor(from, to)?;
        }
        Ok(())
    });
    assert_eq!(results(&program, &[&[9]], &config()), [[92031]]);
}

#[test]
fn an_edge_given_twice_is_met_twice() {
    let program = append_digit().hbg(|hbg, _| {
        let word = hbg.upload(0)?;
        hbg.record_tensor_pair(0, word)?;
        for digit in 1..4 {
            hbg.add_task(&[word, word, digit], own(0), CoreType::Aiv)?;
        }
        for (from, to) in [(0, 1), (0, 1), (0, 1), (1, 2), (0, 2), (1, 2)] {
            hbg.add_successor(from, to)?;
        }
        Ok(())
    });
    assert_eq!(results(&program, &[&[0]], &config()), [[123]]);
}

#[test]
fn sixteen_arguments_arrive_and_seventeen_are_refused() {
    let kernels = || {
        Kernels::standard().own(0, |core, args| {
            let dst = core.global_raw(args.scalar(15)?, DType::I32, GlobalShape::nd(1, 1))?;
            let mut sum = 0;
            for slot in 0..15 {
                sum += args.scalar(slot)? as i32 * (slot as i32 + 1);
            }
            core.store_scalar(&dst, 0, sum)
        })
    };
    let program = kernels().hbg(|hbg, _| {
        let word = hbg.upload(0)?;
        hbg.record_tensor_pair(0, word)?;
        let mut slots: Vec<u64> = (100..115).collect();
        slots.push(word);
        hbg.add_task(&slots, own(0), CoreType::Aiv).map(drop)
    });
    let expected: i32 = (0..15).map(|slot| (100 + slot) * (slot + 1)).sum();
    assert_eq!(results(&program, &[&[0]], &config()), [[expected]]);

    let program = kernels().hbg(|hbg, _| hbg.add_task(&[0; 17], own(0), CoreType::Aiv).map(drop));
    assert_eq!(refusal(&program, &[], &config()).fatal_code(), Some(FatalCode::InvalidArgs));
}

#[test]
fn a_kernel_for_the_other_core_type_or_of_no_table_is_refused() {
    for (func, core_type) in [(own(0), CoreType::Aic), (own(7), CoreType::Aiv)] {
        let program = append_digit().hbg(move |hbg, _| hbg.add_task(&[], func, core_type).map(drop));
        let error = refusal(&program, &[], &config());
        assert_eq!(error.fatal_code(), Some(FatalCode::InvalidArgs), "{error}");
    }
}

#[test]
fn an_edge_to_a_task_that_is_not_there_is_refused() {
    for (from, to) in [(0, 1), (1, 0), (usize::MAX, 0)] {
        let program = append_digit().hbg(move |hbg, _| {
            hbg.add_task(&[], own(0), CoreType::Aiv)?;
            hbg.add_successor(from, to)
        });
        let error = refusal(&program, &[], &config());
        assert_eq!(error.fatal_code(), Some(FatalCode::InvalidArgs), "{error}");
    }
}

#[test]
fn fresh_device_memory_is_poison_and_only_recorded_pairs_come_back() {
    let program = append_digit().hbg(|hbg, args| {
        assert_eq!(args.bytes(0)?, 5i32.to_le_bytes());
        let (fresh, not_recorded) = (hbg.device_malloc(8)?, hbg.upload(1)?);
        hbg.record_tensor_pair(0, fresh)?;
        hbg.record_tensor_pair(2, fresh + 4)?;
        hbg.copy_to_device(fresh + 4, &70i32.to_le_bytes())?;
        hbg.add_task(&[not_recorded, not_recorded, 1], own(0), CoreType::Aiv).map(drop)
    });
    assert_eq!(results(&program, &[&[5], &[6], &[7]], &config()), [[-1], [6], [70]]);
}

#[test]
fn a_run_that_cannot_copy_back_leaves_every_argument_as_it_was() {
    let program = append_digit().hbg(|hbg, _| {
        let (kept, freed) = (hbg.device_malloc(4)?, hbg.device_malloc(4)?);
        hbg.record_tensor_pair(0, kept)?;
        hbg.record_tensor_pair(1, freed)?;
        hbg.device_free(freed)
    });
    let mut args = arguments(&[&[5], &[6]]);
    let error = run(&program, &mut args, &config()).unwrap_err();
    assert!(matches!(error, RunError::Memory(_)), "{error}");
    assert_eq!((values(&args, 0), values(&args, 1)), (vec![5], vec![6]));
}

#[test]
fn an_error_of_the_orchestration_ends_the_run_before_any_kernel() {
    let ran = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&ran);
    let kernels = Kernels::standard().own(0, move |_, _| {
        counter.fetch_add(1, SeqCst);
        Ok(())
    });
    let program = kernels.hbg(|hbg, _| {
        hbg.add_task(&[], own(0), CoreType::Aiv)?;
        Err(Fatal::new(FatalCode::ExplicitOrchFatal, "no weather"))
    });
    let error = refusal(&program, &[], &config());
    assert!(matches!(&error, RunError::Fatal(fatal) if fatal.message == "no weather"), "{error}");
    assert_eq!(ran.load(SeqCst), 0);
}

#[test]
fn a_cycle_is_a_deadlock_and_not_a_hang() {
    let program = append_digit().hbg(|hbg, _| {
        for _ in 0..3 {
            hbg.add_task(&[], own(0), CoreType::Aiv)?;
        }
        hbg.add_successor(1, 2)?;
        hbg.add_successor(2, 1)?;
        // The third one would fault: it never gets its arguments. It waits for the other two.
        hbg.add_successor(2, 0)
    });
    let error = refusal(&program, &[], &config());
    assert!(matches!(error, RunError::Deadlock { left: 3, total: 3, .. }), "{error}");
    let stall = error.stall().unwrap();
    assert_eq!((stall.class.name(), stall.waiting, stall.running), ("S4:dependency-deadlock", 3, 0));
    assert_eq!((stall.ready, stall.completed, stall.orchestrator_done), (0, 0, true));
    assert_eq!(error.fatal_code(), Some(FatalCode::SchedulerTimeout));
}

#[test]
fn a_graph_that_is_given_up_half_built_is_taken_apart_link_by_link() {
    // Dropped as it is, a chain that runs against the order of its tasks would recurse through all of it.
    let program = append_digit().hbg(|hbg, _| {
        for number in 0..100_000 {
            hbg.add_task(&[], own(0), CoreType::Aiv)?;
            if number > 0 {
                hbg.add_successor(number, number - 1)?;
            }
        }
        Err(Fatal::new(FatalCode::ExplicitOrchFatal, "changed my mind"))
    });
    assert_eq!(refusal(&program, &[], &config()).fatal_code(), Some(FatalCode::ExplicitOrchFatal));
}
