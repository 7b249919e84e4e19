//! Which cores a launch has, and which contexts each of them sees.
//!
//! In: the kernels with their places, the shape, the blocks. Out: the launch width and a row for every core.
//! A launched block is a cluster: one matrix core and [`LANES`] vector cores. A task that runs on vector cores
//! alone puts one block on each of them, so it needs half as many clusters as it has blocks.

use argus_abi::{CoreType, Member};
use serde::Serialize;

use crate::classify::Shape;
use crate::task::{Blocks, TaskSpec};

/// Vector cores of a cluster.
pub const LANES: u32 = 2;

/// The contexts of one core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Core {
    pub block_idx: u32,
    pub block_num: u32,
    pub sub_block_id: u32,
}

/// A launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub shape: Shape,
    /// Clusters to launch.
    pub width: u32,
    pub aic: Vec<Core>,
    pub aiv: Vec<Core>,
    /// Index of the kernel that each place runs.
    pub places: [Option<usize>; 3],
}

/// Lays out the cores of a task whose kernels have been classified.
pub fn plan(task: &TaskSpec, shape: Shape) -> Plan {
    let Blocks { first, count, total } = task.blocks;
    let core = |block: u32, sub_block_id| Core { block_idx: first + block, block_num: total, sub_block_id };
    let mut plan = Plan { shape, width: 1, aic: Vec::new(), aiv: Vec::new(), places: [None; 3] };
    match shape {
        // A kernel that does not ask for its block does the same in each, so one is enough.
        Shape::AicOnly => (plan.aic, plan.places) = (vec![core(0, 0)], [Some(0), None, None]),
        Shape::AivOnly => (plan.aiv, plan.places) = (vec![core(0, 0)], [None, Some(0), None]),
        Shape::SpmdMix => {
            for (index, kernel) in task.kernels.iter().enumerate() {
                match kernel.place {
                    Some(place) => plan.places[place as usize] = Some(index),
                    None => plan.places = [Some(index); 3],
                }
            }
            match plan.places {
                [None, Some(kernel), None] | [None, None, Some(kernel)] => {
                    plan.places = [None, Some(kernel), Some(kernel)];
                    plan.width = count.div_ceil(LANES);
                    plan.aiv = (0..count).map(|block| core(block, 0)).collect();
                }
                [aic, aiv0, aiv1] => {
                    plan.width = count;
                    if aic.is_some() {
                        plan.aic = (0..count).map(|block| core(block, 0)).collect();
                    }
                    if aiv0.or(aiv1).is_some() {
                        let lanes = |block| (0..LANES).map(move |lane| core(block, lane));
                        plan.aiv = (0..count).flat_map(lanes).collect();
                    }
                }
            }
        }
    }
    plan
}

impl Plan {
    /// The kernel that runs on a place.
    pub fn kernel_at(&self, place: Member) -> Option<usize> {
        self.places[place as usize]
    }

    /// The one core type of a launch that is not a mix.
    pub fn single_core(&self) -> Option<CoreType> {
        match self.shape {
            Shape::AicOnly => Some(CoreType::Aic),
            Shape::AivOnly => Some(CoreType::Aiv),
            Shape::SpmdMix => None,
        }
    }
}
