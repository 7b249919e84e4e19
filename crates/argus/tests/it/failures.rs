//! Runs that fail: exit code 1, one clear message, no panic text.

use crate::tool::{argus, argus_in, argus_json};

#[test]
fn a_fatal_error_is_told_with_its_code() {
    let ended = argus("run spmd_sync_start --block-dim 1");
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
    assert!(ended.stderr.starts_with("error: fatal 7 (REQUIRE_SYNC_START_INVALID): "), "{}", ended.stderr);

    let (code, object) = argus_json("run spmd_sync_start --block-dim 1 --json");
    assert_eq!((code, &object["verdict"], &object["exit_code"]), (1, &"error".into(), &1.into()));
    assert_eq!(object["fatal_code"], 7);
    assert_eq!(object["fatal_name"], "REQUIRE_SYNC_START_INVALID");
    assert!(object["message"].as_str().unwrap().starts_with("fatal 7"));
}

#[test]
fn a_kernel_that_panics_is_named_without_a_panic_message() {
    for runtime in ["trb", "abg", "hbg"] {
        let ended = argus(&format!("run failures --case crashing_kernel --runtime {runtime}"));
        assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
        let lines: Vec<&str> = ended.stderr.lines().collect();
        let [error, next] = lines[..] else { panic!("{}", ended.stderr) };
        assert!(error.starts_with("error: kernel 'crashing' of task"), "{error}");
        let capture =
            format!("next: argus run failures --case crashing_kernel --runtime {runtime} --dump-tensor");
        assert_eq!(next, capture);
    }
}

#[test]
fn a_run_that_fails_before_its_first_task_leads_to_find_which_names_the_failure() {
    for case in ["scope_deadlock", "dep_pool_overflow", "invalid_args", "explicit_fatal"] {
        let home = tempfile::tempdir().unwrap();
        let ended = argus_in(home.path(), &format!("run failures --case {case} --dump-tensor -o run"));
        assert_eq!(ended.code, 1, "{case}");
        assert!(ended.stderr.ends_with("next: argus find run/tensor_dump\n"), "{case}: {}", ended.stderr);
        let error = ended.stderr.lines().next().unwrap().strip_prefix("error: fatal ").unwrap();
        let (code, _) = error.split_once(':').unwrap();
        let found = argus_in(home.path(), "find run/tensor_dump");
        assert_eq!(found.code, 1, "{case}: {}", found.stdout);
        let last = found.stdout.lines().last().unwrap();
        assert!(last.starts_with("FAILED") && last.contains(code), "{case}: {last}");
    }
}

#[test]
fn a_kernel_that_does_not_end_is_stopped_after_the_timeout() {
    let ended = argus("run failures --case stuck_kernel --timeout 0.2");
    assert_eq!(ended.code, 1);
    for words in ["error: fatal 100 (SCHEDULER_TIMEOUT)", "for 200ms", "\n\nhint: --timeout SECONDS"] {
        assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
    }
}
