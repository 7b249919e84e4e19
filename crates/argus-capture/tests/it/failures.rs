//! Collectors that die, sinks that fail, memory that is too small: the run ends, and the account is exact.

use std::sync::Arc;
use std::time::{Duration, Instant};

use argus_abi::{EdgeReason, TaskId};
use argus_capture::{Account, CaptureConfig, CaptureError, Recorded, Session, TransportKind};
use argus_gm::GlobalMemory;

use crate::support::{Item, Memory, Random, STREAMING, TRANSPORTS, argument, buffer, capture, config, task};

const ENTRIES: u64 = 5_000;
const BYTES: u64 = 700;

/// Two rings full of arguments into a sink that gives up midway. The recording threads must end by
/// themselves, soon.
fn run_against(transport: TransportKind, sink: Memory) -> (Option<Memory>, Account) {
    let memory = Arc::new(GlobalMemory::new());
    let view = buffer(&memory, &Random(21).bytes(BYTES as usize));
    let (session, rings) = Session::start(config(transport, 2), sink).unwrap();
    let start = Instant::now();
    std::thread::scope(|scope| {
        for mut ring in rings {
            let (memory, view) = (&memory, &view);
            scope.spawn(move || {
                for id in 0..ENTRIES {
                    // Whole or lost, whichever the ring still takes.
                    let _ = ring.argument(argument(id, Some(view)), Some(view), memory);
                }
            });
        }
    });
    let (sink, account) = session.finish();
    assert!(start.elapsed() < Duration::from_secs(20), "a thread waited for a collector that is gone");
    (sink, account)
}

/// Everything recorded is either delivered or lost, ring by ring.
fn assert_adds_up(account: &Account) {
    assert!(!account.is_complete());
    for ring in &account.ledger.rings {
        assert_eq!(ring.entries + ring.lost_entries, ENTRIES, "{ring:?}");
        assert_eq!(ring.payload_bytes + ring.lost_bytes, ENTRIES * BYTES, "{ring:?}");
        assert_eq!(ring.payload_bytes, ring.arguments * BYTES);
    }
    assert!(account.ledger.total().lost_entries > 0);
}

#[test]
fn a_collector_that_panics_is_noticed_and_reported() {
    for transport in TRANSPORTS {
        let (sink, account) = run_against(transport, Memory { panic_at: Some(300), ..Memory::default() });
        assert!(sink.is_none());
        let text = match &account.failure {
            Some(CaptureError::Panicked(text)) => text,
            other => panic!("{other:?}"),
        };
        assert!(text.contains("asked to panic"), "{text}");
        assert_adds_up(&account);
        assert_eq!(account.ledger.total().entries, 300);
    }
}

#[test]
fn a_sink_that_fails_is_left_alone_and_the_lanes_are_drained() {
    for transport in TRANSPORTS {
        let (sink, account) = run_against(transport, Memory { fail_at: Some(300), ..Memory::default() });
        let failure = account.failure.as_ref().unwrap();
        assert!(matches!(failure, CaptureError::Sink(_)), "{failure:?}");
        assert_eq!(std::error::Error::source(failure).unwrap().to_string(), "the disk is full");
        assert_adds_up(&account);
        assert_eq!(sink.unwrap().items.len(), 300);
    }
}

#[test]
fn a_sink_that_fails_inside_a_payload() {
    for transport in TRANSPORTS {
        let sink = Memory { fail_in_payload: true, ..Memory::default() };
        let (sink, account) = capture(transport, sink, |ring, memory| {
            let view = buffer(memory, &vec![3; 5 << 20]);
            for id in 0..3 {
                assert_eq!(ring.argument(argument(id, Some(&view)), Some(&view), memory), Recorded::Whole);
            }
        });
        assert!(matches!(account.failure, Some(CaptureError::Sink(_))));
        let total = account.ledger.total();
        assert_eq!((total.entries, total.lost_entries, total.lost_bytes), (0, 3, 15 << 20), "{transport:?}");
        assert!(sink.unwrap().open.is_some());
    }
}

/// The collector dies while a recorder is inside a payload that only it could have made room for.
#[test]
fn a_recorder_inside_a_payload_notices_too() {
    for transport in STREAMING {
        let sink = Memory { panic_at: Some(0), ..Memory::default() };
        let (sink, account) = capture(transport, sink, |ring, memory| {
            let view = buffer(memory, &vec![3; 20 << 20]);
            assert_eq!(ring.argument(argument(0, Some(&view)), Some(&view), memory), Recorded::Lost);
            // From now on nothing waits: a thousand of these would otherwise take long.
            let start = Instant::now();
            for id in 0..1000 {
                assert_eq!(ring.argument(argument(id, Some(&view)), Some(&view), memory), Recorded::Lost);
            }
            assert!(start.elapsed() < Duration::from_secs(5));
        });
        assert!(sink.is_none());
        let total = account.ledger.total();
        assert_eq!((total.entries, total.lost_entries, total.lost_bytes), (0, 1001, 1001 * (20 << 20)));
    }
}

#[test]
fn after_sync_that_does_not_fit_counts_exactly_what_is_missing() {
    let memory = Arc::new(GlobalMemory::new());
    let view = buffer(&memory, &[9; 1000]);
    let large = buffer(&memory, &[8; 10_000]);
    let sizes = CaptureConfig {
        rings: 1,
        entries_per_ring: 12,
        payload_bytes_per_ring: 4096,
        transport: TransportKind::AfterSync,
    };
    let (session, mut rings) = Session::start(sizes, Memory::default()).unwrap();
    let ring = &mut rings[0];
    assert_eq!(ring.argument(argument(0, Some(&large)), Some(&large), &memory), Recorded::Lost);
    for id in 0..4 {
        assert_eq!(ring.argument(argument(id, Some(&view)), Some(&view), &memory), Recorded::Whole);
    }
    assert_eq!(ring.argument(argument(4, Some(&view)), Some(&view), &memory), Recorded::Lost);
    for id in 0..8 {
        assert_eq!(ring.task(task(id)), Recorded::Whole);
    }
    assert_eq!(ring.task(task(8)), Recorded::Lost);
    assert_eq!(
        ring.edges(TaskId::new(0, 8), &[(TaskId::new(0, 1), EdgeReason::Explicit); 25]),
        Recorded::Lost
    );
    drop(rings);
    let (sink, account) = session.finish();
    let total = account.ledger.total();
    assert_eq!((total.entries, total.arguments, total.payload_bytes), (12, 4, 4000));
    assert_eq!((total.lost_entries, total.lost_bytes), (6, 11_000));
    assert_eq!((total.waits, total.wait_ns), (0, 0));
    let text = account.failure.as_ref().unwrap().to_string();
    assert!(text.starts_with("6 entries with 11000 payload bytes did not fit"), "{text}");
    let items = sink.unwrap().items;
    assert!(items.iter().take(4).all(|item| matches!(item, Item::Argument(_, bytes) if *bytes == [9; 1000])));
}

/// A recorder that is still alive when the capture is finished cannot hang it; it is reported.
#[test]
fn finishing_with_an_open_lane_is_a_failure_and_no_hang() {
    for transport in TRANSPORTS {
        let (session, mut rings) = Session::start(config(transport, 2), Memory::default()).unwrap();
        assert_eq!(rings[1].task(task(5)), Recorded::Whole);
        let kept = rings.remove(1);
        drop(rings);
        let (sink, account) = session.finish();
        assert!(matches!(account.failure, Some(CaptureError::StillOpen { ring: 1 })), "{account:?}");
        assert_eq!(sink.unwrap().items.len(), 1);
        // It continues into the void and waits for nothing.
        let mut kept = kept;
        let mut lost = 0;
        for id in 0..1_000_000 {
            lost += u64::from(kept.task(task(id)) == Recorded::Lost);
        }
        assert!(lost > 0);
    }
}

#[test]
fn an_abandoned_session_frees_its_recorders() {
    for transport in TRANSPORTS {
        let memory = Arc::new(GlobalMemory::new());
        let (session, mut rings) = Session::start(config(transport, 1), Memory::default()).unwrap();
        drop(session);
        let view = buffer(&memory, &[1; 100_000]);
        let mut lost = false;
        for id in 0..1000 {
            lost |= rings[0].argument(argument(id, Some(&view)), Some(&view), &memory) == Recorded::Lost;
        }
        assert!(lost);
    }
}
