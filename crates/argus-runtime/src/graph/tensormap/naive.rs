//! The map as lists that are looked through from end to end: the oracle of the one that is used.

use std::collections::BTreeSet;
use std::sync::Arc;

use argus_abi::{DType, Overlap, TaskId, Tensor};
use proptest::prelude::*;
use proptest::sample::Index;

use super::{TensorMap, WaitsFor};
use crate::schedule::task::{Task, TaskArgs, Work};

struct Entry {
    view: Tensor,
    task: Arc<Task>,
}

#[derive(Default)]
struct Naive {
    writers: Vec<(u64, Entry)>,
    readers: Vec<(u64, Entry)>,
}

impl Naive {
    fn forget(&mut self, allocation: u64) {
        self.writers.retain(|(at, _)| *at != allocation);
        self.readers.retain(|(at, _)| *at != allocation);
    }

    fn add_reader(&mut self, allocation: u64, view: &Tensor, task: &Arc<Task>) {
        self.readers.push((allocation, Entry { view: *view, task: Arc::clone(task) }));
    }

    fn add_writer(&mut self, allocation: u64, view: &Tensor, task: &Arc<Task>, waits: WaitsFor) {
        let keep = |(at, entry): &(u64, Entry)| {
            let covered = *at == allocation && view.overlap(&entry.view) == Overlap::Covers;
            !covered || entry.task.id == task.id
        };
        if waits != WaitsFor::Nothing {
            self.writers.retain(keep);
        }
        if waits == WaitsFor::WritersAndReaders {
            self.readers.retain(keep);
        }
        self.writers.push((allocation, Entry { view: *view, task: Arc::clone(task) }));
    }

    /// Ids of what `view` touches; only of pending tasks unless history is kept.
    fn touched(list: &[(u64, Entry)], allocation: u64, view: &Tensor, history: bool) -> BTreeSet<TaskId> {
        list.iter()
            .filter(|(at, entry)| {
                *at == allocation
                    && (history || !entry.task.is_complete())
                    && view.overlap(&entry.view) != Overlap::None
            })
            .map(|(_, entry)| entry.task.id)
            .collect()
    }

    fn pending(&self) -> usize {
        self.writers.iter().chain(&self.readers).filter(|(_, entry)| !entry.task.is_complete()).count()
    }
}

/// One thing that an orchestration does.
#[derive(Clone, Debug)]
enum Step {
    Read(usize, View),
    Write(usize, View, u8),
    /// The same task reads one view and writes another.
    Update(usize, View, View),
    Complete(Index),
    CompleteAll,
    Forget(usize),
}

/// How a view is cut out of its buffer.
#[derive(Clone, Debug)]
struct View {
    dtype: DType,
    base: u32,
    cuts: Vec<(u8, Index, Index, Index)>,
}

const ADDRS: [u64; 2] = [0x1_0000, 0x8_0000];
const ELEMENTS: u32 = 2 * 6 * 8 * 16;

impl View {
    fn make(&self, buffer: usize) -> Tensor {
        let (shape, scale): (&[u32], u32) = match self.dtype {
            DType::F32 => (&[2, 6, 8, 16], 1),
            DType::F16 => (&[12, 16, 16], 2),
            _ => (&[ELEMENTS * 4], 4),
        };
        // Some tensors begin inside the buffer of another.
        let whole = match self.base {
            0 => Tensor::contiguous(ADDRS[buffer], self.dtype, shape).unwrap(),
            skip => {
                let bytes = u64::from(skip) * 4;
                let left = (ELEMENTS - skip) * scale;
                Tensor::contiguous(ADDRS[buffer] + bytes, self.dtype, &[left]).unwrap()
            }
        };
        self.cuts.iter().fold(whole, |view, (kind, a, b, c)| {
            let dim = a.index(view.rank());
            let len = view.shapes[dim];
            match kind {
                0 => view.transpose(dim, b.index(view.rank())).unwrap(),
                1 if len > 1 => {
                    let start = b.index(len as usize) as u32;
                    view.slice(dim, start, len, 1 + c.index(3) as u32).unwrap()
                }
                _ => {
                    let mut shape = view.shape().to_vec();
                    let mut offsets = vec![0; view.rank()];
                    shape[dim] = 1 + b.index(len as usize) as u32;
                    offsets[dim] = c.index((len - shape[dim] + 1) as usize) as u32;
                    view.view(&shape, &offsets).unwrap()
                }
            }
        })
    }
}

fn view() -> impl Strategy<Value = View> {
    let dtype = prop_oneof![6 => Just(DType::F32), 1 => Just(DType::F16), 1 => Just(DType::I8)];
    let base = prop_oneof![8 => Just(0u32), 1 => 1u32..64];
    let cut = (0u8..4, any::<Index>(), any::<Index>(), any::<Index>());
    (dtype, base, prop::collection::vec(cut, 0..6)).prop_map(|(dtype, base, cuts)| View { dtype, base, cuts })
}

fn step() -> impl Strategy<Value = Step> {
    let buffer = || prop_oneof![9 => Just(0usize), 1 => Just(1usize)];
    prop_oneof![
        8 => (buffer(), view()).prop_map(|(buffer, view)| Step::Read(buffer, view)),
        8 => (buffer(), view(), 0u8..6).prop_map(|(buffer, view, waits)| Step::Write(buffer, view, waits)),
        4 => (buffer(), view(), view()).prop_map(|(buffer, read, write)| Step::Update(buffer, read, write)),
        4 => any::<Index>().prop_map(Step::Complete),
        1 => Just(Step::CompleteAll),
        1 => buffer().prop_map(Step::Forget),
    ]
}

fn run(steps: &[Step], history: bool) -> Result<(), TestCaseError> {
    let (mut map, mut naive) = (TensorMap::new(history), Naive::default());
    let mut tasks: Vec<Arc<Task>> = Vec::new();
    for step in steps {
        let task = || {
            let id = TaskId::new((tasks.len() % 2) as u8, tasks.len() as u32);
            Arc::new(Task::new(id, Work::None, TaskArgs::default(), 0))
        };
        match step {
            Step::Read(buffer, view) => {
                let (task, at, view) = (task(), ADDRS[*buffer], view.make(*buffer));
                same_answers(&mut map, &naive, at, &view, history)?;
                map.add_reader(at, &view, &task);
                naive.add_reader(at, &view, &task);
                tasks.push(task);
            }
            Step::Write(buffer, view, waits) => {
                let (task, at, view) = (task(), ADDRS[*buffer], view.make(*buffer));
                let waits = match waits {
                    0 => WaitsFor::Nothing,
                    1 => WaitsFor::Writers,
                    _ => WaitsFor::WritersAndReaders,
                };
                same_answers(&mut map, &naive, at, &view, history)?;
                map.add_writer(at, &view, &task, waits);
                naive.add_writer(at, &view, &task, waits);
                tasks.push(task);
            }
            Step::Update(buffer, read, write) => {
                let (task, at) = (task(), ADDRS[*buffer]);
                let (read, write) = (read.make(*buffer), write.make(*buffer));
                same_answers(&mut map, &naive, at, &read, history)?;
                same_answers(&mut map, &naive, at, &write, history)?;
                map.add_reader(at, &read, &task);
                naive.add_reader(at, &read, &task);
                map.add_writer(at, &write, &task, WaitsFor::WritersAndReaders);
                naive.add_writer(at, &write, &task, WaitsFor::WritersAndReaders);
                tasks.push(task);
            }
            Step::Complete(index) if !tasks.is_empty() => index.get(&tasks).complete(|_| {}),
            Step::Complete(_) => {}
            Step::CompleteAll => tasks.iter().for_each(|task| task.complete(|_| {})),
            Step::Forget(buffer) => {
                map.forget(ADDRS[*buffer]);
                naive.forget(ADDRS[*buffer]);
            }
        }
        if tasks.len().is_multiple_of(7) {
            prop_assert_eq!(map.live_entries(0), naive.pending());
        }
    }
    Ok(())
}

fn same_answers(
    map: &mut TensorMap,
    naive: &Naive,
    at: u64,
    view: &Tensor,
    history: bool,
) -> Result<(), TestCaseError> {
    let (mut writers, mut readers) = (BTreeSet::new(), BTreeSet::new());
    map.writers(at, view, |found| _ = writers.insert(found.id()));
    map.readers(at, view, |found| _ = readers.insert(found.id()));
    prop_assert_eq!(writers, Naive::touched(&naive.writers, at, view, history));
    prop_assert_eq!(readers, Naive::touched(&naive.readers, at, view, history));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn the_index_finds_what_a_look_at_every_view_finds(
        steps in prop::collection::vec(step(), 1..200),
        history in any::<bool>(),
    ) {
        run(&steps, history)?;
    }
}
