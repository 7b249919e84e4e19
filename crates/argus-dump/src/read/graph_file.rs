//! graph.json: for dumps whose journal is gone, and to be held against a journal that is there.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use argus_abi::args::KernelAbi;
use argus_abi::{ArgDirection, CoreSet, CoreType, EdgeReason, MAX_CORES, TaskId, TaskState};
use argus_facts::{Edge, Graph, KernelInfo, TaskInfo};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use thiserror::Error;

use super::json::{Key, SeenKeys, Skip, Token, Wrong};
use crate::map::Bytes;

/// Nothing of ours nests deeper than four.
const DEEPEST: usize = 64;

/// Items after which pages of the file are let go of.
const LET_GO_EVERY: u32 = 1 << 16;

/// Why a graph cannot be understood.
#[derive(Debug, Error)]
pub(crate) enum GraphFileError {
    #[error("it nests deeper than {DEEPEST} levels")]
    TooDeep,
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Number `index` of the list of `what`.
    #[error("{what} {index}: found {found}; allowed is {allowed}")]
    Value { what: &'static str, index: usize, found: String, allowed: &'static str },
}

/// Something of a graph.
pub(crate) enum GraphItem {
    Kernel(KernelInfo),
    Task(TaskInfo),
    Edge(Edge),
}

/// Reads the text; the error says where it is wrong.
pub(crate) fn parse(text: &Bytes) -> Result<Graph, GraphFileError> {
    let (mut kernels, mut tasks, mut edges) = (Vec::new(), Vec::new(), Vec::new());
    walk(text, |item| match item {
        GraphItem::Kernel(kernel) => kernels.push(kernel),
        GraphItem::Task(task) => tasks.push(task),
        GraphItem::Edge(edge) => edges.push(edge),
    })?;
    Ok(Graph::new(kernels, tasks, edges))
}

/// Reads the text and gives out what it holds, item by item, so that it need not be in memory.
pub(crate) fn walk(text: &Bytes, mut take: impl FnMut(GraphItem)) -> Result<(), GraphFileError> {
    check_depth(text)?;
    let mut wrong = None;
    let mut count = 0u32;
    let mut take = |item| {
        count += 1;
        if count.is_multiple_of(LET_GO_EVERY) {
            text.let_go_of_all();
        }
        take(item);
    };
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let read = FileSeed { take: &mut take, wrong: &mut wrong }.deserialize(&mut deserializer);
    match (read.and_then(|()| deserializer.end()), wrong) {
        (Err(_), Some(wrong)) => Err(wrong),
        (Err(error), None) => Err(error.into()),
        (Ok(()), _) => Ok(()),
    }
}

/// The parser remembers every bracket of what it skips, so there must not be too many.
fn check_depth(text: &Bytes) -> Result<(), GraphFileError> {
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    for &byte in text.pieces().flatten() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                depth += 1;
                if depth > DEEPEST {
                    return Err(GraphFileError::TooDeep);
                }
            }
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

type Take<'s> = &'s mut dyn FnMut(GraphItem);

/// Reads the whole file.
struct FileSeed<'s> {
    take: Take<'s>,
    /// A value that cannot be.
    wrong: &'s mut Option<GraphFileError>,
}

impl<'de> DeserializeSeed<'de> for FileSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FileSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a graph in braces")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        const LISTS: &[(&str, &str)] = &[("kernels", "kernel"), ("tasks", "task"), ("edges", "edge")];
        let FileSeed { take, wrong } = self;
        let mut seen = SeenKeys::default();
        let mut missing = [true; LISTS.len()];
        while let Some(key) = map.next_key_seed(Key(LISTS, 0))? {
            let Some((place, what)) = key else {
                map.next_value::<Skip>()?;
                continue;
            };
            seen.first(place)?;
            missing[place] = false;
            let (take, wrong) = (&mut *take, &mut *wrong);
            match place {
                0 => map.next_value_seed(Items::<KernelText<'_>>::new(what, take, wrong))?,
                1 => map.next_value_seed(Items::<TaskText<'_>>::new(what, take, wrong))?,
                _ => map.next_value_seed(Items::<EdgeText<'_>>::new(what, take, wrong))?,
            }
        }
        match missing.iter().position(|&missing| missing) {
            Some(place) => Err(A::Error::missing_field(LISTS[place].0)),
            None => Ok(()),
        }
    }
}

/// An item as the file has it.
trait Text {
    fn understood(&self) -> Result<GraphItem, Wrong>;
}

/// Reads a list of items.
struct Items<'s, T> {
    what: &'static str,
    take: Take<'s>,
    wrong: &'s mut Option<GraphFileError>,
    item: PhantomData<T>,
}

impl<'s, T> Items<'s, T> {
    fn new(what: &'static str, take: Take<'s>, wrong: &'s mut Option<GraphFileError>) -> Items<'s, T> {
        Items { what, take, wrong, item: PhantomData }
    }
}

impl<'de, T: Text + Deserialize<'de>> DeserializeSeed<'de> for Items<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Text + Deserialize<'de>> Visitor<'de> for Items<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list, each item a {}", self.what)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let mut index = 0;
        while let Some(item) = seq.next_element::<T>()? {
            match item.understood() {
                Ok(item) => (self.take)(item),
                Err(Wrong { found, allowed }) => {
                    *self.wrong = Some(GraphFileError::Value { what: self.what, index, found, allowed });
                    return Err(A::Error::custom("a value cannot be"));
                }
            }
            index += 1;
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct KernelText<'a> {
    func_id: u32,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    core_type: Token<'a>,
    #[serde(borrow)]
    abi: Token<'a>,
    #[serde(borrow)]
    signature: Vec<Token<'a>>,
}

impl Text for KernelText<'_> {
    fn understood(&self) -> Result<GraphItem, Wrong> {
        let words = self.signature.iter();
        Ok(GraphItem::Kernel(KernelInfo {
            func_id: self.func_id,
            name: self.name.clone().into_owned(),
            core_type: self.core_type.word(CoreType::from_name, "\"aic\" or \"aiv\"")?,
            signature: words
                .map(|word| word.word(ArgDirection::from_name, "\"scalar\", \"in\", \"out\" or \"inout\""))
                .collect::<Result<_, _>>()?,
            abi: self.abi.word(KernelAbi::from_name, "\"tensor\" or \"raw\"")?,
        }))
    }
}

const CORES: &str = "cores from 0 to 255";
const _: () = assert!(MAX_CORES == 256);

#[derive(Deserialize)]
struct TaskText<'a> {
    #[serde(borrow)]
    task_id: Token<'a>,
    func_id: Vec<i32>,
    blocks: u32,
    cores: Vec<u16>,
    dispatch_order: Option<u64>,
    dispatched_ns: Option<u64>,
    finished_ns: Option<u64>,
    scope_depth: u32,
    tensors: u16,
    scalars: u16,
    #[serde(borrow)]
    state: Token<'a>,
}

impl Text for TaskText<'_> {
    fn understood(&self) -> Result<GraphItem, Wrong> {
        let mut cores = CoreSet::EMPTY;
        for &core in &self.cores {
            if !cores.insert(core.into()) {
                return Err(Wrong::new(core.to_string(), CORES));
            }
        }
        Ok(GraphItem::Task(TaskInfo {
            id: TaskId::from_raw(self.task_id.hex()?),
            func_ids: self.func_id.iter().copied().collect(),
            blocks: self.blocks,
            dispatch_order: self.dispatch_order,
            dispatched_ns: self.dispatched_ns.unwrap_or(0),
            finished_ns: self.finished_ns.unwrap_or(0),
            cores,
            scope_depth: self.scope_depth,
            tensors: self.tensors,
            scalars: self.scalars,
            state: self
                .state
                .word(TaskState::from_name, "\"completed\", \"running\", \"waiting\" or \"skipped\"")?,
        }))
    }
}

#[derive(Deserialize)]
struct EdgeText<'a> {
    #[serde(borrow)]
    from: Token<'a>,
    #[serde(borrow)]
    to: Token<'a>,
    #[serde(borrow)]
    reason: Token<'a>,
}

impl Text for EdgeText<'_> {
    fn understood(&self) -> Result<GraphItem, Wrong> {
        Ok(GraphItem::Edge(Edge {
            from: TaskId::from_raw(self.from.hex()?),
            to: TaskId::from_raw(self.to.hex()?),
            reason: self.reason.word(
                EdgeReason::from_name,
                "\"explicit\", \"creator\", \"overlap\" or \"write_after_read\"",
            )?,
        }))
    }
}
