//! `argus replay --workspace` as a user types it.
//!
//! Expected bytes are read out of the dump by the offsets in its manifest, or written out here; nothing of the
//! code that makes workspaces is used.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::tool::{Ended, argus_in};

/// Adds a scalar to a tensor in place, as the kernel of the scene does.
const ADD_SCALAR: &str = r#"#include <cstdint>
#include <cstring>
#include "tensor.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
    auto *tensor = reinterpret_cast<__gm__ Tensor *>(args[0]);
    const auto bits = static_cast<uint32_t>(args[1]);
    float scalar;
    std::memcpy(&scalar, &bits, sizeof(scalar));
    auto *values = reinterpret_cast<__gm__ float *>(tensor->addr) + tensor->start_offset;
    for (uint32_t i = 0; i < tensor->shapes[0]; ++i) {
        values[i] += scalar;
    }
}
"#;

/// A kernel that reads these slots, all by number.
fn kernel(slots: &[usize]) -> String {
    let reads: String = slots.iter().map(|slot| format!("    (void)args[{slot}];\n")).collect();
    format!(
        "#include <cstdint>\nextern \"C\" __aicore__ void kernel_entry(__gm__ int64_t *args)\n{{\n{reads}}}\n"
    )
}

/// A directory with a captured run of two tasks and the source of one of its kernels.
fn recorded() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    succeeds(home.path(), "run dump_tensor_example --dump-tensor -o run");
    fs::write(home.path().join("add_scalar.cpp"), ADD_SCALAR).unwrap();
    home
}

fn succeeds(home: &Path, line: &str) -> Ended {
    let ended = argus_in(home, line);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "argus {line}: {}", ended.stdout);
    ended
}

fn write(home: &Path, name: &str, text: &str) {
    let path = home.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn read(home: &Path, name: &str) -> String {
    fs::read_to_string(home.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn record(workspace: &Path) -> Value {
    serde_json::from_str(&read(workspace, "insight_trace_config.json")).unwrap()
}

/// The payload of an argument, by the manifest's offset into the bin.
fn captured(dump: &Path, task: &str, slot: u64, stage: &str) -> Vec<u8> {
    let manifest: Value = serde_json::from_str(&read(dump, "tensor_dump.json")).unwrap();
    let records = manifest["tensors"].as_array().unwrap();
    let wanted = records
        .iter()
        .find(|record| record["task_id"] == task && record["arg_index"] == slot && record["stage"] == stage);
    let wanted = wanted.unwrap_or_else(|| panic!("no record of {task}, slot {slot}, {stage}"));
    let number = |key: &str| wanted[key].as_u64().unwrap() as usize;
    let bin = fs::read(dump.join("tensor_dump.bin")).unwrap();
    bin[number("bin_offset")..][..number("bin_size")].to_vec()
}

/// Every file of a directory by its relative path, sorted.
fn tree(folder: &Path) -> Vec<(String, Vec<u8>)> {
    fn walk(root: &Path, folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => walk(root, &path, files),
                false => {
                    let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                    files.push((name, fs::read(&path).unwrap()));
                }
            }
        }
    }
    let mut files = Vec::new();
    walk(folder, folder, &mut files);
    files.sort();
    files
}

fn names(folder: &Path) -> Vec<String> {
    tree(folder).into_iter().map(|(name, _)| name).collect()
}

const MAKE: &str = "replay run --task 0x1 --workspace made --kernel-source add_scalar.cpp";

#[test]
fn a_captured_task_becomes_a_project_that_holds_its_bytes() {
    let home = recorded();
    let ended = succeeds(home.path(), MAKE);
    for says in [
        "task      0x0000000000000001",
        "kernel    add_scalar_inplace (aiv-only, 1 cluster)",
        "chip      a2a3 (Ascend910B1)",
        "0x3f800000 = 1.",
        "payload/buffer_00.bin",
        "WRITTEN  the workspace is made",
        "needs: bash, cmake, msprof, CANN_HOME, SIMPLER_ROOT",
        "next: made/run_collect.sh",
    ] {
        assert!(ended.stdout.contains(says), "{says}\n{}", ended.stdout);
    }

    let made = home.path().join("made");
    assert_eq!(
        names(&made),
        [
            "CMakeLists.txt",
            "insight_trace_config.json",
            "kernel/add_scalar.cpp",
            "payload/buffer_00.bin",
            "replay_host.cpp",
            "replay_kernel.cpp",
            "replay_launch.cpp",
            "run_collect.sh",
        ]
    );
    let dump = home.path().join("run/tensor_dump");
    let before = captured(&dump, "0x0000000000000001", 0, "before_dispatch");
    assert_eq!(before, [5f32; 16384].map(f32::to_le_bytes).as_flattened(), "2 + 3 in every element");
    assert!(fs::read(made.join("payload/buffer_00.bin")).unwrap() == before);
    assert_eq!(read(&made, "kernel/add_scalar.cpp"), ADD_SCALAR);
    let host = read(&made, "replay_host.cpp");
    for says in [
        "constexpr std::size_t kSlots = 50;",
        "    { 65536u, \"payload/buffer_00.bin\", 0, \"output/buffer_00.bin\" },\n} };",
        "    { 0, 0, 0u,\n      { 0, 65536u, UINT64_MAX, 0u, 0, 1, 0, 0, 1, 0,\n        { 16384u, 0u, 0u, 0u, 0u }, 16384u, { 1u, 0u, 0u, 0u, 0u }, {} } },\n} };",
        "constexpr std::array<ScalarArg, 1> kScalars = { {\n    { 1, 0x3f800000u }, // arg1\n} };",
    ] {
        assert!(host.contains(says), "{says}\n{host}");
    }
    assert!(read(&made, "replay_kernel.cpp").contains("#include \"kernel/add_scalar.cpp\""));
    let record = record(&made);
    assert_eq!(
        record["origin"],
        json!({ "scene": "dump_tensor_example", "case": "default", "task_id": "0x0000000000000001" })
    );
    assert_eq!(record["kernel"]["members"][0]["place"], "aiv0");
    assert_eq!(record["kernel"]["members"][0]["slots_read"], json!([0, 1]));
    let modes = ["", "payload", "run_collect.sh", "replay_host.cpp"]
        .map(|name| fs::metadata(made.join(name)).unwrap().permissions().mode() & 0o777);
    assert_eq!(modes, [0o700, 0o700, 0o700, 0o600]);
}

#[test]
fn no_file_of_a_project_names_an_absolute_path() {
    let home = recorded();
    let source = home.path().join("add_scalar.cpp");
    let target = home.path().join("deep/made");
    succeeds(
        home.path(),
        &format!(
            "replay {} --task 0x1 --workspace {} --kernel-source {}",
            home.path().join("run").display(),
            target.display(),
            source.display()
        ),
    );
    let here = home.path().canonicalize().unwrap().display().to_string();
    for (name, bytes) in tree(&target).iter().filter(|(name, _)| !name.starts_with("payload/")) {
        let text = std::str::from_utf8(bytes).unwrap();
        assert!(!text.contains(&here), "{name} names {here}");
        for line in text.lines().filter(|line| !line.starts_with("#!")) {
            let mut before = None;
            for (at, c) in line.char_indices() {
                // A slash that begins a word begins an absolute path, unless it begins a comment or divides.
                let begins = before.is_none_or(|c: char| c.is_whitespace() || "\"'=(:".contains(c));
                let next = line[at + 1..].chars().next();
                assert!(!(c == '/' && begins && next.is_some_and(|c| c.is_alphanumeric())), "{name}: {line}");
                before = Some(c);
            }
        }
    }
}

/// The compiler, or `None` with a message where there is none.
fn compiler() -> Option<&'static str> {
    let found =
        ["g++", "clang++"].into_iter().find(|name| Command::new(name).arg("--version").output().is_ok());
    if found.is_none() {
        eprintln!("skipped: no C++ compiler (g++, clang++) on the PATH");
    }
    found
}

fn compile(compiler: &str, folder: &Path, words: &str) {
    let output = Command::new(compiler).args(words.split_whitespace()).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{words}\n{}", String::from_utf8_lossy(&output.stderr));
}

/// With a stand-in for the vendor's runtime the project runs on this machine, and gives what the simulated chip
/// gave, byte for byte.
#[test]
fn the_project_reproduces_the_captured_output_wherever_it_is_moved() {
    let Some(compiler) = compiler() else { return };
    let home = recorded();
    succeeds(home.path(), MAKE);
    let elsewhere = tempfile::tempdir().unwrap();
    let moved = elsewhere.path().join("moved");
    assert!(
        Command::new("cp").arg("-r").arg(home.path().join("made")).arg(&moved).status().unwrap().success()
    );
    fs::remove_dir_all(home.path().join("made")).unwrap();

    let stub = Path::new(env!("CARGO_MANIFEST_DIR")).join("../argus-workspace/tests/it/stub");
    let stub = stub.canonicalize().unwrap().display().to_string();
    let flags = format!("-std=c++17 -Wall -Wextra -Werror -Wno-attributes -I{stub} -I.");
    for (side, core) in [("cube", "__DAV_CUBE__"), ("vec", "__DAV_VEC__")] {
        let device = format!("-include {stub}/device.h -D{core} -Dreplay_entry=replay_entry_{side}");
        compile(compiler, &moved, &format!("{flags} {device} -c replay_kernel.cpp -o {side}.o"));
    }
    let rows = "-DSEEN_TENSORS= -DAIC_ROWS=0 -DAIV_ROWS=1";
    compile(
        compiler,
        &moved,
        &format!("{flags} {rows} replay_host.cpp {stub}/launch.cpp cube.o vec.o -o host"),
    );
    let output = Command::new("./host").current_dir(&moved).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let dump = home.path().join("run/tensor_dump");
    let after = captured(&dump, "0x0000000000000001", 0, "after_completion");
    assert_eq!(after, [6f32; 16384].map(f32::to_le_bytes).as_flattened());
    assert!(fs::read(moved.join("output/buffer_00.bin")).unwrap() == after);
}

#[test]
fn a_view_keeps_its_offset_and_outputs_start_as_the_run_left_fresh_memory() {
    let home = tempfile::tempdir().unwrap();
    succeeds(home.path(), "run paged_attention --case CaseSmall1 --dump-tensor -o run");
    write(home.path(), "pv.cpp", &kernel(&[0, 1, 2]));
    succeeds(home.path(), "replay run --kernel PV --nth 1 --workspace made --kernel-source pv.cpp -p a5");
    let (made, dump) = (home.path().join("made"), home.path().join("run/tensor_dump"));
    let record = record(&made);
    assert_eq!(record["kernel"]["shape"], "aic-only");
    assert_eq!(
        (&record["replay"]["platform"], &record["replay"]["soc_version"]),
        (&json!("a5"), &json!("Ascend950PR_9599"))
    );
    assert_eq!(record["replay"]["runtime"], "tensormap_and_ringbuffer");
    let task = record["origin"]["task_id"].as_str().unwrap();
    assert_eq!(task, "0x0000000200000006");
    let args = record["args"].as_array().unwrap();
    assert_eq!(args.iter().map(|arg| &arg["start_offset"]).collect::<Vec<_>>(), [0, 256, 0]);
    let content = |slot: usize| {
        let buffer = &record["buffers"][args[slot]["buffer"].as_u64().unwrap() as usize];
        let payload = buffer["payload"].as_str().map(|name| fs::read(made.join(name)).unwrap());
        (buffer["size"].as_u64().unwrap(), buffer["fill"].as_u64().unwrap(), payload)
    };
    let before = |slot| captured(&dump, task, slot, "before_dispatch");
    // Memory that was not captured holds the pattern of fresh memory, up to a multiple of 1024 bytes.
    assert_eq!(content(0), (1024, 0, Some([before(0), vec![0xFF; 512]].concat())));
    assert_eq!(content(1), (1024, 0, Some([vec![0xFF; 512], before(1)].concat())));
    assert_eq!(content(2), (1024, 0xFF, None));
    assert!(before(1).iter().any(|byte| *byte != 0xFF));
}

#[test]
fn a_raw_kernel_of_the_host_built_graph_gets_addresses() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), "add.cpp", &kernel(&[0, 1, 2]));
    let line =
        "replay dump_tensor_example --runtime hbg --kernel add --workspace made --kernel-source add.cpp";
    succeeds(home.path(), line);
    let made = home.path().join("made");
    assert_eq!(record(&made)["replay"]["runtime"], "host_build_graph");
    let host = read(&made, "replay_host.cpp");
    let address = "slots[tensor.slot] = reinterpret_cast<uint64_t>(buffers[tensor.buffer]) + tensor.base;";
    assert!(host.contains(address) && !host.contains("descriptor.addr"), "{host}");
}

#[test]
fn a_mix_takes_one_source_for_all_or_one_each() {
    let home = tempfile::tempdir().unwrap();
    succeeds(home.path(), "run mixed_example --dump-tensor -o run");
    for name in ["a.cpp", "b.cpp", "c.cpp"] {
        write(home.path(), name, &kernel(&[0]));
    }
    let line = "replay run --task 0 --workspace made --kernel-source";
    succeeds(home.path(), &format!("{line} a.cpp --kernel-source b.cpp --kernel-source c.cpp"));
    let members = record(&home.path().join("made"))["kernel"]["members"].clone();
    let seen: Vec<_> = (members.as_array().unwrap().iter())
        .map(|member| ["name", "place", "source"].map(|key| member[key].as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(
        seen,
        [["MATMUL", "aic", "kernel/a.cpp"], ["ADD", "aiv0", "kernel/b.cpp"], ["MUL", "aiv1", "kernel/c.cpp"]]
    );
    succeeds(home.path(), &format!("{line} a.cpp --force"));
    assert_eq!(record(&home.path().join("made"))["kernel"]["shape"], "spmd-mix");
    let ended = argus_in(home.path(), &format!("{line} a.cpp --kernel-source b.cpp --force"));
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("2 kernel sources for 3 kernels (MATMUL, ADD, MUL)"), "{}", ended.stderr);
    let ended = argus_in(home.path(), &format!("{line} a.cpp --backend ptoas --force"));
    assert_eq!(ended.code, 2);
    for says in ["but the task is a mix of 3\n", "hint: use --backend simpler\n"] {
        assert!(ended.stderr.contains(says), "{}", ended.stderr);
    }

    // The same dump as the reference writes it names no cores; a full cluster needs no more than its numbers.
    succeeds(home.path(), "convert run --to august -o foreign");
    let line = "replay foreign --workspace made --force --kernel-source a.cpp";
    succeeds(home.path(), &format!("{line} --task 0"));
    let record = record(&home.path().join("made"));
    let members = record["kernel"]["members"].as_array().unwrap();
    let seen: Vec<_> =
        members.iter().map(|member| (member["func_id"].clone(), member["place"].clone())).collect();
    assert_eq!(seen, [(json!(0), json!("aic")), (json!(1), json!("aiv0")), (json!(2), json!("aiv1"))]);
    let ended = argus_in(home.path(), &format!("{line} --task 3"));
    assert_eq!(ended.code, 2);
    assert!(
        ended.stderr.contains("does not say on which cores the kernels 1 and 4 of the task ran"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_foreign_dump_needs_no_kernel_of_ours() {
    let home = recorded();
    succeeds(home.path(), "convert run --to august -o foreign");
    write(home.path(), "kernels/aiv/add_scalar.cpp", ADD_SCALAR);
    let line = "replay foreign --task 0x1 --workspace made";
    // A replay would need it, and so does a source that is nowhere.
    let ended = argus_in(home.path(), "replay foreign --task 0x1");
    assert!(ended.stderr.contains("the dump does not say whose kernels it ran"), "{}", ended.stderr);
    let ended = argus_in(home.path(), &format!("{line} --kernel-source add_scalar.cpp"));
    assert_eq!(ended.code, 2);
    for says in
        ["cannot classify the core type of ", "hint: put the file into a folder kernels/aic or kernels/aiv"]
    {
        assert!(ended.stderr.contains(says), "{}", ended.stderr);
    }
    assert!(!home.path().join("made").exists());

    let line = format!("{line} --kernel-source kernels/aiv/add_scalar.cpp --kernel ADD_SCALAR -p a2a3");
    let ended = succeeds(home.path(), &line);
    assert!(ended.stdout.contains("the dump does not say how many blocks the task had"), "{}", ended.stdout);
    let made = home.path().join("made");
    let before = captured(&home.path().join("run/tensor_dump"), "0x0000000000000001", 0, "before_dispatch");
    assert!(fs::read(made.join("payload/buffer_00.bin")).unwrap() == before);
    let record = record(&made);
    assert_eq!(record["origin"], json!({ "scene": null, "case": null, "task_id": "0x0000000000000001" }));
    assert_eq!(
        (&record["kernel"]["name"], &record["kernel"]["shape"]),
        (&json!("ADD_SCALAR"), &json!("aiv-only"))
    );
    assert_eq!(record["args"][1]["bits"], "0x000000003f800000");
    assert!(read(&made, "replay_host.cpp").contains("{ 1, 0x3f800000u }, // arg1"));
}

#[test]
fn a_capsule_of_a_program_that_is_gone_is_enough() {
    let home = recorded();
    succeeds(home.path(), "replay run --task 0x1 --capsule x.capsule");
    fs::remove_dir_all(home.path().join("run")).unwrap();
    succeeds(home.path(), "replay x.capsule --workspace made --kernel-source add_scalar.cpp");
    let payload = fs::read(home.path().join("made/payload/buffer_00.bin")).unwrap();
    assert!(payload == [5f32; 16384].map(f32::to_le_bytes).as_flattened());
}

const SPEC: &str = r#"{"args": [
    {"kind": "tensor", "index": 0, "name": "x", "dtype": "INT32", "shape": [2, 4], "role": "inout", "fill": 7},
    {"kind": "scalar", "index": 1, "name": "scale", "dtype": "FLOAT32_BITS", "value": 0.5}]}"#;

#[test]
fn an_argument_file_stands_for_a_dump() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), "args.json", SPEC);
    write(home.path(), "kernels/aic/scale.cpp", &kernel(&[0, 1]));
    let line = "replay --arg-spec args.json --workspace made --kernel-source kernels/aic/scale.cpp";
    let ended = succeeds(home.path(), line);
    assert!(ended.stdout.contains("arguments args.json"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("task  "), "{}", ended.stdout);
    let made = home.path().join("made");
    let bytes = [[7i32; 8].map(i32::to_le_bytes).as_flattened(), &[0xFF; 992]].concat();
    assert_eq!(fs::read(made.join("payload/buffer_00.bin")).unwrap(), bytes);
    assert!(read(&made, "replay_host.cpp").contains("{ 1, 0x3f000000u }, // scale"));
    let record = record(&made);
    assert_eq!(record["origin"], json!({ "scene": null, "case": null, "task_id": null }));
    assert_eq!(
        (&record["kernel"]["name"], &record["kernel"]["shape"]),
        (&json!("scale"), &json!("aic-only"))
    );
    // Other values for some of them, and a launch of another kind.
    let ended = argus_in(
        home.path(),
        &format!(
            "{line} --force --set-arg 1=0x40 --device 3 --launch-count 9 --msprof-timeout 30 --soc-version B4 --json"
        ),
    );
    let object: Value = serde_json::from_str(&ended.stdout).expect("one JSON object");
    assert_eq!((ended.code, &object["verdict"]), (0, &json!("written")), "{object:#}");
    assert_eq!(object["schema"], "argus-workspace-2");
    assert_eq!((&object["workspace"], &object["task_id"]), (&json!("made"), &Value::Null));
    assert_eq!(object["from"], json!({ "kind": "arguments", "name": "args.json" }));
    assert_eq!(object["arguments"][1]["value_bits"], "0x40");
    assert_eq!(object["needs"]["programs"], json!(["bash", "cmake", "msprof"]));
    let listed: Vec<_> = (object["files"].as_array().unwrap().iter())
        .map(|file| (file["path"].as_str().unwrap().to_owned(), file["bytes"].as_u64().unwrap()))
        .collect();
    let mut listed = listed;
    listed.sort();
    let found: Vec<_> = tree(&made).into_iter().map(|(name, bytes)| (name, bytes.len() as u64)).collect();
    assert_eq!(listed, found);
    assert!(read(&made, "replay_host.cpp").contains("constexpr int32_t kDevice = 3;"));
    let script = read(&made, "run_collect.sh");
    assert!(script.contains("--launch-count=9 --soc-version=B4 --timeout=30"), "{script}");
}

#[test]
fn a_global_function_is_made_into_a_case_of_ptoas() {
    let home = recorded();
    let text = "__global__ AICORE void sum(__gm__ float *a, __gm__ float *b, __gm__ float *c) {}\n";
    write(home.path(), "sum.cpp", text);
    // The run calls the kernel 'add'; the only function of the source is meant.
    succeeds(home.path(), "replay run --task 0 --workspace made --kernel-source sum.cpp --backend ptoas");
    let made = home.path().join("made");
    assert_eq!(
        names(&made),
        [
            "inputs/a.bin",
            "inputs/b.bin",
            "inputs/c.bin",
            "insight_trace_config.json",
            "kernel/sum.cpp",
            "run_collect.sh"
        ]
    );
    let dump = home.path().join("run/tensor_dump");
    for (name, slot, value) in [("a", 0, 2f32), ("b", 1, 3f32)] {
        let before = captured(&dump, "0x0000000000000000", slot, "before_dispatch");
        assert_eq!(before[..4], value.to_le_bytes());
        assert!(fs::read(made.join(format!("inputs/{name}.bin"))).unwrap() == before);
    }
    let record = record(&made);
    assert_eq!(record["build"]["base_name"], "sum");
    assert_eq!(record["build"]["roots"], json!(["CANN_HOME", "PTOAS_ROOT"]));
}

#[test]
fn what_exists_is_kept_and_only_a_workspace_is_replaced() {
    let home = recorded();
    write(home.path(), "made/mine.txt", "mine");
    let before = tree(home.path());
    let ended = argus_in(home.path(), MAKE);
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
    assert_eq!(
        ended.stderr,
        "error: made exists and is not empty\n\n\
         hint: choose another directory, or replace the workspace with --force\n"
    );
    let ended = argus_in(home.path(), &format!("{MAKE} --force"));
    assert_eq!(ended.code, 2);
    let says = "error: made is not a workspace, so it is not replaced\n\n\
                hint: --force replaces nothing but a workspace: remove it by hand\n";
    assert_eq!(ended.stderr, says);
    assert!(tree(home.path()) == before, "nothing was written");

    fs::remove_dir_all(home.path().join("made")).unwrap();
    succeeds(home.path(), MAKE);
    write(home.path(), "made/old.txt", "left from before");
    assert_eq!(argus_in(home.path(), MAKE).code, 2);
    assert!(home.path().join("made/old.txt").exists());
    succeeds(home.path(), &format!("{MAKE} --force"));
    assert!(!home.path().join("made/old.txt").exists());

    // A place that cannot be written is a failure, not wrong usage.
    let ended = argus_in(home.path(), &MAKE.replace("made", "add_scalar.cpp/made"));
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.starts_with("error: cannot write add_scalar.cpp: "), "{}", ended.stderr);
}

#[test]
fn what_cannot_be_done_is_exit_code_2_and_writes_nothing() {
    let home = recorded();
    let here = home.path();
    write(here, "args.json", SPEC);
    write(here, "far.cpp", &kernel(&[0, 1, 7, 9]));
    write(here, "beyond.cpp", &kernel(&[50]));
    write(here, "no_entry.cpp", "// kernel_entry(int64_t *args)\nint main() {}\n");
    write(here, "no_args.cpp", "void kernel_entry(float *values) {}\n");
    write(here, "absolute.cpp", &format!("#include \"/opt/x.h\"\n{}", kernel(&[0])));
    write(here, "two.cpp", "__global__ void f(float *a) {}\n__global__ void g(float *a) {}\n");
    write(here, "kernels/aiv/k.cpp", ADD_SCALAR);
    for (index, name) in [(48, "reserved"), (50, "beyond"), (0, "twice")] {
        write(here, &format!("{name}.json"), &SPEC.replace("\"index\": 1", &format!("\"index\": {index}")));
    }
    write(here, "kind.json", &SPEC.replace("\"kind\": \"scalar\"", "\"kind\": \"list\""));
    write(here, "missing.json", &SPEC.replace("\"dtype\": \"INT32\", ", ""));
    write(here, "dtype.json", &SPEC.replace("\"INT32\"", "\"FLOAT64\""));
    let before = tree(here);
    let made = "replay run --task 1 --workspace made";
    let source = format!("{made} --kernel-source add_scalar.cpp");
    let spec = "replay --workspace made --kernel-source kernels/aiv/k.cpp --arg-spec";
    for (line, says) in [
        // Flags that do not go together.
        (made.to_owned(), "--kernel-source <FILE>"),
        ("replay run --task 1 --kernel-source add_scalar.cpp".to_owned(), "--workspace <DIR>"),
        ("replay run --task 1 --backend ptoas".to_owned(), "--workspace <DIR>"),
        ("replay run --task 1 --force".to_owned(), "--workspace <DIR>"),
        ("replay run --task 1 --device 1".to_owned(), "--workspace <DIR>"),
        ("replay run --task 1 --launch-count 2".to_owned(), "--workspace <DIR>"),
        ("replay run --task 1 --msprof-timeout 2".to_owned(), "--workspace <DIR>"),
        ("replay run --task 1 --soc-version B1".to_owned(), "--workspace <DIR>"),
        ("replay run --task 1 --collect".to_owned(), "--workspace <DIR>"),
        (format!("{source} --kernel-symbol x"), "--collect"),
        (format!("{source} --times 2"), "cannot be used with '--times <N>'"),
        (format!("{source} --watch 0[0]"), "cannot be used with '--watch <SLOT[INDEX]>'"),
        (format!("{source} --probe dst@1"), "cannot be used with '--probe <TILE@INSTR>'"),
        (format!("{source} --break-on nan"), "cannot be used with '--break-on <WHAT>'"),
        (format!("{source} --capsule x"), "cannot be used with '--capsule <FILE>'"),
        (source.replace("made", "."), ". is the current directory: name one inside of it"),
        (format!("{source} --timeout 5"), "--timeout limits --collect"),
        (format!("{source} --collect --timeout 0"), "timeout is 0; it must be a number of seconds above 0"),
        // Values.
        (format!("{source} --backend cuda"), "unknown backend `cuda`: there are simpler and ptoas"),
        (
            format!("{source} --launch-count 0"),
            "the number of launches is 0, but must be 1 to 5000\n\nhint: give another --launch-count\n",
        ),
        (
            format!("{source} --msprof-timeout 2881"),
            "the time limit of msprof is 2881, but must be 1 to 2880 minutes\n\nhint: give another --msprof-timeout\n",
        ),
        (format!("{source} --device -1"), "invalid value '-1' for '--device <N>'"),
        (format!("{source} --soc-version a;b"), "the simulated chip is `a;b`, but must be a name of letters"),
        (format!("{source} -p a6"), "there is no platform 'a6'"),
        (format!("{source} --runtime xyz"), "there is no runtime 'xyz'"),
        // The task.
        (
            source.replace("--task 1", "--task 0x7"),
            "there is no task 0x7; there are 0x0 (add), 0x1 (add_scalar",
        ),
        (source.replace("--task 1", ""), "no task is named; there are 0x0 (add), 0x1 (add_scalar"),
        (source.replace("--task 1", ""), "hint: name a task with --task ID"),
        (
            source.replace("replay run", "replay nowhere"),
            "'nowhere' is neither a dump, nor a capsule, nor a scene",
        ),
        (format!("{source} --set-arg 7=1"), "slot 7 cannot be set: the task has only slots 0, 1"),
        ("replay --workspace made --kernel-source add_scalar.cpp".to_owned(), "outputs"),
        // The source.
        (format!("{made} --kernel-source none.cpp"), "cannot read the kernel source none.cpp: No such file"),
        (
            format!("{made} --kernel-source no_entry.cpp"),
            "does not look like kernel_entry(int64_t *args): the name kernel_entry",
        ),
        (
            format!("{made} --kernel-source no_args.cpp"),
            "does not look like kernel_entry(int64_t *args): no parameter",
        ),
        (
            format!("{made} --kernel-source far.cpp"),
            "far.cpp reads: args 7, 9 have no value\n\nhint: describe all arguments with --arg-spec FILE\n",
        ),
        (
            format!("{made} --kernel-source beyond.cpp"),
            "beyond.cpp reads args[50], but a kernel has 50 slots",
        ),
        (
            format!("{made} --kernel-source absolute.cpp"),
            "absolute.cpp:1: includes `/opt/x.h` by an absolute path",
        ),
        (format!("{source} --kernel-source far.cpp"), "2 kernel sources for 1 kernels (add_scalar_inplace)"),
        (format!("{source} --backend ptoas"), "has no function marked __global__"),
        (
            format!("{made} --kernel-source two.cpp --backend ptoas"),
            "has no function `add_scalar_inplace` marked __global__; it has f, g",
        ),
        // The arguments.
        (format!("{spec} none.json"), "none.json: No such file"),
        (format!("{spec} reserved.json"), "reserved.json: $.args[1].index: index 48 is reserved"),
        (format!("{spec} beyond.json"), "beyond.json: $.args[1].index: index 50 exceeds max slots (50)"),
        (format!("{spec} twice.json"), "twice.json: $.args[1].index: index 0 is already taken by $.args[0]"),
        (
            format!("{spec} kind.json"),
            "kind.json: $.args[1].kind: unknown kind 'list'; there are tensor and scalar",
        ),
        (format!("{spec} missing.json"), "missing.json: $.args[0]: the key 'dtype' is missing"),
        (format!("{spec} dtype.json"), "dtype.json: $.args[0].dtype: unknown dtype 'FLOAT64'"),
        (
            "replay --workspace made --arg-spec args.json --kernel-source add_scalar.cpp".to_owned(),
            "cannot classify the core type",
        ),
    ] {
        let ended = argus_in(here, &line);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "argus {line}: {}", ended.stderr);
        assert!(ended.stderr.contains(says), "argus {line}: {}", ended.stderr);
        assert!(ended.stderr.matches("os error").count() <= 1, "said twice: {}", ended.stderr);
        let ended = argus_in(here, &format!("{line} --json"));
        let object: Value = serde_json::from_str(&ended.stdout).expect("one JSON object");
        assert_eq!((ended.code, &object["verdict"]), (2, &json!("error")), "argus {line} --json");
    }
    assert!(tree(here) == before, "nothing was written");
}

#[test]
fn missing_payload_is_named_with_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    succeeds(home.path(), "run dump_tensor_example --dump-tensor --dump-stats=instead -o run");
    write(home.path(), "add_scalar.cpp", ADD_SCALAR);
    let ended = argus_in(home.path(), MAKE);
    assert_eq!(ended.code, 2);
    for says in ["argument slot 0 has no payload: ", "hint: give it one with --set-arg 0=VALUE, 0=random, "] {
        assert!(ended.stderr.contains(says), "{}", ended.stderr);
    }
    succeeds(home.path(), &format!("{MAKE} --set-arg 0=zero"));
    assert!(fs::read(home.path().join("made/payload/buffer_00.bin")).unwrap() == [0; 65536]);
}

/// A directory of programs that come first on the path.
struct Toolkit {
    home: TempDir,
    path: PathBuf,
}

/// Writes its words down, and records and exports like the vendor's.
const MSPROF: &str = r#"#!/bin/bash
printf '%s\n' "$*" >> "$CALLS/msprof"
for word in "$@"; do
    case "$word" in
        --output=*) output="${word#*=}" ;;
        --export=*) export_from="${word#*=}" ;;
    esac
done
if [[ -z "${export_from:-}" ]]; then
    mkdir -p "$output/OPPROF_1/device0/tmp_dump"
else
    core="$output/OPPROF_2/simulator/core0.veccore0"
    mkdir -p "$core"
    echo '{"traceEvents":[]}' > "$core/../trace.json"
    printf 'bin' > "$core/../visualize_data.bin"
    printf 'instr,addr\nMOV,0x1000\n' > "$core/core0.veccore0_instr_exe_0.csv"
fi
"#;

/// Puts a library with the two functions where a build would.
const CMAKE: &str = r#"#!/bin/bash
printf '%s\n' "$*" >> "$CALLS/cmake"
if [[ "$1" == --build ]]; then
    echo 'void replay_entry(void) {} void launch_replay(void) {}' > build.c
    mkdir -p build
    cc -shared -fPIC build.c -o build/libreplay_kernel.so
fi
"#;

impl Toolkit {
    fn new(programs: &[(&str, &str)]) -> Toolkit {
        let home = recorded();
        let path = home.path().join("bin");
        fs::create_dir(&path).unwrap();
        let toolkit = Toolkit { home, path };
        programs.iter().for_each(|(name, script)| toolkit.put(name, script));
        toolkit
    }

    fn put(&self, name: &str, script: &str) {
        let path = self.path.join(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The tool with these programs, and with those of the system behind them or not.
    fn command(&self, line: &str, system: bool, variables: &[(&str, &str)]) -> Command {
        let mut path = vec![self.path.clone()];
        if system {
            path.extend(["/usr/bin", "/bin"].map(PathBuf::from));
        }
        let mut command = Command::new(cargo_bin!("argus"));
        for name in ["CANN_HOME", "ASCEND_HOME_PATH", "PTO_ISA_ROOT", "SIMPLER_ROOT", "PTOAS_ROOT"] {
            command.env_remove(name);
        }
        command
            .args(line.split_whitespace())
            .current_dir(self.home.path())
            .env("PATH", std::env::join_paths(path).unwrap())
            .env("CALLS", self.home.path())
            .envs(variables.iter().copied());
        command
    }

    fn argus(&self, line: &str, system: bool, variables: &[(&str, &str)]) -> Ended {
        ended(self.command(line, system, variables).output().unwrap())
    }
}

fn ended(output: Output) -> Ended {
    Ended {
        code: output.status.code().expect("not ended by a signal"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

const ROOTS: [(&str, &str); 2] = [("CANN_HOME", "/opt/toolkit"), ("SIMPLER_ROOT", "/opt/simpler")];

#[test]
fn without_msprof_collecting_says_what_is_missing_and_leaves_the_workspace() {
    let toolkit = Toolkit::new(&[("bash", "#!/bin/sh\n"), ("cmake", "#!/bin/sh\n")]);
    let line = format!("{MAKE} --collect");
    let ended = toolkit.argus(&line, false, &ROOTS);
    assert_eq!(ended.code, 1);
    assert!(ended.stdout.contains("WRITTEN  the workspace is made"), "{}", ended.stdout);
    assert!(ended.stdout.contains("here: msprof is not on the PATH\n"), "{}", ended.stdout);
    assert_eq!(
        ended.stderr,
        "error: cannot collect, because msprof is not on the PATH; the workspace is complete and its run_collect.sh \
         runs wherever they are there\n"
    );
    let made = toolkit.home.path().join("made");
    assert!(made.join("run_collect.sh").exists() && !made.join("logs").exists());

    let ended = toolkit.argus(&format!("{line} --force --json"), false, &ROOTS[..1]);
    let object: Value = serde_json::from_str(&ended.stdout).expect("one JSON object");
    assert_eq!((ended.code, &object["verdict"]), (1, &json!("not-collected")));
    assert_eq!(object["missing"], json!(["msprof is not on the PATH", "SIMPLER_ROOT is not set"]));
    assert!(
        object["error"].as_str().unwrap().starts_with("cannot collect, because msprof is not"),
        "{object}"
    );
    assert_eq!((&object["collected"], ended.stderr.as_str()), (&Value::Null, ""));
}

#[test]
fn with_msprof_it_is_run_and_its_export_is_checked() {
    let toolkit = Toolkit::new(&[("msprof", MSPROF), ("cmake", CMAKE)]);
    let line = format!("{MAKE} --collect");
    let ended = toolkit.argus(&line, true, &ROOTS);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{}", ended.stdout);
    let says = "COLLECTED  replay_entry is recorded in made/insight_export/OPPROF_2/simulator\n";
    assert!(ended.stdout.ends_with(says), "{}", ended.stdout);
    assert_eq!(
        read(toolkit.home.path(), "msprof"),
        "op simulator --application=./build/replay_host --kernel-name=replay_entry --launch-count=1 \
         --soc-version=Ascend910B1 --timeout=120 --output=collect\n\
         op simulator --export=collect/OPPROF_1/device0/tmp_dump --output=insight_export\n"
    );
    let ended = toolkit.argus(&format!("{line} --force --json"), true, &ROOTS);
    let object: Value = serde_json::from_str(&ended.stdout).expect("one JSON object");
    assert_eq!((ended.code, &object["verdict"]), (0, &json!("collected")), "{object:#}");
    assert_eq!(object["collected"]["symbol"], "replay_entry");
    let table = "made/insight_export/OPPROF_2/simulator/core0.veccore0/core0.veccore0_instr_exe_0.csv";
    assert_eq!(object["collected"]["instruction_tables"], json!([table]));

    for (more, program, script, says) in [
        ("--kernel-symbol other", "msprof", MSPROF, "no symbol `other`: the build lacks it; exported are "),
        (
            "",
            "msprof",
            "#!/bin/bash\nexit 4\n",
            "step collect failed (exit status: 4); its output is in made/logs/collect.log",
        ),
        (
            "",
            "msprof",
            "#!/bin/bash\nmkdir -p collect/OPPROF_2/device0/dump\n",
            "no OPPROF_*/simulator directory in made/insight_export: msprof exported nothing",
        ),
        (
            "",
            "cmake",
            "#!/bin/bash\nexit 1\n",
            "step build failed (exit status: 1); its output is in made/logs/build.log",
        ),
        (
            "--timeout 0.001",
            "cmake",
            "#!/bin/bash\nsleep 100000\n",
            "timed out after 0 s in step build; its output is in made/logs/build.log",
        ),
    ] {
        toolkit.put(program, script);
        let ended = toolkit.argus(&format!("{line} --force {more}"), true, &ROOTS);
        assert_eq!(ended.code, 1, "{says}");
        assert!(ended.stderr.contains(says), "{says}: {}", ended.stderr);
    }
}

#[test]
fn ctrl_c_ends_a_collection_with_every_program_it_started() {
    let toolkit = Toolkit::new(&[
        ("msprof", MSPROF),
        ("cmake", "#!/bin/bash\necho $$ > \"$CALLS/new\"\nmv \"$CALLS/new\" \"$CALLS/pid\"\nsleep 100000\n"),
    ]);
    let mut command = toolkit.command(&format!("{MAKE} --collect"), true, &ROOTS);
    let mut argus = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started = toolkit.home.path().join("pid");
    while !started.exists() {
        assert!(argus.try_wait().unwrap().is_none(), "it ended before the build began");
        std::thread::sleep(Duration::from_millis(5));
    }
    let cmake = Pid::from_raw(fs::read_to_string(started).unwrap().trim().parse().unwrap()).unwrap();
    kill_process(Pid::from_child(&argus), Signal::INT).unwrap();
    let ended = ended(argus.wait_with_output().unwrap());
    assert_eq!(ended.code, 1);
    assert_eq!(ended.stderr, "error: interrupted in step build; its output is in made/logs/build.log\n");
    // The process that inherited it reaps it, which may take a moment.
    while test_kill_process(cmake).is_ok() {
        let state = fs::read_to_string(format!("/proc/{}/stat", cmake.as_raw_nonzero())).unwrap_or_default();
        if state.is_empty() || state.contains(") Z ") {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
