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
        assert!(graph.code == 2 && graph.stderr.contains("has no graph"), "{how}: {}", graph.stderr);
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
