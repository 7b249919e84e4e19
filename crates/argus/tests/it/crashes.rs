//! C++ that ends its process: the run says who, where and why, and its dump is whole up to that moment.

use std::path::Path;

use serde_json::Value;

use crate::tool::{Ended, argus_in};

fn scene() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/crashes").to_owned()
}

/// The line of a source of the scene that holds this text.
fn line(file: &str, text: &str) -> String {
    let path = Path::new(&scene()).join("kernels").join(file);
    let source = std::fs::read_to_string(path).unwrap();
    let at = source.lines().position(|line| line.contains(text)).unwrap();
    format!("kernels/{file}:{}", at + 1)
}

fn run(home: &Path, case: &str, options: &str) -> Ended {
    argus_in(home, &format!("run {} --case {case} --dump-tensor -o run {options}", scene()))
}

/// What the tool says of a run that fails because the system gives it no more memory.
fn run_in_little_memory(home: &Path, case: &str) -> String {
    let line = format!(
        "ulimit -v 4000000; exec {} run {} --case {case} --dump-tensor -o run",
        assert_cmd::cargo::cargo_bin!("argus").display(),
        scene()
    );
    let ended = std::process::Command::new("sh").args(["-c", &line]).current_dir(home).output().unwrap();
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(1), "{told}");
    told
}

/// What the tool says of a run that failed, as an object.
fn failure(home: &Path, case: &str, options: &str) -> Value {
    let ended = run(home, case, &format!("--json {options}"));
    assert_eq!(ended.code, 1, "{case}: {}{}", ended.stdout, ended.stderr);
    serde_json::from_str(&ended.stdout).unwrap()
}

/// Tasks 0 and 1 with inputs and scalars, and the outputs of both: those of task 1 as it left them.
fn dump_is_whole(home: &Path, case: &str) {
    let verified = argus_in(home, "verify run");
    assert_eq!(verified.code, 0, "{case}: {}{}", verified.stdout, verified.stderr);
    assert!(verified.stdout.contains("SOUND"), "{case}: {}", verified.stdout);
    let listed = argus_in(home, "view run --json");
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let records = listed["records"].as_array().unwrap();
    let seen: Vec<(String, String, u64)> = (records.iter())
        .map(|record| {
            let text = |key: &str| record[key].as_str().unwrap().to_owned();
            (text("task_id"), text("stage"), record["arg_index"].as_u64().unwrap())
        })
        .collect();
    let of = |task: u64, stage: &str, arg| (format!("{task:#018x}"), stage.to_owned(), arg);
    let (before, after) = ("before_dispatch", "after_completion");
    let first = [of(0, before, 0), of(0, before, 2), of(0, after, 1)];
    let second = [of(1, before, 0), of(1, before, 2), of(1, after, 1)];
    assert_eq!(seen, first.into_iter().chain(second).collect::<Vec<_>>(), "{case}");
    // x counts in quarters; each step adds one.
    for (task, added) in [(0, 1.0), (1, 2.0)] {
        let shown = argus_in(home, &format!("export run --format npy --task {task:#x} --arg 1 -o out{task}"));
        assert_eq!(shown.code, 0, "{}{}", shown.stdout, shown.stderr);
        let file = std::fs::read_dir(home.join(format!("out{task}"))).unwrap();
        let file =
            file.map(|file| file.unwrap().path()).find(|path| path.extension().is_some_and(|e| e == "npy"));
        let bytes = std::fs::read(file.unwrap()).unwrap();
        let values: Vec<f32> = (bytes[bytes.len() - 1024..].chunks(4))
            .map(|value| f32::from_le_bytes(value.try_into().unwrap()))
            .collect();
        let expected: Vec<f32> = (0..256).map(|index| index as f32 * 0.25 + added).collect();
        assert_eq!(values, expected, "{case}: task {task}");
    }
}

const KERNEL: &str = "kernel 'step' of task 0x0000000000000001, block 0, on aiv core ";

#[test]
fn a_kernel_that_crashes_is_named_with_signal_line_and_stack() {
    for (case, signal, words, text) in [
        (
            "null",
            Some("SIGSEGV"),
            " crashed: segmentation fault (SIGSEGV) at address 0x0 in ",
            "*nowhere = 1;",
        ),
        ("abort", Some("SIGABRT"), " crashed: abort (SIGABRT) in ", "    abort();"),
        ("divide", Some("SIGFPE"), " crashed: arithmetic exception (SIGFPE) in ", "zero = 7 / zero;"),
        ("trap", Some("SIGILL"), " crashed: illegal instruction (SIGILL) in ", "__builtin_trap();"),
        ("exit", None, " called exit(3) in ", "    exit(3);"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let told = failure(home.path(), case, "");
        let message = told["message"].as_str().unwrap();
        let source = line("step.cpp", text);
        assert!(message.starts_with(KERNEL), "{message}");
        let rest = format!("{words}{source} after 8 tile instructions, the last one TSTORE");
        assert!(message.ends_with(&rest), "{message}");
        assert_eq!(told["source"], source, "{case}");
        assert_eq!(told["signal"].as_str(), signal, "{case}");
        assert_eq!(
            (told["task_id"].as_str(), told["kernel"].as_str()),
            (Some("0x0000000000000001"), Some("step"))
        );
        let stack: Vec<&str> = told["stack"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let [.., inner, entry] = stack[..] else { panic!("{stack:?}") };
        assert_eq!(inner, format!("end_badly at {source}"), "{case}");
        assert!(entry.starts_with("kernel_entry at kernels/step.cpp:"), "{stack:?}");
        dump_is_whole(home.path(), case);
    }
}

#[test]
fn a_stack_that_is_full_is_told_like_any_other_crash() {
    let home = tempfile::tempdir().unwrap();
    let ended = run(home.path(), "stack", "");
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("crashed: segmentation fault (SIGSEGV) at address 0x"), "{}", ended.stderr);
    let deeper = format!("deeper at {}", line("step.cpp", "return zero == 0 ? deeper"));
    assert!(ended.stderr.contains(&deeper) && ended.stderr.contains(" times\n"), "{}", ended.stderr);
    assert!(ended.stderr.lines().count() < 20, "a line for each call: {}", ended.stderr);
    dump_is_whole(home.path(), "stack");
}

#[test]
fn kernels_that_call_exit_at_the_same_moment_lose_nothing() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(argus_in(home.path(), "new demo").code, 0);
    let add = home.path().join("demo/kernels/aiv/add.cpp");
    let text = std::fs::read_to_string(&add).unwrap();
    let at = text.find("    TSTORE(").unwrap();
    let text = format!("#include <cstdlib>\n{}    exit(3);\n{}", &text[..at], &text[at..]);
    std::fs::write(&add, text).unwrap();
    for round in 0..5 {
        let ended = argus_in(home.path(), &format!("run demo --case good --dump-tensor -o run{round}"));
        assert_eq!(ended.code, 1, "{}", ended.stdout);
        assert!(ended.stderr.contains("called exit(3) in kernels/aiv/add.cpp:"), "{}", ended.stderr);
        assert!(!ended.stderr.contains("the collector failed"), "{}", ended.stderr);
        let verified = argus_in(home.path(), &format!("verify run{round}"));
        assert_eq!(verified.code, 0, "{}", verified.stdout);
        assert!(!verified.stdout.contains("is missing"), "{}", verified.stdout);
    }
}

#[test]
fn kernels_and_orchestrations_have_room_for_locals_of_seven_mebibytes() {
    let home = tempfile::tempdir().unwrap();
    let ended = run(home.path(), "large-locals", "");
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn a_kernel_that_does_not_end_is_named_with_its_line_and_ended() {
    let home = tempfile::tempdir().unwrap();
    let told = failure(home.path(), "loop", "--timeout 1");
    let message = told["message"].as_str().unwrap();
    assert!(
        message.contains("no task completed for 1s; kernel 'step' of task 0x0000000000000001"),
        "{message}"
    );
    assert_eq!(told["source"], line("step.cpp", "while (zero == 0)"));
    assert!(told["stack"].as_array().unwrap().len() == 2, "{told}");
    dump_is_whole(home.path(), "loop");
}

#[test]
fn an_orchestration_that_crashes_is_named_with_its_line() {
    for (case, words, text) in [
        ("orchestration-null", "crashed: segmentation fault (SIGSEGV) at address 0x0 in ", "*nowhere = 1;"),
        ("orchestration-abort", "crashed: abort (SIGABRT) in ", "    abort();"),
        ("orchestration-exit", "called exit(5) in ", "    exit(5);"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let told = failure(home.path(), case, "");
        let source = line("orch.cpp", text);
        assert_eq!(told["message"], format!("the orchestration {words}{source}"));
        assert_eq!((&told["source"], &told["task_id"]), (&Value::from(source), &Value::Null));
        assert_eq!(argus_in(home.path(), "verify run").code, 0, "{case}");
    }
    let home = tempfile::tempdir().unwrap();
    let told = failure(home.path(), "orchestration-loop", "--timeout 1");
    assert_eq!(told["source"], line("orch.cpp", "while (zero == 0)"), "{told}");
    assert_eq!(argus_in(home.path(), "verify run").code, 0);
    let home = tempfile::tempdir().unwrap();
    let told = failure(home.path(), "orchestration-stack", "");
    let deeper = format!("deeper at {}", line("orch.cpp", "return zero == 0 ? deeper"));
    let stack: Vec<&str> = told["stack"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(stack.iter().any(|frame| frame.starts_with(&deeper) && frame.ends_with(" times")), "{told}");
    assert_eq!((&told["signal"], argus_in(home.path(), "verify run").code), (&Value::from("SIGSEGV"), 0));
}

#[test]
fn an_orchestration_that_throws_or_runs_out_of_memory_ends_with_what_it_threw() {
    let threw = "fatal 9 (EXPLICIT_ORCH_FATAL): aicpu_orchestration_entry threw an exception:";
    let home = tempfile::tempdir().unwrap();
    let told = failure(home.path(), "orchestration-throw", "");
    assert_eq!(told["message"], format!("{threw} thrown on purpose"));
    assert_eq!(argus_in(home.path(), "verify run").code, 0);

    let home = tempfile::tempdir().unwrap();
    let told = run_in_little_memory(home.path(), "orchestration-memory");
    assert!(told.contains(&format!("{threw} std::bad_alloc")), "{told}");
    assert_eq!(argus_in(home.path(), "verify run").code, 0);
}

/// Nothing in the process can say anything any more: the parent says what it knows.
#[test]
fn a_process_that_is_gone_at_once_is_told_from_outside() {
    let home = tempfile::tempdir().unwrap();
    let ended = run(home.path(), "quick-exit", "");
    assert_eq!(ended.code, 1);
    let told = format!("the process of the run ended with code 4 while {KERNEL}");
    assert!(ended.stderr.contains(&told), "{}", ended.stderr);
    let verified = argus_in(home.path(), "verify run");
    assert!(verified.code <= 1 && !verified.stdout.contains("DAMAGED"), "{}", verified.stdout);
}

#[test]
fn a_kernel_that_throws_or_runs_out_of_memory_fails_alone() {
    let home = tempfile::tempdir().unwrap();
    let ended = run(home.path(), "throw", "");
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("the kernel threw an exception: thrown on purpose"), "{}", ended.stderr);
    dump_is_whole(home.path(), "throw");

    let home = tempfile::tempdir().unwrap();
    let told = run_in_little_memory(home.path(), "memory");
    assert!(told.contains("the kernel threw an exception: std::bad_alloc"), "{told}");
    dump_is_whole(home.path(), "memory");
}

#[test]
fn a_replay_of_a_task_that_crashed_crashes_at_the_same_line() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(run(home.path(), "null", "").code, 1);
    let source = line("step.cpp", "*nowhere = 1;");
    for command in ["replay run --task step:1", "trace run --task step:1 -o trace"] {
        let ended = argus_in(home.path(), command);
        let told = format!("{}{}", ended.stdout, ended.stderr);
        assert_eq!(ended.code, 1, "{told}");
        assert!(told.contains(&format!("segmentation fault (SIGSEGV) at address 0x0 in {source}")), "{told}");
    }
    let ended = argus_in(home.path(), "replay run --task step:0");
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn in_process_and_isolated_runs_leave_the_same_dump() {
    let home = tempfile::tempdir().unwrap();
    for (directory, options) in [("apart", ""), ("together", "--in-process")] {
        let line = format!("run {} --case good --dump-tensor -o {directory} {options}", scene());
        let ended = argus_in(home.path(), &line);
        assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    }
    let compared = argus_in(home.path(), "diff apart together");
    assert_eq!(compared.code, 0, "{}{}", compared.stdout, compared.stderr);
}
