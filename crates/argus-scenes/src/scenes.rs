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

use argus_scene::Scene;

use crate::isolated::ShippedReferences;

/// Every scene, in the order in which `argus list` shows them.
pub fn all() -> Vec<Scene> {
    let scenes = [
        vector_example::scene(),
        dump_tensor_example::scene(),
        matmul::scene(),
        matmul_double_buffered::scene(),
        bgemm::scene(),
        benchmark_bgemm::scene(),
        mixed_example::scene(),
        pipe_mix::scene(),
        paged_attention::scene(),
        paged_attention_manual_scope::scene(),
        batch_paged_attention::scene(),
        spmd::basic(),
        spmd::multiblock_aiv(),
        spmd::multiblock_mix(),
        spmd::sync_start(),
        failures::scene(),
    ];
    scenes
        .into_iter()
        .map(|scene| {
            let references = ShippedReferences { scene: scene.name.clone() };
            scene.with_references(references)
        })
        .collect()
}
