//! Paged attention with inferred edges: a scope per request for its state, a scope per block for the rest.

use argus_runtime::{EntryArgs, Fatal, ScopeMode, Trb};

use super::plan::{HeadTile, Plan, index};
use crate::kernels::paged_attention::{PV, QK, SF, UP};

pub fn orchestrate(trb: &mut Trb, args: &EntryArgs) -> Result<(), Fatal> {
    let plan = Plan::new(args)?;
    for tile in plan.head_tiles() {
        trb.scope(ScopeMode::Auto, |trb| request(trb, &plan, tile))?;
    }
    Ok(())
}

fn request(trb: &mut Trb, plan: &Plan, tile: HeadTile) -> Result<(), Fatal> {
    let context = index(trb.get_tensor_data(&plan.context_lens, &[tile.request])?)?;
    let state = trb.alloc_tensors(&plan.state())?;
    for position in 0..plan.blocks(context) {
        trb.scope(ScopeMode::Auto, |trb| {
            let cached = index(trb.get_tensor_data(&plan.block_table, &[tile.request, position])?)?;
            let block = plan.block(tile, context, position, cached)?;
            let qk = trb.submit_aic(QK, block.qk())?;
            let sf = trb.submit_aiv(SF, block.sf(&qk)?)?;
            let pv = trb.submit_aic(PV, block.pv(&sf)?)?;
            trb.submit_aiv(UP, block.up(&sf, &pv, &state)?)?;
            Ok(())
        })?;
    }
    Ok(())
}
