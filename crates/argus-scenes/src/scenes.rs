//! The scenes that ship: orchestration, cases, inputs and goldens, one file per scene or family.

mod batch_paged_attention;
mod benchmark_bgemm;
mod bgemm;
mod dump_tensor_example;
pub mod failures;
mod matmul;
mod matmul_double_buffered;
mod mixed_example;
mod paged_attention;
mod paged_attention_manual_scope;
mod pipe_mix;
mod spmd;
mod vector_example;
mod views;

use crate::registry::Scene;

/// Every scene, in the order in which `argus list` shows them.
pub const ALL: &[&Scene] = &[
    &vector_example::SCENE,
    &dump_tensor_example::SCENE,
    &matmul::SCENE,
    &matmul_double_buffered::SCENE,
    &bgemm::SCENE,
    &benchmark_bgemm::SCENE,
    &mixed_example::SCENE,
    &pipe_mix::SCENE,
    &paged_attention::SCENE,
    &paged_attention_manual_scope::SCENE,
    &batch_paged_attention::SCENE,
    &spmd::BASIC,
    &spmd::MULTIBLOCK_AIV_SCENE,
    &spmd::MULTIBLOCK_MIX_SCENE,
    &spmd::SYNC_START_SCENE,
    &failures::SCENE,
];
