//! A run log: any text is one.
#![no_main]

use argus_artefacts::log::RunLog;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(log) = RunLog::parse(data) else { return };
    if let Some(report) = &log.stall {
        assert!(report.stall.is_none_or(|stall| !stall.counts().is_empty()) && !report.meaning().is_empty());
    }
    if let Some(failure) = &log.failure {
        assert!(!failure.reason().is_empty());
    }
    for span in &log.spans {
        assert!(log.run(span.pid, span.inv).count() > 0);
    }
});
