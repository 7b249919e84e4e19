//! Tasks of many blocks whose kernels write down where they ran.

use argus_abi::{ArgDirection, DType, FuncId};
use argus_runtime::{
    Arg, EntryArgs, Fatal, HostArgs, KernelEntry, KernelTable, MixedKernels, Orchestration, Program,
    TensorCreateInfo, Trb,
};
use std::sync::Arc;

use super::views::entries;
use crate::compare::Tolerance;
use crate::kernels::spmd::{self, LINE, MEMBERS};
use crate::reference::spmd::{self as reference, MULTIBLOCK_AIV, MULTIBLOCK_MIX, SYNC_START};
use crate::registry::{Case, Expected, Prepared, RuntimeKind, Scene, tensor};

const OUTPUT: &str = "output";
/// Kernels of the three members, from this func_id on.
const FIRST: u32 = 0;
/// Kernels of members that do not wait for each other, where others do.
const LOOSE: u32 = FIRST + MEMBERS;

pub const BASIC: Scene = Scene {
    name: "spmd_basic",
    about: "one block on a whole cluster: what each member knows of its place",
    cases: &[
        case("Case1", Some(24), |_| {
            prepare(spmd::context_writers(FIRST), submit_basic, reference::basic_golden())
        }),
        case("Case2_AutoBlockDim", None, |_| {
            prepare(spmd::context_writers(FIRST), submit_basic, reference::basic_golden())
        }),
    ],
};

pub const MULTIBLOCK_AIV_SCENE: Scene = Scene {
    name: "spmd_multiblock_aiv",
    about: "vector tasks of 4 to 96 blocks, more than there are cores",
    cases: &[case("Case1", Some(24), |_| {
        prepare([spmd::block_writer(FIRST)], submit_blocks, reference::multiblock_aiv_golden())
    })],
};

pub const MULTIBLOCK_MIX_SCENE: Scene = Scene {
    name: "spmd_multiblock_mix",
    about: "tasks of 2 to 48 blocks, each on a whole cluster",
    cases: &[case("Case1", Some(24), |_| {
        prepare(spmd::member_writers(FIRST), submit_mixes, reference::multiblock_mix_golden())
    })],
};

pub const SYNC_START_SCENE: Scene = Scene {
    name: "spmd_sync_start",
    about: "blocks that start together and wait for each other",
    cases: &[case("Case1", Some(24), |_| {
        let kernels = spmd::meeting_writers(FIRST).into_iter().chain(spmd::member_writers(LOOSE));
        prepare(kernels, submit_cohorts, reference::sync_start_golden())
    })],
};

const fn case(name: &'static str, block_dim: Option<u32>, prepare: fn(RuntimeKind) -> Prepared) -> Case {
    let runtimes = &[RuntimeKind::Trb];
    Case { name, aliases: &[], runtimes, block_dim, control_threads: Some(4), prepare }
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
        golden: Box::new(move |_| vec![Expected { name: OUTPUT, values: golden.clone() }]),
        configure: |_| (),
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
