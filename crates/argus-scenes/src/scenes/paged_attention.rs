//! Paged attention, four tasks per block: scores, softmax, weighted values, and the merge with the blocks
//! before.

mod abg;
pub mod case;
mod hbg;
pub mod plan;
mod trb;

use argus_runtime::Orchestration;
use std::sync::Arc;

use self::case::case;
use crate::kernels::paged_attention as kernels;
use crate::params::PagedAttention;
use argus_abi::RuntimeKind;
use argus_scene::arguments::elements;
use argus_scene::{Prepared, Scene};

const NAME: &str = "paged_attention";
const DEVICE_BUILT: &[RuntimeKind] = &[RuntimeKind::Trb, RuntimeKind::Abg];
const HOST_BUILT: &[RuntimeKind] = &[RuntimeKind::Hbg];

pub fn scene() -> Scene {
    Scene::new(NAME, "one query token per request against keys and values kept in blocks")
        .with_case(case("CaseSmall1", &["SmallCase1"], DEVICE_BUILT, (4, 9), |runtime| {
            prepare(runtime, "CaseSmall1", PagedAttention::case_small1())
        }))
        .with_case(case("CaseSmall2", &["SmallCase2"], DEVICE_BUILT, (4, 24), |runtime| {
            prepare(runtime, "CaseSmall2", PagedAttention::case_small2())
        }))
        .with_case(case("CaseVarSeq2", &["SmallCaseVarSeq2"], DEVICE_BUILT, (4, 24), |runtime| {
            prepare(runtime, "CaseVarSeq2", PagedAttention::case_var_seq2())
        }))
        .with_case(case("CaseVarSeq4", &["SmallCaseVarSeq4"], DEVICE_BUILT, (4, 24), |runtime| {
            prepare(runtime, "CaseVarSeq4", PagedAttention::case_var_seq4())
        }))
        .with_case(case("large", &[], DEVICE_BUILT, (4, 24), |runtime| {
            prepare(runtime, "large", PagedAttention::large())
        }))
        .with_case(case("small1", &["SmallCase1"], HOST_BUILT, (3, 3), |runtime| {
            prepare(runtime, "small1", PagedAttention::hbg_small1())
        }))
        .with_case(case("small2", &["SmallCase2"], HOST_BUILT, (3, 3), |runtime| {
            prepare(runtime, "small2", PagedAttention::hbg_small2())
        }))
}

fn prepare(runtime: RuntimeKind, name: &str, params: PagedAttention) -> Prepared {
    let args = case::arguments(NAME, name, &params);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_heads_than_a_tile_holds_are_cut_into_tiles() {
        let params = PagedAttention { num_heads: 256, ..PagedAttention::case_var_seq2() };
        for (runtime, tasks) in [(RuntimeKind::Trb, 44), (RuntimeKind::Abg, 44), (RuntimeKind::Hbg, 40)] {
            let prepared = prepare(runtime, "256 heads", params.clone());
            assert_eq!(case::tests::assert_passes(prepared), tasks, "{runtime}");
        }
    }

    #[test]
    fn sizes_of_a_real_model_fit_the_cores() {
        let real = PagedAttention { head_dim: 128, block_size: 128, ..PagedAttention::case_var_seq4() };
        let params = PagedAttention { context_lens: vec![200, 1, 128, 256], ..real };
        for runtime in RuntimeKind::ALL {
            case::tests::assert_passes(prepare(runtime, "blocks of 128", params.clone()));
        }
    }
}
