//! `argus view --graph`: tasks, kernels, and edges with their source.

use std::collections::BTreeMap;
use std::fmt::Write;

use argus_abi::{EdgeReason, TaskId, TaskState};
use argus_artefacts::deps::{DepsEdge, DepsTask, EdgeSource, Flags, View};
use argus_artefacts::directory::Kind;
use argus_artefacts::task_name::{IdLayout, Place};
use argus_facts::{Edge, Graph, TaskInfo};
use argus_runs::Capture;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::marks::NOTE;
use crate::output::counted;
use crate::{schema, table};

/// What there is of a graph: the dump's own, or that of a file beside it.
pub struct GraphView<'a> {
    capture: &'a Capture,
    graph: &'a Graph,
    layout: IdLayout,
    described: BTreeMap<TaskId, &'a DepsTask>,
}

impl<'a> GraphView<'a> {
    pub fn new(capture: &'a Capture) -> Result<GraphView<'a>, Failure> {
        let graph = capture.dump.graph().ok_or_else(|| {
            let directory = capture.artefacts.directory.display();
            let why = capture.artefacts.not_used(Kind::Graph);
            let why =
                why.unwrap_or_else(|| "neither the dump nor a deps.json beside it tells one".to_owned());
            let error = anyhow::anyhow!("{directory} has no graph: {why}");
            Failure::usage(error).hint("the reference writes deps.json with --enable-dep-gen".to_owned())
        })?;
        let described = capture.artefacts.deps.iter().flat_map(|deps| &deps.tasks);
        Ok(GraphView {
            capture,
            graph,
            layout: capture.artefacts.layout(),
            described: described.map(|task| (task.id, task)).collect(),
        })
    }

    /// Where the graph comes from.
    fn source(&self) -> String {
        let file =
            self.capture.artefacts.source(Kind::Graph).filter(|_| self.capture.dump.own_graph().is_none());
        file.map_or_else(
            || self.capture.dump.directory().display().to_string(),
            |path| path.display().to_string(),
        )
    }

    /// Tasks with those inside a Graph below the task that is the Graph.
    fn tasks(&self) -> Vec<(&'a TaskInfo, bool)> {
        let inner = |task: &TaskInfo| matches!(self.layout.place(task.id), Place::Inner { .. });
        let mut listed = Vec::with_capacity(self.graph.tasks.len());
        for task in self.graph.tasks.iter().filter(|task| !inner(task)) {
            listed.push((task, false));
            let below = self.graph.tasks.iter().filter(|other| self.layout.outer(other.id) == Some(task.id));
            listed.extend(below.filter(|task| inner(task)).map(|task| (task, true)));
        }
        // A Graph whose outer task no file lists.
        let left: Vec<_> = self.graph.tasks.iter().filter(|task| inner(task)).collect();
        for task in left {
            if !listed.iter().any(|(known, _)| known.id == task.id) {
                listed.push((task, true));
            }
        }
        listed
    }

    /// What a task is, beside its kernels.
    fn kind(&self, task: &TaskInfo) -> &'static str {
        let has_inner = self.graph.tasks.iter().any(|other| self.layout.outer(other.id) == Some(task.id));
        match (task.func_ids.is_empty(), self.described.contains_key(&task.id)) {
            _ if task.state == TaskState::Skipped => "skipped",
            _ if matches!(self.layout.place(task.id), Place::Inner { .. }) => "inner",
            (true, _) if has_inner => "graph",
            (true, true) => "dummy",
            (true, false) if self.capture.dump.own_graph().is_none() => "allocation",
            (true, false) => "no kernel",
            (false, _) => "kernel",
        }
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        let (tasks, edges) = (self.graph.tasks.len() as u64, self.graph.edges.len() as u64);
        _ = writeln!(text, "{}: {}, {}", self.source(), counted(tasks, "task"), counted(edges, "edge"));
        let mut rows = table::plain(&["TASK", "NAME", "KIND", "KERNEL", "BLOCKS", "SCOPE", "IN", "OUT"]);
        for (task, inner) in self.tasks() {
            let place = self.graph.position(task.id).unwrap_or(0);
            let scope = self.described.get(&task.id).map_or("", |task| scope(task));
            rows.add_row([
                format!("{}{}", if inner { "  " } else { "" }, task.id),
                self.layout.shown(task.id),
                self.kind(task).to_owned(),
                self.kernels(task),
                task.blocks.to_string(),
                scope.to_owned(),
                self.graph.predecessors(place).len().to_string(),
                self.graph.successors(place).len().to_string(),
            ]);
        }
        text += &format!("\n{}", table::lines(&rows));
        if !self.graph.edges.is_empty() {
            let mut rows = table::plain(&["FROM", "TO", "SOURCE", "ARG", "FLAGS", "OVERLAP"]);
            match self.deps() {
                Some(edges) => rows.add_rows(edges.map(edge_row)),
                None => rows.add_rows(self.graph.edges.iter().map(own_row)),
            };
            text += &format!("\n{}", table::lines(&rows));
        }
        if self.tasks().iter().any(|(_, inner)| *inner) {
            _ = writeln!(
                text,
                "{NOTE}note:{NOTE:#} no file has edges inside a Graph: its tasks are taken to wait for what the Graph waits for"
            );
        }
        text
    }

    fn deps(&self) -> Option<impl Iterator<Item = &'a DepsEdge>> {
        let own = self.capture.dump.own_graph().is_some();
        self.capture.artefacts.deps.as_ref().filter(|_| !own).map(|deps| deps.edges.iter())
    }

    fn kernels(&self, task: &TaskInfo) -> String {
        argus_facts::kernel_info::joined_names(&task.func_ids, |id| self.capture.dump.kernel_name(id))
    }

    pub fn object(&self) -> Value {
        let tasks: Vec<Value> =
            self.tasks().into_iter().map(|(task, inner)| self.task_object(task, inner)).collect();
        let edges: Vec<Value> = match self.deps() {
            Some(edges) => edges.map(edge_object).collect(),
            None => self.graph.edges.iter().map(own_object).collect(),
        };
        let tensors = self.capture.artefacts.deps.iter().flat_map(|deps| &deps.tensors).map(|tensor| {
            json!({
                "tensor_id": tensor.id.to_string(),
                "address": format!("0x{:x}", tensor.address),
                "version": tensor.version,
                "dtype": tensor.dtype.map(|dtype| dtype.name()),
                "elements": tensor.elements,
            })
        });
        json!({
            "schema": schema::GRAPH,
            "run": self.capture.artefacts.directory.display().to_string(),
            "source": self.source(),
            "runtime": self.capture.artefacts.deps.as_ref().and_then(|deps| deps.runtime).map(|kind| kind.name()),
            "tasks": tasks,
            "edges": edges,
            "tensors": tensors.collect::<Vec<_>>(),
            "notes": self.capture.dump.notes(),
        })
    }

    fn task_object(&self, task: &TaskInfo, inner: bool) -> Value {
        let described = self.described.get(&task.id);
        let args = described.iter().flat_map(|task| &task.args).map(|arg| {
            json!({
                "arg_index": arg.index,
                "type": arg.type_name(),
                "view": arg.view.as_ref().map(view_object),
            })
        });
        json!({
            "task_id": task.id.to_string(),
            "name": self.layout.shown(task.id),
            "kind": self.kind(task),
            "outer": inner.then(|| self.layout.outer(task.id).map(|id| id.to_string())).flatten(),
            "func_id": *task.func_ids,
            "kernel_ids": described.and_then(|task| task.kernel_ids),
            "kernel": self.kernels(task),
            "blocks": task.blocks,
            "scope": described.map(|task| scope(task)),
            "early_dispatch": described.and_then(|task| task.early_dispatch),
            "args": args.collect::<Vec<_>>(),
        })
    }
}

fn scope(task: &DepsTask) -> &'static str {
    if task.manual_scope { "manual" } else { "auto" }
}

fn flags(flags: Flags) -> Vec<&'static str> {
    [(flags.wait, "wait"), (flags.retain, "retain")]
        .into_iter()
        .filter_map(|(set, name)| set.then_some(name))
        .collect()
}

fn overlap(edge: &DepsEdge) -> Option<&'static str> {
    edge.covered.map(|covered| if covered { "covered" } else { "other" })
}

fn edge_row(edge: &DepsEdge) -> [String; 6] {
    [
        edge.pred.to_string(),
        edge.succ.to_string(),
        edge.source.name().to_owned(),
        edge.arg.map_or(String::new(), |arg| arg.to_string()),
        edge.flags.map_or(String::new(), |edge| flags(edge).join("+")),
        overlap(edge).unwrap_or("").to_owned(),
    ]
}

const fn reason(reason: EdgeReason) -> &'static str {
    match reason {
        EdgeReason::Explicit => EdgeSource::Explicit.name(),
        EdgeReason::Creator => EdgeSource::Creator.name(),
        EdgeReason::Overlap => "overlap",
        EdgeReason::WriteAfterRead => "write after read",
    }
}

fn own_row(edge: &Edge) -> [String; 6] {
    let none = String::new;
    [edge.from.to_string(), edge.to.to_string(), reason(edge.reason).to_owned(), none(), none(), none()]
}

fn own_object(edge: &Edge) -> Value {
    json!({ "from": edge.from.to_string(), "to": edge.to.to_string(), "source": reason(edge.reason) })
}

fn edge_object(edge: &DepsEdge) -> Value {
    json!({
        "from": edge.pred.to_string(),
        "to": edge.succ.to_string(),
        "source": edge.source.name(),
        "arg_index": edge.arg,
        "flags": edge.flags.map(flags),
        "overlap": overlap(edge),
        "consumer": edge.consumer.as_ref().map(view_object),
        "producer": edge.producer.as_ref().map(view_object),
    })
}

fn view_object(view: &View) -> Value {
    json!({
        "tensor_id": view.tensor_id.map(|id| id.to_string()),
        "dtype": view.dtype.map(|dtype| dtype.name()),
        "shape": view.shape,
        "start_offset": view.start_offset,
        "strides": view.strides,
    })
}
