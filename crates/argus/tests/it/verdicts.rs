//! What commands say of damage, of what they did not compare, and where they send their user next.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::tool::argus_in;

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn last_line(text: &str) -> &str {
    text.trim_end().lines().last().unwrap_or("")
}

#[test]
fn one_flipped_bit_is_damage_to_every_command_and_accuses_no_task() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(argus_in(home.path(), "run vector_example --dump-tensor -o good").code, 0);
    copy(&home.path().join("good"), &home.path().join("bad"));
    let manifest = fs::read(home.path().join("bad/tensor_dump/tensor_dump.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let records = manifest["tensors"].as_array().unwrap();
    let hit = records.iter().find(|r| r["stage"] == "after_completion").unwrap();
    let (offset, size) = (hit["bin_offset"].as_u64().unwrap(), hit["bin_size"].as_u64().unwrap());
    let task = hit["task_id"].as_str().unwrap();
    let path = home.path().join("bad/tensor_dump/tensor_dump.bin");
    let mut payload = fs::read(&path).unwrap();
    payload[(offset + size / 2) as usize] ^= 0x40;
    fs::write(&path, payload).unwrap();
    let range = format!("bytes {offset}..{}", offset + size);
    for line in [
        "find bad",
        "find bad --against good",
        "find good --against bad",
        "diff bad good",
        "find --runs good bad",
        "export bad --format npy -o arrays",
        &format!("replay bad --task {task}"),
    ] {
        let ended = argus_in(home.path(), line);
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert_eq!(ended.code, 1, "argus {line}: {said}");
        assert!(said.contains("damaged") && said.contains(&range), "argus {line}: {said}");
        assert!(!said.contains("first wrong task"), "argus {line}: {said}");
    }
    assert!(!home.path().join("arrays").exists());
    let ended = argus_in(home.path(), "find bad --json");
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let counts = &report["counts"];
    assert_eq!((&counts["introduced"], &counts["inherited"]), (&0.into(), &0.into()), "{counts}");
    assert_eq!(report["verdict"], "damaged");
}

#[test]
fn find_ends_with_the_culprit_and_says_which_page_it_wrote() {
    let home = tempfile::tempdir().unwrap();
    let run = "run vector_example --dump-tensor -o bad --inject mul:scale";
    let ended = argus_in(home.path(), run);
    assert!(last_line(&ended.stdout).starts_with("next: argus find bad"), "{}", ended.stdout);
    let ended = argus_in(home.path(), "run vector_example --inject mul:scale");
    assert!(last_line(&ended.stdout).ends_with("--dump-tensor"), "{}", ended.stdout);
    let ended = argus_in(home.path(), "find bad --html page.html");
    let line = last_line(&ended.stdout);
    assert!(line.starts_with("DIFFER  0x") && line.contains("(mul) introduced the error"), "{line}");
    assert!(ended.stderr.contains("wrote page.html"), "{}", ended.stderr);
    let ended = argus_in(home.path(), "find --runs bad bad --html runs.html");
    assert_eq!(ended.code, 0, "{}", ended.stdout);
    assert!(ended.stderr.contains("wrote runs.html"), "{}", ended.stderr);
    assert!(fs::read_to_string(home.path().join("runs.html")).unwrap().contains("SAME"));
    let ended = argus_in(home.path(), "find bad other");
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("argus find bad --against other"), "{}", ended.stderr);
}

#[test]
fn a_crashed_run_is_found_with_its_crash() {
    let home = tempfile::tempdir().unwrap();
    let ended = argus_in(home.path(), "run failures --case crashing_kernel --dump-tensor -o crashed");
    assert_eq!(ended.code, 1);
    assert!(last_line(&ended.stderr).starts_with("next: argus find crashed"), "{}", ended.stderr);
    let found = argus_in(home.path(), "find crashed");
    assert_eq!(found.code, 1, "{}", found.stdout);
    let line = last_line(&found.stdout);
    assert!(line.starts_with("FAILED  the run failed: ") && line.contains("crashing"), "{line}");
    assert!(!found.stdout.contains("first wrong task"), "{}", found.stdout);
}

#[test]
fn replay_says_what_it_compared_and_keeps_its_options() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(argus_in(home.path(), "run vector_example --dump-tensor -o good").code, 0);
    let ended = argus_in(home.path(), "replay good --kernel mul");
    assert_eq!(ended.code, 0, "{}", ended.stdout);
    assert!(ended.stdout.contains("REPRODUCED  16384 of 16384 elements compared"), "{}", ended.stdout);
    argus_in(home.path(), "run vector_example --dump-tensor -o bad --inject mul:scale");
    let ended = argus_in(home.path(), "replay bad --kernel mul");
    assert_eq!(ended.code, 1, "{}", ended.stdout);
    assert!(ended.stdout.contains("NOT REPRODUCED"), "{}", ended.stdout);
    assert!(
        ended.stdout.contains("a fault was injected into this task on purpose (scale"),
        "{}",
        ended.stdout
    );
    assert_eq!(argus_in(home.path(), "convert good --to august -o august").code, 0);
    let options = "--scene vector_example --runtime trb";
    let ended = argus_in(home.path(), &format!("replay august --kernel mul {options}"));
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    assert!(last_line(&ended.stdout).ends_with(options), "{}", ended.stdout);
    assert!(ended.stdout.contains("no checksums"), "{}", ended.stdout);
    let ended = argus_in(home.path(), "replay good --kernel mull");
    assert!(ended.stderr.contains("did you mean 'mul'?"), "{}", ended.stderr);
}

#[test]
fn what_is_looked_for_and_never_seen_is_an_error_with_what_there_is() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(argus_in(home.path(), "run vector_example --dump-tensor -o good").code, 0);
    for (option, says) in [
        ("--probe dst@TMATMUL", "the probe dst@TMATMUL never fired"),
        ("--probe dst@TMATMUL", "TSTORE with"),
        ("--probe nothing@TSTORE", "never fired"),
        ("--watch 0[0]", "the first elements that the task changed are 2[0]"),
        ("--break-on nan", "no instruction wrote a NaN"),
    ] {
        let ended = argus_in(home.path(), &format!("replay good --kernel mul {option}"));
        assert_eq!(ended.code, 2, "{option}: {}", ended.stdout);
        assert!(ended.stderr.contains(says), "{option}: {}", ended.stderr);
    }
    for option in ["--probe dst@TLOAD", "--watch 2[0]"] {
        let ended = argus_in(home.path(), &format!("replay good --kernel mul {option}"));
        assert_eq!(ended.code, 0, "{option}: {}", ended.stderr);
    }
}

#[test]
fn a_dump_that_is_none_of_the_scene_is_unknown_and_the_case_that_fits_is_named() {
    let home = tempfile::tempdir().unwrap();
    let run = "run paged_attention --case CaseSmall2 --runtime trb --dump-tensor -o ours";
    assert_eq!(argus_in(home.path(), run).code, 0);
    assert_eq!(argus_in(home.path(), "convert ours --to august -o foreign").code, 0);
    let ended = argus_in(home.path(), "find foreign --scene paged_attention --case CaseSmall1");
    let said = format!("{}{}", ended.stdout, ended.stderr);
    assert_eq!(ended.code, 2, "{said}");
    assert!(said.contains("--case CaseSmall2") && !said.contains("introduced the error"), "{said}");
    let ended = argus_in(home.path(), "find foreign --scene paged_attention --case CaseSmall2");
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn a_stale_read_is_told_from_an_output_that_was_never_written() {
    let home = tempfile::tempdir().unwrap();
    for (run, pattern) in [
        ("run paged_attention --case CaseSmall1 --inject PV:1:stale-read", "stale_read"),
        ("run vector_example --inject mul:skip-write", "never_written"),
    ] {
        _ = fs::remove_dir_all(home.path().join("bad"));
        argus_in(home.path(), &format!("{run} --dump-tensor -o bad"));
        let ended = argus_in(home.path(), "find bad --json");
        let report: Value = serde_json::from_str(&ended.stdout).unwrap();
        let looks = &report["first_wrong"][0]["outputs"][0]["looks_like"];
        assert_eq!(looks[0]["pattern"]["kind"], pattern, "{run}: {looks}");
    }
}

#[test]
fn what_only_one_dump_has_is_listed_and_a_culprit_without_suspects_is_no_riddle() {
    let home = tempfile::tempdir().unwrap();
    for (name, options) in [
        ("whole", ""),
        ("after", " --dump-select stage=after"),
        ("wrong", " --dump-select stage=after --inject mul:scale"),
    ] {
        argus_in(home.path(), &format!("run vector_example --dump-tensor -o {name}{options}"));
    }
    let ended = argus_in(home.path(), "diff whole after");
    assert_eq!(ended.code, 2, "{}", ended.stdout);
    let line = "tensors that only one side has: 0x";
    assert!(
        ended.stdout.contains(line) && ended.stdout.contains("NOT ALL JUDGED  judged 5 of 5 tasks; "),
        "{}",
        ended.stdout
    );
    let ended = argus_in(home.path(), "find wrong --against after");
    let culprit = "(mul), unless what it was given was wrong already; the end result differs";
    assert!(last_line(&ended.stdout).ends_with(culprit), "{}", ended.stdout);
    let ended = argus_in(home.path(), "find --runs after wrong");
    assert!(ended.stdout.contains("next: argus replay after/tensor_dump --task 0x"), "{}", ended.stdout);
    let ended = argus_in(home.path(), "find --runs after wrong --json");
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&report["verdict"], ended.code), (&"differ".into(), 1));
    assert_eq!(report["diverge_inputs_unknown"].as_array().unwrap().len(), 2, "{report}");
    for (name, options) in [("whole_after", ""), ("whole_wrong", " --inject mul:scale")] {
        argus_in(home.path(), &format!("run vector_example --dump-tensor -o {name}{options}"));
    }
    let ended = argus_in(home.path(), "find --runs whole_after whole_wrong");
    assert!(ended.stdout.contains(" 1 diverges, 1 downstream, "), "{}", ended.stdout);
}

/// Tasks of the reference that take whole tensors, or have other ids, are unknown; matrices in one dimension are judged.
#[test]
fn tasks_of_other_programs_are_unknown_with_the_reason_and_what_would_fit() {
    let home = tempfile::tempdir().unwrap();
    let run = "run spmd_multiblock_mix --dump-tensor -o ours";
    assert_eq!(argus_in(home.path(), run).code, 0);
    assert_eq!(argus_in(home.path(), "convert ours --to august -o foreign").code, 0);
    let manifest = home.path().join("foreign/args_dump/args_dump.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let edit = |from: &str, to: &str| {
        assert!(text.contains(from), "{text}");
        fs::write(&manifest, text.replace(from, to)).unwrap();
        argus_in(home.path(), "find foreign --scene spmd_multiblock_mix")
    };
    let own = r#""shape": [6, 16], "strides": [16, 1]"#;
    // The dump does not say how many blocks its tasks have; the scene does.
    let fits = edit(own, own);
    assert_eq!(fits.code, 0, "{}{}", fits.stdout, fits.stderr);
    // Another engine may round otherwise: the last bit of a number is no error, the first is.
    let payload = home.path().join("foreign/args_dump/args.bin");
    let bytes = fs::read(&payload).unwrap();
    let one = bytes.chunks(4).rposition(|word| word == 1f32.to_le_bytes()).unwrap() * 4;
    for (byte, code) in [(0, 0), (3, 1)] {
        let mut changed = bytes.clone();
        changed[one + byte] ^= 1;
        fs::write(&payload, changed).unwrap();
        let ended = argus_in(home.path(), "find foreign --scene spmd_multiblock_mix");
        assert_eq!(ended.code, code, "{}", ended.stdout);
    }
    fs::write(&payload, bytes).unwrap();
    let ended = argus_in(home.path(), "replay foreign --task 1 --scene spmd_multiblock_mix");
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    let kernels = edit(r#""func_id": [0, 1, 2], "arg_index": 0"#, r#""func_id": [0, 1], "arg_index": 0"#);
    assert_eq!(kernels.code, 2, "{}", kernels.stdout);
    let says = "it runs the kernels [0, 1], the scene's task [0, 1, 2] (write_aic+write_aiv0+write_aiv1)";
    assert!(kernels.stdout.contains(says), "{}", kernels.stdout);
    let flat = edit(own, r#""shape": [96], "strides": [1]"#);
    assert_eq!(flat.code, 0, "one dimension: {}{}", flat.stdout, flat.stderr);
    let other = edit(own, r#""shape": [3, 32], "strides": [32, 1]"#);
    assert_eq!(other.code, 2, "{}", other.stdout);
    for says in [
        "unknown because it does not fit scene spmd_multiblock_mix case Case1 on trb: slot 0 is inout FLOAT32 [3, 32], \
         the scene's task has inout FLOAT32 [6, 16]: 0x0000000000000000 (",
        "note: no case and runtime of the scene fits all tasks of the dump",
        "hint: --against DUMP compares with another run, --golden DIR with arrays\nnext: argus view foreign/args_dump\n",
    ] {
        assert!(other.stdout.contains(says), "{says}: {}", other.stdout);
    }
    assert!(
        last_line(&other.stdout).starts_with("NOT ALL JUDGED  judged 4 of 5 tasks; "),
        "{}",
        other.stdout
    );
    let ended = argus_in(home.path(), "replay foreign --task 0 --scene spmd_multiblock_mix");
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("hint: no case and runtime of the scene"), "{}", ended.stderr);
    let strangers = edit("\"0x000000000000000", "\"0x000000010000000");
    assert_eq!(strangers.code, 2);
    let says = "is one of scene spmd_multiblock_mix case Case1 on trb: the dump has 0x0000000100000000 to \
                0x0000000100000004, the scene 0x0000000000000000 to 0x0000000000000004";
    assert!(strangers.stderr.contains(says), "{}", strangers.stderr);
    assert!(strangers.stderr.contains("--golden DIR compare without a scene"), "{}", strangers.stderr);
}
