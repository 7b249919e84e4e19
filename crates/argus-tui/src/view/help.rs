//! All keys, what the marks mean, and what must be known about the dump.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Paragraph, Wrap};

use super::Look;
use crate::keys::HELP;
use crate::state::State;

const MARKS: &[(&str, &str)] = &[
    ("NaN, Inf", "a tensor of the task has such elements"),
    ("unwr", "a tensor of the task has elements that no instruction has written"),
    ("part", "captured from a task that had not completed"),
    ("bad", "a payload is truncated, overwritten or cannot be read"),
    ("?", "too large to be looked through for a mark"),
    ("! ~ x ?", "begins an error, inherited it, damaged, not judged"),
    ("done run wait", "completed, dispatched only, never dispatched"),
];

pub fn draw(state: &State, look: Look, line: u16, frame: &mut Frame<'_>) {
    let pair = |(key, meaning): &(&'static str, &'static str)| {
        Line::from(vec![Span::styled(format!("{key:>16}  "), look.strong()), Span::raw(*meaning)])
    };
    let mut lines: Vec<Line<'_>> = HELP.iter().map(pair).collect();
    lines.push(Line::default());
    lines.extend(MARKS.iter().map(pair));
    if !state.about.notes.is_empty() {
        lines.push(Line::default());
        lines.extend(state.about.notes.iter().map(|note| Line::styled(format!("note: {note}"), look.note())));
    }
    let area = frame.area();
    let width = area.width.min(88);
    let height = area.height.min(u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(2));
    let place = Rect { x: (area.width - width) / 2, y: (area.height - height) / 2, width, height };
    let block = Block::bordered().border_type(BorderType::Thick).title(" Keys ");
    frame.render_widget(Clear, place);
    frame.render_widget(
        Paragraph::new(lines).block(block).wrap(Wrap { trim: false }).scroll((line, 0)),
        place,
    );
}
