//! One case on cores of its chip.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use argus_abi::args::{DispatchPayload, GlobalContext, KernelArgs, LocalContext, SLOTS};
use argus_abi::{CoreType, DType, Member, Tensor};
use argus_chip::Chip;
use argus_gm::{Fill, GlobalMemory};
use argus_loaded::LoadedKernel;
use argus_tile::{ClusterPipes, Core, CoreConfig, CoreStatus, Kernel};
use half::{bf16, f16};

use super::input;
use super::suite::{ArgValue, Buffer, Case, Program, Suite, width};

/// Bytes behind each buffer that must not change.
const GUARD: usize = 4096;
const GUARD_BYTE: u8 = 0x5A;

/// The buffers of a case in device memory.
struct Stage<'a> {
    memory: Arc<GlobalMemory>,
    buffers: Vec<(&'a Buffer, u64, Vec<u8>)>,
}

impl Stage<'_> {
    fn addr(&self, name: &str) -> u64 {
        self.buffers.iter().find(|(buffer, ..)| buffer.name == name).unwrap().1
    }
}

/// What a program's slots point to, alive as long as it runs.
struct Arguments {
    payload: Box<DispatchPayload>,
    _tensors: Vec<Tensor>,
    _contexts: Vec<[u64; 132]>,
}

pub fn play(suite: &Suite, case: &Case, objects: &[PathBuf]) -> Result<(), String> {
    let chip = super::chip_of(case);
    let stage = set(case);
    let kernels: Vec<LoadedKernel> = objects
        .iter()
        .map(|path| LoadedKernel::open(path).map_err(|error| error.to_string()))
        .collect::<Result<_, _>>()?;
    let arguments: Vec<Arguments> = case.programs.iter().map(|program| arguments(&stage, program)).collect();
    let pipes = Arc::new(ClusterPipes::new());
    let stop = Arc::new(AtomicBool::new(false));
    let core = |program: &Program| new_core(chip, core_type(program), &stage.memory, &pipes, &stop);
    if case.mode == "concurrent" {
        let results: Vec<Result<(), String>> = std::thread::scope(|scope| {
            let running: Vec<_> = case
                .programs
                .iter()
                .zip(&kernels)
                .zip(&arguments)
                .map(|((program, kernel), arguments)| {
                    let mut core = core(program);
                    let payload = &arguments.payload;
                    let stop = &stop;
                    scope.spawn(move || {
                        // A partner would wait for ever.
                        run(&mut core, program, kernel, payload).inspect_err(|_| stop.store(true, Relaxed))
                    })
                })
                .collect();
            running.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        results.into_iter().collect::<Result<(), _>>()?;
    } else {
        let mut cores: Vec<Core> = Vec::new();
        for ((program, kernel), arguments) in case.programs.iter().zip(&kernels).zip(&arguments) {
            let at = cores.iter().position(|core| core.core_type() == core_type(program));
            let at = at.unwrap_or_else(|| {
                cores.push(core(program));
                cores.len() - 1
            });
            run(&mut cores[at], program, kernel, &arguments.payload)?;
        }
    }
    compare(suite, &stage)
}

fn core_type(program: &Program) -> CoreType {
    if program.core == "aic" { CoreType::Aic } else { CoreType::Aiv }
}

fn new_core(
    chip: &Chip,
    core_type: CoreType,
    memory: &Arc<GlobalMemory>,
    pipes: &Arc<ClusterPipes>,
    stop: &Arc<AtomicBool>,
) -> Core {
    let config = CoreConfig { sizes: chip.core_sizes, core_type, fill: Fill::Poison };
    Core::new(config, memory.clone(), pipes.clone(), Arc::new(CoreStatus::new(stop.clone())))
}

fn run(
    core: &mut Core,
    program: &Program,
    kernel: &LoadedKernel,
    payload: &DispatchPayload,
) -> Result<(), String> {
    let member = match (core.core_type(), program.sub_block_id) {
        (CoreType::Aic, _) => Member::Aic,
        (CoreType::Aiv, 0) => Member::Aiv0,
        (CoreType::Aiv, _) => Member::Aiv1,
    };
    // What one program leaves on the chip the next one of its core finds there.
    if core.status().instructions() == 0 || core.member() != member {
        core.begin_kernel(member);
    }
    kernel.run(core, &KernelArgs::new(payload, &[], SLOTS)).map_err(|fault| fault.to_string())
}

fn set(case: &Case) -> Stage<'_> {
    let memory = Arc::new(GlobalMemory::new());
    let buffers = case.buffers.iter().map(|buffer| {
        let bytes = input::bytes(buffer);
        let room = memory.allocate((bytes.len() + GUARD) as u64, Fill::Zero).unwrap();
        memory.write(room.addr, &bytes).unwrap();
        memory.write(room.addr + bytes.len() as u64, &[GUARD_BYTE; GUARD]).unwrap();
        (buffer, room.addr, bytes)
    });
    let buffers = buffers.collect();
    Stage { memory, buffers }
}

fn arguments(stage: &Stage<'_>, program: &Program) -> Arguments {
    let mut payload = Box::new(DispatchPayload::default());
    // Room for all of them at once: slots point into these.
    let (mut tensors, mut contexts) =
        (Vec::with_capacity(program.args.len()), Vec::with_capacity(program.args.len()));
    for arg in &program.args {
        payload.args[arg.slot] = match &arg.value {
            ArgValue::Pointer { buffer, byte_offset } => stage.addr(buffer) + byte_offset,
            ArgValue::Int { value } => *value as u64,
            ArgValue::Tensor { buffer, dtype, shape, start_offset } => {
                let dtype = match dtype.as_str() {
                    "f32" => DType::F32,
                    "f16" => DType::F16,
                    "bf16" => DType::Bf16,
                    "i32" => DType::I32,
                    "i8" => DType::I8,
                    other => panic!("unknown type {other}"),
                };
                let mut tensor = Tensor::contiguous(stage.addr(buffer), dtype, shape).unwrap();
                tensor.start_offset = *start_offset;
                tensors.push(tensor);
                std::ptr::from_ref(tensors.last().unwrap()) as u64
            }
            ArgValue::CommContext { rank, windows, window_bytes } => {
                let mut words = [0; 132];
                words[2] = u64::from(*rank) | (windows.len() as u64) << 32;
                words[3] = *window_bytes;
                for (index, window) in windows.iter().enumerate() {
                    words[4 + index] = stage.addr(window);
                    words[68 + index] = stage.addr(window);
                }
                contexts.push(words);
                contexts.last().unwrap().as_ptr() as u64
            }
        };
    }
    payload.local = LocalContext {
        block_idx: program.block_idx,
        block_num: program.block_num,
        ..LocalContext::default()
    };
    payload.global = GlobalContext { sub_block_id: program.sub_block_id };
    Arguments { payload, _tensors: tensors, _contexts: contexts }
}

/// Every buffer with all its bytes: those that a case names as results with what was recorded, all others with what
/// they held before.
fn compare(suite: &Suite, stage: &Stage<'_>) -> Result<(), String> {
    for (buffer, addr, before) in &stage.buffers {
        let mut after = vec![0; before.len() + GUARD];
        stage.memory.read(*addr, &mut after).unwrap();
        let guard = after.split_off(before.len());
        if guard.iter().any(|&byte| byte != GUARD_BYTE) {
            return Err(format!("bytes behind buffer {} were written", buffer.name));
        }
        let wanted =
            buffer.expected.as_ref().map_or_else(|| before.clone(), |expected| suite.expected(expected));
        assert_eq!(wanted.len(), after.len());
        let any_nan = buffer.compare.as_ref().is_some_and(|compare| compare.nan_any);
        let size = width(&buffer.dtype);
        let differ = |index: &usize| {
            let (a, b) = (&after[index * size..][..size], &wanted[index * size..][..size]);
            a != b && !(any_nan && is_nan(&buffer.dtype, a) && is_nan(&buffer.dtype, b))
        };
        let wrong: Vec<usize> = (0..buffer.count).filter(differ).collect();
        if let Some(first) = wrong.first() {
            let show = |bytes: &[u8]| {
                bytes[first * size..][..size]
                    .iter()
                    .rev()
                    .map(|byte| format!("{byte:02x}"))
                    .collect::<String>()
            };
            return Err(format!(
                "{} of {} elements of {} differ, first {first}: {} is not {}",
                wrong.len(),
                buffer.count,
                buffer.name,
                show(&after),
                show(&wanted)
            ));
        }
    }
    Ok(())
}

fn is_nan(dtype: &str, bytes: &[u8]) -> bool {
    match dtype {
        "f32" => f32::from_le_bytes(bytes.try_into().unwrap()).is_nan(),
        "f16" => f16::from_le_bytes(bytes.try_into().unwrap()).is_nan(),
        "bf16" => bf16::from_le_bytes(bytes.try_into().unwrap()).is_nan(),
        _ => false,
    }
}
