//! From what an object's code passes to values of the builders. Nothing is believed before it is checked, apart from
//! pointers: whether they lead somewhere cannot be.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char};
use std::slice;

use argus_abi::{ArgLimits, DType, FuncId, MAX_DIMS, TaskId, Tensor, TensorArgType};
use argus_runtime::{Arg, Comparison, Fatal, MixedKernels, Predicate, SlotInfo, TensorCreateInfo};

use super::abi;

/// A list of the object's; empty where there is none.
///
/// # Safety
/// `first` must point to `count` values that stay as they are for `'a`, or be null.
pub unsafe fn list<'a, T>(first: *const T, count: usize) -> &'a [T] {
    if first.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: by the caller's promise.
    unsafe { slice::from_raw_parts(first, count) }
}

/// A text of the object's; `None` where there is none.
///
/// # Safety
/// `text` must be a C string that stays as it is for the call, or null.
pub unsafe fn text(text: *const c_char) -> Option<String> {
    // SAFETY: by the caller's promise.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// What is wrong with something that an object handed over. It becomes the text of a fatal error.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(String);

impl From<&str> for Malformed {
    fn from(text: &str) -> Malformed {
        Malformed(text.into())
    }
}

impl From<String> for Malformed {
    fn from(text: String) -> Malformed {
        Malformed(text)
    }
}

impl From<Malformed> for String {
    fn from(malformed: Malformed) -> String {
        malformed.0
    }
}

/// A tensor as the object describes it, with what follows from shape and strides worked out again.
///
/// # Safety
/// `tensor` must point to a descriptor, or be null.
pub unsafe fn tensor(tensor: *const Tensor) -> Result<Tensor, Malformed> {
    if tensor.is_null() {
        return Err("a tensor is a null pointer".into());
    }
    // SAFETY: by the caller's promise. Every bit pattern is a descriptor; alignment is not relied on.
    let mut tensor = unsafe { tensor.read_unaligned() };
    if tensor.ndims == 0 || tensor.ndims as usize > MAX_DIMS {
        return Err(format!("a tensor has 1 to {MAX_DIMS} dimensions, not {}", tensor.ndims).into());
    }
    if tensor.dtype().is_none() {
        return Err(format!("there is no element type {}", tensor.dtype).into());
    }
    let (mut extent, mut row_major, mut contiguous) = (1u64, 1u64, true);
    for (&dim, &stride) in tensor.shape().iter().zip(tensor.stride()).rev() {
        if stride == 0 {
            return Err("a tensor has a stride of 0".into());
        }
        contiguous &= u64::from(stride) == row_major;
        row_major = row_major.saturating_mul(dim.into());
        extent = extent.saturating_add(u64::from(dim.saturating_sub(1)) * u64::from(stride));
    }
    let empty = tensor.is_empty();
    tensor.extent = if empty { 0 } else { extent };
    tensor.is_contiguous = u8::from(empty || contiguous);
    tensor.manual_dep = u8::from(tensor.manual_dep != 0);
    tensor.reserved = [0; 36];
    Ok(tensor)
}

/// A request for a tensor.
///
/// # Safety
/// `info` must point to a create-info, or be null.
unsafe fn create_info(info: *const abi::CreateInfo) -> Result<TensorCreateInfo, Malformed> {
    if info.is_null() {
        return Err("a create-info is a null pointer".into());
    }
    // SAFETY: by the caller's promise; all its fields are numbers.
    let info = unsafe { info.read_unaligned() };
    let Some(shape) = info.shapes.get(..info.ndims as usize) else {
        return Err(format!("a tensor has 1 to {MAX_DIMS} dimensions, not {}", info.ndims).into());
    };
    let dtype =
        DType::from_raw(info.dtype).ok_or_else(|| format!("there is no element type {}", info.dtype))?;
    let request = TensorCreateInfo::new(shape, dtype).map_err(|fatal| fatal.message)?;
    let request = request.with_manual_dep(info.manual_dep != 0);
    Ok(if info.has_initial_value != 0 { request.with_initial_value(info.initial_value) } else { request })
}

/// Kernels by place; a negative number is none.
pub fn kernels(kernels: abi::Kernels) -> MixedKernels {
    let func = |id: i32| u32::try_from(id).ok().map(FuncId);
    MixedKernels { aic: func(kernels.aic), aiv0: func(kernels.aiv0), aiv1: func(kernels.aiv1) }
}

/// A task's arguments, in place of what `arg` held. What is wrong with them is remembered as their own mistakes are.
///
/// # Safety
/// Every list and text of `args` must be what `orchestration_abi.h` says it is.
pub unsafe fn task_args(arg: &mut Arg, args: &abi::TaskArgs, limits: ArgLimits) {
    arg.clear(limits);
    // SAFETY: by the caller's promise.
    if let Err(mistake) = unsafe { fill(arg, args) } {
        arg.add_mistake(mistake.into());
    }
}

/// # Safety
/// As for [`task_args`].
unsafe fn fill(arg: &mut Arg, args: &abi::TaskArgs) -> Result<(), Malformed> {
    // SAFETY: by the caller's promise, here and below.
    if let Some(error) = unsafe { text(args.error) } {
        return Err(error.into());
    }
    // SAFETY: by the caller's promise.
    let (tensors, kinds) = unsafe {
        (list(args.tensors, args.tensor_count as usize), list(args.tensor_kinds, args.tensor_count as usize))
    };
    for (&item, &kind) in tensors.iter().zip(kinds) {
        let kind =
            argument_kind(kind).ok_or_else(|| Malformed(format!("there is no kind of argument {kind}")))?;
        match kind {
            // SAFETY: the kind says what the pointer points to.
            TensorArgType::Output => arg.add_create(&unsafe { create_info(item.cast()) }?),
            TensorArgType::Input
            | TensorArgType::Inout
            | TensorArgType::OutputExisting
            | TensorArgType::NoDep => {
                // SAFETY: as above.
                arg.add_existing(&unsafe { tensor(item.cast()) }?, kind);
            }
        }
    }
    // SAFETY: by the caller's promise.
    let (scalars, types) = unsafe {
        (list(args.scalars, args.scalar_count as usize), list(args.scalar_dtypes, args.scalar_count as usize))
    };
    for (&bits, &dtype) in scalars.iter().zip(types) {
        arg.add_scalar(DType::from_raw(dtype).unwrap_or(DType::U64), bits);
    }
    // SAFETY: by the caller's promise.
    let dependencies = unsafe { list(args.dependencies, args.dependency_count as usize) };
    arg.add_dependencies(dependencies.iter().map(|&id| TaskId::from_raw(id)));
    arg.add_marks(args.marks);
    let blocks = u32::try_from(args.blocks);
    arg.set_blocks(blocks.map_err(|_| format!("a task cannot have {} blocks", args.blocks))?);
    if args.sync_start != 0 {
        arg.set_sync_start();
    }
    // SAFETY: by the caller's promise.
    if let Some(predicate) = unsafe { predicate(args.predicate) }? {
        arg.set_predicate(predicate);
    }
    Ok(())
}

/// What a task does with a tensor, by its number.
pub fn argument_kind(raw: u8) -> Option<TensorArgType> {
    let all = [
        TensorArgType::Input,
        TensorArgType::Output,
        TensorArgType::Inout,
        TensorArgType::OutputExisting,
        TensorArgType::NoDep,
    ];
    all.into_iter().find(|kind| *kind as u8 == raw)
}

/// # Safety
/// `predicate` must point to a condition, or be null.
unsafe fn predicate(predicate: *const abi::Predicate) -> Result<Option<Predicate>, Malformed> {
    if predicate.is_null() {
        return Ok(None);
    }
    // SAFETY: by the caller's promise; all its fields are numbers and a pointer.
    let abi::Predicate { tensor: of, target, op, ndims, indices, .. } = unsafe { predicate.read() };
    let comparison = match op {
        0 => return Ok(None),
        1 => Comparison::Equal,
        2 => Comparison::NotEqual,
        3 => Comparison::Greater,
        4 => Comparison::Less,
        5 => Comparison::GreaterOrEqual,
        6 => Comparison::LessOrEqual,
        other => return Err(format!("there is no comparison {other}").into()),
    };
    let index = indices.get(..ndims as usize).ok_or("a condition has too many indices")?.to_vec();
    // SAFETY: by the caller's promise.
    Ok(Some(Predicate { tensor: unsafe { tensor(of) }?, index, comparison, target }))
}

/// The requests of an allocation, which is made of nothing else.
///
/// # Safety
/// As for [`task_args`].
pub unsafe fn requests(args: &abi::TaskArgs) -> Result<Vec<TensorCreateInfo>, Fatal> {
    // SAFETY: by the caller's promise, here and below.
    if let Some(error) = unsafe { text(args.error) } {
        return Err(Fatal::invalid(error));
    }
    // SAFETY: by the caller's promise.
    let (tensors, kinds) = unsafe {
        (list(args.tensors, args.tensor_count as usize), list(args.tensor_kinds, args.tensor_count as usize))
    };
    if args.scalar_count != 0 || kinds.iter().any(|&kind| kind != TensorArgType::Output as u8) {
        return Err(Fatal::invalid("alloc_tensors takes create-infos and nothing else"));
    }
    // SAFETY: by the caller's promise.
    tensors.iter().map(|item| unsafe { create_info(item.cast()) }.map_err(Fatal::invalid)).collect()
}

/// What a slot of a raw kernel holds.
pub fn slot_info(info: &abi::TensorInfo) -> Option<SlotInfo> {
    let rank = info.ndims as usize;
    Some(SlotInfo::Tensor {
        dtype: DType::from_raw(info.dtype)?,
        shape: info.shapes.get(..rank)?.to_vec(),
        raw_shape: info.raw_shapes.get(..rank)?.to_vec(),
        offsets: info.offsets.get(..rank)?.to_vec(),
    })
}
