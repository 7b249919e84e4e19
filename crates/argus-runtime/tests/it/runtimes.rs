//! A random program on each of the three runtimes.

use std::collections::HashMap;
use std::sync::Arc;

use argus_abi::{ArgDirection, CoreType, DType, FuncId, KernelArgs, Tensor, TensorArgType};
use argus_chip::Chip;
use argus_runtime::{
    Abg, Arg, Device, EntryArgs, Fatal, Hbg, HostArgs, HostTensor, KernelEntry, KernelTable, MixedKernels,
    Orchestration, Program, RingConfig, RunConfig, RunError, ScopeMode, TensorCreateInfo, Trb,
};
use argus_tile::{Core, Fault, Global, GlobalShape, KernelResult};

use crate::generate::{Item, ProgramSpec, TaskSpec};
use crate::oracle::{depends, fold, produce};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    Trb,
    Abg,
    Hbg,
}

const AIC: FuncId = FuncId(0);
const AIV: FuncId = FuncId(1);

/// Runs a program and returns the bytes of its external buffers.
pub fn run(
    spec: &Arc<ProgramSpec>,
    runtime: Runtime,
    platform: &'static Chip,
    config: RunConfig,
) -> Result<Vec<Vec<u8>>, RunError> {
    let (program, mut args, config) = prepared(spec, runtime, config);
    Device::new(platform).run(&program, &mut args, &config)?;
    Ok(args.tensors.into_iter().map(|tensor| tensor.bytes).collect())
}

/// A program as its runtime wants it, its arguments, and the configuration with the program's rings.
pub fn prepared(
    spec: &Arc<ProgramSpec>,
    runtime: Runtime,
    mut config: RunConfig,
) -> (Program, HostArgs, RunConfig) {
    let heap = u64::from(spec.window) * 1024;
    config.rings = [RingConfig { window: spec.window, heap, ..RingConfig::default() }; 4];
    config.block_dim = Some(spec.clusters);
    let externals: Vec<usize> =
        (0..spec.buffers.len()).filter(|&buffer| spec.buffers[buffer].external).collect();
    let args = HostArgs {
        tensors: externals
            .iter()
            .map(|&buffer| HostTensor {
                name: buffer.to_string(),
                direction: ArgDirection::Inout,
                dtype: DType::I32,
                shape: spec.buffers[buffer].shape.clone(),
                bytes: vec![0x11; spec.buffers[buffer].bytes()],
            })
            .collect(),
        scalars: Vec::new(),
    };
    let shared = Arc::clone(spec);
    let orchestration = match runtime {
        Runtime::Trb => Orchestration::TensormapAndRingbuffer(Arc::new(move |trb, args| {
            orchestrate(&shared, trb, args, &mut HashMap::new(), &shared.items)
        })),
        Runtime::Abg => Orchestration::AicpuBuildGraph(Arc::new(move |abg, args| {
            declare(&shared, abg, args, &mut HashMap::new(), &mut Vec::new(), &shared.items)
        })),
        Runtime::Hbg => Orchestration::HostBuildGraph(Arc::new(move |hbg, _| build(&shared, hbg))),
    };
    (Program { orchestration, kernels: kernels(spec, runtime) }, args, config)
}

fn kernels(spec: &Arc<ProgramSpec>, runtime: Runtime) -> KernelTable {
    let entry = |func_id, name: &str, core_type, rank_of: fn(&TaskSpec, i32) -> u32| {
        let spec = Arc::clone(spec);
        let kernel = move |core: &mut Core, args: &KernelArgs<'_>| {
            let (task, tensors) = match runtime {
                Runtime::Hbg => from_raw_slots(&spec, args)?,
                Runtime::Trb | Runtime::Abg => from_tensors(args)?,
            };
            // A task of one kernel runs on either vector core; only in a mix does the place say anything.
            let alone = members(&spec.tasks[task]) == 1;
            let rank = if alone { 0 } else { rank_of(&spec.tasks[task], args.sub_block_id()) };
            // host_build_graph has neither mixes nor blocks: there one kernel does it all.
            let (part, parts) = match runtime {
                Runtime::Hbg => (0, 1),
                Runtime::Trb | Runtime::Abg => {
                    let block = args.block_idx() as u32;
                    (block * members(&spec.tasks[task]) + rank, spec.tasks[task].parts())
                }
            };
            work(core, &spec.tasks[task], task, &tensors, part, parts)
        };
        KernelEntry {
            func_id,
            name: name.into(),
            core_type,
            signature: [].into(),
            sources: [].into(),
            kernel: Arc::new(kernel),
        }
    };
    KernelTable::new([
        entry(AIC, "aic", CoreType::Aic, |_, _| 0),
        entry(AIV, "aiv", CoreType::Aiv, |task, sub_block| {
            let before = [task.members[0], sub_block == 1 && task.members[1]];
            before.iter().filter(|&&member| member).count() as u32
        }),
    ])
    .unwrap()
}

fn members(task: &TaskSpec) -> u32 {
    task.members.iter().filter(|&&member| member).count() as u32
}

fn from_tensors(args: &KernelArgs<'_>) -> Result<(usize, Vec<Tensor>), Fault> {
    let count = args.tensor_count();
    let tensors = (0..count).map(|slot| args.tensor(slot).copied()).collect::<Result<_, _>>()?;
    Ok((args.scalar(count)? as usize, tensors))
}

/// Raw kernels know where buffers start; the views are the program's.
fn from_raw_slots(spec: &ProgramSpec, args: &KernelArgs<'_>) -> Result<(usize, Vec<Tensor>), Fault> {
    let task = args.scalar(0)? as usize;
    let mut tensors = Vec::new();
    for (index, operand) in spec.tasks[task].operands.iter().enumerate() {
        let mut view = operand.view;
        view.addr += args.scalar(1 + index)?;
        tensors.push(view);
    }
    Ok((task, tensors))
}

/// The part of a task's outputs that one core computes, read and written element by element.
fn work(
    core: &mut Core,
    spec: &TaskSpec,
    number: usize,
    tensors: &[Tensor],
    part: u32,
    parts: u32,
) -> KernelResult {
    let mut sum = number as u64;
    let is_input = |index: usize| spec.operands[index].kind == TensorArgType::Input;
    for (_, tensor) in tensors.iter().enumerate().filter(|(index, _)| is_input(*index)) {
        let global = whole(core, tensor)?;
        for at in offsets(tensor) {
            sum = fold(sum, load(core, &global, tensor, at)?);
        }
    }
    for (index, tensor) in tensors.iter().enumerate().filter(|(index, _)| !is_input(*index)) {
        let global = whole(core, tensor)?;
        for (element, at) in offsets(tensor).into_iter().enumerate() {
            if element as u32 % parts != part {
                continue;
            }
            let inout = spec.operands[index].kind == TensorArgType::Inout;
            let old = if inout { load(core, &global, tensor, at)? } else { 0 };
            let value = produce(sum, element, old);
            match tensor.dtype() {
                Some(DType::I16) => core.store_scalar(&global, at, value as i16)?,
                _ => core.store_scalar(&global, at, value as i32)?,
            }
        }
    }
    Ok(())
}

fn whole(core: &mut Core, tensor: &Tensor) -> Result<Global, Fault> {
    core.global(tensor, GlobalShape::nd(1, tensor.extent as u32))
}

/// Offsets of a view's elements from its first one.
fn offsets(tensor: &Tensor) -> Vec<u64> {
    let runs = tensor.runs();
    let length = runs.run_len();
    runs.flat_map(|at| at..at + length).map(|at| at - tensor.start_offset).collect()
}

fn load(core: &mut Core, global: &Global, tensor: &Tensor, at: u64) -> Result<u64, Fault> {
    Ok(match tensor.dtype() {
        Some(DType::I16) => u64::from(core.load_scalar::<i16>(global, at)? as u16),
        _ => u64::from(core.load_scalar::<i32>(global, at)? as u32),
    })
}

/// The argument list of a task. `created` knows the tensors that earlier tasks allocated.
fn arguments(
    spec: &ProgramSpec,
    number: usize,
    args: &EntryArgs,
    created: &HashMap<usize, Tensor>,
) -> Result<Arg, Fatal> {
    let task = &spec.tasks[number];
    let mut arg = Arg::new().blocks(task.blocks);
    for operand in &task.operands {
        if operand.kind == TensorArgType::Output {
            let info = TensorCreateInfo::new(operand.view.shape(), DType::I32)?;
            arg = arg.create(&info);
            continue;
        }
        let base = match created.get(&operand.buffer) {
            Some(tensor) => *tensor,
            None => *args.tensor(external_number(spec, operand.buffer))?,
        };
        let mut view = operand.view;
        view.addr += base.addr;
        view.size = base.size - operand.view.addr;
        view.owner_task_id = base.owner_task_id;
        arg = match operand.kind {
            TensorArgType::Input => arg.input(&view),
            TensorArgType::Inout => arg.inout(&view),
            _ => arg.output(&view),
        };
    }
    let arg = arg.scalar(number as u64);
    Ok(if task.sync_start { arg.sync_start() } else { arg })
}

fn external_number(spec: &ProgramSpec, buffer: usize) -> usize {
    spec.buffers[..buffer].iter().filter(|buffer| buffer.external).count()
}

fn mixed(task: &TaskSpec) -> MixedKernels {
    let [aic, aiv0, aiv1] = task.members;
    MixedKernels { aic: aic.then_some(AIC), aiv0: aiv0.then_some(AIV), aiv1: aiv1.then_some(AIV) }
}

fn created_buffer(task: &TaskSpec) -> Option<usize> {
    task.operands.iter().find(|operand| operand.kind == TensorArgType::Output).map(|operand| operand.buffer)
}

fn orchestrate(
    spec: &ProgramSpec,
    trb: &mut Trb,
    args: &EntryArgs,
    created: &mut HashMap<usize, Tensor>,
    items: &[Item],
) -> Result<(), Fatal> {
    for item in items {
        match item {
            Item::Scope(items) => {
                trb.scope(ScopeMode::Auto, |trb| orchestrate(spec, trb, args, created, items))?;
            }
            Item::Task(number) => {
                let arg = arguments(spec, *number, args, created)?;
                let outputs = trb.submit(mixed(&spec.tasks[*number]), arg)?;
                if let Some(buffer) = created_buffer(&spec.tasks[*number]) {
                    created.insert(buffer, *outputs.tensor(0)?);
                }
            }
        }
    }
    Ok(())
}

fn declare(
    spec: &ProgramSpec,
    abg: &mut Abg,
    args: &EntryArgs,
    created: &mut HashMap<usize, Tensor>,
    submitted: &mut Vec<(usize, argus_abi::TaskId)>,
    items: &[Item],
) -> Result<(), Fatal> {
    for item in items {
        match item {
            Item::Scope(items) => {
                abg.scope(|abg| declare(spec, abg, args, created, submitted, items))?;
            }
            Item::Task(number) => {
                let arg = arguments(spec, *number, args, created)?;
                let outputs = abg.submit(mixed(&spec.tasks[*number]), arg)?;
                if let Some(buffer) = created_buffer(&spec.tasks[*number]) {
                    created.insert(buffer, *outputs.tensor(0)?);
                }
                for (earlier, id) in &*submitted {
                    if depends(&spec.tasks[*earlier], &spec.tasks[*number]) {
                        abg.add_dependency(*id, outputs.task_id())?;
                    }
                }
                submitted.push((*number, outputs.task_id()));
            }
        }
    }
    Ok(())
}

fn build(spec: &ProgramSpec, hbg: &mut Hbg) -> Result<(), Fatal> {
    let mut addresses = Vec::new();
    for (buffer, shape) in spec.buffers.iter().enumerate() {
        let addr = if shape.external {
            let argument = external_number(spec, buffer);
            let addr = hbg.upload(argument)?;
            hbg.record_tensor_pair(argument, addr)?;
            addr
        } else {
            hbg.device_malloc(shape.bytes() as u64)?
        };
        addresses.push(addr);
    }
    for (number, task) in spec.tasks.iter().enumerate() {
        let mut slots = vec![number as u64];
        slots.extend(task.operands.iter().map(|operand| addresses[operand.buffer]));
        // A task of several cores is one of its kernels here: this runtime has no mixes and no blocks.
        let (func, core_type) = if task.members[0] { (AIC, CoreType::Aic) } else { (AIV, CoreType::Aiv) };
        hbg.add_task(&slots, func, core_type)?;
        for earlier in 0..number {
            if depends(&spec.tasks[earlier], task) {
                hbg.add_successor(earlier, number)?;
            }
        }
    }
    Ok(())
}
