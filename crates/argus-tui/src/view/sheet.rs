//! The tensor pane: values, heat map, histogram or statistics of what is selected.

use argus_abi::{DType, Kind};
use argus_dump::read::Record;
use argus_dump::stats::Statistics;
use argus_facts::with_causes;
use argus_text::record;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

use super::picture;
use super::{Look, border, counted, focused, put};
use crate::grid::{Grid, cell, exact, row_label};
use crate::layout::{Layout, Pane};
use crate::state::{BARS, Mode, State};
use crate::tensor::{Subject, Tensor};
use crate::work::{Change, Finding, Wish};

/// Width of a pane whose border has room for the names of all modes.
const ALL_MODES: u16 = 62;

pub fn draw(state: &State, look: Look, layout: &Layout, frame: &mut Frame<'_>) {
    let Some(subject) = state.subject() else {
        border(
            layout.tensor,
            Line::from(" Tensor "),
            Line::default(),
            focused(state, Pane::Tensor),
            look,
            frame,
        );
        return;
    };
    let record = state.source.record(subject.record());
    border(
        layout.tensor,
        Line::from(title(subject, &record)),
        modes(state.mode, look, layout.tensor.outer.width),
        focused(state, Pane::Tensor),
        look,
        frame,
    );
    let inner = layout.tensor.inner;
    if record.kind == Kind::Scalar {
        put(frame, inner, 0, Line::from(format!("{} {}", record::dtype(&record), record::scalar(&record))));
        return;
    }
    let tensor = match Tensor::open(&*state.source, subject) {
        Ok(tensor) => tensor,
        Err(error) => {
            let text = Paragraph::new(format!("no values: {}", with_causes(&error))).style(look.note());
            frame.render_widget(text.wrap(Wrap { trim: true }), inner);
            if let (Subject::Record(_), Some(statistics)) = (subject, record.statistics) {
                recorded(&record, &statistics, look, below(inner, 3), frame);
            }
            return;
        }
    };
    let sheet = layout.sheet();
    if sheet != inner {
        put(frame, inner, 0, facts(state, &record, &tensor, look));
        put(frame, inner, inner.height - 1, under_cursor(state, &tensor, look));
    }
    match state.mode {
        _ if tensor.elements == 0 => put(frame, sheet, 0, Line::from("a tensor without elements")),
        Mode::Values => values(state, &tensor, look, sheet, frame),
        Mode::Heat => match state.heat() {
            Some(heat) => picture::draw(state, heat, look, sheet, frame),
            None => waiting(look, sheet, frame),
        },
        Mode::Histogram => match state.finding(&Wish::Histogram(subject, state.bins())) {
            Some(Finding::Histogram(Some(histogram))) => {
                bars(histogram.min, histogram.max, &histogram.counts, sheet, frame);
            }
            Some(_) => put(frame, sheet, 0, Line::styled("no finite value", look.note())),
            None => waiting(look, sheet, frame),
        },
        Mode::Statistics => statistics(state, subject, &tensor, look, sheet, frame),
    }
}

fn waiting(look: Look, area: Rect, frame: &mut Frame<'_>) {
    put(frame, area, 0, Line::styled("looking …", look.dim()));
}

fn title(subject: Subject, record: &Record) -> String {
    let stage = match subject {
        Subject::Record(_) => record::stage(record.stage),
        Subject::Difference { .. } => "after - before",
    };
    format!(" {stage} {} {} ", record.role, record.arg_index)
}

/// The modes, the current one in brackets; where there is no room only that.
fn modes(current: Mode, look: Look, width: u16) -> Line<'static> {
    if width < ALL_MODES {
        return Line::styled(format!("[{}]", current.word()), look.strong());
    }
    let word = |mode: Mode| match mode == current {
        true => Span::styled(format!("[{}]", mode.word()), look.strong()),
        false => Span::styled(format!(" {} ", mode.word()), look.dim()),
    };
    Line::from(Mode::ALL.map(word).to_vec())
}

/// What this is, which plane of it, and what must be known before the values are believed.
fn facts(state: &State, record: &Record, tensor: &Tensor<'_>, look: Look) -> Line<'static> {
    let mut spans = vec![Span::raw(format!("{} {}  ", record::dtype(record), record::shape(record)))];
    let count = tensor.plane.count;
    if count > 1 {
        let plane = state.sheet.plane;
        let text = tensor.plane_text(plane);
        spans.push(Span::raw(format!("plane {text}, {} of {}  ", counted(plane + 1), counted(count))));
    }
    let mut warnings: Vec<String> = record::remarks(record).map(str::to_owned).collect();
    if tensor.raw {
        warnings.push("the dtype is unknown: these are bytes".to_owned());
    }
    if tensor.present() < tensor.elements {
        let (present, all) = (counted(tensor.present()), counted(tensor.elements));
        warnings.push(format!("only {present} of {all} elements are there"));
    }
    if !warnings.is_empty() {
        spans.push(Span::styled(warnings.join(", "), look.note()));
    }
    Line::from(spans)
}

/// `[3, 4] = 0.25`, the element under the cursor.
fn under_cursor(state: &State, tensor: &Tensor<'_>, look: Look) -> Line<'static> {
    let sheet = state.sheet;
    let Some(index) = tensor.number(sheet.plane, sheet.row, sheet.column) else { return Line::default() };
    let place = tensor.index_text(index);
    let Some(value) = tensor.get(index) else {
        return Line::styled(format!("{place} is not in the payload"), look.note());
    };
    let style = if value.as_f64().is_finite() { look.strong() } else { look.alarm() };
    let mut spans = vec![Span::raw(format!("{place} = ")), Span::styled(exact(tensor.dtype, value), style)];
    if state.mode == Mode::Heat
        && let Some(heat) = state.heat()
    {
        let (x, y) = heat.pixel_of(sheet.row, sheet.column);
        let (rows, columns) = (heat.rows_of(y), heat.columns_of(x));
        let together = (rows.end - rows.start) * (columns.end - columns.start);
        if let Some(pixel) = heat.pixel(x, y).filter(|pixel| together > 1 && pixel.min <= pixel.max) {
            let (min, max) = (argus_text::float(pixel.min, 6), argus_text::float(pixel.max, 6));
            spans.push(Span::raw(format!(
                "   rows {}..{}, columns {}..{}: {min} … {max}",
                rows.start, rows.end, columns.start, columns.end
            )));
        }
    }
    Line::from(spans)
}

fn values(state: &State, tensor: &Tensor<'_>, look: Look, area: Rect, frame: &mut Frame<'_>) {
    let grid = Grid::new(tensor, area);
    let sheet = state.sheet;
    let (label, width) = (usize::from(grid.label), usize::from(grid.cell));
    let columns = sheet.left..tensor.plane.columns.min(sheet.left.saturating_add(grid.columns.max(1)));
    let mut numbers = " ".repeat(label);
    for column in columns.clone() {
        numbers.push_str(&format!(" {column:>width$}"));
    }
    put(frame, area, 0, Line::styled(numbers, look.dim()));
    for offset in 0..grid.rows {
        let row = sheet.top + offset;
        if row >= tensor.plane.rows {
            break;
        }
        let mut spans = vec![Span::styled(format!("{:>label$}", row_label(tensor, row)), look.dim())];
        for column in columns.clone() {
            let Some(index) = tensor.number(sheet.plane, row, column) else { break };
            let value = tensor.get(index);
            let calm = value.is_some_and(|value| value.as_f64().is_finite());
            let mut style = if calm { Style::new() } else { look.alarm() };
            if (row, column) == (sheet.row, sheet.column) {
                style = style.patch(look.selected(focused(state, Pane::Tensor)));
            }
            spans.push(Span::raw(" "));
            spans.push(Span::styled(format!("{:>width$}", cell(tensor.dtype, value, grid.cell)), style));
        }
        put(frame, area, offset as u16 + 1, Line::from(spans));
    }
}

fn bars(min: f64, max: f64, counts: &[u64], area: Rect, frame: &mut Frame<'_>) {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let border = |index: usize| {
        let share = index as f64 / counts.len() as f64;
        argus_text::float(min * (1.0 - share) + max * share, 4)
    };
    let labels: Vec<String> = if min == max {
        vec![argus_text::float(min, 4)]
    } else {
        (0..counts.len()).map(|index| format!("{} … {}", border(index), border(index + 1))).collect()
    };
    let width = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let number = counted(most).len();
    let room = usize::from(area.width).saturating_sub(width + number + 3);
    for (row, (label, &count)) in labels.iter().zip(counts).enumerate() {
        let mut eighths = (count as f64 / most as f64 * (room * 8) as f64).round() as usize;
        if count > 0 {
            eighths = eighths.max(1);
        }
        let mut bar = "█".repeat(eighths / 8);
        if !eighths.is_multiple_of(8) {
            bar.push(EIGHTHS[eighths % 8]);
        }
        let line = format!("{label:>width$} │{bar} {}", counted(count));
        put(frame, area, u16::try_from(row).unwrap_or(u16::MAX), Line::from(line));
    }
}

fn statistics(
    state: &State,
    subject: Subject,
    tensor: &Tensor<'_>,
    look: Look,
    area: Rect,
    frame: &mut Frame<'_>,
) {
    let mut lines: Vec<(&str, String, bool)> = match state.finding(&Wish::Summary(subject)) {
        Some(Finding::Summary(summary)) => {
            let number =
                |value: Option<_>| value.map_or("none".to_owned(), |value| exact(tensor.dtype, value));
            let float = |value: Option<f64>| value.map_or("none".to_owned(), |value| format!("{value:?}"));
            vec![
                ("elements", counted(summary.count), false),
                ("min", number(summary.min), false),
                ("max", number(summary.max), false),
                ("largest |x|", number(summary.abs_max), false),
                ("mean", float(summary.mean), false),
                ("std", float(summary.std), false),
                ("zeros", counted(summary.zero), false),
                ("unwritten", counted(summary.unwritten), summary.unwritten > 0),
                ("NaN", counted(summary.written_nan()), summary.written_nan() > 0),
                ("+Inf", counted(summary.positive_inf), summary.positive_inf > 0),
                ("-Inf", counted(summary.negative_inf), summary.negative_inf > 0),
                ("subnormal", counted(summary.subnormal), false),
                ("distinct", summary.distinct.to_string(), false),
            ]
        }
        Some(Finding::Change(change)) => changes(tensor, change),
        Some(_) => Vec::new(),
        None => {
            waiting(look, area, frame);
            return;
        }
    };
    if let Some(Finding::Histogram(Some(histogram))) = state.finding(&Wish::Histogram(subject, BARS)) {
        lines.push(("histogram", histogram.line(), false));
    }
    put_all(frame, area, look, lines);
}

/// Statistics that were recorded instead of the payload.
fn recorded(record: &Record, statistics: &Statistics, look: Look, area: Rect, frame: &mut Frame<'_>) {
    let dtype = record.dtype.unwrap_or(DType::F32);
    let number = |value: Option<_>| value.map_or("none".to_owned(), |value| exact(dtype, value));
    let lines = vec![
        ("min", number(statistics.min), false),
        ("max", number(statistics.max), false),
        ("mean", statistics.mean.map_or("none".to_owned(), |mean| format!("{mean:?}")), false),
        ("zeros", counted(statistics.zero), false),
        ("NaN", counted(statistics.nan), statistics.nan > 0),
        ("Inf", counted(statistics.inf), statistics.inf > 0),
    ];
    put_all(frame, area, look, lines);
}

/// Names and values below each other; what is alarming stands out.
fn put_all(frame: &mut Frame<'_>, area: Rect, look: Look, lines: Vec<(&str, String, bool)>) {
    for (row, (name, value, alarming)) in (0..).zip(lines) {
        let style = if alarming { look.alarm() } else { Style::new() };
        let name = Span::styled(format!("{name:>16}  "), look.dim());
        put(frame, area, row, Line::from(vec![name, Span::styled(value, style)]));
    }
}

/// The area without its first lines.
fn below(area: Rect, lines: u16) -> Rect {
    let lines = lines.min(area.height);
    Rect { y: area.y + lines, height: area.height - lines, ..area }
}

fn changes(tensor: &Tensor<'_>, change: &Change) -> Vec<(&'static str, String, bool)> {
    let largest = change
        .largest
        .map_or("none".to_owned(), |(value, index)| format!("{value:?} at {}", tensor.index_text(index)));
    vec![
        ("elements", counted(change.elements), false),
        ("changed", counted(change.changed), false),
        ("largest change", largest, false),
        ("mean |change|", change.mean.map_or("none".to_owned(), |mean| format!("{mean:?}")), false),
        ("not finite", counted(change.not_finite), change.not_finite > 0),
    ]
}
