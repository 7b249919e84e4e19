//! Kernels and edges by task id, for dumps that do not tell.

use std::collections::BTreeMap;

use argus_chip::DEFAULT_CHIP;
use argus_runtime::{Device, RunConfig, RunError};

use crate::registry::{Case, Prepared, RuntimeKind};

/// One task of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneTask {
    /// Empty for a task that only owns memory.
    pub func_ids: Vec<i32>,
    /// Names of the kernels, in the order of `func_ids`.
    pub kernels: Vec<&'static str>,
    pub blocks: u32,
}

/// The tasks of a case and who waits for whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneGraph {
    pub tasks: BTreeMap<u64, SceneTask>,
    /// From whom to whom, each pair once.
    pub edges: Vec<(u64, u64)>,
}

/// The graph of a case: its orchestration is run once on the simulator, and nothing but the graph is kept.
/// Ids and edges depend neither on timing nor on the chip.
pub fn graph(case: &Case, runtime: RuntimeKind) -> Result<SceneGraph, RunError> {
    let Prepared { program, mut args, configure, .. } = (case.prepare)(runtime);
    let mut config = RunConfig {
        block_dim: case.block_dim.map(|clusters| clusters.min(DEFAULT_CHIP.clusters)),
        control_threads: case.control_threads.map(|threads| threads.min(DEFAULT_CHIP.control_threads)),
        ..RunConfig::default()
    };
    configure(&mut config);
    let graph = Device::new(DEFAULT_CHIP).graph(&program, &mut args, &config)?;
    let tasks = graph.tasks.iter().map(|task| {
        let members = task.funcs.iter().flatten();
        let kernels = members.clone().filter_map(|&func| program.kernels.get(func)).map(|entry| entry.name);
        let func_ids = members.map(|func| func.0 as i32).collect();
        (task.id.raw(), SceneTask { func_ids, kernels: kernels.collect(), blocks: task.blocks })
    });
    let edges = graph.edges.iter().map(|edge| (edge.from.raw(), edge.to.raw())).collect();
    Ok(SceneGraph { tasks: tasks.collect(), edges })
}
