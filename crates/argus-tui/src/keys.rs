//! From keys to actions; what an action means is decided by the state.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// What a user asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Move {
        rows: i64,
        columns: i64,
    },
    /// So many screens down, or up.
    Page(i64),
    First,
    Last,
    RowStart,
    RowEnd,
    NextPane,
    PreviousPane,
    Open,
    Back,
    Search,
    Filter,
    Type(char),
    Erase,
    NextMatch,
    PreviousMatch,
    /// To the next NaN or infinity.
    Hunt,
    /// To the next one in another record.
    HuntBeyond,
    /// To the next task that is wrong, or the one before.
    Wrong {
        next: bool,
    },
    Mode,
    /// So many planes on.
    Outer(i64),
    Compare,
    Help,
    Quit,
}

/// The keys as the help shows them.
pub const HELP: &[(&str, &str)] = &[
    ("arrows, h j k l", "move"),
    ("PgUp PgDn", "move by a screen"),
    ("g G", "first, last"),
    ("Home End", "first, last of the row"),
    ("Tab, Shift-Tab", "next, previous pane"),
    ("Enter", "open; in the tensor pane: the whole screen for it"),
    ("Esc", "back; stops a search for NaN"),
    ("/", "search tasks by id or kernel; n N: next, previous match"),
    ("&", "show only tasks that match; nothing typed: all"),
    ("f F", "find the next NaN or Inf of the whole dump; F: in another record"),
    ("w W", "next, previous task that a search found wrong"),
    ("m", "next mode: values, heat map, histogram, statistics"),
    ("[ ]", "previous, next plane of a tensor with more than two dimensions"),
    ("b", "in/out argument: the other stage, then after minus before, then back"),
    ("?", "this help"),
    ("q, Ctrl-C", "quit"),
];

/// The most important ones, for the bottom line.
pub const SHORT: &[(&str, &str)] = &[
    ("?", "help"),
    ("q", "quit"),
    ("Tab", "pane"),
    ("Enter", "open"),
    ("Esc", "back"),
    ("m", "mode"),
    ("f F", "NaN/Inf"),
    ("/ n N", "search"),
    ("&", "filter"),
    ("[ ]", "plane"),
    ("b", "before/after"),
    ("w", "wrong task"),
];

/// What a key means; while a text is typed, letters are letters.
pub fn action(key: KeyEvent, typing: bool) -> Option<Action> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return (key.code == KeyCode::Char('c')).then_some(Action::Quit);
    }
    if typing {
        return match key.code {
            KeyCode::Char(letter) => Some(Action::Type(letter)),
            KeyCode::Backspace => Some(Action::Erase),
            KeyCode::Enter => Some(Action::Open),
            KeyCode::Esc => Some(Action::Back),
            _ => None,
        };
    }
    let step = |rows, columns| Some(Action::Move { rows, columns });
    match key.code {
        KeyCode::Up | KeyCode::Char('k') => step(-1, 0),
        KeyCode::Down | KeyCode::Char('j') => step(1, 0),
        KeyCode::Left | KeyCode::Char('h') => step(0, -1),
        KeyCode::Right | KeyCode::Char('l') => step(0, 1),
        KeyCode::PageUp => Some(Action::Page(-1)),
        KeyCode::PageDown => Some(Action::Page(1)),
        KeyCode::Char('g') => Some(Action::First),
        KeyCode::Char('G') => Some(Action::Last),
        KeyCode::Home => Some(Action::RowStart),
        KeyCode::End => Some(Action::RowEnd),
        KeyCode::Tab => Some(Action::NextPane),
        KeyCode::BackTab => Some(Action::PreviousPane),
        KeyCode::Enter => Some(Action::Open),
        KeyCode::Esc => Some(Action::Back),
        KeyCode::Char('/') => Some(Action::Search),
        KeyCode::Char('&') => Some(Action::Filter),
        KeyCode::Char('n') => Some(Action::NextMatch),
        KeyCode::Char('N') => Some(Action::PreviousMatch),
        KeyCode::Char('f') => Some(Action::Hunt),
        KeyCode::Char('F') => Some(Action::HuntBeyond),
        KeyCode::Char('w') => Some(Action::Wrong { next: true }),
        KeyCode::Char('W') => Some(Action::Wrong { next: false }),
        KeyCode::Char('m') => Some(Action::Mode),
        KeyCode::Char('[') => Some(Action::Outer(-1)),
        KeyCode::Char(']') => Some(Action::Outer(1)),
        KeyCode::Char('b') => Some(Action::Compare),
        KeyCode::Char('?') => Some(Action::Help),
        KeyCode::Char('q') => Some(Action::Quit),
        _ => None,
    }
}
