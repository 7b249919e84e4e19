//! Paged attention in manual scopes: the same tasks, but the orchestration names every dependency.

use argus_runtime::{EntryArgs, Fatal, Orchestration, ScopeMode, TaskOutputs, Trb};
use std::sync::Arc;

use super::paged_attention::case::{self, case};
use super::paged_attention::plan::{HeadTile, Plan, index};
use crate::kernels::paged_attention::{self as kernels, PV, QK, SF, UP};
use crate::params::PagedAttention;
use argus_abi::RuntimeKind;
use argus_scene::{Prepared, Scene};

const NAME: &str = "paged_attention_manual_scope";
const RUNTIMES: &[RuntimeKind] = &[RuntimeKind::Trb];

pub fn scene() -> Scene {
    Scene::new(NAME, "paged attention with declared dependencies on the ring-buffer runtime")
        .with_case(case("CaseSmall1", &["SmallCase1"], RUNTIMES, (4, 9), |_| {
            prepare("CaseSmall1", PagedAttention::case_small1())
        }))
        .with_case(case("CaseSmall2", &["SmallCase2"], RUNTIMES, (4, 24), |_| {
            prepare("CaseSmall2", PagedAttention::case_small2())
        }))
        .with_case(case("CaseVarSeq2", &["SmallCaseVarSeq2"], RUNTIMES, (4, 24), |_| {
            prepare("CaseVarSeq2", PagedAttention::case_var_seq2())
        }))
        .with_case(case("CaseVarSeq4", &["SmallCaseVarSeq4"], RUNTIMES, (4, 24), |_| {
            prepare("CaseVarSeq4", PagedAttention::case_var_seq4())
        }))
        .with_case(case("large", &[], RUNTIMES, (4, 24), |_| prepare("large", PagedAttention::large())))
}

fn prepare(case: &str, params: PagedAttention) -> Prepared {
    let args = case::arguments(NAME, case, &params);
    let orchestration = Orchestration::TensormapAndRingbuffer(Arc::new(orchestrate));
    case::prepare(params, args, orchestration, kernels::on_tensors())
}

fn orchestrate(trb: &mut Trb, args: &EntryArgs) -> Result<(), Fatal> {
    let plan = Plan::new(args)?;
    for tile in plan.head_tiles() {
        trb.scope(ScopeMode::Manual, |trb| request(trb, &plan, tile))?;
    }
    Ok(())
}

fn request(trb: &mut Trb, plan: &Plan, tile: HeadTile) -> Result<(), Fatal> {
    let context = index(trb.get_tensor_data(&plan.context_lens, &[tile.request])?)?;
    let state = trb.alloc_tensors(&plan.state())?;
    let mut merged: Option<TaskOutputs> = None;
    for position in 0..plan.blocks(context) {
        let cached = index(trb.get_tensor_data(&plan.block_table, &[tile.request, position])?)?;
        let block = plan.block(tile, context, position, cached)?;
        let qk = trb.submit_aic(QK, block.qk())?;
        let sf = trb.submit_aiv(SF, block.sf(&qk)?.after(&[qk.task_id()]))?;
        let pv = trb.submit_aic(PV, block.pv(&sf)?.after(&[sf.task_id()]))?;
        // The state changes hands from block to block; the first has it from the allocation.
        let before = merged.as_ref().unwrap_or(&state).task_id();
        let after = [sf.task_id(), pv.task_id(), before];
        merged = Some(trb.submit_aiv(UP, block.up(&sf, &pv, &state)?.after(&after))?);
    }
    Ok(())
}
