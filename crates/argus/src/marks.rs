//! Colours in text that also holds names from files.
//!
//! A name may contain what a terminal obeys, colours included. So text is put together with marks instead: characters that
//! Unicode keeps out of all files. Only when it is written do marks become colours, and every control
//! character is shown as what it is.

use std::borrow::Cow;
use std::fmt;

use anstyle::{AnsiColor, Style};

/// A colour: begins where it is written, and ends at its alternate form, `{GOOD}PASS{GOOD:#}`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Mark(char);

pub const GOOD: Mark = Mark('\u{fdd1}');
pub const BAD: Mark = Mark('\u{fdd2}');
pub const NOTE: Mark = Mark('\u{fdd3}');
pub const DIM: Mark = Mark('\u{fdd4}');
const END: char = '\u{fdd0}';

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", if f.alternate() { END } else { self.0 })
    }
}

fn style(mark: char) -> Option<Style> {
    match Mark(mark) {
        GOOD => Some(AnsiColor::Green.on_default().bold()),
        BAD => Some(AnsiColor::Red.on_default().bold()),
        NOTE => Some(AnsiColor::Cyan.on_default().bold()),
        DIM => Some(AnsiColor::BrightBlack.on_default()),
        _ => None,
    }
}

fn is_mark(letter: char) -> bool {
    letter == END || style(letter).is_some()
}

fn is_harmless(letter: char) -> bool {
    !letter.is_control() || matches!(letter, '\n' | '\t')
}

/// Text with control characters shown as what they are, and without marks.
pub fn printable(text: &str) -> Cow<'_, str> {
    written(text, |_| String::new())
}

/// The same with marks as the colours that they stand for.
pub fn painted(text: &str) -> Cow<'_, str> {
    written(text, |mark| match style(mark) {
        Some(style) => style.render().to_string(),
        None => anstyle::Reset.render().to_string(),
    })
}

fn written(text: &str, paint: impl Fn(char) -> String) -> Cow<'_, str> {
    if text.chars().all(|letter| is_harmless(letter) && !is_mark(letter)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            mark if is_mark(mark) => shown += &paint(mark),
            letter if is_harmless(letter) => shown.push(letter),
            letter => shown.extend(letter.escape_default()),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_colours_and_control_characters_are_shown() {
        let name = "a\tb\r\x07\x1b]0;title\x07\u{9b}2J\x1b[8m\x1b[31mhidden\n";
        let shown = "a\tb\\r\\u{7}\\u{1b}]0;title\\u{7}\\u{9b}2J\\u{1b}[8m\\u{1b}[31mhidden\n";
        assert_eq!(printable(name), shown);
        let text = format!("{BAD}FAIL{BAD:#} {name}");
        assert_eq!(painted(&text), format!("\x1b[1m\x1b[31mFAIL\x1b[0m {shown}"));
        assert_eq!(printable(&text), format!("FAIL {shown}"));
    }
}
