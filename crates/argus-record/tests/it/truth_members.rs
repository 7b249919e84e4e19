//! Mixes and blocks: one set of records per task, whatever the number of cores that worked on it.

use argus_abi::{DType, RuntimeKind};
use argus_scenes::reference::gemm::{Dims, gemm};
use argus_scenes::reference::vector::{add, mul};
use argus_scenes::reference::{mixed, pipe_mix, spmd};

use crate::model::{A, Id, Model, View, bytes, f32s};
use crate::setup::Subject;

fn mix(task: u64, funcs: &[i64]) -> Id<'_> {
    Id { task, funcs, blocks: 1 }
}

/// What one member of a mix computes from its two operands.
type Member = fn(&[f32], &[f32]) -> Vec<f32>;

/// Operands and result by letter, and what is computed, of each member.
type Members = &'static [(&'static str, Member)];

fn matrix(a: &[f32], b: &[f32]) -> Vec<f32> {
    gemm(a, b, Dims::square(mixed::EDGE))
}

#[test]
fn mixed_example_has_one_set_of_records_per_task_that_names_all_members() {
    const MATMUL: i64 = 0;
    const ADD: i64 = 1;
    const MUL: i64 = 2;
    const ADD_STANDALONE: i64 = 3;
    const MUL_STANDALONE: i64 = 4;
    for (case, iterations) in [("case2", 1), ("case1", 4)] {
        let subject = Subject::scene("mixed_example", case, RuntimeKind::Trb);
        let mut model = Model::default();
        let all = model.arguments(&subject.args);
        for iteration in 0..iterations {
            let at = |letter: char| {
                let place = "ABDEGHCFIJKLMNO".find(letter).unwrap();
                all[place].rows(iteration, 1)
            };
            let tasks: [(&[i64], Members); 5] = [
                (&[MATMUL, ADD, MUL], &[("ABC", matrix), ("DEF", add), ("GHI", mul)]),
                (&[MATMUL], &[("ABJ", matrix)]),
                (&[ADD_STANDALONE], &[("DEK", add)]),
                // The standalone kernel finds its operands in the first slots, whatever its place in the mix.
                (&[ADD, MUL_STANDALONE], &[("GHM", mul), ("DEL", add)]),
                (&[MATMUL, ADD], &[("ABN", matrix), ("DEO", add)]),
            ];
            for (index, (funcs, members)) in tasks.into_iter().enumerate() {
                let args: Vec<A> = members
                    .iter()
                    .flat_map(|(letters, _)| letters.chars().enumerate())
                    .map(|(place, letter)| if place == 2 { A::Out(at(letter)) } else { A::In(at(letter)) })
                    .collect();
                model.run(mix((iteration * 5 + index) as u64, funcs), &args, |tensors| {
                    let operands = tensors.chunks_exact(3).zip(members);
                    operands.map(|(of, (_, f))| bytes(&f(&f32s(&of[0]), &f32s(&of[1])))).collect()
                });
            }
        }
        subject.assert_true(&model);
    }
}

#[test]
fn pipe_mix_has_one_set_of_records_per_task_of_three_members() {
    const TASKS: usize = 8;
    const ROWS: usize = 32;
    let subject = Subject::scene("pipe_mix", "default", RuntimeKind::Trb);
    let mut model = Model::default();
    let [a, b, bias, c] = <[View; 4]>::try_from(model.arguments(&subject.args)).unwrap();
    for index in 0..TASKS {
        let rows = |view: &View| view.rows(index * ROWS, ROWS);
        let args = [A::In(rows(&a)), A::In(b.clone()), A::In(rows(&bias)), A::Out(rows(&c))];
        model.run(mix(index as u64, &[0, 1, 1]), &args, |tensors| {
            let [a, b, bias] = [0, 1, 2].map(|index: usize| f32s(&tensors[index]));
            let dims = Dims { m: ROWS, k: a.len() / ROWS, n: bias.len() / ROWS };
            vec![bytes(&pipe_mix::golden(&a, &b, &bias, dims))]
        });
    }
    subject.assert_true(&model);
}

/// A scene whose tasks each change some lines of the one argument; `golden` is all of them.
fn assert_lines(scene: &str, members: &[i64], blocks: &[usize], golden: &[f32]) {
    let subject = Subject::scene(scene, "Case1", RuntimeKind::Trb);
    let mut model = Model::default();
    let output = model.arguments(&subject.args).remove(0);
    let mut first = 0;
    for (index, &blocks) in blocks.iter().enumerate() {
        let lines = blocks * members.len();
        let id = Id { task: index as u64, funcs: members, blocks: blocks as u64 };
        let written = bytes(&golden[first * spmd::LINE..(first + lines) * spmd::LINE]);
        model.run(id, &[A::Inout(output.rows(first, lines))], |_| vec![written]);
        first += lines;
    }
    subject.assert_true(&model);
}

#[test]
fn spmd_scenes_have_one_set_of_records_per_task_not_per_block() {
    assert_lines("spmd_basic", &[0, 1, 2], &[1], &spmd::basic_golden());
    let golden = spmd::multiblock_aiv_golden();
    assert_lines("spmd_multiblock_aiv", &[0], &spmd::MULTIBLOCK_AIV, &golden);
    let golden = spmd::multiblock_mix_golden();
    assert_lines("spmd_multiblock_mix", &[0, 1, 2], &spmd::MULTIBLOCK_MIX, &golden);
}

#[test]
fn cohorts_have_one_set_of_records_per_task() {
    let subject = Subject::scene("spmd_sync_start", "Case1", RuntimeKind::Trb);
    let golden = spmd::sync_start_golden();
    let mut model = Model::default();
    let output = model.arguments(&subject.args).remove(0);
    let mut first = 0;
    let last = spmd::SYNC_START.len() - 1;
    for (index, &blocks) in spmd::SYNC_START.iter().enumerate() {
        let lines = blocks * spmd::MIX_MEMBERS;
        let written = bytes(&golden[first * spmd::LINE..(first + lines) * spmd::LINE]);
        let funcs: &[i64] = if index == last { &[3, 4, 5] } else { &[0, 1, 2] };
        let id = Id { task: index as u64, funcs, blocks: blocks as u64 };
        let own = A::Inout(output.rows(first, lines));
        first += lines;
        if index == last {
            model.run(id, &[own], |_| vec![written]);
            continue;
        }
        // Every member of every block leaves a mark in a line of its own, the rest stays 0.
        let marks = model.fresh(DType::I32, &[lines as u32, spmd::LINE as u32]);
        let mut left = vec![0i32; lines * spmd::LINE];
        left.iter_mut().step_by(spmd::LINE).for_each(|mark| *mark = 1);
        model.run(id, &[own, A::Out(marks)], |_| vec![written, bytes(&left)]);
    }
    subject.assert_true(&model);
}
