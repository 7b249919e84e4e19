//! f = (a + b + 1)(a + b + 2), and on the ring-buffer runtime + (a + b): the smallest graph with a diamond.

use argus_abi::{ArgDirection, CoreType, DType, FuncId, RuntimeKind};
use argus_runtime::{
    Arg, EntryArgs, Fatal, Hbg, HostArgs, KernelTable, Orchestration, Program, ScopeMode, SlotInfo,
    TensorCreateInfo, Trb,
};
use std::sync::Arc;

use crate::kernels::vector::{self, SIZE};
use crate::reference::vector as reference;
use argus_scene::arguments::{elements, tensor};
use argus_scene::compare::Tolerance;
use argus_scene::{Case, Expected, Prepared, Scene};

const ADD: FuncId = FuncId(0);
const ADD_SCALAR: FuncId = FuncId(1);
const MUL: FuncId = FuncId(2);

pub fn scene() -> Scene {
    Scene::new("vector_example", "a diamond of elementwise kernels on 16384 f32")
        .with_case(Case::new("default", &[RuntimeKind::Trb, RuntimeKind::Hbg], prepare).machine(3, 4))
}

fn prepare(runtime: RuntimeKind) -> Prepared {
    let hbg = runtime == RuntimeKind::Hbg;
    let kernels = if hbg {
        [vector::add_raw(ADD.0), vector::add_scalar_raw(ADD_SCALAR.0), vector::mul_raw(MUL.0)]
    } else {
        [vector::add(ADD.0), vector::add_scalar_tensor(ADD_SCALAR.0), vector::mul(MUL.0)]
    };
    let orchestration = if hbg {
        Orchestration::HostBuildGraph(Arc::new(build))
    } else {
        Orchestration::TensormapAndRingbuffer(Arc::new(orchestrate))
    };
    Prepared {
        program: Program {
            orchestration,
            kernels: KernelTable::new(kernels).expect("three different func_ids"),
        },
        args: inputs(),
        tolerance: Tolerance::new(1e-5, 1e-5).expect("a fixed tolerance"),
        golden: Some(Box::new(move |args| {
            let (a, b) = (elements(args, "a"), elements(args, "b"));
            let golden = if hbg { reference::hbg_golden } else { reference::trb_golden };
            Ok(vec![Expected::f32("f", &golden(&a, &b))])
        })),
        configure: Box::new(|_| ()),
        origin: None,
    }
}

fn inputs() -> HostArgs {
    let full = |name, direction, value: f32| {
        tensor(name, direction, DType::F32, &[SIZE], &vec![value; SIZE as usize])
    };
    HostArgs {
        tensors: vec![
            full("a", ArgDirection::In, 2.0),
            full("b", ArgDirection::In, 3.0),
            full("f", ArgDirection::Out, 0.0),
        ],
        scalars: Vec::new(),
    }
}

fn orchestrate(trb: &mut Trb, args: &EntryArgs) -> Result<(), Fatal> {
    let (a, b, f) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
    let like = TensorCreateInfo::new(&[SIZE], DType::F32)?;
    let sum = trb.submit_aiv(ADD, Arg::new().input(a).input(b).create(&like))?;
    let c = *sum.tensor(0)?;
    trb.scope(ScopeMode::Auto, |trb| {
        let plus = |scalar| Arg::new().input(&c).create(&like).scalar_f32(scalar).scalar_of(DType::U32, 3);
        let d = trb.submit_aiv(ADD_SCALAR, plus(1.0))?;
        let e = trb.submit_aiv(ADD_SCALAR, plus(2.0))?;
        let product = Arg::new().input(d.tensor(0)?).input(e.tensor(0)?).create(&like);
        let g = trb.submit_aiv(MUL, product.scalar_of(DType::U32, 3))?;
        trb.submit_aiv(ADD, Arg::new().input(g.tensor(0)?).input(&c).output(f))?;
        Ok(())
    })
}

fn build(hbg: &mut Hbg, _args: &EntryArgs) -> Result<(), Fatal> {
    let bytes = u64::from(SIZE) * 4;
    let (a, b) = (hbg.upload(0)?, hbg.upload(1)?);
    let [c, d, e, f] = [(); 4].map(|()| hbg.device_malloc(bytes));
    let (c, d, e, f) = (c?, d?, e?, f?);
    hbg.record_tensor_pair(2, f)?;
    let (count, scalar) = (u64::from(SIZE), |value: f32| u64::from(value.to_bits()));
    let vector = || SlotInfo::tensor(DType::F32, &[SIZE]);
    let number = SlotInfo::Scalar;
    let binary = [vector(), vector(), vector(), number(DType::U64)];
    let unary = [vector(), number(DType::F32), vector(), number(DType::U64)];
    let mut add = |args: &[u64], func, info: &[SlotInfo]| {
        hbg.add_task_with_tensor_info(args, func, CoreType::Aiv, info)
    };
    let sum = add(&[a, b, c, count], ADD, &binary)?;
    let plus_one = add(&[c, scalar(1.0), d, count], ADD_SCALAR, &unary)?;
    let plus_two = add(&[c, scalar(2.0), e, count], ADD_SCALAR, &unary)?;
    let product = add(&[d, e, f, count], MUL, &binary)?;
    for (from, to) in [(sum, plus_one), (sum, plus_two), (plus_one, product), (plus_two, product)] {
        hbg.add_successor(from, to)?;
    }
    Ok(())
}
