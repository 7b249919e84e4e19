//! What kind of kernel a source file holds, and which argument slots it reads.
//!
//! In: the path of a kernel source, its tokens, and the core type if a task or a user named one. Out: the
//! shape of the launch and the slots. Rules in order: a kernel that asks for its block is a mix; then the
//! given core type decides; then the folder; then it is an error. Never looks at other files.

use std::collections::BTreeSet;
use std::path::Path;

use argus_abi::CoreType;
use argus_abi::args::{GLOBAL_CONTEXT_SLOT, LOCAL_CONTEXT_SLOT};
use serde::Serialize;

use crate::error::WorkspaceError;
use crate::scan::{Scan, Token};

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// One matrix core.
    AicOnly,
    /// One vector core.
    AivOnly,
    /// Cores of one or more clusters, each with contexts of its own.
    SpmdMix,
}

impl Shape {
    /// The shape of a kernel that knows nothing of blocks.
    pub fn of_core(core: CoreType) -> Shape {
        match core {
            CoreType::Aic => Shape::AicOnly,
            CoreType::Aiv => Shape::AivOnly,
        }
    }
}

/// Names that only kernels with contexts mention.
const CONTEXT_WORDS: [&str; 2] = ["SPMD_LOCAL_CONTEXT_INDEX", "SPMD_GLOBAL_CONTEXT_INDEX"];
/// Functions that read a context from the arguments.
const CONTEXT_CALLS: [&str; 3] = ["get_block_idx", "get_sub_block_id", "get_block_num"];

/// The argument slots that a source reads by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlotsRead {
    pub by_number: BTreeSet<usize>,
    /// Some slot is read by a computed index, so the numbers may not be all.
    pub computed: bool,
}

/// Decides the shape of a kernel.
pub fn classify(path: &Path, scan: &Scan<'_>, core: Option<CoreType>) -> Result<Shape, WorkspaceError> {
    if in_folder(path, "mix") || asks_for_its_block(scan) {
        return Ok(Shape::SpmdMix);
    }
    core_of(path, core).map(Shape::of_core)
}

/// The core type of a kernel that is not a mix: the given one, else the folder's.
pub fn core_of(path: &Path, core: Option<CoreType>) -> Result<CoreType, WorkspaceError> {
    let folder = [CoreType::Aic, CoreType::Aiv].into_iter().find(|core| in_folder(path, core.name()));
    core.or(folder).ok_or_else(|| WorkspaceError::UnknownCore { path: path.to_owned() })
}

/// Refuses a source that does not define `kernel_entry(int64_t *args)`.
pub fn check_entry(path: &Path, scan: &Scan<'_>) -> Result<(), WorkspaceError> {
    let missing = if !scan.has_word("kernel_entry") {
        "the name kernel_entry does not occur in its code"
    } else if !has_args_parameter(scan) {
        "no parameter is an int64_t *args"
    } else {
        return Ok(());
    };
    Err(WorkspaceError::NotAKernel { path: path.to_owned(), missing })
}

/// The slots that the code reads as `args[...]`.
pub fn slots_read(scan: &Scan<'_>) -> SlotsRead {
    let mut slots = SlotsRead::default();
    for window in scan.tokens.windows(4) {
        let [Token::Word("args"), Token::Mark('['), index, close] = window else { continue };
        match (index, close) {
            (Token::Number(number), Token::Mark(']')) if let Some(slot) = whole_number(number) => {
                slots.by_number.insert(slot);
            }
            // The parameter itself may be written `int64_t args[]`.
            (Token::Mark(']'), _) => {}
            _ => slots.computed = true,
        }
    }
    slots
}

fn asks_for_its_block(scan: &Scan<'_>) -> bool {
    let calls = |window: &[Token<'_>]| {
        matches!(window, [Token::Word(function), Token::Mark('('), Token::Word("args"), Token::Mark(')')]
            if CONTEXT_CALLS.contains(function))
    };
    let slots = slots_read(scan).by_number;
    CONTEXT_WORDS.iter().any(|word| scan.has_word(word))
        || scan.tokens.windows(4).any(calls)
        || [LOCAL_CONTEXT_SLOT, GLOBAL_CONTEXT_SLOT].iter().any(|slot| slots.contains(slot))
}

/// Whether the path goes through `kernels/FOLDER`.
fn in_folder(path: &Path, folder: &str) -> bool {
    let parts: Vec<_> =
        path.parent().into_iter().flat_map(Path::components).map(|part| part.as_os_str()).collect();
    parts.windows(2).any(|pair| pair[0] == "kernels" && pair[1] == folder)
}

fn has_args_parameter(scan: &Scan<'_>) -> bool {
    let mut after_type =
        scan.tokens.iter().enumerate().filter(|(_, token)| **token == Token::Word("int64_t"));
    after_type.any(|(at, _)| {
        let mut rest = scan.tokens[at + 1..].iter();
        rest.next() == Some(&Token::Mark('*'))
            && rest.find(|token| !matches!(token, Token::Word("const" | "__restrict" | "__restrict__")))
                == Some(&Token::Word("args"))
    })
}

/// A whole number as C++ writes it: decimal, octal, hexadecimal or binary, with separators and suffix.
fn whole_number(text: &str) -> Option<usize> {
    let plain = text.replace('\'', "").to_ascii_lowercase();
    let plain = plain.trim_end_matches(['u', 'l', 'z']);
    let (digits, radix) = match plain {
        _ if plain.starts_with("0x") => (&plain[2..], 16),
        _ if plain.starts_with("0b") => (&plain[2..], 2),
        _ if plain.len() > 1 && plain.starts_with('0') => (&plain[1..], 8),
        _ => (plain, 10),
    };
    usize::from_str_radix(digits, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::scan;

    #[test]
    fn numbers_are_read_as_cpp_reads_them() {
        let read: Vec<_> = ["7", "0x30", "0b11", "010", "4'8u", "48ULL", "1.5", "0"].map(whole_number).into();
        assert_eq!(read, [Some(7), Some(48), Some(3), Some(8), Some(48), Some(48), None, Some(0)]);
    }

    #[test]
    fn slots_are_those_of_code_only() {
        let slots = slots_read(&scan("f(args[0], args [ 0x2 ]); // args[9]\n\"args[8]\" myargs[7] args[i]"));
        assert_eq!(slots.by_number.into_iter().collect::<Vec<_>>(), [0, 2]);
        assert!(slots.computed);
        assert!(!slots_read(&scan("void kernel_entry(int64_t args[])")).computed);
    }
}
