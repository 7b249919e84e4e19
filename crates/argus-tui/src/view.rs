//! Draws the state. Reads it, never changes it, and asks the dump only for what is visible.

mod arguments;
mod help;
mod picture;
mod sheet;
mod tasks;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType};

use crate::colours::Colours;
use crate::keys::SHORT;
use crate::layout::{Pane, PaneArea};
use crate::state::State;
use crate::verdicts::Verdict;

/// Draws everything.
pub fn draw(state: &State, frame: &mut Frame<'_>) {
    let layout = state.layout();
    let look = Look::new(state.colours);
    head(state, look, layout.head, frame);
    tasks::draw(state, look, layout.tasks, frame);
    arguments::draw(state, look, layout.arguments, frame);
    sheet::draw(state, look, &layout, frame);
    status(state, look, layout.status, frame);
    keys(state, look, layout.keys, frame);
    if let Some(line) = state.help {
        help::draw(state, look, line, frame);
    }
}

/// Styles, by what they mean.
#[derive(Clone, Copy)]
struct Look {
    coloured: bool,
    colours: Colours,
}

impl Look {
    fn new(colours: Colours) -> Look {
        Look { coloured: colours != Colours::Shades, colours }
    }

    fn tint(self, colour: Color) -> Style {
        if self.coloured { Style::new().fg(colour) } else { Style::new() }
    }

    /// NaN, Inf, damage.
    fn alarm(self) -> Style {
        self.tint(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// A task's verdict, in the colour that the page gives it.
    fn verdict(self, verdict: Verdict) -> Style {
        let style = Style::new().fg(self.colours.of_rgb(verdict.rgb()));
        if verdict.is_wrong() { style.add_modifier(Modifier::BOLD) } else { style }
    }

    /// What should be read once.
    fn note(self) -> Style {
        self.tint(Color::Yellow)
    }

    fn dim(self) -> Style {
        self.tint(Color::DarkGray)
    }

    fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// The selected row of a list, or the cell under the cursor.
    fn selected(self, focused: bool) -> Style {
        if focused { Style::new().add_modifier(Modifier::REVERSED) } else { self.strong() }
    }
}

/// The border of a pane, if it has one.
fn border(
    place: PaneArea,
    title: Line<'_>,
    more: Line<'_>,
    focused: bool,
    look: Look,
    frame: &mut Frame<'_>,
) {
    if !place.bordered() {
        return;
    }
    let kind = if focused { BorderType::Thick } else { BorderType::Plain };
    let style = if focused { look.tint(Color::Cyan) } else { look.dim() };
    let block = Block::bordered()
        .border_type(kind)
        .border_style(style)
        .title_top(title.left_aligned())
        .title_top(more.right_aligned());
    frame.render_widget(block, place.outer);
}

/// A line of a pane; what does not fit is cut off.
fn put(frame: &mut Frame<'_>, area: Rect, row: u16, line: Line<'_>) {
    if row < area.height {
        frame.render_widget(line, Rect { y: area.y + row, height: 1, ..area });
    }
}

fn head(state: &State, look: Look, area: Rect, frame: &mut Frame<'_>) {
    let about = &state.about;
    let mut spans = vec![Span::styled("argus tui", look.strong()), Span::raw("  ")];
    // In front of the names, which may be longer than the line.
    if let Some(verdict) = &about.verdict {
        spans.extend([Span::styled(verdict.as_str(), look.note()), Span::raw("  ")]);
    }
    spans.extend([
        Span::raw(about.title.as_str()),
        Span::raw(format!("  {}", records(state.index.places() as u64))),
    ]);
    if !about.ending.is_empty() {
        let style = if about.ending == "complete" { Style::new() } else { look.alarm() };
        spans.extend([Span::raw("  "), Span::styled(about.ending, style)]);
    }
    put(frame, area, 0, Line::from(spans));
}

fn status(state: &State, look: Look, area: Rect, frame: &mut Frame<'_>) {
    let line = if let Some(prompt) = &state.prompt {
        let sign = if prompt.filter { '&' } else { '/' };
        Line::from(format!("{sign}{}▏", prompt.text))
    } else if let Some(looked_at) = state.hunting() {
        let (looked_at, all) = (counted(looked_at), counted(state.index.places() as u64));
        Line::styled(format!("looking for NaN and Inf: {looked_at} of {all} records; Esc stops"), look.note())
    } else if !state.message.is_empty() {
        Line::styled(state.message.as_str(), look.note())
    } else if let Some(sentence) = state.verdict_sentence() {
        let task = state.index.id(state.task());
        let style = state.verdict(state.task()).map_or(look.note(), |verdict| look.verdict(verdict));
        Line::from(vec![Span::raw(format!("{task} ")), Span::styled(sentence, style)])
    } else if let Some(note) = state.about.notes.first() {
        let more = match state.about.notes.len() {
            1 => String::new(),
            count => format!(" (and {} more, see ?)", count - 1),
        };
        Line::styled(format!("note: {note}{more}"), look.note())
    } else {
        Line::default()
    };
    put(frame, area, 0, line);
}

fn keys(state: &State, look: Look, area: Rect, frame: &mut Frame<'_>) {
    let list: &[(&str, &str)] = match (&state.prompt, state.help) {
        (Some(prompt), _) if prompt.filter => &[("Enter", "show only these"), ("Esc", "never mind")],
        (Some(_), _) => &[("Enter", "search"), ("Esc", "never mind")],
        (None, Some(_)) => &[("Esc", "close"), ("arrows", "scroll"), ("q", "quit")],
        (None, None) => SHORT,
    };
    let mut spans = Vec::new();
    for (key, meaning) in list {
        spans.push(Span::styled(*key, look.strong()));
        spans.push(Span::styled(format!(" {meaning}  "), look.dim()));
    }
    put(frame, area, 0, Line::from(spans));
}

fn records(count: u64) -> String {
    format!("{} {}", counted(count), if count == 1 { "record" } else { "records" })
}

/// `1,234,567`
fn counted(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// At most `width` characters; a cut is shown.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut text: String = text.chars().take(width.saturating_sub(1)).collect();
    if width > 0 {
        text.push('…');
    }
    text
}

fn focused(state: &State, pane: Pane) -> bool {
    state.focus == pane
}
