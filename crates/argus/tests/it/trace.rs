//! `argus trace` and `argus run --timeline` as a user types them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::tool::argus_in;

fn recorded(line: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let ended = argus_in(home.path(), &format!("run {line} --dump-tensor -o run"));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    home
}

fn json_of(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn object(home: &Path, line: &str) -> Value {
    let ended = argus_in(home, &format!("{line} --json"));
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "argus {line}: {}", ended.stdout);
    serde_json::from_str(&ended.stdout).expect("one JSON object")
}

/// Every file below a directory, by its name without the time in it.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let name = path.strip_prefix(directory).unwrap().to_string_lossy().into_owned();
            let name = match name.rsplit_once("_exe_") {
                Some((start, _)) => format!("{start}_exe.csv"),
                None => name,
            };
            found.insert(name.into(), fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn every_kernel_of_paged_attention_and_a_mix_are_traced_on_both_chips() {
    for platform in ["a2a3sim", "a5sim"] {
        let home = recorded(&format!("paged_attention --case CaseSmall1 -p {platform}"));
        for (kernel, core) in
            [("QK", "cubecore0"), ("SF", "veccore0"), ("PV", "cubecore0"), ("UP", "veccore0")]
        {
            let trace = object(home.path(), &format!("trace run --kernel {kernel} -o {kernel}"));
            assert_eq!(trace["replay"], "bit-equal");
            assert_eq!(trace["summary"]["hazards"], serde_json::json!([]));
            assert_eq!(trace["summary"]["unpaired_flags"], 0, "{platform} {kernel}");
            assert_eq!(trace["missing_sources"], serde_json::json!([]), "{platform} {kernel}");
            let check = object(home.path(), &format!("trace --check {kernel}"));
            assert_eq!(check["cores"], serde_json::json!([format!("core0.{core}")]));
            assert_eq!(check["slices"], trace["slices"]);
            let events = json_of(&home.path().join(kernel).join("simulator/trace.json"));
            let events = events["traceEvents"].as_array().unwrap();
            // Flags are a beginning and an end, everything else is in one piece.
            let slices = events.iter().filter(|event| event["ph"] == "X" || event["ph"] == "B").count();
            assert_eq!(slices as u64, trace["slices"].as_u64().unwrap());
        }
        let home = tempfile::tempdir().unwrap();
        let trace = object(home.path(), &format!("trace pipe_mix --kernel matmul_push -p {platform} -o mix"));
        assert_eq!(trace["replay"], "bit-equal");
        let check = object(home.path(), "trace --check mix");
        assert_eq!(check["cores"].as_array().unwrap().len(), 3, "{check}");
    }
}

#[test]
fn one_task_gives_the_same_files_from_a_dump_and_from_a_capsule_elsewhere() {
    let home = recorded("matmul_double_buffered");
    let first = argus_in(home.path(), "trace run --kernel matmul_double_buffered -o first");
    assert_eq!(first.code, 0, "{}{}", first.stdout, first.stderr);
    let line = "replay run --kernel matmul_double_buffered --capsule c.capsule";
    let capsule = argus_in(home.path(), line);
    assert_eq!(capsule.code, 0, "{}", capsule.stderr);
    let elsewhere = tempfile::tempdir().unwrap();
    fs::copy(home.path().join("c.capsule"), elsewhere.path().join("c.capsule")).unwrap();
    fs::remove_dir_all(home.path().join("run")).unwrap();
    let second = argus_in(elsewhere.path(), "trace c.capsule -o second");
    assert_eq!(second.code, 0, "{}{}", second.stdout, second.stderr);
    let (one, other) = (files(&home.path().join("first")), files(&elsewhere.path().join("second")));
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    for (name, bytes) in &one {
        assert!(bytes == &other[name], "{} differs", name.display());
    }
}

#[test]
fn the_summary_names_pipes_chain_bottleneck_and_model() {
    let home = recorded("matmul_double_buffered");
    let ended = argus_in(home.path(), "trace run --kernel matmul_double_buffered -o t");
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    for says in
        ["MTE2", "CUBE", "FIXP", "critical chain:", "bottleneck:", "not a cycle-accurate", "parameters a2a3"]
    {
        assert!(ended.stdout.contains(says), "{says}\n{}", ended.stdout);
    }
}

#[test]
fn other_numbers_of_the_model_change_the_times_and_wrong_ones_are_refused() {
    let home = recorded("paged_attention --case CaseSmall1");
    let plain = object(home.path(), "trace run --kernel QK -o a");
    fs::write(home.path().join("slow.json"), r#"{"paths": {"GM_TO_L1": {"latency": 100000}}}"#).unwrap();
    let late = object(home.path(), "trace run --kernel QK -o b --timing slow.json");
    let cycles = |trace: &Value| trace["summary"]["cycles"].as_u64().unwrap();
    // Two loads follow each other on one pipe, and both are that late.
    assert!(cycles(&late) > cycles(&plain) + 190_000, "{} {}", cycles(&late), cycles(&plain));
    let none = argus_in(home.path(), "trace run --kernel QK -o d --timing none.json");
    assert_eq!(none.code, 2);
    assert!(none.stderr.contains("none.json"), "{}", none.stderr);
    fs::write(home.path().join("clock.json"), r#"{"clock": {"mhz": 100}}"#).unwrap();
    let slow = object(home.path(), "trace run --kernel QK -o c --timing clock.json");
    assert_eq!(slow["summary"]["mhz"], 100.0);
    assert!(slow["summary"]["parameters"].as_str().unwrap().contains("clock.json"));
    assert_ne!(slow["summary"]["time_us"], plain["summary"]["time_us"]);
    fs::write(home.path().join("wrong.json"), r#"{"clock": {"mhz": -1}}"#).unwrap();
    let wrong = argus_in(home.path(), "trace run --kernel QK -o d --timing wrong.json");
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("`clock.mhz` is -1"), "{}", wrong.stderr);
    assert!(!home.path().join("d").exists());
}

#[test]
fn a_damaged_trace_and_a_directory_without_one_are_told_apart() {
    let home = recorded("paged_attention --case CaseSmall1");
    object(home.path(), "trace run --kernel SF -o t");
    let path = home.path().join("t/simulator/perfetto.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"ph\":\"X\"", "\"ph\":\"B\"", 1)).unwrap();
    let damaged = argus_in(home.path(), "trace --check t");
    assert_eq!(damaged.code, 1, "{}", damaged.stdout);
    assert!(damaged.stderr.contains("perfetto.json"), "{}", damaged.stderr);
    let nothing = argus_in(home.path(), "trace --check run");
    assert_eq!(nothing.code, 2);
    assert!(nothing.stderr.contains("summary.json"), "{}", nothing.stderr);
}

#[test]
fn wrong_usage_is_said_before_anything_is_written() {
    let home = recorded("vector_example");
    let before = files(home.path());
    for (line, says) in [
        ("trace run --kernel nobody", "nobody"),
        ("trace run -o run.svg", "'run.svg' is not a name"),
        ("trace run --timing x.json", "--timing is about one task"),
        ("trace run --nth 2", "--nth is about one task"),
        ("trace --check t --task 1 run", "cannot be used with"),
        ("trace nowhere", "neither a dump, nor a capsule, nor a scene"),
        ("run vector_example --timeline run.txt", "'run.txt' is not a name"),
    ] {
        let ended = argus_in(home.path(), line);
        assert_eq!(ended.code, 2, "argus {line}: {}{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains(says), "argus {line}: {}", ended.stderr);
    }
    assert_eq!(files(home.path()), before);
}

/// A slice's process and thread; its name, start and end in picoseconds; what is said about it.
type Slice = ((u64, u64), String, u64, u64, Value);

/// Slices of each track by name, and arrows, of Chrome's events.
struct Drawing {
    slices: Vec<Slice>,
    tracks: BTreeMap<(u64, u64), String>,
    arrows: usize,
}

fn drawing(path: &Path) -> Drawing {
    let object = json_of(path);
    let events = object.as_array().or_else(|| object["traceEvents"].as_array()).unwrap();
    let place = |event: &Value| (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap_or(0));
    let ps = |value: &Value| (value.as_f64().unwrap() * 1e6).round() as u64;
    let mut drawing = Drawing { slices: Vec::new(), tracks: BTreeMap::new(), arrows: 0 };
    for event in events {
        match event["ph"].as_str().unwrap() {
            "X" => {
                let start = ps(&event["ts"]);
                let name = event["name"].as_str().unwrap().to_owned();
                let args = event["args"].clone();
                drawing.slices.push((place(event), name, start, start + ps(&event["dur"]), args));
            }
            "M" if event["name"] == "thread_name" => {
                let name = event["args"]["name"].as_str().unwrap().to_owned();
                drawing.tracks.insert(place(event), name);
            }
            "s" => drawing.arrows += 1,
            _ => {}
        }
    }
    drawing
}

#[test]
fn the_timeline_of_a_run_shows_every_kernel_call_once_and_in_the_order_of_the_graph() {
    let home = tempfile::tempdir().unwrap();
    for capture in ["", " --dump-tensor -o run --force"] {
        let line = format!("run paged_attention --case CaseSmall1 --timeline t.json{capture}");
        let ended = argus_in(home.path(), &line);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(ended.stdout.contains("timeline  t.json"), "{}", ended.stdout);
        check_drawing(&drawing(&home.path().join("t.json")));
    }
    // From the dump: the same calls at the same times.
    let ended = argus_in(home.path(), "trace run -o again.json");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("12 kernel calls"), "{}", ended.stdout);
    let (run, dump) = (drawing(&home.path().join("t.json")), drawing(&home.path().join("again.json")));
    assert_eq!(run.slices, dump.slices);
    assert_eq!(run.arrows, dump.arrows);
    let native = argus_in(home.path(), "trace run -o again.pftrace");
    assert_eq!(native.code, 0, "{}", native.stderr);
}

/// 3 blocks of QK, SF, PV and UP; edges as in the scene: each kernel waits for the one before it and UP for the
/// UP of the block before.
fn check_drawing(drawing: &Drawing) {
    let mut calls: BTreeMap<&str, Vec<(u64, u64, u64)>> = BTreeMap::new();
    for (track, name, start, end, args) in &drawing.slices {
        if ["QK", "SF", "PV", "UP"].contains(&name.as_str()) {
            let task = u64::from_str_radix(&args["task"].as_str().unwrap()[2..], 16).unwrap();
            calls.entry(name).or_default().push((task, *start, *end));
            let core = &drawing.tracks[track];
            let matrix = ["QK", "PV"].contains(&name.as_str());
            assert_eq!(core.starts_with("aic"), matrix, "{name} on {core}");
        }
    }
    assert_eq!(calls.values().map(Vec::len).collect::<Vec<_>>(), [3, 3, 3, 3]);
    for list in calls.values_mut() {
        list.sort_unstable();
    }
    for pair in ["QK", "SF", "PV", "UP"].windows(2) {
        for (from, to) in calls[pair[0]].iter().zip(&calls[pair[1]]) {
            assert_eq!(from.0 + 1, to.0);
            assert!(from.2 <= to.1, "{pair:?} of task {:#x}", to.0);
        }
    }
    assert!(calls["UP"].windows(2).all(|pair| pair[0].2 <= pair[1].1));
    // Slices of a track follow each other.
    let mut by_track: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
    for (track, _, start, end, _) in &drawing.slices {
        by_track.entry(*track).or_default().push((*start, *end));
    }
    for spans in by_track.values_mut() {
        spans.sort_unstable();
        assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{spans:?}");
    }
    assert!(drawing.arrows >= 11, "{}", drawing.arrows);
}

#[test]
fn a_dump_without_times_says_why() {
    let home = recorded("vector_example");
    let ended = argus_in(home.path(), "convert run --to june -o june");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let ended = argus_in(home.path(), "trace june");
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("no swimlane records lie beside the dump"), "{}", ended.stderr);
    let path = home.path().join("run/tensor_dump/timeline.json");
    fs::write(&path, "{").unwrap();
    let ended = argus_in(home.path(), "trace run");
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("timeline.json"), "{}", ended.stderr);
    fs::remove_file(&path).unwrap();
    let ended = argus_in(home.path(), "trace run");
    assert!(ended.stderr.contains("does not tell when its tasks ran"), "{}", ended.stderr);
}

#[test]
fn a_run_that_failed_leaves_its_timeline() {
    let home = tempfile::tempdir().unwrap();
    let ended = argus_in(home.path(), "run failures --case faulting_kernel --timeline t.json");
    assert_ne!(ended.code, 0);
    let drawing = drawing(&home.path().join("t.json"));
    assert_eq!(drawing.slices.iter().filter(|slice| slice.1 == "faulting").count(), 1);
}

#[test]
fn the_trace_of_an_endless_kernel_stops_at_the_limit_and_says_so() {
    let home = tempfile::tempdir().unwrap();
    let ran = argus_in(home.path(), "run failures --case stuck_kernel --timeout 1 --dump-tensor -o run");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let ended = argus_in(home.path(), "trace run --kernel endless --max-instructions 3000 -o t");
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let says = "cut: the task was stopped after 3000 tile instructions and did not end";
    assert!(ended.stdout.contains(says), "{}", ended.stdout);
    let events = json_of(&home.path().join("t/simulator/trace.json"));
    let slices = events["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X");
    assert_eq!(slices.count(), 3000);
    assert_eq!(json_of(&home.path().join("t/simulator/summary.json"))["cut"], true);
    assert_eq!(argus_in(home.path(), "trace --check t").code, 0);
    let json = argus_in(home.path(), "trace run --kernel endless --max-instructions 10 -o u --json");
    let object: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&object["cut_at_instructions"], &object["replay"]), (&10.into(), &"cut".into()));
    assert_eq!(object["slices"], 10);
}
