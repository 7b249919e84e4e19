//! C++ text as a list of tokens, without its comments and literals.
//!
//! In: the text of a source file. Out: its words, numbers and marks in order, and its include lines. Comments
//! and the insides of string and character literals never become tokens, so a kernel that only talks about
//! `args[48]` is not taken for one that reads it. Macros are not expanded and `#if` is not evaluated: what is
//! written in any branch counts. Never fails: text that is not C++ gives tokens of no use.

/// One piece of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// A name or keyword.
    Word(&'a str),
    /// A number as it is written, with prefix, suffix and separators.
    Number(&'a str),
    /// Any other character that is not a space.
    Mark(char),
    /// A string or character literal.
    Literal,
}

/// One `#include` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Include<'a> {
    /// The name between the quotes or brackets.
    pub name: &'a str,
    /// Written with quotes, so looked for beside the including file first.
    pub quoted: bool,
    /// Counted from 1.
    pub line: usize,
}

/// What a source file consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan<'a> {
    pub tokens: Vec<Token<'a>>,
    pub includes: Vec<Include<'a>>,
}

impl Scan<'_> {
    /// Whether this name occurs anywhere in the code.
    pub fn has_word(&self, name: &str) -> bool {
        self.tokens.contains(&Token::Word(name))
    }
}

/// The prefixes that make a string literal a raw one.
const RAW_PREFIXES: [&str; 5] = ["R", "u8R", "uR", "UR", "LR"];

/// Splits a source text.
pub fn scan(text: &str) -> Scan<'_> {
    let mut reader = Reader { text, at: 0, line: 1, fresh_line: true, scan: Scan::default() };
    while reader.step() {}
    reader.scan
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    /// Nothing but spaces and comments since the line began: a `#` here starts a directive.
    fresh_line: bool,
    scan: Scan<'a>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn advance(&mut self, bytes: usize) -> &'a str {
        let taken = &self.rest()[..bytes];
        self.line += taken.matches('\n').count();
        self.at += bytes;
        taken
    }

    /// Reads one piece; false at the end.
    fn step(&mut self) -> bool {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return false };
        if first == '\n' {
            self.advance(1);
            self.fresh_line = true;
            return true;
        }
        if first.is_whitespace() {
            self.advance(first.len_utf8());
            return true;
        }
        if rest.starts_with("//") {
            self.advance(line_comment(rest));
            return true;
        }
        if let Some(inside) = rest.strip_prefix("/*") {
            self.advance(inside.find("*/").map_or(rest.len(), |end| end + "/**/".len()));
            return true;
        }
        let directive = first == '#' && self.fresh_line;
        self.fresh_line = false;
        if directive && let Some(bytes) = self.include() {
            self.advance(bytes);
        } else if first.is_ascii_digit() {
            let number = self.advance(number_length(rest));
            self.scan.tokens.push(Token::Number(number));
        } else if is_word(first) {
            self.word();
        } else if first == '"' || first == '\'' {
            self.advance(literal_length(rest, first));
            self.scan.tokens.push(Token::Literal);
        } else {
            self.advance(first.len_utf8());
            self.scan.tokens.push(Token::Mark(first));
        }
        true
    }

    fn word(&mut self) {
        let rest = self.rest();
        let word = &rest[..rest.find(|c| !is_word(c) && !c.is_ascii_digit()).unwrap_or(rest.len())];
        self.advance(word.len());
        if RAW_PREFIXES.contains(&word) && self.rest().starts_with('"') {
            self.advance(raw_length(self.rest()));
            self.scan.tokens.push(Token::Literal);
        } else {
            self.scan.tokens.push(Token::Word(word));
        }
    }

    /// Notes an include line that starts here; its length up to the closing quote or bracket.
    fn include(&mut self) -> Option<usize> {
        let rest = self.rest();
        let after_hash = rest[1..].trim_start_matches([' ', '\t']);
        let name = after_hash.strip_prefix("include")?.trim_start_matches([' ', '\t']);
        let (quoted, close) = match name.as_bytes().first()? {
            b'"' => (true, '"'),
            b'<' => (false, '>'),
            _ => return None,
        };
        let name = &name[1..];
        let end = name.find([close, '\n'])?;
        if name[end..].starts_with('\n') {
            return None;
        }
        self.scan.includes.push(Include { name: &name[..end], quoted, line: self.line });
        Some(rest.len() - name.len() + end + 1)
    }
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

/// Up to the end of the line, or of the last line when lines end in a backslash.
fn line_comment(rest: &str) -> usize {
    let mut end = 0;
    loop {
        let Some(newline) = rest[end..].find('\n') else { return rest.len() };
        end += newline;
        if !rest[..end].trim_end_matches('\r').ends_with('\\') {
            return end;
        }
        end += 1;
    }
}

/// A digit and what belongs to it; a quote between digits separates them.
fn number_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        let belongs = match byte {
            b'.' | b'_' => true,
            b'\'' => bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric),
            b'+' | b'-' => matches!(bytes[at - 1], b'e' | b'E' | b'p' | b'P') && !rest.starts_with("0x"),
            _ => byte.is_ascii_alphanumeric(),
        };
        if !belongs {
            break;
        }
        at += 1;
    }
    at
}

/// A literal ends at its quote; one that is never closed ends with its line, as in `#error don't`.
fn literal_length(rest: &str, quote: char) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' if at + 1 < bytes.len() => at += 2,
            b'\n' => return at,
            _ if byte == quote as u8 => return at + 1,
            _ => at += 1,
        }
    }
    // An escape may have jumped into the middle of a character at the very end.
    rest.len()
}

/// `"mark( anything )mark"`.
fn raw_length(rest: &str) -> usize {
    let Some(open) = rest.find('(') else { return rest.len() };
    let close = format!("){}\"", &rest[1..open]);
    rest[open..].find(&close).map_or(rest.len(), |end| open + end + close.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let words = scan(text).tokens.into_iter().filter_map(|token| match token {
            Token::Word(word) => Some(word),
            _ => None,
        });
        words.collect()
    }

    #[test]
    fn comments_are_not_code() {
        assert_eq!(words("a // b\nc /* d\n e */ f"), ["a", "c", "f"]);
        assert_eq!(words("a // b \\\n still b\nc"), ["a", "c"]);
        assert_eq!(words("a // b \\\r\n still b\r\nc"), ["a", "c"]);
        assert_eq!(words("a /* never closed"), ["a"]);
    }

    #[test]
    fn literals_are_not_code() {
        assert_eq!(words(r#"a "b \" /* b" c '"' d '\'' e"#), ["a", "c", "d", "e"]);
        assert_eq!(words("a R\"x(b)\" // \" b)x\" c"), ["a", "c"]);
        assert_eq!(words("a u8R\"(b\"b)\" c R d"), ["a", "c", "R", "d"]);
        assert_eq!(words("#error don't\na"), ["error", "don", "a"]);
    }

    #[test]
    fn digits_may_be_separated() {
        let tokens = scan("args[1'000'000u] 0x30 1e-5f").tokens;
        assert_eq!(tokens[2], Token::Number("1'000'000u"));
        assert_eq!(tokens[4..], [Token::Number("0x30"), Token::Number("1e-5f")]);
    }

    #[test]
    fn include_lines_are_found_where_they_are_code() {
        let text = "#include <cstdint>\n// #include \"no.h\"\n/* c */ # include \"a/b.h\" // x\nx #include \"no.h\"\n";
        let includes = scan(text).includes;
        assert_eq!(
            includes,
            [
                Include { name: "cstdint", quoted: false, line: 1 },
                Include { name: "a/b.h", quoted: true, line: 3 }
            ]
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_to_its_end(text in "(?s)[a-zR_0-9'\"\\\\/*#()\\n <>äß.]{0,80}") {
            scan(&text);
        }
    }
}
