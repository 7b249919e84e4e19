//! Kernels and edges by task id, for dumps that do not say.

use argus_chip::DEFAULT_CHIP;
use argus_facts::Graph;
use argus_runtime::Device;

use argus_abi::RuntimeKind;

use crate::play::PlayError;
use crate::scene::Case;

/// The graph of a case: its orchestration is run once on the simulator, and nothing but the graph is kept.
/// Ids and edges depend neither on timing nor on the chip.
pub fn graph(case: &Case, runtime: RuntimeKind) -> Result<Graph, PlayError> {
    let mut prepared = case.prepare(runtime, DEFAULT_CHIP)?;
    let config = case.config(&prepared, DEFAULT_CHIP);
    Ok(Device::new(DEFAULT_CHIP).graph(&prepared.program, &mut prepared.args, &config)?)
}
