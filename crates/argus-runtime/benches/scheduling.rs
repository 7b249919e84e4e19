//! Tasks per second through submission, dependency inference, tokens and completion, with kernels that do
//! nothing: what is left is the runtime.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use argus_abi::{ArgDirection, CoreType, DType, FuncId, KernelArgs};
use argus_chip::CHIPS;
use argus_runtime::{
    Arg, Device, HostArgs, HostTensor, KernelEntry, KernelTable, Orchestration, Program, RunConfig, ScopeMode,
};
use argus_tile::Core;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const TASKS: u64 = 100_000;
/// Scopes must be smaller than the task window.
const TASKS_PER_SCOPE: u64 = 1000;
const NOTHING: FuncId = FuncId(0);

fn program(chained: bool) -> Program {
    let nothing = KernelEntry {
        func_id: NOTHING,
        name: "nothing".into(),
        core_type: CoreType::Aiv,
        signature: [].into(),
        sources: [].into(),
        kernel: Arc::new(|_: &mut Core, _: &KernelArgs<'_>| Ok(())),
    };
    Program {
        kernels: KernelTable::new([nothing]).expect("one kernel"),
        orchestration: Orchestration::TensormapAndRingbuffer(Arc::new(move |trb, args| {
            let cell = *args.tensor(0)?;
            for _ in 0..TASKS / TASKS_PER_SCOPE {
                trb.scope(ScopeMode::Auto, |trb| {
                    for _ in 0..TASKS_PER_SCOPE {
                        let arg = if chained { Arg::new().inout(&cell) } else { Arg::new() };
                        trb.submit_aiv(NOTHING, arg)?;
                    }
                    Ok(())
                })?;
            }
            Ok(())
        })),
    }
}

fn arguments() -> HostArgs {
    let cell = HostTensor {
        name: "cell".into(),
        direction: ArgDirection::Inout,
        dtype: DType::F32,
        shape: vec![1],
        bytes: vec![0; 4],
    };
    HostArgs { tensors: vec![cell], scalars: Vec::new() }
}

fn scheduling(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("scheduling");
    group.throughput(Throughput::Elements(TASKS)).sample_size(10).measurement_time(Duration::from_secs(4));
    for platform in CHIPS {
        for (name, chained) in [("independent", false), ("chain", true)] {
            let program = program(chained);
            group.bench_function(format!("{name}/{}", platform.name), |bencher| {
                bencher.iter(|| {
                    let mut device = Device::new(platform);
                    let report = device.run(&program, &mut arguments(), &RunConfig::default());
                    black_box(report).expect("an empty run succeeds");
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, scheduling);
criterion_main!(benches);
