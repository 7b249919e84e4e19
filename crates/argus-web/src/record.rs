//! One record: what it is, its values in tiles, and where the next remarkable element is.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use argus_abi::{DType, Kind};
use argus_dump::read::{Dump, Record};
use argus_text::object::{self, Values};
use argus_text::{Array, Histogram};
use serde_json::{Map, Value, json};

use crate::answer::{Answer, Content, Problem};
use crate::cells::Elements;
use crate::plane::Planes;
use crate::pyramid::{
    Base, Key, Made, Making, Of, Place, elements_of, extent, from_elements, in_base, is_quick,
};
use crate::session::Session;
use crate::shown::Shown;
use crate::table::TaskTable;

/// Bars of a histogram.
const BINS: usize = 64;
/// Bytes of a tensor whose statistics are computed while a page waits; those of a larger one are looked at in parts.
const LARGE: u64 = 256 << 20;

/// What kind of element is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    Nan,
    Inf,
    Wrong,
    Unwritten,
}

/// Everything about a record but its values, and what it can be compared with.
pub fn record(shown: &Shown, index: usize) -> Answer {
    let record = shown.record(index)?;
    let mut object = object(shown.dump(), &shown.tasks, &record);
    if record.kind == Kind::Tensor {
        object.insert("reference".into(), shown.judging.reference(shown, &record));
        object.insert("worst".into(), shown.judging.worst(&record));
    }
    Ok(Content::Json(object.into()))
}

/// Everything about a record but its values.
pub fn object(dump: &Dump, table: &TaskTable, record: &Record) -> Map<String, Value> {
    let large = record.bin_size > LARGE;
    let values = if large { Values::Untouched } else { Values::Summarised };
    let mut object = object::object(dump, record, values);
    let task = table.find(record.task_id);
    object.insert("task".into(), json!(task));
    object.insert("sibling".into(), json!(task.and_then(|task| sibling(dump, table, task, record))));
    if record.kind == Kind::Tensor {
        let planes = Planes::of(record.shape());
        object.insert("checked".into(), (!large).into());
        object.insert("planes".into(), json!(planes.map(|planes| planes.planes)));
        object.insert("rows".into(), json!(planes.map(|planes| planes.rows)));
        object.insert("cols".into(), json!(planes.map(|planes| planes.cols)));
        object.insert("levels".into(), json!(planes.map(|planes| planes.levels())));
        match bytes_of(dump, record) {
            Ok((dtype, payload)) => {
                let array = Array { dtype, payload };
                let elements = record.numel().unwrap_or(0);
                let histogram = if large { None } else { Histogram::new(&array, elements, BINS) };
                object.insert("histogram".into(), histogram.map_or(Value::Null, |found| bars(&found)));
            }
            Err(problem) => {
                object.insert("values_missing".into(), problem.message.into());
            }
        }
    }
    object
}

fn bars(histogram: &Histogram) -> Value {
    let bins = histogram.counts.len() as f64;
    // The difference of two finite numbers may overflow; parts of either never do.
    let edge = |at: usize| {
        let share = at as f64 / bins;
        histogram.min * (1.0 - share) + histogram.max * share
    };
    json!({
        "edges": (0..=histogram.counts.len()).map(edge).collect::<Vec<_>>(),
        "counts": histogram.counts,
    })
}

/// The same argument at the other stage.
fn sibling(dump: &Dump, table: &TaskTable, task: usize, record: &Record) -> Option<usize> {
    let others = table.records(task).iter().map(|&index| dump.record(index as usize));
    let mut others = others.filter(|other| {
        other.arg_index == record.arg_index && other.stage != record.stage && other.subtask == record.subtask
    });
    others.next().map(|other| other.index)
}

/// The bytes of a tensor and how they are read.
///
/// A payload that would take long to hash is shown as it lies there, and its record says that it is not checked.
pub fn bytes_of<'a>(dump: &'a Dump, record: &Record) -> Result<(DType, &'a [u8]), Problem> {
    let dtype = record.dtype.ok_or_else(|| Problem::nothing("the dtype of the record is unknown"))?;
    let payload = match record.bin_size > LARGE {
        true => dump.stored_payload(record),
        false => dump.payload(record),
    };
    payload.map(|payload| (dtype, payload)).map_err(|error| Problem::failed(&error))
}

/// Cells of a part of a plane.
pub fn tile(session: &Arc<Session>, shown: &Arc<Shown>, index: usize, place: Place, of: Of) -> Answer {
    let record = shown.record(index)?;
    let outside = || Problem::nothing("there is no such tile");
    let planes = Planes::of(record.shape()).filter(|_| record.kind == Kind::Tensor).ok_or_else(outside)?;
    extent(&planes, place).filter(|_| place.level < planes.levels()).ok_or_else(outside)?;
    let (dtype, payload) = bytes_of(shown.dump(), &record)?;
    let reference = match of {
        Of::Value => None,
        Of::Reference | Of::Difference => Some(shown.judging.expected(session, shown, &record)?),
    };
    let wanted = reference.as_ref().map(|bytes| &bytes[..]);
    let elements = match (of, wanted) {
        (Of::Reference, Some(wanted)) => Elements { dtype, payload: wanted, minus: None },
        (_, minus) => Elements { dtype, payload, minus },
    };
    if is_quick(&planes, place) || reference.is_some() {
        let made = session.front.install(|| from_elements(&elements, &planes, place));
        return made.map(|tile| Content::Columns(tile.columns())).ok_or_else(outside);
    }
    let alone = Some(place).filter(|place| !in_base(&planes, place.level));
    let key = Key { record: index, plane: place.plane, of, tile: alone };
    let all = alone.map_or(planes.elements, |place| elements_of(&planes, place));
    match shown.pyramids.get(key, all) {
        (Making::Done(made), _) => match &*made {
            Made::Base(base) => {
                base.tile(&planes, place).map(|tile| Content::Columns(tile.columns())).ok_or_else(outside)
            }
            Made::Tile(columns) => Ok(Content::Shared(columns.clone())),
        },
        (Making::Pending(done, all), first) => {
            if first {
                let (session, shown, done) = (Arc::clone(session), Arc::clone(shown), Arc::clone(&done));
                // The pool has threads of its own: this returns at once.
                let pool = Arc::clone(&session);
                pool.middle.spawn(move || make(&session, &shown, &record, &planes, key, &done));
            }
            Ok(Content::Pending(done.load(Ordering::Relaxed) as f64 / all.max(1) as f64))
        }
    }
}

/// Makes what was asked for, and keeps it.
fn make(
    session: &Session,
    shown: &Shown,
    record: &Record,
    planes: &Planes,
    key: Key,
    done: &std::sync::atomic::AtomicU64,
) {
    let made = bytes_of(shown.dump(), record).ok().and_then(|(dtype, payload)| {
        let elements = Elements { dtype, payload, minus: None };
        match key.tile {
            Some(place) => {
                from_elements(&elements, planes, place).map(|tile| Made::Tile(tile.columns().into()))
            }
            None => Base::new(&elements, planes, key.plane, done, &|| !session.is_stopped()).map(Made::Base),
        }
    });
    match made {
        Some(made) => shown.pyramids.keep(key, made),
        None => shown.pyramids.forget(key),
    }
}

/// The first element from a place on that is what is looked for.
pub fn next(session: &Session, shown: &Shown, index: usize, from: u64, wanted: Wanted) -> Answer {
    let record = shown.record(index)?;
    let (dtype, payload) = bytes_of(shown.dump(), &record)?;
    let elements = Elements { dtype, payload, minus: None };
    let all = record.numel().unwrap_or(0);
    let found = match wanted {
        Wanted::Wrong => shown.judging.next_wrong(&record, from),
        _ if !dtype.is_float() => None,
        _ => session.front.install(|| hunt(&elements, from..all, wanted)),
    };
    let place = found.filter(|&at| at < all).map(|at| coordinates(at, record.shape()));
    Ok(Content::Json(json!({ "element": found.filter(|&at| at < all), "index": place })))
}

/// Elements that one thread looks at before it asks whether another found one before.
const PIECE: u64 = 1 << 20;

fn hunt(elements: &Elements<'_>, range: std::ops::Range<u64>, wanted: Wanted) -> Option<u64> {
    use rayon::prelude::*;
    if range.is_empty() {
        return None;
    }
    let pieces = (range.end - range.start).div_ceil(PIECE);
    (0..pieces).into_par_iter().find_map_first(|piece| {
        let start = range.start + piece * PIECE;
        (start..(start + PIECE).min(range.end)).find(|&at| {
            elements.get(at).is_some_and(|(value, unwritten)| match wanted {
                Wanted::Nan => value.is_nan() && !unwritten,
                Wanted::Inf => value.is_infinite(),
                Wanted::Unwritten => unwritten,
                Wanted::Wrong => false,
            })
        })
    })
}

/// Where an element stands, by dimension.
pub fn coordinates(mut element: u64, shape: &[u64]) -> Vec<u64> {
    let mut index = vec![0; shape.len()];
    for (at, &extent) in shape.iter().enumerate().rev() {
        index[at] = element % extent.max(1);
        element /= extent.max(1);
    }
    index
}
