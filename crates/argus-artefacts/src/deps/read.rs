//! From text to values, for every age of the file.

use std::borrow::Cow;
use std::fmt;

use argus_abi::{DType, MAX_DIMS, RuntimeKind, TaskId, TensorArgType};
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use super::{Deps, DepsArg, DepsEdge, DepsTask, DepsTensor, EdgeSource, Flags, View};
use crate::ArtefactError;
use crate::json::{self, Wide};

impl Deps {
    /// Reads the text of a `deps.json`.
    pub fn parse(text: &[u8]) -> Result<Deps, ArtefactError> {
        let file: File<'_> = json::parse(text)?;
        let Some(edges) = file.edges else {
            return Err(ArtefactError::Kind { expected: "a graph", lack: "it has no list of edges" });
        };
        let runtime = match file.runtime {
            Some(name) => Some(RuntimeKind::by_name(&name).ok_or_else(|| {
                let allowed = "\"tensormap_and_ringbuffer\" or \"host_build_graph\"";
                ArtefactError::value("the file", None, "runtime", json::quoted(&name), allowed)
            })?),
            None => None,
        };
        let tasks = file.tasks.unwrap_or_default().into_iter().enumerate();
        let tensors = file.tensors.unwrap_or_default().into_iter();
        let edges = edges.into_iter().enumerate();
        Ok(Deps {
            runtime,
            tasks: tasks.map(|(index, task)| task.understood(index)).collect::<Result<_, _>>()?,
            tensors: tensors.map(TensorText::understood).collect(),
            edges: edges.map(|(index, edge)| edge.understood(index)).collect::<Result<_, _>>()?,
        })
    }
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    runtime: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tasks: Option<Vec<TaskText<'a>>>,
    #[serde(borrow)]
    tensors: Option<Vec<TensorText<'a>>>,
    #[serde(borrow)]
    edges: Option<Vec<EdgeText<'a>>>,
}

#[derive(Deserialize)]
struct TaskText<'a> {
    task_id: Wide,
    #[serde(borrow)]
    scope: Option<Cow<'a, str>>,
    early_dispatch: Option<bool>,
    kernel_ids: Option<[i32; 3]>,
    block_num: Option<u32>,
    #[serde(borrow, default)]
    args: Vec<ArgText<'a>>,
}

impl TaskText<'_> {
    fn understood(self, index: usize) -> Result<DepsTask, ArtefactError> {
        let manual_scope = match self.scope.as_deref() {
            None | Some("auto") => false,
            Some("manual") => true,
            Some(other) => {
                let found = json::quoted(other);
                return Err(ArtefactError::value("task", index, "scope", found, "\"auto\" or \"manual\""));
            }
        };
        if self.block_num == Some(0) {
            return Err(ArtefactError::value("task", index, "block_num", 0, "1 or more"));
        }
        let args = self.args.into_iter().map(|arg| arg.understood(index));
        Ok(DepsTask {
            id: TaskId::from_raw(self.task_id.0),
            manual_scope,
            early_dispatch: self.early_dispatch,
            kernel_ids: self.kernel_ids,
            block_num: self.block_num,
            args: args.collect::<Result<_, _>>()?,
        })
    }
}

const ARG_TYPES: &[(&str, TensorArgType)] = &[
    ("INPUT", TensorArgType::Input),
    ("OUTPUT", TensorArgType::Output),
    ("INOUT", TensorArgType::Inout),
    ("OUTPUT_EXISTING", TensorArgType::OutputExisting),
    ("NO_DEP", TensorArgType::NoDep),
];

/// How the file spells the way in which a task uses a tensor.
pub(super) fn arg_type_name(kind: TensorArgType) -> &'static str {
    ARG_TYPES.iter().find(|(_, known)| *known == kind).map_or("INPUT", |(name, _)| name)
}

#[derive(Deserialize)]
struct ArgText<'a> {
    idx: u32,
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    tensor_id: Option<Wide>,
    #[serde(borrow)]
    dtype: Option<Cow<'a, str>>,
    shape: Option<Vec<u64>>,
    #[serde(default)]
    start_offset: Option<Wide>,
    strides: Option<Vec<u64>>,
}

impl ArgText<'_> {
    fn understood(self, task: usize) -> Result<DepsArg, ArtefactError> {
        let known = ARG_TYPES.iter().find(|(name, _)| *name == self.kind);
        let Some(&(_, kind)) = known else {
            let allowed = "\"INPUT\", \"OUTPUT\", \"INOUT\", \"OUTPUT_EXISTING\" or \"NO_DEP\"";
            return Err(ArtefactError::value("task", task, "args[].type", json::quoted(&self.kind), allowed));
        };
        let view = match self.tensor_id {
            None => None,
            Some(id) => {
                Some(view("task", task, Some(id), self.dtype, self.shape, self.start_offset, self.strides)?)
            }
        };
        Ok(DepsArg { index: self.idx, kind, view })
    }
}

fn view(
    what: &'static str,
    index: usize,
    tensor_id: Option<Wide>,
    dtype: Option<Cow<'_, str>>,
    shape: Option<Vec<u64>>,
    start_offset: Option<Wide>,
    strides: Option<Vec<u64>>,
) -> Result<View, ArtefactError> {
    let shape = shape.unwrap_or_default();
    if shape.len() > MAX_DIMS {
        return Err(ArtefactError::value(
            what,
            index,
            "shape",
            json::list(&shape),
            "at most five dimensions",
        ));
    }
    let strides = strides.unwrap_or_default();
    if !strides.is_empty() && strides.len() != shape.len() {
        return Err(ArtefactError::value(
            what,
            index,
            "strides",
            json::list(&strides),
            "one for each dimension",
        ));
    }
    Ok(View {
        tensor_id: tensor_id.map(|id| id.0),
        // A type of a later time is not known, as in the dump itself.
        dtype: dtype.and_then(|name| DType::from_name(&name)),
        shape,
        start_offset: start_offset.map(|offset| offset.0),
        strides,
    })
}

#[derive(Deserialize)]
struct TensorText<'a> {
    tensor_id: Wide,
    buffer_addr: Wide,
    #[serde(default)]
    version: u32,
    #[serde(borrow)]
    dtype: Option<Cow<'a, str>>,
    buffer_numel: Option<Wide>,
}

impl TensorText<'_> {
    fn understood(self) -> DepsTensor {
        DepsTensor {
            id: self.tensor_id.0,
            address: self.buffer_addr.0,
            version: self.version,
            dtype: self.dtype.and_then(|name| DType::from_name(&name)),
            elements: self.buffer_numel.map(|elements| elements.0),
        }
    }
}

/// A pair of numbers in the first form of the file, an object since.
enum EdgeText<'a> {
    Pair(Wide, Wide),
    Object(Box<EdgeObject<'a>>),
}

impl<'de: 'a, 'a> Deserialize<'de> for EdgeText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<EdgeText<'a>, D::Error> {
        deserializer.deserialize_any(EdgeVisitor)
    }
}

struct EdgeVisitor;

impl<'de> Visitor<'de> for EdgeVisitor {
    type Value = EdgeText<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an edge: an object, or two numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, pair: A) -> Result<EdgeText<'de>, A::Error> {
        let (pred, succ) = <(Wide, Wide)>::deserialize(SeqAccessDeserializer::new(pair))?;
        Ok(EdgeText::Pair(pred, succ))
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<EdgeText<'de>, A::Error> {
        EdgeObject::deserialize(MapAccessDeserializer::new(object))
            .map(|edge| EdgeText::Object(Box::new(edge)))
    }
}

#[derive(Deserialize)]
struct EdgeObject<'a> {
    pred: Wide,
    succ: Wide,
    arg: Option<i64>,
    #[serde(borrow)]
    source: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "flags")]
    flags: Option<Flags>,
    #[serde(borrow)]
    overlap: Option<Cow<'a, str>>,
    tensor_id: Option<Wide>,
    #[serde(borrow)]
    consumer_dtype: Option<Cow<'a, str>>,
    consumer_shape: Option<Vec<u64>>,
    consumer_start_offset: Option<Wide>,
    consumer_strides: Option<Vec<u64>>,
    producer_shape: Option<Vec<u64>>,
    producer_start_offset: Option<Wide>,
    producer_strides: Option<Vec<u64>>,
}

/// Words that are not known are of a later age and are left out.
fn flags<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Flags>, D::Error> {
    let words = Option::<Vec<String>>::deserialize(deserializer)?;
    Ok(words.map(|words| Flags {
        wait: words.iter().any(|word| word == "wait"),
        retain: words.iter().any(|word| word == "retain"),
    }))
}

impl EdgeText<'_> {
    fn understood(self, index: usize) -> Result<DepsEdge, ArtefactError> {
        let edge = match self {
            EdgeText::Pair(pred, succ) => {
                let ids = (TaskId::from_raw(pred.0), TaskId::from_raw(succ.0));
                return Ok(DepsEdge::new(ids.0, ids.1, EdgeSource::Unknown));
            }
            EdgeText::Object(edge) => *edge,
        };
        let source = match &edge.source {
            None => EdgeSource::Unknown,
            Some(name) => EdgeSource::from_name(name).ok_or_else(|| {
                let allowed = "\"explicit\", \"creator\" or \"tensormap\"";
                ArtefactError::value("edge", index, "source", json::quoted(name), allowed)
            })?,
        };
        let covered = match edge.overlap.as_deref() {
            None => None,
            Some("covered") => Some(true),
            Some(_) => Some(false),
        };
        let arg = match edge.arg {
            None | Some(-1) => None,
            Some(arg) => Some(u32::try_from(arg).map_err(|_| {
                ArtefactError::value("edge", index, "arg", arg, "an argument's number, or -1")
            })?),
        };
        let consumer = match (&edge.consumer_shape, edge.tensor_id) {
            (None, None) => None,
            _ => Some(view(
                "edge",
                index,
                edge.tensor_id,
                edge.consumer_dtype,
                edge.consumer_shape,
                edge.consumer_start_offset,
                edge.consumer_strides,
            )?),
        };
        let producer = match edge.producer_shape {
            None => None,
            shape => Some(view(
                "edge",
                index,
                None,
                None,
                shape,
                edge.producer_start_offset,
                edge.producer_strides,
            )?),
        };
        Ok(DepsEdge {
            pred: TaskId::from_raw(edge.pred.0),
            succ: TaskId::from_raw(edge.succ.0),
            arg,
            source,
            flags: edge.flags,
            covered,
            consumer,
            producer,
        })
    }
}
