//! out = k (a + b) over 64 x 64 floats, in two tasks. The case `bug` takes rows that are 64 floats apart for 63.
use std::process::ExitCode;
use std::sync::Arc;

use argus::prelude::*;

const EDGE: u32 = 64;
const TILES: [Tile; 2] = [Tile::vec(DType::F32, 64, 64).at(0), Tile::vec(DType::F32, 64, 64).at(0x4000)];

fn add(core: &mut Core, args: &KernelArgs<'_>) -> KernelResult {
    for (slot, tile) in TILES.iter().enumerate() {
        let source = core.global_at(args.tensor(slot)?, 0, GlobalShape::nd(EDGE, EDGE))?;
        core.tload(tile, &source)?;
    }
    core.set_flag(Pipe::Mte2, Pipe::V, 0)?;
    core.wait_flag(Pipe::Mte2, Pipe::V, 0)?;
    core.tadd(&TILES[0], &TILES[0], &TILES[1])?;
    store(core, args.tensor(2)?)
}
fn scale(core: &mut Core, args: &KernelArgs<'_>, row_stride: u64) -> KernelResult {
    let source = core.global_at(args.tensor(0)?, 0, GlobalShape::nd_strided(EDGE, EDGE, row_stride))?;
    core.tload(&TILES[0], &source)?;
    core.set_flag(Pipe::Mte2, Pipe::V, 0)?;
    core.wait_flag(Pipe::Mte2, Pipe::V, 0)?;
    core.tmuls(&TILES[0], &TILES[0], args.scalar_f32(2)?)?;
    store(core, args.tensor(1)?)
}
fn store(core: &mut Core, to: &Tensor) -> KernelResult {
    core.set_flag(Pipe::V, Pipe::Mte3, 0)?;
    core.wait_flag(Pipe::V, Pipe::Mte3, 0)?;
    let target = core.global_at(to, 0, GlobalShape::nd(EDGE, EDGE))?;
    core.tstore(&target, &TILES[0])
}
fn orchestrate(graph: &mut Trb, args: &EntryArgs) -> Result<(), Fatal> {
    let sum = Arg::new().input(args.tensor(0)?).input(args.tensor(1)?);
    let sum = graph.submit_aiv(FuncId(0), sum.create(&TensorCreateInfo::new(&[EDGE, EDGE], DType::F32)?))?;
    graph.submit_aiv(FuncId(1), Arg::new().input(sum.tensor(0)?).output(args.tensor(2)?).scalar_f32(3.0))?;
    Ok(())
}
fn prepare(row_stride: u64) -> Prepared {
    use ArgDirection::{In, Out, Scalar};
    let scale = move |core: &mut Core, args: &KernelArgs<'_>| scale(core, args, row_stride);
    let add = KernelEntry::new(FuncId(0), "add", CoreType::Aiv, &[In, In, Out], add);
    let scale = KernelEntry::new(FuncId(1), "scale", CoreType::Aiv, &[In, Out, Scalar], scale);
    let kernels = [add, scale].map(|kernel| kernel.with_sources(&[source_file!("own_scene.rs")]));
    let kernels = KernelTable::new(kernels).expect("each has a number of its own");
    let program =
        Program { kernels, orchestration: Orchestration::TensormapAndRingbuffer(Arc::new(orchestrate)) };
    let of = |value: fn(u16) -> f32| (0..4096).map(value).collect::<Vec<f32>>();
    let block = |name, way, values: Vec<f32>| tensor(name, way, DType::F32, &[EDGE, EDGE], &values);
    let (a, b) = (block("a", In, of(|i| 0.25 * f32::from(i))), block("b", In, of(|_| 1.0)));
    let args = HostArgs { tensors: vec![a, b, block("out", Out, of(|_| 0.0))], scalars: Vec::new() };
    let golden = of(|i| 3.0 * (0.25 * f32::from(i) + 1.0));
    Prepared::new(program, args).with_golden(move |_| vec![Expected::f32("out", &golden)])
}
fn main() -> ExitCode {
    let case = |name, stride| Case::new(name, &[RuntimeKind::Trb], move |_| prepare(stride));
    let scene = Scene::new("own_scene", "out = k (a + b), in two tasks");
    argus::main([scene.with_case(case("good", 64)).with_case(case("bug", 63))])
}
