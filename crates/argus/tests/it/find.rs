//! `argus find` names the task that was made wrong, on every scene.
//!
//! What is inherited is not taken from the tool: the captured inputs of the faulty run are compared with those
//! of a clean one by the checksums in their manifests, and what is downstream of a task by the edges of its graph.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::DeflateDecoder;
use serde_json::{Value, json};

use crate::tool::argus_in;

const KINDS: [&str; 7] = ["scale", "bitflip", "nan", "zero-row", "shift-row", "skip-write", "stale-read"];

/// Scene and case, one small one of each; all runtimes of the case are tried.
const SCENES: [(&str, &str); 14] = [
    ("vector_example", "default"),
    ("dump_tensor_example", "default"),
    ("matmul", "default"),
    ("matmul_double_buffered", "default"),
    ("bgemm", "default"),
    ("benchmark_bgemm", "Bgemm64"),
    ("mixed_example", "case1"),
    ("pipe_mix", "default"),
    ("paged_attention", "CaseSmall1"),
    ("paged_attention_manual_scope", "CaseSmall1"),
    ("batch_paged_attention", "CaseSmall1"),
    ("spmd_basic", "Case1"),
    ("spmd_multiblock_aiv", "Case1"),
    ("spmd_multiblock_mix", "Case1"),
];

fn long() -> bool {
    std::env::var_os("ARGUS_LONG").is_some_and(|value| value == "1")
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// What is written in a dump's own files.
struct Written {
    manifest: Value,
    graph: Value,
    run: Value,
}

impl Written {
    fn at(home: &Path, name: &str) -> Written {
        let directory = home.join(name).join("tensor_dump");
        Written {
            manifest: json(&directory.join("tensor_dump.json")),
            graph: json(&directory.join("graph.json")),
            run: json(&directory.join("run.json")),
        }
    }

    fn kernels(&self) -> BTreeSet<String> {
        let used = self.graph["tasks"].as_array().unwrap().iter();
        used.flat_map(|task| task["kernel"].as_str().unwrap().split('+'))
            .filter(|kernel| !kernel.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// Checksum of each tensor before dispatch.
    fn inputs(&self) -> BTreeMap<(String, u64), String> {
        let records = self.manifest["tensors"].as_array().unwrap().iter();
        let before = records.filter(|r| r["stage"] == "before_dispatch" && r["kind"] == "tensor");
        before
            .map(|r| {
                let key = (r["task_id"].as_str().unwrap().to_owned(), r["arg_index"].as_u64().unwrap());
                (key, r["checksum"].as_str().unwrap().to_owned())
            })
            .collect()
    }

    /// Everything behind a task.
    fn behind(&self, task: &str) -> BTreeSet<String> {
        let edges = self.graph["edges"].as_array().unwrap();
        let mut behind = BTreeSet::new();
        let mut open = vec![task.to_owned()];
        while let Some(from) = open.pop() {
            for edge in edges.iter().filter(|edge| edge["from"] == from.as_str()) {
                let to = edge["to"].as_str().unwrap().to_owned();
                if behind.insert(to.clone()) {
                    open.push(to);
                }
            }
        }
        behind
    }
}

fn with_verdict(report: &Value, verdict: &str) -> BTreeSet<String> {
    let tasks = report["tasks"].as_array().unwrap().iter();
    tasks
        .filter(|task| task["verdict"] == verdict)
        .map(|task| task["task_id"].as_str().unwrap().to_owned())
        .collect()
}

fn find(home: &Path, line: &str) -> (i32, Value) {
    let ended = argus_in(home, line);
    let report = serde_json::from_str(&ended.stdout);
    (ended.code, report.unwrap_or_else(|_| panic!("argus {line}: {}{}", ended.stdout, ended.stderr)))
}

/// Tasks whose inputs have other bytes than in the clean run.
fn tasks_with_other_inputs(bad: &Written, clean: &Written, injected: &str) -> BTreeSet<String> {
    let clean = clean.inputs();
    let others = bad.inputs().into_iter().filter(|(key, checksum)| clean.get(key) != Some(checksum));
    others.map(|((task, _), _)| task).filter(|task| task != injected).collect()
}

/// A mark for each byte.
#[derive(Default)]
struct Stains {
    pages: HashMap<u64, [bool; 4096]>,
    any: bool,
}

impl Stains {
    fn has(&self, byte: u64) -> bool {
        self.pages.get(&(byte / 4096)).is_some_and(|page| page[byte as usize % 4096])
    }

    fn mark(&mut self, byte: u64, stained: bool) {
        self.any |= stained;
        self.pages.entry(byte / 4096).or_insert([false; 4096])[byte as usize % 4096] = stained;
    }
}

/// The device bytes of each element of a record, in logical order.
fn element_bytes(record: &Value) -> Vec<std::ops::Range<u64>> {
    let numbers = |key: &str| -> Vec<u64> {
        record[key].as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
    };
    let (shape, strides) = (numbers("shape"), numbers("strides"));
    let address = u64::from_str_radix(&record["address"].as_str().unwrap()[2..], 16).unwrap();
    let width = record["bin_size"].as_u64().unwrap() / record["numel"].as_u64().unwrap().max(1);
    let mut offsets = vec![0u64];
    for (extent, stride) in shape.iter().zip(&strides) {
        offsets = offsets.iter().flat_map(|at| (0..*extent).map(move |i| at + i * stride)).collect();
    }
    offsets.iter().map(|at| address + at * width..address + (at + 1) * width).collect()
}

/// Tasks that read a byte which is wrong, or was made of wrong ones, in the order of dispatch. Wrong bytes begin
/// with the elements of the injected task's outputs that are others than in the clean run.
fn tasks_that_read_stained_bytes(
    home: &Path,
    bad: &Written,
    clean: &Written,
    injected: &str,
) -> BTreeSet<String> {
    let payloads =
        ["bad", "clean"].map(|name| fs::read(home.join(name).join("tensor_dump/tensor_dump.bin")).unwrap());
    let of = |run: usize, record: &Value| {
        let (at, size) = (record["bin_offset"].as_u64().unwrap(), record["bin_size"].as_u64().unwrap());
        payloads[run][at as usize..(at + size) as usize].to_vec()
    };
    let counterpart = |record: &Value| {
        let same =
            |other: &&Value| ["task_id", "arg_index", "stage"].iter().all(|key| other[key] == record[key]);
        of(1, clean.manifest["tensors"].as_array().unwrap().iter().find(same).unwrap())
    };
    let mut tasks: Vec<&Value> = bad.graph["tasks"].as_array().unwrap().iter().collect();
    tasks.sort_by_key(|task| task["dispatch_order"].as_u64().unwrap_or(u64::MAX));
    let mut by_task: HashMap<&str, Vec<&Value>> = HashMap::new();
    for record in bad.manifest["tensors"].as_array().unwrap().iter().filter(|r| r["kind"] == "tensor") {
        by_task.entry(record["task_id"].as_str().unwrap()).or_default().push(record);
    }
    let (mut stained, mut inherited) = (Stains::default(), BTreeSet::new());
    for id in tasks.iter().map(|task| task["task_id"].as_str().unwrap()) {
        let mine = |stage: &'static str| {
            by_task.get(id).into_iter().flatten().filter(move |record| record["stage"] == stage)
        };
        let reads = mine("before_dispatch").any(|record| {
            stained.any && element_bytes(record).into_iter().flatten().any(|byte| stained.has(byte))
        });
        if reads && id != injected {
            inherited.insert(id.to_owned());
        }
        if !stained.any && id != injected {
            continue;
        }
        for record in mine("after_completion") {
            let elements = element_bytes(record);
            let (here, there) = (of(0, record), (id == injected).then(|| counterpart(record)));
            let width = here.len() / elements.len().max(1);
            for (index, bytes) in elements.into_iter().enumerate() {
                let at = index * width..(index + 1) * width;
                let wrong = there.as_ref().is_some_and(|there| there[at.clone()] != here[at]);
                if reads || wrong || !unjudged(record) {
                    bytes.for_each(|byte| stained.mark(byte, reads || wrong));
                }
            }
        }
    }
    inherited
}

/// Outputs that a task may leave as they were, so that its reference says nothing about them.
fn unjudged(record: &Value) -> bool {
    record["kernel"] == "UP" && record["role"] == "output"
}

/// Runs a case with a fault and checks what is said of every task. Whether the fault had an effect.
fn fault_is_found(home: &Path, run: &str, kernel: &str, kind: &str, clean: &Written) -> bool {
    _ = fs::remove_dir_all(home.join("bad"));
    let line = format!("{run} --dump-tensor -o bad --inject {kernel}:{kind}");
    let ended = argus_in(home, &line);
    if ended.stderr.contains("nothing by more than the tolerance") || ended.stderr.contains("has no") {
        return false;
    }
    assert_ne!(ended.code, 2, "argus {line}: {}", ended.stderr);
    let bad = Written::at(home, "bad");
    let injected = bad.run["injections"][0]["task_id"].as_str().unwrap().to_owned();
    let differ = tasks_with_other_inputs(&bad, clean, &injected);
    let stained = tasks_that_read_stained_bytes(home, &bad, clean, &injected);
    for side in ["--isolated", "--against clean"] {
        let (code, report) = find(home, &format!("find bad {side} --json"));
        let about = format!("argus {line}; find {side}");
        assert_eq!(code, 1, "{about}");
        assert_eq!(with_verdict(&report, "introduced"), BTreeSet::from([injected.clone()]), "{about}");
        assert_eq!(report["first_wrong"][0]["task_id"], injected.as_str(), "{about}");
        let inherited = with_verdict(&report, "inherited");
        let expected = if side == "--isolated" { &stained } else { &differ };
        assert_eq!(&inherited, expected, "{about}");
        assert!(differ.is_subset(&stained), "{about}: {differ:?} differ, {stained:?} read wrong bytes");
    }
    true
}

#[test]
fn the_injected_task_is_named_on_every_scene() {
    let mut turn = 0;
    for (scene, case) in SCENES {
        let home = tempfile::tempdir().unwrap();
        let listed = argus_in(home.path(), "list --json");
        let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
        let scenes = listed["scenes"].as_array().unwrap();
        let cases = scenes.iter().find(|known| known["name"] == scene).unwrap()["cases"].as_array().unwrap();
        let known = cases.iter().find(|known| known["name"] == case).unwrap_or(&cases[0]);
        let case = known["name"].as_str().unwrap();
        let runtimes = known["runtimes"].as_array().unwrap();
        for runtime in runtimes.iter().map(|runtime| runtime.as_str().unwrap()) {
            for platform in ["a2a3sim", "a5sim"] {
                // The gate takes turns: every kernel, every kind and every chip, but not all of their products.
                if !long() && (platform == "a5sim") != (turn % 2 == 1) {
                    continue;
                }
                let start = std::time::Instant::now();
                let run =
                    format!("run {scene} --case {case} --runtime {runtime} -p {platform} --skip-golden");
                _ = fs::remove_dir_all(home.path().join("clean"));
                let ended = argus_in(home.path(), &format!("{run} --dump-tensor -o clean"));
                assert_eq!(ended.code, 0, "argus {run}: {}", ended.stderr);
                let (code, report) = find(home.path(), "find clean --json");
                assert_eq!((code, &report["verdict"]), (0, &"agree".into()), "argus {run}; find: {report}");
                let clean = Written::at(home.path(), "clean");
                for kernel in clean.kernels() {
                    let mut found = false;
                    for (number, kind) in KINDS.iter().enumerate() {
                        if !long() && (found || (number + turn) % 3 != 0) {
                            continue;
                        }
                        found |= fault_is_found(home.path(), &run, &kernel, kind, &clean);
                    }
                    turn += 1;
                    assert!(!long() || found, "argus {run}: no fault of {kernel} had an effect");
                }
                eprintln!("{run}: {:?}", start.elapsed());
            }
        }
    }
}

#[test]
fn two_faults_in_independent_branches_are_both_named() {
    let home = tempfile::tempdir().unwrap();
    let run = "run benchmark_bgemm --skip-golden --dump-tensor";
    assert_eq!(argus_in(home.path(), &format!("{run} -o clean")).code, 0);
    let clean = Written::at(home.path(), "clean");
    // Two tasks of one kernel with no path between them.
    let tasks = clean.graph["tasks"].as_array().unwrap();
    let kernel = tasks[0]["kernel"].as_str().unwrap();
    let same: Vec<&str> =
        tasks.iter().filter(|t| t["kernel"] == kernel).map(|t| t["task_id"].as_str().unwrap()).collect();
    let behind = clean.behind(same[0]);
    let nth = (1..same.len()).find(|&nth| !behind.contains(same[nth])).expect("independent tasks");
    let bad = format!("{run} -o bad --inject {kernel}:0:scale --inject {kernel}:{nth}:scale");
    assert_ne!(argus_in(home.path(), &bad).code, 2);
    let injected: BTreeSet<String> = Written::at(home.path(), "bad").run["injections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|injection| injection["task_id"].as_str().unwrap().to_owned())
        .collect();
    for side in ["--isolated", "--against clean"] {
        let (code, report) = find(home.path(), &format!("find bad {side} --json"));
        assert_eq!(code, 1);
        let first: BTreeSet<String> = report["first_wrong"]
            .as_array()
            .unwrap()
            .iter()
            .map(|first| first["task_id"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(first, injected, "{side}");
    }
}

#[test]
fn runs_on_other_chips_and_runtimes_line_up() {
    let home = tempfile::tempdir().unwrap();
    let run = |name: &str, more: &str| {
        let line = format!("run dump_tensor_example --dump-tensor -o {name} {more}");
        assert_eq!(argus_in(home.path(), &line).code, 0, "argus {line}");
    };
    run("trb", "--runtime trb");
    run("other_chip", "--runtime trb -p a5sim --aicpu-threads 2");
    run("hbg", "--runtime hbg");
    run("abg", "--runtime abg -p a5sim");
    for (a, b) in [("trb", "other_chip"), ("trb", "hbg"), ("hbg", "abg")] {
        let (code, report) = find(home.path(), &format!("find {a} --against {b} --json"));
        assert_eq!((code, &report["verdict"]), (0, &"agree".into()), "{a} against {b}: {report}");
        assert_eq!(report["unaligned"]["here"], serde_json::json!([]), "{a} against {b}");
    }
    let ended = argus_in(home.path(), "find --runs trb other_chip");
    assert_eq!(ended.code, 0, "{}", ended.stdout);
}

#[test]
fn exported_arrays_are_a_golden_side() {
    let home = tempfile::tempdir().unwrap();
    let run = "run vector_example --skip-golden --dump-tensor";
    assert_eq!(argus_in(home.path(), &format!("{run} -o good")).code, 0);
    for format in ["npy", "npz", "safetensors"] {
        let line = format!("export good --format {format} -o {format} --stage after --kind tensor");
        assert_eq!(argus_in(home.path(), &line).code, 0);
    }
    argus_in(home.path(), &format!("{run} -o bad --inject mul:scale"));
    let injected = Written::at(home.path(), "bad").run["injections"][0]["task_id"].clone();
    for format in ["npy", "npz", "safetensors"] {
        let (code, report) = find(home.path(), &format!("find good --golden {format} --json"));
        assert_eq!((code, &report["verdict"]), (0, &"agree".into()), "{format}: {report}");
        let (code, report) = find(home.path(), &format!("find bad --golden {format} --json"));
        assert_eq!((code, &report["first_wrong"][0]["task_id"]), (1, &injected), "{format}");
    }
}

#[test]
fn what_cannot_be_judged_says_why() {
    let home = tempfile::tempdir().unwrap();
    argus_in(home.path(), "run vector_example --dump-tensor -o good");
    fs::create_dir(home.path().join("empty")).unwrap();
    for (line, says) in [
        ("find nowhere", "nowhere"),
        ("find empty", "no dump"),
        ("find good --golden empty", "holds no expected values"),
        ("find good --golden nowhere", "nowhere"),
        ("find good --rtol -1", "a tolerance must be"),
        ("find good --outliers 2", "the budget of outliers"),
        ("find good --scene nothing", "nothing"),
        ("find --runs good", "at least two"),
        ("find good --isolated --against good", "cannot be used with"),
        ("find", "outputs"),
    ] {
        let ended = argus_in(home.path(), line);
        assert_eq!(ended.code, 2, "argus {line}: {}", ended.stdout);
        assert!(ended.stderr.contains(says), "argus {line}: {}", ended.stderr);
    }
    let ended = argus_in(home.path(), "run vector_example --dump-tensor=hybrid -o bare");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let ended = argus_in(home.path(), "find bare");
    assert_eq!(ended.code, 2);
    assert!(ended.stdout.contains("NOT JUDGED"), "{}", ended.stdout);
}

#[test]
fn the_page_holds_the_findings_and_nothing_from_elsewhere() {
    let home = tempfile::tempdir().unwrap();
    argus_in(home.path(), "run vector_example --dump-tensor -o bad --inject mul:nan");
    let ended = argus_in(home.path(), "find bad --html report.html");
    assert_eq!(ended.code, 1);
    let page = fs::read_to_string(home.path().join("report.html")).unwrap();
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("@ANSWERS@"));
    let (objects, columns) = answers(&page);
    let verdict = &objects["api/0/overview"]["verdict"];
    assert_eq!(verdict["verdict"], "differ");
    assert_eq!(verdict["first_wrong"][0]["kernel"], "mul");
    assert_eq!(verdict["counts"]["introduced"], 1);
    // Every task is there, and the wrong output with what it should be.
    let tasks = &columns["api/0/tasks"];
    assert_eq!((&tasks[..4], &tasks[8..12]), (&b"ATSK"[..], &5u32.to_le_bytes()[..]));
    let record = verdict["first_wrong"][0]["outputs"][0]["record"].as_u64().unwrap();
    let info = &objects[format!("api/0/record/{record}")];
    assert_eq!((&info["rows"], &info["cols"], &info["finest"]), (&json!(16), &json!(1024), &json!(2)));
    let tile = |of: &str| {
        let path = format!("api/0/record/{record}/tile?plane=0&level=2&row=0&col=0&of={of}");
        let bytes = &columns[&path];
        assert_eq!((&bytes[..4], &bytes[8..16]), (&b"ATIL"[..], &[4, 0, 0, 0, 0, 1, 0, 0][..]));
        let numbers = bytes[16..].chunks_exact(4).map(|raw| f32::from_le_bytes(raw.try_into().unwrap()));
        numbers.collect::<Vec<f32>>()
    };
    // Least, most and mean of 4 x 256 cells: nothing that is finite differs.
    let (value, reference, difference) = (tile("value"), tile("reference"), tile("difference"));
    let finite = 0..3 * 1024;
    let differ = finite.clone().filter(|&at| value[at] != reference[at]).count();
    assert!(differ <= 3, "one cell at most: {differ}");
    assert!(finite.clone().all(|at| difference[at] == 0.0));
    assert!(finite.clone().any(|at| reference[at] != 0.0));
}

/// What a page holds: objects, and columns, by the path they answer.
fn answers(page: &str) -> (Value, BTreeMap<String, Vec<u8>>) {
    let (_, rest) = page.split_once("id=\"answers\">").unwrap();
    let (data, _) = rest.split_once("</script>").unwrap();
    assert!(!data.contains('<'));
    let data: Value = serde_json::from_str(data).unwrap();
    let unpacked = |text: &Value| {
        let packed = STANDARD.decode(text.as_str().unwrap()).unwrap();
        let mut bytes = Vec::new();
        DeflateDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
        bytes
    };
    let columns = data["columns"].as_object().unwrap().iter();
    let columns = columns.map(|(path, packed)| (path.clone(), unpacked(packed))).collect();
    (serde_json::from_slice(&unpacked(&data["objects"])).unwrap(), columns)
}

#[test]
fn the_page_survives_names_that_look_like_markup_and_is_as_open_as_other_files() {
    let home = tempfile::tempdir().unwrap();
    let name = "a</script><!--<script>&\"@ANSWERS@";
    argus_in(home.path(), &format!("run vector_example --dump-tensor -o {name} --inject mul:nan"));
    assert_eq!(argus_in(home.path(), &format!("find {name} --html report.html")).code, 1);
    let page = fs::read_to_string(home.path().join("report.html")).unwrap();
    let title = name.replace('&', "&amp;").replace('<', "&lt;");
    let (_, last) = title.rsplit_once('/').unwrap();
    assert!(page.contains(&format!("<title>{last} · differ</title>")), "{}", &page[..800]);
    let (objects, _) = answers(&page);
    assert_eq!(objects["api/session"]["dumps"][0]["directory"], format!("{name}/tensor_dump"));
    // Every element is counted once.
    let task = objects["api/0/overview"]["verdict"]["first_wrong"][0]["index"].as_u64().unwrap();
    let metrics = &objects[format!("api/0/task/{task}")]["compared"]["outputs"][0]["metrics"];
    assert_eq!((&metrics["elements"], &metrics["finite"]), (&json!(16384), &json!(16383)));
    assert_eq!(metrics["histogram"]["zero"], 16383);
    let said = &objects["api/0/overview"]["said"][0];
    assert_eq!((&said[0], said[1].as_str()), (&json!(task), Some("output 2: 1 out of tolerance")));
    fs::write(home.path().join("plain"), "").unwrap();
    let mode = |name: &str| fs::metadata(home.path().join(name)).unwrap().permissions().mode();
    assert_eq!(mode("report.html"), mode("plain"));
}

/// Real dumps of the reference, whose directory `ARGUS_SAMPLES` names: every task of its paged attention agrees
/// with the references of this project on the captured inputs. June's has neither kernels nor graph.
#[test]
fn tasks_of_the_reference_agree() {
    let Some(samples) = std::env::var_os("ARGUS_SAMPLES").map(std::path::PathBuf::from) else {
        eprintln!("skipped: ARGUS_SAMPLES names no directory with dumps of the reference");
        return;
    };
    for (name, case) in [
        ("august-a2a3sim-trb-paged_attention-CaseSmall1", "CaseSmall1"),
        ("august-a5sim-trb-paged_attention-SmallCase1", "SmallCase1"),
        ("june-a2a3sim-trb-paged_attention-CaseSmall1", "CaseSmall1"),
    ] {
        let path = samples.join(name);
        let line = format!("find {} --scene paged_attention --case {case}", path.display());
        let ended = argus_in(&samples, &line);
        assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
        assert!(ended.stdout.contains("12 tasks: 12 clean"), "{}", ended.stdout);
    }
}
