//! Paged attention with declared edges. The scopes are those of the inferred graph.

use argus_runtime::{Abg, EntryArgs, Fatal};

use super::plan::{HeadTile, Plan, lookup};
use crate::kernels::paged_attention::{PV, QK, SF, UP};

/// The index tensors: this runtime cannot read device memory while it builds a graph.
pub struct Tables {
    pub block_table: Vec<i32>,
    pub context_lens: Vec<i32>,
}

impl Tables {
    fn context(&self, request: u32) -> Result<u32, Fatal> {
        lookup(&self.context_lens, request as usize)
    }

    fn cached(&self, request: u32, position: u32) -> Result<u32, Fatal> {
        let row = self.block_table.len() / self.context_lens.len().max(1);
        lookup(&self.block_table, request as usize * row + position as usize)
    }
}

pub fn declare(abg: &mut Abg, args: &EntryArgs, tables: &Tables) -> Result<(), Fatal> {
    let plan = Plan::new(args)?;
    for tile in plan.head_tiles() {
        abg.scope(|abg| request(abg, &plan, tables, tile))?;
    }
    Ok(())
}

fn request(abg: &mut Abg, plan: &Plan, tables: &Tables, tile: HeadTile) -> Result<(), Fatal> {
    let context = tables.context(tile.request)?;
    let state = abg.alloc_tensors(&plan.state())?;
    let mut merged = None;
    for position in 0..plan.blocks(context) {
        let block = plan.block(tile, context, position, tables.cached(tile.request, position)?)?;
        merged = Some(abg.scope(|abg| {
            let qk = abg.submit_aic(QK, block.qk())?;
            let sf = abg.submit_aiv(SF, block.sf(&qk)?)?;
            let pv = abg.submit_aic(PV, block.pv(&sf)?)?;
            let up = abg.submit_aiv(UP, block.up(&sf, &pv, &state)?)?;
            abg.add_dependency(qk.task_id(), sf.task_id())?;
            abg.add_dependency(sf.task_id(), pv.task_id())?;
            abg.add_dependency(sf.task_id(), up.task_id())?;
            abg.add_dependency(pv.task_id(), up.task_id())?;
            if let Some(before) = merged {
                abg.add_dependency(before, up.task_id())?;
            }
            Ok(up.task_id())
        })?);
    }
    Ok(())
}
