//! Paged attention, four tasks per block: scores, softmax, weighted values, and the merge with the blocks
//! before.

mod abg;
pub mod case;
mod hbg;
pub mod plan;
mod trb;

use argus_runtime::Orchestration;
use std::sync::Arc;

use crate::kernels::paged_attention as kernels;
use crate::params::PagedAttention;
use crate::registry::{Case, Prepared, RuntimeKind, Scene, elements};

const NAME: &str = "paged_attention";
const DEVICE_BUILT: &[RuntimeKind] = &[RuntimeKind::Trb, RuntimeKind::Abg];
const HOST_BUILT: &[RuntimeKind] = &[RuntimeKind::Hbg];

pub const SCENE: Scene = Scene {
    name: NAME,
    about: "one query token per request against keys and values kept in blocks",
    cases: &[
        Case {
            name: "CaseSmall1",
            aliases: &["SmallCase1"],
            runtimes: DEVICE_BUILT,
            block_dim: Some(9),
            control_threads: Some(4),
            prepare: |runtime| prepare(runtime, "CaseSmall1", PagedAttention::case_small1()),
        },
        Case {
            name: "CaseSmall2",
            aliases: &["SmallCase2"],
            runtimes: DEVICE_BUILT,
            block_dim: Some(24),
            control_threads: Some(4),
            prepare: |runtime| prepare(runtime, "CaseSmall2", PagedAttention::case_small2()),
        },
        Case {
            name: "CaseVarSeq2",
            aliases: &["SmallCaseVarSeq2"],
            runtimes: DEVICE_BUILT,
            block_dim: Some(24),
            control_threads: Some(4),
            prepare: |runtime| prepare(runtime, "CaseVarSeq2", PagedAttention::case_var_seq2()),
        },
        Case {
            name: "CaseVarSeq4",
            aliases: &["SmallCaseVarSeq4"],
            runtimes: DEVICE_BUILT,
            block_dim: Some(24),
            control_threads: Some(4),
            prepare: |runtime| prepare(runtime, "CaseVarSeq4", PagedAttention::case_var_seq4()),
        },
        Case {
            name: "large",
            aliases: &[],
            runtimes: DEVICE_BUILT,
            block_dim: Some(24),
            control_threads: Some(4),
            prepare: |runtime| prepare(runtime, "large", PagedAttention::large()),
        },
        Case {
            name: "small1",
            aliases: &["SmallCase1"],
            runtimes: HOST_BUILT,
            block_dim: Some(3),
            control_threads: Some(3),
            prepare: |runtime| prepare(runtime, "small1", PagedAttention::hbg_small1()),
        },
        Case {
            name: "small2",
            aliases: &["SmallCase2"],
            runtimes: HOST_BUILT,
            block_dim: Some(3),
            control_threads: Some(3),
            prepare: |runtime| prepare(runtime, "small2", PagedAttention::hbg_small2()),
        },
    ],
};

fn prepare(runtime: RuntimeKind, case: &str, params: PagedAttention) -> Prepared {
    let args = case::arguments(NAME, case, &params);
    let (orchestration, kernels) = match runtime {
        RuntimeKind::Trb => {
            (Orchestration::TensormapAndRingbuffer(Arc::new(trb::orchestrate)), kernels::on_tensors())
        }
        RuntimeKind::Abg => {
            let tables = abg::Tables {
                block_table: elements(&args, "block_table"),
                context_lens: elements(&args, "context_lens"),
            };
            let declare = Arc::new(move |abg: &mut _, args: &_| abg::declare(abg, args, &tables));
            (Orchestration::AicpuBuildGraph(declare), kernels::on_tensors())
        }
        RuntimeKind::Hbg => {
            let params = params.clone();
            let build = Arc::new(move |hbg: &mut _, args: &_| hbg::build(hbg, args, &params));
            (Orchestration::HostBuildGraph(build), kernels::on_addresses())
        }
    };
    case::prepare(params, args, orchestration, kernels)
}
