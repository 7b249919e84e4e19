//! The times in a dump of ours.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(times) = argus_dump::parse_timeline(data) else { return };
    for part in times.cores.iter().flat_map(|core| &core.parts) {
        assert!(part.started_ns <= part.ended_ns);
    }
});
