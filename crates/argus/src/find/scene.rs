//! What a shipped scene knows about a dump: the kernels of its tasks, who waits for whom, and what each kernel
//! should make of its inputs.

use std::sync::Arc;

use argus_abi::{RuntimeKind, TaskId};
use argus_dump::read::Dump;
use argus_facts::{Call, Expected, Graph, NoReference, References};
use argus_find::tasks::Supplied;
use argus_scene::graph::graph;
use argus_scene::{Case, Registry, Scene};

use crate::carried;
use crate::cli::SceneArgs;
use crate::failure::Failure;
use crate::run::no_scene;

/// A scene that a dump belongs to.
pub struct Known {
    scene: Arc<Scene>,
    case: Option<Arc<Case>>,
    runtimes: Vec<RuntimeKind>,
    /// The graph of a dump that has none itself.
    graph: Option<Graph>,
}

/// The scene that was named, or the one that the dump names itself; `None` if there is neither.
pub fn known(dump: &Dump, args: &SceneArgs, registry: &Registry) -> Result<Option<Known>, Failure> {
    let facts = dump.run();
    let (name, case) = match (&args.scene, facts) {
        (Some(scene), _) => (scene.clone(), args.case.clone()),
        (None, Some(facts)) if !facts.scene.is_empty() => {
            let scene = carried::scene(dump)?.unwrap_or_else(|| facts.scene.clone());
            (scene, Some(facts.case.clone()).filter(|case| !case.is_empty()))
        }
        _ => return Ok(None),
    };
    let scene = match registry.scene(&name) {
        Ok(scene) => scene,
        // A dump may come from a program that is none of the shipped scenes; a scene that was typed may not.
        Err(_) if args.scene.is_none() => return Ok(None),
        Err(error) => return Err(no_scene(registry, &name, error)),
    };
    let runtime = facts.and_then(|facts| RuntimeKind::by_name(&facts.runtime));
    let found = scene.case(case.as_deref(), runtime);
    let case = match found {
        Ok((case, _)) => Some(case),
        Err(_) if args.scene.is_none() => None,
        Err(error) => return Err(Failure::usage(error)),
    };
    let runtimes = match runtime {
        Some(runtime) => vec![runtime],
        None => case.as_ref().map_or_else(Vec::new, |case| case.runtimes.clone()),
    };
    let mut known = Known { scene, case, runtimes, graph: None };
    if dump.graph().is_none() {
        known.reconstruct(dump)?;
    }
    Ok(Some(known))
}

/// Said when references are asked for and the scene is not known.
pub fn unknown() -> Failure {
    super::impossible(
        "the dump does not say which scene it belongs to, so there are no references".to_owned(),
    )
    .hint("name it with --scene and --case, or compare with --against DUMP or --golden DIR".to_owned())
}

/// The options that a command on the same dump needs again.
pub fn repeat(args: &SceneArgs) -> String {
    let options = [("scene", &args.scene), ("case", &args.case), ("runtime", &args.runtime)];
    let given = options.iter().filter_map(|(name, value)| value.as_ref().map(|value| (name, value)));
    given.map(|(name, value)| format!(" --{name} {value}")).collect()
}

impl Known {
    /// The graph that the scene's orchestration makes, on the runtime whose task ids are the dump's.
    fn reconstruct(&mut self, dump: &Dump) -> Result<(), Failure> {
        let Some(case) = &self.case else { return Ok(()) };
        let mut ids: Vec<TaskId> = dump.records().map(|record| record.task_id).collect();
        ids.dedup();
        for &runtime in &self.runtimes {
            let graph = graph(case, runtime).map_err(Failure::run)?;
            if ids.iter().all(|&id| graph.task(id).is_some()) {
                self.graph = Some(graph);
                return Ok(());
            }
        }
        Err(super::impossible(format!(
            "the tasks of the dump are not those of scene {} case {} on any of its runtimes",
            self.scene.name, case.name
        )))
    }

    /// What the dump does not say itself.
    pub fn supply(self) -> (Option<Supplied>, KernelReferences) {
        let from = format!("scene {}", self.scene.name);
        (self.graph.map(|graph| Supplied { from, graph }), KernelReferences(self.scene))
    }
}

/// What the kernels of a scene should make of their inputs.
pub struct KernelReferences(Arc<Scene>);

impl References for KernelReferences {
    fn expected(&self, call: &Call<'_>) -> Result<Vec<Expected>, NoReference> {
        match &self.0.references {
            Some(references) => references.expected(call),
            None => {
                Err(NoReference::Kernels { scene: self.0.name.clone(), kernels: call.kernels.join(", ") })
            }
        }
    }
}
