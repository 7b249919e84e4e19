//! How a kernel gets its arguments: 50 slots of 64 bits, two of them pointers to contexts.

use core::fmt;
use core::mem::{align_of, offset_of, size_of};

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::record::{Role, spelled_enum};
use crate::tensor::Tensor;

/// Slots of a kernel's argument array.
pub const SLOTS: usize = 50;
/// The slot that points to the [`LocalContext`].
pub const LOCAL_CONTEXT_SLOT: usize = 48;
/// Most arguments of one task, tensors and scalars together: the slots before the contexts.
pub const MAX_ARGS: usize = LOCAL_CONTEXT_SLOT;
/// The slot that points to the [`GlobalContext`].
pub const GLOBAL_CONTEXT_SLOT: usize = 49;
/// Most arguments of a host_build_graph task, whose slots hold raw pointers and scalars in any order.
pub const MAX_RAW_ARGS: usize = 16;

/// How the slots of a task may be shared between tensors and scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgLimits {
    pub tensors: usize,
    pub scalars: usize,
}

impl ArgLimits {
    pub const JUNE: ArgLimits = ArgLimits { tensors: 16, scalars: 32 };
    pub const AUGUST: ArgLimits = ArgLimits { tensors: 32, scalars: 16 };
    /// The boundary of a graph within a graph, which no kernel sees.
    pub const GRAPH: ArgLimits = ArgLimits { tensors: 128, scalars: 64 };
}

const _: () = {
    assert!(ArgLimits::JUNE.tensors + ArgLimits::JUNE.scalars <= MAX_ARGS);
    assert!(ArgLimits::AUGUST.tensors + ArgLimits::AUGUST.scalars <= MAX_ARGS);
};

/// What differs from block to block of one task.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct LocalContext {
    pub block_idx: i32,
    pub block_num: i32,
    /// Deferred completion: counter, error, entry pointers, capacity, token. Always zero: a loaded
    /// kernel has its own beside it.
    pub async_ctx: [u64; 5],
}

/// What differs from core to core.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct GlobalContext {
    /// 1 on the second vector core of a cluster, else 0.
    pub sub_block_id: i32,
}

/// What a control thread hands to a core with a token.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(64))]
pub struct DispatchPayload {
    /// The kernel's func_id. A core finds the code by it in the program's table, also for kernels in shared objects.
    pub function: u64,
    pub args: [u64; SLOTS],
    pub local: LocalContext,
    pub global: GlobalContext,
    pub reserved: [u8; 52],
}

const _: () = {
    assert!(size_of::<LocalContext>() == 48);
    assert!(size_of::<GlobalContext>() == 4);
    assert!(size_of::<DispatchPayload>() == 512);
    assert!(align_of::<DispatchPayload>() == 64);
    assert!(offset_of!(DispatchPayload, function) == 0);
    assert!(offset_of!(DispatchPayload, args) == 8);
    assert!(offset_of!(DispatchPayload, local) == 408);
    assert!(offset_of!(DispatchPayload, global) == 456);
};

impl Default for DispatchPayload {
    fn default() -> DispatchPayload {
        DispatchPayload {
            function: 0,
            args: [0; SLOTS],
            local: LocalContext::default(),
            global: GlobalContext::default(),
            reserved: [0; 52],
        }
    }
}

spelled_enum! {
    /// Direction of a parameter in a kernel's signature.
    ArgDirection { Scalar = 0, "scalar"; In = 1, "in"; Out = 2, "out"; Inout = 3, "inout"; }
}

impl ArgDirection {
    /// The role of a tensor parameter; scalars have none.
    pub const fn role(self) -> Option<Role> {
        match self {
            ArgDirection::Scalar => None,
            ArgDirection::In => Some(Role::Input),
            ArgDirection::Out => Some(Role::Output),
            ArgDirection::Inout => Some(Role::Inout),
        }
    }
}

/// How a tensor was added to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum TensorArgType {
    Input = 0,
    /// The runtime allocates it.
    Output = 1,
    Inout = 2,
    /// Written only, but it existed before.
    OutputExisting = 3,
    /// Read without tracking, apart from the edge to its creator.
    NoDep = 4,
}

impl TensorArgType {
    pub const fn role(self) -> Role {
        match self {
            TensorArgType::Input | TensorArgType::NoDep => Role::Input,
            TensorArgType::Output | TensorArgType::OutputExisting => Role::Output,
            TensorArgType::Inout => Role::Inout,
        }
    }
}

spelled_enum! {
    /// Which of the two argument conventions a kernel follows.
    KernelAbi {
        /// Slots hold pointers to [`Tensor`] descriptors, then scalars; contexts in slots 48 and 49.
        Tensors = 0, "tensor";
        /// Slots hold raw device addresses and scalars in the order the orchestration chose.
        Raw = 1, "raw";
    }
}

/// A kernel asked for an argument that it was not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgError {
    pub slot: usize,
    pub wanted: &'static str,
    pub tensors: usize,
    pub scalars: usize,
}

impl fmt::Display for ArgError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "argument slot {} is not a {}: the task has {} tensors and {} scalars",
            self.slot, self.wanted, self.tensors, self.scalars
        )
    }
}

impl core::error::Error for ArgError {}

/// A kernel's arguments as a Rust kernel sees them: the same slots as `int64_t *args`, read with checks.
#[derive(Clone, Copy, Debug)]
pub struct KernelArgs<'a> {
    payload: &'a DispatchPayload,
    tensors: &'a [Tensor],
    scalars: usize,
}

impl<'a> KernelArgs<'a> {
    /// `tensors` are the descriptors that slots `0..tensors.len()` point to; `scalars` slots follow.
    pub fn new(payload: &'a DispatchPayload, tensors: &'a [Tensor], scalars: usize) -> KernelArgs<'a> {
        KernelArgs { payload, tensors, scalars }
    }

    /// The tensor in a slot.
    pub fn tensor(&self, slot: usize) -> Result<&'a Tensor, ArgError> {
        self.tensors.get(slot).ok_or_else(|| self.missing(slot, "tensor"))
    }

    /// The raw 64 bits of the scalar (or, in a raw kernel, the address) in a slot.
    pub fn scalar(&self, slot: usize) -> Result<u64, ArgError> {
        let scalars = self.tensors.len()..self.tensors.len() + self.scalars;
        if scalars.contains(&slot) { Ok(self.payload.args[slot]) } else { Err(self.missing(slot, "scalar")) }
    }

    /// The scalar in a slot, read as an f32 from its low 32 bits.
    pub fn scalar_f32(&self, slot: usize) -> Result<f32, ArgError> {
        self.scalar(slot).map(|bits| f32::from_bits(bits as u32))
    }

    pub fn tensor_count(&self) -> usize {
        self.tensors.len()
    }

    pub fn scalar_count(&self) -> usize {
        self.scalars
    }

    pub fn block_idx(&self) -> i32 {
        self.payload.local.block_idx
    }

    pub fn block_num(&self) -> i32 {
        self.payload.local.block_num
    }

    pub fn sub_block_id(&self) -> i32 {
        self.payload.global.sub_block_id
    }

    /// The payload itself, for kernels that take `int64_t *args`.
    pub fn payload(&self) -> &'a DispatchPayload {
        self.payload
    }

    fn missing(&self, slot: usize, wanted: &'static str) -> ArgError {
        ArgError { slot, wanted, tensors: self.tensors.len(), scalars: self.scalars }
    }
}
