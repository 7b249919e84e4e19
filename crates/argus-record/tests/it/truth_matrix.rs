//! The scenes of products: every record against the references.

use argus_abi::{DType, RuntimeKind};
use argus_scenes::params::Bgemm;
use argus_scenes::reference::bgemm::Grid;
use argus_scenes::reference::gemm::{Dims, gemm, tile_add};
use argus_scenes::reference::{double_buffered, matmul};

use crate::model::{A, Model, View, bytes, f32s, task, u16s};
use crate::setup::Subject;

const FIRST: [i64; 1] = [0];
const SECOND: [i64; 1] = [1];
const THIRD: [i64; 1] = [2];

#[test]
fn matmul_is_dumped_as_the_references_compute_it() {
    let subject = Subject::scene("matmul", "default", RuntimeKind::Hbg);
    let edge = matmul::EDGE as u32;
    let shape = [edge, edge];
    let mut model = Model::default();
    let [a, w1, w2, _] = <[View; 4]>::try_from(model.arguments(&subject.args)).unwrap();
    let b = model.fresh(DType::F16, &shape);
    let [m1, m2, f] = [(); 3].map(|()| model.fresh(DType::F32, &shape));
    model.run(task(0, &FIRST), &[A::In(a), A::Out(b.clone())], |tensors| {
        vec![bytes(&matmul::log_sqrt(&u16s(&tensors[0])))]
    });
    for (id, weights, product) in [(1, w1, &m1), (2, w2, &m2)] {
        let args = [A::In(b.clone()), A::In(weights), A::Out(product.clone())];
        model.run(task(id, &SECOND), &args, |tensors| {
            let dims = Dims::square(matmul::EDGE);
            vec![bytes(&matmul::matmul(&u16s(&tensors[0]), &u16s(&tensors[1]), dims))]
        });
    }
    model.run(task(3, &THIRD), &[A::In(m1), A::In(m2), A::Out(f)], |tensors| {
        vec![bytes(&matmul::add_exp(&f32s(&tensors[0]), &f32s(&tensors[1])))]
    });
    subject.assert_true(&model);
}

fn product(edge: usize) -> impl Fn(&[Vec<u8>]) -> Vec<Vec<u8>> {
    move |tensors| vec![bytes(&gemm(&f32s(&tensors[0]), &f32s(&tensors[1]), Dims::square(edge)))]
}

fn sum(tensors: &[Vec<u8>]) -> Vec<Vec<u8>> {
    vec![bytes(&tile_add(&f32s(&tensors[0]), &f32s(&tensors[1])))]
}

#[test]
fn bgemm_is_dumped_as_the_references_compute_it() {
    let subject = Subject::scene("bgemm", "default", RuntimeKind::Hbg);
    let Grid { tiles, tile } = Grid::HBG;
    let shape = [tile as u32, tile as u32];
    let elements = (tile * tile) as u32;
    let mut model = Model::default();
    let flat = |view: View, count: usize| view.reshape(&[count as u32, elements]);
    let [a, b, c] = <[View; 3]>::try_from(model.arguments(&subject.args)).unwrap();
    let (a, b, c) = (flat(a, tiles.m * tiles.k), flat(b, tiles.k * tiles.n), flat(c, tiles.m * tiles.n));
    let scratch = model.fresh(DType::F32, &[(tiles.m * tiles.n) as u32, elements]);
    let tile_of = |view: &View, index: usize| view.rows(index, 1).as_address(&shape);
    let mut id = 0;
    for row in 0..tiles.m {
        for column in 0..tiles.n {
            let at = row * tiles.n + column;
            for step in 0..tiles.k {
                let (left, right) = (row * tiles.k + step, step * tiles.n + column);
                let (left, right) = (tile_of(&a, left), tile_of(&b, right));
                let between = tile_of(&scratch, at);
                let args = [A::In(left), A::In(right), A::Out(between.clone())];
                model.run(task(id, &FIRST), &args, product(tile));
                model.run(task(id + 1, &SECOND), &[A::Inout(tile_of(&c, at)), A::In(between)], sum);
                id += 2;
            }
        }
    }
    subject.assert_true(&model);
}

#[test]
fn benchmark_bgemm_is_dumped_as_the_references_compute_it() {
    let subject = Subject::scene("benchmark_bgemm", "Bgemm64", RuntimeKind::Trb);
    let params = Bgemm::BGEMM64;
    let mut model = Model::default();
    let [a, b, c] = <[View; 3]>::try_from(model.arguments(&subject.args)).unwrap();
    // A scope for each pair: all tasks are on the second ring.
    let mut id = 0x1_0000_0000;
    for group in 0..params.groups() {
        for step in 0..params.grid_k {
            let index = group * params.grid_k + step;
            let between = model.fresh(DType::F32, &[params.task_elements() as u32]);
            let args = [A::In(a.rows(index, 1)), A::In(b.rows(index, 1)), A::Out(between.clone())];
            model.run(task(id, &FIRST), &args, product(params.tile));
            model.run(task(id + 1, &SECOND), &[A::Inout(c.rows(group, 1)), A::In(between)], sum);
            id += 2;
        }
    }
    subject.assert_true(&model);
}

#[test]
fn matmul_double_buffered_is_dumped_as_the_reference_computes_it() {
    for runtime in [RuntimeKind::Trb, RuntimeKind::Hbg] {
        let subject = Subject::scene("matmul_double_buffered", "default", runtime);
        let mut model = Model::default();
        let [a, b, c] = <[View; 3]>::try_from(model.arguments(&subject.args)).unwrap();
        model.run(task(0, &FIRST), &[A::In(a), A::In(b), A::Out(c)], |tensors| {
            let (dims, k_tile) = (double_buffered::DIMS, double_buffered::K_TILE);
            vec![bytes(&double_buffered::golden(&f32s(&tensors[0]), &f32s(&tensors[1]), dims, k_tile))]
        });
        subject.assert_true(&model);
    }
}
