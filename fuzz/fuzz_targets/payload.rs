//! A whole directory: which files there are, how long each is, then their bytes.
#![no_main]

use argus_dump::read::Dump;
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 5] =
    ["tensor_dump.journal", "tensor_dump.json", "tensor_dump.bin", "graph.json", "run.json"];

fuzz_target!(|data: &[u8]| {
    let Some((&mask, mut rest)) = data.split_first() else { return };
    let mut files: Vec<(&str, Vec<u8>)> = Vec::new();
    for (place, name) in NAMES.into_iter().enumerate().filter(|(place, _)| mask >> place & 1 == 1) {
        let Some((len, after)) = rest.split_first_chunk::<2>() else { return };
        let (bytes, after) = after.split_at(after.len().min(usize::from(u16::from_le_bytes(*len))));
        // Random bytes never make a journal, so it is put right.
        files.push((name, if place == 0 { argus_fuzz::journal(bytes) } else { bytes.to_vec() }));
        rest = after;
    }
    let named: Vec<_> = files.iter().map(|(name, bytes)| (*name, bytes.as_slice())).collect();
    if let Ok(dump) = Dump::from_bytes(&named) {
        argus_fuzz::walk(&dump);
    }
});
