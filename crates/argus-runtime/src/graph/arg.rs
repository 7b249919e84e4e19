//! The arguments of a task while it is being described.

use argus_abi::{ArgLimits, DType, FuncId, TaskId, Tensor, TensorArgType};

use crate::error::Fatal;
use crate::schedule::condition::Comparison;

/// A tensor that the runtime is to allocate.
#[derive(Clone, Copy, Debug)]
pub struct TensorCreateInfo {
    /// Geometry only: the address is filled in when memory is there.
    pub(crate) shape: Tensor,
    pub(crate) initial_value: Option<u64>,
}

impl TensorCreateInfo {
    /// A contiguous tensor of this shape.
    pub fn new(shape: &[u32], dtype: DType) -> Result<TensorCreateInfo, Fatal> {
        let shape = Tensor::contiguous(0, dtype, shape)
            .map_err(|error| Fatal::invalid(format!("a tensor of shape {shape:?}: {error}")))?;
        Ok(TensorCreateInfo { shape, initial_value: None })
    }

    /// The tensor is ordered by its creator alone, if so.
    pub fn with_manual_dep(mut self, manual: bool) -> TensorCreateInfo {
        self.shape = self.shape.with_manual_dep(manual);
        self
    }

    /// Fills the new buffer, padding included, with this element's raw bits.
    pub fn with_initial_value(mut self, bits: u64) -> TensorCreateInfo {
        self.initial_value = Some(bits);
        self
    }
}

/// One tensor argument: a view that exists, or a request for memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TensorArg {
    Existing(Tensor, TensorArgType),
    Create(TensorCreateInfo),
}

/// Kernels of a task by their place in the cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MixedKernels {
    pub aic: Option<FuncId>,
    pub aiv0: Option<FuncId>,
    pub aiv1: Option<FuncId>,
}

impl MixedKernels {
    pub fn aic(func: FuncId) -> MixedKernels {
        MixedKernels { aic: Some(func), ..MixedKernels::default() }
    }

    pub fn aiv(func: FuncId) -> MixedKernels {
        MixedKernels { aiv0: Some(func), ..MixedKernels::default() }
    }

    /// Kernels by place. A lone second vector kernel runs on the first vector core.
    pub(crate) fn by_member(self) -> [Option<FuncId>; 3] {
        match self {
            MixedKernels { aic: None, aiv0: None, aiv1: Some(lone) } => [None, Some(lone), None],
            MixedKernels { aic, aiv0, aiv1 } => [aic, aiv0, aiv1],
        }
    }
}

/// A condition on one element in device memory. It is looked at when the task is ready; if it does not hold, the
/// task is complete without having run, and its successors run.
#[derive(Clone, Debug)]
pub struct Predicate {
    pub tensor: Tensor,
    pub index: Vec<u32>,
    pub comparison: Comparison,
    /// The element is compared as a signed number of its own width, whatever its type.
    pub target: i64,
}

/// The arguments of one task, in the order the kernel's slots have them: tensors, then scalars.
///
/// A mistake is remembered and reported when the task is submitted; the first one counts.
///
/// Orchestrations in Rust write it as one expression. Code that describes tasks for others fills one value in place, again
/// and again, and pays for its memory once.
#[derive(Clone, Debug)]
pub struct Arg {
    limits: ArgLimits,
    pub(crate) tensors: Vec<TensorArg>,
    pub(crate) scalars: Vec<u64>,
    pub(crate) scalar_types: Vec<DType>,
    pub(crate) marks: u64,
    pub(crate) dependencies: Vec<TaskId>,
    pub(crate) blocks: Option<u32>,
    pub(crate) sync_start: bool,
    pub(crate) predicate: Option<Box<Predicate>>,
    pub(crate) error: Option<String>,
}

impl Default for Arg {
    fn default() -> Arg {
        Arg::new()
    }
}

impl Arg {
    pub fn new() -> Arg {
        Arg::with_limits(ArgLimits::JUNE)
    }

    /// Arguments whose slots are shared between tensors and scalars in another way.
    pub fn with_limits(limits: ArgLimits) -> Arg {
        Arg {
            limits,
            tensors: Vec::new(),
            scalars: Vec::new(),
            scalar_types: Vec::new(),
            marks: 0,
            dependencies: Vec::new(),
            blocks: None,
            sync_start: false,
            predicate: None,
            error: None,
        }
    }

    /// Nothing is said of a task any more; the memory is kept for the next one.
    pub fn clear(&mut self, limits: ArgLimits) {
        let Arg { mut tensors, mut scalars, mut scalar_types, mut dependencies, .. } = std::mem::take(self);
        tensors.clear();
        scalars.clear();
        scalar_types.clear();
        dependencies.clear();
        *self = Arg { tensors, scalars, scalar_types, dependencies, ..Arg::with_limits(limits) };
    }

    /// A tensor that the task reads.
    pub fn input(self, tensor: &Tensor) -> Arg {
        self.with_existing(tensor, TensorArgType::Input)
    }

    /// A tensor that the task reads and writes.
    pub fn inout(self, tensor: &Tensor) -> Arg {
        self.with_existing(tensor, TensorArgType::Inout)
    }

    /// An existing tensor that the task only writes.
    pub fn output(self, tensor: &Tensor) -> Arg {
        self.with_existing(tensor, TensorArgType::OutputExisting)
    }

    /// A tensor that the runtime allocates for the task to write.
    pub fn create(mut self, info: &TensorCreateInfo) -> Arg {
        self.add_create(info);
        self
    }

    /// A tensor that the task reads without being ordered after its writers, apart from its creator.
    pub fn no_dep(self, tensor: &Tensor) -> Arg {
        self.with_existing(tensor, TensorArgType::NoDep)
    }

    fn with_existing(mut self, tensor: &Tensor, arg_type: TensorArgType) -> Arg {
        self.add_existing(tensor, arg_type);
        self
    }

    /// A tensor that exists, and what the task does with it.
    pub fn add_existing(&mut self, tensor: &Tensor, arg_type: TensorArgType) {
        self.add_tensor(TensorArg::Existing(*tensor, arg_type));
    }

    /// A tensor that the runtime allocates for the task to write.
    pub fn add_create(&mut self, info: &TensorCreateInfo) {
        self.add_tensor(TensorArg::Create(*info));
    }

    /// The raw bits of a scalar whose type is not said.
    pub fn scalar(self, bits: u64) -> Arg {
        self.scalar_of(DType::U64, bits)
    }

    /// The raw bits of a scalar, zero-extended from its own width.
    pub fn scalar_of(mut self, dtype: DType, bits: u64) -> Arg {
        self.add_scalar(dtype, bits);
        self
    }

    /// The raw bits of a scalar, zero-extended from its own width.
    pub fn add_scalar(&mut self, dtype: DType, bits: u64) {
        let most = self.limits.scalars;
        if self.scalars.len() == most {
            return self.add_mistake(format!("a task has at most {most} scalars"));
        }
        self.scalars.push(bits);
        self.scalar_types.push(dtype);
    }

    /// An f32, stored as its 32 bits.
    pub fn scalar_f32(self, value: f32) -> Arg {
        self.scalar_of(DType::F32, u64::from(value.to_bits()))
    }

    /// An i32, stored as its 32 bits.
    pub fn scalar_i32(self, value: i32) -> Arg {
        self.scalar_of(DType::I32, u64::from(value as u32))
    }

    /// Marks arguments by number: levels `partial` and `hybrid` capture them.
    pub fn dump_at(mut self, marks: u64) -> Arg {
        self.add_marks(marks);
        self
    }

    /// Marks arguments by number: levels `partial` and `hybrid` capture them.
    pub fn add_marks(&mut self, marks: u64) {
        self.marks |= marks;
    }

    /// Marks the argument added last: levels `partial` and `hybrid` capture it.
    pub fn dump(mut self) -> Arg {
        match (self.tensors.len() + self.scalars.len()).checked_sub(1) {
            Some(last) => self.marks |= 1 << last,
            None => self.add_mistake("dump marks the argument before it, and there is none".into()),
        }
        self
    }

    /// Tasks that must complete first, whatever the tensors say. Several calls add up.
    pub fn after(mut self, tasks: &[TaskId]) -> Arg {
        self.add_dependencies(tasks.iter().copied());
        self
    }

    /// Tasks that must complete first, whatever the tensors say. Several calls add up.
    pub fn add_dependencies(&mut self, tasks: impl IntoIterator<Item = TaskId>) {
        self.dependencies.extend(tasks);
    }

    /// Logical blocks of the task; 1 unless said otherwise.
    pub fn blocks(mut self, blocks: u32) -> Arg {
        self.set_blocks(blocks);
        self
    }

    /// Logical blocks of the task; 1 unless said otherwise.
    pub fn set_blocks(&mut self, blocks: u32) {
        self.blocks = Some(blocks);
    }

    /// The task runs only if this holds when its turn comes.
    pub fn only_if(mut self, predicate: Predicate) -> Arg {
        self.set_predicate(predicate);
        self
    }

    /// The task runs only if this holds when its turn comes.
    pub fn set_predicate(&mut self, predicate: Predicate) {
        self.predicate = Some(Box::new(predicate));
    }

    /// No block starts before all blocks have a core.
    pub fn sync_start(mut self) -> Arg {
        self.set_sync_start();
        self
    }

    /// No block starts before all blocks have a core.
    pub fn set_sync_start(&mut self) {
        self.sync_start = true;
    }

    fn add_tensor(&mut self, tensor: TensorArg) {
        if !self.scalars.is_empty() {
            return self.add_mistake("tensors must be added before scalars".into());
        }
        let most = self.limits.tensors;
        if self.tensors.len() == most {
            return self.add_mistake(format!("a task has at most {most} tensors"));
        }
        self.tensors.push(tensor);
    }

    /// A mistake of the code that describes the task.
    pub fn add_mistake(&mut self, error: String) {
        self.error.get_or_insert(error);
    }
}

/// What a submission gives back.
#[derive(Clone, Debug)]
pub struct TaskOutputs {
    pub(crate) id: TaskId,
    pub(crate) tensors: Vec<Tensor>,
}

impl TaskOutputs {
    pub fn task_id(&self) -> TaskId {
        self.id
    }

    /// All tensors that the runtime allocated.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// The `index`-th tensor that the runtime allocated, in the order they were requested; existing tensors
    /// do not count. Usable until the scope that submitted the task ends.
    pub fn tensor(&self, index: usize) -> Result<&Tensor, Fatal> {
        self.tensors.get(index).ok_or_else(|| {
            let (id, count) = (self.id, self.tensors.len());
            Fatal::invalid(format!("task {id} was asked for output {index} but allocated {count}"))
        })
    }
}
