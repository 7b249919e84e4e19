use std::fs;

use argus_dump::read::{Dump, PayloadError};
use argus_dump::{DumpOptions, Journal, RunEnd};
use argus_facts::Sink;

use crate::common::{bytes, deliver, start, task, tensor};

/// Delivers payloads in pieces, reads them back by the journal, and returns the payload file.
fn round_trip(payloads: &[Vec<u8>], piece: usize, options: DumpOptions, flush_every: usize) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = start(directory.path(), options);
    for (index, payload) in payloads.iter().enumerate() {
        deliver(&mut writer, &tensor(index as u64, 0, payload.len() as u64), payload, piece).unwrap();
        if index % flush_every == flush_every - 1 {
            writer.flush().unwrap();
        }
    }
    let summary = writer.finish(RunEnd::default()).unwrap();
    let bin = std::fs::read(directory.path().join("tensor_dump.bin")).unwrap();
    assert_eq!(summary.stored_bytes, bin.len() as u64);
    assert_eq!(summary.payload_bytes, payloads.iter().map(|payload| payload.len() as u64).sum::<u64>());
    let journal = Journal::open(&directory.path().join("tensor_dump.journal")).unwrap();
    let records: Vec<_> = journal.arguments().collect();
    assert_eq!(records.len(), payloads.len());
    for (record, payload) in records.iter().zip(payloads) {
        let at = record.head.bin_offset as usize;
        assert_eq!(record.head.bin_size, payload.len() as u64);
        assert!(bin[at..at + payload.len()] == payload[..], "payload of task {}", record.head.task_id);
        assert_eq!(record.head.checksum, xxhash_rust::xxh3::xxh3_128(payload).to_be_bytes());
    }
    bin
}

/// Sizes around the block size and far from it.
fn sizes() -> Vec<usize> {
    let mut sizes =
        vec![0, 1, 4095, 4096, 4097, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 9 << 20, 3, 0, 700_001];
    sizes.extend((0..200).map(|index| (index * 7919) % 5000));
    sizes
}

#[test]
fn the_file_is_the_payloads_one_after_the_other() {
    let payloads: Vec<_> = sizes().into_iter().zip(0..).map(|(len, seed)| bytes(seed, len)).collect();
    let expected = payloads.concat();
    for direct in [true, false] {
        for (piece, flush_every) in [(usize::MAX >> 1, usize::MAX), (1 << 20, 3), (65_537, 1)] {
            let options = DumpOptions { dedupe: false, direct, sync: direct, ..DumpOptions::default() };
            assert!(round_trip(&payloads, piece, options, flush_every) == expected);
        }
    }
}

#[test]
fn without_direct_writes_it_is_the_same() {
    // tmpfs takes no direct writes on older systems; where it does, this is one more file system.
    if std::fs::metadata("/dev/shm").is_err() {
        eprintln!("skipped: no /dev/shm");
        return;
    }
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let payload = bytes(5, 9 << 20);
    let mut writer = start(directory.path(), DumpOptions::default());
    deliver(&mut writer, &tensor(0, 0, payload.len() as u64), &payload, 1 << 20).unwrap();
    writer.finish(RunEnd::default()).unwrap();
    assert!(std::fs::read(directory.path().join("tensor_dump.bin")).unwrap() == payload);
}

#[test]
fn equal_payloads_are_stored_once() {
    let (small, large, other) = (bytes(1, 1000), bytes(2, 9 << 20), bytes(3, 6 << 20));
    let payloads = vec![
        small.clone(),
        large.clone(),
        small.clone(),
        other.clone(),
        large.clone(),
        vec![],
        large.clone(),
    ];
    let expected = [&small[..], &large, &other].concat();
    // In one piece nothing is written twice; in pieces it is taken back, over block boundaries, too.
    for (piece, flush_every) in [(usize::MAX >> 1, usize::MAX), (1 << 20, usize::MAX), (333_333, 1)] {
        for direct in [true, false] {
            let options = DumpOptions { direct, ..DumpOptions::default() };
            assert!(round_trip(&payloads, piece, options, flush_every) == expected, "pieces of {piece}");
        }
    }
    let options = DumpOptions { dedupe: false, ..DumpOptions::default() };
    assert!(round_trip(&payloads, 1 << 20, options, 2) == payloads.concat());
}

#[test]
fn what_follows_a_payload_taken_back_is_right() {
    let large = bytes(2, (13 << 20) + 5);
    let payloads: Vec<_> = (0..12)
        .map(|index| if index % 2 == 0 { large.clone() } else { bytes(index, 1_234_567 * index as usize) })
        .collect();
    let mut expected = large.clone();
    for payload in payloads.iter().skip(1).step_by(2) {
        expected.extend_from_slice(payload);
    }
    assert!(round_trip(&payloads, 1 << 20, DumpOptions::default(), usize::MAX) == expected);
    assert!(round_trip(&payloads, 1 << 20, DumpOptions::default(), 1) == expected);
}

#[test]
fn a_flush_in_the_middle_of_a_payload_that_is_taken_back_does_no_harm() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = start(directory.path(), DumpOptions::default());
    let (known, fresh) = (bytes(1, 300_000), bytes(2, 200_000));
    deliver(&mut writer, &tensor(0, 0, 300_000), &known, usize::MAX).unwrap();
    writer.begin_argument(&tensor(1, 0, 300_000)).unwrap();
    for piece in known.chunks(100_000) {
        writer.payload(piece).unwrap();
        writer.settle().unwrap();
    }
    writer.end_argument().unwrap();
    deliver(&mut writer, &tensor(2, 0, 200_000), &fresh, usize::MAX).unwrap();
    assert_eq!(writer.finish(RunEnd::default()).unwrap().shared, 1);
    assert!(std::fs::read(directory.path().join("tensor_dump.bin")).unwrap() == [known, fresh].concat());
}

#[test]
fn flushed_records_are_readable_during_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = start(directory.path(), DumpOptions::default());
    let path = directory.path().join("tensor_dump.journal");
    for count in 1..40u64 {
        let len = (count * 7_777_777 % 2_000_000) as usize;
        deliver(&mut writer, &tensor(count, 0, len as u64), &bytes(count, len), 1 << 20).unwrap();
        let started = std::time::Instant::now();
        loop {
            writer.flush().unwrap();
            let journal = Journal::open(&path).unwrap();
            if journal.arguments().count() as u64 == count {
                let record = journal.arguments().last().unwrap();
                let bin = std::fs::read(directory.path().join("tensor_dump.bin")).unwrap();
                assert!(bin[record.head.bin_offset as usize..][..len] == bytes(count, len)[..]);
                break;
            }
            assert!(started.elapsed().as_secs() < 20, "record {count} never became readable");
            std::thread::yield_now();
        }
    }
    writer.settle().unwrap();
    assert!(!directory.path().join("tensor_dump.json").exists(), "the manifest comes at the end");
    let run = std::fs::read(directory.path().join("run.json")).unwrap();
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&run).unwrap()["status"], "running");
}

#[test]
fn a_writer_that_is_dropped_leaves_what_it_had() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = start(directory.path(), DumpOptions::default());
    deliver(&mut writer, &tensor(1, 0, 500), &bytes(1, 500), 500).unwrap();
    drop(writer);
    let journal = Journal::open(&directory.path().join("tensor_dump.journal")).unwrap();
    assert_eq!(journal.arguments().count(), 1);
    assert_eq!(std::fs::read(directory.path().join("tensor_dump.bin")).unwrap(), bytes(1, 500));
}

#[test]
fn a_payload_that_never_became_whole_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = start(directory.path(), DumpOptions::default());
    deliver(&mut writer, &tensor(1, 0, 500), &bytes(1, 500), 500).unwrap();
    writer.begin_argument(&tensor(2, 0, 20 << 20)).unwrap();
    writer.payload(&bytes(2, 9 << 20)).unwrap();
    let summary = writer.finish(RunEnd::default()).unwrap();
    assert_eq!((summary.records, summary.stored_bytes), (1, 500));
    assert_eq!(std::fs::read(directory.path().join("tensor_dump.bin")).unwrap(), bytes(1, 500));
}

/// Small payloads are hashed each time, large ones once: both ways tell damage, and only of the damaged record.
#[test]
fn a_damaged_payload_is_an_error_with_its_record_and_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = start(directory.path(), DumpOptions::default());
    for (index, size) in [(0, 100), (1, 10_000), (2, 100), (3, 10_000)] {
        deliver(&mut writer, &tensor(1, index, size), &bytes(u64::from(index), size as usize), 1 << 20)
            .unwrap();
    }
    writer.task(&task(1, [0, -1, -1])).unwrap();
    writer.finish(RunEnd::default()).unwrap();
    let path = directory.path().join("tensor_dump.bin");
    let stored = fs::read(&path).unwrap();
    for damaged in 0..4 {
        let range = {
            let dump = Dump::open(directory.path()).unwrap();
            let record = dump.record(damaged);
            record.bin_offset..record.bin_offset + record.bin_size
        };
        let mut bytes = stored.clone();
        bytes[range.end as usize - 1] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let dump = Dump::open(directory.path()).unwrap();
        // Twice: what is known of a large payload counts as much as what was just found out.
        for index in (0..4).chain(0..4) {
            let record = dump.record(index);
            match dump.payload(&record) {
                Ok(read) => {
                    let place = record.bin_offset as usize..(record.bin_offset + record.bin_size) as usize;
                    assert!(index != damaged && read == &bytes[place], "record {index}, damaged {damaged}");
                }
                Err(error @ PayloadError::Damaged { .. }) => {
                    assert!(index == damaged && error.is_damage(), "record {index}, damaged {damaged}");
                    let text = error.to_string();
                    let named = format!("record {index}, bytes {}..{} of", range.start, range.end);
                    assert!(text.contains(&named), "{text}");
                }
                Err(error) => panic!("{error}"),
            }
        }
        fs::write(&path, &stored).unwrap();
    }
}
