//! f = exp(b W1 + b W2) with b = sqrt(ln a): vector, matrix and vector cores one after the other, in f16 up
//! to the products.

use argus_abi::{ArgDirection, CoreType, DType, FuncId, RuntimeKind};
use argus_runtime::{EntryArgs, Fatal, Hbg, HostArgs, KernelTable, Orchestration, Program, SlotInfo};
use std::sync::Arc;

use crate::kernels::elementwise;
use crate::kernels::gemm::{self, Tiles};
use crate::reference::matmul as reference;
use argus_scene::arguments::{elements, tensor};
use argus_scene::compare::Tolerance;
use argus_scene::{Case, Expected, Prepared, Scene};

const LOG_SQRT: FuncId = FuncId(0);
const MATMUL: FuncId = FuncId(1);
const ADD_EXP: FuncId = FuncId(2);

const EDGE: u32 = reference::EDGE as u32;

pub fn scene() -> Scene {
    Scene::new("matmul", "exp(b W1 + b W2) with b = sqrt(ln a), 128 x 128 f16")
        .with_case(Case::new("default", &[RuntimeKind::Hbg], prepare).machine(3, 3))
}

fn prepare(_runtime: RuntimeKind) -> Prepared {
    let kernels = [
        elementwise::log_sqrt_raw(LOG_SQRT.0, EDGE),
        gemm::matmul_raw(MATMUL.0, "matmul", Tiles { dtype: DType::F16, ..Tiles::one(EDGE) }),
        elementwise::add_exp_raw(ADD_EXP.0, EDGE),
    ];
    Prepared {
        program: Program {
            orchestration: Orchestration::HostBuildGraph(Arc::new(build)),
            kernels: KernelTable::new(kernels).expect("three different func_ids"),
        },
        args: inputs(),
        tolerance: Tolerance::new(1e-2, 1e-2).expect("a fixed tolerance"),
        golden: Some(Box::new(|args| {
            let [a, w1, w2] = ["a", "w1", "w2"].map(|name| elements(args, name));
            Ok(vec![Expected::f32("f", &reference::golden(&a, &w1, &w2))])
        })),
        configure: Box::new(|_| ()),
        origin: None,
    }
}

fn inputs() -> HostArgs {
    let (shape, count) = ([EDGE, EDGE], (EDGE * EDGE) as usize);
    let full = |name, value: half::f16| {
        tensor(name, ArgDirection::In, DType::F16, &shape, &vec![value.to_bits(); count])
    };
    HostArgs {
        tensors: vec![
            full("a", reference::input_a()),
            full("w1", reference::input_w()),
            full("w2", reference::input_w()),
            tensor("f", ArgDirection::Out, DType::F32, &shape, &vec![0f32; count]),
        ],
        scalars: Vec::new(),
    }
}

fn build(hbg: &mut Hbg, _args: &EntryArgs) -> Result<(), Fatal> {
    let count = u64::from(EDGE * EDGE);
    let (a, w1, w2) = (hbg.upload(0)?, hbg.upload(1)?, hbg.upload(2)?);
    let b = hbg.device_malloc(count * 2)?;
    let (m1, m2) = (hbg.device_malloc(count * 4)?, hbg.device_malloc(count * 4)?);
    let f = hbg.device_malloc(count * 4)?;
    hbg.record_tensor_pair(3, f)?;
    let half = || SlotInfo::tensor(DType::F16, &[EDGE, EDGE]);
    let float = || SlotInfo::tensor(DType::F32, &[EDGE, EDGE]);
    let mut add = |args: &[u64], func, core_type, info: &[SlotInfo]| {
        hbg.add_task_with_tensor_info(args, func, core_type, info)
    };
    let product = [half(), half(), float()];
    let root = add(&[a, b], LOG_SQRT, CoreType::Aiv, &[half(), half()])?;
    let first = add(&[b, w1, m1], MATMUL, CoreType::Aic, &product)?;
    let second = add(&[b, w2, m2], MATMUL, CoreType::Aic, &product)?;
    let last = add(&[m1, m2, f], ADD_EXP, CoreType::Aiv, &[float(), float(), float()])?;
    for (from, to) in [(root, first), (root, second), (first, last), (second, last)] {
        hbg.add_successor(from, to)?;
    }
    Ok(())
}
