//! Finding the task, keeping bytes from before, running a kernel again.
//!
//! The scheduler asks at three moments: when a task is submitted, before its first token is written, and when
//! its last part has finished. A stale read needs the kernel to run twice: the first time as always, so that
//! it is known what would have been right, and again on the stale bytes. For the second time the task goes
//! back to its queue, and a stand-in with another argument takes its place on the cores.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use argus_abi::{MAX_DIMS, Overlap, Role, TaskId, Tensor};
use argus_facts::kernel_info::is_called;
use argus_gm::{Fill, GlobalMemory, view};
use argus_sync::relock;

use super::damage::{Distance, damage, distance};
use super::{Injected, Injection, InjectionError, InjectionKind, names};
use crate::kernel_table::KernelTable;
use crate::schedule::task::{ArgumentDescription, Task, Work};

/// What happens to a task whose last part has finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Complete,
    /// Its kernels run once more.
    Again,
}

/// The injections of one run.
pub struct Injector {
    injections: Vec<Injection>,
    kernels: KernelTable,
    memory: Arc<GlobalMemory>,
    /// Bytes from before every task are kept, because some task may be asked to read them.
    keeps_history: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Tasks seen of the kernel of each injection.
    seen: Vec<u64>,
    targets: BTreeMap<TaskId, Target>,
    errors: Vec<InjectionError>,
    /// What views held before the last task that wrote them.
    history: BTreeMap<ViewKey, Past>,
    dispatched: u64,
}

struct Target {
    /// Which injection.
    index: usize,
    /// What the writable arguments held before the task.
    before: Vec<(u16, Tensor, Vec<u8>)>,
    /// Its place in the order of dispatch.
    order: u64,
    again: Option<Again>,
    done: Option<Injected>,
}

/// A kernel that is to run, or has just run, on stale bytes.
struct Again {
    /// What the writable arguments hold after a run as it should be.
    right: Vec<Vec<u8>>,
    /// The argument that is stale, and who wrote it last.
    argument: u16,
    writer: TaskId,
    /// Arguments that may be tried after this one.
    left: VecDeque<(u16, Tensor, Role)>,
    /// What runs in the task's place; `None` if the task itself does, on bytes changed in place.
    stand_in: Option<Arc<Task>>,
}

/// The place and form of a view.
type ViewKey = (u64, [u32; MAX_DIMS], [u32; MAX_DIMS]);

struct Past {
    tensor: Tensor,
    bytes: Vec<u8>,
    writer: TaskId,
    order: u64,
}

impl Injector {
    pub fn new(injections: &[Injection], kernels: &KernelTable, memory: &Arc<GlobalMemory>) -> Injector {
        Injector {
            keeps_history: injections.iter().any(|injection| injection.kind == InjectionKind::StaleRead),
            state: Mutex::new(State { seen: vec![0; injections.len()], ..State::default() }),
            injections: injections.to_vec(),
            kernels: kernels.clone(),
            memory: Arc::clone(memory),
        }
    }

    /// A task was added to the graph. Called in the order of submission, before it can run.
    pub fn submitted(&self, task: &Task) {
        let Work::Kernels(launch) = &task.work else { return };
        let runs = |name: &str| {
            let mut members = launch.members().filter_map(|(_, func)| self.kernels.get(func));
            members.any(|entry| is_called(&entry.name, name))
        };
        let state = &mut *relock(self.state.lock());
        for (index, injection) in self.injections.iter().enumerate() {
            if !runs(&injection.kernel) {
                continue;
            }
            let number = state.seen[index];
            state.seen[index] += 1;
            if !injection.task.map_or(number == injection.nth, |wanted| wanted == task.id) {
                continue;
            }
            match state.targets.entry(task.id) {
                Entry::Vacant(place) => {
                    place.insert(Target { index, before: Vec::new(), order: 0, again: None, done: None });
                }
                Entry::Occupied(_) => {
                    let error = InjectionError::SameTask { injection: injection.clone(), task: task.id };
                    state.errors.push(error);
                }
            }
        }
    }

    /// The task's inputs are final and nothing of it runs yet.
    pub fn before(&self, task: &Task) {
        let state = &mut *relock(self.state.lock());
        let is_target = state.targets.contains_key(&task.id);
        if !is_target && !self.keeps_history {
            return;
        }
        let order = state.dispatched;
        state.dispatched += 1;
        let writable = arguments(task).into_iter().filter(|(_, _, role)| *role != Role::Input);
        let held: Vec<_> = writable
            .filter_map(|(slot, tensor, _)| Some((slot, tensor, read(&self.memory, &tensor)?)))
            .collect();
        if self.keeps_history {
            for (_, tensor, bytes) in &held {
                let past = Past { tensor: *tensor, bytes: bytes.clone(), writer: task.id, order };
                // The target must still find who wrote its in/out tensors before itself.
                if !is_target {
                    state.history.insert(key(tensor), past);
                }
            }
        }
        if let Some(target) = state.targets.get_mut(&task.id) {
            (target.before, target.order) = (held, order);
        }
    }

    /// The task that is to run in this one's place, if another is.
    pub fn stand_in(&self, task: &Arc<Task>) -> Option<Arc<Task>> {
        relock(self.state.lock()).targets.get(&task.id)?.again.as_ref()?.stand_in.clone()
    }

    /// The task's last part has finished and nothing has seen what it wrote.
    pub fn after(&self, task: &Task) -> Next {
        let state = &mut *relock(self.state.lock());
        let Some(mut target) = state.targets.remove(&task.id) else { return Next::Complete };
        let injection = &self.injections[target.index];
        let next = match injection.kind {
            InjectionKind::StaleRead => self.stale_read(injection, task, &mut target, &state.history),
            _ => {
                target.done = Some(self.damage(injection, task, &target));
                Next::Complete
            }
        };
        // From now on the bytes from before this task are what is stale about its outputs.
        if self.keeps_history && next == Next::Complete {
            let order = target.order;
            for (_, tensor, bytes) in &target.before {
                let past = Past { tensor: *tensor, bytes: bytes.clone(), writer: task.id, order };
                state.history.insert(key(tensor), past);
            }
        }
        state.targets.insert(task.id, target);
        next
    }

    /// Damages the first output to which it makes a difference.
    fn damage(&self, injection: &Injection, task: &Task, target: &Target) -> Injected {
        for (slot, tensor, before) in &target.before {
            let (Some(right), Some(dtype)) = (read(&self.memory, tensor), tensor.dtype()) else { continue };
            let Some(made) = damage(injection.kind, dtype, tensor.shape(), before, &right) else { continue };
            if write(&self.memory, tensor, &made.bytes) {
                let apart = distance(dtype, &right, &made.bytes);
                return told(injection, task.id, *slot, tensor, apart, made.what);
            }
        }
        let why = if target.before.is_empty() {
            "no tensor is known that it writes".into()
        } else {
            format!("{} makes no difference to any of its outputs", injection.kind)
        };
        unchanged(injection, task.id, why)
    }

    /// The first time: sets up a run on stale bytes. After that: looks whether it made a difference.
    fn stale_read(
        &self,
        injection: &Injection,
        task: &Task,
        target: &mut Target,
        history: &BTreeMap<ViewKey, Past>,
    ) -> Next {
        let now: Vec<Vec<u8>> = (target.before.iter())
            .map(|(_, tensor, _)| read(&self.memory, tensor).unwrap_or_default())
            .collect();
        let (right, mut left) = match target.again.take() {
            None => {
                let readable = |(_, _, role): &(u16, Tensor, Role)| *role != Role::Output;
                (now, arguments(task).into_iter().filter(readable).collect())
            }
            Some(again) => {
                if let Some(done) = found(injection, task.id, target, &again, &now) {
                    target.done = Some(done);
                    return Next::Complete;
                }
                (again.right, again.left)
            }
        };
        while let Some((argument, tensor, role)) = left.pop_front() {
            let Some(past) = last_writer(&tensor, history) else { continue };
            let writer = past.writer;
            let stand_in = match role {
                Role::Inout => None,
                _ => match self.make_stand_in(task, argument, &tensor, writer, history) {
                    Some(stand_in) => Some(Arc::new(stand_in)),
                    None => continue,
                },
            };
            let again = Again { right, argument, writer, left, stand_in };
            self.restore(target, &again, history);
            target.again = Some(again);
            return Next::Again;
        }
        // No more inputs to try: what the task wrote the first time is put back.
        for ((_, tensor, _), right) in target.before.iter().zip(&right) {
            write(&self.memory, tensor, right);
        }
        let why = "no input that a task before it wrote makes a difference to what it computes";
        target.done = Some(unchanged(injection, task.id, why.into()));
        Next::Complete
    }

    /// The same task, with one input in memory of its own that holds the bytes from before `writer`.
    fn make_stand_in(
        &self,
        task: &Task,
        argument: u16,
        tensor: &Tensor,
        writer: TaskId,
        history: &BTreeMap<ViewKey, Past>,
    ) -> Option<Task> {
        let mut args = task.args.clone();
        let slot = usize::from(argument);
        let raw = args.tensors.is_empty();
        // A kernel may look at more than the view, but not at more than the buffer.
        let (start, length) = if raw {
            let allocation = self.memory.allocation_of(tensor.addr)?;
            (allocation.addr, allocation.len)
        } else {
            (tensor.addr, tensor.size)
        };
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        self.memory.read(start, &mut bytes).ok()?;
        put_past(&mut bytes, start, writer, history);
        let copy = self.memory.allocate(length, Fill::Untouched).ok()?.addr;
        self.memory.write(copy, &bytes).ok()?;
        if raw {
            *args.scalars.get_mut(slot)? = copy + (tensor.addr - start);
        } else {
            args.tensors.get_mut(slot)?.addr = copy;
        }
        Some(Task::new(task.id, task.work.clone(), args, 0))
    }

    /// Puts back what the task's outputs held before it, or the stale bytes of an in/out tensor.
    fn restore(&self, target: &Target, again: &Again, history: &BTreeMap<ViewKey, Past>) {
        for (slot, tensor, before) in &target.before {
            write(&self.memory, tensor, before);
            if *slot != again.argument || again.stand_in.is_some() {
                continue;
            }
            let Some(range) = tensor.byte_range() else { continue };
            let mut bytes = vec![0; (range.end - range.start) as usize];
            if self.memory.read(range.start, &mut bytes).is_ok() {
                put_past(&mut bytes, range.start, again.writer, history);
                // Only the view itself: what lies between its rows belongs to others.
                let stale = logical(tensor, &bytes, range.start);
                write(&self.memory, tensor, &stale);
            }
        }
    }

    /// What the injections did, and the first that did not do what was asked.
    pub fn finish(&self) -> (Vec<Injected>, Option<InjectionError>) {
        let state = &mut *relock(self.state.lock());
        let mut told = Vec::new();
        let mut error = state.errors.first().cloned();
        for (index, injection) in self.injections.iter().enumerate() {
            let target = state.targets.iter_mut().find(|(_, target)| target.index == index);
            let (task, done) = match target {
                Some((&task, target)) => (Some(task), target.done.take()),
                None => (None, None),
            };
            let done = done.unwrap_or_else(|| Injected { task, ..nothing(injection) });
            if done.argument.is_none() {
                error.get_or_insert_with(|| match task {
                    Some(task) => {
                        let why = done.what.clone();
                        InjectionError::NoEffect { injection: injection.clone(), task, why }
                    }
                    None => InjectionError::NoTask {
                        injection: injection.clone(),
                        found: state.seen[index],
                        known: names(&self.kernels),
                    },
                });
            }
            told.push(done);
        }
        (told, error)
    }
}

/// The tensor arguments of a task by slot, however they were described.
fn arguments(task: &Task) -> Vec<(u16, Tensor, Role)> {
    match &task.args.described {
        Some(Ok(described)) => {
            let slots = (0..).zip(described.iter());
            slots
                .filter_map(|(slot, description)| match description {
                    ArgumentDescription::Tensor(tensor, role) => Some((slot, *tensor, *role)),
                    ArgumentDescription::Scalar(_) => None,
                })
                .collect()
        }
        _ => {
            let tensors = task.args.tensors.iter().zip(&task.args.types);
            (0..).zip(tensors).map(|(slot, (tensor, kind))| (slot, *tensor, kind.role())).collect()
        }
    }
}

fn key(tensor: &Tensor) -> ViewKey {
    let (mut shape, mut strides) = ([0; MAX_DIMS], [0; MAX_DIMS]);
    shape[..tensor.rank()].copy_from_slice(tensor.shape());
    strides[..tensor.rank()].copy_from_slice(tensor.stride());
    (tensor.data_addr().unwrap_or(0), shape, strides)
}

/// What is known of a view before the last task that wrote some of its bytes.
fn last_writer<'a>(tensor: &Tensor, history: &'a BTreeMap<ViewKey, Past>) -> Option<&'a Past> {
    let overlapping = history.values().filter(|past| tensor.overlap(&past.tensor) != Overlap::None);
    overlapping.max_by_key(|past| past.order)
}

/// The elements of a view in logical order. Those of less than a byte are left alone.
fn read(memory: &GlobalMemory, tensor: &Tensor) -> Option<Vec<u8>> {
    let whole = tensor.fits_buffer() && tensor.dtype().is_some_and(|dtype| dtype.bits() >= 8);
    if whole { view::gather(memory, tensor).ok() } else { None }
}

/// Puts elements in logical order to where they belong. False if that cannot be done.
fn write(memory: &GlobalMemory, tensor: &Tensor, bytes: &[u8]) -> bool {
    view::scatter(memory, tensor, bytes).is_ok()
}

/// The elements of a view in logical order, out of a copy of the memory from `start` on.
fn logical(tensor: &Tensor, copy: &[u8], start: u64) -> Vec<u8> {
    let Some((length, pieces)) = tensor.byte_runs() else { return Vec::new() };
    pieces.flat_map(|addr| copy[(addr - start) as usize..][..length as usize].iter().copied()).collect()
}

/// Overwrites a copy of the memory from `start` on with what it held before `writer`.
fn put_past(copy: &mut [u8], start: u64, writer: TaskId, history: &BTreeMap<ViewKey, Past>) {
    let end = start + copy.len() as u64;
    for past in history.values().filter(|past| past.writer == writer) {
        let Some((length, pieces)) = past.tensor.byte_runs() else { continue };
        for (piece, addr) in past.bytes.chunks_exact(length.max(1) as usize).zip(pieces) {
            let (from, to) = (addr.max(start), (addr + length).min(end));
            if from < to {
                let piece = &piece[(from - addr) as usize..(to - addr) as usize];
                copy[(from - start) as usize..(to - start) as usize].copy_from_slice(piece);
            }
        }
    }
}

/// The first output that a stale read changed beyond tolerance.
fn found(
    injection: &Injection,
    task: TaskId,
    target: &Target,
    again: &Again,
    now: &[Vec<u8>],
) -> Option<Injected> {
    let outputs = target.before.iter().zip(&again.right).zip(now);
    outputs.into_iter().find_map(|(((slot, tensor, _), right), now)| {
        let apart = distance(tensor.dtype()?, right, now);
        (apart.beyond > 0).then(|| {
            let (argument, writer) = (again.argument, again.writer);
            let what = format!("argument {argument} was read as it was before task {writer} wrote it");
            told(injection, task, *slot, tensor, apart, what)
        })
    })
}

fn nothing(injection: &Injection) -> Injected {
    Injected {
        injection: injection.clone(),
        task: None,
        argument: None,
        elements: 0,
        changed: 0,
        max_change: 0.0,
        what: "the task did not complete".into(),
    }
}

fn unchanged(injection: &Injection, task: TaskId, why: String) -> Injected {
    Injected { task: Some(task), what: why, ..nothing(injection) }
}

fn told(
    injection: &Injection,
    task: TaskId,
    slot: u16,
    tensor: &Tensor,
    apart: Distance,
    what: String,
) -> Injected {
    Injected {
        injection: injection.clone(),
        task: Some(task),
        argument: Some(slot),
        elements: tensor.numel(),
        changed: apart.changed,
        max_change: apart.max,
        what,
    }
}
