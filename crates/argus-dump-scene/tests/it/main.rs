//! Tasks out of scenes and dumps that a registry knows by other names, or not at all.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helpers too")]

use std::path::Path;
use std::sync::Arc;

use argus_chip::DEFAULT_CHIP;
use argus_dump::read::Dump;
use argus_dump_scene::{Lookup, LookupError, Named, Source, What, describe, open};
use argus_facts::{OriginFile, SceneOrigin, with_causes};
use argus_record::{Names, RecordRequest, record};
use argus_replay::{Options, TaskChoice, replay};
use argus_scene::play::{PlayOptions, play_with};
use argus_scene::{PrepareError, Registry, Scene, SceneSource};

/// Has one scene, behind a path and under no name.
struct Behind(&'static str);

impl SceneSource for Behind {
    fn scenes(&self, name: &str) -> Option<Result<Vec<Scene>, PrepareError>> {
        let all = argus_scenes::scenes::all().into_iter();
        (name == self.0).then(|| Ok(all.filter(|scene| scene.name == "vector_example").collect()))
    }
}

fn behind(path: &'static str) -> Registry {
    let mut registry = Registry::default();
    registry.add_source(Behind(path));
    registry
}

fn lookup(registry: &Registry) -> Lookup<'_> {
    Lookup { registry, changed: &|files| panic!("{files:?} are said to have changed") }
}

/// The first task of the kernel `mul`.
fn mul() -> Named {
    let choice = TaskChoice { kernel: Some("mul".to_owned()), ..TaskChoice::default() };
    Named { choice, ..Named::default() }
}

fn reproduces(source: &Source) -> bool {
    let kernels = &source.code.kernels;
    replay(&source.task, kernels, source.chip, &Options::default(), 1).unwrap().passed()
}

#[test]
fn a_task_comes_out_of_a_scene_that_is_known_by_its_path_alone() {
    let registry = behind("somewhere/scene.toml");
    let source = open(What::Scene("somewhere/scene.toml"), &mul(), &lookup(&registry)).unwrap();
    assert_eq!(source.task.identity.scene, "vector_example");
    assert!(reproduces(&source));
}

/// A dump of `vector_example` whose run was called `my_program`, with this file in front of its sources.
fn dump_of_a_program(directory: &Path, file: &str) -> Dump {
    let scene = argus_scenes::scene("vector_example").unwrap();
    let (case, runtime) = scene.case(None, None).unwrap();
    let text = "int x;".to_owned();
    let files = vec![OriginFile { name: file.to_owned(), text }];
    let path = directory.join(file);
    std::fs::write(&path, "int x;").unwrap();
    let origin = SceneOrigin { path: path.display().to_string(), files, commands: Vec::new() };
    let names = Names {
        scene: "my_program".to_owned(),
        case: String::new(),
        runtime: runtime.name().to_owned(),
        origin: Some(Arc::new(origin)),
    };
    let dump = directory.join("dump");
    std::fs::create_dir(&dump).unwrap();
    let options = PlayOptions { skip_golden: true, ..PlayOptions::default() };
    play_with(&case, runtime, DEFAULT_CHIP, &options, |stage| {
        let request = RecordRequest::default();
        record(stage.device, stage.program, stage.args, stage.config, &request, &names, &dump)
            .result
            .map_err(LookupError::from)
    })
    .unwrap();
    Dump::open(&dump).unwrap()
}

#[test]
fn sources_of_a_program_without_a_scene_file_are_not_taken_for_a_scene() {
    let home = tempfile::tempdir().unwrap();
    let dump = dump_of_a_program(home.path(), "orchestration.cpp");
    let registry = behind("somewhere/scene.toml");
    let refused = |error: Result<Source, LookupError>| with_causes(&error.map(|_| ()).unwrap_err());
    let said = refused(open(What::Dump(&dump), &mul(), &lookup(&registry)));
    assert!(said.starts_with("there is no scene 'my_program'"), "{said}");
    // Its arguments can be had without its code.
    let described = describe(What::Dump(&dump), &mul(), &lookup(&registry)).unwrap();
    assert_eq!(described.task.arguments.len(), 4);
    // Named, the scene gives the code.
    let named = Named { scene: Some("somewhere/scene.toml".to_owned()), ..mul() };
    assert!(reproduces(&open(What::Dump(&dump), &named, &lookup(&registry)).unwrap()));
}

#[test]
fn the_scene_file_of_a_dump_says_more_than_its_name() {
    let home = tempfile::tempdir().unwrap();
    let dump = dump_of_a_program(home.path(), "scene.toml");
    let carried = home.path().join("dump/scene/scene.toml").display().to_string();
    let registry = behind(String::leak(carried));
    assert!(reproduces(&open(What::Dump(&dump), &mul(), &lookup(&registry)).unwrap()));
}
