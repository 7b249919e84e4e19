//! Runs as many empty tasks as its argument says, on one host thread: for counting instructions.

use std::sync::Arc;

use argus_abi::{ArgDirection, CoreType, DType, FuncId, KernelArgs};
use argus_chip::A2A3SIM;
use argus_runtime::{
    Arg, Device, HostArgs, HostTensor, KernelEntry, KernelTable, Orchestration, Program, RunConfig, ScopeMode,
};
use argus_tile::Core;

const NOTHING: FuncId = FuncId(0);
const TASKS_PER_SCOPE: u64 = 1000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tasks: u64 = std::env::args().nth(1).ok_or("how many tasks?")?.parse()?;
    let nothing = KernelEntry {
        func_id: NOTHING,
        name: "nothing".into(),
        core_type: CoreType::Aiv,
        signature: [ArgDirection::Inout].into(),
        sources: [].into(),
        kernel: Arc::new(|_: &mut Core, _: &KernelArgs<'_>| Ok(())),
    };
    let program = Program {
        kernels: KernelTable::new([nothing])?,
        orchestration: Orchestration::TensormapAndRingbuffer(Arc::new(move |trb, args| {
            let cell = *args.tensor(0)?;
            for _ in 0..tasks / TASKS_PER_SCOPE {
                trb.scope(ScopeMode::Auto, |trb| {
                    for _ in 0..TASKS_PER_SCOPE {
                        trb.submit_aiv(NOTHING, Arg::new().input(&cell))?;
                    }
                    Ok(())
                })?;
            }
            Ok(())
        })),
    };
    let cell = HostTensor {
        name: "cell".into(),
        direction: ArgDirection::Inout,
        dtype: DType::F32,
        shape: vec![1],
        bytes: vec![0; 4],
    };
    let mut args = HostArgs { tensors: vec![cell], scalars: Vec::new() };
    let config = RunConfig { host_threads: Some(1), control_threads: Some(1), ..RunConfig::default() };
    Device::new(&A2A3SIM).run(&program, &mut args, &config)?;
    Ok(())
}
