//! What a workspace is made from: a task's kernels, blocks, buffers and arguments, in plain values.
//!
//! A rebuilt task of a dump and an argument file both become these. Buffers are physical: a view with gaps
//! and two views of the same bytes are said by offset, strides and buffer number. [`TaskSpec::check`] refuses
//! whatever could not be laid out, before anything is written.

use std::path::PathBuf;

use argus_abi::args::{GLOBAL_CONTEXT_SLOT, KernelAbi, LOCAL_CONTEXT_SLOT, SLOTS};
use argus_abi::{DType, MAX_DIMS, Member, Role, Tensor};
use argus_replay::task::place_name;

use crate::error::{LayoutError, WorkspaceError};

/// One task to be built and launched alone.
#[derive(Clone, Debug)]
pub struct TaskSpec {
    /// The task's name for people, usually its kernel's.
    pub name: String,
    /// Where the task comes from, for the record; never a path.
    pub origin: Origin,
    /// One entry per member; one entry without a place if nothing said where the kernel runs.
    pub kernels: Vec<KernelSpec>,
    pub abi: KernelAbi,
    pub blocks: Blocks,
    pub buffers: Vec<Buffer>,
    pub args: Vec<Arg>,
}

/// Where a task was captured.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Origin {
    pub scene: Option<String>,
    pub case: Option<String>,
    pub task_id: Option<String>,
}

/// One kernel of a task.
#[derive(Clone, Debug)]
pub struct KernelSpec {
    pub name: String,
    pub func_id: Option<u32>,
    /// Its place in the cluster; `None` lets the source decide.
    pub place: Option<Member>,
    pub source: PathBuf,
}

/// Which blocks of the task are launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Blocks {
    pub first: u32,
    pub count: u32,
    /// What `get_block_num` answers: the blocks of the whole task.
    pub total: u32,
}

impl Blocks {
    /// Every block of a task.
    pub fn all(total: u32) -> Blocks {
        Blocks { first: 0, count: total, total }
    }
}

/// Device memory before the launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Buffer {
    Bytes(Vec<u8>),
    Fill { byte: u8, size: u64 },
}

impl Buffer {
    pub fn size(&self) -> u64 {
        match self {
            Buffer::Bytes(bytes) => bytes.len() as u64,
            Buffer::Fill { size, .. } => *size,
        }
    }
}

/// One argument.
#[derive(Clone, Debug)]
pub enum Arg {
    Tensor(TensorArg),
    Scalar(ScalarArg),
}

impl Arg {
    pub fn slot(&self) -> usize {
        match self {
            Arg::Tensor(tensor) => tensor.slot,
            Arg::Scalar(scalar) => scalar.slot,
        }
    }

    pub fn name(&self) -> &str {
        match self {
            Arg::Tensor(tensor) => &tensor.name,
            Arg::Scalar(scalar) => &scalar.name,
        }
    }
}

/// A view of a buffer. Offset and strides count elements.
#[derive(Clone, Debug)]
pub struct TensorArg {
    pub slot: usize,
    pub name: String,
    pub role: Role,
    pub dtype: DType,
    pub shape: Vec<u32>,
    pub strides: Vec<u32>,
    pub start_offset: u64,
    /// Index into [`TaskSpec::buffers`].
    pub buffer: usize,
    /// Bytes from the start of that buffer to the address that the view counts from: what the descriptor, or
    /// the slot of a raw kernel, holds.
    pub base: u64,
}

/// The 64 bits of a scalar slot.
#[derive(Clone, Debug)]
pub struct ScalarArg {
    pub slot: usize,
    pub name: String,
    pub dtype: Option<DType>,
    pub bits: u64,
}

impl TaskSpec {
    /// Tensor arguments in the order of their slots.
    pub fn tensors(&self) -> Vec<&TensorArg> {
        let tensors = self.args.iter().filter_map(|arg| match arg {
            Arg::Tensor(tensor) => Some(tensor),
            Arg::Scalar(_) => None,
        });
        let mut tensors: Vec<_> = tensors.collect();
        tensors.sort_by_key(|tensor| tensor.slot);
        tensors
    }

    /// Scalar arguments in the order of their slots.
    pub fn scalars(&self) -> Vec<&ScalarArg> {
        let scalars = self.args.iter().filter_map(|arg| match arg {
            Arg::Scalar(scalar) => Some(scalar),
            Arg::Tensor(_) => None,
        });
        let mut scalars: Vec<_> = scalars.collect();
        scalars.sort_by_key(|scalar| scalar.slot);
        scalars
    }

    /// Refuses what cannot be laid out.
    pub fn check(&self) -> Result<(), WorkspaceError> {
        let mut owners: [Option<&str>; SLOTS] = [None; SLOTS];
        for arg in &self.args {
            let (slot, name) = (arg.slot(), arg.name());
            let Some(owner) = owners.get_mut(slot) else {
                return Err(WorkspaceError::SlotTooLarge { name: name.to_owned(), slot });
            };
            if slot == LOCAL_CONTEXT_SLOT || slot == GLOBAL_CONTEXT_SLOT {
                return Err(WorkspaceError::SlotReserved { name: name.to_owned(), slot });
            }
            if let Some(first) = owner.replace(name) {
                let (first, second) = (first.to_owned(), name.to_owned());
                return Err(WorkspaceError::SlotTwice { slot, first, second });
            }
            if let Arg::Tensor(tensor) = arg {
                self.descriptor(tensor)?;
            }
        }
        self.check_kernels()?;
        self.check_blocks()
    }

    /// The descriptor of a tensor argument, with address 0.
    pub fn descriptor(&self, arg: &TensorArg) -> Result<Tensor, WorkspaceError> {
        let wrong = |source| WorkspaceError::View { name: arg.name.clone(), slot: arg.slot, source };
        let rank = arg.shape.len();
        if rank == 0 || rank > MAX_DIMS {
            return Err(wrong(LayoutError::Dimensions { rank }));
        }
        if arg.strides.len() != rank {
            return Err(wrong(LayoutError::Strides { rank, strides: arg.strides.len() }));
        }
        let buffer = self.buffers.get(arg.buffer).ok_or_else(|| {
            wrong(LayoutError::NoBuffer { buffer: arg.buffer, buffers: self.buffers.len() })
        })?;
        let mut tensor = Tensor::contiguous(0, arg.dtype, &[1]).map_err(|error| wrong(error.into()))?;
        tensor.size = buffer.size().saturating_sub(arg.base);
        tensor.start_offset = arg.start_offset;
        tensor.ndims = rank as u32;
        (tensor.shapes, tensor.strides) = ([0; MAX_DIMS], [0; MAX_DIMS]);
        tensor.shapes[..rank].copy_from_slice(&arg.shape);
        tensor.strides[..rank].copy_from_slice(&arg.strides);
        tensor.extent =
            argus_abi::view::extent(&arg.shape, &arg.strides).ok_or_else(|| wrong(LayoutError::Extent))?;
        tensor.is_contiguous = u8::from(is_row_major(&arg.shape, &arg.strides));
        if arg.base > buffer.size() || !tensor.fits_buffer() {
            return Err(wrong(LayoutError::Beyond {
                base: arg.base,
                offset: arg.start_offset,
                shape: arg.shape.clone(),
                strides: arg.strides.clone(),
                dtype: arg.dtype,
                size: buffer.size(),
            }));
        }
        Ok(tensor)
    }

    fn check_kernels(&self) -> Result<(), WorkspaceError> {
        if self.kernels.is_empty() {
            return Err(WorkspaceError::NoKernel);
        }
        for (index, kernel) in self.kernels.iter().enumerate() {
            match kernel.place {
                None if self.kernels.len() > 1 => {
                    return Err(WorkspaceError::NoPlace { name: kernel.name.clone() });
                }
                Some(place) if self.kernels[..index].iter().any(|other| other.place == Some(place)) => {
                    return Err(WorkspaceError::PlaceTwice { place: place_name(place) });
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn check_blocks(&self) -> Result<(), WorkspaceError> {
        let Blocks { first, count, total } = self.blocks;
        let inside = first.checked_add(count).is_some_and(|end| end <= total);
        // Contexts hold signed numbers.
        if count == 0 || !inside || total > MOST_BLOCKS {
            return Err(WorkspaceError::Blocks { first, count, total, most: MOST_BLOCKS });
        }
        Ok(())
    }
}

/// More blocks than any chip launches; a bound on what is written out.
const MOST_BLOCKS: u32 = 65_535;

/// The files given for a task's kernels: one for all members, or one each in the order of their places.
pub fn assign_sources(kernels: &mut [KernelSpec], files: &[PathBuf]) -> Result<(), WorkspaceError> {
    if files.len() != 1 && files.len() != kernels.len() {
        let kernels = kernels.iter().map(|kernel| kernel.name.clone()).collect();
        return Err(WorkspaceError::SourceCount { files: files.len(), kernels });
    }
    kernels.sort_by_key(|kernel| kernel.place);
    for (kernel, file) in kernels.iter_mut().zip(files.iter().cycle()) {
        kernel.source.clone_from(file);
    }
    Ok(())
}

/// Whether the strides are exactly the row-major ones; empty dimensions count as one.
fn is_row_major(shape: &[u32], strides: &[u32]) -> bool {
    let mut expected = 1u64;
    shape.iter().zip(strides).rev().all(|(&dim, &stride)| {
        let equal = u64::from(stride) == expected;
        expected = expected.saturating_mul(u64::from(dim.max(1)));
        equal
    })
}

/// The elements of a view next to each other, as a program reads them that knows no strides.
pub fn packed(task: &TaskSpec, arg: &TensorArg) -> Result<Vec<u8>, WorkspaceError> {
    let tensor = task.descriptor(arg)?;
    let size = tensor.packed_bytes().unwrap_or(u64::MAX);
    let buffer = match &task.buffers[arg.buffer] {
        // Strides may repeat elements, so the view can be larger than its buffer; refuse what is absurd.
        _ if size > MOST_PACKED_BYTES => {
            let source = LayoutError::TooLarge { size, most: MOST_PACKED_BYTES };
            return Err(WorkspaceError::View { name: arg.name.clone(), slot: arg.slot, source });
        }
        Buffer::Fill { byte, .. } => return Ok(vec![*byte; size as usize]),
        Buffer::Bytes(bytes) => &bytes[arg.base as usize..],
    };
    let mut packed = Vec::with_capacity(size as usize);
    let bits = arg.dtype.bits() as usize;
    let runs = tensor.runs();
    let length = runs.run_len() as usize;
    if bits >= 8 {
        for start in runs {
            let start = start as usize * bits / 8;
            packed.extend_from_slice(&buffer[start..start + length * bits / 8]);
        }
    } else {
        let nibbles = runs.flat_map(|start| start as usize..start as usize + length);
        for (index, element) in nibbles.enumerate() {
            let nibble = buffer[element / 2] >> (element % 2 * 4) & 0xF;
            match packed.last_mut().filter(|_| index % 2 == 1) {
                Some(last) => *last |= nibble << 4,
                None => packed.push(nibble),
            }
        }
    }
    Ok(packed)
}

/// Bound on one packed input file.
const MOST_PACKED_BYTES: u64 = 1 << 32;
