//! Scenes against their goldens.

use argus_chip::CHIPS;
use argus_scene::play::{PlayOptions, play};
use argus_scenes::scenes::all;

#[test]
fn every_scene_passes_on_every_platform_and_runtime() {
    for scene in all().iter().filter(|scene| scene.name != "failures") {
        for case in &scene.cases {
            for &runtime in &case.runtimes {
                for platform in CHIPS {
                    let played = play(case, runtime, platform, &PlayOptions::default());
                    let name = format!("{} {} {runtime} {}", scene.name, case.name, platform.name);
                    let played = played.unwrap_or_else(|error| panic!("{name}: {error}"));
                    assert!(!played.rounds[0].outputs.is_empty(), "{name} has no outputs");
                    assert!(played.passed(), "{name}: {:?}", played.rounds[0].outputs);
                }
            }
        }
    }
}
