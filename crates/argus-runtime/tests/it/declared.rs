//! aicpu_build_graph: declared edges, and tasks that nothing sees before their scope ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use argus_abi::{DType, FatalCode, TaskId};
use argus_runtime::{Abg, Arg, Fatal, RunError, TensorCreateInfo};

use crate::programs::{BUMP, FILL, Kernels, MOVE, bump, config, fill, own, refusal, results, shift, wait_ms};

fn counting(ran: &Arc<AtomicU32>) -> Kernels {
    let ran = Arc::clone(ran);
    Kernels::standard().own(0, move |_, _| {
        ran.fetch_add(1, SeqCst);
        Ok(())
    })
}

fn wait_for(count: &AtomicU32, expected: u32) {
    for _ in 0..1000 {
        if count.load(SeqCst) == expected {
            return;
        }
        wait_ms(2);
    }
    panic!("{} of {expected} kernels ran", count.load(SeqCst));
}

#[test]
fn a_task_is_invisible_until_its_scope_ends() {
    let ran = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&ran);
    let program = counting(&ran).abg(move |abg, _| {
        abg.submit_aiv(own(0), Arg::new())?;
        abg.scope(|abg| {
            abg.submit_aiv(own(0), Arg::new())?;
            abg.submit_aiv(own(0), Arg::new())?;
            wait_ms(40);
            assert_eq!(seen.load(SeqCst), 0, "inside its scope");
            Ok(())
        })?;
        // The inner scope is published before the outer one ends; the outer task still waits.
        wait_for(&seen, 2);
        wait_ms(40);
        assert_eq!(seen.load(SeqCst), 2);
        Ok(())
    });
    assert_eq!(crate::programs::run(&program, &mut Default::default(), &config()).unwrap().tasks, 3);
    assert_eq!(ran.load(SeqCst), 3);
}

#[test]
fn only_declared_edges_count() {
    // Overlap alone orders nothing: the slow writer comes last although it was submitted first.
    let program = |declared: bool| {
        Kernels::standard().abg(move |abg, args| {
            let slow = abg.submit_aiv(FILL, fill(args.tensor(0)?, 1, 60))?;
            let quick = abg.submit_aiv(FILL, fill(args.tensor(0)?, 2, 0))?;
            if declared {
                abg.add_dependency(slow.task_id(), quick.task_id())?;
            }
            Ok(())
        })
    };
    assert_eq!(results(&program(false), &[&[0]], &config()), [[1]]);
    assert_eq!(results(&program(true), &[&[0]], &config()), [[2]]);
}

#[test]
fn edges_reach_across_scopes_and_completed_producers_count_as_met() {
    let program = Kernels::standard().abg(|abg, args| {
        let word = args.tensor(0)?;
        let outer = abg.submit_aiv(MOVE, shift(word, args.tensor(1)?, 0))?;
        let inner = abg.scope(|abg| abg.submit_aiv(FILL, fill(word, 40, 30)))?;
        abg.add_dependency(inner.task_id(), outer.task_id())?;
        wait_ms(60);
        let late = abg.submit_aiv(BUMP, bump(args.tensor(1)?, 0).after(&[outer.task_id()]))?;
        abg.add_dependency(inner.task_id(), late.task_id())
    });
    assert_eq!(results(&program, &[&[0], &[0]], &config()), [[40], [42]]);
}

#[test]
fn a_consumer_whose_scope_has_ended_takes_no_dependency() {
    let program = Kernels::standard().abg(|abg, args| {
        let producer = abg.submit_aiv(FILL, fill(args.tensor(0)?, 1, 0))?;
        let consumer = abg.scope(|abg| abg.submit_aiv(FILL, fill(args.tensor(0)?, 2, 50)))?;
        abg.add_dependency(producer.task_id(), consumer.task_id())
    });
    let error = refusal(&program, &[&[0]], &config());
    assert_eq!(error.fatal_code(), Some(FatalCode::InvalidArgs), "{error}");
}

#[test]
fn unknown_ids_are_refused_on_either_side() {
    let unknown = [TaskId::new(0, 77), TaskId::new(9, 0), TaskId::INVALID];
    for id in unknown {
        for known_first in [false, true] {
            let program = Kernels::standard().abg(move |abg, args| {
                let known = abg.submit_aiv(FILL, fill(args.tensor(0)?, 1, 0))?.task_id();
                if known_first { abg.add_dependency(known, id) } else { abg.add_dependency(id, known) }
            });
            let error = refusal(&program, &[&[0]], &config());
            assert_eq!(error.fatal_code(), Some(FatalCode::InvalidArgs), "{id}: {error}");
        }
    }
}

/// An allocation is complete when the call returns. Made to wait after that, it would complete a second time,
/// and a run that counts completions would end before its last task.
#[test]
fn an_allocation_takes_no_dependency() {
    let program = Kernels::standard().abg(|abg, args| {
        let memory = abg.alloc_tensors(&[TensorCreateInfo::new(&[4], DType::I32)?])?;
        let quick = abg.submit_aiv(FILL, fill(args.tensor(0)?, 1, 0))?;
        abg.submit_aiv(FILL, fill(args.tensor(1)?, 1, 80))?;
        abg.add_dependency(quick.task_id(), memory.task_id())
    });
    let error = refusal(&program, &[&[0], &[0]], &config());
    assert_eq!(error.fatal_code(), Some(FatalCode::InvalidArgs), "{error}");
}

#[test]
fn a_task_that_waits_for_itself_is_a_deadlock() {
    let program = Kernels::standard().abg(|abg, args| {
        let task = abg.submit_aiv(FILL, fill(args.tensor(0)?, 1, 0))?.task_id();
        abg.add_dependency(task, task)
    });
    let error = refusal(&program, &[&[0]], &config());
    assert!(matches!(error, RunError::Deadlock { left: 1, total: 1, .. }), "{error}");
    assert_eq!(error.stall().unwrap().class.detail(), 4);
}

#[test]
fn a_scope_left_open_is_refused_and_not_a_deadlock() {
    let program = Kernels::standard().abg(|abg, args| {
        abg.scope_begin()?;
        abg.submit_aiv(FILL, fill(args.tensor(0)?, 1, 0)).map(drop)
    });
    let error = refusal(&program, &[&[0]], &config());
    assert_eq!(error.fatal_code(), Some(FatalCode::InvalidArgs), "{error}");
}

#[test]
fn memory_of_an_allocation_lives_as_long_as_its_users() {
    let scope = |abg: &mut Abg, value: i32, result: &argus_abi::Tensor| -> Result<(), Fatal> {
        abg.scope(|abg| {
            let memory = abg.alloc_tensors(&[TensorCreateInfo::new(&[16], DType::I32)?])?;
            let written = abg.submit_aiv(FILL, fill(memory.tensor(0)?, value, 3))?;
            let moved = abg.submit_aiv(MOVE, shift(memory.tensor(0)?, result, 3))?;
            abg.add_dependency(written.task_id(), moved.task_id())
        })
    };
    let program = Kernels::standard().abg(move |abg, args| {
        for round in 0..30 {
            let result = args.tensor(0)?.view(&[16], &[round * 16]).unwrap();
            scope(abg, round as i32, &result)?;
        }
        Ok(())
    });
    let mut config = config();
    for ring in &mut config.rings {
        (ring.window, ring.heap) = (8, 2048);
    }
    let expected: Vec<i32> = (0..480).map(|index| index / 16 + 1).collect();
    assert_eq!(results(&program, &[&[0; 480]], &config), [expected]);
}
