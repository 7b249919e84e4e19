//! More than the rings hold, faster than the sink takes it: nothing is lost.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use argus_capture::{CaptureConfig, Recorded, Session};
use argus_gm::GlobalMemory;

use crate::support::{Item, Memory, Random, STREAMING, argument, buffer, config, task};

const THREADS: u64 = 4;

/// Start and length of a payload, from the task's number alone.
fn extent(task_id: u64) -> (u32, u32) {
    let mut random = Random(task_id.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    random.next();
    let len = if random.below(100) == 0 { random.below(6000) } else { random.below(120) };
    (random.below(4000) as u32, len as u32)
}

fn press(entries: u64, slow: Option<Duration>, sizes: CaptureConfig) {
    let content = Random(11).bytes(10_000);
    let memory = Arc::new(GlobalMemory::new());
    let base = buffer(&memory, &content);
    let sink = Memory { slow, ..Memory::default() };
    let (session, rings) = Session::start(sizes, sink).unwrap();
    std::thread::scope(|scope| {
        for (thread, mut ring) in (0..THREADS).zip(rings) {
            let memory = &memory;
            scope.spawn(move || {
                for index in 0..entries / THREADS {
                    let task_id = thread << 32 | index;
                    let (start, len) = extent(task_id);
                    let view = base.view(&[len], &[start]).unwrap();
                    let done = ring.argument(argument(task_id, Some(&view)), Some(&view), memory);
                    assert_eq!(done, Recorded::Whole);
                }
            });
        }
    });
    let (sink, account) = session.finish();
    assert!(account.is_complete(), "{account:?}");
    assert_eq!(account.ledger.total().arguments, entries);
    assert!(account.ledger.total().waits > 0, "the rings were never full: no pressure");
    let mut next = BTreeMap::new();
    for item in sink.unwrap().items {
        let Item::Argument(entry, payload) = item else { panic!("{item:?}") };
        let (start, len) = extent(entry.task_id);
        let (start, len) = (start as usize, len as usize);
        assert!(payload == content[start..start + len], "payload of {:#x}", entry.task_id);
        let index = next.entry(entry.header.ring).or_insert(0u64);
        assert_eq!(entry.task_id, u64::from(entry.header.ring) << 32 | *index, "order within the ring");
        *index += 1;
    }
    assert!(next.values().all(|&count| count == entries / THREADS));
}

#[test]
fn a_hundred_thousand_entries_through_tiny_rings() {
    for transport in STREAMING {
        let sizes = CaptureConfig {
            entries_per_ring: 8,
            payload_bytes_per_ring: 1024,
            ..config(transport, THREADS as usize)
        };
        press(100_000, None, sizes);
    }
}

#[test]
fn a_slow_sink_makes_recorders_wait_and_loses_nothing() {
    for transport in STREAMING {
        press(2_000, Some(Duration::from_micros(200)), config(transport, THREADS as usize));
    }
}

/// A watcher can tell a run that waits for its capture from one that is stuck.
#[test]
fn waiting_is_visible_while_it_lasts() {
    for transport in STREAMING {
        let sink = Memory { slow: Some(Duration::from_millis(30)), ..Memory::default() };
        let sizes = CaptureConfig { entries_per_ring: 2, ..config(transport, 1) };
        let (session, mut rings) = Session::start(sizes, sink).unwrap();
        let status = session.status();
        assert!(!status.is_waiting());
        let before = status.progress();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for id in 0..12 {
                    assert_eq!(rings[0].task(task(id)), Recorded::Whole);
                }
            });
            let start = Instant::now();
            while !status.is_waiting() {
                assert!(start.elapsed() < Duration::from_secs(10), "no thread ever waited");
                std::thread::yield_now();
            }
        });
        assert_ne!(status.progress(), before);
        let (sink, account) = session.finish();
        assert!(account.is_complete());
        assert!(!status.is_waiting());
        let ring = account.ledger.rings[0];
        assert!(ring.waits > 0 && ring.wait_ns > 1_000_000, "{ring:?}");
        assert_eq!(sink.unwrap().items.len(), 12);
    }
}

/// What came is collected and flushed soon although the run continues, also after a long rest.
#[test]
fn an_idle_collector_reacts_and_flushes() {
    for transport in STREAMING {
        let sink = Memory::default();
        let flushes = Arc::clone(&sink.flushes);
        let (session, mut rings) = Session::start(config(transport, 1), sink).unwrap();
        for id in 0..3 {
            assert_eq!(rings[0].task(task(id)), Recorded::Whole);
            let start = Instant::now();
            while flushes.load(Ordering::Relaxed) as u64 <= id {
                // Generous: the machine may be busy. Usually this takes a few milliseconds.
                assert!(start.elapsed() < Duration::from_secs(10));
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        drop(rings);
        let (sink, account) = session.finish();
        assert!(account.is_complete());
        assert_eq!(sink.unwrap().items.len(), 3);
    }
}
