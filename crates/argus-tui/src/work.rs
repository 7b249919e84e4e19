//! What takes too long for a frame, as questions and answers.
//!
//! A [`Wish`] is a question about the dump, a [`Finding`] its answer. [`grant`] is a function of both alone;
//! who calls it in which thread is the subject of `background`.

use argus_abi::{DType, Kind};
use argus_dump::read::Record;
use argus_dump::stats::{Accumulator, Statistics};
use argus_dump::summary::{Summary, summarise};
use argus_facts::number::{Number, is_unwritten};
use argus_text::{Array, Histogram};

use crate::heat::Heat;
use crate::index::Index;
use crate::nonfinite;
use crate::source::Source;
use crate::tensor::{Subject, Tensor};

/// Bytes of a task that are read to mark it in the list.
const MARKED: u64 = 64 << 20;
/// Bytes between two questions whether a finding is still wanted.
const PIECE: usize = 1 << 20;
/// Elements of a difference that its histogram looks at.
const SAMPLES: u64 = 1 << 20;

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wish {
    /// What became of the tasks; the first question takes long, so it is asked in time.
    States,
    /// Everything that can be counted.
    Summary(Subject),
    Histogram(Subject, usize),
    /// A plane in so many pixels.
    Heat {
        subject: Subject,
        plane: u64,
        width: u64,
        height: u64,
    },
    /// Smallest, largest, NaN and Inf of a record.
    Glance(usize),
    /// What to mark a task with.
    Marks(usize),
}

impl Wish {
    /// Whether it is about what the tensor pane shows.
    pub fn is_about_the_selection(&self) -> bool {
        matches!(self, Wish::Summary(_) | Wish::Histogram(..) | Wish::Heat { .. })
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub enum Finding {
    /// The dump says what became of its tasks, or does not.
    States {
        known: bool,
    },
    Summary(Summary),
    Change(Change),
    /// `None` if nothing is finite.
    Histogram(Option<Histogram>),
    Heat(Heat),
    Glance(Statistics),
    Marks(Marks),
    /// There is nothing to look at; why is told by [`Tensor::open`].
    Nothing,
}

/// What the list of tasks marks a task with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// An element that no instruction has written.
    pub unwritten: bool,
    pub nan: bool,
    pub inf: bool,
    /// Captured from a task that had not completed.
    pub partial: bool,
    /// Payload is truncated, overwritten or not where it should be.
    pub damaged: bool,
    /// Not everything was looked at.
    pub more: bool,
}

/// What a task did to an argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    pub elements: u64,
    pub changed: u64,
    /// Largest finite difference either way, and its element.
    pub largest: Option<(f64, u64)>,
    /// Of finite differences, regardless of their sign.
    pub mean: Option<f64>,
    /// Finite before and not after, or the other way round.
    pub not_finite: u64,
}

/// Answers a wish; `None` if it is no longer wanted.
pub fn grant(source: &dyn Source, index: &Index, wish: Wish, wanted: &dyn Fn() -> bool) -> Option<Finding> {
    match wish {
        Wish::States => Some(Finding::States { known: source.state(index.id(0)).is_some() }),
        Wish::Glance(record) => glance(source, &source.record(record), wanted),
        Wish::Marks(task) => marks(source, index, task, wanted).map(Finding::Marks),
        Wish::Summary(subject) => with(source, subject, |tensor| {
            if tensor.is_difference() {
                return change(tensor, wanted).map(Finding::Change);
            }
            Some(Finding::Summary(summarise(tensor.dtype, tensor.elements, tensor.payload)))
        }),
        Wish::Histogram(subject, bins) => {
            with(source, subject, |tensor| Some(Finding::Histogram(histogram(tensor, bins))))
        }
        Wish::Heat { subject, plane, width, height } => {
            with(source, subject, |tensor| Heat::new(tensor, plane, width, height, wanted).map(Finding::Heat))
        }
    }
}

fn with(
    source: &dyn Source,
    subject: Subject,
    look: impl FnOnce(&Tensor<'_>) -> Option<Finding>,
) -> Option<Finding> {
    match Tensor::open(source, subject) {
        Ok(tensor) => look(&tensor),
        Err(_) => Some(Finding::Nothing),
    }
}

fn glance(source: &dyn Source, record: &Record, wanted: &dyn Fn() -> bool) -> Option<Finding> {
    let (Some(dtype), Ok(payload)) = (record.dtype, source.payload(record)) else {
        return Some(Finding::Nothing);
    };
    let mut statistics = Accumulator::new(dtype, record.numel().unwrap_or(u64::MAX));
    for piece in payload.chunks(PIECE) {
        if !wanted() {
            return None;
        }
        statistics.update(piece);
    }
    Some(Finding::Glance(statistics.finish()))
}

fn marks(source: &dyn Source, index: &Index, task: usize, wanted: &dyn Fn() -> bool) -> Option<Marks> {
    let mut marks = Marks::default();
    let mut room = MARKED;
    for place in index.places_of(task) {
        let record = source.record(index.record(place));
        marks.partial |= record.partial;
        marks.damaged |= record.truncated || record.overwritten;
        if record.kind == Kind::Scalar || (marks.nan && marks.inf) {
            continue;
        }
        if let Some(statistics) = record.statistics {
            marks.nan |= statistics.nan > 0;
            marks.inf |= statistics.inf > 0;
            continue;
        }
        match source.payload(&record) {
            Ok(payload) if payload.len() as u64 > room => marks.more = true,
            Ok(payload) => {
                room -= payload.len() as u64;
                look_for_marks(&record, payload, &mut marks, wanted)?;
            }
            Err(_) => marks.damaged |= record.bin_size > 0,
        }
        if !wanted() {
            return None;
        }
    }
    Some(marks)
}

/// Marks what is in a payload; `None` if it is no longer wanted.
fn look_for_marks(
    record: &Record,
    payload: &[u8],
    marks: &mut Marks,
    wanted: &dyn Fn() -> bool,
) -> Option<()> {
    let Some(dtype) = record.dtype.filter(|dtype| dtype.is_float()) else { return Some(()) };
    for piece in payload.chunks(PIECE) {
        if !wanted() {
            return None;
        }
        if nonfinite::any(dtype, piece) {
            let elements = (piece.len() / dtype.size()) as u64;
            let array = Array { dtype, payload: piece };
            for value in (0..elements).filter_map(|index| array.get(index)) {
                let unwritten = is_unwritten(dtype, value);
                let value = value.as_f64();
                marks.unwritten |= unwritten;
                marks.nan |= value.is_nan() && !unwritten;
                marks.inf |= value.is_infinite();
            }
        }
        if marks.nan && marks.inf {
            break;
        }
    }
    Some(())
}

fn change(tensor: &Tensor<'_>, wanted: &dyn Fn() -> bool) -> Option<Change> {
    let elements = tensor.present();
    let mut change = Change { elements, changed: 0, largest: None, mean: None, not_finite: 0 };
    let mut sum = 0.0;
    for index in 0..elements {
        if index % (1 << 16) == 0 && !wanted() {
            return None;
        }
        let Some(value) = tensor.get(index).map(Number::as_f64) else { continue };
        change.changed += u64::from(value != 0.0);
        if !value.is_finite() {
            change.not_finite += 1;
            continue;
        }
        sum += value.abs();
        if change.largest.is_none_or(|(largest, _)| value.abs() > largest.abs()) {
            change.largest = Some((value, index));
        }
    }
    let finite = elements - change.not_finite;
    change.mean = (finite > 0).then(|| sum / finite as f64);
    Some(change)
}

fn histogram(tensor: &Tensor<'_>, bins: usize) -> Option<Histogram> {
    if !tensor.is_difference() {
        let array = Array { dtype: tensor.dtype, payload: tensor.payload };
        return Histogram::new(&array, tensor.present(), bins);
    }
    // Differences are nowhere in memory yet; as bars, f32 are exact enough.
    let step = tensor.present().div_ceil(SAMPLES).max(1);
    let samples: Vec<u8> = (0..tensor.present().div_ceil(step))
        .filter_map(|turn| tensor.get(turn * step))
        .flat_map(|value| (value.as_f64() as f32).to_le_bytes())
        .collect();
    let elements = (samples.len() / 4) as u64;
    let array = Array { dtype: DType::F32, payload: &samples };
    Histogram::new(&array, elements, bins)
}
