//! What the reference recorded of a case, and how a run is held to it.
//!
//! Records are compared as a multiset, edges as a set. Order, offsets in files and addresses are free.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use argus_abi::{DType, EdgeReason, Kind, Stage};
use argus_dump::read::{Dump, Record, Scalar};
use argus_facts::Graph;
use serde_json::Value;

/// A record without what is free, as text, and the bytes of its tensor.
type Records = BTreeMap<(String, Vec<u8>), usize>;
type Edges = BTreeSet<(u64, u64, &'static str)>;

/// The records of a dump; of inputs without payloads, if those depend on when they were taken.
pub fn records(dump: &Dump, input_payloads: bool) -> Records {
    let mut records = Records::new();
    for record in dump.records() {
        let final_bytes = input_payloads || record.stage == Stage::AfterCompletion;
        let payload = if final_bytes && record.has_payload() {
            dump.payload(&record).unwrap().to_vec()
        } else {
            Vec::new()
        };
        *records.entry((key(&record), payload)).or_default() += 1;
    }
    records
}

fn key(record: &Record) -> String {
    let Record { task_id, arg_index, stage, role, kind, dtype, start_offset, contiguous, bin_size, .. } =
        record;
    let dtype = dtype.map_or("?", |dtype| dtype.name());
    let scalar = match kind {
        Kind::Scalar => value(record),
        Kind::Tensor => String::new(),
    };
    format!(
        "{task_id} {stage} {kind} {arg_index} {role} {dtype} {:?} strides {:?} at {start_offset} contiguous \
         {contiguous} {bin_size} bytes {scalar}",
        record.shape(),
        record.strides(),
    )
}

/// A scalar as the manifest of its generation shows it: August writes floats as decimals.
fn value(record: &Record) -> String {
    match record.scalar {
        Some(Scalar::Bits(bits)) if record.dtype == Some(DType::F32) => {
            f32::from_bits(bits as u32).to_string()
        }
        Some(Scalar::Rounded(value)) => value.to_string(),
        other => format!("{other:?}"),
    }
}

/// Each record once, where the reference wrote it once for every block.
pub fn once(records: Records) -> Records {
    records.into_keys().map(|key| (key, 1)).collect()
}

/// What is there in one and not in the other.
pub fn differences(recorded: &Records, ours: &Records) -> Vec<String> {
    let mut found = Vec::new();
    for (side, here, there) in [("missing", recorded, ours), ("extra", ours, recorded)] {
        for (key, &count) in here {
            let other = there.get(key).copied().unwrap_or(0);
            if count > other {
                found.push(format!(
                    "{side} {} x {} {:02x?}",
                    count - other,
                    key.0,
                    &key.1[..key.1.len().min(16)]
                ));
            }
        }
    }
    found
}

/// The edges of `deps.json`; `None` where the reference wrote none.
pub fn recorded_edges(directory: &Path) -> Option<Edges> {
    let text = fs::read_to_string(directory.join("deps.json")).ok()?;
    let file: Value = serde_json::from_str(&text).unwrap();
    let number = |value: &Value| match value {
        Value::String(text) => text.parse().unwrap(),
        other => other.as_u64().unwrap(),
    };
    let source =
        |name: &str| ["explicit", "creator", "tensormap"].into_iter().find(|known| *known == name).unwrap();
    let edges = file["edges"].as_array().unwrap().iter();
    Some(
        edges
            .map(|edge| {
                (number(&edge["pred"]), number(&edge["succ"]), source(edge["source"].as_str().unwrap()))
            })
            .collect(),
    )
}

/// Our edges in the reference's words. Of a graph within the graph the reference lists the outside only.
pub fn edges(graph: &Graph, has_inner_graphs: bool) -> Edges {
    let edges = graph.edges.iter().map(|edge| {
        let source = match edge.reason {
            EdgeReason::Explicit => "explicit",
            EdgeReason::Creator => "creator",
            EdgeReason::Overlap => "tensormap",
            EdgeReason::WriteAfterRead => "write after read",
        };
        (edge.from.raw(), edge.to.raw(), source)
    });
    edges.filter(|(from, to, _)| !has_inner_graphs || (*from | *to) >> 32 == 0).collect()
}
