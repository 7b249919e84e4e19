//! Payloads of any size through rings of any size, by every transport, with the same result.

use std::sync::Arc;

use argus_abi::capture::{EntryHeader, SkipEntry, skip_reason};
use argus_abi::{DType, EdgeReason, TaskId, Tensor};
use argus_capture::{CaptureConfig, CaptureError, Recorded, Session, TransportKind};
use argus_gm::{Fill, GlobalMemory};

use crate::support::{
    Item, Memory, Random, STREAMING, TRANSPORTS, argument, buffer, capture, capture_in, config, task,
};

#[test]
fn a_payload_larger_than_the_ring_comes_out_whole() {
    let content = Random(1).bytes(10 << 20);
    for transport in TRANSPORTS {
        let (sink, account) = capture(transport, Memory::default(), |ring, memory| {
            let view = buffer(memory, &content);
            for task_id in 0..2 {
                assert_eq!(
                    ring.argument(argument(task_id, Some(&view)), Some(&view), memory),
                    Recorded::Whole
                );
                assert_eq!(ring.task(task(task_id)), Recorded::Whole);
            }
        });
        assert!(account.is_complete(), "{transport:?}: {account:?}");
        assert_eq!(account.ledger.total().payload_bytes, 20 << 20);
        let items = sink.unwrap().items;
        assert_eq!(items.len(), 4);
        for index in [0, 2] {
            assert!(matches!(&items[index], Item::Argument(_, bytes) if *bytes == content), "{transport:?}");
        }
    }
}

/// All sizes around a ring's capacity and a quarter of it, where the ways of publishing change.
#[test]
fn sizes_around_the_ring_and_its_quarter() {
    let content = Random(2).bytes(1200);
    let sizes: Vec<usize> = (1..=1100).step_by(3).chain([63, 64, 65, 127, 128, 129, 255, 256, 257]).collect();
    for transport in STREAMING {
        let mut config = config(transport, 1);
        (config.entries_per_ring, config.payload_bytes_per_ring) = (3, 256);
        let memory = Arc::new(GlobalMemory::new());
        let (sink, account) = capture_in(&memory, config, Memory::default(), |ring, memory| {
            let base = buffer(memory, &content);
            for &size in &sizes {
                let view = base.view(&[size as u32], &[(size % 90) as u32]).unwrap();
                assert_eq!(ring.argument(argument(0, Some(&view)), Some(&view), memory), Recorded::Whole);
            }
        });
        assert!(account.is_complete(), "{transport:?}: {account:?}");
        for (item, &size) in sink.unwrap().items.iter().zip(&sizes) {
            let Item::Argument(_, bytes) = item else { panic!("{item:?}") };
            assert_eq!(*bytes, content[size % 90..size % 90 + size]);
        }
    }
}

/// 256 MiB through 64 KiB; with `ARGUS_LONG=1` a gibibyte. Compared by hash, the sink keeps nothing.
#[test]
fn a_very_large_tensor_passes_through_a_small_ring() {
    let long = std::env::var_os("ARGUS_LONG").is_some_and(|value| value == "1");
    let len: u64 = if long { 1 << 30 } else { 256 << 20 };
    let memory = Arc::new(GlobalMemory::new());
    let device = memory.allocate(len, Fill::Untouched).unwrap();
    let mut expected = xxhash_rust::xxh3::Xxh3::new();
    let block = Random(3).bytes(1 << 20);
    for index in 0..len >> 20 {
        // Every block is different, so that one out of place shows.
        let mut block = block.clone();
        block[..8].copy_from_slice(&index.to_le_bytes());
        memory.write(device.addr + (index << 20), &block).unwrap();
        expected.update(&block);
    }
    let view = Tensor::contiguous(device.addr, DType::F32, &[(len >> 20) as u32, 1 << 18]).unwrap();
    for transport in STREAMING {
        let (session, mut rings) = Session::start(config(transport, 1), Hashing::default()).unwrap();
        assert_eq!(rings[0].argument(argument(0, Some(&view)), Some(&view), &memory), Recorded::Whole);
        drop(rings);
        let (sink, account) = session.finish();
        assert!(account.is_complete(), "{account:?}");
        assert_eq!(account.ledger.total().payload_bytes, len);
        assert_eq!(sink.unwrap().hash.digest128(), expected.digest128(), "{transport:?}");
    }
}

#[derive(Default)]
struct Hashing {
    hash: xxhash_rust::xxh3::Xxh3,
}

impl argus_facts::Sink for Hashing {
    type Error = std::convert::Infallible;

    fn begin_argument(&mut self, _: &argus_abi::capture::ArgumentEntry) -> Result<(), Self::Error> {
        Ok(())
    }
    fn payload(&mut self, piece: &[u8]) -> Result<(), Self::Error> {
        self.hash.update(piece);
        Ok(())
    }
    fn end_argument(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
    fn task(&mut self, _: &argus_abi::capture::TaskEntry) -> Result<(), Self::Error> {
        Ok(())
    }
    fn edges(&mut self, _: &argus_abi::capture::EdgesEntry) -> Result<(), Self::Error> {
        Ok(())
    }
    fn skip(&mut self, _: &SkipEntry) -> Result<(), Self::Error> {
        Ok(())
    }
    fn flush(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// The same recording by every transport: the same items, byte for byte.
#[test]
fn every_transport_delivers_the_same() {
    let runs: Vec<Vec<Item>> = TRANSPORTS
        .into_iter()
        .map(|transport| {
            let memory = Arc::new(GlobalMemory::new());
            let content = Random(4).bytes(300_000);
            let base = buffer(&memory, &content);
            let (sink, account) =
                capture_in(&memory, config(transport, 1), Memory::default(), |ring, memory| {
                    let mut random = Random(5);
                    for task_id in 0..2000 {
                        let len = random.below(if task_id % 50 == 0 { 200_000 } else { 900 }) as u32;
                        let view = base.view(&[len], &[random.below(90_000) as u32]).unwrap();
                        let mut entry = argument(task_id, Some(&view));
                        entry.address = 0; // differs from run to run
                        assert_eq!(ring.argument(entry, Some(&view), memory), Recorded::Whole);
                        assert_eq!(ring.task(task(task_id)), Recorded::Whole);
                    }
                });
            assert!(account.is_complete(), "{account:?}");
            sink.unwrap().items
        })
        .collect();
    assert_eq!(runs[0].len(), 4000);
    assert!(runs[0] == runs[1] && runs[1] == runs[2]);
}

#[test]
fn tasks_edges_and_skips_arrive_as_they_were() {
    for transport in TRANSPORTS {
        let producers: Vec<(TaskId, EdgeReason)> = (0..23)
            .map(|id| (TaskId::from_raw(id << 33 | 1), EdgeReason::from_raw((id % 4) as u8).unwrap()))
            .collect();
        let (sink, account) = capture(transport, Memory::default(), |ring, _| {
            assert_eq!(ring.task(task(77)), Recorded::Whole);
            assert_eq!(ring.edges(TaskId::from_raw(77), &producers), Recorded::Whole);
            assert_eq!(ring.edges(TaskId::from_raw(78), &[]), Recorded::Whole);
            let header = EntryHeader { magic: 0, version: 0, what: 0, ring: 0, sequence: 0 };
            let reason = skip_reason::NO_METADATA;
            let (func_id, arg_index, stage) = (5, u16::MAX, 0);
            let skip = SkipEntry { header, task_id: 9, func_id, arg_index, stage, reason, reserved: [0; 96] };
            assert_eq!(ring.skip(skip), Recorded::Whole);
        });
        assert!(account.is_complete());
        let items = sink.unwrap().items;
        assert_eq!(items.len(), 5, "{items:?}");
        assert!(
            matches!(&items[0], Item::Task(entry) if entry.task.task_id == 77 && entry.task.func_ids == [7, -1, -1])
        );
        let mut seen = Vec::new();
        for item in &items[1..4] {
            let Item::Edges(edges) = item else { panic!("{item:?}") };
            assert_eq!(edges.consumer, 77);
            for index in 0..usize::from(edges.count) {
                let reason = EdgeReason::from_raw(edges.reasons[index]).unwrap();
                seen.push((TaskId::from_raw(edges.producers[index]), reason));
            }
        }
        assert_eq!(seen, producers);
        assert_eq!(seen[2].1.name(), "overlap");
        assert!(matches!(&items[4], Item::Skip(entry) if entry.task_id == 9 && entry.func_id == 5));
        for (index, item) in items.iter().enumerate() {
            assert_eq!(item.header().sequence, index as u64);
        }
    }
}

#[test]
fn closing_without_entries_is_a_complete_capture() {
    for transport in TRANSPORTS {
        let (sink, account) = capture(transport, Memory::default(), |_, _| {});
        assert!(account.is_complete(), "{account:?}");
        assert!(sink.unwrap().items.is_empty());
    }
}

#[test]
fn sixty_four_lanes_keep_apart() {
    for transport in TRANSPORTS {
        let memory = Arc::new(GlobalMemory::new());
        let mut config = config(transport, 64);
        config.payload_bytes_per_ring = 1 << 16;
        let (session, rings) = Session::start(config, Memory::default()).unwrap();
        let view = buffer(&memory, &Random(6).bytes(512));
        std::thread::scope(|scope| {
            let mut rest = rings.into_iter();
            while let Some(first) = rest.next() {
                // Eight rings to a thread, written in turn.
                let mut mine: Vec<_> = std::iter::once(first).chain(rest.by_ref().take(7)).collect();
                let (memory, view) = (&memory, &view);
                scope.spawn(move || {
                    for round in 0..50u64 {
                        for ring in &mut mine {
                            let entry = argument(u64::from(ring.number()) << 32 | round, Some(view));
                            assert_eq!(ring.argument(entry, Some(view), memory), Recorded::Whole);
                        }
                    }
                });
            }
        });
        let (sink, account) = session.finish();
        assert!(account.is_complete(), "{account:?}");
        assert_eq!(account.ledger.rings.len(), 64);
        assert!(
            account.ledger.rings.iter().all(|ring| ring.arguments == 50 && ring.payload_bytes == 50 * 512)
        );
        let mut next = [0u64; 64];
        for item in sink.unwrap().items {
            let Item::Argument(entry, _) = item else { panic!("{item:?}") };
            let ring = usize::from(entry.header.ring);
            assert_eq!(entry.task_id, (ring as u64) << 32 | next[ring]);
            next[ring] += 1;
        }
        assert_eq!(next, [50; 64]);
    }
}

#[test]
fn impossible_sizes_are_refused() {
    let good = config(TransportKind::Mapped, 1);
    for bad in [
        CaptureConfig { rings: 0, ..good },
        CaptureConfig { rings: 257, ..good },
        CaptureConfig { entries_per_ring: 0, ..good },
        CaptureConfig { payload_bytes_per_ring: 0, ..good },
        CaptureConfig { payload_bytes_per_ring: usize::MAX, ..good },
        CaptureConfig { entries_per_ring: usize::MAX, ..good },
    ] {
        let refused = Session::start(bad, Memory::default()).err();
        assert!(matches!(refused, Some(CaptureError::Config(_))), "{bad:?}");
    }
}
