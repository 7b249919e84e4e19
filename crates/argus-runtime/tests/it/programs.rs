//! Small programs made of closures: a table of kernels, an orchestration, arguments of `i32`.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use argus_abi::{ArgDirection, CoreType, DType, FuncId, KernelArgs, Tensor};
use argus_chip::CHIPS;
use argus_runtime::{
    Abg, Arg, Device, EntryArgs, Fatal, Hbg, HostArgs, HostTensor, KernelEntry, KernelTable, Orchestration,
    Program, RunConfig, RunError, RunReport, TensorCreateInfo, Trb,
};
use argus_tile::{Core, Fault, GlobalShape, KernelResult};

/// `dst = value` after a delay: tensors `dst`, scalars `value, delay in ms`.
pub const FILL: FuncId = FuncId(0);
/// `dst = src + 1`, read after a delay: tensors `src, dst`, scalar `delay in ms`.
pub const MOVE: FuncId = FuncId(1);
/// `dst += 1`: tensor `dst`, scalar `delay in ms` between read and write.
pub const BUMP: FuncId = FuncId(2);
/// The first number that is free for a test's own kernels.
pub const OWN: u32 = 8;

pub type Body = dyn Fn(&mut Core, &KernelArgs<'_>) -> KernelResult + Send + Sync;

/// The standard kernels, all of them for vector cores, and a test's own.
pub struct Kernels(Vec<KernelEntry>);

impl Kernels {
    pub fn standard() -> Kernels {
        Kernels(Vec::new())
            .add(FILL, CoreType::Aiv, |core, args| {
                let dst = args.tensor(0)?;
                wait_ms(args.scalar(2)?);
                write(core, dst, &vec![args.scalar(1)? as i32; dst.numel() as usize])
            })
            .add(MOVE, CoreType::Aiv, |core, args| {
                wait_ms(args.scalar(2)?);
                let moved: Vec<i32> = read(core, args.tensor(0)?)?.iter().map(|value| value + 1).collect();
                write(core, args.tensor(1)?, &moved)
            })
            .add(BUMP, CoreType::Aiv, |core, args| {
                let bumped: Vec<i32> = read(core, args.tensor(0)?)?.iter().map(|value| value + 1).collect();
                wait_ms(args.scalar(1)?);
                write(core, args.tensor(0)?, &bumped)
            })
    }

    pub fn add(
        mut self,
        func_id: FuncId,
        core_type: CoreType,
        kernel: impl Fn(&mut Core, &KernelArgs<'_>) -> KernelResult + Send + Sync + 'static,
    ) -> Kernels {
        let kernel: Arc<Body> = Arc::new(kernel);
        let kernel = move |core: &mut Core, args: &KernelArgs<'_>| kernel(core, args);
        self.0.push(KernelEntry::new(func_id, "a test's kernel", core_type, &[], kernel));
        self
    }

    /// A kernel of the test's own for vector cores.
    pub fn own(
        self,
        number: u32,
        kernel: impl Fn(&mut Core, &KernelArgs<'_>) -> KernelResult + Send + Sync + 'static,
    ) -> Kernels {
        self.add(FuncId(OWN + number), CoreType::Aiv, kernel)
    }

    /// A kernel of the test's own for matrix cores.
    pub fn own_aic(
        self,
        number: u32,
        kernel: impl Fn(&mut Core, &KernelArgs<'_>) -> KernelResult + Send + Sync + 'static,
    ) -> Kernels {
        self.add(FuncId(OWN + number), CoreType::Aic, kernel)
    }

    pub fn trb(
        self,
        body: impl Fn(&mut Trb, &EntryArgs) -> Result<(), Fatal> + Send + Sync + 'static,
    ) -> Program {
        self.program(Orchestration::TensormapAndRingbuffer(Arc::new(body)))
    }

    /// A graph of tensors that is built ahead.
    pub fn ahead(
        self,
        body: impl Fn(&mut Trb, &EntryArgs) -> Result<(), Fatal> + Send + Sync + 'static,
    ) -> Program {
        self.program(Orchestration::HostBuildTensorGraph(Arc::new(body)))
    }

    pub fn abg(
        self,
        body: impl Fn(&mut Abg, &EntryArgs) -> Result<(), Fatal> + Send + Sync + 'static,
    ) -> Program {
        self.program(Orchestration::AicpuBuildGraph(Arc::new(body)))
    }

    pub fn hbg(
        self,
        body: impl Fn(&mut Hbg, &EntryArgs) -> Result<(), Fatal> + Send + Sync + 'static,
    ) -> Program {
        self.program(Orchestration::HostBuildGraph(Arc::new(body)))
    }

    fn program(self, orchestration: Orchestration) -> Program {
        Program { orchestration, kernels: KernelTable::new(self.0).unwrap() }
    }
}

pub fn own(number: u32) -> FuncId {
    FuncId(OWN + number)
}

pub fn wait_ms(ms: u64) {
    if ms > 0 {
        sleep(Duration::from_millis(ms));
    }
}

/// Every element of a view, in logical order.
pub fn read(core: &mut Core, tensor: &Tensor) -> Result<Vec<i32>, Fault> {
    let global = core.global(tensor, GlobalShape::nd(1, tensor.extent as u32))?;
    offsets(tensor).into_iter().map(|at| core.load_scalar(&global, at)).collect()
}

/// Writes the first elements of a view.
pub fn write(core: &mut Core, tensor: &Tensor, values: &[i32]) -> KernelResult {
    let global = core.global(tensor, GlobalShape::nd(1, tensor.extent as u32))?;
    for (at, &value) in offsets(tensor).into_iter().zip(values) {
        core.store_scalar(&global, at, value)?;
    }
    Ok(())
}

fn offsets(tensor: &Tensor) -> Vec<u64> {
    let runs = tensor.runs();
    let length = runs.run_len();
    runs.flat_map(|at| at..at + length).map(|at| at - tensor.start_offset).collect()
}

/// Four clusters and more host threads than this machine has CPUs, so that a missing edge shows.
pub fn config() -> RunConfig {
    RunConfig { block_dim: Some(4), host_threads: Some(4), ..RunConfig::default() }
}

/// Arguments of `i32`, all of them read and written.
pub fn arguments(tensors: &[&[i32]]) -> HostArgs {
    let tensors = tensors.iter().enumerate().map(|(index, values)| HostTensor {
        name: format!("argument {index}"),
        direction: ArgDirection::Inout,
        dtype: DType::I32,
        shape: vec![values.len() as u32],
        bytes: values.iter().flat_map(|value| value.to_le_bytes()).collect(),
    });
    HostArgs { tensors: tensors.collect(), scalars: Vec::new() }
}

pub fn values(args: &HostArgs, index: usize) -> Vec<i32> {
    let words = args.tensors[index].bytes.chunks_exact(4);
    words.map(|word| i32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// Runs a program on a fresh a2a3sim.
pub fn run(program: &Program, args: &mut HostArgs, config: &RunConfig) -> Result<RunReport, RunError> {
    Device::new(CHIPS[0]).run(program, args, config)
}

/// Runs a program that must succeed and returns what its arguments hold then.
pub fn results(program: &Program, inputs: &[&[i32]], config: &RunConfig) -> Vec<Vec<i32>> {
    let mut args = arguments(inputs);
    run(program, &mut args, config).unwrap_or_else(|error| panic!("{error}"));
    (0..inputs.len()).map(|index| values(&args, index)).collect()
}

/// Runs a program without arguments that must be refused, and returns the error.
pub fn refusal(program: &Program, inputs: &[&[i32]], config: &RunConfig) -> RunError {
    run(program, &mut arguments(inputs), config).expect_err("the run must fail")
}

pub fn i32s(count: u32) -> Result<TensorCreateInfo, Fatal> {
    TensorCreateInfo::new(&[count], DType::I32)
}

/// Arguments of [`FILL`] for an existing tensor.
pub fn fill(dst: &Tensor, value: i32, delay: u64) -> Arg {
    Arg::new().output(dst).scalar(value as u64).scalar(delay)
}

/// Arguments of [`FILL`] for a tensor that it creates.
pub fn fill_new(count: u32, value: i32, delay: u64) -> Result<Arg, Fatal> {
    Ok(Arg::new().create(&i32s(count)?).scalar(value as u64).scalar(delay))
}

/// Arguments of [`MOVE`].
pub fn shift(src: &Tensor, dst: &Tensor, delay: u64) -> Arg {
    Arg::new().input(src).output(dst).scalar(delay)
}

/// Arguments of [`BUMP`].
pub fn bump(dst: &Tensor, delay: u64) -> Arg {
    Arg::new().inout(dst).scalar(delay)
}
