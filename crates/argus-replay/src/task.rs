//! A task with everything that is known of it, as plain values.

use argus_abi::args::KernelAbi;
use argus_abi::{DType, FuncId, Member, Role, TaskId};
use argus_gm::Fill;

use crate::code::Code;
use crate::error::ReplayError;

/// One task, independent of the dump that it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct CapturedTask {
    pub id: TaskId,
    pub identity: Identity,
    pub blocks: u32,
    pub abi: KernelAbi,
    /// What memory that was never written held in the run.
    pub fill: Fill,
    /// Whether it ended in the run. If not, what was captured of its outputs proves nothing.
    pub completed: bool,
    /// By slot, each once.
    pub arguments: Vec<Argument>,
    /// What a user should know before believing the result.
    pub notes: Vec<String>,
}

/// Which code a task runs, and where it ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Empty where the dump does not say.
    pub scene: String,
    pub case: String,
    pub runtime: String,
    pub platform: String,
    pub members: Vec<MemberKernel>,
}

/// What a place in a cluster is called.
pub const fn place_name(member: Member) -> &'static str {
    match member {
        Member::Aic => "aic",
        Member::Aiv0 => "aiv0",
        Member::Aiv1 => "aiv1",
    }
}

/// A kernel at its place in the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberKernel {
    pub member: Member,
    pub func_id: FuncId,
    pub name: String,
}

impl Identity {
    /// The task's different kernels, `QK` or `A+B`.
    pub fn kernel_names(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for member in &self.members {
            if !names.contains(&member.name.as_str()) {
                names.push(&member.name);
            }
        }
        names.join("+")
    }
}

/// One argument of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    pub slot: usize,
    pub name: String,
    pub what: What,
    /// Where its value comes from, for people.
    pub source: String,
}

/// What a slot holds.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    Tensor(TensorArgument),
    Scalar {
        dtype: DType,
        bits: u64,
    },
    /// The task had this slot, and nothing is known of it but why.
    Missing {
        why: String,
    },
}

/// A view, its bytes before the task and, for outputs, after it.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorArgument {
    pub dtype: DType,
    pub role: Role,
    pub shape: Vec<u32>,
    /// In elements.
    pub strides: Vec<u32>,
    /// In elements from the start of the buffer.
    pub start_offset: u64,
    /// Where its first element was in the run, if that is known: arguments whose bytes overlapped there share
    /// memory here.
    pub address: Option<u64>,
    /// The task created it: before the task it held nothing but the fill of fresh memory.
    pub created: bool,
    /// In logical order.
    pub before: Content,
    /// What an output must be.
    pub after: Content,
}

/// The bytes of a view at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Bytes(Vec<u8>),
    /// Nothing is needed: an output before the task, an input after it.
    Unneeded,
    /// It should be there and is not, with the reason.
    Missing(String),
}

impl Content {
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Content::Bytes(bytes) => Some(bytes),
            Content::Unneeded | Content::Missing(_) => None,
        }
    }
}

/// A tensor that is larger is not replayed: memory is not taken because a file states a shape.
pub const LARGEST_TENSOR: u64 = 4 << 30;

impl TensorArgument {
    /// A whole buffer in row-major order.
    pub fn contiguous(dtype: DType, role: Role, shape: &[u32]) -> TensorArgument {
        let mut strides = vec![1u32; shape.len()];
        for dim in (1..shape.len()).rev() {
            strides[dim - 1] = strides[dim].saturating_mul(shape[dim].max(1));
        }
        TensorArgument {
            dtype,
            role,
            shape: shape.to_vec(),
            strides,
            start_offset: 0,
            address: None,
            created: false,
            before: Content::Unneeded,
            after: Content::Unneeded,
        }
    }

    /// Elements of the view; `None` if they cannot be counted.
    pub fn numel(&self) -> Option<u64> {
        self.shape.iter().try_fold(1u64, |product, &extent| product.checked_mul(u64::from(extent)))
    }

    /// Bytes of the view in logical order; `None` if they are more than [`LARGEST_TENSOR`].
    pub fn logical_bytes(&self) -> Option<u64> {
        self.dtype.packed_bytes(self.numel()?).filter(|&bytes| bytes <= LARGEST_TENSOR)
    }
}

impl CapturedTask {
    pub fn argument(&self, slot: usize) -> Option<&Argument> {
        self.arguments.iter().find(|argument| argument.slot == slot)
    }

    /// The tensors that the task writes.
    pub fn outputs(&self) -> impl Iterator<Item = (usize, &TensorArgument)> {
        self.arguments.iter().filter_map(|argument| match &argument.what {
            What::Tensor(tensor) if tensor.role != Role::Input => Some((argument.slot, tensor)),
            _ => None,
        })
    }

    /// A kernel of which only the code is known; its arguments are to be given.
    pub fn of_kernel(identity: Identity, abi: KernelAbi) -> CapturedTask {
        CapturedTask {
            id: TaskId::from_raw(0),
            identity,
            blocks: 1,
            abi,
            fill: Fill::Poison,
            completed: true,
            arguments: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Whether `code` has the kernels that the task ran.
    pub fn check_code(&self, code: &Code) -> Result<(), ReplayError> {
        for member in &self.identity.members {
            let entry = code.kernels.get(member.func_id).ok_or_else(|| ReplayError::NoKernel {
                func_id: member.func_id.0.into(),
                named: format!(" ('{}')", member.name),
                known: code.known(),
            })?;
            let core_type = member.member.core_type();
            if *entry.name != *member.name || entry.core_type != core_type {
                return Err(ReplayError::OtherKernel {
                    func_id: member.func_id.0,
                    recorded: member.name.clone(),
                    recorded_core: core_type.name(),
                    present: entry.name.to_string(),
                    present_core: entry.core_type.name(),
                });
            }
        }
        Ok(())
    }
}
