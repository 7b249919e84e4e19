//! A kernel of one million instructions: from its log to a timeline, and from there to all files.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use argus_abi::{CoreType, DType, Member, Tensor};
use argus_chip::A2A3SIM;
use argus_gm::{Fill, GlobalMemory};
use argus_tile::{
    ClusterPipes, Core, CoreConfig, CoreLog, CoreStatus, GlobalShape, KernelResult, Pipe, Tile,
};
use argus_trace::{GlobalBuffer, Params, Sources, Stamp, TaskLog, Timeline, check, write};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Instructions of the kernel.
const INSTRUCTIONS: u64 = 1_000_000;
/// Instructions of one turn of its loop.
const TURN: u64 = 12;
/// Tiles of the tensors that the loop walks over.
const TILES: u64 = 4096;

/// Load, compute, store, with two buffers: half of the instructions are flags.
fn kernel(core: &mut Core, x: &Tensor, y: &Tensor) -> KernelResult {
    let tile = |id: u32, half: u32| Tile::vec(DType::F32, 8, 64).at(id * 0x1000 + half * 0x800);
    for id in 0..2 {
        core.set_flag(Pipe::V, Pipe::Mte2, id)?;
        core.set_flag(Pipe::Mte3, Pipe::V, id)?;
    }
    for turn in 0..INSTRUCTIONS / TURN {
        let id = (turn % 2) as u8;
        let (input, output) = (tile(id.into(), 0), tile(id.into(), 1));
        let at = turn % TILES * 512;
        let from = core.global_at(x, at, GlobalShape::nd(8, 64))?;
        let to = core.global_at(y, at, GlobalShape::nd(8, 64))?;
        core.wait_flag(Pipe::V, Pipe::Mte2, id)?;
        core.tload(&input, &from)?;
        core.set_flag(Pipe::Mte2, Pipe::V, id)?;
        core.wait_flag(Pipe::Mte2, Pipe::V, id)?;
        core.wait_flag(Pipe::Mte3, Pipe::V, id)?;
        core.tadds(&output, &input, 1.0)?;
        core.tmuls(&output, &output, 2.0)?;
        core.set_flag(Pipe::V, Pipe::Mte2, id)?;
        core.set_flag(Pipe::V, Pipe::Mte3, id)?;
        core.wait_flag(Pipe::V, Pipe::Mte3, id)?;
        core.tstore(&to, &output)?;
        core.set_flag(Pipe::Mte3, Pipe::V, id)?;
    }
    Ok(())
}

fn task() -> TaskLog {
    let memory = Arc::new(GlobalMemory::new());
    let bytes = TILES * 512 * 4;
    let buffer = |name: &str| {
        let addr = memory.allocate(bytes, Fill::Zero).expect("memory").addr;
        GlobalBuffer { name: name.into(), addr, bytes }
    };
    let buffers = vec![buffer("x"), buffer("y")];
    let config = CoreConfig { sizes: A2A3SIM.core_sizes, core_type: CoreType::Aiv, fill: Fill::Zero };
    let status = Arc::new(CoreStatus::new(Arc::new(AtomicBool::new(false))));
    let mut core = Core::new(config, memory, Arc::new(ClusterPipes::new()), status);
    core.start_log();
    let [x, y] = [0, 1].map(|index: usize| {
        Tensor::contiguous(buffers[index].addr, DType::F32, &[(bytes / 4) as u32]).expect("a tensor")
    });
    kernel(&mut core, &x, &y).expect("the kernel runs");
    let log = core.take_log().expect("the log was started");
    let cores = vec![CoreLog { member: Member::Aiv0, block: 0, log }];
    TaskLog { name: "million".into(), chip: &A2A3SIM, cores, buffers, cut: false }
}

fn timelines(criterion: &mut Criterion) {
    let task = task();
    let params = Params::for_chip(&A2A3SIM).expect("the set ships");
    let mut group = criterion.benchmark_group("timeline");
    group.throughput(Throughput::Elements(INSTRUCTIONS));
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(10));
    let model = || Timeline::new(&task, &params).expect("the kernel is sound");
    group.bench_function("model", |bencher| bencher.iter(|| black_box(model().cycles)));
    let directory = tempfile::tempdir().expect("a directory");
    let stamp = Stamp::parse("20260101000000000").expect("a stamp");
    let timeline = model();
    let files = || write(&timeline, directory.path(), &Sources::default(), &stamp).expect("a disk with room");
    group.bench_function("files", |bencher| bencher.iter(|| black_box(files().slices)));
    files();
    group.bench_function("check", |bencher| {
        bencher.iter(|| black_box(check(directory.path()).expect("what was written is valid").slices))
    });
    group.finish();
}

criterion_group!(benches, timelines);
criterion_main!(benches);
