//! C = A B on a grid of tiles: matrix cores multiply, vector cores add up, edges by hand.

use argus_abi::{ArgDirection, CoreType, DType, FuncId, RuntimeKind};
use argus_runtime::{EntryArgs, Fatal, Hbg, HostArgs, KernelTable, Orchestration, Program, SlotInfo};
use std::sync::Arc;

use crate::kernels::elementwise;
use crate::kernels::gemm::{self, Tiles};
use crate::reference::bgemm::{Grid, hbg_golden};
use argus_scene::arguments::{elements, tensor};
use argus_scene::compare::Tolerance;
use argus_scene::generator::Generator;
use argus_scene::{Case, Expected, Prepared, Scene};

const GEMM_TILE: FuncId = FuncId(0);
const TILE_ADD: FuncId = FuncId(1);

const GRID: Grid = Grid::HBG;
const EDGE: u32 = GRID.tile as u32;
const TILE_BYTES: u64 = (GRID.tile * GRID.tile * 4) as u64;

const NAME: &str = "bgemm";

pub fn scene() -> Scene {
    Scene::new(NAME, "a product of 4 x 4 grids of 64 x 64 f32 tiles")
        .with_case(Case::new("default", &[RuntimeKind::Hbg], prepare).machine(24, 3))
}

fn prepare(_runtime: RuntimeKind) -> Prepared {
    let kernels = [
        gemm::matmul_raw(GEMM_TILE.0, "gemm_tile", Tiles::one(EDGE)),
        elementwise::tile_add_raw(TILE_ADD.0, "tile_add", EDGE),
    ];
    Prepared {
        program: Program {
            orchestration: Orchestration::HostBuildGraph(Arc::new(build)),
            kernels: KernelTable::new(kernels).expect("two different func_ids"),
        },
        args: inputs(),
        tolerance: Tolerance::new(1e-3, 1e-3).expect("a fixed tolerance"),
        golden: Some(Box::new(|args| {
            let values = hbg_golden(&elements(args, "A"), &elements(args, "B"), GRID);
            Ok(vec![Expected::f32("C", &values)])
        })),
        configure: Box::new(|_| ()),
        origin: None,
    }
}

fn inputs() -> HostArgs {
    let shape = |rows: usize, cols: usize| [rows as u32, cols as u32, EDGE, EDGE];
    let random = |name, rows: usize, cols: usize| {
        let count = rows * cols * GRID.tile * GRID.tile;
        let values = Generator::for_argument(NAME, "default", name).normal_vec_f32(count, 0.01);
        tensor(name, ArgDirection::In, DType::F32, &shape(rows, cols), &values)
    };
    let tiles = GRID.tiles;
    let zeros = vec![0f32; tiles.m * tiles.n * GRID.tile * GRID.tile];
    HostArgs {
        tensors: vec![
            random("A", tiles.m, tiles.k),
            random("B", tiles.k, tiles.n),
            tensor("C", ArgDirection::Inout, DType::F32, &shape(tiles.m, tiles.n), &zeros),
        ],
        scalars: Vec::new(),
    }
}

/// One scratch tile per tile of C: a product is added before the next one takes its place.
fn build(hbg: &mut Hbg, _args: &EntryArgs) -> Result<(), Fatal> {
    let (a, b, c) = (hbg.upload(0)?, hbg.upload(1)?, hbg.upload(2)?);
    hbg.record_tensor_pair(2, c)?;
    let tiles = GRID.tiles;
    let scratch = hbg.device_malloc((tiles.m * tiles.n) as u64 * TILE_BYTES)?;
    let tile_at = |base: u64, index: usize| base + index as u64 * TILE_BYTES;
    for row in 0..tiles.m {
        for column in 0..tiles.n {
            let (sum, product) = (row * tiles.n + column, tile_at(scratch, row * tiles.n + column));
            let mut before = None;
            for step in 0..tiles.k {
                let (left, right) = (row * tiles.k + step, step * tiles.n + column);
                let factors = [tile_at(a, left), tile_at(b, right), product];
                let sums = [tile_at(c, sum), product];
                let multiply = add(hbg, &factors, GEMM_TILE, CoreType::Aic)?;
                let add = add(hbg, &sums, TILE_ADD, CoreType::Aiv)?;
                hbg.add_successor(multiply, add)?;
                if let Some(before) = before.replace(add) {
                    hbg.add_successor(before, multiply)?;
                }
            }
        }
    }
    Ok(())
}

/// Adds a task whose arguments are all tiles.
fn add(hbg: &mut Hbg, tiles: &[u64], func: FuncId, core_type: CoreType) -> Result<usize, Fatal> {
    let tile = SlotInfo::tensor(DType::F32, &[GRID.tile as u32, GRID.tile as u32]);
    hbg.add_task_with_tensor_info(tiles, func, core_type, &vec![tile; tiles.len()])
}
