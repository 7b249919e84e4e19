//! A manifest of any format version, beside a payload file of sixty-four bytes.
#![no_main]

use argus_dump::read::Dump;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let payload = [0xa5; 64];
    let files = [("args_dump.json", data), ("args.bin", &payload[..]), ("tensor_dump.bin", &payload[..])];
    if let Ok(dump) = Dump::from_bytes(&files) {
        argus_fuzz::walk(&dump);
    }
});
