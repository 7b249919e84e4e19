//! What all paged-attention scenes share: arguments, golden and tolerance.

use argus_abi::{ArgDirection, DType, RuntimeKind};
use argus_runtime::{HostArgs, KernelEntry, KernelTable, Orchestration, Program};

use crate::inputs::PagedAttentionInputs;
use crate::params::PagedAttention;
use crate::reference::paged_attention as reference;
use argus_scene::arguments::{elements, tensor};
use argus_scene::compare::Tolerance;
use argus_scene::{Case, Expected, Prepared};

/// Tensor arguments by place.
pub const QUERY: usize = 0;
pub const KEY_CACHE: usize = 1;
pub const VALUE_CACHE: usize = 2;
pub const BLOCK_TABLE: usize = 3;
pub const CONTEXT_LENS: usize = 4;
pub const OUT: usize = 5;
/// Scalar arguments by place.
pub const SCALE: usize = 0;

/// Head rows that one task works on at most.
pub const MAX_Q_TILE: u32 = 128;

/// An entry of a scene's list of cases. `machine` is its control threads and clusters.
pub fn case(
    name: &str,
    aliases: &[&str],
    runtimes: &[RuntimeKind],
    machine: (u32, u32),
    prepare: fn(RuntimeKind) -> Prepared,
) -> Case {
    let (control_threads, block_dim) = machine;
    let case = Case::new(name, runtimes, prepare).machine(block_dim, control_threads);
    aliases.iter().fold(case, |case, alias| case.alias(alias))
}

/// A case of these parameters, ready to run.
pub fn prepare(
    params: PagedAttention,
    args: HostArgs,
    orchestration: Orchestration,
    kernels: [KernelEntry; 4],
) -> Prepared {
    Prepared {
        program: Program {
            orchestration,
            kernels: KernelTable::new(kernels).expect("four different func_ids"),
        },
        args,
        tolerance: Tolerance::new(1e-3, 1e-3).expect("a fixed tolerance"),
        golden: Some(Box::new(move |args| Ok(golden(&params, args)))),
        configure: Box::new(|_| ()),
        origin: None,
    }
}

/// The arguments of a case, random but always the same.
pub fn arguments(scene: &str, case: &str, params: &PagedAttention) -> HostArgs {
    let inputs = PagedAttentionInputs::generate(scene, case, params);
    let size = |value: usize| u32::try_from(value).expect("a preset's sizes are small");
    let (batch, block_size) = (size(params.batch), size(params.block_size));
    let (heads, head_dim) = (size(params.num_heads), size(params.head_dim));
    let cache = [size(params.total_blocks()), block_size, 1, head_dim];
    let table = [batch, size(params.max_blocks_per_request())];
    let row = [batch, heads, head_dim];
    let out = vec![0.0f32; params.query_elements()];
    let (input, output) = (ArgDirection::In, ArgDirection::Out);
    HostArgs {
        tensors: vec![
            tensor("query", input, DType::Bf16, &row, &inputs.query),
            tensor("key_cache", input, DType::Bf16, &cache, &inputs.key_cache),
            tensor("value_cache", input, DType::Bf16, &cache, &inputs.value_cache),
            tensor("block_table", input, DType::I32, &table, &inputs.block_table),
            tensor("context_lens", input, DType::I32, &[batch], &inputs.context_lens),
            tensor("out", output, DType::F32, &row, &out),
        ],
        scalars: vec![u64::from(inputs.scale.to_bits())],
    }
}

fn golden(params: &PagedAttention, args: &HostArgs) -> Vec<Expected> {
    let inputs = PagedAttentionInputs {
        query: elements(args, "query"),
        key_cache: elements(args, "key_cache"),
        value_cache: elements(args, "value_cache"),
        block_table: elements(args, "block_table"),
        context_lens: elements(args, "context_lens"),
        scale: f32::from_bits(args.scalars[SCALE] as u32),
    };
    vec![Expected::f32("out", &reference::golden(params, &inputs))]
}

#[cfg(test)]
pub mod tests {
    use argus_chip::A2A3SIM;
    use argus_runtime::{Device, RunConfig};

    use super::*;
    use argus_scene::compare::compare;

    /// Runs a case that is not among the presets and returns its number of tasks.
    pub fn assert_passes(prepared: Prepared) -> u64 {
        let mut args = prepared.args.clone();
        let config = RunConfig::default();
        let report = Device::new(&A2A3SIM).run(&prepared.program, &mut args, &config).unwrap();
        let golden = prepared.golden.expect("attention has a golden");
        for Expected { name, dtype, bytes } in golden(&prepared.args).unwrap() {
            let actual = args.tensors.iter().find(|tensor| tensor.name == name).unwrap();
            let (actual, expected) = ((actual.dtype, &actual.bytes[..]), (dtype, &bytes[..]));
            let verdict = compare(&name, actual, expected, prepared.tolerance).unwrap();
            assert!(verdict.pass, "{verdict:?}");
        }
        report.tasks
    }
}
