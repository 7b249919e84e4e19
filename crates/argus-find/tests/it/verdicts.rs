//! Verdicts on small graphs whose every value is written by hand.

use argus_abi::{EdgeReason, TaskId};
use argus_find::align::{AlignedBy, Side};
use argus_find::races::{Conflict, races};
use argus_find::report::{Overall, report};
use argus_find::runs::part;
use argus_find::search::{EndResult, Expectation, Findings, Options, search};
use argus_find::tasks::Tasks;
use argus_find::verdict::Verdict;

use crate::by_hand::{Right, TaskSpec, inout, input, output, task, write};

/// Two independent doublings, and their sum: `x` and `y` are what the doublings left, `z` the sum.
pub fn diamond(x: [f32; 2], y: [f32; 2], z: [f32; 2]) -> Vec<TaskSpec> {
    vec![
        task(1, 0, vec![input(0x100, &[1.0, 2.0]), output(0x200, &x)], &[]),
        task(2, 0, vec![input(0x100, &[1.0, 2.0]), output(0x300, &y)], &[]),
        task(3, 1, vec![input(0x200, &x), input(0x300, &y), output(0x400, &z)], &[1, 2]),
        task(4, 0, vec![input(0x500, &[5.0, 5.0]), output(0x600, &[10.0, 10.0])], &[]),
    ]
}

pub fn verdicts(tasks: &Tasks, findings: &Findings) -> Vec<(u64, &'static str)> {
    let named = |at: usize| (tasks.get(at).id.raw(), findings.tasks[at].verdict().name());
    let mut verdicts: Vec<_> = (0..tasks.len()).map(named).collect();
    verdicts.sort_unstable();
    verdicts
}

pub fn firsts(tasks: &Tasks, findings: &Findings) -> Vec<u64> {
    findings.firsts.iter().map(|first| tasks.get(first.task).id.raw()).collect()
}

fn isolated(specs: &[TaskSpec]) -> (Vec<(u64, &'static str)>, Vec<u64>, EndResult) {
    let directory = tempfile::tempdir().unwrap();
    let dump = write(directory.path(), specs);
    let tasks = Tasks::new(&dump, None);
    let side = Side { dump: &dump, tasks: &tasks };
    let findings = search(side, &Expectation::Isolated(&Right), Options::default(), |_| {});
    (verdicts(&tasks, &findings), firsts(&tasks, &findings), findings.end)
}

fn against(bad: &[TaskSpec], good: &[TaskSpec]) -> (Vec<(u64, &'static str)>, Vec<u64>, EndResult) {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (dump, other) = (write(one.path(), bad), write(two.path(), good));
    let (tasks, others) = (Tasks::new(&dump, None), Tasks::new(&other, None));
    let expectation = Expectation::Against(Side { dump: &other, tasks: &others });
    let findings = search(Side { dump: &dump, tasks: &tasks }, &expectation, Options::default(), |_| {});
    (verdicts(&tasks, &findings), firsts(&tasks, &findings), findings.end)
}

pub const RIGHT: ([f32; 2], [f32; 2], [f32; 2]) = ([2.0, 4.0], [2.0, 4.0], [4.0, 8.0]);

#[test]
fn a_right_run_is_clean() {
    let right = diamond(RIGHT.0, RIGHT.1, RIGHT.2);
    let all_clean = [(1, "clean"), (2, "clean"), (3, "clean"), (4, "clean")];
    assert_eq!(isolated(&right), (all_clean.to_vec(), vec![], EndResult::Agrees));
    assert_eq!(against(&right, &right), (all_clean.to_vec(), vec![], EndResult::Agrees));
}

#[test]
fn the_task_that_made_the_error_is_told_from_the_one_that_read_it() {
    // The second doubling is off by one, and the sum adds what it got.
    let wrong = diamond(RIGHT.0, [2.0, 5.0], [4.0, 9.0]);
    let expected = [(1, "clean"), (2, "introduced"), (3, "inherited"), (4, "clean")];
    let (verdicts, firsts, _) = isolated(&wrong);
    assert_eq!((verdicts, firsts), (expected.to_vec(), vec![2]));
    let found = against(&wrong, &diamond(RIGHT.0, RIGHT.1, RIGHT.2));
    assert_eq!(found, (expected.to_vec(), vec![2], EndResult::Differs));
}

#[test]
fn independent_errors_are_both_first() {
    let mut wrong = diamond([3.0, 4.0], RIGHT.1, [5.0, 8.0]);
    wrong[3] = task(4, 0, vec![input(0x500, &[5.0, 5.0]), output(0x600, &[10.0, 11.0])], &[]);
    let expected = [(1, "introduced"), (2, "clean"), (3, "inherited"), (4, "introduced")];
    let (verdicts, firsts, _) = isolated(&wrong);
    assert_eq!((verdicts, firsts), (expected.to_vec(), vec![1, 4]));
    let (verdicts, firsts, _) = against(&wrong, &diamond(RIGHT.0, RIGHT.1, RIGHT.2));
    assert_eq!((verdicts, firsts), (expected.to_vec(), vec![1, 4]));
}

#[test]
fn an_error_behind_an_error_is_no_first() {
    // Off at the second doubling, and the sum adds wrongly on top.
    let wrong = diamond(RIGHT.0, [2.0, 5.0], [4.0, 90.0]);
    let (verdicts, firsts, _) = isolated(&wrong);
    assert_eq!(verdicts, [(1, "clean"), (2, "introduced"), (3, "introduced"), (4, "clean")]);
    assert_eq!(firsts, [2]);
}

#[test]
fn a_masked_error_is_named_and_the_end_result_agrees() {
    let chain = |x: [f32; 2]| {
        vec![
            task(1, 0, vec![input(0x100, &[1.0, 2.0]), output(0x200, &x)], &[]),
            task(2, 2, vec![input(0x200, &x), output(0x300, &[1.0, 1.0])], &[1]),
            task(3, 0, vec![input(0x300, &[1.0, 1.0]), output(0x400, &[2.0, 2.0])], &[2]),
        ]
    };
    let (verdicts, firsts, end) = against(&chain([2.0, 7.0]), &chain([2.0, 4.0]));
    assert_eq!(verdicts, [(1, "introduced"), (2, "inherited"), (3, "clean")]);
    assert_eq!((firsts, end), (vec![1], EndResult::Agrees));
    // Without a second run nothing can know that the clamp hides it: what reads a wrong value may be wrong.
    let (verdicts, firsts, _) = isolated(&chain([2.0, 7.0]));
    assert_eq!(verdicts, [(1, "introduced"), (2, "inherited"), (3, "inherited")]);
    assert_eq!(firsts, [1]);
}

#[test]
fn first_means_first_by_dependency_not_by_file() {
    // The consumer has the smaller id.
    let graph = |x: [f32; 2], z: [f32; 2]| {
        vec![
            task(9, 0, vec![input(0x100, &[1.0, 2.0]), output(0x200, &x)], &[]),
            task(3, 0, vec![input(0x200, &x), output(0x300, &z)], &[9]),
        ]
    };
    let (verdicts, firsts, _) = isolated(&graph([2.0, 5.0], [4.0, 11.0]));
    assert_eq!(verdicts, [(3, "introduced"), (9, "introduced")]);
    assert_eq!(firsts, [9]);
}

#[test]
fn memory_that_is_used_again_accuses_no_task() {
    let specs = vec![
        task(1, 0, vec![input(0x100, &[1.0, 2.0]), output(0x200, &[2.0, 5.0])], &[]),
        // The same memory, written anew by a task that is right and read nothing wrong.
        task(2, 0, vec![input(0x100, &[1.0, 2.0]), output(0x200, &[2.0, 4.0])], &[]),
        task(3, 0, vec![input(0x200, &[2.0, 4.0]), output(0x300, &[4.0, 8.0])], &[2]),
    ];
    let (verdicts, ..) = isolated(&specs);
    assert_eq!(verdicts, [(1, "introduced"), (2, "clean"), (3, "clean")]);
}

#[test]
fn tasks_of_other_ids_are_matched_by_structure() {
    let good = diamond(RIGHT.0, RIGHT.1, RIGHT.2);
    let mut bad = diamond(RIGHT.0, [2.0, 5.0], [4.0, 9.0]);
    for spec in &mut bad {
        spec.id += 0x2_0000_0000;
        spec.after.iter_mut().for_each(|(id, _)| *id += 0x2_0000_0000);
    }
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (dump, other) = (write(one.path(), &bad), write(two.path(), &good));
    let (tasks, others) = (Tasks::new(&dump, None), Tasks::new(&other, None));
    let (side, other) = (Side { dump: &dump, tasks: &tasks }, Side { dump: &other, tasks: &others });
    let findings = search(side, &Expectation::Against(other), Options::default(), |_| {});
    assert_eq!(findings.alignment.as_ref().unwrap().by, AlignedBy::Structure);
    assert_eq!(firsts(&tasks, &findings), [0x2_0000_0002]);
    let told = report(side, &Expectation::Against(other), findings);
    assert_eq!(
        (told.verdict, told.unaligned.here.len(), told.unaligned.there.len()),
        (Overall::Differ, 0, 0)
    );
}

/// Of tasks that agree nothing is kept; what is shown of them is still every pair.
#[test]
fn pairs_that_are_equal_are_compared_again_where_they_are_shown() {
    let good = diamond(RIGHT.0, RIGHT.1, RIGHT.2);
    let mut bad = good.clone();
    bad[2].args[2].after[1] += 1.0;
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (dump, other) = (write(one.path(), &bad), write(two.path(), &good));
    let (tasks, others) = (Tasks::new(&dump, None), Tasks::new(&other, None));
    let (side, other) = (Side { dump: &dump, tasks: &tasks }, Side { dump: &other, tasks: &others });
    let findings = search(side, &Expectation::Against(other), Options::default(), |_| {});
    let kept: Vec<bool> = (1..=4)
        .map(|id| findings.tasks[tasks.find(TaskId::from_raw(id)).unwrap()].kept().is_some())
        .collect();
    assert_eq!(kept, [false, false, true, false]);
    let told = report(side, &Expectation::Against(other), findings);
    for line in told.tasks.iter() {
        let full = told.tasks.full(&line);
        let mut shown: Vec<usize> = full.inputs.iter().chain(&full.outputs).map(|pair| pair.record).collect();
        shown.sort_unstable();
        let records = dump.records().filter(|record| record.task_id == line.id);
        assert_eq!(shown, records.map(|record| record.index).collect::<Vec<_>>(), "{}", line.label());
        let equal = full.inputs.iter().chain(&full.outputs).filter(|pair| pair.agreement == "equal").count();
        assert_eq!(line.equal, (line.id.raw() != 3).then_some(equal as u32), "{}", line.label());
        assert_eq!(full.outputs[0].agreement, if line.id.raw() == 3 { "beyond" } else { "equal" });
        assert_eq!(full.outputs[0].with, format!("record {}", full.outputs[0].record));
    }
}

#[test]
fn what_has_no_counterpart_is_listed() {
    let good = diamond(RIGHT.0, RIGHT.1, RIGHT.2);
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (dump, other) = (write(one.path(), &good), write(two.path(), &good[..2]));
    let (tasks, others) = (Tasks::new(&dump, None), Tasks::new(&other, None));
    let (side, other) = (Side { dump: &dump, tasks: &tasks }, Side { dump: &other, tasks: &others });
    let findings = search(side, &Expectation::Against(other), Options::default(), |_| {});
    let unknown = findings.tasks.iter().filter(|task| matches!(task.verdict(), Verdict::Unknown(_))).count();
    assert_eq!(unknown, 2);
    let told = report(side, &Expectation::Against(other), findings);
    assert_eq!(told.unaligned.here, ["0x0000000000000003 (sum)", "0x0000000000000004 (double)"]);
    assert_eq!(told.verdict, Overall::Unjudged);
}

#[test]
fn runs_part_where_equal_inputs_give_other_outputs() {
    let first = diamond(RIGHT.0, RIGHT.1, RIGHT.2);
    let second = diamond(RIGHT.0, [2.0, 4.000_001], [4.0, 8.000_001]);
    let directories = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let dumps = [write(directories[0].path(), &first), write(directories[1].path(), &second)];
    let tasks = [Tasks::new(&dumps[0], None), Tasks::new(&dumps[1], None)];
    let sides: Vec<Side<'_>> = dumps.iter().zip(&tasks).map(|(dump, tasks)| Side { dump, tasks }).collect();
    let parting = part(&sides);
    let id = |at: usize| tasks[0].get(at).id.raw();
    assert_eq!(parting.begins.iter().map(|begin| id(begin.task)).collect::<Vec<_>>(), [2]);
    assert_eq!(parting.behind.iter().map(|&at| id(at)).collect::<Vec<_>>(), [3]);
    assert_eq!((parting.same, parting.unknown.len()), (2, 0));
}

#[test]
fn tasks_that_touch_the_same_bytes_without_an_order_race() {
    let found = |specs: &[TaskSpec]| {
        let directory = tempfile::tempdir().unwrap();
        let dump = write(directory.path(), specs);
        let tasks = Tasks::new(&dump, None);
        let pair = |race: &argus_find::races::Race| {
            (tasks.get(race.first).id.raw(), tasks.get(race.second).id.raw(), race.how, race.bytes.clone())
        };
        races(&dump, &tasks).iter().map(pair).collect::<Vec<_>>()
    };
    let ones = [1.0, 1.0];
    // 1 -> 2 is ordered; 3 overwrites what 2 reads, 4 overlaps what 3 wrote by half, and nothing orders them.
    let mut specs = vec![
        task(1, 0, vec![input(0x100, &ones), output(0x200, &ones)], &[]),
        task(2, 0, vec![input(0x200, &ones), output(0x300, &ones)], &[1]),
        task(3, 0, vec![input(0x100, &ones), output(0x200, &ones)], &[1]),
        task(4, 0, vec![input(0x204, &ones), output(0x400, &ones)], &[1]),
    ];
    assert_eq!(
        found(&specs),
        [(2, 3, Conflict::ReadThenWrite, 0x200..0x208), (3, 4, Conflict::WriteThenRead, 0x204..0x208)]
    );
    // An order over another task is an order.
    specs[2].after.push((2, EdgeReason::WriteAfterRead));
    specs[3].after.push((3, EdgeReason::Overlap));
    assert_eq!(found(&specs), []);
    // Memory that was taken anew has no past.
    let mut specs = specs[..3].to_vec();
    specs[2].after.pop();
    specs[2].args[1].created = true;
    assert_eq!(found(&specs), []);
    // Nor has it a future that counts: 3 read it before 4 took it anew, although 3 also waits for a task that was never
    // dispatched.
    let mut specs = [
        task(1, 0, vec![], &[]),
        task(2, 0, vec![input(0x100, &ones), output(0x200, &ones)], &[]),
        task(3, 0, vec![input(0x200, &ones), output(0x300, &ones)], &[1, 2]),
        task(4, 0, vec![input(0x100, &ones), output(0x200, &ones)], &[]),
    ];
    specs[1].args[1].created = true;
    specs[3].args[1].created = true;
    assert_eq!(found(&specs), []);
    // Nor memory that may come from an allocation, which has no records, if that was made later; an earlier one changes
    // nothing.
    let mut specs = [
        task(2, 0, vec![input(0x100, &ones), output(0x200, &ones)], &[]),
        task(3, 0, vec![], &[]),
        task(4, 0, vec![input(0x100, &ones), output(0x200, &ones)], &[]),
        task(5, 0, vec![input(0x500, &ones), output(0x600, &ones)], &[2]),
    ];
    let both = [(2, 4, Conflict::WriteThenWrite, 0x200..0x208)];
    assert_eq!(found(&specs), both);
    specs[2].after.push((3, EdgeReason::Creator));
    assert_eq!(found(&specs), []);
    specs[1].id = 1;
    specs[2].after[0].0 = 1;
    assert_eq!(found(&specs), both);
    // In place, twice, without an order.
    let specs = [
        task(1, 0, vec![inout(0x200, &ones, &[2.0, 2.0])], &[]),
        task(2, 0, vec![inout(0x200, &[2.0, 2.0], &[4.0, 4.0])], &[]),
        task(3, 0, vec![input(0x500, &ones), output(0x600, &[2.0, 2.0])], &[1]),
    ];
    assert_eq!(
        found(&specs),
        [(1, 2, Conflict::WriteThenRead, 0x200..0x208), (1, 2, Conflict::WriteThenWrite, 0x200..0x208)]
    );
}
