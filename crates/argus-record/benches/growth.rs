//! How the time of a captured run grows with its tasks, beside the same run without capture.
//!
//! Two shapes that make a long history: tiles of one tensor, each written once and none ever covered by a later
//! write, and readers of one tensor that all have to be remembered until a task at the end writes it. Kernels
//! do nothing, so what is left is the runtime and the capture.
//!
//! For each shape and size, the least of a few rounds: plain, the graph alone captured, everything captured. Both the time
//! that passes and the processor time: the collector works beside the run, so the second is what a busy machine pays.
//! `ARGUS_BENCH_DIR` chooses the file system.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use argus_abi::{ArgDirection, CoreType, DType, FuncId};
use argus_chip::A2A3SIM;
use argus_record::{Names, RecordRequest, record};
use argus_runtime::{
    Arg, Device, HostArgs, HostTensor, KernelEntry, KernelTable, Orchestration, Program, RunConfig, ScopeMode,
};
use rustix::time::{ClockId, clock_gettime};

const SIZES: [u32; 3] = [16_000, 64_000, 256_000];
const ROUNDS: usize = 3;
/// A scope is smaller than the task window.
const TASKS_PER_SCOPE: u32 = 1000;
/// Tiles of 4 by 4 elements, this many side by side.
const TILES_PER_ROW: u32 = 400;
const NOTHING: FuncId = FuncId(0);

#[derive(Clone, Copy, Debug)]
enum Shape {
    DisjointTiles,
    ManyReadersOneWriter,
}

fn program(shape: Shape, tasks: u32) -> Program {
    let nothing = KernelEntry {
        func_id: NOTHING,
        name: "nothing".into(),
        core_type: CoreType::Aiv,
        signature: [ArgDirection::Inout].into(),
        sources: [].into(),
        kernel: Arc::new(|_: &mut argus_tile::Core, _: &argus_abi::KernelArgs<'_>| Ok(())),
    };
    let orchestration = Orchestration::TensormapAndRingbuffer(Arc::new(move |trb, args| {
        let tensor = *args.tensor(0)?;
        for scope in 0..tasks / TASKS_PER_SCOPE {
            trb.scope(ScopeMode::Auto, |trb| {
                for task in scope * TASKS_PER_SCOPE..(scope + 1) * TASKS_PER_SCOPE {
                    let arg = match shape {
                        Shape::DisjointTiles => {
                            let at = [task / TILES_PER_ROW * 4, task % TILES_PER_ROW * 4];
                            let tile = tensor.view(&[4, 4], &at).expect("a tile of the tensor");
                            Arg::new().inout(&tile)
                        }
                        Shape::ManyReadersOneWriter => Arg::new().input(&tensor),
                    };
                    trb.submit_aiv(NOTHING, arg)?;
                }
                Ok(())
            })?;
        }
        trb.submit_aiv(NOTHING, Arg::new().inout(&tensor)).map(drop)
    }));
    Program { orchestration, kernels: KernelTable::new([nothing]).expect("one kernel") }
}

#[derive(Clone, Copy)]
struct Times {
    wall: Duration,
    processor: Duration,
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn arguments(shape: Shape, tasks: u32) -> HostArgs {
    let shape = match shape {
        Shape::DisjointTiles => vec![tasks.div_ceil(TILES_PER_ROW) * 4, TILES_PER_ROW * 4],
        Shape::ManyReadersOneWriter => vec![16],
    };
    let tensor = HostTensor {
        name: "tensor".into(),
        direction: ArgDirection::Inout,
        dtype: DType::F32,
        bytes: vec![0; shape.iter().product::<u32>() as usize * 4],
        shape,
    };
    HostArgs { tensors: vec![tensor], scalars: Vec::new() }
}

/// Plain, graph alone, everything.
fn times(shape: Shape, tasks: u32, parent: &Path) -> [Times; 3] {
    let (program, config) = (program(shape, tasks), RunConfig::default());
    let timed = |run: &mut dyn FnMut(&mut HostArgs)| {
        let mut args = arguments(shape, tasks);
        let (began, before) = (Instant::now(), processor_time());
        run(&mut args);
        Times { wall: began.elapsed(), processor: processor_time() - before }
    };
    let plain = timed(&mut |args| {
        Device::new(&A2A3SIM).run(&program, args, &config).expect("a run that succeeds");
    });
    let graph = timed(&mut |args| {
        let graph = Device::new(&A2A3SIM).graph(&program, args, &config).expect("a graph");
        // Each task but the last touches bytes of its own, or only reads: the last waits for all of them.
        assert_eq!(graph.edges.len(), tasks as usize);
    });
    let captured = timed(&mut |args| {
        let directory = tempfile::tempdir_in(parent).expect("a directory");
        let (request, names) = (RecordRequest::default(), Names::default());
        let mut device = Device::new(&A2A3SIM);
        let run = record(&mut device, &program, args, &config, &request, &names, directory.path());
        assert_eq!(run.dump.map(|dump| dump.edges), Some(u64::from(tasks)));
    });
    [plain, graph, captured]
}

fn main() {
    let parent = std::env::var_os("ARGUS_BENCH_DIR").map_or_else(std::env::temp_dir, Into::into);
    let names = ["plain", "graph", "captured"];
    for shape in [Shape::DisjointTiles, Shape::ManyReadersOneWriter] {
        for tasks in SIZES {
            let mut best = [Times { wall: Duration::MAX, processor: Duration::MAX }; 3];
            for _ in 0..ROUNDS {
                for (best, times) in best.iter_mut().zip(times(shape, tasks, &parent)) {
                    best.wall = best.wall.min(times.wall);
                    best.processor = best.processor.min(times.processor);
                }
            }
            eprint!("{shape:?}, {tasks} tasks, best of {ROUNDS}:");
            let ratio = |time: Duration, plain: Duration| time.as_secs_f64() / plain.as_secs_f64();
            for (name, times) in names.into_iter().zip(best) {
                eprint!(
                    " {name} {:.3} s ({:.2} x), processor {:.2} us a task ({:.2} x)",
                    times.wall.as_secs_f64(),
                    ratio(times.wall, best[0].wall),
                    times.processor.as_nanos() as f64 / f64::from(tasks) / 1000.0,
                    ratio(times.processor, best[0].processor),
                );
            }
            eprintln!();
        }
    }
}
