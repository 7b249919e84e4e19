//! The reference's dumps of three ages, written by hand, and our own manifest without its journal.

use std::fs;
use std::path::{Path, PathBuf};

use argus_abi::capture::argument_flags;
use argus_abi::{DType, Kind, Role, Stage};
use argus_dump::read::{Dump, Ending, FormatVersion, PayloadError, Record, Scalar};
use argus_dump::{DumpOptions, RunEnd, RunStatus, StatsMode};
use argus_facts::number::{Number, number};
use argus_facts::{Ledger, Sink, with_causes};

use crate::common::{bytes, deliver, edges, scalar, skip, start, task, tensor};

pub fn data(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/data").join(path)
}

const APRIL: &str = "april/tensor_dump_20260415_093000";

#[test]
fn april_is_read_with_its_views_as_strides() {
    let dump = Dump::open(&data(APRIL)).unwrap();
    assert_eq!(
        (dump.format_version(), dump.len(), dump.ending()),
        (FormatVersion::April, 6, &Ending::Unknown)
    );
    let view = |index: usize| {
        let record = dump.record(index);
        (record.shape().to_vec(), record.strides().to_vec(), record.start_offset, record.contiguous)
    };
    assert_eq!(view(0), (vec![2, 3], vec![3, 1], 0, true));
    assert_eq!(view(1), (vec![2, 2], vec![6, 1], 8, false));
    assert_eq!(view(3), (vec![2, 1, 2], vec![6, 2, 1], 2, false));

    let inout = dump.record(3);
    assert_eq!((inout.task_id.raw(), inout.subtask, &*inout.func_ids), (0x1_0000_0002, Some(1), &[7][..]));
    assert_eq!((inout.role, inout.stage, inout.kind), (Role::Inout, Stage::BeforeDispatch, Kind::Tensor));
    assert_eq!((inout.arg_index, inout.dtype, inout.logical_bytes), (0, Some(DType::F16), Some(8)));
    assert_eq!(dump.kernel_names(&inout), "7");
    assert_eq!((&*dump.record(5).func_ids, dump.kernel_names(&dump.record(5))), (&[][..], String::new()));

    assert_eq!(values(&dump, 1), [8.0, 9.0, 14.0, -15.0]);
    assert_eq!(values(&dump, 3), [1.0, 2.0, -1.0, 5.960464477539063e-8]);
    assert_eq!((dump.record(4).truncated, values(&dump, 4)), (true, vec![1.0, f64::INFINITY]));
    let overwritten = dump.payload(&dump.record(5));
    assert!(matches!(overwritten, Err(PayloadError::Overwritten { record: 5 })));
    let losses = dump.losses();
    assert_eq!((losses.dropped_records, losses.truncated, losses.overwritten), (3, 1, 1));
    assert_eq!(dump.notes().len(), 3, "{:?}", dump.notes());
}

#[test]
fn june_keeps_the_bits_of_scalars() {
    let dump = Dump::open(&data("june")).unwrap();
    assert_eq!((dump.format_version(), dump.len()), (FormatVersion::June, 5));
    assert_eq!(dump.directory(), data("june/tensor_dump"));
    let scalars: Vec<_> = dump.records().map(|record| record.scalar).collect();
    let bits = |bits| Some(Scalar::Bits(bits));
    assert_eq!(scalars, [None, None, bits(0x3f80_0000), bits(u64::MAX), None]);
    let first = dump.record(0);
    assert_eq!((first.shape(), first.strides(), first.start_offset), (&[4, 1][..], &[16, 1][..], 48));
    assert_eq!((first.contiguous, &*first.func_ids, first.subtask), (false, &[][..], None));
    assert_eq!(values(&dump, 0), [2.0, -1.5, 0.25, 1e9]);
    assert_eq!(dump.payload(&dump.record(1)).unwrap()[8..16], (1u64 << 62).to_le_bytes());
    assert_eq!(values(&dump, 4), [5.0, 6.0, 7.0, 8.0]);
    let error = with_causes(&dump.payload(&dump.record(2)).unwrap_err());
    assert_eq!(error, "record 2 is a scalar; its value is in the record, not in a payload file");
    assert!(dump.graph().is_none() && dump.run().is_none() && dump.notes().is_empty());
}

#[test]
fn august_types_its_scalars_and_leaves_payloads_out() {
    let dump = Dump::open(&data("august/args_dump/args_dump.json")).unwrap();
    assert_eq!((dump.format_version(), dump.len()), (FormatVersion::August, 16));
    let scalars: Vec<_> = (2..13).map(|index| dump.record(index).scalar.unwrap()).collect();
    assert_eq!(scalars[0], Scalar::Rounded(0.1));
    assert!(matches!(scalars[1], Scalar::Rounded(value) if value.is_nan()));
    let rest = [
        Scalar::Rounded(f64::INFINITY),
        Scalar::Rounded(f64::NEG_INFINITY),
        Scalar::Rounded(1e20),
        Scalar::Bits(0xffff_fffe),
        Scalar::Bits(4_294_967_294),
        Scalar::Bits(1 << 63),
        Scalar::Bits(1),
        Scalar::Bits(65535),
        Scalar::Bits(u64::MAX),
    ];
    assert_eq!(scalars[2..], rest);
    assert_eq!(number(DType::I16, 65535), Number::Signed(-1));
    let ambiguous: Vec<_> =
        dump.records().filter(|record| record.ambiguous_index).map(|record| record.arg_index).collect();
    assert_eq!(ambiguous, [9]);
    assert_eq!(
        (&*dump.record(0).func_ids, dump.kernel_names(&dump.record(0))),
        (&[0, 1, 1][..], "0+1".into())
    );
    assert!(dump.record(15).func_ids.is_empty(), "-1 is no kernel");
    assert_eq!(values(&dump, 1), [1.0, 10.0], "at an odd byte");
    let left_out = dump.record(14);
    assert_eq!((left_out.dtype, left_out.logical_bytes), (Some(DType::Fp8E4M3Fn), Some(32)));
    let error = dump.payload(&left_out).unwrap_err();
    assert_eq!(error.to_string(), "record 14 was captured without its payload");
    assert_eq!(dump.notes(), ["captured at level 3: 2 tensors have no payload, as was asked for"]);
}

#[test]
fn a_dump_without_payload_file_says_so_or_says_what_is_missing() {
    let directory = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(data("august/args_dump/args_dump.json")).unwrap();
    let path = directory.path().join("args_dump.json");
    fs::write(&path, text.replace("\"args.bin\"", "null")).unwrap();
    let dump = Dump::open(directory.path()).unwrap();
    assert!(matches!(dump.payload(&dump.record(0)), Err(PayloadError::NotKept { record: 0 })));
    assert_eq!(dump.notes().len(), 1, "{:?}", dump.notes());

    fs::write(&path, text).unwrap();
    let dump = Dump::open(directory.path()).unwrap();
    let error = with_causes(&dump.payload(&dump.record(0)).unwrap_err());
    let bin = directory.path().join("args.bin");
    assert!(
        error.starts_with(&format!("record 0 has its payload in {}, which cannot be read", bin.display()))
    );
    fs::write(&bin, [1; 8]).unwrap();
    let dump = Dump::open(directory.path()).unwrap();
    assert_eq!(dump.payload(&dump.record(1)).unwrap(), [1; 4]);
    let error = with_causes(&dump.payload(&dump.record(13)).unwrap_err());
    let expected =
        format!("record 13 has its payload in bytes 5..9 of {}, which has only 8 bytes", bin.display());
    assert_eq!(error, expected);
}

/// A dump of ours with every kind of thing in it.
pub fn ours(directory: &Path) {
    let options = DumpOptions { stats: StatsMode::Beside, ..DumpOptions::default() };
    let mut writer = start(directory, options);
    let mut output = tensor(7, 1, 8);
    (output.role, output.stage, output.time_ns) = (1, 1, 2000);
    (output.dtype, output.ndims) = (DType::F32 as u8, 2);
    (output.shapes, output.strides) = ([2, 1, 0, 0, 0], [5, 1, 0, 0, 0]);
    (output.start_offset, output.flags) = (3, argument_flags::CREATED);
    let floats = [f32::NAN.to_le_bytes(), 1.5f32.to_le_bytes()].concat();
    deliver(&mut writer, &output, &floats, 3).unwrap();
    let mut words = tensor(7, 2, 16);
    (words.dtype, words.shapes[0], words.role, words.stage) = (DType::U64 as u8, 2, 2, 1);
    words.time_ns = 2000;
    let payload = [u64::MAX.to_le_bytes(), 1u64.to_le_bytes()].concat();
    deliver(&mut writer, &words, &payload, 16).unwrap();
    deliver(&mut writer, &scalar(7, 3, DType::F32, 0x7fc0_1234), &[], 1).unwrap();
    deliver(&mut writer, &scalar(7, 4, DType::I64, i64::MIN as u64), &[], 1).unwrap();
    deliver(&mut writer, &tensor(7, 0, 100), &bytes(1, 100), 64).unwrap();
    let mut before = words;
    (before.stage, before.time_ns) = (0, 1000);
    deliver(&mut writer, &before, &payload, 16).unwrap();
    let mut unknown = tensor(9, 0, 5);
    (unknown.dtype, unknown.flags) = (77, 3);
    deliver(&mut writer, &unknown, &bytes(2, 5), 5).unwrap();
    let mut entry = task(7, [0, 1, 1]);
    (entry.task.tensors, entry.task.scalars) = (3, 2);
    writer.task(&entry).unwrap();
    let mut entry = task(9, [5, -1, -1]);
    (entry.task.tensors, entry.task.scalars) = (1, 0);
    (entry.task.dispatched_ns, entry.task.finished_ns) = (30, 40);
    writer.task(&entry).unwrap();
    writer.edges(&edges(9, &[(7, 1), (7, 2)])).unwrap();
    writer.skip(&skip(11, u16::MAX)).unwrap();
    writer.finish(RunEnd::default()).unwrap();
}

#[test]
fn our_manifest_says_the_same_as_our_journal() {
    let directory = tempfile::tempdir().unwrap();
    ours(directory.path());
    let journal = Dump::open(directory.path()).unwrap();
    let all: Vec<Record> = journal.records().collect();
    assert_eq!(all.len(), 7);
    let facts = |record: &Record| (record.task_id.raw(), record.stage as u8, record.arg_index, record.index);
    assert_eq!(
        all.iter().map(facts).collect::<Vec<_>>(),
        [(7, 0, 0, 0), (7, 0, 2, 1), (7, 0, 3, 2), (7, 0, 4, 3), (7, 1, 1, 4), (7, 1, 2, 5), (9, 0, 0, 6)]
    );
    assert_eq!((all[1].shared, all[5].shared), (true, false), "as they came, not as they are sorted");

    fs::remove_file(directory.path().join("tensor_dump.journal")).unwrap();
    let manifest = Dump::open(directory.path()).unwrap();
    assert_eq!((manifest.format_version(), manifest.ending()), (FormatVersion::Argus, &Ending::Complete));
    for (ours, theirs) in all.iter().zip(manifest.records()) {
        let theirs = Record { shared: ours.shared, ..theirs };
        assert_eq!(format!("{ours:?}"), format!("{theirs:?}"), "NaN is not equal to itself, its text is");
        assert_eq!(journal.kernel_names(ours), manifest.kernel_names(&theirs));
        if ours.kind == Kind::Tensor {
            assert_eq!(journal.payload(ours).unwrap(), manifest.payload(&theirs).unwrap());
        }
    }
    assert_eq!(journal.kernel_names(&all[0]), "QK+SF");
    assert_eq!(journal.kernel_names(&all[6]), "5");
    assert_eq!(journal.losses(), manifest.losses());
    let (ours, theirs) = (journal.graph().unwrap(), manifest.graph().unwrap());
    assert_eq!((&ours.kernels, &ours.tasks, &ours.edges), (&theirs.kernels, &theirs.tasks, &theirs.edges));
    assert_eq!((ours.successors(0), ours.predecessors(1), ours.successors(1)), (&[1][..], &[0][..], &[][..]));

    // Names come from the entries when graph.json is gone, too.
    fs::remove_file(directory.path().join("graph.json")).unwrap();
    let alone = Dump::open(directory.path()).unwrap();
    assert!(alone.graph().is_none());
    assert_eq!(alone.kernel_names(&alone.record(0)), "QK+SF");
}

#[test]
fn a_broken_journal_is_replaced_by_the_manifest_and_that_is_said() {
    let directory = tempfile::tempdir().unwrap();
    ours(directory.path());
    let path = directory.path().join("tensor_dump.journal");
    let mut journal = fs::read(&path).unwrap();
    journal[256 + 192 * 4] ^= 1;
    fs::write(&path, &journal).unwrap();
    let dump = Dump::open(&path).unwrap();
    assert_eq!((dump.len(), dump.ending()), (7, &Ending::Complete));
    let note = "the journal is damaged at byte 1024 (its checksum does not fit); nothing behind that can be \
                read; read from tensor_dump.json instead";
    assert_eq!(dump.notes()[0], note);
    fs::remove_file(directory.path().join("tensor_dump.json")).unwrap();
    let dump = Dump::open(&path).unwrap();
    assert_eq!(dump.len(), 2, "two kernels and two records");
    assert!(matches!(dump.ending(), Ending::Unfinished { why } if why.contains("byte 1024")));
}

#[test]
fn a_killed_run_reads_as_far_as_it_came() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = start(directory.path(), DumpOptions::default());
    deliver(&mut writer, &tensor(3, 0, 10), &bytes(3, 10), 10).unwrap();
    deliver(&mut writer, &tensor(1, 0, 10), &bytes(1, 10), 10).unwrap();
    writer.settle().unwrap();
    let dump = Dump::open(directory.path()).unwrap();
    let ids: Vec<_> = dump.records().map(|record| record.task_id.raw()).collect();
    assert_eq!(ids, [1, 3]);
    assert_eq!(dump.payload(&dump.record(1)).unwrap(), bytes(3, 10));
    assert_eq!(dump.notes(), ["the journal has no end: the run is still active, or was killed"]);
    assert_eq!(dump.run().unwrap().status, "running");
    assert_eq!(dump.graph().unwrap().kernels[1].name, "SF");
    let end = RunEnd {
        status: RunStatus::Failed,
        error: Some("x".repeat(300)),
        ledger: Ledger::default(),
        ..RunEnd::default()
    };
    writer.finish(end).unwrap();
    let dump = Dump::open(directory.path()).unwrap();
    let error = "x".repeat(300);
    assert_eq!(
        dump.ending(),
        &Ending::Failed { error },
        "all of it, though the journal has room for 112 bytes"
    );
}

#[test]
fn threads_may_share_a_dump() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&Dump::open(&data("june")).unwrap());
}

/// The elements of a record's payload, computed one by one.
pub fn values(dump: &Dump, index: usize) -> Vec<f64> {
    let record = dump.record(index);
    let dtype = record.dtype.unwrap();
    let width = dtype.size();
    (dump.payload(&record).unwrap().chunks(width))
        .map(|raw| {
            let mut word = [0; 8];
            word[..width].copy_from_slice(raw);
            number(dtype, u64::from_le_bytes(word)).as_f64()
        })
        .collect()
}

#[test]
fn captures_with_one_manifest_share_its_records_and_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    let copied = |name: &str| {
        let to = home.path().join(name);
        fs::create_dir_all(&to).unwrap();
        for entry in fs::read_dir(data("june/tensor_dump")).unwrap().map(|entry| entry.unwrap().path()) {
            fs::copy(&entry, to.join(entry.file_name().unwrap())).unwrap();
        }
        to
    };
    let (first, twin, other) = (copied("first"), copied("twin"), copied("other"));
    let payload = fs::read(twin.join("tensor_dump.bin")).unwrap();
    fs::write(twin.join("tensor_dump.bin"), payload.iter().map(|byte| !byte).collect::<Vec<_>>()).unwrap();
    let like = Dump::open(&first).unwrap();
    let shared = Dump::open_like(&twin, &like).unwrap();
    assert_eq!(shared.records().collect::<Vec<_>>(), like.records().collect::<Vec<_>>());
    assert_eq!((shared.directory(), shared.notes()), (twin.as_path(), like.notes()));
    let mut seen = 0;
    for record in like.records() {
        if let (Ok(one), Ok(two)) = (like.payload(&record), shared.payload(&record)) {
            assert!(one.iter().zip(two).all(|(one, two)| *two == !one));
            seen += one.len();
        }
    }
    assert!(seen > 0);
    // One byte of the manifest is another manifest.
    let text = fs::read_to_string(other.join("tensor_dump.json")).unwrap();
    fs::write(other.join("tensor_dump.json"), text.replacen("\"arg_index\": 0", "\"arg_index\": 9", 1))
        .unwrap();
    let read = Dump::open_like(&other, &like).unwrap();
    assert!(read.records().any(|record| record.arg_index == 9));
    // What is wrong with the second is said of the second.
    fs::remove_file(twin.join("tensor_dump.bin")).unwrap();
    let without = Dump::open_like(&twin, &like).unwrap();
    assert!(without.notes().iter().any(|note| note.contains("cannot be read, so there are no payloads")));
}
