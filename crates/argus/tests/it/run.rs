//! Runs that come to their end.

use crate::tool::{argus, argus_json};

#[test]
fn a_run_that_passes_says_so() {
    let ended = argus("run vector_example");
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    for words in [
        "scene     vector_example, case default",
        "runtime   tensormap_and_ringbuffer (trb)",
        "platform  a2a3sim, 3 clusters, 4 control threads",
        "tasks     5",
        "MAX ABS ERROR",
        "f       pass        16384           0",
        "PASS  every element is within rtol 1e-5, atol 1e-5",
    ] {
        assert!(ended.stdout.contains(words), "{words}: {}", ended.stdout);
    }
}

#[test]
fn json_has_every_field() {
    let (code, object) = argus_json("run vector_example --json");
    assert_eq!(code, 0);
    for (key, value) in [("verdict", "pass"), ("scene", "vector_example"), ("case", "default")] {
        assert_eq!(object[key], value);
    }
    assert_eq!(object["platform"], "a2a3sim");
    assert_eq!(object["runtime"], "tensormap_and_ringbuffer");
    assert_eq!((&object["clusters"], &object["control_threads"]), (&3.into(), &4.into()));
    assert_eq!(object["tasks"], 5);
    assert_eq!(object["tolerance"]["rtol"], 1e-5);
    assert!(object["elapsed_ms"]["median"].as_f64().unwrap() > 0.0);
    assert_eq!(object["outputs_of_round"], 1);
    let output = &object["outputs"][0];
    assert_eq!((&output["name"], &output["elements"]), (&"f".into(), &16384.into()));
    assert_eq!((&output["pass"], &output["mismatches"]), (&true.into(), &0.into()));
    for key in ["max_abs_error", "max_rel_error"] {
        assert!(output[key].is_f64(), "{key}");
    }
    assert!(output["first_mismatch"].is_null());
}

#[test]
fn choices_reach_the_run() {
    let (code, object) =
        argus_json("run vector_example --runtime hbg -p a5sim --block-dim 36 --aicpu-threads 7 --json");
    assert_eq!(code, 0);
    assert_eq!(object["runtime"], "host_build_graph");
    assert_eq!(object["platform"], "a5sim");
    assert_eq!((&object["clusters"], &object["control_threads"]), (&36.into(), &7.into()));
    assert_eq!(object["tasks"], 4);
}

#[test]
fn long_names_of_runtimes_and_aliases_of_cases_are_understood() {
    let (code, object) =
        argus_json("run paged_attention --case SmallCase1 --runtime host_build_graph --json");
    assert_eq!((code, &object["case"]), (0, &"small1".into()));
}

#[test]
fn each_round_is_timed_and_compared() {
    let (code, object) = argus_json("run vector_example --rounds 3 --json");
    assert_eq!(code, 0);
    let rounds = object["rounds"].as_array().unwrap();
    assert_eq!(rounds.len(), 3);
    assert!(rounds.iter().all(|round| round["pass"] == true));
    let [min, median, max] = ["min", "median", "max"].map(|key| object["elapsed_ms"][key].as_f64().unwrap());
    assert!(min <= median && median <= max);
    let text = argus("run vector_example --rounds 3").stdout;
    assert!(text.contains("over 3 rounds"), "{text}");
}

#[test]
fn without_a_comparison_the_run_is_done_but_has_not_passed() {
    let (code, object) = argus_json("run vector_example --skip-golden --json");
    assert_eq!((code, &object["verdict"]), (0, &"not_compared".into()));
    assert_eq!(object["outputs"].as_array().unwrap().len(), 0);
    let text = argus("run vector_example --skip-golden").stdout;
    assert!(text.contains("DONE  ") && !text.contains("PASS"), "{text}");
}

#[test]
fn half_a_tolerance_keeps_the_other_half_of_the_case() {
    let (code, object) = argus_json("run vector_example --rtol 0.5 --json");
    assert_eq!(code, 0);
    assert_eq!((&object["tolerance"]["rtol"], &object["tolerance"]["atol"]), (&0.5.into(), &1e-5.into()));
}

#[test]
fn memory_and_hazards_can_be_chosen() {
    assert_eq!(argus("run vector_example --no-poison --deps reference --timeout 2.5").code, 0);
}
