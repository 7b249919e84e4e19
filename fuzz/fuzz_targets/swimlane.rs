//! Swimlane records of any age: read, and asked for paths and spans.
#![no_main]

use argus_artefacts::path::{observed, spans};
use argus_artefacts::times::Times;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(times) = Times::parse(data) else { return };
    let _ = times.origin();
    let spans = spans(&times);
    let path = observed(&times, None);
    assert!(path.len() <= spans.len());
    for part in &times.parts {
        assert!(part.start <= part.end);
    }
    let _ = Times::parse(times.text().as_bytes());
});
