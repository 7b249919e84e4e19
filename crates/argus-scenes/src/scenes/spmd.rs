//! Tasks of many blocks whose kernels write down where they ran.

use argus_abi::{ArgDirection, DType, FuncId, RuntimeKind};
use argus_runtime::{
    Arg, EntryArgs, Fatal, HostArgs, KernelEntry, KernelTable, MixedKernels, Orchestration, Program,
    TensorCreateInfo, Trb,
};
use std::sync::Arc;

use super::views::entries;
use crate::kernels::spmd::{self, LINE, MEMBERS};
use crate::reference::spmd::{self as reference, MULTIBLOCK_AIV, MULTIBLOCK_MIX, SYNC_START};
use argus_scene::arguments::tensor;
use argus_scene::compare::Tolerance;
use argus_scene::{Case, Expected, Prepared, Scene};

const OUTPUT: &str = "output";
/// Kernels of the three members, from this func_id on.
const FIRST: u32 = 0;
/// Kernels of members that do not wait for each other, where others do.
const LOOSE: u32 = FIRST + MEMBERS;

pub fn basic() -> Scene {
    Scene::new("spmd_basic", "one block on a whole cluster: what each member knows of its place")
        .with_case(case("Case1", Some(24), |_| {
            prepare(spmd::context_writers(FIRST), submit_basic, reference::basic_golden())
        }))
        .with_case(case("Case2_AutoBlockDim", None, |_| {
            prepare(spmd::context_writers(FIRST), submit_basic, reference::basic_golden())
        }))
}

pub fn multiblock_aiv() -> Scene {
    Scene::new("spmd_multiblock_aiv", "vector tasks of 4 to 96 blocks, more than there are cores").with_case(
        case("Case1", Some(24), |_| {
            prepare([spmd::block_writer(FIRST)], submit_blocks, reference::multiblock_aiv_golden())
        }),
    )
}

pub fn multiblock_mix() -> Scene {
    Scene::new("spmd_multiblock_mix", "tasks of 2 to 48 blocks, each on a whole cluster").with_case(case(
        "Case1",
        Some(24),
        |_| prepare(spmd::member_writers(FIRST), submit_mixes, reference::multiblock_mix_golden()),
    ))
}

pub fn sync_start() -> Scene {
    Scene::new("spmd_sync_start", "blocks that start together and wait for each other").with_case(case(
        "Case1",
        Some(24),
        |_| {
            let kernels = spmd::meeting_writers(FIRST).into_iter().chain(spmd::member_writers(LOOSE));
            prepare(kernels, submit_cohorts, reference::sync_start_golden())
        },
    ))
}

fn case(name: &str, block_dim: Option<u32>, prepare: fn(RuntimeKind) -> Prepared) -> Case {
    Case::new(name, &[RuntimeKind::Trb], prepare).machine(block_dim, 4)
}

fn prepare(
    kernels: impl IntoIterator<Item = KernelEntry>,
    orchestrate: fn(&mut Trb, &EntryArgs) -> Result<(), Fatal>,
    golden: Vec<f32>,
) -> Prepared {
    let shape = [golden.len() as u32 / LINE, LINE];
    let zeros = vec![0f32; golden.len()];
    Prepared {
        program: Program {
            orchestration: Orchestration::TensormapAndRingbuffer(Arc::new(orchestrate)),
            kernels: KernelTable::new(kernels).expect("func_ids follow each other"),
        },
        args: HostArgs {
            tensors: vec![tensor(OUTPUT, ArgDirection::Inout, DType::F32, &shape, &zeros)],
            scalars: Vec::new(),
        },
        tolerance: Tolerance::EXACT,
        golden: Some(Box::new(move |_| Ok(vec![Expected::f32(OUTPUT, &golden)]))),
        configure: Box::new(|_| ()),
        origin: None,
    }
}

/// The kernels of a whole cluster, from a func_id on.
fn cluster(first: u32) -> MixedKernels {
    let [aic, aiv0, aiv1] = [0, 1, 2].map(|place| Some(FuncId(first + place)));
    MixedKernels { aic, aiv0, aiv1 }
}

/// Visits each task's number of blocks and its part of the output.
fn for_tasks(
    args: &EntryArgs,
    blocks_of_tasks: &[usize],
    lines_per_block: u32,
    mut submit: impl FnMut(u32, Arg) -> Result<(), Fatal>,
) -> Result<(), Fatal> {
    let mut first = 0;
    for &blocks in blocks_of_tasks {
        let blocks = blocks as u32;
        let lines = blocks * lines_per_block;
        submit(blocks, Arg::new().inout(&entries(args.tensor(0)?, first, lines)?).blocks(blocks))?;
        first += lines;
    }
    Ok(())
}

fn submit_basic(trb: &mut Trb, args: &EntryArgs) -> Result<(), Fatal> {
    trb.submit(cluster(FIRST), Arg::new().inout(args.tensor(0)?))?;
    Ok(())
}

fn submit_blocks(trb: &mut Trb, args: &EntryArgs) -> Result<(), Fatal> {
    for_tasks(args, &MULTIBLOCK_AIV, 1, |_, arg| trb.submit_aiv(FuncId(FIRST), arg).map(|_| ()))
}

fn submit_mixes(trb: &mut Trb, args: &EntryArgs) -> Result<(), Fatal> {
    for_tasks(args, &MULTIBLOCK_MIX, MEMBERS, |_, arg| trb.submit(cluster(FIRST), arg).map(|_| ()))
}

/// All tasks but the last are cohorts; each has lines of its own in which its members leave their marks.
fn submit_cohorts(trb: &mut Trb, args: &EntryArgs) -> Result<(), Fatal> {
    let mut cohorts_left = SYNC_START.len() - 1;
    for_tasks(args, &SYNC_START, MEMBERS, |blocks, arg| {
        if cohorts_left == 0 {
            return trb.submit(cluster(LOOSE), arg).map(|_| ());
        }
        cohorts_left -= 1;
        let marks = TensorCreateInfo::new(&[blocks * MEMBERS, LINE], DType::I32)?.with_initial_value(0);
        trb.submit(cluster(FIRST), arg.create(&marks).sync_start()).map(|_| ())
    })
}
