//! Files of every age, written out here as the reference wrote them: what was there is read, what was not is absent.

use std::fs;

use argus_abi::{RuntimeKind, TaskId};
use argus_artefacts::Artefacts;
use argus_artefacts::deps::{Deps, EdgeSource};
use argus_artefacts::directory::{DumpFacts, Kind};
use argus_artefacts::ranks::RankTree;
use argus_artefacts::scopes::ScopeStats;
use argus_artefacts::task_name::IdLayout;
use argus_artefacts::times::{Alignment, Times, TimesForm};
use tempfile::TempDir;

fn id(raw: u64) -> TaskId {
    TaskId::from_raw(raw)
}

fn cause<T: std::fmt::Debug>(result: Result<T, argus_artefacts::ArtefactError>) -> String {
    argus_facts::with_causes(&result.unwrap_err())
}

#[test]
fn a_graph_is_read_at_every_age() {
    // The first form has pairs of numbers, also such that no double holds.
    let first = Deps::parse(br#"{"version":1,"edges":[[0,1],[1,9007199254740993]]}"#).unwrap();
    assert_eq!((first.tasks.len(), first.edges.len()), (0, 2));
    assert_eq!(first.edges[1].succ, id((1 << 53) + 1));
    assert_eq!(first.edges[1].source, EdgeSource::Unknown);

    // The second has offsets for each dimension.
    let second = Deps::parse(
        br#"{"version":2,"tasks":[{"task_id":"0","scope":"auto","args":[{"idx":0,"type":"OUTPUT"}]},
             {"task_id":"1","scope":"manual","args":[{"idx":0,"type":"INPUT","tensor_id":"7","dtype":"FLOAT32","shape":[2,3],"offset":[0,1]}]}],
             "tensors":[{"tensor_id":"7","buffer_addr":"4096","version":0,"dtype":"FLOAT32","raw_shapes":[4,4]}],
             "edges":[{"pred":"0","succ":"1","arg":0,"source":"tensormap","overlap":"other","tensor_id":"7",
                       "consumer_dtype":"FLOAT32","consumer_shape":[2,3],"consumer_offset":[0,1],
                       "producer_shape":[4,4],"producer_offset":[0,0]}]}"#,
    )
    .unwrap();
    assert!(second.tasks[1].manual_scope && second.tasks[1].kernel_ids.is_none());
    let consumer = second.edges[0].consumer.as_ref().unwrap();
    assert_eq!((consumer.shape.as_slice(), consumer.start_offset), (&[2, 3][..], None));
    assert_eq!((second.edges[0].covered, second.tensors[0].elements), (Some(false), None));

    // June: no version, no kernels. Each later month adds a key to a task.
    let task = |more: &str| {
        format!(r#"{{"tasks":[{{"task_id":"5","scope":"auto"{more},"args":[]}}],"tensors":[],"edges":[]}}"#)
    };
    let read = |more: &str| Deps::parse(task(more).as_bytes()).unwrap().tasks.remove(0);
    let june = read("");
    assert_eq!((june.kernel_ids, june.block_num, june.early_dispatch), (None, None, None));
    let later = read(r#","early_dispatch":true,"kernel_ids":[3,-1,-1],"block_num":4"#);
    assert_eq!(
        (later.kernel_ids, later.block_num, later.early_dispatch),
        (Some([3, -1, -1]), Some(4), Some(true))
    );

    // September names the runtime first; explicit edges carry their true flags.
    let text = br#"{"runtime":"host_build_graph","tasks":[{"task_id":"4611686018427387905","scope":"auto","early_dispatch":false,"kernel_ids":[0,-1,-1],"block_num":1,"args":[]}],"tensors":[],"edges":[]}"#;
    let september = Deps::parse(text).unwrap();
    assert_eq!(september.runtime, Some(RuntimeKind::Hbg));
    assert_eq!(september.text().as_bytes(), text);
}

/// Times of April and of the first files under `l2_perf_records.json`: task objects with their consumers.
const OBJECTS: &str = r#"{"KEY": 2, "tasks": [
 {"task_id": 4294967296, "func_id": 3, "core_id": 0, "core_type": "aic", "ring_id": 1, "start_time_us": 1.500, "end_time_us": 4.250,
  "duration_us": 2.750, "dispatch_time_us": 1.000, "finish_time_us": 4.500, "fanout": [4294967297, 9007199254740993], "fanout_count": 2},
 {"task_id": 4294967297, "func_id": -1, "core_id": 9, "core_type": "aiv", "ring_id": 1, "start_time_us": 5.000, "end_time_us": 6.000,
  "duration_us": 1.000, "dispatch_time_us": 4.600, "finish_time_us": 6.100, "fanout": [], "fanout_count": 0}],
 "aicpu_scheduler_phases": [[], [{"start_time_us": 0.000, "end_time_us": 0.400, "phase": "scan", "loop_iter": 1, "tasks_processed": 0, "pop_hit": 1, "pop_miss": 2}]],
 "aicpu_orchestrator_phases": [[
  {"phase": "orch_alloc", "start_time_us": 0.100, "end_time_us": 0.200, "submit_idx": 0, "task_id": 4294967296},
  {"phase": "orch_scope_end", "start_time_us": 0.300, "end_time_us": 0.310, "submit_idx": 1},
  {"phase": "orch_submit", "start_time_us": 0.400, "end_time_us": 0.500, "submit_idx": 2, "task_id": 4294967297}]],
 "core_to_thread": [0, -1, -1, -1, -1, -1, -1, -1, -1, 1]}"#;

#[test]
fn times_in_microseconds_are_read_with_steps_and_consumers() {
    let read = |key: &str| Times::parse(OBJECTS.replace("KEY", key).as_bytes()).unwrap();
    let june = read("l2_swimlane_level");
    assert_eq!((june.form, june.level, june.clock_hz), (TimesForm::Objects, Some(2), 1_000_000_000));
    let [first, second] = &june.parts[..] else { panic!("{june:?}") };
    assert_eq!((first.dispatch, first.start, first.end, first.finish), (Some(1000), 1500, 4250, Some(4500)));
    assert_eq!((first.func, second.func), (Some(3), None));
    let fanout = [(id(1 << 32), id((1 << 32) + 1)), (id(1 << 32), id((1 << 53) + 1))];
    assert_eq!(june.fanout, fanout);
    let steps: Vec<&str> = june.submits.iter().map(|submit| june.step(submit)).collect();
    assert_eq!(steps, ["alloc", "scope_end", "submit"]);
    assert_eq!(june.submits[1].task, None);
    assert_eq!(june.streams[1].phases[0].pops, Some([1, 2]));
    assert_eq!((june.core_threads[0], june.core_threads[1], june.core_threads[9]), (Some(0), None, Some(1)));
    // `version` was the level for some weeks. Before that, 2 meant phases, which no level 2 has.
    assert_eq!(read("l2_perf_level").level, Some(2));
    assert_eq!(read("version").level, Some(4));
}

fn cycles(metadata: &str, rest: &str) -> String {
    format!(
        r#"{{"chip_swimlane_level": 4, "metadata": {{"clock_freq_hz": 50000000, "num_cores": 2, "core_types": ["aic", "aiv"]{metadata}}}{rest}}}"#
    )
}

#[test]
fn rows_are_read_by_their_number_of_columns() {
    let read = |rows: &str, scheduled: &str| {
        let text = cycles("", &format!(r#", "aicore_tasks": {rows}, {scheduled}"#));
        Times::parse(text.as_bytes())
    };
    let five = read("[[0,7,1,100,200]]", r#""aicpu_tasks": [[0,1,90,210]]"#).unwrap();
    assert_eq!((five.parts[0].receive, five.parts[0].dispatch, five.parts[0].epoch), (None, Some(90), None));
    let six = read("[[0,7,1,100,200,4]]", r#""aicpu_tasks": []"#).unwrap();
    assert_eq!((six.parts[0].receive, six.parts[0].dispatch), (Some(96), None));
    // The same core and token in two runs of a process are two calls.
    let seven = read(
        "[[0,9223372036854775810,1,100,200,4,6],[0,9223372036854775810,1,500,600,4,7]]",
        r#""scheduler_tasks": {"version": 3, "producer": "aicore", "records": [[0,1,490,610,7],[0,1,90,210,6]]}"#,
    )
    .unwrap();
    assert_eq!(
        (seven.form, seven.parts[0].dispatch, seven.parts[1].dispatch),
        (TimesForm::Epochs, Some(90), Some(490))
    );
    assert_eq!((seven.epochs(), seven.parts[0].task), (vec![6, 7], id((1 << 63) + 2)));
    let four = cause(read("[[0,7,1,100]]", r#""aicpu_tasks": []"#));
    assert_eq!(four, "kernel call 0: aicore_tasks is 4; allowed is a row of five to seven numbers");
}

const STREAMS: &str = r#", "aicore_tasks": [[0,5,1,100,200,4,7],[0,5,1,100,200,4,6]], "scheduler_tasks": {"producer": "aicpu", "records": []},
 "scheduler_records": {"streams": [{"platform": "a5", "producer": "aicore", "scheduler_id": 3, "worker_id": 0, "core_type": "aiv",
  "physical_core_id": 12, "capture": {"committed": 2, "dropped": 4, "truncated": true}, "records": [
   {"start_cycles": 10, "end_cycles": 20, "run_epoch": 7, "loop_iter": 1, "kind": "worksteal", "tasks_processed": 1, "task_id": null},
   {"start_cycles": 30, "end_cycles": 40, "run_epoch": 6, "loop_iter": 2, "kind": "state_probe", "tasks_processed": 0, "task_id": 5}],
  "metrics": [{"record_index": 1, "pop_hit": 2, "pop_miss": 3, "shared_at_start": [1,2,3], "shared_at_end": [0,0,0]}]}]},
 "aicpu_lifecycle_records": [{"thread_id": 2, "handshake_start_cycles": 5, "handshake_complete_cycles": 9, "exit_wait_start_cycles": 50,
  "exit_wait_end_cycles": 60, "config_start_cycles": 0, "config_complete_cycles": 0}],
 "aicpu_orchestrator_phases": [[{"submit_idx": 0, "task_id": 5, "start_cycles": 1, "end_cycles": 2, "run_epoch": 6},
                                {"submit_idx": 0, "task_id": 5, "start_cycles": 3, "end_cycles": 4, "run_epoch": 7}]]"#;

#[test]
fn streams_of_september_keep_their_number_their_losses_and_their_run() {
    let times =
        Times::parse(cycles(r#", "runtime": "tensormap_and_ringbuffer""#, STREAMS).as_bytes()).unwrap();
    let [stream] = &times.streams[..] else { panic!("{times:?}") };
    assert_eq!((stream.id, stream.dropped, stream.truncated), (3, 4, true));
    assert_eq!((times.kind(&stream.phases[0]), stream.phases[0].epoch), ("worksteal", Some(7)));
    assert_eq!((stream.phases[1].task, stream.phases[1].pops), (Some(id(5)), Some([2, 3])));
    assert_eq!(stream.phases[1].ready, Some([[1, 2, 3], [0, 0, 0]]));
    let [lifecycle] = &times.lifecycle[..] else { panic!("{times:?}") };
    let spans: Vec<_> =
        lifecycle.phases.iter().map(|phase| (times.kind(phase), phase.start, phase.end)).collect();
    assert_eq!((lifecycle.id, spans), (2, vec![("handshake", 5, 9), ("exit_wait", 50, 60)]));

    // Beside a dump of run 7 nothing of run 6 is left; beside one that does not say, ids would mean two tasks.
    let directory = TempDir::new().unwrap();
    let text = cycles(r#", "runtime": "tensormap_and_ringbuffer""#, STREAMS);
    fs::write(directory.path().join("chip_swimlane_records.json"), text).unwrap();
    let facts =
        |epoch| DumpFacts { epoch, tasks: [(id(5), Default::default())].into(), ..DumpFacts::default() };
    let mut read = Artefacts::read(directory.path());
    read.hold_against(&facts(Some(7)));
    let times = read.times.as_ref().unwrap();
    let phases: Vec<_> =
        times.streams.iter().flat_map(|stream| &stream.phases).map(|phase| phase.start).collect();
    let submits: Vec<_> = times.submits.iter().map(|submit| submit.start).collect();
    assert_eq!((times.parts.len(), phases, submits), (1, vec![10], vec![3]));
    assert_eq!(read.contradictions[0].how, "3 of its rows are of other runs than run 7, that of the dump");
    let mut read = Artefacts::read(directory.path());
    read.hold_against(&facts(None));
    assert!(read.times.is_none());
    let how = "it has rows of 2 runs, and the dump does not say which is its own";
    assert_eq!(read.contradictions[0].how, how);
}

#[test]
fn clocks_are_aligned_by_good_samples_alone_and_by_the_bounds_of_september() {
    let sample = |position: &str, before: &str, after: &str, cycles: &str, error: &str| {
        format!(
            r#"{{"position": "{position}", "sample_idx": 0, "host_before_ns": {before}, "raw_device_timestamp": {cycles},
             "device_cycles": {cycles}, "host_after_ns": {after}, "rtt_ns": 1, "uncertainty_ns": 1, "error": {error}}}"#
        )
    };
    let failed = r#"{"stage": "read", "code": 5}"#;
    let (first, last) = ("pre_host_orchestration", "post_device_execution");
    let samples = [
        sample(first, "1000", "9000", "10", "null"),
        sample(first, "2000", "2100", "20", "null"),
        sample(first, "2000", "null", "null", failed),
        sample(last, "102000", "102200", "5020", "null"),
    ];
    let anchors = |samples: &[String]| {
        let anchors = format!(
            r#", "orchestrator_source": "host", "host_capture": {{"status": "complete"}}, "clock_anchors": {{"schema_version": 1,
             "provider": "acl_event", "raw_device_timestamp_unit": "device_uptime_us", "samples": [{}]}}"#,
            samples.join(",")
        );
        let text = cycles(&anchors, r#", "aicore_tasks": [[0,1,1,100,200,4]], "aicpu_tasks": []"#);
        Times::parse(text.as_bytes()).unwrap().host.unwrap().alignment.unwrap()
    };
    // The best sample of each end counts; half the larger round trip, and a microsecond for the coarse clock.
    let aligned = anchors(&samples);
    let Alignment::Aligned { first, last, uncertainty_ns } = aligned else { panic!("{aligned:?}") };
    assert_eq!((first.host_ns, first.device, last.host_ns, last.device), (2050, 20, 102_100, 5020));
    assert_eq!((uncertainty_ns, aligned.host_ns(50_000_000, 5020)), (1100, Some(102_100)));
    assert_eq!(anchors(&samples[..2]), Alignment::NotAligned { why: "an anchor of the clocks is missing" });

    let bounded = |bounds: &str| {
        let metadata = format!(r#", "host_capture": {{"status": "complete"}}, "clock_alignment": {bounds}"#);
        let text = cycles(
            &metadata,
            r#", "aicore_tasks": [[0,1,1,100,200,4,1]], "scheduler_tasks": {"records": []}"#,
        );
        Times::parse(text.as_bytes()).unwrap().host.unwrap().alignment.unwrap()
    };
    let good = bounded(
        r#"{"status": "bounded", "device_anchor_cycles": 150, "host_anchor_ns": 7000, "host_anchor_min_ns": 6500, "host_anchor_max_ns": 7100}"#,
    );
    assert!(matches!(good, Alignment::Aligned { uncertainty_ns: 500, .. }), "{good:?}");
    // 50 ticks before the anchor and 50 behind it, 20 ns each.
    assert_eq!((good.host_ns(50_000_000, 100), good.host_ns(50_000_000, 200)), (Some(6000), Some(8000)));
    let none = bounded(r#"{"status": "unavailable", "reason": "no span"}"#);
    assert!(matches!(none, Alignment::NotAligned { .. }), "{none:?}");
}

#[test]
fn scope_statistics_say_when_they_are_short() {
    let head = |more: &str| {
        format!(
            r#"{{{more}"fatal": false, "dropped": 0, "total": 2, "task_window_max": [1,1,1,1], "heap_max": [9,9,9,9], "tensormap_max": 4}}"#
        )
    };
    let row = |phase: &str, heap: [u64; 2], more: &str| {
        format!(
            r#"{{"site": "a.cpp:1", "phase": "{phase}", "depth": 0, "ring": 0, "task_window_start": 0, "task_window_end": 1, "heap_start": {}, "heap_end": {}, "tensormap": 1{more}}}"#,
            heap[0], heap[1]
        )
    };
    // June: no dependency pool, and heap offsets begin again at 0; what they took is then not known.
    let text = [head("\"version\": 4, "), row("begin", [900, 950], ""), row("end", [10, 50], "")].join("\n");
    let june = ScopeStats::parse(text.as_bytes()).unwrap();
    assert_eq!((june.version, june.limits.edges, june.shortcomings()), (Some(4), None, vec![]));
    let taken = june.scopes()[0].taken.unwrap();
    assert_eq!((taken.heap, taken.edges), (None, None));
    // September: no version; a background capture that is not whole says so, and so do lines that are missing.
    let more = r#""collection_verdict": "published_short", "counts_unknown": true, "host_received_records": 9, "host_retained_records": 1, "#;
    let epoch = r#", "run_epoch": 7, "buf_seq": 3"#;
    let september =
        ScopeStats::parse([head(more), row("begin", [0, 0], epoch)].join("\n").as_bytes()).unwrap();
    assert_eq!((september.version, september.samples[0].epoch), (None, Some(7)));
    let expected = [
        "it has 1 lines of scopes, and its first line says 2",
        "the capture calls itself 'published_short', which is not whole",
        "the capture does not know how many lines it should have",
    ];
    assert_eq!(september.shortcomings(), expected);
    assert_eq!(september.scope_of(0, 0), None, "an end may be missing");
}

/// Who wrote a capture is told by its files; a month of July has no flags on its edges and rings all the same.
#[test]
fn ids_are_laid_out_as_the_files_tell() {
    let layout = |deps: &str, dumped: &[u64]| {
        let directory = TempDir::new().unwrap();
        fs::write(directory.path().join("deps.json"), deps).unwrap();
        let mut read = Artefacts::read(directory.path());
        let tasks = dumped.iter().map(|&raw| (id(raw), Default::default()));
        read.hold_against(&DumpFacts { tasks: tasks.collect(), ..DumpFacts::default() });
        assert!(read.deps.is_some(), "{:?}", read.contradictions);
        read.layout()
    };
    let task = |id: u64, kernels: &str| {
        format!(r#"{{"task_id":"{id}","scope":"auto","kernel_ids":{kernels},"block_num":1,"args":[]}}"#)
    };
    let graph = |tasks: &[String]| format!(r#"{{"tasks":[{}],"tensors":[],"edges":[]}}"#, tasks.join(","));
    let (barrier, kernel) = ("[-1,-1,-1]", "[0,-1,-1]");
    let ring_1 = (1 << 32) + 1027;
    // Rings: a barrier is task 1 of ring 0, and task 1027 of ring 1 is listed.
    let rings = graph(&[task(1, barrier), task(ring_1, kernel)]);
    assert_eq!(layout(&rings, &[ring_1]), IdLayout::Rings);
    // A Graph is task 1, and its third node is not listed.
    let shell = graph(&[task(1, barrier), task(2, kernel)]);
    assert_eq!(layout(&shell, &[ring_1, 2]), IdLayout::InnerRing);
    // September uses bits that no ring has.
    assert_eq!(layout(&graph(&[task(1 << 62, kernel)]), &[]), IdLayout::Spaces);
}

#[test]
fn identities_and_programs_that_do_not_fit_their_directory_are_told() {
    let directory = TempDir::new().unwrap();
    let identity = |rank: u32, capture: u32| {
        format!(
            r#"{{"schema_version": 1, "run_id": 3, "task_slot": 4, "group_index": 0, "group_size": 3, "host_pid": 9, "chip_rank": {rank},
             "local_capture_index": {capture}, "endpoint_dispatch_id": 1, "pipeline_slot": 0, "pipeline_generation": 0,
             "callable_digest": "{}"}}"#,
            "ab".repeat(32)
        )
    };
    let put = |place: &str, name: &str, text: &str| {
        let path = directory.path().join(place);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join(name), text).unwrap();
    };
    put("network10/node2/rank0/d5", "dispatch_identity.json", &identity(0, 5));
    put("network10/node2/rank1/d5", "dispatch_identity.json", &identity(0, 5));
    put("network10/node2/rank1/d6", "dispatch_program.json", r#"{"program": "../../etc"}"#);
    put("node_modules/rank7/d0", "args.json", "{}");
    put("rank_local/d0", "dispatch_program.json", r#"{"program": "gather"}"#);
    let tree = RankTree::read(directory.path()).unwrap();
    let labels: Vec<String> = tree.captures.iter().map(|capture| capture.label()).collect();
    let node = "network10/node2";
    let expected = [
        "rank_local/d0".to_owned(),
        format!("{node}/rank0/d5"),
        format!("{node}/rank1/d5"),
        format!("{node}/rank1/d6"),
    ];
    assert_eq!(labels, expected);
    // A group of three has a third member somewhere.
    assert_eq!(tree.missing, [format!("{node}/rank2")]);
    let problems: Vec<&[String]> = tree.captures.iter().map(|capture| &capture.problems[..]).collect();
    assert_eq!(problems[2], ["dispatch_identity.json: it is of rank 0, and its directory is rank 1's"]);
    assert!(tree.captures[2].identity.is_none() && tree.captures[1].identity.is_some());
    assert!(problems[3][0].starts_with("dispatch_program.json: the file: program is"), "{problems:?}");
    // The files of that directory say the same when they are read by themselves.
    let read = Artefacts::read(&directory.path().join("network10/node2/rank1/d5"));
    assert_eq!(read.contradictions[0].kind, Kind::Identity);
    assert!(read.identity.is_none());
}
