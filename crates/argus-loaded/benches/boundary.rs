//! What the boundary costs: one tile instruction called directly, and the same one from a kernel object. And what a
//! kernel costs the compiler: a source with a hundred tile types.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot start says so by a panic")]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use argus_abi::args::{DispatchPayload, KernelArgs, SLOTS};
use argus_abi::{CoreType, DType, RuntimeKind};
use argus_chip::DEFAULT_CHIP;
use argus_compile::{Compiler, Generation, Role, Toolchain, Unit};
use argus_gm::{Fill, GlobalMemory};
use argus_loaded::LoadedKernel;
use argus_tile::{ClusterPipes, Core, CoreConfig, CoreStatus, GlobalShape, Kernel, Tile};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Instructions of one sample.
const COUNT: u64 = 10_000;

const KERNEL: &str = r#"
#include <cstdint>
#include <pto/pto-inst.hpp>
using namespace pto;
extern "C" void kernel_entry(int64_t *args) {
    Tile<TileType::Vec, float, 1, 8> a;
    GlobalTensor<float, Shape<1, 1, 1, 1, 8>, Stride<8, 8, 8, 8, 1>> g(reinterpret_cast<float *>(args[2]));
    TASSIGN(a, 0);
    for (int64_t i = 0; i < args[0]; i++) {
        if (args[1] == 0) TADDS(a, a, 1.0f);
        if (args[1] == 1) TLOAD(a, g);
        if (args[1] == 2) set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    }
}
"#;

fn unit(source: PathBuf) -> Unit {
    Unit {
        source,
        role: Role::Kernel(CoreType::Aiv),
        generation: Generation::August,
        chip: DEFAULT_CHIP,
        runtime: RuntimeKind::Trb,
        include_dirs: Vec::new(),
        defines: Vec::new(),
        root: None,
        debug: false,
    }
}

fn compile(directory: &Path, name: &str, text: &str) -> PathBuf {
    let source = directory.join(name);
    std::fs::write(&source, text).unwrap();
    let compiler = Compiler::with_cache(Toolchain::find(None).unwrap(), &directory.join("cache")).unwrap();
    compiler.compile(&[unit(source)]).unwrap().remove(0).path
}

fn instructions(criterion: &mut Criterion) {
    let directory = tempfile::tempdir().unwrap();
    let kernel = LoadedKernel::open(&compile(directory.path(), "loop.cpp", KERNEL)).unwrap();
    let memory = Arc::new(GlobalMemory::new());
    let buffer = memory.allocate(4096, Fill::Zero).unwrap();
    let config = CoreConfig { sizes: DEFAULT_CHIP.core_sizes, core_type: CoreType::Aiv, fill: Fill::Zero };
    let status = Arc::new(CoreStatus::new(Arc::new(AtomicBool::new(false))));
    let mut core = Core::new(config, memory, Arc::new(ClusterPipes::new()), status);
    let tile = Tile::vec(DType::F32, 1, 8).at(0);
    let mut payload = DispatchPayload::default();
    payload.args[..3].copy_from_slice(&[COUNT, 0, buffer.addr]);

    let mut group = criterion.benchmark_group("boundary");
    group.throughput(Throughput::Elements(COUNT));
    group.bench_function("TADDS, direct", |bench| {
        bench.iter(|| (0..COUNT).for_each(|_| core.tadds(&tile, &tile, 1.0f32).unwrap()));
    });
    group.bench_function("TLOAD, direct", |bench| {
        let global = core.global_raw(buffer.addr, DType::F32, GlobalShape::nd(1, 8)).unwrap();
        bench.iter(|| (0..COUNT).for_each(|_| core.tload(&tile, &global).unwrap()));
    });
    group.bench_function("SET_FLAG, direct", |bench| {
        bench.iter(|| {
            (0..COUNT).for_each(|_| core.set_flag(argus_tile::Pipe::Mte2, argus_tile::Pipe::V, 0).unwrap());
        });
    });
    for (which, name) in ["TADDS", "TLOAD", "SET_FLAG"].into_iter().enumerate() {
        payload.args[1] = which as u64;
        group.bench_function(format!("{name}, from an object"), |bench| {
            bench.iter(|| kernel.run(&mut core, &KernelArgs::new(&payload, &[], SLOTS)).unwrap());
        });
    }
    group.finish();
}

/// A kernel that makes, assigns and adds this many tiles of different types.
fn many_types(count: usize) -> String {
    let mut text = String::from(
        "#include <cstdint>\n#include <pto/pto-inst.hpp>\nusing namespace pto;\nextern \"C\" void kernel_entry(int64_t *args) {\n",
    );
    for number in 1..=count {
        let _ = writeln!(
            text,
            "    {{\n        using T = Tile<TileType::Vec, float, {number}, 8, BLayout::RowMajor, -1, -1, SLayout::NoneBox, 512, \
             PadValue::Null, CompactMode::Null>;\n        T a(args[0], args[1]), b(args[0], args[1]);\n        TASSIGN(a, 0);\n        \
             TASSIGN(b, 4096);\n        TADD(a, a, b);\n        TMULS(b, a, 2.0f);\n    }}"
        );
    }
    text + "}\n"
}

fn compilation(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compile");
    group.sample_size(10);
    for count in [0, 100] {
        group.bench_function(format!("{count} tile types"), |bench| {
            // A cache of its own each time: nothing is found there.
            bench.iter_batched(
                || tempfile::tempdir().unwrap(),
                |directory| compile(directory.path(), "types.cpp", &many_types(count)),
                criterion::BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, instructions, compilation);
criterion_main!(benches);
