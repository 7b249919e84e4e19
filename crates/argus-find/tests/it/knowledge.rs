//! What is not known is called unknown, and accuses no task.

use std::fs;
use std::path::Path;

use argus_abi::Stage;
use argus_dump::read::Dump;
use argus_dump::{RunEnd, RunStatus};
use argus_find::align::Side;
use argus_find::golden::Folder;
use argus_find::report::{Overall, Report, report};
use argus_find::runs::part;
use argus_find::search::{EndResult, Expectation, Options, search};
use argus_find::tasks::Tasks;

use crate::by_hand::{Right, TaskSpec, input, output, task, write, write_stages};
use crate::verdicts::{RIGHT, diamond};

fn told(dump: &Dump, expectation: &Expectation<'_>) -> Report {
    let tasks = Tasks::new(dump, None);
    let side = Side { dump, tasks: &tasks };
    report(side, expectation, search(side, expectation, Options::default(), |_| {}))
        .map_tasks(|tasks| tasks.collect())
}

fn against(bad: &Dump, good: &Dump) -> Report {
    let tasks = Tasks::new(good, None);
    told(bad, &Expectation::Against(Side { dump: good, tasks: &tasks }))
}

/// Id and verdict of each task, by id.
fn verdicts(report: &Report) -> Vec<(&str, &str)> {
    let mut verdicts: Vec<(&str, &str)> = report
        .tasks
        .iter()
        .map(|task| (task.id.trim_start_matches("0x0000000000000000"), task.verdict))
        .collect();
    verdicts.sort_unstable();
    verdicts.iter().map(|&(id, verdict)| (&id[id.len() - 1..], verdict)).collect()
}

/// An npy file of f32 numbers.
fn golden(directory: &Path, name: &str, values: &[f32]) {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({},), }}", values.len());
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    values.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
    fs::write(directory.join(name), bytes).unwrap();
}

fn chain(x: [f32; 2], y: [f32; 2], z: [f32; 2]) -> Vec<TaskSpec> {
    vec![
        task(1, 0, vec![input(0x100, &[1.0, 2.0]), output(0x200, &x)], &[]),
        task(2, 0, vec![input(0x200, &x), output(0x300, &y)], &[1]),
        task(3, 0, vec![input(0x300, &y), output(0x400, &z)], &[2]),
    ]
}

#[test]
fn goldens_for_the_last_task_only_accuse_here_or_upstream() {
    let (directory, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let dump = write(directory.path(), &chain([2.0, 5.0], [4.0, 10.0], [8.0, 20.0]));
    golden(folder.path(), "0x3_1.npy", &[8.0, 16.0]);
    let last = told(&dump, &Expectation::Golden(&Folder::open(folder.path()).unwrap()));
    assert_eq!(verdicts(&last), [("1", "unknown"), ("2", "unknown"), ("3", "here_or_upstream")]);
    let first = &last.first_wrong[0];
    assert_eq!((first.verdict, &first.suspects[..]), ("here_or_upstream", &[0, 1][..]));
    assert_eq!((last.verdict, last.end_result), (Overall::Differ, EndResult::Differs));
    // The middle is right: only what comes after it is suspected.
    golden(folder.path(), "0x2_1.npy", &[4.0, 10.0]);
    let both = told(&dump, &Expectation::Golden(&Folder::open(folder.path()).unwrap()));
    assert_eq!(verdicts(&both), [("1", "unknown"), ("2", "clean"), ("3", "introduced")]);
    assert!(both.first_wrong[0].suspects.is_empty());
}

#[test]
fn goldens_that_all_agree_are_agreement_and_say_how_many() {
    let (directory, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let dump = write(directory.path(), &chain([2.0, 4.0], [4.0, 8.0], [8.0, 16.0]));
    golden(folder.path(), "0x2_1.npy", &[4.0, 8.0]);
    let told = told(&dump, &Expectation::Golden(&Folder::open(folder.path()).unwrap()));
    assert_eq!((told.verdict, told.judged, told.judgeable), (Overall::Agree, 1, 3));
    assert_eq!(told.end_result, EndResult::Unknown, "no output of the end was compared");
}

#[test]
fn without_inputs_nothing_is_introduced_and_no_inputs_are_called_equal() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let after = |directory: &Path, specs: &[TaskSpec]| {
        write_stages(directory, specs, &[Stage::AfterCompletion], Some(RunEnd::default()))
    };
    let bad = after(one.path(), &diamond(RIGHT.0, [2.0, 5.0], [4.0, 9.0]));
    let good = after(two.path(), &diamond(RIGHT.0, RIGHT.1, RIGHT.2));
    let told = against(&bad, &good);
    assert_eq!(
        verdicts(&told),
        [("1", "clean"), ("2", "here_or_upstream"), ("3", "here_or_upstream"), ("4", "clean")]
    );
    assert_eq!(told.first_wrong.len(), 1);
    let tasks = [Tasks::new(&bad, None), Tasks::new(&good, None)];
    let sides = [Side { dump: &bad, tasks: &tasks[0] }, Side { dump: &good, tasks: &tasks[1] }];
    let parting = part(&sides);
    assert_eq!((parting.begins.len(), parting.open.len(), parting.differs()), (0, 2, true));
    // The same with arrays instead of a run: every task before it is right, and still what it was given is not known.
    let folder = tempfile::tempdir().unwrap();
    for (name, values) in [("0x1_1.npy", RIGHT.0), ("0x2_1.npy", RIGHT.1), ("0x3_1.npy", RIGHT.2)] {
        golden(folder.path(), name, &values);
    }
    let with_arrays = self::told(&bad, &Expectation::Golden(&Folder::open(folder.path()).unwrap()));
    assert_eq!(with_arrays.counts.introduced, 0, "{:?}", verdicts(&with_arrays));
    assert_eq!(with_arrays.first_wrong[0].verdict, "here_or_upstream");
    // Captured on one side only is not captured.
    let (three, four) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let whole = write(three.path(), &diamond(RIGHT.0, RIGHT.1, RIGHT.2));
    let whole_bad = write(four.path(), &diamond(RIGHT.0, [2.0, 5.0], [4.0, 9.0]));
    for told in [against(&bad, &whole), against(&whole_bad, &good)] {
        assert_eq!(told.counts.introduced, 0, "{:?}", verdicts(&told));
        assert_eq!(told.first_wrong[0].verdict, "here_or_upstream");
    }
}

#[test]
fn the_end_of_a_run_that_was_cut_off_does_not_agree() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let specs = chain([2.0, 4.0], [4.0, 8.0], [8.0, 16.0]);
    let whole = write(two.path(), &specs);
    let stages = [Stage::BeforeDispatch, Stage::AfterCompletion];
    let killed = write_stages(one.path(), &specs[..1], &stages, None);
    for told in [told(&killed, &Expectation::Isolated(&Right)), against(&killed, &whole)] {
        assert_eq!((told.verdict, told.end_result, told.judged), (Overall::Unjudged, EndResult::Unknown, 1));
    }
}

#[test]
fn a_task_that_was_running_is_never_first_and_the_crash_is_named() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut specs = chain([2.0, 4.0], [0.0, 0.0], [0.0, 0.0]);
    specs.truncate(2);
    specs[1].running = true;
    let end = RunEnd { status: RunStatus::Failed, error: Some("task 2 crashed".into()), ..RunEnd::default() };
    let crashed =
        write_stages(one.path(), &specs, &[Stage::BeforeDispatch, Stage::AfterCompletion], Some(end));
    let whole = write(two.path(), &chain([2.0, 4.0], [4.0, 8.0], [8.0, 16.0]));
    for told in [told(&crashed, &Expectation::Isolated(&Right)), against(&crashed, &whole)] {
        assert_eq!(verdicts(&told), [("1", "clean"), ("2", "unknown")]);
        assert!(told.first_wrong.is_empty());
        assert_eq!((told.verdict, told.failure.as_deref()), (Overall::Failed, Some("task 2 crashed")));
    }
    // The other run may have been cut off as well.
    let told = against(&whole, &crashed);
    assert_eq!(told.counts.introduced + told.counts.here_or_upstream, 0, "{:?}", verdicts(&told));
}

#[test]
fn dumps_agree_only_if_both_have_the_same_tasks_and_tensors() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let specs = diamond(RIGHT.0, RIGHT.1, RIGHT.2);
    let (whole, part) = (write(one.path(), &specs), write(two.path(), &specs[..3]));
    assert_eq!(against(&whole, &whole).verdict, Overall::Agree);
    assert_eq!(against(&whole, &part).verdict, Overall::Unjudged);
    assert_eq!(against(&part, &whole).verdict, Overall::Unjudged);
    let mut more = specs.clone();
    more[3].args.push(output(0x700, &[1.0]));
    let three = tempfile::tempdir().unwrap();
    let more = write(three.path(), &more);
    assert_eq!(against(&whole, &more).verdict, Overall::Unjudged);
    assert_eq!(against(&more, &whole).verdict, Overall::Unjudged);
}

#[test]
fn small_numbers_are_held_to_small_errors() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let small = |y: [f32; 2]| vec![task(1, 0, vec![input(0x100, &[1e-6, 1e-6]), output(0x200, &y)], &[])];
    let (zeros, right) = (write(one.path(), &small([0.0, 0.0])), write(two.path(), &small([2e-6, 2e-6])));
    assert_eq!(told(&zeros, &Expectation::Isolated(&Right)).verdict, Overall::Differ);
    assert_eq!(against(&zeros, &right).verdict, Overall::Differ);
    assert_eq!(told(&right, &Expectation::Isolated(&Right)).verdict, Overall::Agree);
}

/// Every single bit of the payload file, flipped: the tasks whose records hold it are damaged, all others are as
/// they were, and no task is accused.
#[test]
fn a_flipped_bit_is_damage_and_accuses_no_task() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let specs = diamond(RIGHT.0, RIGHT.1, RIGHT.2);
    let good = write(two.path(), &specs);
    let payloads: Vec<(String, u64, u64)> = {
        let dump = write(one.path(), &specs);
        dump.records().map(|r| (r.task_id.to_string(), r.bin_offset, r.bin_offset + r.bin_size)).collect()
    };
    let path = one.path().join("tensor_dump.bin");
    let stored = fs::read(&path).unwrap();
    for bit in (0..8 * stored.len()).step_by(13) {
        let byte = bit / 8;
        let mut bytes = stored.clone();
        bytes[byte] ^= 1 << (bit % 8);
        fs::write(&path, &bytes).unwrap();
        let dump = Dump::open(one.path()).unwrap();
        let holds = |payload: &&(String, u64, u64)| (payload.1..payload.2).contains(&(byte as u64));
        let mut expected: Vec<&str> =
            payloads.iter().filter(holds).map(|payload| payload.0.as_str()).collect();
        expected.dedup();
        for told in [told(&dump, &Expectation::Isolated(&Right)), against(&dump, &good)] {
            let damaged = told.tasks.iter().filter(|task| task.verdict == "damaged");
            let mut damaged: Vec<&str> = damaged.map(|task| task.id.as_str()).collect();
            damaged.sort_unstable();
            assert_eq!(damaged, expected, "bit {bit}");
            assert_eq!(
                (told.verdict, told.counts.clean),
                (Overall::Damaged, 4 - expected.len()),
                "bit {bit}"
            );
            assert!(told.damaged.iter().all(|damaged| damaged.why.contains("bytes ")), "{:?}", told.damaged);
        }
        let told = against(&good, &dump);
        assert_eq!((told.verdict, told.counts.damaged), (Overall::Damaged, expected.len()), "bit {bit}");
        assert!(told.damaged.iter().all(|damaged| damaged.why.starts_with("the other dump: ")));
        let tasks = [Tasks::new(&good, None), Tasks::new(&dump, None)];
        let sides = [Side { dump: &good, tasks: &tasks[0] }, Side { dump: &dump, tasks: &tasks[1] }];
        let parting = part(&sides);
        assert!(!parting.differs() && parting.damaged.len() == expected.len(), "bit {bit}: {parting:?}");
    }
}
