//! What a single task must produce, computed from the inputs that a dump holds of it.
//!
//! In goes one task: its kernels and its arguments as they were before it ran. Out comes what each of its
//! outputs must hold. No second run is needed, and a task is judged by its own inputs alone, whether they are
//! right or not. The references are those of [`crate::reference`], which share no code with the kernels.
//!
//! Everything in a dump may be wrong: sizes, types and shapes are checked, and what does not fit is a
//! [`argus_facts::NoReference`] with its reason. Memory is taken by the bytes that are there, never by what a shape claims.
//!
//! Every kernel that ships agrees with its reference bit for bit, NaNs apart: additions have one order, and
//! exp and ln are rounded once from f64 on both sides. On another machine that holds for all but those two, whose
//! last bit is the library's: outputs that depend on neither are held to equal values.
//!
//! | file | subject |
//! |---|---|
//! | this one | from a call to its reference |
//! | `operands` | arguments by role or slot, checked |
//! | `attention` | the kernels of paged attention, one request or a batch |
//! | `plain` | all others |

mod attention;
mod operands;
mod plain;

use argus_facts::{Call, Expected, NoReference, References};

/// What the kernels of a scene that ships should make of their inputs.
pub struct ShippedReferences {
    pub scene: String,
}

impl References for ShippedReferences {
    fn expected(&self, call: &Call<'_>) -> Result<Vec<Expected>, NoReference> {
        expected(&self.scene, call)
    }
}

/// What the outputs of a task of a scene must hold, in the order of their slots.
pub fn expected(scene: &str, call: &Call<'_>) -> Result<Vec<Expected>, NoReference> {
    let mut expected = match scene {
        "paged_attention" | "paged_attention_manual_scope" => attention::single(call),
        "batch_paged_attention" => attention::batch(call),
        "vector_example" | "dump_tensor_example" => plain::vector(call),
        "matmul" => plain::matmul(call),
        "matmul_double_buffered" => plain::double_buffered(call),
        "bgemm" | "benchmark_bgemm" => plain::bgemm(call),
        "mixed_example" => plain::mixed(call),
        "pipe_mix" => plain::pipe_mix(call),
        "spmd_basic" | "spmd_multiblock_aiv" | "spmd_multiblock_mix" | "spmd_sync_start" => plain::spmd(call),
        "failures" => plain::failures(call),
        _ => None,
    }
    .unwrap_or_else(|| {
        let kernels = call.kernels.join(", ");
        Err(NoReference::Kernels { scene: scene.into(), kernels })
    })?;
    expected.sort_by_key(|output| output.slot);
    Ok(expected)
}

/// The outcome for kernels that a family knows; `None` for others.
type Found = Option<Result<Vec<Expected>, NoReference>>;
