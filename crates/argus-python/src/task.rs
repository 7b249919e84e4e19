//! One task of a dump, with its records.

use std::sync::Arc;

use argus_abi::TaskId;
use argus_dump::read;
use argus_find::tasks;
use pyo3::prelude::*;

use crate::dump::Dump;
use crate::record::Record;

/// One task of a dump.
///
/// :meth:`Dump.task` and :meth:`Dump.tasks` give them; :func:`argus.replay` and :func:`argus.trace` take them.
#[pyclass(frozen, module = "argus")]
pub struct Task {
    pub dump: Arc<read::Dump>,
    pub id: TaskId,
    task: tasks::Task,
}

impl Task {
    pub fn new(dump: &Arc<read::Dump>, task: &tasks::Task) -> Task {
        Task { dump: Arc::clone(dump), id: task.id, task: task.clone() }
    }

    fn records_at(&self, indices: impl Iterator<Item = usize>) -> Vec<Record> {
        indices.map(|index| Record::new(&self.dump, index)).collect()
    }
}

#[pymethods]
impl Task {
    /// The id of the task, such as ``0x200000001``.
    #[getter]
    fn id(&self) -> String {
        self.id.to_string()
    }

    /// The kernels of the task by name, joined by ``+``; empty where the dump does not know.
    #[getter]
    fn kernel(&self) -> &str {
        &self.task.kernel
    }

    /// The numbers of its kernels.
    #[getter]
    fn func_ids(&self) -> Vec<i32> {
        self.task.func_ids.to_vec()
    }

    /// On how many clusters it ran.
    #[getter]
    fn blocks(&self) -> u32 {
        self.task.blocks
    }

    /// Whether it ended, as far as the dump knows.
    #[getter]
    fn completed(&self) -> bool {
        self.task.completed
    }

    /// The dump that it is a task of.
    #[getter]
    fn dump(&self) -> Dump {
        Dump::new(Arc::clone(&self.dump))
    }

    /// What it was given: records before dispatch, by argument.
    #[getter]
    fn inputs(&self) -> Vec<Record> {
        self.records_at(self.task.inputs.iter())
    }

    /// What it left: records after completion, by argument.
    #[getter]
    fn outputs(&self) -> Vec<Record> {
        self.records_at(self.task.outputs.iter())
    }

    fn __repr__(&self) -> String {
        format!("<argus.Task {} {}>", self.id, self.task.kernel)
    }
}
