//! From values to the text of today, as the reference's viewers read it: one line, no spaces, wide numbers in strings.

use std::fmt::Write;

use super::read::arg_type_name;
use super::{Deps, DepsArg, DepsEdge, DepsTask, DepsTensor, EdgeSource, View};
use crate::json::list;

impl Deps {
    /// The text of a `deps.json`. Keys that an old file did not have are left out.
    pub fn text(&self) -> String {
        let mut text = String::from("{");
        if let Some(runtime) = self.runtime {
            _ = write!(text, "\"runtime\":\"{}\",", runtime.name());
        }
        text.push_str("\"tasks\":[");
        separated(&mut text, &self.tasks, task);
        text.push_str("],\"tensors\":[");
        separated(&mut text, &self.tensors, tensor);
        text.push_str("],\"edges\":[");
        separated(&mut text, &self.edges, edge);
        text.push_str("]}");
        text
    }
}

fn separated<T>(text: &mut String, items: &[T], one: fn(&mut String, &T)) {
    for (number, item) in items.iter().enumerate() {
        if number > 0 {
            text.push(',');
        }
        one(text, item);
    }
}

fn task(text: &mut String, task: &DepsTask) {
    let scope = if task.manual_scope { "manual" } else { "auto" };
    _ = write!(text, "{{\"task_id\":\"{}\",\"scope\":\"{scope}\"", task.id.raw());
    if let Some(early) = task.early_dispatch {
        _ = write!(text, ",\"early_dispatch\":{early}");
    }
    if let Some(ids) = task.kernel_ids {
        _ = write!(text, ",\"kernel_ids\":{}", list(&ids));
    }
    if let Some(blocks) = task.block_num {
        _ = write!(text, ",\"block_num\":{blocks}");
    }
    text.push_str(",\"args\":[");
    separated(text, &task.args, arg);
    text.push_str("]}");
}

fn arg(text: &mut String, arg: &DepsArg) {
    _ = write!(text, "{{\"idx\":{},\"type\":\"{}\"", arg.index, arg_type_name(arg.kind));
    if let Some(seen) = &arg.view {
        if let Some(id) = seen.tensor_id {
            _ = write!(text, ",\"tensor_id\":\"{id}\"");
        }
        view(text, "", seen);
    }
    text.push('}');
}

/// The keys of a region behind `prefix`.
fn view(text: &mut String, prefix: &str, view: &View) {
    if let Some(dtype) = view.dtype {
        _ = write!(text, ",\"{prefix}dtype\":\"{}\"", dtype.name());
    }
    _ = write!(text, ",\"{prefix}shape\":{}", list(&view.shape));
    if let Some(offset) = view.start_offset {
        _ = write!(text, ",\"{prefix}start_offset\":\"{offset}\"");
    }
    _ = write!(text, ",\"{prefix}strides\":{}", list(&view.strides));
}

fn tensor(text: &mut String, tensor: &DepsTensor) {
    let DepsTensor { id, address, version, .. } = tensor;
    _ = write!(text, "{{\"tensor_id\":\"{id}\",\"buffer_addr\":\"{address}\",\"version\":{version}");
    if let Some(dtype) = tensor.dtype {
        _ = write!(text, ",\"dtype\":\"{}\"", dtype.name());
    }
    if let Some(elements) = tensor.elements {
        _ = write!(text, ",\"buffer_numel\":\"{elements}\"");
    }
    text.push('}');
}

fn edge(text: &mut String, edge: &DepsEdge) {
    _ = write!(text, "{{\"pred\":\"{}\",\"succ\":\"{}\"", edge.pred.raw(), edge.succ.raw());
    _ = match edge.arg {
        Some(arg) => write!(text, ",\"arg\":{arg}"),
        None => write!(text, ",\"arg\":-1"),
    };
    if edge.source != EdgeSource::Unknown {
        _ = write!(text, ",\"source\":\"{}\"", edge.source.name());
    }
    if let Some(flags) = edge.flags {
        let words = [("\"wait\"", flags.wait), ("\"retain\"", flags.retain)];
        let words: Vec<&str> = words.iter().filter(|(_, set)| *set).map(|(word, _)| *word).collect();
        _ = write!(text, ",\"flags\":[{}]", words.join(","));
    }
    if let Some(covered) = edge.covered {
        _ = write!(text, ",\"overlap\":\"{}\"", if covered { "covered" } else { "other" });
    }
    if let Some(consumer) = &edge.consumer {
        if let Some(id) = consumer.tensor_id {
            _ = write!(text, ",\"tensor_id\":\"{id}\"");
        }
        view(text, "consumer_", consumer);
    }
    if let Some(producer) = &edge.producer {
        view(text, "producer_", producer);
    }
    text.push('}');
}
