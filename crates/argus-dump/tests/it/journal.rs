use argus_abi::{DType, EdgeReason, TaskId};
use argus_dump::journal::{ENTRY_BYTES, Entry, HEADER_BYTES, Tail, TaskRecord, marks};
use argus_dump::{DumpOptions, Journal, JournalError, RunEnd, RunStatus, StatsMode};
use argus_facts::{Edge, Ledger, RingLedger, Sink};

use crate::common::{bytes, deliver, edges, scalar, skip, start, task, tensor};

/// A journal with every kind of entry, and what was put in.
fn sample() -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let options = DumpOptions { stats: StatsMode::Beside, ..DumpOptions::default() };
    let mut writer = start(directory.path(), options);
    deliver(&mut writer, &tensor(1 << 32, 0, 100), &bytes(1, 100), 40).unwrap();
    deliver(&mut writer, &scalar(1 << 32, 1, DType::F32, 0x3f80_0000), &[], 1).unwrap();
    writer.task(&task(1 << 32, [0, 1, -1])).unwrap();
    writer.edges(&edges(1 << 32, &[(7, 1), (8, 3)])).unwrap();
    writer.skip(&skip(9, u16::MAX)).unwrap();
    let ring = RingLedger { lost_entries: 1, lost_bytes: 2, waits: 3, wait_ns: 4, ..RingLedger::default() };
    let ledger = Ledger { rings: vec![ring] };
    let error = Some("kernel QK never answered: ".to_owned() + &"ä".repeat(60));
    writer.finish(RunEnd { status: RunStatus::Failed, error, ledger, ..RunEnd::default() }).unwrap();
    std::fs::read(directory.path().join("tensor_dump.journal")).unwrap()
}

#[test]
fn every_kind_comes_back() {
    let journal = Journal::from_bytes(sample()).unwrap();
    assert_eq!(journal.run_id(), 0x0123_4567_89ab_cdef_0011_2233_4455_6677);
    assert_eq!(journal.header().options, 0b11);
    assert_eq!(journal.tail(), Tail::Ended);
    let entries: Vec<_> = journal.entries().collect();
    assert_eq!(entries.len(), 9);
    let (Entry::Kernel(first), Entry::Kernel(second)) = (entries[0], entries[1]) else { panic!() };
    assert_eq!((first.func_id, first.name(), first.signature()), (0, "QK", &[1, 2, 0][..]));
    assert_eq!((second.func_id, second.name(), second.core_type, second.abi), (1, "SF", 1, 0));

    let Entry::Argument(argument) = entries[2] else { panic!() };
    assert_eq!(
        (argument.head.task_id, argument.head.arg_index, argument.head.bin_offset, argument.head.bin_size),
        (1 << 32, 0, 0, 100)
    );
    assert_eq!(argument.head.shapes, [100, 0, 0, 0, 0], "what lies beyond the dimensions is not kept");
    assert_eq!(argument.head.checksum, xxhash_rust::xxh3::xxh3_128(&bytes(1, 100)).to_be_bytes());
    assert!(
        argument.head.has(marks::CHECKSUM)
            && argument.head.has(marks::STATISTICS)
            && !argument.head.has(marks::SHARED)
    );
    let Entry::Argument(scalar) = entries[3] else { panic!() };
    assert_eq!((scalar.head.kind, scalar.head.scalar_bits, scalar.head.bin_size), (1, 0x3f80_0000, 0));
    assert!(!scalar.head.has(marks::CHECKSUM));

    let Entry::Task(TaskRecord { task, .. }) = entries[4] else { panic!() };
    assert_eq!((task.task_id, task.func_ids, task.blocks), (1 << 32, [0, 1, -1], 2));
    assert_eq!(task.cores.iter().collect::<Vec<_>>(), [0, 2, 64, 255]);
    let Entry::Edges(edges) = entries[5] else { panic!() };
    let edge = |from, reason| Edge { from: TaskId::from_raw(from), to: TaskId::new(1, 0), reason };
    let expected = [edge(7, EdgeReason::Creator), edge(8, EdgeReason::WriteAfterRead)];
    assert_eq!(edges.edges().unwrap().collect::<Vec<_>>(), expected);
    let Entry::Skip(skip) = entries[6] else { panic!() };
    assert_eq!((skip.task_id, skip.func_id, skip.arg_index, skip.stage), (9, 3, u16::MAX, 1));
    let Entry::Loss(loss) = entries[7] else { panic!() };
    assert_eq!((loss.lane, loss.lost_entries, loss.lost_bytes, loss.waits, loss.wait_ns), (0, 1, 2, 3, 4));
    let Entry::End(end) = entries[8] else { panic!() };
    assert_eq!((end.records, end.tasks, end.edges, end.skipped, end.status), (2, 1, 2, 1, 1));
    let error = std::str::from_utf8(&end.error[..usize::from(end.error_len)]).unwrap();
    assert!(error.starts_with("kernel QK never answered: ää") && error.len() > 100, "cut between characters");
}

#[test]
fn a_cut_journal_reads_to_its_last_whole_entry() {
    let whole = sample();
    let all: Vec<_> = Journal::from_bytes(whole.clone()).unwrap().entries().collect();
    for len in 0..whole.len() {
        let cut = whole[..len].to_vec();
        if len < HEADER_BYTES {
            assert!(matches!(Journal::from_bytes(cut), Err(JournalError::Short(short)) if short == len));
            continue;
        }
        let journal = Journal::from_bytes(cut).unwrap();
        let count = (len - HEADER_BYTES) / ENTRY_BYTES;
        assert_eq!(journal.entries().collect::<Vec<_>>(), all[..count]);
        let at = (HEADER_BYTES + count * ENTRY_BYTES) as u64;
        let tail = if at == len as u64 { Tail::Open } else { Tail::Torn { at } };
        assert_eq!(journal.tail(), tail);
    }
}

#[test]
fn a_changed_byte_ends_the_journal_there() {
    let whole = sample();
    let all: Vec<_> = Journal::from_bytes(whole.clone()).unwrap().entries().collect();
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 0x40;
        match Journal::from_bytes(changed) {
            Err(error) => {
                assert!(at < HEADER_BYTES);
                let expected = match at {
                    0..8 => matches!(error, JournalError::Magic),
                    8..12 => matches!(error, JournalError::Version(_)),
                    _ => matches!(error, JournalError::Header),
                };
                assert!(expected, "byte {at}: {error}");
            }
            Ok(journal) => {
                let count = (at - HEADER_BYTES) / ENTRY_BYTES;
                assert_eq!(journal.entries().collect::<Vec<_>>(), all[..count]);
                let damaged = (HEADER_BYTES + count * ENTRY_BYTES) as u64;
                assert!(matches!(journal.tail(), Tail::Damaged { at, .. } if at == damaged));
            }
        }
    }
}

#[test]
fn entries_out_of_place_are_not_believed() {
    let mut bytes = sample();
    let (first, second) = bytes[HEADER_BYTES..].split_at_mut(ENTRY_BYTES);
    first.swap_with_slice(&mut second[..ENTRY_BYTES]);
    let journal = Journal::from_bytes(bytes).unwrap();
    assert!(journal.is_empty());
    assert!(matches!(journal.tail(), Tail::Damaged { at, .. } if at == HEADER_BYTES as u64));
}

#[test]
fn zeros_behind_the_last_entry_are_unwritten() {
    let mut bytes = sample();
    bytes.truncate(HEADER_BYTES + 3 * ENTRY_BYTES);
    bytes.resize(8192, 0);
    let journal = Journal::from_bytes(bytes).unwrap();
    assert_eq!((journal.len(), journal.tail()), (3, Tail::Open));
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(
        patches in proptest::collection::vec((0usize..2048, proptest::num::u8::ANY), 0..40),
        len in 0usize..2048,
        raw in proptest::collection::vec(proptest::num::u8::ANY, 0..1024),
    ) {
        let mut bytes = sample();
        for (at, value) in patches {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = value;
            }
        }
        bytes.truncate(len);
        for bytes in [bytes, raw] {
            if let Ok(journal) = Journal::from_bytes(bytes) {
                for entry in journal.entries() {
                    if let Entry::Kernel(kernel) = entry {
                        let _ = (kernel.name().len(), kernel.signature().len());
                    }
                }
            }
        }
    }
}
