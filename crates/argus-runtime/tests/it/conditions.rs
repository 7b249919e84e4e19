//! Tasks that run only if an element of device memory says so, and the limits of a task's arguments.

use argus_abi::{ArgLimits, DType, FatalCode, TaskState, Tensor};
use argus_chip::CHIPS;
use argus_runtime::{Arg, Comparison, Device, Hazards, Predicate, RunConfig};

use crate::programs::{
    BUMP, FILL, Kernels, MOVE, arguments, bump, config, fill, fill_new, own, refusal, results, shift,
};

fn when(tensor: &Tensor, index: u32, comparison: Comparison, target: i64) -> Predicate {
    Predicate { tensor: *tensor, index: vec![index], comparison, target }
}

#[test]
fn every_comparison_looks_at_the_element_when_the_task_is_ready() {
    type Holds = fn(&i64, &i64) -> bool;
    const COMPARISONS: [(Comparison, Holds); 6] = [
        (Comparison::Equal, i64::eq),
        (Comparison::NotEqual, i64::ne),
        (Comparison::Greater, i64::gt),
        (Comparison::Less, i64::lt),
        (Comparison::GreaterOrEqual, i64::ge),
        (Comparison::LessOrEqual, i64::le),
    ];
    for (number, (comparison, holds)) in COMPARISONS.into_iter().enumerate() {
        for value in [-2i32, -1, 0] {
            // The gate holds something else until a slow task has written it: the element is signed, and read late.
            let program = Kernels::standard().trb(move |trb, args| {
                let [gate, seen] = [args.tensor(0)?, args.tensor(1)?];
                trb.submit_aiv(FILL, fill(gate, value, 20))?;
                let condition = when(gate, 1, comparison, -1);
                trb.submit_aiv(BUMP, bump(seen, 0).only_if(condition)).map(drop)
            });
            let expected = i32::from(holds(&value.into(), &-1));
            let results = results(&program, &[&[77, 77], &[0]], &config());
            assert_eq!(results[1], [expected], "comparison {number} of {value}");
        }
    }
}

#[test]
fn the_successors_of_a_task_that_does_not_run_do() {
    for threads in [1, 4] {
        let program = Kernels::standard().trb(|trb, args| {
            let [gate, word, out] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?];
            let never = || when(gate, 0, Comparison::Greater, 0);
            trb.submit_aiv(FILL, fill(word, 5, 0))?;
            let skipped = trb.submit_aiv(BUMP, bump(word, 0).only_if(never()).blocks(3))?;
            trb.submit_dummy(Arg::new().after(&[skipped.task_id()]).only_if(never()))?;
            trb.submit_aiv(MOVE, shift(word, out, 0)).map(drop)
        });
        let config = RunConfig { host_threads: Some(threads), ..config() };
        assert_eq!(results(&program, &[&[0], &[0], &[0]], &config)[2], [6]);
    }
}

#[test]
fn a_condition_on_a_tensor_of_the_runtime_keeps_its_memory_and_its_order() {
    let program = Kernels::standard().trb(|trb, args| {
        let gate = trb.submit_aiv(FILL, fill_new(4, 3, 30)?)?;
        let condition = when(gate.tensor(0)?, 2, Comparison::Equal, 3);
        trb.submit_aiv(BUMP, bump(args.tensor(0)?, 0).only_if(condition)).map(drop)
    });
    assert_eq!(results(&program, &[&[0]], &config()), [[1]]);
}

#[test]
fn the_recorded_graph_names_what_was_skipped_and_why_it_waited() {
    let program = Kernels::standard().trb(|trb, args| {
        let [gate, word] = [args.tensor(0)?, args.tensor(1)?];
        let writer = trb.submit_aiv(FILL, fill(gate, 0, 10))?.task_id();
        let condition = when(gate, 0, Comparison::NotEqual, 0);
        trb.submit_aiv(BUMP, bump(word, 0).only_if(condition).after(&[writer]))?;
        trb.submit_aiv(BUMP, bump(word, 0)).map(drop)
    });
    for hazards in [Hazards::Complete, Hazards::Reference] {
        let config = RunConfig { hazards, ..config() };
        let mut args = arguments(&[&[9], &[0]]);
        let graph = Device::new(CHIPS[0]).graph(&program, &mut args, &config).unwrap();
        let states: Vec<_> = graph.tasks.iter().map(|task| (task.id.raw(), task.state)).collect();
        let expected = [(0, TaskState::Completed), (1, TaskState::Skipped), (2, TaskState::Completed)];
        assert_eq!(states, expected);
        let edges: Vec<_> = graph.edges.iter().map(|edge| (edge.from.raw(), edge.to.raw())).collect();
        assert_eq!(edges, [(0, 1), (1, 2)]);
    }
}

#[test]
fn a_condition_outside_its_tensor_is_refused() {
    let program = Kernels::standard().trb(|trb, args| {
        let condition = when(args.tensor(0)?, 1, Comparison::Equal, 0);
        trb.submit_aiv(BUMP, bump(args.tensor(0)?, 0).only_if(condition)).map(drop)
    });
    let error = refusal(&program, &[&[0]], &config());
    assert_eq!(error.fatal_code(), Some(FatalCode::InvalidArgs));
    assert!(error.to_string().contains("element [1] of [1]"), "{error}");
    let program = Kernels::standard().abg(|abg, args| {
        let condition = when(args.tensor(0)?, 0, Comparison::Equal, 0);
        abg.submit_aiv(BUMP, bump(args.tensor(0)?, 0).only_if(condition)).map(drop)
    });
    let error = refusal(&program, &[&[0]], &config());
    assert_eq!(error.to_string(), "fatal 5 (INVALID_ARGS): aicpu_build_graph has no conditions on tasks");
}

#[test]
fn each_generation_shares_the_slots_in_its_own_way() {
    for limits in [ArgLimits::JUNE, ArgLimits::AUGUST] {
        // As many as fit arrive in their slots; one more of either is refused.
        for (tensors, scalars) in [(0, 0), (1, 0), (0, 1)] {
            let kernels = Kernels::standard().own(0, move |core, args| {
                let last = args.scalar(limits.tensors + limits.scalars - 1)?;
                crate::programs::write(core, args.tensor(limits.tensors - 1)?, &[last as i32])
            });
            let program = kernels.trb(move |trb, args| {
                let word = args.tensor(0)?;
                let arg =
                    (0..limits.tensors + tensors).fold(Arg::with_limits(limits), |arg, _| arg.inout(word));
                let numbers = 1..=(limits.scalars + scalars) as u64;
                let arg = numbers.fold(arg, |arg, number| arg.scalar_of(DType::U64, number));
                trb.submit_aiv(own(0), arg).map(drop)
            });
            if tensors + scalars == 0 {
                assert_eq!(results(&program, &[&[0]], &config()), [[limits.scalars as i32]]);
            } else {
                let error = refusal(&program, &[&[0]], &config());
                assert_eq!(error.fatal_code(), Some(FatalCode::InvalidArgs));
            }
        }
    }
}
