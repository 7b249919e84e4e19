//! A whole scene, from its file to its outputs.

use argus_abi::RuntimeKind;
use argus_chip::{CHIPS, DEFAULT_CHIP};
use argus_runtime::Device;
use argus_scene::play::{PlayOptions, play};
use argus_scene::{Registry, SceneError};

use crate::setup::{Project, SCENE, npy, settings};

/// k (a + b) - a with a = 0, 0.5, 1, ... and b = 1, each step rounded as the kernels round it.
fn expected(k: f32) -> Vec<f32> {
    (0..512).map(|index| index as f32 * 0.5).map(|a| k * (a + 1.0) - a).collect()
}

#[test]
fn unmodified_sources_run_on_every_chip_and_give_their_values() {
    let project = Project::new(SCENE);
    let scene = project.load().unwrap();
    assert_eq!((&scene.name[..], &scene.about[..]), ("chain", "out = k (a + b) - a"));
    for (name, k) in [("double", 2.0), ("quarter", 0.25)] {
        let (case, runtime) = scene.case(Some(name), None).unwrap();
        assert_eq!(runtime, RuntimeKind::Trb);
        for chip in CHIPS {
            let mut prepared = case.prepare(runtime, chip).unwrap();
            let config = case.config(&prepared, chip);
            let report = Device::new(chip).run(&prepared.program, &mut prepared.args, &config).unwrap();
            assert_eq!(report.tasks, 3);
            let out: Vec<f32> = argus_scene::arguments::elements(&prepared.args, "out");
            assert_eq!(out, expected(k), "{name} on {}", chip.name);
        }
    }
}

#[test]
fn expected_outputs_come_from_files_and_are_held_to_their_tolerance() {
    let with = |tolerance: &str| {
        let text = format!(
            "{}\n[[case.tensor]]\nname = \"out\"\ndirection = \"out\"\ndtype = \"f32\"\nshape = [16, 32]\n\
             expected = {{ file = \"golden/out.npy\" }}\n",
            SCENE.replace(
                "params = { k = 0.25, rows = 16 }",
                &format!("params = {{ k = 0.25, rows = 16 }}\n{tolerance}")
            )
        );
        let project = Project::new(&text);
        let mut golden = expected(0.25);
        golden[5] += 0.5;
        project.write("golden/out.npy", npy("(16, 32)", &golden));
        let (case, runtime) = project.load().unwrap().case(Some("quarter"), None).unwrap();
        let played = play(&case, runtime, DEFAULT_CHIP, &PlayOptions::default()).unwrap();
        let [output] = &played.rounds[0].outputs[..] else { panic!("one output is expected") };
        (output.pass, output.mismatches)
    };
    assert_eq!(with(""), (false, 1), "bit by bit where nothing is said");
    assert_eq!(with("tolerance = { atol = 0.5 }"), (true, 0));
}

#[test]
fn a_scene_is_found_by_its_file_and_by_its_directory() {
    let project = Project::new(SCENE);
    let mut registry = Registry::default();
    registry.add_source(settings());
    for name in ["scene.toml", ""] {
        let path = project.path(name).display().to_string();
        assert_eq!(registry.scene(&path).unwrap().name, "chain");
    }
    let nothing = registry.scene("chain").unwrap_err();
    assert!(matches!(nothing, SceneError::Scene { .. }), "{nothing}");
    let missing = project.path("none.toml").display().to_string();
    let error = registry.scene(&missing).unwrap_err();
    assert_eq!(
        argus_facts::with_causes(&error).split(':').next().unwrap(),
        format!("cannot read the scene in '{missing}'")
    );
    let without = project.path("kernels").display().to_string();
    let error = registry.scene(&without).unwrap_err();
    assert_eq!(
        argus_facts::with_causes(&error),
        format!("cannot read the scene in '{without}': the directory has no scene.toml")
    );
}

#[test]
fn a_program_says_which_files_it_came_from() {
    let project = Project::new(SCENE);
    let (case, runtime) = project.load().unwrap().case(None, None).unwrap();
    let prepared = case.prepare(runtime, DEFAULT_CHIP).unwrap();
    let origin = prepared.origin.unwrap();
    let names: Vec<&str> = origin.files.iter().map(|file| &file.name[..]).collect();
    let sources = [
        "kernels/orchestration/chain_orch.cpp",
        "kernels/aiv/add.cpp",
        "kernels/aiv/scale.cpp",
        "kernels/aiv/sub.cpp",
    ];
    assert_eq!(names, [&["scene.toml"][..], &sources].concat());
    assert_eq!(origin.files[0].text, SCENE);
    assert_eq!(origin.commands.len(), 4);
    // The program alone needs no inputs.
    std::fs::write(project.path("scene.toml"), "").unwrap();
    assert_eq!(case.program(runtime, DEFAULT_CHIP).unwrap().kernels.iter().count(), 3);
}
