//! f = (a + b) + 1 in two tasks, the second in place: small enough to read a dump of it by eye. It marks the tensor
//! of the second task, so that a partial capture has something to capture.

use argus_abi::{ArgDirection, CoreType, DType, FuncId, RuntimeKind};
use argus_runtime::{
    Abg, Arg, EntryArgs, Fatal, Hbg, HostArgs, KernelTable, Orchestration, Program, SlotInfo, Trb,
};
use std::sync::Arc;

use crate::kernels::vector::{self, SIZE};
use crate::reference::vector as reference;
use argus_scene::arguments::{elements, tensor};
use argus_scene::compare::Tolerance;
use argus_scene::{Case, Expected, Prepared, Scene};

const ADD: FuncId = FuncId(0);
const ADD_SCALAR_INPLACE: FuncId = FuncId(1);

pub fn scene() -> Scene {
    Scene::new("dump_tensor_example", "two elementwise tasks, the second in place").with_case(
        Case::new("default", &[RuntimeKind::Trb, RuntimeKind::Abg, RuntimeKind::Hbg], prepare).machine(3, 3),
    )
}

fn prepare(runtime: RuntimeKind) -> Prepared {
    let kernels = match runtime {
        RuntimeKind::Hbg => [vector::add_raw(ADD.0), vector::add_scalar_inplace_raw(ADD_SCALAR_INPLACE.0)],
        RuntimeKind::Abg | RuntimeKind::Trb => {
            [vector::add(ADD.0), vector::add_scalar_inplace(ADD_SCALAR_INPLACE.0)]
        }
    };
    let orchestration = match runtime {
        RuntimeKind::Hbg => Orchestration::HostBuildGraph(Arc::new(build)),
        RuntimeKind::Abg => Orchestration::AicpuBuildGraph(Arc::new(declare)),
        RuntimeKind::Trb => Orchestration::TensormapAndRingbuffer(Arc::new(orchestrate)),
    };
    let full = |name, direction, value: f32| {
        tensor(name, direction, DType::F32, &[SIZE], &vec![value; SIZE as usize])
    };
    Prepared {
        program: Program {
            orchestration,
            kernels: KernelTable::new(kernels).expect("two different func_ids"),
        },
        args: HostArgs {
            tensors: vec![
                full("a", ArgDirection::In, 2.0),
                full("b", ArgDirection::In, 3.0),
                full("f", ArgDirection::Out, 0.0),
            ],
            scalars: Vec::new(),
        },
        tolerance: Tolerance::new(1e-5, 1e-5).expect("a fixed tolerance"),
        golden: Some(Box::new(|args| {
            let values = reference::dump_tensor_golden(&elements(args, "a"), &elements(args, "b"));
            Ok(vec![Expected::f32("f", &values)])
        })),
        configure: Box::new(|_| ()),
        origin: None,
    }
}

fn orchestrate(trb: &mut Trb, args: &EntryArgs) -> Result<(), Fatal> {
    let (a, b, f) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
    trb.submit_aiv(ADD, Arg::new().input(a).input(b).output(f))?;
    trb.submit_aiv(ADD_SCALAR_INPLACE, Arg::new().inout(f).dump().scalar_f32(1.0))?;
    Ok(())
}

fn declare(abg: &mut Abg, args: &EntryArgs) -> Result<(), Fatal> {
    let (a, b, f) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
    let sum = abg.submit_aiv(ADD, Arg::new().input(a).input(b).output(f))?;
    let more = abg.submit_aiv(ADD_SCALAR_INPLACE, Arg::new().inout(f).dump().scalar_f32(1.0))?;
    abg.add_dependency(sum.task_id(), more.task_id())
}

fn build(hbg: &mut Hbg, _args: &EntryArgs) -> Result<(), Fatal> {
    let count = u64::from(SIZE);
    let (a, b) = (hbg.upload(0)?, hbg.upload(1)?);
    let f = hbg.device_malloc(count * 4)?;
    hbg.record_tensor_pair(2, f)?;
    let vector = || SlotInfo::tensor(DType::F32, &[SIZE]);
    let number = SlotInfo::Scalar;
    let info = [vector(), vector(), vector(), number(DType::U64)];
    let sum = hbg.add_task_with_tensor_info(&[a, b, f, count], ADD, CoreType::Aiv, &info)?;
    let args = [f, u64::from(1.0f32.to_bits()), count];
    let more = hbg.add_task(&args, ADD_SCALAR_INPLACE, CoreType::Aiv)?;
    hbg.set_tensor_info_to_task(more, &[vector(), number(DType::F32), number(DType::U64)])?;
    hbg.dump(more, &[0])?;
    hbg.add_successor(sum, more)
}
