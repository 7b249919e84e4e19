//! Many independent sums of products: the graph that keeps all cores of a chip busy.

use argus_abi::{ArgDirection, DType, FuncId, RuntimeKind};
use argus_runtime::{
    Arg, EntryArgs, Fatal, HostArgs, KernelTable, Orchestration, Program, ScopeMode, TensorCreateInfo, Trb,
};
use std::sync::Arc;

use super::views::entry;
use crate::kernels::elementwise;
use crate::kernels::gemm::{self, Tiles};
use crate::params::Bgemm;
use crate::reference::bgemm::benchmark_golden;
use argus_scene::arguments::{elements, tensor};
use argus_scene::compare::Tolerance;
use argus_scene::generator::Generator;
use argus_scene::{Case, Expected, Prepared, Scene};

const GEMM: FuncId = FuncId(0);
const ADD: FuncId = FuncId(1);

const NAME: &str = "benchmark_bgemm";

pub fn scene() -> Scene {
    Scene::new(NAME, "independent sums of tile products, f32")
        .with_case(
            Case::new("Bgemm64", &[RuntimeKind::Trb], |_| prepare("Bgemm64", Bgemm::BGEMM64)).machine(3, 4),
        )
        .with_case(Case::new("Case0", &[RuntimeKind::Trb], |_| prepare("Case0", Bgemm::CASE0)).machine(24, 4))
}

fn prepare(case: &str, params: Bgemm) -> Prepared {
    let (edge, count) = (params.tile as u32, params.incore_loop as u64);
    let kernels = [
        gemm::matmul(GEMM.0, "GEMM", Tiles { count, ..Tiles::one(edge) }),
        elementwise::tile_add(ADD.0, "ADD", edge, count),
    ];
    let orchestrate = move |trb: &mut Trb, args: &EntryArgs| orchestrate(trb, args, params);
    Prepared {
        program: Program {
            orchestration: Orchestration::TensormapAndRingbuffer(Arc::new(orchestrate)),
            kernels: KernelTable::new(kernels).expect("two different func_ids"),
        },
        args: inputs(case, params),
        tolerance: Tolerance::new(1e-3, 1e-3).expect("a fixed tolerance"),
        golden: Some(Box::new(move |args| {
            let values = benchmark_golden(&params, &elements(args, "A"), &elements(args, "B"));
            Ok(vec![Expected::f32("C", &values)])
        })),
        configure: Box::new(|_| ()),
        origin: None,
    }
}

/// One entry of the first dimension for each task, or for each result.
fn inputs(case: &str, params: Bgemm) -> HostArgs {
    let shape =
        |entries: usize| [entries, params.incore_loop, params.tile, params.tile].map(|dim| dim as u32);
    let random = |name| {
        let generator = &mut Generator::for_argument(NAME, case, name);
        let values = generator.normal_vec_f32(params.input_elements(), 0.01);
        tensor(name, ArgDirection::In, DType::F32, &shape(params.matmul_add_task_num), &values)
    };
    let zeros = vec![0f32; params.output_elements()];
    HostArgs {
        tensors: vec![
            random("A"),
            random("B"),
            tensor("C", ArgDirection::Inout, DType::F32, &shape(params.groups()), &zeros),
        ],
        scalars: Vec::new(),
    }
}

/// A scope for each pair: its product lives until it is added, whatever else runs.
fn orchestrate(trb: &mut Trb, args: &EntryArgs, params: Bgemm) -> Result<(), Fatal> {
    let (a, b, c) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
    let like = TensorCreateInfo::new(&[params.task_elements() as u32], DType::F32)?;
    for group in 0..params.groups() {
        let sum = entry(c, group as u32)?;
        for step in 0..params.grid_k {
            let index = (group * params.grid_k + step) as u32;
            let factors = Arg::new().input(&entry(a, index)?).input(&entry(b, index)?);
            trb.scope(ScopeMode::Auto, |trb| {
                let product = trb.submit_aic(GEMM, factors.create(&like))?;
                trb.submit_aiv(ADD, Arg::new().inout(&sum).input(product.tensor(0)?))
            })?;
        }
    }
    Ok(())
}
