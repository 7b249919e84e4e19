//! Arguments in a fresh global memory.
//!
//! What goes in: a task whose inputs are all there. What goes out: a memory with one allocation for each group
//! of arguments that overlapped in the run, every element at the place that its view's offset and strides say,
//! a pattern everywhere else; and the descriptors and slots that go with it.

use std::ops::Range;
use std::sync::Arc;

use argus_abi::args::KernelAbi;
use argus_abi::{DType, Role, TaskId, Tensor, TensorArgType};
use argus_gm::view::{self, MoveError};
use argus_gm::{Fill, GlobalMemory};
use argus_runtime::{Launch, TaskArgs};

use crate::error::{ArgumentError, ReplayError};
use crate::task::{CapturedTask, TensorArgument, What};

/// Buffers of the runtime are padded to this; a task that ended may have read up to there.
const PADDING: u64 = argus_abi::tensor::BUFFER_ALIGN;
/// How far around its views a buffer is filled with the pattern. Farther off it is left untouched: a view far
/// inside a large buffer should not cost that buffer.
const AROUND: u64 = 256 << 10;
/// No address space is larger; a view that needs more is nonsense.
const LARGEST: u64 = 1 << 47;

/// What bytes hold that were not captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Poison(pub u8);

impl Poison {
    /// What unwritten memory held in the run.
    pub fn of_run(task: &CapturedTask) -> Poison {
        Poison(task.fill.byte())
    }

    /// Another one.
    pub const OTHER: Poison = Poison(0x5A);
}

/// A tensor at its place.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    pub slot: usize,
    pub role: Role,
    pub tensor: Tensor,
}

/// A task's arguments, ready to run.
#[derive(Debug)]
pub struct Rebuilt {
    pub memory: Arc<GlobalMemory>,
    pub launch: Launch,
    pub args: TaskArgs,
    pub placed: Vec<Placed>,
    /// Address and length of each allocation.
    pub buffers: Vec<(u64, u64)>,
    /// Addresses that hold views or the pattern.
    pub filled: Vec<Range<u64>>,
    pub poison: Poison,
}

/// A view and its place in the address space of the run, or in one of its own.
struct Sited<'a> {
    slot: usize,
    argument: &'a TensorArgument,
    /// The view over a buffer at address 0.
    tensor: Tensor,
    /// Where its buffer begins, and where the view's last byte ends.
    base: u64,
    end: u64,
}

impl Rebuilt {
    /// Lays out a task's arguments. Unknown bytes hold `poison`.
    pub fn new(task: &CapturedTask, poison: Poison) -> Result<Rebuilt, ReplayError> {
        task.check_complete()?;
        let memory = Arc::new(GlobalMemory::new());
        let mut sited = Vec::new();
        for argument in &task.arguments {
            if let What::Tensor(tensor) = &argument.what {
                sited.push(site(argument.slot, tensor)?);
            }
        }
        sited.sort_by_key(|site| (site.argument.address.is_none(), site.base, site.end));
        let mut rebuilt = Rebuilt {
            memory,
            launch: launch(task),
            args: TaskArgs::default(),
            placed: Vec::new(),
            buffers: Vec::new(),
            filled: Vec::new(),
            poison,
        };
        let padded = |len: u64| if task.completed { len.div_ceil(PADDING).max(1) * PADDING } else { len };
        for group in groups(&sited) {
            let base = group[0].base;
            let end = group.iter().map(|site| site.end).max().unwrap_or(base);
            rebuilt.allocate(group, base, padded(end - base))?;
        }
        // Only now: of two views of the same bytes the captured ones must win over the pattern.
        for site in &sited {
            if let Some(bytes) = site.argument.before.bytes() {
                let tensor = rebuilt.tensor(site.slot);
                view::scatter(&rebuilt.memory, &tensor, bytes)?;
            }
        }
        rebuilt.placed.sort_by_key(|placed| placed.slot);
        rebuilt.fill_slots(task)?;
        Ok(rebuilt)
    }

    fn tensor(&self, slot: usize) -> Tensor {
        let placed = self.placed.iter().find(|placed| placed.slot == slot);
        placed.expect("every view was placed").tensor
    }

    fn allocate(&mut self, group: &[Sited<'_>], base: u64, len: u64) -> Result<(), MoveError> {
        let buffer = self.memory.allocate(len, Fill::Untouched)?;
        self.buffers.push((buffer.addr, len));
        let window = self.memory.window(buffer.addr, len)?;
        let mut around: Vec<Range<u64>> = Vec::new();
        for site in group {
            let mut tensor = site.tensor;
            tensor.addr = buffer.addr + (site.base - base);
            tensor.size = buffer.addr + len - tensor.addr;
            let view = tensor.byte_range().unwrap_or_default();
            let start = view.start.saturating_sub(AROUND).max(buffer.addr);
            around.push(start..view.end.saturating_add(AROUND).min(buffer.addr + len));
            self.placed.push(Placed { slot: site.slot, role: site.argument.role, tensor });
        }
        around.sort_by_key(|range| range.start);
        let mut merged: Vec<Range<u64>> = Vec::new();
        for range in around {
            match merged.last_mut() {
                Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        for range in merged {
            window.fill(range.start, range.end - range.start, self.poison.0)?;
            self.filled.push(range);
        }
        Ok(())
    }

    /// Puts descriptors, addresses and scalars into the slots.
    fn fill_slots(&mut self, task: &CapturedTask) -> Result<(), ReplayError> {
        let last = task.arguments.last().map_or(0, |argument| argument.slot + 1);
        let mut slots: Vec<(u64, DType)> = vec![(0, DType::U64); last];
        for argument in &task.arguments {
            match &argument.what {
                What::Scalar { dtype, bits } => slots[argument.slot] = (*bits, *dtype),
                // A raw slot holds where the buffer begins; the view in it is the kernel's own business.
                What::Tensor(_) => slots[argument.slot] = (self.tensor(argument.slot).addr, DType::U64),
                What::Missing { .. } => {}
            }
        }
        let mut scalars = &slots[..];
        if task.abi == KernelAbi::Tensors {
            for (expected, placed) in self.placed.iter().enumerate() {
                if placed.slot != expected {
                    let (task, slot) = (task.id, placed.slot);
                    return Err(ReplayError::TensorBehindScalar { task, slot, gap: expected });
                }
                self.args.tensors.push(placed.tensor);
                self.args.types.push(match placed.role {
                    Role::Input => TensorArgType::Input,
                    Role::Output => TensorArgType::OutputExisting,
                    Role::Inout => TensorArgType::Inout,
                });
            }
            scalars = &slots[self.placed.len()..];
        }
        for &(bits, dtype) in scalars {
            self.args.scalars.push(bits);
            self.args.scalar_types.push(dtype);
        }
        Ok(())
    }

    /// The bytes of a view as they are now, in logical order.
    pub fn gather(&self, slot: usize) -> Result<Vec<u8>, MoveError> {
        view::gather(&self.memory, &self.tensor(slot))
    }
}

/// What runs, at which places of the cluster, and how often.
fn launch(task: &CapturedTask) -> Launch {
    let mut kernels = [None; 3];
    for member in &task.identity.members {
        kernels[member.member as usize] = Some(member.func_id);
    }
    Launch { kernels, blocks: task.blocks, sync_start: false, abi: task.abi }
}

fn site(slot: usize, argument: &TensorArgument) -> Result<Sited<'_>, ReplayError> {
    let wrong = |source| ReplayError::Argument { slot, source };
    let TensorArgument { dtype, shape, strides, start_offset, .. } = argument;
    let mut tensor = Tensor::contiguous(0, *dtype, shape).map_err(|error| wrong(error.into()))?;
    tensor.is_contiguous = u8::from(tensor.stride() == &strides[..] || tensor.is_empty());
    tensor.strides[..strides.len()].copy_from_slice(strides);
    tensor.start_offset = *start_offset;
    tensor.extent = argus_abi::view::extent(shape, strides).ok_or_else(|| wrong(ArgumentError::LargeView))?;
    tensor.owner_task_id = TaskId::INVALID.raw();
    if tensor.numel() > tensor.extent {
        return Err(wrong(ArgumentError::ElementTwice));
    }
    let range = tensor.byte_range().ok_or_else(|| wrong(ArgumentError::AddressSpace))?;
    if *dtype == DType::Fp4E2M1 && (!tensor.is_dense() || start_offset % 2 != 0) {
        return Err(wrong(ArgumentError::HalfByte));
    }
    let expected = argument.logical_bytes();
    for bytes in [argument.before.bytes(), argument.after.bytes()].into_iter().flatten() {
        if Some(bytes.len() as u64) != expected {
            return Err(wrong(ArgumentError::PayloadSize { payload: bytes.len(), view: expected }));
        }
    }
    // The address is that of the first element; the buffer began before it.
    let base = argument.address.and_then(|address| address.checked_sub(range.start)).unwrap_or(0);
    let end = base.checked_add(range.end).filter(|_| range.end <= LARGEST);
    let end = end.ok_or_else(|| wrong(ArgumentError::AddressSpace))?;
    tensor.size = range.end;
    Ok(Sited { slot, argument, tensor, base, end })
}

/// Views whose buffers overlapped in the run, together; those without an address each alone. `sited` is sorted.
fn groups<'a, 'b>(sited: &'a [Sited<'b>]) -> Vec<&'a [Sited<'b>]> {
    let mut groups = Vec::new();
    let mut start = 0;
    let mut reach = 0;
    for (index, site) in sited.iter().enumerate() {
        let alone = site.argument.address.is_none() || site.base >= reach;
        if index > start && alone {
            groups.push(&sited[start..index]);
            start = index;
            reach = 0;
        }
        reach = reach.max(site.end);
    }
    if start < sited.len() {
        groups.push(&sited[start..]);
    }
    groups
}
