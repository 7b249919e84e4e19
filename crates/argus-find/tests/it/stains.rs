//! Who inherits, on random graphs, against a model that keeps one mark for each byte.

use std::collections::BTreeSet;

use argus_find::align::Side;
use argus_find::search::{Expectation, Options, search};
use argus_find::tasks::Tasks;

use crate::by_hand::{Arg, Right, TaskSpec, input, output, task, write};
use crate::verdicts::verdicts;

/// The same numbers everywhere.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

const BASE: u64 = 0x1000;
/// Elements of memory.
const CELLS: u64 = 24;

struct Made {
    spec: TaskSpec,
    /// Bytes of elements that are wrong.
    wrong: BTreeSet<u64>,
}

fn bytes(arg: &Arg, elements: usize) -> BTreeSet<u64> {
    (arg.address..arg.address + 4 * elements as u64).collect()
}

/// A task that doubles some cells into others, one or two outputs, some elements of them wrong.
fn make(dice: &mut Dice, id: u64) -> Made {
    let opaque = dice.below(4) == 0;
    let count = 1 + dice.below(4);
    let place = |dice: &mut Dice| BASE + 4 * dice.below(CELLS - count);
    let values: Vec<f32> = (0..count).map(|i| (id * 10 + i) as f32).collect();
    let read = input(place(dice), &values);
    let mut right: Vec<f32> = values.iter().map(|value| 2.0 * value).collect();
    let mut out = output(place(dice), &right);
    out.created = dice.below(3) == 0;
    let mut wrong = BTreeSet::new();
    if !opaque && dice.below(3) == 0 {
        let at = dice.below(count);
        right[at as usize] += 1.0;
        out.after = right;
        wrong.extend(out.address + 4 * at..out.address + 4 * at + 4);
    }
    let after: Vec<u64> = (id > 1).then(|| id - 1).into_iter().collect();
    Made { spec: task(id, if opaque { 3 } else { 0 }, vec![read, out], &after), wrong }
}

/// What is said of each task, byte by byte.
fn model(tasks: &[Made]) -> Vec<(u64, &'static str)> {
    let mut stained: BTreeSet<u64> = BTreeSet::new();
    let mut told = Vec::new();
    for made in tasks {
        let [read, out] = &made.spec.args[..] else { panic!() };
        let opaque = made.spec.kernel == 3;
        let reads_wrong = bytes(read, read.before.len()).iter().any(|byte| stained.contains(byte));
        told.push((
            made.spec.id,
            match () {
                () if !made.wrong.is_empty() => "introduced",
                () if reads_wrong => "inherited",
                () if opaque => "unknown",
                () => "clean",
            },
        ));
        let written = bytes(out, out.after.len());
        if reads_wrong {
            stained.extend(&written);
        } else if !opaque || out.created {
            stained.retain(|byte| !written.contains(byte));
        }
        stained.extend(&made.wrong);
    }
    told
}

#[test]
fn inherited_is_exactly_who_reads_wrong_bytes() {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for seed in 0..120 {
        let mut dice = Dice(seed);
        let made: Vec<Made> = (1..=12).map(|id| make(&mut dice, id)).collect();
        let specs: Vec<TaskSpec> = made.iter().map(|made| made.spec.clone()).collect();
        let directory = tempfile::tempdir().unwrap();
        let dump = write(directory.path(), &specs);
        let tasks = Tasks::new(&dump, None);
        let side = Side { dump: &dump, tasks: &tasks };
        let findings = search(side, &Expectation::Isolated(&Right), Options::default(), |_| {});
        let expected = model(&made);
        assert_eq!(verdicts(&tasks, &findings), expected, "seed {seed}");
        seen.extend(expected.iter().map(|(_, verdict)| *verdict));
    }
    assert_eq!(seen, BTreeSet::from(["clean", "inherited", "introduced", "unknown"]));
}

/// One element is wrong and the other is right: a task that reads the right one inherits nothing.
#[test]
fn a_wrong_element_does_not_stain_its_neighbour() {
    let specs = vec![
        // The second element is wrong, the first is not.
        task(1, 0, vec![input(0x100, &[1.0, 2.0]), output(0x200, &[2.0, 5.0])], &[]),
        task(2, 0, vec![input(0x200, &[2.0]), output(0x300, &[4.0])], &[1]),
        task(3, 0, vec![input(0x204, &[5.0]), output(0x400, &[10.0])], &[1]),
    ];
    let directory = tempfile::tempdir().unwrap();
    let dump = write(directory.path(), &specs);
    let tasks = Tasks::new(&dump, None);
    let side = Side { dump: &dump, tasks: &tasks };
    let findings = search(side, &Expectation::Isolated(&Right), Options::default(), |_| {});
    assert_eq!(verdicts(&tasks, &findings), [(1, "introduced"), (2, "clean"), (3, "inherited")]);
}
