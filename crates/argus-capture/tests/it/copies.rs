//! The price of copying: little more than what is new.

use std::sync::Arc;
use std::time::Duration;

use argus_abi::capture::ENTRY_BYTES;
use argus_capture::{CaptureConfig, Recorded, Session, TransportKind};
use argus_gm::GlobalMemory;

use crate::support::{Memory, Random, argument, buffer, task};

/// Four rings of tasks with two tensors of 16 KiB and a scalar each, at a pace at which the collector often
/// finds nothing.
#[test]
fn bytes_copied_are_at_most_a_tenth_more_than_new_bytes() {
    for (transport, pace) in [
        (TransportKind::Copied, None),
        (TransportKind::Copied, Some(Duration::from_micros(100))),
        (TransportKind::AfterSync, None),
    ] {
        let memory = Arc::new(GlobalMemory::new());
        let view = buffer(&memory, &Random(31).bytes(16 << 10));
        let config = match transport {
            TransportKind::AfterSync => CaptureConfig::after_sync(4, 64 << 20),
            _ => CaptureConfig { payload_bytes_per_ring: 64 << 10, ..CaptureConfig::streaming(4, transport) },
        };
        let (session, rings) = Session::start(config, Memory::default()).unwrap();
        std::thread::scope(|scope| {
            for mut ring in rings {
                let (memory, view) = (&memory, &view);
                scope.spawn(move || {
                    for id in 0..500 {
                        for _ in 0..2 {
                            let done = ring.argument(argument(id, Some(view)), Some(view), memory);
                            assert_eq!(done, Recorded::Whole);
                        }
                        assert_eq!(ring.argument(argument(id, None), None, memory), Recorded::Whole);
                        assert_eq!(ring.task(task(id)), Recorded::Whole);
                        if let Some(pace) = pace {
                            std::thread::sleep(pace);
                        }
                    }
                });
            }
        });
        let (_, account) = session.finish();
        assert!(account.is_complete(), "{account:?}");
        let total = account.ledger.total();
        let new = total.payload_bytes + total.entries * ENTRY_BYTES as u64;
        assert_eq!(total.payload_bytes, 4 * 500 * 2 * (16 << 10));
        assert!(account.bytes_copied >= new);
        let ratio = account.bytes_copied as f64 / new as f64;
        assert!(ratio <= 1.1, "{transport:?} {pace:?}: {ratio}");
    }
}

/// Only scalars: the worst case, as a look costs half an entry.
#[test]
fn a_stream_of_scalars_is_copied_in_batches() {
    let memory = Arc::new(GlobalMemory::new());
    let config = CaptureConfig::streaming(1, TransportKind::Copied);
    let (session, mut rings) = Session::start(config, Memory::default()).unwrap();
    for id in 0..200_000 {
        assert_eq!(rings[0].argument(argument(id, None), None, &memory), Recorded::Whole);
    }
    drop(rings);
    let (_, account) = session.finish();
    assert!(account.is_complete());
    let ratio = account.bytes_copied as f64 / (200_000 * ENTRY_BYTES) as f64;
    assert!(ratio <= 1.1, "{ratio}");
}

#[test]
fn nothing_is_copied_from_mapped_lanes() {
    let config = CaptureConfig::streaming(1, TransportKind::Mapped);
    let (session, mut rings) = Session::start(config, Memory::default()).unwrap();
    assert_eq!(rings[0].task(task(1)), Recorded::Whole);
    drop(rings);
    let (_, account) = session.finish();
    assert!(account.is_complete());
    assert_eq!(account.bytes_copied, 0);
}
