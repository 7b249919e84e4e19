//! Whether the tasks of a dump are those of a scene: by kernels, slots, roles, types and numbers of elements, not by
//! ids alone.
//!
//! What a scene's tasks look like is found out by running it once and keeping the descriptions of all arguments.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use argus_abi::{DType, Kind, Role, RuntimeKind, TaskId};
use argus_chip::DEFAULT_CHIP;
use argus_dump::read::{Dump, Record};
use argus_facts::select::Level;
use argus_facts::{FuncIds, Graph};
use argus_record::RecordRequest;
use argus_scene::{Case, Scene};

use crate::error::LookupError;
use crate::recorded::record_case;

/// One argument of a task, without its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    pub slot: u32,
    pub kind: Kind,
    pub role: Role,
    pub dtype: Option<DType>,
    pub shape: Vec<u64>,
}

impl Slot {
    fn of(record: &Record) -> Slot {
        Slot {
            slot: record.arg_index,
            kind: record.kind,
            role: record.role,
            dtype: record.dtype,
            shape: record.shape().to_vec(),
        }
    }

    fn view(&self) -> String {
        match self.kind {
            Kind::Scalar => "a scalar".to_owned(),
            Kind::Tensor => {
                let dtype = self.dtype.map_or("of unknown type", DType::name);
                format!("{} {dtype} {:?}", self.role.name(), self.shape)
            }
        }
    }

    /// The same argument; of matrices that lie in one dimension only the number of elements is known.
    fn fits(&self, other: &Slot) -> bool {
        let elements = |slot: &Slot| slot.shape.iter().try_fold(1u64, |n, &extent| n.checked_mul(extent));
        let flat = self.shape.len() == 1 || other.shape.len() == 1;
        match (self.kind, other.kind) {
            (Kind::Scalar, Kind::Scalar) => true,
            (Kind::Tensor, Kind::Tensor) => {
                self.role == other.role
                    && self.dtype == other.dtype
                    && (self.shape == other.shape || flat && elements(self) == elements(other))
            }
            _ => false,
        }
    }
}

/// The tasks of a case on a runtime.
pub struct Model {
    /// How messages name it.
    pub name: String,
    pub graph: Graph,
    tasks: BTreeMap<TaskId, Vec<Slot>>,
}

impl Model {
    fn new(scene: &Scene, case: &Case, runtime: RuntimeKind) -> Result<Model, LookupError> {
        let directory = tempfile::tempdir().map_err(|source| LookupError::Temporary { source })?;
        let request = RecordRequest { level: Some(Level::Hybrid), ..RecordRequest::default() };
        let run = record_case(scene, (case, runtime), DEFAULT_CHIP, &request, directory.path());
        if !run.kept {
            run.result?;
            return Err(LookupError::NoTasks { scene: scene.name.clone(), case: case.name.clone() });
        }
        let dump = Dump::open(directory.path())?;
        Ok(Model {
            name: format!("scene {} case {} on {}", scene.name, case.name, runtime.short()),
            graph: dump.graph().cloned().unwrap_or_default(),
            tasks: looks(&dump).into_iter().map(|(id, look)| (id, look.slots)).collect(),
        })
    }

    /// Why a task with these kernels and arguments is none of this scene; `None` if it is.
    pub fn misfit(&self, task: TaskId, func_ids: &[i32], arguments: &[Slot]) -> Option<String> {
        let Some(own) = self.tasks.get(&task) else {
            return Some(format!("the scene has no task {task}"));
        };
        let kernels = self.graph.task(task).map_or(&[][..], |known| &known.func_ids);
        // Some dumps name the kernel of a member with each record, not those of the task.
        let same = func_ids.iter().all(|id| kernels.contains(id))
            && (func_ids.len() <= 1 || func_ids.len() == kernels.len());
        if !same {
            return Some(format!(
                "it runs the kernels {func_ids:?}, the scene's task {kernels:?} ({})",
                self.graph.kernel_names(kernels)
            ));
        }
        for argument in arguments {
            let Some(known) = own.iter().find(|known| known.slot == argument.slot) else {
                return Some(format!(
                    "it has {} in slot {}, the scene's task has none",
                    argument.view(),
                    argument.slot
                ));
            };
            if !argument.fits(known) {
                return Some(format!(
                    "slot {} is {}, the scene's task has {}",
                    argument.slot,
                    argument.view(),
                    known.view()
                ));
            }
        }
        None
    }

    /// The same for a task of a dump.
    pub fn misfit_in(&self, dump: &Dump, task: TaskId) -> Option<String> {
        let looks = looks(dump);
        looks.get(&task).map_or_else(
            || self.misfit(task, &[], &[]),
            |look| self.misfit(task, &look.func_ids, &look.slots),
        )
    }

    /// The first and the last of its tasks.
    pub fn span(&self) -> Span {
        Span(self.tasks.keys().next().copied().zip(self.tasks.keys().next_back().copied()))
    }

    /// The shape that the scene gives to an argument.
    pub fn shape(&self, task: TaskId, slot: u32) -> Option<&[u64]> {
        let known = self.tasks.get(&task)?.iter().find(|known| known.slot == slot)?;
        Some(&known.shape)
    }

    /// How many of these tasks are the scene's, and how many of them fit.
    fn count(&self, tasks: &BTreeMap<TaskId, Look>) -> (usize, usize) {
        let known = tasks.iter().filter(|(id, _)| self.tasks.contains_key(id));
        let fits = |id: TaskId, look: &Look| self.misfit(id, &look.func_ids, &look.slots).is_none();
        let fitting = tasks.iter().filter(|(id, look)| fits(**id, look));
        (known.count(), fitting.count())
    }
}

/// The first and the last of some tasks, if there are any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Option<(TaskId, TaskId)>);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some((first, last)) => write!(f, "{first} to {last}"),
            None => write!(f, "none"),
        }
    }
}

/// What a dump says of a task.
#[derive(Default)]
struct Look {
    func_ids: FuncIds,
    /// Each slot once.
    slots: Vec<Slot>,
}

fn looks(dump: &Dump) -> BTreeMap<TaskId, Look> {
    let mut tasks: BTreeMap<TaskId, Look> = BTreeMap::new();
    for record in dump.records() {
        let look = tasks.entry(record.task_id).or_default();
        look.func_ids = record.func_ids;
        if !look.slots.iter().any(|known| known.slot == record.arg_index) {
            look.slots.push(Slot::of(&record));
        }
    }
    tasks
}

/// The case and runtime of a scene that a dump fits best.
pub struct Fit {
    pub case: Arc<Case>,
    pub runtime: RuntimeKind,
    pub model: Model,
    /// Whether any of the dump's tasks is one of the scene's by its id.
    pub known: bool,
    /// Every task of the dump fits.
    pub fits: bool,
    /// What would fit better, if anything does.
    pub better: Option<Better>,
}

/// Another case or runtime of a scene, that all tasks of a dump fit. What need not be said is absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Better {
    pub case: Option<String>,
    pub runtime: Option<RuntimeKind>,
}

/// Tries the case that was asked for, or the scene's first, on the runtime that was asked for, or on each of the case's.
/// If not every task fits, it looks for another case and runtime of the scene that they do fit.
pub fn fit(
    scene: &Arc<Scene>,
    case: Option<&str>,
    runtime: Option<RuntimeKind>,
    dump: &Dump,
) -> Result<Fit, LookupError> {
    let tasks = looks(dump);
    let (first, _) =
        scene.case(case, runtime).map_err(|error| LookupError::Case { scene: Arc::clone(scene), error })?;
    let named = |known: &Case| match case {
        Some(name) => known.names().any(|known| known == name),
        None => known.name == first.name,
    };
    let all = scene.cases.iter().flat_map(|case| case.runtimes.iter().map(move |&runtime| (case, runtime)));
    let (asked, others): (Vec<_>, Vec<_>) =
        all.partition(|(case, kind)| named(case) && runtime.is_none_or(|runtime| runtime == *kind));
    let mut best: Option<((usize, usize), Fit)> = None;
    for (case, runtime) in asked {
        let model = Model::new(scene, case, runtime)?;
        let (known, fitting) = model.count(&tasks);
        if best.as_ref().is_none_or(|((_, most), _)| fitting > *most) {
            let fit =
                Fit { case: Arc::clone(case), runtime, model, known: known > 0, fits: true, better: None };
            best = Some(((known, fitting), fit));
        }
        if fitting == tasks.len() {
            break;
        }
    }
    let Some(((_, fitting), mut fit)) = best else {
        return Err(LookupError::NoCase { scene: scene.name.clone() });
    };
    if fitting < tasks.len() {
        fit.fits = false;
        for (case, kind) in others {
            // A case that cannot be run here fits nothing.
            let Ok(model) = Model::new(scene, case, kind) else { continue };
            if model.count(&tasks).1 == tasks.len() {
                fit.better = Some(Better {
                    case: (case.name != fit.case.name).then(|| case.name.clone()),
                    runtime: (case.runtimes.len() > 1 || runtime.is_some()).then_some(kind),
                });
                break;
            }
        }
    }
    Ok(fit)
}
