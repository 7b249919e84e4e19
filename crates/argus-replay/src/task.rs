//! A task with everything that is known of it, and how it is read from a dump.
//!
//! The records of a dump say what each argument was at either stage. Here they become one list by slot: what
//! goes in, what must come out, and for each missing byte the reason why it is missing.

use argus_abi::args::{GLOBAL_CONTEXT_SLOT, KernelAbi, LOCAL_CONTEXT_SLOT};
use argus_abi::capture::task_state;
use argus_abi::{CoreSet, CoreType, DType, FuncId, Kind, MAX_DIMS, Member, Role, Stage, TaskId};
use argus_dump::read::{Age, Dump, Record, Scalar};
use argus_gm::Fill;
use argus_runtime::{KernelTable, Orchestration, Program};

use crate::error::ReplayError;
use crate::select::{Listed, SelectError};

/// The kernels of a program, and how they take their arguments.
#[derive(Clone, Debug)]
pub struct Code {
    pub kernels: KernelTable,
    pub abi: KernelAbi,
}

impl Code {
    pub fn of(program: &Program) -> Code {
        let abi = match program.orchestration {
            Orchestration::HostBuildGraph(_) => KernelAbi::Raw,
            Orchestration::AicpuBuildGraph(_) | Orchestration::TensormapAndRingbuffer(_) => {
                KernelAbi::Tensors
            }
        };
        Code { kernels: program.kernels.clone(), abi }
    }

    /// No kernel at all, for a task whose code nobody has: its arguments can still be read. How it takes them
    /// is what the dump says, else `otherwise`.
    pub fn unknown(dump: &Dump, otherwise: KernelAbi) -> Code {
        let recorded = dump.graph().and_then(|graph| graph.kernels.first());
        Code { kernels: KernelTable::default(), abi: recorded.map_or(otherwise, |kernel| kernel.abi) }
    }

    fn is_unknown(&self) -> bool {
        self.kernels.iter().next().is_none()
    }

    /// A kernel at the place where it would run alone.
    pub fn kernel(&self, name: &str) -> Result<MemberKernel, SelectError> {
        let entry = self
            .kernels
            .iter()
            .find(|entry| entry.name == name)
            .ok_or_else(|| SelectError::NoKernel { name: name.into(), known: self.known() })?;
        let member = match entry.core_type {
            CoreType::Aic => Member::Aic,
            CoreType::Aiv => Member::Aiv0,
        };
        Ok(MemberKernel { member, func_id: entry.func_id, name: name.into() })
    }

    /// The kernels there are, for messages.
    pub fn known(&self) -> String {
        let named = self.kernels.iter().map(|entry| format!("{} ({})", entry.name, entry.func_id));
        named.collect::<Vec<_>>().join(", ")
    }
}

/// One task, independent of the dump that it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct CapturedTask {
    pub id: TaskId,
    pub identity: Identity,
    pub blocks: u32,
    pub abi: KernelAbi,
    /// What memory that nobody wrote held in the run.
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
            before: Content::Unneeded,
            after: Content::Unneeded,
        }
    }

    /// Elements of the view; `None` if they cannot be counted.
    pub fn numel(&self) -> Option<u64> {
        self.shape.iter().try_fold(1u64, |product, &extent| product.checked_mul(u64::from(extent)))
    }

    /// Bytes of the view in logical order; `None` if they cannot be counted.
    pub fn logical_bytes(&self) -> Option<u64> {
        self.dtype.packed_bytes(self.numel()?)
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
            if entry.name != member.name || entry.core_type != core_type {
                return Err(ReplayError::OtherKernel {
                    func_id: member.func_id.0,
                    recorded: member.name.clone(),
                    recorded_core: core_type.name(),
                    present: entry.name.into(),
                    present_core: entry.core_type.name(),
                });
            }
        }
        Ok(())
    }

    /// Reads a task from a dump. `code` is that of the program that the dump was made of; `chosen` names the
    /// kernel to run where the dump does not say which it was. Of unknown code the task has the kernels that the
    /// dump describes, or none.
    pub fn from_dump(
        dump: &Dump,
        listed: &Listed,
        code: &Code,
        chosen: Option<&str>,
    ) -> Result<CapturedTask, ReplayError> {
        let task = listed.task;
        let records = records_of(dump, task);
        let described = dump.graph().and_then(|graph| graph.task(task));
        let members = match (listed.func_ids(), chosen) {
            (funcs, _) if code.is_unknown() => {
                recorded_members(dump, funcs, described.map(|task| task.cores))?
            }
            ([], Some(name)) => vec![code.kernel(name)?],
            ([], None) => return Err(SelectError::NoIds.into()),
            (funcs, _) => members(dump, funcs, described.map(|task| task.cores), code)?,
        };
        let facts = dump.run();
        let fact =
            |of: fn(&argus_dump::read::RunFacts) -> &str| facts.map_or(String::new(), |run| of(run).into());
        let fill = facts.and_then(|run| run.configuration.get("fill")).and_then(|fill| fill.as_str());
        let completed = described.is_none_or(|task| task.state == task_state::COMPLETED);
        let mut captured = CapturedTask {
            id: TaskId::from_raw(task),
            identity: Identity {
                scene: fact(|run| &run.scene),
                case: fact(|run| &run.case),
                runtime: fact(|run| &run.runtime),
                platform: fact(|run| &run.platform),
                members,
            },
            blocks: listed.blocks.unwrap_or(1).max(1),
            abi: code.abi,
            fill: if fill == Some("zero") { Fill::Zero } else { Fill::Poison },
            completed,
            arguments: arguments(dump, &records)?,
            notes: Vec::new(),
        };
        captured.add_notes(&records, listed.blocks.is_some());
        // What the task had, whether it was captured or not.
        let slots = match described {
            Some(task) => usize::from(task.tensors) + usize::from(task.scalars),
            None => captured.slots_by_signature(code),
        };
        captured.mark_missing_slots(dump, slots);
        Ok(captured)
    }

    fn add_notes(&mut self, records: &[Record], counted: bool) {
        if !self.completed {
            self.notes
                .push("the task did not end in the run: its captured outputs are as it left them".into());
        }
        if !counted {
            self.notes.push("the dump does not say how many blocks the task had; one is assumed".into());
        }
        if records.iter().any(|record| record.ambiguous_index) {
            self.notes
                .push("the dump says that a slot may be another: the program passed one object twice".into());
        }
        for record in records {
            if let Some(Scalar::Rounded(value)) = record.scalar {
                let slot = record.arg_index;
                self.notes
                    .push(format!("slot {slot} was written down in six digits: {value}; its bits are lost"));
            }
        }
        let views: Vec<&TensorArgument> = (self.arguments.iter())
            .filter_map(|argument| match &argument.what {
                What::Tensor(tensor) => Some(tensor),
                What::Scalar { .. } | What::Missing { .. } => None,
            })
            .collect();
        if views.len() > 1 && views.iter().any(|view| view.address.is_none()) {
            self.notes.push("the dump has no addresses: each argument has a buffer of its own here".into());
        }
    }

    /// How many slots there must be where no task entry counts them: raw kernels say it, for others the last
    /// one that was captured does.
    fn slots_by_signature(&self, code: &Code) -> usize {
        let captured = self.arguments.last().map_or(0, |argument| argument.slot + 1);
        let first = self.identity.members.first().and_then(|member| code.kernels.get(member.func_id));
        match (code.abi, first) {
            (KernelAbi::Raw, Some(entry)) => captured.max(entry.signature.len()),
            _ => captured,
        }
    }

    /// Slots that the task had and that no record tells of.
    fn mark_missing_slots(&mut self, dump: &Dump, slots: usize) {
        let skips = &dump.losses().skipped;
        for slot in 0..slots.min(LOCAL_CONTEXT_SLOT) {
            if self.argument(slot).is_some() {
                continue;
            }
            let skip = skips.iter().find(|skip| {
                skip.task_id == self.id.raw() && skip.arg_index.is_none_or(|index| index as usize == slot)
            });
            let why = match skip {
                Some(skip) => skip.reason.clone().into_owned(),
                None => "the dump does not have it".into(),
            };
            let source = format!("missing: {why}");
            self.arguments.push(Argument {
                slot,
                name: format!("arg{slot}"),
                what: What::Missing { why },
                source,
            });
        }
        self.arguments.sort_by_key(|argument| argument.slot);
    }
}

/// All records of a task, first those before it.
fn records_of(dump: &Dump, task: u64) -> Vec<Record> {
    if dump.age() != Age::Argus {
        return dump.records().filter(|record| record.task_id == task).collect();
    }
    // Ours are sorted by task: a dump of a million records is not read for one.
    let (mut low, mut high) = (0, dump.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if dump.record(middle).task_id < task { low = middle + 1 } else { high = middle }
    }
    (low..dump.len()).map(|index| dump.record(index)).take_while(|record| record.task_id == task).collect()
}

/// The task's kernels at their places.
fn members(
    dump: &Dump,
    funcs: &[i32],
    cores: Option<CoreSet>,
    code: &Code,
) -> Result<Vec<MemberKernel>, ReplayError> {
    let mut places = Places::new(dump, funcs, cores);
    let mut members = Vec::new();
    for &func in funcs {
        let recorded = dump.graph().and_then(|graph| graph.kernel(func));
        let missing = || ReplayError::NoKernel {
            func_id: func.into(),
            named: recorded.map_or_else(String::new, |kernel| format!(" ('{}')", kernel.name)),
            known: code.known(),
        };
        let func_id = FuncId(u32::try_from(func).map_err(|_| missing())?);
        let entry = code.kernels.get(func_id).ok_or_else(missing)?;
        if let Some(kernel) = recorded
            && (kernel.name != entry.name || kernel.core_type != entry.core_type)
        {
            return Err(ReplayError::OtherKernel {
                func_id: func_id.0,
                recorded: kernel.name.clone(),
                recorded_core: kernel.core_type.name(),
                present: entry.name.into(),
                present_core: entry.core_type.name(),
            });
        }
        let member = places.next(entry.core_type)?;
        members.push(MemberKernel { member, func_id, name: entry.name.into() });
    }
    Ok(members)
}

/// The task's kernels as far as the dump itself tells what they are and where they ran. One that it does not
/// describe may run anywhere, so there is none then; three fill a cluster, so each has its place.
fn recorded_members(
    dump: &Dump,
    funcs: &[i32],
    cores: Option<CoreSet>,
) -> Result<Vec<MemberKernel>, ReplayError> {
    let recorded: Vec<_> =
        funcs.iter().filter_map(|&func| dump.graph().and_then(|graph| graph.kernel(func))).collect();
    if recorded.len() == funcs.len() {
        let mut places = Places::new(dump, funcs, cores);
        let members = recorded.into_iter().map(|kernel| {
            let member = places.next(kernel.core_type)?;
            Ok(MemberKernel { member, func_id: FuncId(kernel.func_id), name: kernel.name.clone() })
        });
        return members.collect();
    }
    match funcs.len() {
        1 => Ok(Vec::new()),
        3 => Ok(Member::ALL
            .into_iter()
            .zip(funcs)
            .map(|(member, func)| MemberKernel {
                member,
                func_id: FuncId(func.unsigned_abs()),
                name: func.to_string(),
            })
            .collect()),
        _ => Err(ReplayError::Places { kernels: listed_numbers(funcs) }),
    }
}

fn listed_numbers(funcs: &[i32]) -> String {
    funcs.iter().map(i32::to_string).collect::<Vec<_>>().join(" and ")
}

/// The places of a cluster that are still free.
struct Places {
    matrix: Option<Member>,
    vector: std::array::IntoIter<Member, 2>,
    kernels: usize,
}

impl Places {
    fn new(dump: &Dump, funcs: &[i32], cores: Option<CoreSet>) -> Places {
        let mut vector = [Member::Aiv0, Member::Aiv1].into_iter();
        // A matrix kernel with one vector kernel: only the cores tell on which of the two places that one ran.
        if funcs.len() == 2 && cores.is_some_and(|cores| ran_on_second_vector_core(dump, cores)) {
            vector.next();
        }
        Places { matrix: Some(Member::Aic), vector, kernels: funcs.len() }
    }

    fn next(&mut self, core_type: CoreType) -> Result<Member, ReplayError> {
        let place = match core_type {
            CoreType::Aic => self.matrix.take(),
            CoreType::Aiv => self.vector.next(),
        };
        place.ok_or(ReplayError::Cluster { kernels: self.kernels })
    }
}

fn ran_on_second_vector_core(dump: &Dump, cores: CoreSet) -> bool {
    let clusters =
        dump.run().and_then(|run| run.configuration.get("clusters")).and_then(|value| value.as_u64());
    let Some(clusters) = clusters.and_then(|clusters| usize::try_from(clusters).ok()) else { return false };
    let mut vector = cores.iter().filter(|&core| core >= clusters).peekable();
    vector.peek().is_some() && vector.all(|core| (core - clusters) % 2 == 1)
}

/// One argument per slot, from the records of both stages.
fn arguments(dump: &Dump, records: &[Record]) -> Result<Vec<Argument>, ReplayError> {
    let mut arguments: Vec<Argument> = Vec::new();
    for record in records {
        let slot = record.arg_index as usize;
        if slot >= LOCAL_CONTEXT_SLOT {
            let why = format!("slots {LOCAL_CONTEXT_SLOT} and {GLOBAL_CONTEXT_SLOT} hold the contexts");
            return Err(ReplayError::Argument { slot, why });
        }
        let content = match record.kind {
            Kind::Scalar => Content::Unneeded,
            Kind::Tensor => content(dump, record),
        };
        match arguments.iter_mut().find(|argument| argument.slot == slot) {
            None => arguments.push(Argument {
                slot,
                name: format!("arg{slot}"),
                what: what(record, slot, content)?,
                source: "captured".into(),
            }),
            Some(Argument { what: What::Tensor(tensor), .. }) => {
                let place = match record.stage {
                    Stage::BeforeDispatch => &mut tensor.before,
                    Stage::AfterCompletion => &mut tensor.after,
                };
                // Members of one mix share their arguments: of several records the first one counts.
                if !matches!(place, Content::Bytes(_)) {
                    *place = content;
                }
            }
            Some(_) => {}
        }
    }
    arguments.sort_by_key(|argument| argument.slot);
    for argument in &mut arguments {
        if let What::Tensor(tensor) = &mut argument.what {
            expect_both_stages(tensor);
            if tensor.before == Content::Unneeded {
                argument.source = "not captured before the task: starts as a pattern".into();
            }
        }
    }
    Ok(arguments)
}

/// A role says at which stages there should have been a record.
fn expect_both_stages(tensor: &mut TensorArgument) {
    let missing = || Content::Missing("there is no record of this stage".into());
    if tensor.role.captured_at(Stage::BeforeDispatch) && tensor.before == Content::Unneeded {
        tensor.before = missing();
    }
    if tensor.role.captured_at(Stage::AfterCompletion) && tensor.after == Content::Unneeded {
        tensor.after = missing();
    }
}

fn what(record: &Record, slot: usize, content: Content) -> Result<What, ReplayError> {
    let wrong = |why: String| ReplayError::Argument { slot, why };
    let dtype = record.dtype.ok_or_else(|| wrong("its element type is unknown".into()))?;
    if record.kind == Kind::Scalar {
        let bits = match record.scalar {
            Some(Scalar::Bits(bits)) => bits,
            Some(Scalar::Rounded(value)) => u64::from((value as f32).to_bits()),
            None => return Err(wrong("the dump has no value of this scalar".into())),
        };
        return Ok(What::Scalar { dtype, bits });
    }
    let narrow = |values: &[u64], what: &str| {
        let narrowed: Result<Vec<u32>, _> = values.iter().map(|&value| u32::try_from(value)).collect();
        narrowed.map_err(|_| wrong(format!("its {what} {values:?} do not fit a tensor descriptor")))
    };
    let (mut shape, mut strides) = (narrow(record.shape(), "shape")?, narrow(record.strides(), "strides")?);
    if shape.is_empty() {
        // A tensor without dimensions is one element; descriptors have at least one dimension.
        (shape, strides) = (vec![1], vec![1]);
    }
    if shape.len() > MAX_DIMS || strides.len() != shape.len() {
        return Err(wrong(format!("{} dimensions and {} strides", shape.len(), strides.len())));
    }
    let (mut before, mut after) = (Content::Unneeded, Content::Unneeded);
    match record.stage {
        Stage::BeforeDispatch => before = content,
        Stage::AfterCompletion => after = content,
    }
    let (role, start_offset, address) = (record.role, record.start_offset, record.address);
    Ok(What::Tensor(TensorArgument { dtype, role, shape, strides, start_offset, address, before, after }))
}

fn content(dump: &Dump, record: &Record) -> Content {
    match dump.payload(record) {
        Ok(bytes) if record.logical_bytes == Some(bytes.len() as u64) => Content::Bytes(bytes.to_vec()),
        Ok(bytes) => {
            let whole = record.logical_bytes.map_or_else(|| "?".into(), |bytes| bytes.to_string());
            Content::Missing(format!("only {} of its {whole} bytes were kept", bytes.len()))
        }
        Err(error) => Content::Missing(error.to_string()),
    }
}
