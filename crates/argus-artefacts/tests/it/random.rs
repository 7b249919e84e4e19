//! Files changed at random: a reader refuses them or gives values that hold, and never panics.
//!
//! The fuzz targets of the same names look longer. `ARGUS_LONG` makes this loop a hundred times as long.

use argus_artefacts::deps::Deps;
use argus_artefacts::host_phases;
use argus_artefacts::log::RunLog;
use argus_artefacts::names::Names;
use argus_artefacts::path::{longest, observed, spans};
use argus_artefacts::scopes::ScopeStats;
use argus_artefacts::times::Times;
use argus_artefacts::{counters::Counters, identity};

use crate::made;

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below.max(1) as u64) as usize
    }
}

/// Pieces that mean something in these files.
const PIECES: [&str; 24] = [
    "0",
    "-1",
    "18446744073709551615",
    "9007199254740993",
    "1e308",
    "null",
    "[]",
    "{}",
    "\"",
    ",",
    ":",
    "\n",
    "[",
    "]",
    "\"pred\"",
    "\"task_id\"",
    "\"aicore_tasks\"",
    "\"tasks\"",
    "[STRACE] ",
    "sub_class=S1:running-stalled",
    "completed=1/",
    "0x",
    "\u{fffd}",
    "stuck_task_id=-1",
];

fn changed(text: &str, numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=numbers.next(4) {
        let at = numbers.next(bytes.len() + 1);
        let end = (at + numbers.next(12)).min(bytes.len());
        match numbers.next(4) {
            0 => drop(bytes.drain(at..end)),
            1 => drop(bytes.splice(at..end, PIECES[numbers.next(PIECES.len())].bytes())),
            2 => bytes.truncate(at),
            _ if at < bytes.len() => bytes[at] ^= 1 << numbers.next(8),
            _ => {}
        }
    }
    bytes
}

#[test]
fn nothing_that_a_file_says_makes_a_reader_panic() {
    let turns = if std::env::var_os("ARGUS_LONG").is_some() { 200_000 } else { 2_000 };
    let (deps, times) = (made::deps().text(), made::times().text());
    let objects = r#"{"l2_swimlane_level": 4, "tasks": [{"task_id": 8589934592, "func_id": 0, "core_id": 0, "core_type": "aic", "ring_id": 2, "start_time_us": 1.5, "end_time_us": 2.125, "duration_us": 0.625, "dispatch_time_us": 1.0, "finish_time_us": 3.0}], "core_to_thread": [0, 1]}"#;
    let phases = r#"{"pid": 1, "inv": 1, "clock": "host_monotonic_ns", "dropped": 0, "records": [{"phase": "args", "start_ns": 1, "end_ns": 2, "detail": 3, "tid": 4}]}"#;
    let stall = "[STALL thread=0 idle_iterations=9] TIMEOUT_EXIT sub_class=S1:running-stalled completed=3/5 running=1 ready=0 waiting=1 orch_done=1 stuck_task_id=4294967298 stuck_core=8\n[STALL thread=0 idle_iterations=9] TASK ring=1 task_id=4294967298 state=RUNNING fanin_refcount=1/1 kernels=[aic:-1 aiv0:2 aiv1:-1] running_on=[owner_thread=0 cores=[core=8(aiv0)]]\n";
    let log = format!("{}{stall}", made::LOG);
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut accepted = [0usize; 4];
    for _ in 0..turns {
        if let Ok(read) = Deps::parse(&changed(&deps, &mut numbers)) {
            accepted[0] += 1;
            let graph = read.graph(&Names::default());
            assert_eq!(Deps::parse(read.text().as_bytes()).unwrap().tasks, read.tasks);
            let times = made::times();
            assert!(longest(&times, &graph).len() <= spans(&times).len());
        }
        for text in [times.as_str(), objects] {
            if let Ok(read) = Times::parse(&changed(text, &mut numbers)) {
                accepted[1] += 1;
                assert!(read.parts.iter().all(|part| part.start <= part.end));
                assert!(observed(&read, None).len() <= spans(&read).len());
                _ = read.origin();
            }
        }
        if let Ok(read) = RunLog::parse(&changed(&log, &mut numbers)) {
            accepted[2] += 1;
            assert!(
                read.stall
                    .is_none_or(|report| report.stall.is_none_or(|stall| stall.counts().contains(" of ")))
            );
        }
        if let Ok(read) = ScopeStats::parse(&changed(made::SCOPES, &mut numbers)) {
            accepted[3] += 1;
            assert!(read.scopes().len() <= read.samples.len());
            _ = read.scope_of(1, 5);
        }
        _ = Counters::parse(&changed(&made::counters().text(), &mut numbers));
        _ = Names::parse(&changed(&made::names().text(), &mut numbers));
        _ = Names::parse_kernel_config(&changed(
            "KERNELS = [{\"func_id\": 0, \"name\": \"QK\"}]",
            &mut numbers,
        ));
        _ = host_phases::parse(&changed(phases, &mut numbers));
        _ = identity::parse_program(&changed("{\"program\": \"attention\"}", &mut numbers));
    }
    // The changes are small: readers must have had something to say yes to, too.
    assert!(accepted.iter().all(|&count| count > turns / 100), "{accepted:?}");
}
