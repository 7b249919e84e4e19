//! Literal values out of a Python file, which is not run.

use std::collections::BTreeMap;

/// A value that is written out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Literal {
    Number(u64),
    Text(String),
}

impl Literal {
    pub(super) fn number(&self) -> Option<u64> {
        match self {
            Literal::Number(number) => Some(*number),
            Literal::Text(_) => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Literal::Text(text) => Some(text),
            Literal::Number(_) => None,
        }
    }
}

/// A dictionary's keys or a call's keywords, with the values that are literals.
pub(super) type Record = BTreeMap<String, Literal>;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Literal(Literal),
    Word(String),
    Sign(char),
}

/// Something in brackets that is being read.
#[derive(Default)]
struct Open {
    record: Record,
    /// Behind a `:` or `=`.
    key: Option<String>,
    /// Tokens of the piece since the last comma or key.
    piece: Vec<Token>,
}

impl Open {
    /// A key was read: what stands before its sign.
    fn name(&mut self) {
        self.key = match &self.piece[..] {
            [Token::Literal(Literal::Text(name)) | Token::Word(name)] => Some(name.clone()),
            _ => None,
        };
        self.piece.clear();
    }

    /// A value was read: only a literal that stands alone is one. Strings side by side are one string.
    fn value(&mut self) {
        let piece = std::mem::take(&mut self.piece);
        let Some(key) = self.key.take() else { return };
        let texts: Option<String> = piece
            .iter()
            .map(|token| match token {
                Token::Literal(Literal::Text(text)) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        let literal = match &piece[..] {
            [] => None,
            [Token::Literal(literal)] => Some(literal.clone()),
            _ => texts.map(Literal::Text),
        };
        self.record.extend(literal.map(|literal| (key, literal)));
    }
}

/// Every dictionary and every call of a text, inner ones first. What is not closed is left out.
pub(super) fn records(text: &str) -> Vec<Record> {
    let mut found = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    for token in (Tokens { rest: text }) {
        match token {
            Token::Sign('{' | '(' | '[') => open.push(Open::default()),
            Token::Sign('}' | ')' | ']') => {
                let Some(mut closed) = open.pop() else { continue };
                closed.value();
                if !closed.record.is_empty() {
                    found.push(closed.record);
                }
                // What is in brackets is no literal of what is around it.
                if let Some(around) = open.last_mut() {
                    around.piece.push(Token::Sign('('));
                }
            }
            token => {
                let Some(inside) = open.last_mut() else { continue };
                match token {
                    Token::Sign(',') => inside.value(),
                    Token::Sign(':' | '=') if inside.key.is_none() => inside.name(),
                    other => inside.piece.push(other),
                }
            }
        }
    }
    found
}

struct Tokens<'a> {
    rest: &'a str,
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        self.rest = self.rest.trim_start();
        while let Some(comment) = self.rest.strip_prefix('#') {
            self.rest = comment.find('\n').map_or("", |end| comment[end..].trim_start());
        }
        let first = self.rest.chars().next()?;
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let end = self.rest.find(|letter| !is_word(letter)).unwrap_or(self.rest.len());
        let (word, behind) = self.rest.split_at(end);
        if behind.starts_with(['"', '\'']) && word.len() <= 2 && word.chars().all(|c| "rRbBuUfF".contains(c))
        {
            let lowered = word.to_ascii_lowercase();
            self.rest = behind;
            let text = self.string(lowered.contains('r'))?;
            // A string that is filled in when the file is run is no literal, and bytes are no name.
            return Some(match lowered.contains(['f', 'b']) {
                true => Token::Sign('f'),
                false => Token::Literal(Literal::Text(text)),
            });
        }
        if end == 0 {
            self.rest = &self.rest[first.len_utf8()..];
            return Some(Token::Sign(first));
        }
        self.rest = behind;
        Some(match first.is_ascii_digit() {
            true => number(word).map_or(Token::Sign('0'), |number| Token::Literal(Literal::Number(number))),
            false => Token::Word(word.to_owned()),
        })
    }
}

impl Tokens<'_> {
    /// Reads a string whose quotes come next; `None` if it is not closed.
    fn string(&mut self, raw: bool) -> Option<String> {
        let quote = self.rest.chars().next()?;
        let triple = quote.to_string().repeat(3);
        let end = if self.rest.starts_with(&triple) { triple } else { quote.to_string() };
        let mut text = String::new();
        self.rest = &self.rest[end.len()..];
        loop {
            if let Some(behind) = self.rest.strip_prefix(end.as_str()) {
                self.rest = behind;
                return Some(text);
            }
            let mut letters = self.rest.chars();
            let letter = letters.next()?;
            self.rest = letters.as_str();
            if letter != '\\' {
                text.push(letter);
                continue;
            }
            let escaped = letters.next()?;
            self.rest = letters.as_str();
            match escaped {
                _ if raw => text.extend(['\\', escaped]),
                'n' => text.push('\n'),
                't' => text.push('\t'),
                'r' => text.push('\r'),
                '\n' => {}
                '\\' | '\'' | '"' => text.push(escaped),
                // Escapes by number stay as written: kernels are not named that way.
                other => text.extend(['\\', other]),
            }
        }
    }
}

/// A whole number as Python spells it.
fn number(word: &str) -> Option<u64> {
    let digits = word.replace('_', "").to_ascii_lowercase();
    let radix = |prefix: &str| digits.strip_prefix(prefix);
    if let Some(hex) = radix("0x") {
        return u64::from_str_radix(hex, 16).ok();
    }
    if let Some(octal) = radix("0o") {
        return u64::from_str_radix(octal, 8).ok();
    }
    if let Some(binary) = radix("0b") {
        return u64::from_str_radix(binary, 2).ok();
    }
    digits.parse().ok()
}
