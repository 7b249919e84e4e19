//! Command lines that cannot be carried out: exit code 2, and words that say why.

use crate::tool::{argus, argus_json};

/// Each line and fragments of what stderr must say.
const LINES: &[(&str, &[&str])] = &[
    ("", &["Usage: argus [OPTIONS] <COMMAND>"]),
    ("run", &["error: ", "<SCENE>"]),
    ("walk vector_example", &["unrecognized subcommand 'walk'"]),
    ("run vector_example --fast", &["unexpected argument '--fast'"]),
    (
        "run paged_atention",
        &[
            "error: there is no scene 'paged_atention'; there are ",
            "\n\nhint: did you mean 'paged_attention'?",
        ],
    ),
    ("run zzz", &["error: there is no scene 'zzz'", "\n\nhint: `argus list` shows the scenes"]),
    (
        "run paged_attention --case casesmall2",
        &[
            "error: scene 'paged_attention' has no case 'casesmall2'; it has CaseSmall1, ",
            "hint: did you mean 'CaseSmall2'?",
        ],
    ),
    ("run vector_example --runtime xyz", &["error: there is no runtime 'xyz'; there are hbg, abg and trb"]),
    (
        "run paged_attention --case CaseSmall1 --runtime hbg",
        &["is not written for hbg; it runs on trb, abg", "hint: cases written for hbg: small1"],
    ),
    ("run vector_example -p a9sim", &["error: there is no platform 'a9sim'", "hint: did you mean 'a"]),
    (
        "run vector_example -p a2a3",
        &["error: platform 'a2a3' is real hardware", "twin 'a2a3sim'", "hint: -p a2a3sim"],
    ),
    ("run vector_example --platform a5", &["error: platform 'a5' is real hardware", "twin 'a5sim'"]),
    ("run vector_example --block-dim 0", &["error: block-dim must be at least 1"]),
    ("run vector_example --block-dim -1", &["invalid value '-1' for '--block-dim <N>'"]),
    (
        "run vector_example --block-dim 25",
        &["error: block-dim 25 is more than the 24 clusters of a2a3sim", "hint: a5sim has 36"],
    ),
    (
        "run vector_example --block-dim 37 -p a5sim",
        &["error: block-dim 37 is more than the 36 clusters of a5sim\n"],
    ),
    ("run vector_example --aicpu-threads 0", &["error: at least one control thread is needed"]),
    (
        "run vector_example --aicpu-threads 5",
        &["error: 5 control threads are more than the 4 of a2a3sim", "hint: a5sim has 7"],
    ),
    (
        "run vector_example --rtol NaN",
        &["error: rtol is NaN; a tolerance must be a finite number of at least 0"],
    ),
    ("run vector_example --rtol inf --atol 0", &["error: rtol is inf"]),
    ("run vector_example --atol -1e-3", &["error: atol is -0.001"]),
    ("run vector_example --atol=-1 --rtol 0", &["error: atol is -1"]),
    ("run vector_example --rtol much", &["invalid value 'much' for '--rtol <X>'"]),
    ("run vector_example --rounds 0", &["error: rounds is 0; at least 1 is needed"]),
    ("run vector_example --timeout 0", &["error: timeout is 0; it must be a number of seconds above 0"]),
    ("run vector_example --timeout -1.5", &["error: timeout is -1.5;"]),
    ("run vector_example --timeout NaN", &["error: timeout is NaN;"]),
    ("run vector_example --timeout 1e300", &["error: timeout is 1", "seconds"]),
    ("run vector_example --deps some", &["invalid value 'some' for '--deps <DEPS>'", "complete, reference"]),
];

#[test]
fn each_is_answered_with_exit_code_2_and_a_reason() {
    for (line, fragments) in LINES {
        let ended = argus(line);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "argus {line}: {}", ended.stderr);
        for fragment in *fragments {
            assert!(ended.stderr.contains(fragment), "argus {line}: no '{fragment}' in {}", ended.stderr);
        }
    }
}

#[test]
fn each_is_one_json_object_if_json_is_asked_for() {
    for (line, _) in LINES.iter().filter(|(line, _)| line.starts_with("run ")) {
        let (code, object) = argus_json(&format!("{line} --json"));
        assert_eq!((code, &object["verdict"]), (2, &"error".into()), "argus {line} --json");
        assert_eq!(object["exit_code"], 2);
        assert!(object["fatal_code"].is_null());
        let message = object["message"].as_str().unwrap();
        assert!(!message.is_empty() && !message.starts_with("error"), "argus {line} --json: {message}");
    }
}
