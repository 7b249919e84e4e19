//! A journal: as it is, and its entries behind checksums that fit.
#![no_main]

use argus_dump::read::Dump;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let payload = [0xa5; 64];
    let sound = argus_fuzz::journal(data);
    for journal in [data, &sound] {
        let files = [("tensor_dump.journal", journal), ("tensor_dump.bin", &payload[..])];
        if let Ok(dump) = Dump::from_bytes(&files) {
            argus_fuzz::walk(&dump);
        }
    }
});
