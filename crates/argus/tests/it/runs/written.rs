//! What `argus run --artefacts` writes: read back by this tool as a run of the reference.

use std::collections::BTreeSet;
use std::fs;

use std::path::Path;

use serde_json::Value;

use crate::python::run;
use crate::tool::argus_in;

/// Whether the consumer of an edge only writes: the reference has no row for a write behind a write.
fn only_written(deps: &Value, edge: &Value) -> bool {
    if edge["reason"] != "overlap" {
        return false;
    }
    let number = u64::from_str_radix(edge["to"].as_str().unwrap().trim_start_matches("0x"), 16).unwrap();
    let tasks = deps["tasks"].as_array().unwrap();
    let id = number.to_string();
    let task = tasks.iter().find(|task| task["task_id"].as_str() == Some(&id)).unwrap();
    !task["args"].as_array().unwrap().iter().any(|arg| arg["type"] == "INPUT" || arg["type"] == "INOUT")
}

#[test]
fn graph_times_and_names_are_those_of_the_dump() {
    let home = tempfile::tempdir().unwrap();
    for (scene, runtime) in [
        ("paged_attention --case CaseSmall1", "trb"),
        ("vector_example", "hbg"),
        ("mixed_example", "trb"),
        ("spmd_multiblock_mix", "trb"),
    ] {
        let ran = argus_in(
            home.path(),
            &format!("run {scene} --runtime {runtime} --dump-tensor --artefacts -o out"),
        );
        assert_eq!(ran.code, 0, "{scene}: {}", ran.stderr);
        // By the rules of the reference's own readers, written down a second time.
        let name = if runtime == "hbg" { "host_build_graph" } else { "tensormap_and_ringbuffer" };
        run("check_artefacts.py", &[&home.path().join("out"), Path::new(name)]);
        let read =
            |path: &std::path::Path| serde_json::from_slice::<Value>(&fs::read(path).unwrap()).unwrap();
        let out = home.path().join("out");
        let (deps, times) = (read(&out.join("deps.json")), read(&out.join("chip_swimlane_records.json")));
        let own = read(&out.join("tensor_dump/graph.json"));
        let hex = |value: &Value| format!("0x{:016x}", value.as_str().unwrap().parse::<u64>().unwrap());
        // Pairs of tasks, without the order that only this project has.
        let pairs: BTreeSet<(String, String)> = deps["edges"]
            .as_array()
            .unwrap()
            .iter()
            .map(|edge| (hex(&edge["pred"]), hex(&edge["succ"])))
            .collect();
        let theirs = own["edges"].as_array().unwrap().iter();
        let theirs: BTreeSet<(String, String)> = theirs
            .filter(|edge| edge["reason"] != "write_after_read" && !only_written(&deps, edge))
            .map(|edge| (edge["from"].as_str().unwrap().to_owned(), edge["to"].as_str().unwrap().to_owned()))
            .collect();
        assert_eq!(pairs, theirs, "{scene}");
        let timeline = read(&out.join("tensor_dump/timeline.json"));
        let calls: usize = timeline["cores"]
            .as_array()
            .unwrap()
            .iter()
            .map(|core| core["parts"].as_array().unwrap().len())
            .sum();
        assert_eq!(times["aicore_tasks"].as_array().unwrap().len(), calls);
        assert_eq!(times["aicpu_tasks"].as_array().unwrap().len(), calls);
        for row in times["aicore_tasks"].as_array().unwrap() {
            let number = |at: usize| row[at].as_u64().unwrap();
            assert!(0 < number(3) && number(3) <= number(4));
        }
        // The same files beside the dump in the reference's layout: its graph, names and times are theirs.
        fs::create_dir_all(home.path().join("foreign")).unwrap();
        let converted = argus_in(home.path(), "convert out --to august -o foreign --force");
        assert_eq!(converted.code, 0, "{}", converted.stderr);
        for entry in
            fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file())
        {
            fs::copy(&entry, home.path().join("foreign").join(entry.file_name().unwrap())).unwrap();
        }
        let graph: Value =
            serde_json::from_str(&argus_in(home.path(), "view foreign --graph --json").stdout).unwrap();
        assert_eq!(graph["notes"], Value::Array(Vec::new()), "{graph}");
        let kernels: BTreeSet<&str> =
            graph["tasks"].as_array().unwrap().iter().filter_map(|task| task["kernel"].as_str()).collect();
        assert!(kernels.iter().all(|name| name.parse::<u32>().is_err()), "{kernels:?}");
        let stats = argus_in(home.path(), "stats foreign --times --json");
        assert_eq!(stats.code, 0, "{}", stats.stderr);
        fs::remove_dir_all(home.path().join("foreign")).unwrap();
        fs::remove_dir_all(&out).unwrap();
    }
}
