//! `visualize_data.bin`: a sequence of blocks, each a header of twelve bytes and its content.

use std::io::{self, Write};

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum BlockType {
    Source = 1,
    Trace = 2,
    ApiFile = 3,
    ApiInstr = 4,
    BaseInfo = 5,
    ComputeLoadGraph = 6,
    ComputeLoadTable = 7,
    MemoryGraph = 8,
    MemoryTable = 9,
    InterCoreLoad = 12,
    Roofline = 13,
    StallReasons = 15,
}

/// The byte that stands where nothing else is said.
const RESERVED: u8 = 0x5A;
const ALIGNMENT: usize = 4;
/// Bytes of the path in front of a source text.
const PATH_BYTES: usize = 4096;

/// Writes one block with JSON inside. `parts` are its pieces in order.
pub(crate) fn write_block(out: &mut impl Write, kind: BlockType, parts: &[&[u8]]) -> io::Result<()> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let padding = length.next_multiple_of(ALIGNMENT) - length;
    out.write_all(&header(kind, length, padding))?;
    for part in parts {
        out.write_all(part)?;
    }
    out.write_all(&[0; ALIGNMENT][..padding])
}

/// Writes a source file. Its path is not counted in the size of the block.
pub(crate) fn write_source(out: &mut impl Write, path: &str, text: &str) -> io::Result<()> {
    let padding = text.len().next_multiple_of(ALIGNMENT) - text.len();
    out.write_all(&header(BlockType::Source, text.len(), padding))?;
    let mut name = [0; PATH_BYTES];
    // The last byte stays zero.
    let length = path.len().min(PATH_BYTES - 1);
    name[..length].copy_from_slice(&path.as_bytes()[..length]);
    out.write_all(&name)?;
    out.write_all(text.as_bytes())?;
    out.write_all(&[0; ALIGNMENT][..padding])
}

fn header(kind: BlockType, length: usize, padding: usize) -> [u8; 12] {
    let mut header = [0; 12];
    header[..8].copy_from_slice(&((length + padding) as u64).to_le_bytes());
    header[8] = kind as u8;
    header[9] = padding as u8;
    // Version 0 of the instruction table says that lines are found by its column of source lines.
    header[10] = if kind == BlockType::ApiInstr { 0 } else { RESERVED };
    header[11] = RESERVED;
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_byte_by_byte() {
        let mut out = Vec::new();
        write_block(&mut out, BlockType::Trace, &[b"{\"a\":", b"12345"]).unwrap();
        assert_eq!(out, b"\x0c\0\0\0\0\0\0\0\x02\x02\x5a\x5a{\"a\":12345\0\0");
        out.clear();
        write_block(&mut out, BlockType::ApiInstr, &[b"1234"]).unwrap();
        assert_eq!(out, b"\x04\0\0\0\0\0\0\0\x04\0\0\x5a1234");
    }

    #[test]
    fn a_source_does_not_count_its_path() {
        let mut out = Vec::new();
        write_source(&mut out, "a/b.rs", "0123456789").unwrap();
        assert_eq!(out.len(), 12 + 4096 + 12);
        assert_eq!(out[..12], *b"\x0c\0\0\0\0\0\0\0\x01\x02\x5a\x5a");
        assert_eq!(out[12..19], *b"a/b.rs\0");
        assert_eq!(out[12 + 4096..], *b"0123456789\0\0");
    }
}
