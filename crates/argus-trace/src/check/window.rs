//! A JSON text with one long list, of which a piece is in memory at a time.
//!
//! Brackets outside strings are counted, nothing else is understood: whether the pieces are JSON is for the parser to say.

use std::io::Read;

use crate::check::Rule;
use crate::check::broken::rule;

/// Bytes that are read at once.
const PIECE: usize = 1 << 20;
/// No more than this stands before the list, in one item, or behind it.
const LONGEST: usize = 64 << 20;

pub(super) struct Window<R> {
    reader: R,
    bytes: Vec<u8>,
    /// Where the next item may begin.
    at: usize,
    ended: bool,
}

impl<R: Read> Window<R> {
    pub(super) fn new(reader: R) -> Window<R> {
        Window { reader, bytes: Vec::new(), at: 0, ended: false }
    }

    /// Everything up to the bracket that opens the list, that included; everything there is, if there is none.
    pub(super) fn head(&mut self) -> Rule<Vec<u8>> {
        let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
        loop {
            if self.at == self.bytes.len() && !self.more()? {
                self.at = 0;
                return Ok(std::mem::take(&mut self.bytes));
            }
            let byte = self.bytes[self.at];
            self.at += 1;
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_string => escaped = true,
                b'"' => in_string = !in_string,
                _ if in_string => {}
                b'[' if depth == 1 => return Ok(self.bytes[..self.at].to_vec()),
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// The next item of the list; none behind the last, of which the closing bracket is next.
    pub(super) fn item(&mut self, first: bool) -> Rule<Option<&[u8]>> {
        let mut comma = first;
        loop {
            // What is behind is not needed any more.
            if self.at > PIECE {
                self.bytes.drain(..self.at);
                self.at = 0;
            }
            if self.at == self.bytes.len() && !self.more()? {
                return Err("the file ends inside the list of events".into());
            }
            match self.bytes[self.at] {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                b',' if !comma => {
                    comma = true;
                    self.at += 1;
                }
                b']' if first || !comma => return Ok(None),
                b'{' if comma => break,
                other => {
                    let other = char::from(other);
                    return Err(rule!("{other:?} where an event or the end of the list must stand"));
                }
            }
        }
        let mut end = self.at;
        let (mut depth, mut in_string) = (0usize, false);
        loop {
            if end >= self.bytes.len() {
                if !self.more()? {
                    return Err("the file ends inside an event".into());
                }
                continue;
            }
            match self.bytes[end] {
                b'\\' if in_string => end += 1,
                b'"' => in_string = !in_string,
                _ if in_string => {}
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            end += 1;
            if depth == 0 {
                break;
            }
        }
        let start = std::mem::replace(&mut self.at, end);
        // An escape may have been the last byte.
        self.bytes.get(start..end).map(Some).ok_or_else(|| "the file ends inside an event".into())
    }

    /// Appends what stands from the end of the list on.
    pub(super) fn rest(&mut self, into: &mut Vec<u8>) -> Rule {
        while self.more()? {}
        into.extend_from_slice(&self.bytes[self.at..]);
        Ok(())
    }

    /// Reads another piece; whether there was any.
    fn more(&mut self) -> Rule<bool> {
        if self.bytes.len() - self.at > LONGEST {
            return Err(rule!("more than {LONGEST} bytes that are not events"));
        }
        if !self.ended {
            let read = self.reader.by_ref().take(PIECE as u64).read_to_end(&mut self.bytes)?;
            self.ended = read == 0;
        }
        Ok(!self.ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let count = self.0.len().min(into.len()).min(1);
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn pieces(text: &str) -> Rule<(String, Vec<String>, String)> {
        let mut window = Window::new(Slow(text.as_bytes()));
        let head = window.head()?;
        let mut items = Vec::new();
        while let Some(item) = window.item(items.is_empty())? {
            items.push(String::from_utf8(item.to_vec()).unwrap());
        }
        let mut rest = Vec::new();
        window.rest(&mut rest)?;
        Ok((String::from_utf8(head).unwrap(), items, String::from_utf8(rest).unwrap()))
    }

    #[test]
    fn a_list_is_cut_into_its_items_whatever_their_strings_hold() {
        let text = r#"{"a[": "\"[", "list": [ {"x": "}\"]"} ,
            {"y": [1, {"z": {}}]},{}], "b": 1} "#;
        let (head, items, rest) = pieces(text).unwrap();
        assert_eq!(head, r#"{"a[": "\"[", "list": ["#);
        assert_eq!(items, [r#"{"x": "}\"]"}"#, r#"{"y": [1, {"z": {}}]}"#, "{}"]);
        assert_eq!(rest, r#"], "b": 1} "#);
        assert_eq!(pieces(r#"{"list": []}"#).unwrap().1.len(), 0);
        assert_eq!(pieces("{}").unwrap_err().to_string(), "the file ends inside the list of events");
    }

    #[test]
    fn what_is_not_a_list_of_objects_is_refused() {
        for (text, wanted) in [
            (r#"{"l": [1]}"#, "'1' where an event"),
            (r#"{"l": [{},]}"#, "']' where an event"),
            (r#"{"l": [,{}]}"#, "',' where an event"),
            (r#"{"l": [{} {}]}"#, "'{' where an event"),
            (r#"{"l": [{}"#, "inside the list"),
            (r#"{"l": [{"x": "}"#, "inside an event"),
            ("{\"l\": [{\"x\": \"\\", "inside an event"),
        ] {
            let said = pieces(text).unwrap_err().to_string();
            assert!(said.contains(wanted), "{text}: {said}");
        }
    }
}
