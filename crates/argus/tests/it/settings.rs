//! What holds for every command: colors, how much is said, defaults; and commands about the tool itself.

use std::fs;
use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::cargo_bin;

use crate::tool::{argus, argus_in, argus_json};

fn with(home: &Path, variables: &[(&str, &str)], line: &str) -> (i32, String, String) {
    let output = Command::new(cargo_bin!("argus"))
        .args(line.split_whitespace())
        .envs(variables.iter().copied())
        .current_dir(home)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn colors_are_as_asked_for() {
    let home = tempfile::tempdir().unwrap();
    let escape =
        |variables: &[(&str, &str)], line: &str| with(home.path(), variables, line).1.contains('\u{1b}');
    assert!(!escape(&[], "run vector_example"), "a pipe has none");
    assert!(escape(&[], "run vector_example --color always"));
    assert!(escape(&[("ARGUS_COLOR", "always")], "run vector_example"));
    assert!(!escape(&[("ARGUS_COLOR", "always")], "--color never run vector_example"));
}

#[test]
fn quiet_says_the_result_alone_and_verbose_which_dump_it_took() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(argus_in(home.path(), "run dump_tensor_example --dump-tensor -o outputs/run").code, 0);
    let said = |line: &str| argus_in(home.path(), line).stderr;
    assert!(said("view --limit 1").contains("more records; --limit N shows more"));
    assert_eq!(said("view --limit 1 -q"), "");
    let verbose = said("-v view --limit 1");
    assert!(verbose.contains("note: no dump is named; the newest is outputs/run/tensor_dump\n"), "{verbose}");
    assert_eq!(argus("list -q -v").code, 2, "one of them");
}

#[test]
fn a_configuration_that_is_not_a_file_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let pipe = home.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (code, _, stderr) = with(home.path(), &[("ARGUS_CONFIG", pipe.to_str().unwrap())], "list");
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("pipe: it is not a regular file"), "{stderr}");
}

#[test]
fn a_file_and_variables_give_defaults() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("config.toml");
    fs::write(&file, "platform = 'a5sim'\noutputs = 'elsewhere'\n").unwrap();
    let config = ("ARGUS_CONFIG", file.to_str().unwrap());
    let (code, stdout, _) = with(home.path(), &[config], "run dump_tensor_example --dump-tensor");
    assert_eq!(code, 0);
    assert!(stdout.contains("platform  a5sim"), "{stdout}");
    assert!(stdout.contains("dump      elsewhere/dump_tensor_example"), "{stdout}");
    assert_eq!(with(home.path(), &[config], "verify").0, 0, "the newest is looked for there");
    let (_, stdout, _) = with(home.path(), &[config, ("ARGUS_PLATFORM", "a2a3sim")], "run vector_example");
    assert!(stdout.contains("platform  a2a3sim"), "a variable wins over the file: {stdout}");
    let (_, stdout, _) = with(home.path(), &[config, ("ARGUS_PLATFORM", "x")], "run vector_example -p a5sim");
    assert!(stdout.contains("platform  a5sim"), "a flag wins over both: {stdout}");

    fs::write(&file, "platfrom = 'a5sim'\n").unwrap();
    let (code, stdout, stderr) = with(home.path(), &[config], "list");
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains("cannot read the configuration") && stderr.contains("platfrom"), "{stderr}");
    let (_, stdout, stderr) = with(home.path(), &[config], "list --json");
    assert!(stdout.contains("argus-error-1") && stderr.is_empty(), "{stdout}{stderr}");
}

#[test]
fn the_doctor_says_what_there_is() {
    let (code, object) = argus_json("doctor --json");
    assert_eq!((code, &object["verdict"]), (0, &"ok".into()));
    let names: Vec<&str> =
        object["checks"].as_array().unwrap().iter().map(|check| check["name"].as_str().unwrap()).collect();
    for name in
        ["argus", "chips", "scenes", "config", "compiler", "python3", "disk", "direct I/O", "open files"]
    {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    let home = tempfile::tempdir().unwrap();
    let (code, stdout, _) = with(home.path(), &[("PATH", ""), ("ARGUS_OUTPUTS", "/proc")], "doctor");
    assert_eq!(code, 1, "nothing can be written to /proc: {stdout}");
    assert!(stdout.contains("warning compiler    not found"), "{stdout}");
    assert!(stdout.contains("cannot write in /proc"), "{stdout}");
}

#[test]
fn shells_complete_scenes_cases_and_kernels() {
    let home = tempfile::tempdir().unwrap();
    let line = "run paged_attention --case CaseSmall1 --dump-tensor -o outputs/run";
    assert_eq!(argus_in(home.path(), line).code, 0);
    let complete = |words: &[&str]| {
        let index = (words.len() - 1).to_string();
        let output = Command::new(cargo_bin!("argus"))
            .arg("--")
            .args(words)
            .envs([("COMPLETE", "bash"), ("_CLAP_COMPLETE_INDEX", index.as_str()), ("_CLAP_IFS", "\n")])
            .current_dir(home.path())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.split(['\n', '\u{b}']).map(|word| word.trim().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        complete(&["argus", "run", "paged"]),
        ["paged_attention", "paged_attention_manual_scope", "paged_attention_cpp"]
    );
    let cases = complete(&["argus", "run", "paged_attention", "--case", "CaseS"]);
    assert!(cases.contains(&"CaseSmall1".to_owned()) && !cases.contains(&"default".to_owned()), "{cases:?}");
    assert_eq!(complete(&["argus", "view", "--kernel", ""]), ["QK", "SF", "PV", "UP"]);
    for shell in ["bash", "zsh", "fish"] {
        let ended = argus(&format!("completions {shell}"));
        assert!(ended.code == 0 && ended.stdout.contains("COMPLETE"), "{shell}: {}", ended.stdout);
    }
}

#[test]
fn each_command_has_a_manual_page() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(argus_in(home.path(), "man pages").code, 0);
    let page = fs::read_to_string(home.path().join("pages/argus-find.1")).unwrap();
    assert!(page.contains("argus-find") && page.contains("against"), "{page}");
    for command in ["run", "view", "dumps", "doctor", "replay"] {
        assert!(home.path().join(format!("pages/argus-{command}.1")).exists(), "{command}");
    }
    let again = argus_in(home.path(), "man pages");
    assert_eq!(again.code, 2);
    assert!(
        again.stderr.contains("pages/argus.1 exists") && again.stderr.contains("--force"),
        "{}",
        again.stderr
    );
    assert_eq!(argus_in(home.path(), "man pages --force").code, 0);
}
