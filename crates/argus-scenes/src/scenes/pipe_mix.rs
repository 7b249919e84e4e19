//! C = A B + bias: the matrix core of a cluster hands its products to both vector cores through a pipe.

use argus_abi::{ArgDirection, DType, FuncId, RuntimeKind};
use argus_runtime::{
    Arg, EntryArgs, Fatal, HostArgs, KernelTable, MixedKernels, Orchestration, Program, Trb,
};
use std::sync::Arc;

use super::views::entries;
use crate::kernels::pipe_mix::{self as kernels, DEPTH, ROWS, WIDTH};
use crate::reference::gemm::Dims;
use crate::reference::pipe_mix as reference;
use argus_scene::arguments::{elements, tensor};
use argus_scene::compare::Tolerance;
use argus_scene::generator::Generator;
use argus_scene::{Case, Expected, Prepared, Scene};

const MATMUL_PUSH: FuncId = FuncId(0);
const POP_ADD_BIAS: FuncId = FuncId(1);

/// More tasks than the case has clusters, so that pipes are used by one task after the other.
const TASKS: u32 = 8;
const DIMS: Dims = Dims { m: (TASKS * ROWS) as usize, k: DEPTH as usize, n: WIDTH as usize };

const NAME: &str = "pipe_mix";

pub fn scene() -> Scene {
    Scene::new(NAME, "matrix core to vector cores through a pipe of two slots, f32")
        .with_case(Case::new("default", &[RuntimeKind::Trb], prepare).machine(3, 4))
}

fn prepare(_runtime: RuntimeKind) -> Prepared {
    let kernels = [kernels::matmul_push(MATMUL_PUSH.0), kernels::pop_add_bias(POP_ADD_BIAS.0)];
    Prepared {
        program: Program {
            orchestration: Orchestration::TensormapAndRingbuffer(Arc::new(orchestrate)),
            kernels: KernelTable::new(kernels).expect("two different func_ids"),
        },
        args: inputs(),
        tolerance: Tolerance::new(1e-5, 1e-5).expect("a fixed tolerance"),
        golden: Some(Box::new(|args| {
            let [a, b, bias] = ["A", "B", "bias"].map(|name| elements(args, name));
            Ok(vec![Expected::f32("C", &reference::golden(&a, &b, &bias, DIMS))])
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
            random("bias", DIMS.m, DIMS.n),
            tensor("C", ArgDirection::Out, DType::F32, &[DIMS.m as u32, DIMS.n as u32], &zeros),
        ],
        scalars: Vec::new(),
    }
}

/// Each task takes its rows of A, of the bias and of C, and all of B.
fn orchestrate(trb: &mut Trb, args: &EntryArgs) -> Result<(), Fatal> {
    let kernels = MixedKernels { aic: Some(MATMUL_PUSH), aiv0: Some(POP_ADD_BIAS), aiv1: Some(POP_ADD_BIAS) };
    for task in 0..TASKS {
        let rows = |index: usize| entries(args.tensor(index)?, task * ROWS, ROWS);
        let arg = Arg::new().input(&rows(0)?).input(args.tensor(1)?).input(&rows(2)?).output(&rows(3)?);
        trb.submit(kernels, arg)?;
    }
    Ok(())
}
