//! tensormap_and_ringbuffer: task ids, scopes, lifetimes of tensors, edges that are said and not inferred.

use std::sync::{Arc, Mutex};

use argus_abi::{DType, FatalCode, TaskId, Tensor};
use argus_runtime::{Arg, Fatal, RunConfig, ScopeMode, TensorCreateInfo, Trb};

use crate::programs::{
    BUMP, FILL, Kernels, MOVE, bump, config, fill, fill_new, i32s, refusal, results, shift,
};

/// The code with which a run of `body` on one argument of 16 elements is refused.
fn refused(
    body: impl Fn(&mut Trb, &Tensor) -> Result<(), Fatal> + Send + Sync + 'static,
) -> Option<FatalCode> {
    let program = Kernels::standard().trb(move |trb, args| body(trb, args.tensor(0)?));
    let error = refusal(&program, &[&[0; 16]], &config());
    error.fatal_code()
}

#[test]
fn ids_are_ring_and_counter_and_deep_scopes_share_the_last_ring() {
    let ids = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&ids);
    fn descend(trb: &mut Trb, depth: u32, ids: &mut Vec<u64>) -> Result<(), Fatal> {
        ids.push(trb.submit_dummy(Arg::new())?.task_id().raw());
        if depth < 5 {
            trb.scope(ScopeMode::Auto, |trb| descend(trb, depth + 1, ids))?;
        }
        ids.push(trb.alloc_tensors(&[i32s(1)?])?.task_id().raw());
        Ok(())
    }
    let program = Kernels::standard().trb(move |trb, _| descend(trb, 0, &mut record.lock().unwrap()));
    results(&program, &[], &config());
    let expected =
        [(0, 0), (1, 0), (2, 0), (3, 0), (3, 1), (3, 2), (3, 3), (3, 4), (3, 5), (2, 1), (1, 1), (0, 1)];
    assert_eq!(*ids.lock().unwrap(), expected.map(|(ring, local)| TaskId::new(ring, local).raw()));
}

#[test]
fn counters_go_on_where_the_last_scope_left_them() {
    let program = Kernels::standard().trb(|trb, _| {
        for round in 0..3 {
            let id = trb.scope(ScopeMode::Auto, |trb| {
                trb.submit_dummy(Arg::new())?;
                Ok(trb.submit_dummy(Arg::new())?.task_id())
            })?;
            assert_eq!(id, TaskId::new(1, 2 * round + 1));
        }
        Ok(())
    });
    results(&program, &[], &config());
}

#[test]
fn a_tensor_is_read_after_its_creator_even_without_tracking() {
    // Plain, untracked and manually tracked readers of a tensor whose creator is slow.
    let program = Kernels::standard().trb(|trb, args| {
        for index in 0..3 {
            let view = args.tensor(0)?.view(&[1], &[index]).unwrap();
            let made = trb.submit_aiv(FILL, fill_new(1, 20, 30)?)?;
            let made = *made.tensor(0)?;
            let arg = match index {
                0 => Arg::new().input(&made),
                1 => Arg::new().no_dep(&made),
                _ => Arg::new().input(&made.with_manual_dep(true)),
            };
            trb.submit_aiv(MOVE, arg.output(&view).scalar(0))?;
        }
        Ok(())
    });
    assert_eq!(results(&program, &[&[0; 3]], &config()), [[21; 3]]);
}

#[test]
fn no_dep_and_manual_dep_order_nothing_but_the_creator() {
    // The writer is slow; readers that are not tracked do not wait for it and see the old value.
    let program = Kernels::standard().trb(|trb, args| {
        let [word, seen] = [args.tensor(0)?, args.tensor(1)?];
        trb.submit_aiv(FILL, fill(word, 100, 80))?;
        let slot = |index| seen.view(&[1], &[index]).unwrap();
        trb.submit_aiv(MOVE, Arg::new().no_dep(word).output(&slot(0)).scalar(0))?;
        let manual = word.with_manual_dep(true);
        trb.submit_aiv(MOVE, Arg::new().input(&manual).output(&slot(1)).scalar(0))?;
        trb.submit_aiv(MOVE, Arg::new().input(word).output(&slot(2)).scalar(0))?;
        Ok(())
    });
    assert_eq!(results(&program, &[&[7], &[0; 3]], &config()), [vec![100], vec![8, 8, 101]]);
}

#[test]
fn a_manual_scope_orders_only_by_what_is_said() {
    let program = |said: bool| {
        Kernels::standard().trb(move |trb, args| {
            let word = *args.tensor(0)?;
            trb.scope(ScopeMode::Manual, |trb| {
                let slow = trb.submit_aiv(FILL, fill(&word, 1, 60))?.task_id();
                trb.scope(ScopeMode::Manual, |trb| {
                    let after = if said { vec![slow] } else { vec![] };
                    trb.submit_aiv(FILL, fill(&word, 2, 0).after(&after)).map(drop)
                })
            })
        })
    };
    assert_eq!(results(&program(false), &[&[0]], &config()), [[1]]);
    assert_eq!(results(&program(true), &[&[0]], &config()), [[2]]);
}

#[test]
fn an_automatic_task_after_a_manual_scope_sees_what_was_written_there() {
    let program = Kernels::standard().trb(|trb, args| {
        let word = *args.tensor(0)?;
        trb.scope(ScopeMode::Manual, |trb| trb.submit_aiv(FILL, fill(&word, 5, 50)).map(drop))?;
        trb.submit_aiv(BUMP, bump(&word, 0))?;
        trb.scope(ScopeMode::Manual, |trb| {
            assert_eq!(trb.get_tensor_data::<i32>(&word, &[0])?, 6);
            Ok(())
        })
    });
    assert_eq!(results(&program, &[&[0]], &config()), [[6]]);
}

#[test]
fn an_automatic_scope_inside_a_manual_one_is_refused() {
    let code = refused(|trb, _| {
        trb.scope(ScopeMode::Manual, |trb| trb.scope(ScopeMode::Auto, |_| -> Result<(), Fatal> { Ok(()) }))
    });
    assert_eq!(code, Some(FatalCode::InvalidArgs));
}

#[test]
fn a_tensor_cannot_be_used_after_its_scope() {
    type Use = fn(&mut Trb, &Tensor, &Tensor) -> Result<(), Fatal>;
    let uses: [Use; 4] = [
        |trb, old, word| trb.submit_aiv(MOVE, shift(old, word, 0)).map(drop),
        |trb, old, word| trb.submit_aiv(MOVE, Arg::new().no_dep(old).output(word).scalar(0)).map(drop),
        |trb, old, _| trb.get_tensor_data::<i32>(old, &[0]).map(drop),
        |trb, old, _| trb.set_tensor_data(old, &[0], 1i32),
    ];
    for use_it in uses {
        // The creator may still run, or may have been reclaimed long ago.
        for delay in [0, 60] {
            let code = refused(move |trb, word| {
                let old = trb.scope(ScopeMode::Auto, |trb| {
                    Ok(*trb.submit_aiv(FILL, fill_new(16, 1, delay)?)?.tensor(0)?)
                })?;
                crate::programs::wait_ms(20);
                use_it(trb, &old, word)
            });
            assert_eq!(code, Some(FatalCode::InvalidArgs));
        }
    }
}

#[test]
fn a_tensor_of_an_outer_scope_serves_inner_scopes() {
    let program = Kernels::standard().trb(|trb, args| {
        let sum = *trb.submit_aiv(FILL, fill_new(1, 0, 10)?)?.tensor(0)?;
        for _ in 0..4 {
            trb.scope(ScopeMode::Auto, |trb| {
                trb.submit_aiv(BUMP, bump(&sum, 3))?;
                trb.scope(ScopeMode::Auto, |trb| trb.submit_aiv(BUMP, bump(&sum, 0)).map(drop))
            })?;
        }
        trb.submit_aiv(MOVE, shift(&sum, args.tensor(0)?, 0)).map(drop)
    });
    assert_eq!(results(&program, &[&[0]], &config()), [[9]]);
}

#[test]
fn an_external_tensor_into_the_heap_is_refused() {
    let code = refused(|trb, word| {
        let made = *trb.alloc_tensors(&[i32s(16)?])?.tensor(0)?;
        let forged = Tensor::contiguous(made.addr + 8, DType::I32, &[2]).unwrap();
        trb.submit_aiv(MOVE, shift(&forged, word, 0)).map(drop)
    });
    assert_eq!(code, Some(FatalCode::InvalidArgs));
}

#[test]
fn a_tensor_in_no_memory_or_of_no_task_is_refused() {
    let nowhere = Tensor::contiguous(0x1000, DType::I32, &[2]).unwrap();
    assert_eq!(
        refused(move |trb, word| trb.submit_aiv(MOVE, shift(&nowhere, word, 0)).map(drop)),
        Some(FatalCode::InvalidArgs)
    );
    let orphan = |trb: &mut Trb, word: &Tensor| {
        let mut orphan = *word;
        orphan.owner_task_id = TaskId::new(2, 5).raw();
        trb.submit_aiv(BUMP, bump(&orphan, 0)).map(drop)
    };
    assert_eq!(refused(orphan), Some(FatalCode::InvalidArgs));
}

#[test]
fn an_explicit_dependency_holds_without_any_overlap() {
    let program = Kernels::standard().trb(|trb, args| {
        let word = args.tensor(0)?.with_manual_dep(true);
        let slow = trb.submit_aiv(FILL, fill(&word, 1, 50))?.task_id();
        trb.submit_aiv(FILL, fill(&word, 2, 0).after(&[slow, slow])).map(drop)
    });
    assert_eq!(results(&program, &[&[0]], &config()), [[2]]);
}

#[test]
fn a_dependency_on_a_reclaimed_task_is_met_and_on_no_task_is_refused() {
    let program = Kernels::standard().trb(|trb, args| {
        let first = trb
            .scope(ScopeMode::Auto, |trb| Ok(trb.submit_aiv(FILL, fill(args.tensor(0)?, 1, 0))?.task_id()))?;
        for _ in 0..40 {
            trb.scope(ScopeMode::Auto, |trb| trb.submit_aiv(BUMP, bump(args.tensor(0)?, 0)).map(drop))?;
        }
        trb.submit_aiv(BUMP, bump(args.tensor(0)?, 0).after(&[first])).map(drop)
    });
    let mut config = config();
    config.rings[1].window = 4;
    assert_eq!(results(&program, &[&[0]], &config), [[42]]);
    for id in [TaskId::new(0, 0), TaskId::new(3, 9), TaskId::new(7, 0), TaskId::INVALID] {
        let code = refused(move |trb, _| trb.submit_dummy(Arg::new().after(&[id])).map(drop));
        assert_eq!(code, Some(FatalCode::InvalidArgs), "{id}");
    }
}

#[test]
fn dummies_pass_an_order_on() {
    // word -> dummy -> dummy -> ... -> word, where only the dummies connect the two.
    let program = Kernels::standard().trb(|trb, args| {
        let word = args.tensor(0)?.with_manual_dep(true);
        let mut last = trb.submit_aiv(FILL, fill(&word, 1, 50))?.task_id();
        for _ in 0..500 {
            last = trb.submit_dummy(Arg::new().after(&[last]))?.task_id();
        }
        trb.submit_aiv(FILL, fill(&word, 2, 0).after(&[last]))?;
        // A dummy with tensors takes part in inference like any task.
        let whole = args.tensor(1)?;
        trb.submit_aiv(FILL, fill(whole, 3, 50))?;
        let gate = trb.submit_dummy(Arg::new().input(whole))?.task_id();
        trb.submit_aiv(FILL, fill(&whole.with_manual_dep(true), 4, 0).after(&[gate])).map(drop)
    });
    assert_eq!(results(&program, &[&[0], &[0]], &config()), [[2], [4]]);
}

#[test]
fn mistakes_in_arguments_are_reported_by_the_submission() {
    type Make = fn(&Tensor) -> Arg;
    let makes: [Make; 5] = [
        |word| Arg::new().scalar(1).input(word),
        |word| (0..17).fold(Arg::new(), |arg, _| arg.input(word)),
        |_| (0..33).fold(Arg::new(), |arg, _| arg.scalar(0)),
        |_| Arg::new().blocks(0),
        |_| Arg::new().blocks(32768),
    ];
    for make in makes {
        let code = refused(move |trb, word| trb.submit_aiv(FILL, make(word)).map(drop));
        assert_eq!(code, Some(FatalCode::InvalidArgs));
    }
    assert_eq!(refused(|trb, _| trb.submit_aic(FILL, Arg::new()).map(drop)), Some(FatalCode::InvalidArgs));
    assert_eq!(refused(|trb, _| trb.alloc_tensors(&[]).map(drop)), Some(FatalCode::InvalidArgs));
    assert_eq!(
        refused(|trb, _| trb.submit(Default::default(), Arg::new()).map(drop)),
        Some(FatalCode::InvalidArgs)
    );
}

#[test]
fn a_view_that_leaves_its_buffer_is_refused() {
    let code = refused(|trb, word| {
        let mut long = *word;
        (long.shapes[0], long.extent) = (17, 17);
        trb.submit_aiv(BUMP, bump(&long, 0)).map(drop)
    });
    assert_eq!(code, Some(FatalCode::InvalidArgs));
}

#[test]
fn scopes_must_balance() {
    assert_eq!(refused(|trb, _| trb.scope_end()), Some(FatalCode::InvalidArgs));
    assert_eq!(refused(|trb, _| trb.scope_begin(ScopeMode::Auto)), Some(FatalCode::InvalidArgs));
    let deep = |trb: &mut Trb, _: &Tensor| (0..64).try_for_each(|_| trb.scope_begin(ScopeMode::Auto));
    assert_eq!(refused(deep), Some(FatalCode::InvalidArgs));
}

#[test]
fn outputs_come_in_the_order_of_the_requests() {
    let program = Kernels::standard().trb(|trb, args| {
        let infos: Vec<_> =
            (1..=16).map(|count| TensorCreateInfo::new(&[count], DType::I32)).collect::<Result<_, _>>()?;
        let made = trb.alloc_tensors(&infos)?;
        for count in 1..=16u32 {
            let tensor = made.tensor(count as usize - 1)?;
            assert_eq!((tensor.shape(), tensor.owner()), (&[count][..], made.task_id()));
            assert!(tensor.addr.is_multiple_of(1024) && tensor.size == 1024);
        }
        assert!(made.tensor(16).is_err());
        // An existing tensor among the outputs does not count.
        let arg = Arg::new().output(args.tensor(0)?).create(&i32s(3)?).create(&i32s(5)?);
        let outputs = trb.submit_dummy(arg)?;
        assert_eq!([outputs.tensor(0)?.shape(), outputs.tensor(1)?.shape()], [&[3][..], &[5][..]]);
        assert!(outputs.tensor(2).is_err());
        Ok(())
    });
    results(&program, &[&[0]], &RunConfig { block_dim: Some(1), ..config() });
}
