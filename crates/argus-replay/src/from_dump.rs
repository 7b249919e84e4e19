//! How a task is read from a dump.
//!
//! The records of a dump say what each argument was at either stage. Here they become one list by slot: what
//! goes in, what must come out, and for each missing byte the reason why it is missing.

use argus_abi::args::{KernelAbi, LOCAL_CONTEXT_SLOT};
use argus_abi::{Kind, MAX_DIMS, Stage, TaskId, TaskState};
use argus_dump::read::{Dump, FormatVersion, PayloadError, Record, Scalar};
use argus_facts::with_causes;
use argus_gm::Fill;

use crate::choose::{Listed, SelectError};
use crate::code::Code;
use crate::error::{ArgumentError, ReplayError};
use crate::members::{members, recorded_members};
use crate::task::{Argument, CapturedTask, Content, Identity, TensorArgument, What};

impl CapturedTask {
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
        let described = dump.own_graph().and_then(|graph| graph.task(task));
        let members = match (&listed.func_ids[..], chosen) {
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
        let completed = described.is_none_or(|task| task.state == TaskState::Completed);
        let mut captured = CapturedTask {
            id: task,
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
        captured
            .notes
            .extend(facts.iter().flat_map(|run| &run.injections).map(|fault| injected(task, fault)));
        if !dump.has_checksums() {
            captured.notes.push("the dump has no checksums: damage to its payloads cannot be told".into());
        }
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
                skip.task_id == self.id && skip.arg_index.is_none_or(|index| index as usize == slot)
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

/// What to know of a fault that was made on purpose.
fn injected(task: TaskId, fault: &serde_json::Value) -> String {
    let word = |key: &str| fault[key].as_str().unwrap_or("?").to_owned();
    let what = format!("{} in kernel {}, task {}", word("kind"), word("kernel"), word("task_id"));
    if fault["task_id"].as_str() == Some(&task.to_string()) {
        format!(
            "a fault was injected into this task on purpose ({what}): its captured outputs are not the kernel's"
        )
    } else {
        format!("a fault was injected into the run on purpose: {what}")
    }
}

/// All records of a task, first those before it.
fn records_of(dump: &Dump, task: TaskId) -> Vec<Record> {
    if dump.format_version() != FormatVersion::Argus {
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

/// One argument per slot, from the records of both stages.
fn arguments(dump: &Dump, records: &[Record]) -> Result<Vec<Argument>, ReplayError> {
    let mut arguments: Vec<Argument> = Vec::new();
    for record in records {
        let slot = record.arg_index as usize;
        if slot >= LOCAL_CONTEXT_SLOT {
            return Err(ReplayError::Argument { slot, source: ArgumentError::Context });
        }
        let content = match record.kind {
            Kind::Scalar => Content::Unneeded,
            Kind::Tensor => content(dump, record)?,
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
    let wrong = |source| ReplayError::Argument { slot, source };
    let dtype = record.dtype.ok_or_else(|| wrong(ArgumentError::UnknownType))?;
    if record.kind == Kind::Scalar {
        let bits = match record.scalar {
            Some(Scalar::Bits(bits)) => bits,
            Some(Scalar::Rounded(value)) => u64::from((value as f32).to_bits()),
            None => return Err(wrong(ArgumentError::NoValue)),
        };
        return Ok(What::Scalar { dtype, bits });
    }
    let narrow = |values: &[u64], what| {
        let narrowed: Result<Vec<u32>, _> = values.iter().map(|&value| u32::try_from(value)).collect();
        narrowed.map_err(|_| wrong(ArgumentError::Wide { what, values: values.to_vec() }))
    };
    let (mut shape, mut strides) = (narrow(record.shape(), "shape")?, narrow(record.strides(), "strides")?);
    if shape.is_empty() {
        // A tensor without dimensions is one element; descriptors have at least one dimension.
        (shape, strides) = (vec![1], vec![1]);
    }
    if shape.len() > MAX_DIMS || strides.len() != shape.len() {
        return Err(wrong(ArgumentError::Dimensions { shape: shape.len(), strides: strides.len() }));
    }
    let (mut before, mut after) = (Content::Unneeded, Content::Unneeded);
    match record.stage {
        Stage::BeforeDispatch => before = content,
        Stage::AfterCompletion => after = content,
    }
    let (role, start_offset, address) = (record.role, record.start_offset, record.address);
    let created = record.created;
    Ok(What::Tensor(TensorArgument {
        dtype,
        role,
        shape,
        strides,
        start_offset,
        address,
        created,
        before,
        after,
    }))
}

fn content(dump: &Dump, record: &Record) -> Result<Content, ReplayError> {
    Ok(match dump.payload(record) {
        Ok(bytes) if record.logical_bytes == Some(bytes.len() as u64) => Content::Bytes(bytes.to_vec()),
        Ok(bytes) => {
            let whole = record.logical_bytes.map_or_else(|| "?".into(), |bytes| bytes.to_string());
            Content::Missing(format!("only {} of its {whole} bytes were kept", bytes.len()))
        }
        Err(source @ PayloadError::Damaged { .. }) => {
            return Err(ReplayError::Damaged { slot: record.arg_index as usize, source });
        }
        Err(error) => Content::Missing(with_causes(&error)),
    })
}
