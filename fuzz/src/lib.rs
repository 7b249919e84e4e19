//! What the targets have in common.

use argus_dump::filter::Filter;
use argus_dump::journal::{ENTRY_BYTES, HEADER_BYTES, MAGIC, VERSION};
use argus_dump::read::Dump;
use argus_dump::verify::verify;

/// Asks a dump for everything that it can tell.
pub fn walk(dump: &Dump) {
    for record in dump.records() {
        if let Ok(bytes) = dump.payload(&record) {
            assert_eq!(bytes.len() as u64, record.bin_size);
        }
        let _ = (dump.kernel_names(&record), record.shape(), record.strides(), &record.func_ids[..]);
    }
    if let Some(graph) = dump.graph() {
        for position in 0..graph.tasks.len() {
            for &other in graph.predecessors(position).iter().chain(graph.successors(position)) {
                assert!((other as usize) < graph.tasks.len());
            }
        }
    }
    let _ = verify(dump, |_, _| {});
    for filter in ["nan=true", "kernel=QK", "task=0000000*", "min-size=1,arg=0..9"] {
        if let Ok(filter) = Filter::parse(filter) {
            let _ = filter.select(dump);
        }
    }
}

/// A journal with these entries: header, checksums and numbers are put right, because random bytes never hit them.
pub fn journal(entries: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; HEADER_BYTES];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..16].copy_from_slice(&(HEADER_BYTES as u32).to_le_bytes());
    bytes[16..20].copy_from_slice(&(ENTRY_BYTES as u32).to_le_bytes());
    let crc = crc32fast::hash(&bytes);
    bytes[20..24].copy_from_slice(&crc.to_le_bytes());
    let (whole, rest) = entries.as_chunks::<ENTRY_BYTES>();
    for (number, entry) in whole.iter().enumerate() {
        let mut entry = *entry;
        entry[8..16].copy_from_slice(&(number as u64).to_le_bytes());
        let crc = crc32fast::hash(&entry[4..]);
        entry[..4].copy_from_slice(&crc.to_le_bytes());
        bytes.extend_from_slice(&entry);
    }
    bytes.extend_from_slice(rest);
    bytes
}
