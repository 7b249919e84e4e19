//! The list of tasks: id, state, verdict, kernels, marks.

use argus_abi::TaskState;
use ratatui::Frame;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{Look, border, counted, cut, focused, put};
use crate::layout::{Pane, PaneArea};
use crate::state::State;
use crate::verdicts::Verdict;
use crate::work::Marks;

/// In narrower panes kernels and marks are worth more than states.
const STATE: usize = 32;
/// In narrower panes a verdict is a sign, and in those that are not much wider it stands instead of the state.
const VERDICT: usize = 42;
const BOTH: usize = 56;
/// So much of the kernels is always there; rather marks are cut off.
const KERNELS: usize = 6;

pub fn draw(state: &State, look: Look, place: PaneArea, frame: &mut Frame<'_>) {
    let count = state.task_count();
    let title = match state.filter() {
        Some(text) => format!(" Tasks with '{}' ", cut(text, 16)),
        None => " Tasks ".to_owned(),
    };
    let position = if count == 0 { 0 } else { state.tasks.at as u64 + 1 };
    let more = format!(" {} of {} ", counted(position), counted(count as u64));
    let in_focus = focused(state, Pane::Tasks);
    border(place, Line::from(title), Line::from(more), in_focus, look, frame);
    if count == 0 {
        put(frame, place.inner, 0, Line::styled("this dump has no records", look.note()));
        return;
    }
    let width = usize::from(place.inner.width);
    for row in 0..place.inner.height {
        let at = state.tasks.top + usize::from(row);
        if at >= count {
            break;
        }
        let task = state.task_in(at);
        let marks = marks(state.marks(task));
        let mut fixed = state.index.id(task).to_string();
        let judged = state.verdict(task);
        let has_room = width >= if judged.is_some() { BOTH } else { STATE };
        if state.states != Some(false) && has_room {
            let word = state.state_of(task).map_or("", short_state);
            fixed.push_str(&format!(" {word:<4}"));
        }
        fixed.push(' ');
        let verdict = judged.map_or_else(String::new, |verdict| match width >= VERDICT {
            true => format!("{:<1$} ", verdict.short(), Verdict::WIDTH),
            false => format!("{} ", verdict.sign()),
        });
        let kernels = state.index.kernels(task);
        let rest = width.saturating_sub(1 + fixed.len() + verdict.len());
        let room = rest.saturating_sub(if marks.is_empty() { 0 } else { marks.len() + 1 });
        let room = room.max(kernels.chars().count().min(KERNELS));
        let kernels = cut(kernels, room);
        let sign = if at == state.tasks.at { ">" } else { " " };
        let mut line = Line::from(vec![
            Span::raw(sign),
            Span::raw(fixed),
            Span::styled(verdict, judged.map_or_else(Style::new, |verdict| look.verdict(verdict))),
            Span::raw(format!("{kernels:<room$}")),
            Span::raw(if marks.is_empty() { "" } else { " " }),
            Span::styled(marks, look.alarm()),
        ]);
        if at == state.tasks.at {
            line = line.style(look.selected(in_focus));
        }
        put(frame, place.inner, row, line);
    }
}

/// How a task ended, in a narrow column.
fn short_state(state: TaskState) -> &'static str {
    match state {
        TaskState::Completed => "done",
        TaskState::Running => "run",
        TaskState::Waiting => "wait",
        TaskState::Skipped => "skip",
    }
}

/// What is wrong with a task, in words.
fn marks(marks: Marks) -> String {
    let words = [
        (marks.unwritten, "unwr"),
        (marks.nan, "NaN"),
        (marks.inf, "Inf"),
        (marks.partial, "part"),
        (marks.damaged, "bad"),
        (marks.more && !(marks.nan && marks.inf), "?"),
    ];
    words.iter().filter(|word| word.0).map(|word| word.1).collect::<Vec<_>>().join(" ")
}
