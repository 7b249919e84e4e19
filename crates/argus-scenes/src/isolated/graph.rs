//! Kernels and edges by task id, for dumps that do not tell.

use argus_chip::DEFAULT_CHIP;
use argus_facts::Graph;
use argus_runtime::{Device, RunConfig, RunError};

use crate::registry::{Case, Prepared, RuntimeKind};

/// The graph of a case: its orchestration is run once on the simulator, and nothing but the graph is kept.
/// Ids and edges depend neither on timing nor on the chip.
pub fn graph(case: &Case, runtime: RuntimeKind) -> Result<Graph, RunError> {
    let Prepared { program, mut args, configure, .. } = (case.prepare)(runtime);
    let mut config = RunConfig {
        block_dim: case.block_dim.map(|clusters| clusters.min(DEFAULT_CHIP.clusters)),
        control_threads: case.control_threads.map(|threads| threads.min(DEFAULT_CHIP.control_threads)),
        ..RunConfig::default()
    };
    configure(&mut config);
    Device::new(DEFAULT_CHIP).graph(&program, &mut args, &config)
}
