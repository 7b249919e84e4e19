//! Five tasks per iteration, one for each way to combine a matrix core and vector cores of a cluster.

use argus_abi::{ArgDirection, DType, FuncId, RuntimeKind, Tensor};
use argus_runtime::{
    Arg, EntryArgs, Fatal, HostArgs, KernelTable, MixedKernels, Orchestration, Program, Trb,
};
use std::sync::Arc;

use super::views::entry;
use crate::kernels::elementwise;
use crate::kernels::gemm::{self, Tiles};
use crate::reference::mixed::{self as reference, Inputs};
use argus_scene::arguments::{elements, tensor};
use argus_scene::compare::Tolerance;
use argus_scene::generator::Generator;
use argus_scene::{Case, Expected, Prepared, Scene};

/// Operands in slots 0, 1, 2.
const MATMUL: FuncId = FuncId(0);
/// Operands in slots 3, 4, 5.
const ADD: FuncId = FuncId(1);
/// Operands in slots 6, 7, 8.
const MUL: FuncId = FuncId(2);
/// Operands in slots 0, 1, 2.
const ADD_STANDALONE: FuncId = FuncId(3);
/// Operands in slots 0, 1, 2.
const MUL_STANDALONE: FuncId = FuncId(4);

const EDGE: u32 = reference::EDGE as u32;
const INPUTS: [&str; 6] = ["A", "B", "D", "E", "G", "H"];
const OUTPUTS: [&str; 9] = ["C", "F", "I", "J", "K", "L", "M", "N", "O"];

const NAME: &str = "mixed_example";

pub fn scene() -> Scene {
    Scene::new(NAME, "every combination of matrix and vector cores in one task, 128 x 128 f32")
        .with_case(Case::new("case1", &[RuntimeKind::Trb], |_| prepare("case1", 4)).machine(3, 4))
        .with_case(Case::new("case2", &[RuntimeKind::Trb], |_| prepare("case2", 1)).machine(3, 4))
}

fn prepare(case: &str, iterations: u32) -> Prepared {
    let kernels = [
        gemm::matmul(MATMUL.0, "MATMUL", Tiles::one(EDGE)),
        elementwise::add_from(ADD.0, "ADD", EDGE, 3),
        elementwise::mul_from(MUL.0, "MUL", EDGE, 6),
        elementwise::add_from(ADD_STANDALONE.0, "ADD_STANDALONE", EDGE, 0),
        elementwise::mul_from(MUL_STANDALONE.0, "MUL_STANDALONE", EDGE, 0),
    ];
    let orchestrate = move |trb: &mut Trb, args: &EntryArgs| {
        (0..iterations).try_for_each(|iteration| iterate(trb, args, iteration))
    };
    Prepared {
        program: Program {
            orchestration: Orchestration::TensormapAndRingbuffer(Arc::new(orchestrate)),
            kernels: KernelTable::new(kernels).expect("five different func_ids"),
        },
        args: inputs(case, iterations),
        tolerance: Tolerance::new(1e-3, 1e-3).expect("a fixed tolerance"),
        golden: Some(Box::new(|args| Ok(golden(args)))),
        configure: Box::new(|_| ()),
        origin: None,
    }
}

fn inputs(case: &str, iterations: u32) -> HostArgs {
    let shape = [iterations, EDGE, EDGE];
    let count = (iterations * EDGE * EDGE) as usize;
    let random = INPUTS.map(|name| {
        let values = Generator::for_argument(NAME, case, name).normal_vec_f32(count, 1.0);
        tensor(name, ArgDirection::In, DType::F32, &shape, &values)
    });
    let zeros = vec![0f32; count];
    let empty = OUTPUTS.map(|name| tensor(name, ArgDirection::Out, DType::F32, &shape, &zeros));
    HostArgs { tensors: random.into_iter().chain(empty).collect(), scalars: Vec::new() }
}

fn golden(args: &HostArgs) -> Vec<Expected> {
    let [a, b, d, e, g, h] = INPUTS.map(|name| elements::<f32>(args, name));
    let outputs = reference::golden(&Inputs { a: &a, b: &b, d: &d, e: &e, g: &g, h: &h });
    let expected = outputs.named().map(|(name, values)| Expected::f32(name, values));
    expected.into()
}

fn iterate(trb: &mut Trb, args: &EntryArgs, iteration: u32) -> Result<(), Fatal> {
    let matrix = |index: usize| entry(args.tensor(index)?, iteration);
    let (a, b, d, e) = (matrix(0)?, matrix(1)?, matrix(2)?, matrix(3)?);
    let (g, h) = (matrix(4)?, matrix(5)?);
    let output = |index: usize| matrix(INPUTS.len() + index);
    let operands = |arg: Arg, x: &Tensor, y: &Tensor, z: Tensor| arg.input(x).input(y).output(&z);

    let arg = operands(Arg::new(), &a, &b, output(0)?);
    let arg = operands(operands(arg, &d, &e, output(1)?), &g, &h, output(2)?);
    trb.submit(MixedKernels { aic: Some(MATMUL), aiv0: Some(ADD), aiv1: Some(MUL) }, arg)?;

    trb.submit_aic(MATMUL, operands(Arg::new(), &a, &b, output(3)?))?;

    trb.submit_aiv(ADD_STANDALONE, operands(Arg::new(), &d, &e, output(4)?))?;

    let arg = operands(operands(Arg::new(), &g, &h, output(6)?), &d, &e, output(5)?);
    trb.submit(MixedKernels { aic: None, aiv0: Some(ADD), aiv1: Some(MUL_STANDALONE) }, arg)?;

    let arg = operands(operands(Arg::new(), &a, &b, output(7)?), &d, &e, output(8)?);
    trb.submit(MixedKernels { aic: Some(MATMUL), aiv0: Some(ADD), aiv1: None }, arg)?;
    Ok(())
}
