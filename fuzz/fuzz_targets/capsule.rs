//! A capsule: what is read can be written and read again.
#![no_main]

use std::path::Path;

use argus_replay::Capsule;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(capsule) = Capsule::from_bytes(data, Path::new("memory")) else { return };
    let again = Capsule::from_bytes(&capsule.to_bytes(), Path::new("memory"));
    assert!(again.is_ok(), "what was written can be read");
});
