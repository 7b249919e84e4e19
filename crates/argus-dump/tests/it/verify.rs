//! Each defect that can be made is found, and what is sound is called sound.

use std::fs;
use std::path::Path;

use argus_abi::DType;
use argus_dump::read::Dump;
use argus_dump::verify::{Severity, Verdict, verify};
use argus_dump::{DumpOptions, DumpWriter, RunEnd};
use argus_facts::Sink;

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

#[test]
fn a_sound_dump_is_sound() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = start(directory.path(), DumpOptions::default());
    deliver(&mut writer, &tensor(1, 0, 9), &bytes(1, 9), 9).unwrap();
    deliver(&mut writer, &tensor(1, 1, 9), &bytes(1, 9), 9).unwrap();
    let mut output = tensor(1, 2, 4);
    (output.role, output.stage) = (1, 1);
    deliver(&mut writer, &output, &bytes(2, 4), 4).unwrap();
    deliver(&mut writer, &scalar(1, 3, DType::F32, 0), &[], 1).unwrap();
    writer.task(&task(1, [0, -1, -1])).unwrap();
    writer.finish(RunEnd::default()).unwrap();
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
    (waiting.state, waiting.dispatch_order) = (2, u64::MAX);
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
    // What this dump has of its own: a dtype that nobody knows.
    let unknown = "its dtype is none that is known, so its size cannot be checked";
    assert_eq!(found, [(Some(6), unknown)]);
}

#[test]
fn the_reference_is_checked_as_far_as_it_can_be() {
    let april = check(&data("april/tensor_dump_20260415_093000"));
    assert_eq!(messages(&april, Severity::Defect), []);
    let warnings = messages(&april, Severity::Warning);
    assert!(
        warnings.contains(&(Some(4), "its payload is truncated: 4 of 8 bytes are there")),
        "{warnings:?}"
    );
    assert!(warnings.iter().any(|(record, text)| *record == Some(5) && text.contains("overwritten")));
    assert!(warnings.contains(&(None, "3 records with 0 bytes were dropped during the run")));
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
            Severity::Warning,
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
