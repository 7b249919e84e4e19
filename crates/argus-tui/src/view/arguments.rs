//! The arguments of the selected task: what each is, and its values at one glance.

use argus_abi::{DType, Kind};
use argus_dump::read::Record;
use argus_dump::stats::Statistics;
use argus_text::{UNWRITTEN, record};
use ratatui::Frame;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{Look, border, cut, focused, put};
use crate::layout::{Pane, PaneArea};
use crate::state::State;
use crate::work::{Finding, Wish};

/// In narrower panes values are worth more than bytes, which follow from dtype and shape.
const BYTES: u16 = 60;

/// A row before it is laid out.
struct Row {
    stage: &'static str,
    role: &'static str,
    argument: String,
    dtype: &'static str,
    shape: String,
    bytes: String,
    values: String,
    alarming: bool,
}

pub fn draw(state: &State, look: Look, place: PaneArea, frame: &mut Frame<'_>) {
    let count = state.argument_count();
    let in_focus = focused(state, Pane::Arguments);
    let mut title = " Arguments ".to_owned();
    if count > 0 {
        let task = state.task();
        title += &format!("of {} {} ", state.index.id(task), state.index.kernels(task));
    }
    let more = if count > 0 { format!(" {} of {count} ", state.arguments.at + 1) } else { String::new() };
    border(place, Line::from(title), Line::from(more), in_focus, look, frame);
    let visible = usize::from(place.inner.height.saturating_sub(1));
    let rows: Vec<Row> = (state.arguments.top..count.min(state.arguments.top + visible))
        .filter_map(|at| state.argument_in(at))
        .map(|record| Row::new(state, &record))
        .collect();
    let widest =
        |width: fn(&Row) -> usize, name: &str| rows.iter().map(width).max().unwrap_or(0).max(name.len());
    let argument = widest(|row| row.argument.len(), "ARG");
    let shape = widest(|row| row.shape.len(), "SHAPE").min(24);
    let bytes = widest(|row| row.bytes.len(), "BYTES");
    let layout = |stage: &str, role: &str, arg: &str, dtype: &str, view: &str, size: &str| {
        let view = cut(view, shape);
        let size = if place.inner.width < BYTES { String::new() } else { format!("{size:>bytes$}  ") };
        format!("{stage:<6} {role:<6} {arg:>argument$} {dtype:<9} {view:<shape$} {size}")
    };
    let names = layout("STAGE", "ROLE", "ARG", "DTYPE", "SHAPE", "BYTES");
    put(frame, place.inner, 0, Line::styled(format!(" {names}VALUES"), look.strong()));
    for (offset, row) in rows.iter().enumerate() {
        let selected = state.arguments.top + offset == state.arguments.at;
        let mut line = Line::from(vec![
            Span::raw(if selected { ">" } else { " " }),
            Span::raw(layout(row.stage, row.role, &row.argument, row.dtype, &row.shape, &row.bytes)),
            Span::styled(row.values.as_str(), if row.alarming { look.alarm() } else { Style::new() }),
        ]);
        if selected {
            line = line.style(look.selected(in_focus));
        }
        put(frame, place.inner, offset as u16 + 1, line);
    }
}

impl Row {
    fn new(state: &State, record: &Record) -> Row {
        let mut alarming = false;
        let mut values = Vec::new();
        if record.kind == Kind::Scalar {
            values.push(record::scalar(record));
        } else if let Some(statistics) = state.glance(record) {
            alarming = statistics.nan + statistics.inf > 0;
            values.push(glance(record.dtype, &statistics));
        } else if let Some(Finding::Nothing) = state.finding(&Wish::Glance(record.index)) {
            // The remarks below, and the tensor pane, say why.
        } else {
            values.push("…".to_owned());
        }
        values.extend(record::remarks(record).map(str::to_owned));
        let ambiguous = if record.ambiguous_index { "?" } else { "" };
        let bytes = record.bin_size.max(record.logical_bytes.unwrap_or(0));
        Row {
            stage: record::stage(record.stage),
            role: record.role.name(),
            argument: format!("{}{ambiguous}", record.arg_index),
            dtype: record::dtype(record),
            shape: record::shape(record),
            bytes: if record.kind == Kind::Scalar { String::new() } else { bytes.to_string() },
            values: values.join(", "),
            alarming,
        }
    }
}

/// `-1.5 … 2. NaN 3`
fn glance(dtype: Option<DType>, statistics: &Statistics) -> String {
    let dtype = dtype.unwrap_or(DType::F32);
    let mut parts = Vec::new();
    match (statistics.min, statistics.max) {
        (Some(min), Some(max)) if min == max => parts.push(format!("all {}", argus_text::number(dtype, min))),
        (Some(min), Some(max)) => {
            parts.push(format!("{} … {}", argus_text::number(dtype, min), argus_text::number(dtype, max)));
        }
        _ => {}
    }
    let (unwritten, nan) = (statistics.unwritten, statistics.nan - statistics.unwritten);
    for (name, count) in [(UNWRITTEN, unwritten), ("NaN", nan), ("Inf", statistics.inf)] {
        if count > 0 {
            parts.push(format!("{name} {count}"));
        }
    }
    parts.join(" ")
}
