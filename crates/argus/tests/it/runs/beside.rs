//! Files beside a dump: used, damaged, of another run.

use std::fs;

use serde_json::Value;

use super::made::{Capture, name};
use crate::tool::argus_in;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn edges_and_names_beside_a_dump_are_its_own() {
    let home = tempfile::tempdir().unwrap();
    Capture::default().write(&home.path().join("run"));
    Capture { fault: Some(1), ..Capture::default() }.write(&home.path().join("bad"));
    let found = argus_in(home.path(), "find bad --against run --json");
    let report = json(&found.stdout);
    let verdicts: Vec<_> =
        report["tasks"].as_array().unwrap().iter().map(|task| task["verdict"].clone()).collect();
    assert_eq!(verdicts, ["clean", "introduced", "inherited", "inherited", "inherited"]);
    assert_eq!(
        (&report["first_wrong"][0]["task_id"], &report["first_wrong"][0]["kernel"]),
        (&name(1).into(), &"ODD".into())
    );
    assert_eq!(report["first_wrong"][0]["downstream"], 3);
    let filtered = argus_in(home.path(), "view run --kernel odd --stage after --json");
    assert_eq!(json(&filtered.stdout)["matching"], 2);
}

#[test]
fn times_that_are_there_and_not_used_are_named_where_they_are_wanted() {
    let home = tempfile::tempdir().unwrap();
    Capture::default().write(&home.path().join("run"));
    let times = |id: u64| {
        format!(
            "{{\"chip_swimlane_level\": 1, \"metadata\": {{\"clock_freq_hz\": 1000, \"num_cores\": 1, \"core_types\": \
             [\"aiv\"]}}, \"aicore_tasks\": [[0,{id},1,10,20,0]], \"aicpu_tasks\": []}}"
        )
    };
    let trace = |text: &str| {
        fs::write(home.path().join("run/chip_swimlane_records.json"), text).unwrap();
        argus_in(home.path(), "trace run -o run.pftrace --force")
    };
    let stranger = trace(&times(77));
    assert_eq!(stranger.code, 2, "{}", stranger.stdout);
    assert!(stranger.stderr.contains("chip_swimlane_records.json is not used: "), "{}", stranger.stderr);
    let summed = argus_in(home.path(), "stats run --times");
    assert!(summed.stderr.contains("chip_swimlane_records.json is not used: "), "{}", summed.stderr);
    let cut = trace(&times(77)[..40]);
    assert!(cut.stderr.contains("chip_swimlane_records.json is not used: "), "{}", cut.stderr);
    let good = trace(&times(super::made::id(0)));
    assert_eq!(good.code, 0, "{}", good.stderr);
}

#[test]
fn each_file_cut_emptied_swapped_or_with_wrong_ids_costs_itself_and_one_message() {
    let home = tempfile::tempdir().unwrap();
    let run = home.path().join("run");
    let whole = Capture::default();
    let longer = Capture { tasks: 3, ..Capture::default() };
    longer.write(&home.path().join("longer"));
    let deps = |directory: &str| fs::read(home.path().join(directory).join("deps.json")).unwrap();
    whole.write(&run);
    let (good, other) = (deps("run"), deps("longer"));
    let wrong_ids = String::from_utf8(good.clone()).unwrap().replace("\"8589934592\"", "\"12\"");
    let changes: [(&str, Vec<u8>); 4] = [
        ("cut", good[..good.len() / 2].to_vec()),
        ("emptied", Vec::new()),
        ("of another run", other),
        ("with wrong ids", wrong_ids.into_bytes()),
    ];
    for (how, bytes) in changes {
        fs::write(run.join("deps.json"), bytes).unwrap();
        let viewed = argus_in(home.path(), "view run --json");
        assert_eq!(viewed.code, 0, "{how}: {}", viewed.stderr);
        let object = json(&viewed.stdout);
        let notes = object["notes"].as_array().unwrap();
        assert!(
            notes.len() == 1 && notes[0].as_str().unwrap().contains("deps.json is not used: "),
            "{how}: {notes:?}"
        );
        // Names come from another file, and are still there.
        assert_eq!(object["records"][0]["kernel"], "EVEN");
        let graph = argus_in(home.path(), "view run --graph");
        let said = graph.stderr.contains("has no graph: run/deps.json is not used: ");
        assert!(graph.code == 2 && said, "{how}: {}", graph.stderr);
    }
    fs::write(run.join("deps.json"), good).unwrap();
    fs::write(run.join("name_map_made.json"), "[1, 2").unwrap();
    let viewed = json(&argus_in(home.path(), "view run --graph --json").stdout);
    assert_eq!((viewed["tasks"].as_array().unwrap().len(), &viewed["tasks"][0]["kernel"]), (5, &"0".into()));
    assert!(viewed["notes"][0].as_str().unwrap().contains("name_map_made.json is not used: "), "{viewed}");
}

#[test]
fn a_run_that_left_payload_and_a_log_is_shown_as_what_it_is() {
    let home = tempfile::tempdir().unwrap();
    let run = home.path().join("run");
    fs::create_dir_all(run.join("args_dump")).unwrap();
    fs::write(run.join("args_dump/args.bin"), [0u8; 4096]).unwrap();
    for (class, detail, meaning) in [
        ("S1:running-stalled", 1, "did not end"),
        ("S3:ready-but-all-idle", 3, "no core took one"),
        ("S4:dependency-deadlock", 4, "none could start"),
        ("S5:orchestrator-starvation", 5, "submitted no more"),
    ] {
        let log = format!(
            "x y: PTO2 scheduler timeout sub_class={class} (detail={detail}) completed=3/5 running=1 ready=0 waiting=1 orch_done=1 \
             stuck_task_id=4294967298 stuck_core=8\n"
        );
        fs::write(run.join("run.log"), log).unwrap();
        let viewed = argus_in(home.path(), "view run --json");
        let object = json(&viewed.stdout);
        assert_eq!((viewed.code, &object["stall"]["class"]), (1, &class.into()));
        assert_eq!((&object["stall"]["detail"], &object["payload_bytes"]), (&detail.into(), &4096.into()));
        assert_eq!(object["stall"]["stuck_task_id"], "0x0000000100000002");
        let told = argus_in(home.path(), "view run");
        assert!(told.stdout.contains(meaning) && told.stdout.contains("3 of 5 complete"), "{}", told.stdout);
    }
    let verified = argus_in(home.path(), "verify run");
    assert!(verified.code == 2 && verified.stderr.contains("lost: the manifest"), "{}", verified.stderr);
    assert!(verified.stderr.contains("next: argus view run"), "{}", verified.stderr);
}

/// The model of a task begins where the task began, on tracks of its own, and the run is drawn as it is without it.
#[test]
fn a_traced_task_is_drawn_beside_its_real_times() {
    let home = tempfile::tempdir().unwrap();
    let ran = argus_in(home.path(), "run paged_attention --case CaseSmall1 --dump-tensor -o out");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let drawn = |line: &str, file: &str| {
        let told = argus_in(home.path(), &format!("{line} -o {file} --json"));
        assert_eq!(told.code, 0, "{}", told.stderr);
        let trace = json(&fs::read_to_string(home.path().join(file)).unwrap());
        (json(&told.stdout), trace["traceEvents"].as_array().unwrap().clone())
    };
    let (_, run) = drawn("trace out", "run.json");
    let (told, both) = drawn("trace out --task SF:1", "both.json");
    assert_eq!(both[..run.len()], run[..], "the run is the same");
    let model = &both[run.len()..];
    let named = |name: &str| model.iter().filter(|event| event["name"] == name).collect::<Vec<_>>();
    let task = told["model"]["task_id"].as_str().unwrap();
    let groups = named("process_name");
    assert_eq!(groups.len(), 1);
    assert_eq!(groups[0]["args"]["name"], format!("model of SF {task}, core0.veccore0"));
    let at = |event: &Value| event["ts"].as_f64().unwrap();
    let length = |event: &Value| event["dur"].as_f64().unwrap();
    let bars =
        |events: &[Value]| events.iter().filter(|event| event["ph"] == "X").cloned().collect::<Vec<_>>();
    let parts: Vec<Value> = bars(&run).into_iter().filter(|bar| bar["args"]["task"] == task).collect();
    let [part] = &parts[..] else { panic!("{parts:?}") };
    let slices = bars(model);
    let first = slices.iter().map(at).fold(f64::MAX, f64::min);
    let last = slices.iter().map(|bar| at(bar) + length(bar)).fold(0.0, f64::max);
    let model_us = told["model"]["model_ns"].as_f64().unwrap() / 1000.0;
    assert!(first >= at(part) && first < at(part) + 0.1, "{first} {part}");
    assert!((last - at(part) - model_us).abs() < 0.1, "{last} {model_us} {part}");
    let measured = told["model"]["measured_ns"].as_f64().unwrap() / 1000.0;
    assert!((measured - length(part)).abs() < 0.01, "{measured} {part}");
    // Arrows of the model have numbers of their own.
    let ids = |events: &[Value]| -> std::collections::BTreeSet<u64> {
        events.iter().filter_map(|event| event["id"].as_u64()).collect()
    };
    assert!(!ids(model).is_empty() && ids(&run).is_disjoint(&ids(model)));
}

/// Since September a capture says itself whether it is whole, and which payloads the host gave up.
#[test]
fn a_capture_that_doubts_itself_is_not_sound() {
    let home = tempfile::tempdir().unwrap();
    let run = home.path().join("run");
    let change = |from: &str, to: &str| {
        Capture::default().write(&run);
        let path = run.join("args_dump/args_dump.json");
        let text = fs::read_to_string(&path).unwrap().replace("\"dropped_overwrite\": 0,\n", "");
        let text = text.replace(", \"overwritten\": false", "");
        assert!(text.contains(from), "{text}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        (argus_in(home.path(), "verify run"), argus_in(home.path(), "view run"))
    };
    let head = "\"dropped_records\": 0,";
    for verdict in
        ["published_short", "counts_unknown", "cut_unproved", "write_failed", "quarantined", "abandoned"]
    {
        let (verified, viewed) = change(head, &format!("{head} \"collection_verdict\": \"{verdict}\","));
        assert_eq!((verified.code, viewed.code), (1, 0), "{verdict}: {}", verified.stdout);
        let note = format!("the capture calls itself '{verdict}', which is not whole");
        assert!(
            viewed.stdout.contains(&note) || viewed.stderr.contains(&note),
            "{}{}",
            viewed.stdout,
            viewed.stderr
        );
    }
    for verdict in ["published", "published_empty"] {
        let (verified, _) = change(head, &format!("{head} \"collection_verdict\": \"{verdict}\","));
        assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
    }
    // The bytes of one record were given up: it is there, and it has no payload.
    let (verified, viewed) = change(
        "\"bin_size\": 32, \"truncated\": false",
        "\"bin_size\": 0, \"truncated\": false, \"host_discarded\": true",
    );
    assert_eq!(verified.code, 1, "{}", verified.stdout);
    let note = "1 payload was lost before it was collected";
    assert!(
        viewed.stdout.contains(note) || viewed.stderr.contains(note),
        "{}{}",
        viewed.stdout,
        viewed.stderr
    );
}

/// A log of June has a code and no name; one of a host-built graph stands still without a class.
#[test]
fn a_log_without_names_is_explained() {
    let home = tempfile::tempdir().unwrap();
    let run = home.path().join("run");
    fs::create_dir_all(run.join("args_dump")).unwrap();
    fs::write(run.join("args_dump/args.bin"), [0u8; 64]).unwrap();
    fs::write(
        run.join("stderr.txt"),
        "PTO2 runtime failed: orch_error_code=2 sched_error_code=0 runtime_status=-2\n",
    )
    .unwrap();
    let told = argus_in(home.path(), "view run");
    assert!(told.stdout.contains("code 2 HEAP_RING_DEADLOCK: the heap of a ring"), "{}", told.stdout);
    fs::write(
        run.join("stderr.txt"),
        "[STALL thread=1 idle_iterations=9] TIMEOUT_EXIT after_idle_iterations=9\n",
    )
    .unwrap();
    let told = argus_in(home.path(), "view run --json");
    let object = json(&told.stdout);
    assert_eq!((&object["stall"]["class"], &object["stall"]["thread"]), (&Value::Null, &1.into()));
    assert!(argus_in(home.path(), "view run").stdout.contains("no class told"));
}
