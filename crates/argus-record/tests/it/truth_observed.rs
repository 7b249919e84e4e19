//! Dumps hold what kernels see: every kernel of every scene is wrapped by an observer that reads the
//! arguments itself, when the kernel starts and when it has ended.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use argus_abi::{DType, KernelArgs, RuntimeKind, Stage, Tensor};
use argus_chip::A2A3SIM;
use argus_record::RecordRequest;
use argus_runtime::{KernelEntry, KernelTable, Program};
use argus_scenes::scenes::all;
use argus_tile::{Core, Fault, GlobalShape, KernelResult};

use crate::dump::{Key, Record, word};
use crate::setup::{COLLECTS, Subject};

/// Every tensor of one call by address, with its bytes before and after.
type Call = Vec<(u64, Vec<u8>, Vec<u8>)>;

/// Calls by func_id.
type Observed = Arc<Mutex<Vec<(i64, Call)>>>;

/// The bytes of a view, element by element, past everything that capture uses.
fn look(core: &mut Core, tensor: &Tensor) -> Result<Vec<u8>, Fault> {
    let width = tensor.dtype().map_or(0, DType::size) as u64;
    let unit = if width == 2 { DType::I16 } else { DType::I32 };
    let base = tensor.addr + tensor.start_offset * width;
    let mut bytes = Vec::new();
    let mut index = vec![0u32; tensor.rank()];
    loop {
        let steps = index.iter().zip(tensor.stride()).map(|(&at, &stride)| u64::from(at) * u64::from(stride));
        let global = core.global_raw(base + steps.sum::<u64>() * width, unit, GlobalShape::nd(1, 1))?;
        if width == 2 {
            bytes.extend(core.load_scalar::<i16>(&global, 0)?.to_le_bytes());
        } else {
            bytes.extend(core.load_scalar::<i32>(&global, 0)?.to_le_bytes());
        }
        let Some(dim) = (0..index.len()).rev().find(|&dim| index[dim] + 1 < tensor.shape()[dim]) else {
            return Ok(bytes);
        };
        index[dim] += 1;
        index[dim + 1..].fill(0);
    }
}

fn look_at_all(core: &mut Core, args: &KernelArgs<'_>) -> Result<Vec<(u64, Vec<u8>)>, Fault> {
    (0..args.tensor_count())
        .map(|slot| {
            let tensor = args.tensor(slot)?;
            Ok((tensor.data_addr().unwrap_or(0), look(core, tensor)?))
        })
        .collect()
}

/// The program with every kernel observed.
fn observe(program: &Program) -> (Program, Observed) {
    let observed = Observed::default();
    let wrap = |entry: &KernelEntry| {
        let (kernel, observed) = (Arc::clone(&entry.kernel), Arc::clone(&observed));
        let func = i64::from(entry.func_id.0);
        let wrapped = move |core: &mut Core, args: &KernelArgs<'_>| -> KernelResult {
            let before = look_at_all(core, args)?;
            kernel.run(core, args)?;
            let after = look_at_all(core, args)?;
            let call = before.into_iter().zip(after).map(|((at, before), (_, after))| (at, before, after));
            observed.lock().unwrap().push((func, call.collect()));
            Ok(())
        };
        KernelEntry { kernel: Arc::new(wrapped), ..entry.clone() }
    };
    let kernels = KernelTable::new(program.kernels.iter().map(wrap)).unwrap();
    (Program { orchestration: program.orchestration.clone(), kernels }, observed)
}

/// What a dump says of a call: the same as an observer, except for bytes that are not captured at a stage.
type Said = Vec<(u64, Option<Vec<u8>>, Option<Vec<u8>>)>;

fn said(records: &BTreeMap<Key, &Record>, task: u64) -> Said {
    let at = |stage, arg| records.get(&(task, stage, arg)).filter(|record| record.bits.is_none()).copied();
    let bytes = |record: Option<&Record>| record.map(|record| record.payload.clone().unwrap());
    (0..)
        .map_while(|arg| {
            let (before, after) = (at(Stage::BeforeDispatch, arg), at(Stage::AfterCompletion, arg));
            let record = before.or(after)?;
            Some((word(&record.json["address"]), bytes(before), bytes(after)))
        })
        .collect()
}

#[test]
fn dumps_hold_what_kernels_found_and_left() {
    let mut tasks = 0;
    for scene in all().iter().filter(|scene| scene.name != "failures") {
        let case = &scene.cases[0];
        for &runtime in case.runtimes.iter().filter(|runtime| **runtime != RuntimeKind::Hbg) {
            let subject = Subject::scene(&scene.name, &case.name, runtime);
            let (program, observed) = observe(&subject.program);
            let subject = Subject { program, ..subject };
            let request = RecordRequest { collect: COLLECTS[1], ..RecordRequest::default() };
            let dump = subject.record(&A2A3SIM, &request).complete(&scene.name);
            let mut calls = std::mem::take(&mut *observed.lock().unwrap());
            let records = dump.by_key();
            for task in dump.graph["tasks"].as_array().unwrap() {
                let funcs: Vec<_> = task["func_id"].as_array().unwrap().iter().collect();
                // Members and blocks see each other's work; only a task of one call has one truth.
                if funcs.len() != 1 || task["blocks"] != 1 {
                    continue;
                }
                let said = said(&records, word(&task["task_id"]));
                let agrees = |call: &Call| {
                    call.len() == said.len()
                        && call.iter().zip(&said).all(|((at, before, after), said)| {
                            *at == said.0
                                && said.1.as_ref().is_none_or(|bytes| bytes == before)
                                && said.2.as_ref().is_none_or(|bytes| bytes == after)
                        })
                };
                // Each call is some task's: addresses come again, so it is used up when found.
                let place = calls.iter().position(|(func, call)| *funcs[0] == *func && agrees(call));
                let place =
                    place.unwrap_or_else(|| panic!("{}: no kernel saw what is said of {task}", scene.name));
                calls.swap_remove(place);
                tasks += 1;
            }
        }
    }
    assert!(tasks > 100, "{tasks} tasks were compared");
}
