//! What a shipped scene knows about a dump: the kernels of its tasks, who waits for whom, and what each kernel
//! should make of its inputs.

use std::collections::BTreeMap;

use argus_abi::capture::edge_reason;
use argus_dump::read::Dump;
use argus_find::search::{Call, Expected, References};
use argus_find::tasks::{Supplied, SuppliedTask};
use argus_scenes::isolated::{self, SceneGraph};
use argus_scenes::registry::{self, Case, RuntimeKind, Scene};

use crate::cli::SceneArgs;
use crate::failure::{Failure, did_you_mean};

/// A scene that a dump belongs to.
pub struct Known {
    scene: &'static Scene,
    case: Option<&'static Case>,
    runtimes: Vec<RuntimeKind>,
    /// Names of kernels by number.
    names: BTreeMap<i32, String>,
    /// The graph of a dump that has none itself.
    graph: Option<SceneGraph>,
}

/// The scene that was named, or the one that the dump names itself; `None` if there is neither.
pub fn of(dump: &Dump, args: &SceneArgs) -> Result<Option<Known>, Failure> {
    let facts = dump.run();
    let (name, case) = match (&args.scene, facts) {
        (Some(scene), _) => (scene.clone(), args.case.clone()),
        (None, Some(facts)) if !facts.scene.is_empty() => {
            (facts.scene.clone(), Some(facts.case.clone()).filter(|case| !case.is_empty()))
        }
        _ => return Ok(None),
    };
    let scene = match registry::scene(&name) {
        Ok(scene) => scene,
        // A dump may come from a program that is none of the shipped scenes; a scene that was typed may not.
        Err(_) if args.scene.is_none() => return Ok(None),
        Err(error) => {
            let known = registry::scenes().iter().map(|scene| scene.name);
            return Err(Failure::usage(error).hint(did_you_mean(&name, known)));
        }
    };
    let runtime = facts.and_then(|facts| RuntimeKind::by_name(&facts.runtime).ok());
    let found = scene.case(case.as_deref(), runtime);
    let case = match found {
        Ok((case, _)) => Some(case),
        Err(_) if args.scene.is_none() => None,
        Err(error) => return Err(Failure::usage(error)),
    };
    let runtimes = match runtime {
        Some(runtime) => vec![runtime],
        None => case.map_or_else(Vec::new, |case| case.runtimes.to_vec()),
    };
    let mut known = Known { scene, case, runtimes, names: BTreeMap::new(), graph: None };
    match dump.graph() {
        Some(graph) => {
            known.names =
                graph.kernels.iter().map(|kernel| (kernel.func_id as i32, kernel.name.clone())).collect();
        }
        None => known.reconstruct(dump)?,
    }
    Ok(Some(known))
}

/// Said when references are asked for and nobody knows the scene.
pub fn unknown() -> Failure {
    super::impossible(
        "the dump does not say which scene it belongs to, so there are no references".to_owned(),
    )
    .hint("name it with --scene and --case, or compare with --against DUMP or --golden DIR".to_owned())
}

impl Known {
    /// The graph that the scene's orchestration makes, on the runtime whose task ids are the dump's.
    fn reconstruct(&mut self, dump: &Dump) -> Result<(), Failure> {
        let Some(case) = self.case else { return Ok(()) };
        let mut ids: Vec<u64> = dump.records().map(|record| record.task_id).collect();
        ids.dedup();
        for &runtime in &self.runtimes {
            let graph = isolated::graph(case, runtime).map_err(Failure::run)?;
            if ids.iter().all(|id| graph.tasks.contains_key(id)) {
                for task in graph.tasks.values() {
                    let named = task.func_ids.iter().zip(&task.kernels);
                    self.names.extend(named.map(|(&func, &name)| (func, name.to_owned())));
                }
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
    pub fn supply(&self, dump: &Dump) -> Result<Option<Supplied>, Failure> {
        if dump.graph().is_some() {
            return Ok(None);
        }
        let Some(graph) = &self.graph else { return Ok(None) };
        let task = |(&id, task): (&u64, &isolated::SceneTask)| {
            let mut different: Vec<&str> = Vec::new();
            task.kernels.iter().for_each(|name| {
                if !different.contains(name) {
                    different.push(name)
                }
            });
            SuppliedTask {
                id,
                funcs: task.func_ids.clone(),
                kernel: different.join("+"),
                blocks: task.blocks,
            }
        };
        Ok(Some(Supplied {
            from: format!("scene {}", self.scene.name),
            tasks: graph.tasks.iter().map(task).collect(),
            edges: graph.edges.iter().map(|&(from, to)| (from, to, edge_reason::EXPLICIT)).collect(),
        }))
    }
}

impl References for Known {
    fn expected(&self, call: &Call<'_>) -> Result<Vec<Expected>, String> {
        let names: Option<Vec<&str>> =
            call.task.funcs.iter().map(|func| self.names.get(func).map(String::as_str)).collect();
        let names = names.ok_or_else(|| "nobody knows the names of its kernels".to_owned())?;
        let args: Vec<isolated::Argument<'_>> = call
            .arguments
            .iter()
            .map(|argument| isolated::Argument {
                slot: argument.slot,
                role: argument.role,
                dtype: argument.dtype,
                shape: &argument.shape,
                before: argument.before,
                scalar_bits: argument.scalar_bits,
            })
            .collect();
        let seen = isolated::Call {
            func_ids: &call.task.funcs,
            kernels: &names,
            blocks: call.task.blocks,
            args: &args,
        };
        let expected = isolated::expected(self.scene, &seen).map_err(|error| error.to_string())?;
        let own = |output: isolated::Expected| Expected {
            slot: output.slot,
            bytes: output.bytes,
            unchecked: output.unchecked,
            reduction: output.reduction,
        };
        Ok(expected.into_iter().map(own).collect())
    }
}
