//! Critical paths of the made capture, worked out by hand.

use argus_artefacts::deps::{Producer, producer};
use argus_artefacts::names::Names;
use argus_artefacts::path::{Cause, longest, observed};

use crate::made::{deps, id, times};

#[test]
fn the_path_goes_through_tasks_that_run_nothing() {
    let graph = deps().graph(&Names::default());
    let told = |steps: &[argus_artefacts::path::Step]| {
        steps.iter().map(|step| (step.task, step.end - step.start, step.gap, step.cause)).collect::<Vec<_>>()
    };
    let expected = [
        (id(0), 200, 0, Cause::Start),
        (id(1), 80, 20, Cause::Dependency),
        (id(3), 120, 100, Cause::Dependency),
    ];
    assert_eq!(told(&longest(&times(), &graph)), expected);
    assert_eq!(told(&observed(&times(), Some(&graph))), expected);
    // Without a graph only the cores tell what came before.
    let by_core = [(id(0), 200, 0, Cause::Start), (id(3), 120, 200, Cause::Core)];
    let without = told(&observed(&times(), None));
    assert!(without == by_core || without[0].0 == id(1), "{without:?}");
}

/// By the graph task 1 follows task 0, by the core it is the other way round, and both are done in one tick.
#[test]
fn tasks_of_one_instant_stand_on_the_path_once() {
    let graph = deps().graph(&Names::default());
    let mut times = times();
    times.parts.retain(|part| part.task == id(0) || part.task == id(1));
    times.parts.sort_by_key(|part| std::cmp::Reverse(part.task));
    for part in &mut times.parts {
        (part.core, part.start, part.end) = (0, 7000, 7000);
    }
    let mut tasks: Vec<_> = observed(&times, Some(&graph)).iter().map(|step| step.task).collect();
    tasks.sort_unstable();
    assert_eq!(tasks, [id(0), id(1)]);
    for part in &mut times.parts {
        (part.start, part.end) = (0, u64::MAX);
    }
    assert!(!longest(&times, &graph).is_empty(), "a sum that no clock reaches");
}

#[test]
fn a_slot_without_a_row_has_the_producer_whose_block_holds_it() {
    let mut deps = deps();
    assert_eq!(producer(&deps, id(1), 0, &|_, _| None), Producer::Made(id(0)));
    assert_eq!(producer(&deps, id(0), 0, &|_, _| None), Producer::Unknown);
    // A second output of task 0, read in a slot that has no row.
    let second = argus_artefacts::deps::tensor_id(crate::made::ADDRESS + 1024, 0);
    let mut output = deps.tasks[0].args[0].clone();
    output.index = 1;
    deps.tasks[0].args.push(output);
    let mut slot = deps.tasks[1].args[0].clone();
    slot.index = 1;
    slot.view.as_mut().unwrap().tensor_id = Some(second);
    deps.tasks[1].args.push(slot);
    let mut tensor = deps.tensors[0].clone();
    (tensor.id, tensor.address) = (second, crate::made::ADDRESS + 1024);
    deps.tensors.push(tensor);
    let sizes = |_, _| Some(64);
    assert_eq!(producer(&deps, id(1), 1, &sizes), Producer::MadeByPlace { task: id(0), output: 1 });
    assert_eq!(producer(&deps, id(1), 1, &|_, _| None), Producer::Outside);
}
