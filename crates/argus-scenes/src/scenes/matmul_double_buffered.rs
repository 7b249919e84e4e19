//! One product in steps of k, the next tiles loading while the last multiply.

use argus_abi::{ArgDirection, CoreType, DType, FuncId, RuntimeKind};
use argus_runtime::{
    Arg, EntryArgs, Fatal, Hbg, HostArgs, KernelTable, Orchestration, Program, SlotInfo, Trb,
};
use std::sync::Arc;

use crate::kernels::double_buffered::{self as kernels, Sizes};
use crate::reference::double_buffered::{DIMS, K_TILE, golden};
use argus_scene::arguments::{elements, tensor};
use argus_scene::compare::Tolerance;
use argus_scene::generator::Generator;
use argus_scene::{Case, Expected, Prepared, Scene};

const MATMUL: FuncId = FuncId(0);

const SIZES: Sizes = Sizes { m: DIMS.m as u32, k: DIMS.k as u32, n: DIMS.n as u32, k_tile: K_TILE as u32 };

const NAME: &str = "matmul_double_buffered";

pub fn scene() -> Scene {
    Scene::new(NAME, "a 64 x 512 x 64 f32 product whose loads run ahead")
        .with_case(Case::new("default", &[RuntimeKind::Trb, RuntimeKind::Hbg], prepare).machine(1, 2))
}

fn prepare(runtime: RuntimeKind) -> Prepared {
    let (kernel, orchestration) = if runtime == RuntimeKind::Hbg {
        (kernels::matmul_raw(MATMUL.0, SIZES), Orchestration::HostBuildGraph(Arc::new(build)))
    } else {
        (kernels::matmul(MATMUL.0, SIZES), Orchestration::TensormapAndRingbuffer(Arc::new(orchestrate)))
    };
    Prepared {
        program: Program { orchestration, kernels: KernelTable::new([kernel]).expect("one func_id") },
        args: inputs(),
        tolerance: Tolerance::new(1e-5, 1e-5).expect("a fixed tolerance"),
        golden: Some(Box::new(|args| {
            let values = golden(&elements(args, "A"), &elements(args, "B"), DIMS, K_TILE);
            Ok(vec![Expected::f32("C", &values)])
        })),
        configure: Box::new(|_| ()),
        origin: None,
    }
}

fn inputs() -> HostArgs {
    let random = |name, rows: usize, cols: usize| {
        let values = Generator::for_argument(NAME, "default", name).normal_vec_f32(rows * cols, 1.0);
        tensor(name, ArgDirection::In, DType::F32, &[rows as u32, cols as u32], &values)
    };
    let zeros = vec![0f32; DIMS.m * DIMS.n];
    HostArgs {
        tensors: vec![
            random("A", DIMS.m, DIMS.k),
            random("B", DIMS.k, DIMS.n),
            tensor("C", ArgDirection::Out, DType::F32, &[DIMS.m as u32, DIMS.n as u32], &zeros),
        ],
        scalars: Vec::new(),
    }
}

fn orchestrate(trb: &mut Trb, args: &EntryArgs) -> Result<(), Fatal> {
    let (a, b, c) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
    trb.submit_aic(MATMUL, Arg::new().input(a).input(b).output(c))?;
    Ok(())
}

fn build(hbg: &mut Hbg, _args: &EntryArgs) -> Result<(), Fatal> {
    let (a, b) = (hbg.upload(0)?, hbg.upload(1)?);
    let c = hbg.device_malloc((DIMS.m * DIMS.n * 4) as u64)?;
    hbg.record_tensor_pair(2, c)?;
    let matrix = |rows: usize, cols: usize| SlotInfo::tensor(DType::F32, &[rows as u32, cols as u32]);
    let info = [matrix(DIMS.m, DIMS.k), matrix(DIMS.k, DIMS.n), matrix(DIMS.m, DIMS.n)];
    hbg.add_task_with_tensor_info(&[a, b, c], MATMUL, CoreType::Aic, &info)?;
    Ok(())
}
