//! What an orchestration asked for, call by call, in a file of JSON lines.
//!
//! A file and not memory: the orchestration may run in another process than the one that reads it, and what was written
//! before a crash is there after it.

use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use argus_abi::{Tensor, TensorArgType};
use argus_loaded::{Observer, ScopeEdge, Submission, Submitted};
use argus_runtime::{Flow, ScopeMode};
use serde_json::{Value, json};

/// Writes to a file while there is one.
#[derive(Default)]
pub struct Journal {
    file: Mutex<Option<File>>,
}

impl Journal {
    /// Writes to this file from now on, or to none.
    pub fn write_to(&self, file: Option<File>) {
        *self.file.lock().unwrap_or_else(PoisonError::into_inner) = file;
    }

    fn line(&self, value: &Value) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = file.as_mut() else { return };
        // Each line is one call of the system: nothing waits in a buffer that a crash would take along. A line that
        // cannot be written ends the file, and its reader misses the end of the outermost scope.
        if open.write_all(format!("{value}\n").as_bytes()).is_err() {
            *file = None;
        }
    }
}

impl Observer for Journal {
    fn is_listening(&self) -> bool {
        self.file.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn submitted(&self, submission: &Submission<'_>) {
        let (what, kernels) = match submission.what {
            Submitted::Kernels(kernels) => ("kernels", kernels),
            Submitted::Dummy => ("dummy", [-1; 3]),
            Submitted::Allocation => ("allocation", [-1; 3]),
            Submitted::Graph => ("graph", [-1; 3]),
        };
        let arguments: Vec<Value> = (submission.tensors.iter())
            .map(|(kind, tensor)| json!({ "type": word(*kind), "tensor": tensor.as_ref().map(described) }))
            .collect();
        self.line(&json!({
            "call": "submit",
            "what": what,
            "task": submission.task.raw(),
            "manual": submission.mode == ScopeMode::Manual,
            "kernels": kernels,
            "blocks": submission.blocks,
            "early": submission.early_resolve,
            "slot": submission.timing_slot,
            "dependencies": submission.dependencies,
            "args": arguments,
            "outputs": submission.outputs.iter().map(described).collect::<Vec<_>>(),
        }));
    }

    fn scope(&self, edge: &ScopeEdge<'_>) {
        let flow = |flow: Flow| [flow.released, flow.taken];
        let used = edge.at.of_ring;
        self.line(&json!({
            "call": "scope",
            "begins": edge.begins,
            "site": edge.site,
            "depth": edge.at.depth,
            "ring": edge.at.ring,
            "tasks": flow(used.tasks),
            "heap": flow(used.heap),
            "edges": flow(used.edges),
            "views": edge.at.views,
        }));
    }
}

fn word(kind: TensorArgType) -> &'static str {
    match kind {
        TensorArgType::Input => "INPUT",
        TensorArgType::Output => "OUTPUT",
        TensorArgType::Inout => "INOUT",
        TensorArgType::OutputExisting => "OUTPUT_EXISTING",
        TensorArgType::NoDep => "NO_DEP",
    }
}

fn described(tensor: &Tensor) -> Value {
    json!({
        "address": tensor.addr,
        "bytes": tensor.size,
        "owner": tensor.owner().is_valid().then(|| tensor.owner().raw()),
        "start": tensor.start_offset,
        "version": tensor.version,
        "dtype": tensor.dtype().map(|dtype| dtype.name()),
        "element": tensor.dtype().map_or(0, |dtype| dtype.size()),
        "manual": tensor.is_manual_dep(),
        "shape": tensor.shape(),
        "strides": tensor.stride(),
    })
}
