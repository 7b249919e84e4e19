//! Each defect that can be made is found, and what is sound is called sound.

use std::fs;
use std::path::Path;

use argus_abi::{DType, FuncId, Member, TaskId};
use argus_dump::journal::{ENTRY_BYTES, HEADER_BYTES};
use argus_dump::read::Dump;
use argus_dump::verify::{Severity, Verdict, verify};
use argus_dump::{
    DumpOptions, DumpWriter, GRAPH_FILE, JOURNAL_FILE, MANIFEST_FILE, RUN_FILE, RunEnd, StatsMode,
    TIMELINE_FILE,
};
use argus_facts::{CoreTimes, Ledger, PartTime, RingLedger, RunTimes, Sink};

use crate::common::{bytes, deliver, edges, info, scalar, skip, start, task, tensor};
use crate::foreign::{data, ours};

fn check(path: &Path) -> Verdict {
    verify(&Dump::open(path).unwrap(), |_, _| {})
}

/// Messages of one severity, each with its record.
fn messages(verdict: &Verdict, severity: Severity) -> Vec<(Option<usize>, &str)> {
    let of = verdict.defects.iter().filter(|defect| defect.severity == severity);
    of.map(|defect| (defect.record, defect.message.as_str())).collect()
}

/// A dump with nothing wrong in it: four records of one task, with statistics, times and a ledger.
fn sound(directory: &Path) {
    let options = DumpOptions { stats: StatsMode::Beside, ..DumpOptions::default() };
    let mut writer = start(directory, options);
    deliver(&mut writer, &tensor(1, 0, 9), &bytes(1, 9), 9).unwrap();
    deliver(&mut writer, &tensor(1, 1, 9), &bytes(1, 9), 9).unwrap();
    let mut output = tensor(1, 2, 4);
    (output.role, output.stage) = (1, 1);
    deliver(&mut writer, &output, &bytes(2, 4), 4).unwrap();
    deliver(&mut writer, &scalar(1, 3, DType::F32, 0), &[], 1).unwrap();
    writer.task(&task(1, [0, -1, -1])).unwrap();
    let ring = RingLedger { waits: 3, wait_ns: 77, ..RingLedger::default() };
    let part = PartTime {
        task: TaskId::from_raw(1),
        func: FuncId(0),
        block: 0,
        posted_ns: 11,
        started_ns: 12,
        ended_ns: 13,
    };
    let core = CoreTimes { core: 2, cluster: 0, member: Member::Aiv0, parts: vec![part] };
    let times = RunTimes { cores: vec![core], control_threads: vec![Vec::new()] };
    writer
        .finish(RunEnd { ledger: Ledger { rings: vec![ring] }, times: times.into(), ..RunEnd::default() })
        .unwrap();
}

#[test]
fn a_sound_dump_is_sound() {
    let directory = tempfile::tempdir().unwrap();
    sound(directory.path());
    let steps = std::sync::Mutex::new(Vec::new());
    let verdict = verify(&Dump::open(directory.path()).unwrap(), |done, total| {
        steps.lock().unwrap().push((done, total));
    });
    assert_eq!(verdict.defects, []);
    let checked = verdict.checked;
    assert_eq!((checked.records, checked.payloads, checked.payload_bytes), (4, 2, 13));
    assert_eq!((checked.checksums, checked.tasks, checked.edges), (3, 1, 0));
    let steps = steps.into_inner().unwrap();
    assert_eq!((steps[0], *steps.iter().max().unwrap()), ((0, 13), (13, 13)));
}

#[test]
fn a_changed_payload_byte_is_found() {
    let directory = tempfile::tempdir().unwrap();
    ours(directory.path());
    let path = directory.path().join("tensor_dump.bin");
    let mut payload = fs::read(&path).unwrap();
    for at in 0..payload.len() {
        payload[at] ^= 0x10;
        fs::write(&path, &payload).unwrap();
        let verdict = check(directory.path());
        let hit = verdict.defects.iter().filter(|defect| defect.message.contains("has the checksum"));
        assert!(hit.count() > 0, "byte {at}");
        payload[at] ^= 0x10;
    }
    payload.push(0);
    fs::write(&path, &payload).unwrap();
    let verdict = check(directory.path());
    let found = messages(&verdict, Severity::Defect);
    let expected = format!(
        "the journal's end announces {} bytes of payload, the file has {}",
        payload.len() - 1,
        payload.len()
    );
    assert!(found.contains(&(None, &expected)), "{found:?}");
    payload.truncate(3);
    fs::write(&path, &payload).unwrap();
    let verdict = check(directory.path());
    assert!(messages(&verdict, Severity::Defect).iter().any(|(_, text)| text.contains("has only 3 bytes")));
    fs::remove_file(&path).unwrap();
    let verdict = check(directory.path());
    assert!(
        messages(&verdict, Severity::Defect)[0]
            .1
            .starts_with("5 records have a payload, but the file is not there")
    );
}

#[test]
fn missing_double_and_strange_arguments_are_found() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = start(directory.path(), DumpOptions::default());
    // Task 1 has 3 tensors and a scalar: argument 0 comes twice, 1 is an inout without its second half, 3 and
    // 2 do not come, 9 does not exist.
    deliver(&mut writer, &tensor(1, 0, 1), b"a", 1).unwrap();
    deliver(&mut writer, &tensor(1, 0, 1), b"b", 1).unwrap();
    let mut inout = tensor(1, 1, 1);
    inout.role = 2;
    deliver(&mut writer, &inout, b"c", 1).unwrap();
    deliver(&mut writer, &tensor(1, 9, 1), b"d", 1).unwrap();
    writer.task(&task(1, [0, -1, -1])).unwrap();
    // Task 5 was skipped as a whole, task 6 never started, task 7 is not in the graph.
    writer.task(&task(5, [0, -1, -1])).unwrap();
    writer.skip(&skip(5, u16::MAX)).unwrap();
    let mut waiting = task(6, [0, -1, -1]);
    (waiting.task.state, waiting.task.dispatch_order) = (2, u64::MAX);
    writer.task(&waiting).unwrap();
    deliver(&mut writer, &tensor(7, 0, 1), b"e", 1).unwrap();
    // Task 1 waits for task 5, which was finished later than that was dispatched.
    writer.edges(&edges(1, &[(5, 0)])).unwrap();
    writer.finish(RunEnd::default()).unwrap();
    let verdict = check(directory.path());
    let found = messages(&verdict, Severity::Defect);
    let task = "task 0x0000000000000001";
    for expected in [
        (Some(0), format!("argument 0 of {task} is there 2 times, before_dispatch")),
        (None, format!("argument 1 of {task} is missing, after_completion")),
        (None, format!("argument 2 of {task} is missing, before_dispatch")),
        (None, format!("argument 3 of {task} is missing, before_dispatch")),
        (Some(3), format!("{task} has 4 arguments, not 9")),
        (Some(4), "its task 0x0000000000000007 is not in the graph".to_owned()),
        (
            None,
            format!(
                "{task} was dispatched at 10 ns, before task 0x0000000000000005 that it waits for was finished at 20 ns"
            ),
        ),
    ] {
        assert!(found.contains(&(expected.0, &expected.1)), "{expected:?} is not in {found:#?}");
    }
    assert_eq!(found.len(), 7, "{found:#?}");
}

#[test]
fn what_was_not_asked_for_is_not_missing() {
    for level in ["partial", "off"] {
        let directory = tempfile::tempdir().unwrap();
        let info = argus_dump::DumpInfo { level: level.to_owned(), ..info() };
        let mut writer = DumpWriter::create(directory.path(), DumpOptions::default(), info).unwrap();
        writer.task(&task(1, [0, -1, -1])).unwrap();
        writer.finish(RunEnd::default()).unwrap();
        assert_eq!(check(directory.path()).defects, []);
    }
    let directory = tempfile::tempdir().unwrap();
    let mut info = info();
    info.config.insert("selectors".to_owned(), serde_json::json!(["kernel=SF"]));
    let mut writer = DumpWriter::create(directory.path(), DumpOptions::default(), info).unwrap();
    writer.task(&task(1, [0, -1, -1])).unwrap();
    writer.finish(RunEnd::default()).unwrap();
    assert_eq!(check(directory.path()).defects, []);
}

#[test]
fn files_that_contradict_each_other_are_found() {
    let directory = tempfile::tempdir().unwrap();
    ours(directory.path());
    let read = |name: &str| fs::read_to_string(directory.path().join(name)).unwrap();
    for (name, from, to, expected) in [
        (
            "tensor_dump.json",
            "\"start_offset\": 3,",
            "\"start_offset\": 4,",
            (Some(4), "the manifest's entry is not what the journal says"),
        ),
        (
            "tensor_dump.json",
            "\"total_tensors\": 7",
            "\"total_tensors\": 8",
            (None, "the manifest announces 8 records and has 7"),
        ),
        (
            "graph.json",
            "\"blocks\": 2",
            "\"blocks\": 3",
            (None, "graph.json has other tasks than the journal"),
        ),
        ("graph.json", "\"overlap\"", "\"explicit\"", (None, "graph.json has other edges than the journal")),
        ("graph.json", "\"QK\"", "\"XX\"", (None, "graph.json has other kernels than the journal")),
        (
            "run.json",
            "0123456789abcdef0011223344556677",
            "0123456789abcdef0011223344556678",
            (
                None,
                "run.json is about run 0123456789abcdef0011223344556678, the journal about run \
                 0123456789abcdef0011223344556677",
            ),
        ),
    ] {
        let text = read(name);
        assert!(text.contains(from));
        fs::write(directory.path().join(name), text.replacen(from, to, 1)).unwrap();
        let verdict = check(directory.path());
        assert!(messages(&verdict, Severity::Defect).contains(&expected), "{name}: {:#?}", verdict.defects);
        fs::write(directory.path().join(name), text).unwrap();
    }
    let defects = check(directory.path());
    let found = messages(&defects, Severity::Defect);
    // What this dump has of its own: a dtype that is not known.
    let unknown = "its dtype is none that is known, so its size cannot be checked";
    assert_eq!(found, [(Some(6), unknown)]);
}

#[test]
fn the_reference_is_checked_as_far_as_it_can_be() {
    let april = check(&data("april/tensor_dump_20260415_093000"));
    assert_eq!(messages(&april, Severity::Defect), []);
    let losses = messages(&april, Severity::Loss);
    assert!(losses.contains(&(Some(4), "its payload is truncated: 4 of 8 bytes are there")), "{losses:?}");
    assert!(losses.iter().any(|(record, text)| *record == Some(5) && text.contains("lost")));
    assert!(losses.contains(&(None, "3 records with 0 bytes were dropped during the run")));
    assert!(!april.is_sound(), "what is not whole is not sound");
    assert_eq!(check(&data("june")).defects, []);
    let august = check(&data("august"));
    let zero = "its 4 bytes are all zero, which may mean that they were never collected";
    assert_eq!(messages(&august, Severity::Warning), [(Some(13), zero)]);

    let directory = tempfile::tempdir().unwrap();
    fs::copy(data("june/tensor_dump/tensor_dump.bin"), directory.path().join("tensor_dump.bin")).unwrap();
    let text = fs::read_to_string(data("june/tensor_dump/tensor_dump.json")).unwrap();
    let changed = |changes: &[(&str, &str)]| {
        let mut text = text.clone();
        for (from, to) in changes {
            assert!(text.contains(from), "{from}");
            text = text.replacen(from, to, 1);
        }
        fs::write(directory.path().join("tensor_dump.json"), text).unwrap();
        check(directory.path())
    };
    for (changes, severity, expected) in [
        (
            &[("\"bin_offset\": 40", "\"bin_offset\": 32")][..],
            Severity::Defect,
            (Some(4), "its payload, bytes 32..48, overlaps that of record 0, bytes 24..40"),
        ),
        (
            &[("\"bin_size\": 16", "\"bin_size\": 12")],
            Severity::Defect,
            (Some(0), "its payload has 12 bytes; FLOAT32 [4, 1] needs 16"),
        ),
        (
            &[("\"numel\": 4", "\"numel\": 5")],
            Severity::Defect,
            (Some(0), "its numel is not that of the shape [4, 1]"),
        ),
        (
            &[("\"is_contiguous\": false", "\"is_contiguous\": true")],
            Severity::Defect,
            (Some(0), "is_contiguous is not what shape [4, 1] and strides [16, 1] say"),
        ),
        (
            &[("\"input_tensors\": 4", "\"input_tensors\": 5")],
            Severity::Defect,
            (None, "the manifest announces 5 inputs and has 4"),
        ),
        (
            &[("\"arg_index\": 4", "\"arg_index\": 3")],
            Severity::Warning,
            (
                Some(2),
                "argument 3 of task 0x0000000200000000 is there 2 times, before_dispatch; the reference records \
                 tasks of several blocks once for each block",
            ),
        ),
        (&[("\"value\": 1065353216, ", "")], Severity::Defect, (Some(2), "a scalar has no value")),
        (
            &[("\"bin_offset\": 40, \"bin_size\": 16", "\"bin_offset\": 40, \"bin_size\": 0")],
            Severity::Loss,
            (Some(4), "there is no payload, and nothing says why"),
        ),
        (
            &[("\"bin_offset\": 40, \"bin_size\": 16", "\"bin_offset\": 40, \"bin_size\": 0")],
            Severity::Warning,
            (None, "16 of the 56 bytes in the payload file belong to no record"),
        ),
        (&[("\"bin_offset\": 40", "\"bin_offset\": 18446744073709551610")], Severity::Defect, (Some(4), "")),
    ] {
        let verdict = changed(changes);
        let found = messages(&verdict, severity);
        let hit = found.iter().any(|(record, text)| *record == expected.0 && text.contains(expected.1));
        assert!(hit, "{changes:?}: {:#?}", verdict.defects);
    }
}

#[test]
fn a_hundred_of_a_kind_are_told_and_the_others_counted() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = start(directory.path(), DumpOptions { dedupe: false, ..DumpOptions::default() });
    for id in 0..250 {
        deliver(&mut writer, &tensor(id, 0, 1), b"x", 1).unwrap();
    }
    writer.finish(RunEnd::default()).unwrap();
    fs::write(directory.path().join("tensor_dump.bin"), [b'y'; 250]).unwrap();
    let verdict = check(directory.path());
    let wrong = verdict.defects.iter().filter(|defect| defect.message.contains("has the checksum")).count();
    assert_eq!(wrong, 100);
    let more = "150 more: payloads that are not those that were captured";
    assert!(verdict.defects.iter().any(|defect| defect.message == more && !verdict.is_sound()));
}

/// A journal that was cut or zeroed where an entry begins has nothing wrong in it; that its end is missing tells.
#[test]
fn a_journal_without_its_end_is_never_sound_and_the_manifest_is_read_instead() {
    let directory = tempfile::tempdir().unwrap();
    sound(directory.path());
    let path = directory.path().join(JOURNAL_FILE);
    let manifest = fs::read(directory.path().join(MANIFEST_FILE)).unwrap();
    let whole = fs::read(&path).unwrap();
    let starts: Vec<usize> = (HEADER_BYTES..whole.len()).step_by(ENTRY_BYTES).collect();
    assert_eq!(starts.len(), 2 + 4 + 1 + 1 + 1, "kernels, records, task, ledger, end");
    for &at in &starts {
        let mut zeroed = whole.clone();
        zeroed[at..].fill(0);
        let mut hole = whole.clone();
        hole[at..at + ENTRY_BYTES].fill(0);
        for (name, journal) in [("cut", &whole[..at]), ("zeroed", &zeroed), ("hole", &hole)] {
            fs::write(&path, journal).unwrap();
            let dump = Dump::open(directory.path()).unwrap();
            assert_eq!(dump.len(), 4, "{name} at {at}");
            assert!(dump.notes()[0].ends_with("; read from tensor_dump.json instead"), "{:?}", dump.notes());
            let verdict = check(directory.path());
            assert!(!messages(&verdict, Severity::Defect).is_empty(), "{name} at {at}: {verdict:#?}");

            fs::remove_file(directory.path().join(MANIFEST_FILE)).unwrap();
            let dump = Dump::open(directory.path()).unwrap();
            assert!(dump.len() <= 4 && !dump.notes().is_empty(), "{name} at {at}");
            assert!(!check(directory.path()).is_sound(), "{name} at {at}, without the manifest");
            fs::write(directory.path().join(MANIFEST_FILE), &manifest).unwrap();
        }
    }
    // A manifest of another run, or with fewer records, is not the better one.
    fs::write(&path, &whole[..whole.len() - ENTRY_BYTES]).unwrap();
    let text = String::from_utf8(manifest).unwrap();
    let other = text.replace("0123456789abcdef0011223344556677", "0123456789abcdef0011223344556678");
    fs::write(directory.path().join(MANIFEST_FILE), other).unwrap();
    let dump = Dump::open(directory.path()).unwrap();
    assert_eq!(dump.notes()[0], "tensor_dump.json is about another run; read from tensor_dump.journal");
    let last = text.rfind(",\n    {").unwrap();
    fs::write(directory.path().join(MANIFEST_FILE), format!("{}\n  ]\n}}\n", &text[..last])).unwrap();
    let dump = Dump::open(directory.path()).unwrap();
    let note = "tensor_dump.json has 3 records, tensor_dump.journal 4; read from tensor_dump.journal";
    assert_eq!((dump.len(), dump.notes()[0].as_str()), (4, note));
    assert!(!check(directory.path()).is_sound());
}

/// What a killed process leaves is true as far as it goes, and it is not whole.
#[test]
fn a_run_without_an_end_is_a_loss_even_if_nothing_else_is_wrong() {
    let directory = tempfile::tempdir().unwrap();
    sound(directory.path());
    let path = directory.path().join(JOURNAL_FILE);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - ENTRY_BYTES]).unwrap();
    for name in [MANIFEST_FILE, GRAPH_FILE] {
        fs::remove_file(directory.path().join(name)).unwrap();
    }
    let run = directory.path().join(RUN_FILE);
    let text = fs::read_to_string(&run).unwrap();
    let mut object: serde_json::Value = serde_json::from_str(&text).unwrap();
    object["schema"] = "argus-run-1".into();
    object["status"] = "running".into();
    for key in ["files", "records", "ledger", "checksum"] {
        object.as_object_mut().unwrap().remove(key);
    }
    fs::write(&run, object.to_string()).unwrap();
    let verdict = check(directory.path());
    assert_eq!(messages(&verdict, Severity::Defect), [], "{verdict:#?}");
    let losses = messages(&verdict, Severity::Loss);
    let why = "the journal has no end: the run is still active, or was killed";
    assert_eq!(losses, [(None, why)], "{verdict:#?}");
    assert!(!verdict.is_sound());
}

#[test]
fn bytes_behind_the_end_are_found() {
    let directory = tempfile::tempdir().unwrap();
    sound(directory.path());
    let path = directory.path().join(JOURNAL_FILE);
    let mut journal = fs::read(&path).unwrap();
    for byte in [0, 7] {
        journal.push(byte);
        fs::write(&path, &journal).unwrap();
        let verdict = check(directory.path());
        let found = messages(&verdict, Severity::Defect);
        let expected = format!("{} bytes follow the end of the journal", if byte == 0 { 1 } else { 2 });
        assert_eq!(found, [(None, expected.as_str())]);
    }
}

/// One byte anywhere in a file beside the payload: it cannot be read, or it is not sound.
#[test]
fn a_changed_byte_of_any_file_is_found() {
    let directory = tempfile::tempdir().unwrap();
    sound(directory.path());
    for name in [RUN_FILE, MANIFEST_FILE, GRAPH_FILE, TIMELINE_FILE, JOURNAL_FILE] {
        let path = directory.path().join(name);
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            fs::write(&path, &changed).unwrap();
            let sound = Dump::open(directory.path()).is_ok_and(|dump| verify(&dump, |_, _| {}).is_sound());
            assert!(!sound, "byte {at} of {name}");
        }
        fs::remove_file(&path).unwrap();
        let sound = Dump::open(directory.path()).is_ok_and(|dump| verify(&dump, |_, _| {}).is_sound());
        assert!(!sound, "{name} is gone");
        fs::write(&path, &whole).unwrap();
    }
    assert!(check(directory.path()).is_sound());
}

/// Each count of run.json, with a checksum that fits: another process wrote it so.
#[test]
fn a_run_file_that_disagrees_with_the_records_is_found() {
    let directory = tempfile::tempdir().unwrap();
    sound(directory.path());
    let path = directory.path().join(RUN_FILE);
    let whole = fs::read_to_string(&path).unwrap();
    // As older versions wrote it: no checksum, and no digests of the other files.
    let (content, _) = whole.rsplit_once(",\n  \"checksum\"").unwrap();
    let mut run: serde_json::Value = serde_json::from_str(&format!("{content}}}")).unwrap();
    run["schema"] = "argus-run-1".into();
    run.as_object_mut().unwrap().remove("files");
    let told = |run: &serde_json::Value| {
        fs::write(&path, run.to_string()).unwrap();
        let verdict = check(directory.path());
        let found = messages(&verdict, Severity::Defect);
        found.into_iter().map(|(_, text)| text.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(told(&run), Vec::<String>::new());
    for (name, count) in [
        ("total", 4),
        ("tensors", 3),
        ("scalars", 1),
        ("partial", 0),
        ("skipped", 0),
        ("shared", 1),
        ("payload_bytes", 22),
        ("stored_bytes", 13),
    ] {
        let mut other = run.clone();
        other["records"][name] = 5.into();
        assert_eq!(told(&other), [format!("run.json counts 5 for {name}, the dump has {count}")]);
    }
    let ledger = "the ledger of run.json is not that of the journal";
    for (place, key) in [("/ledger", "lost_entries"), ("/ledger", "lost_bytes"), ("/ledger/rings/0", "waits")]
    {
        let mut other = run.clone();
        other.pointer_mut(place).unwrap()[key] = 5.into();
        assert_eq!(told(&other), [ledger]);
    }
    let mut other = run.clone();
    other["status"] = "failed".into();
    assert_eq!(told(&other), ["run.json says that the run is failed, the records that it is complete"]);
    other["status"] = "running".into();
    assert_eq!(told(&other), ["run.json says that the run is running, the records that it is complete"]);
}

/// Names and statistics are in the manifest too, and times are those of tasks that there are.
#[test]
fn kernels_statistics_and_times_that_do_not_fit_are_found() {
    let directory = tempfile::tempdir().unwrap();
    sound(directory.path());
    let kernel = "the manifest has another name for kernel 0 than the journal";
    let entry = "the manifest's entry is not what the journal says";
    let time =
        "timeline.json has task 0x0000000000000002 with kernel 0 on core 2, which the graph does not have";
    for (name, from, to, expected) in [
        (MANIFEST_FILE, "\"kernel\": \"QK\"", "\"kernel\": \"SF\"", kernel),
        (MANIFEST_FILE, "\"zero\": 0", "\"zero\": 1", entry),
        (TIMELINE_FILE, "0x0000000000000001", "0x0000000000000002", time),
    ] {
        let path = directory.path().join(name);
        let whole = fs::read_to_string(&path).unwrap();
        assert!(whole.contains(from), "{whole}");
        fs::write(&path, whole.replace(from, to)).unwrap();
        let verdict = check(directory.path());
        let found = messages(&verdict, Severity::Defect);
        assert!(found.iter().any(|(_, text)| *text == expected), "{found:#?}");
        fs::write(&path, whole).unwrap();
    }
}
