//! Paged attention on all runtimes: every record against the references, and CaseSmall1 against a table.

use argus_abi::DType::{Bf16, F32, U64};
use argus_abi::Role::{Inout, Input, Output};
use argus_abi::Stage::{AfterCompletion as After, BeforeDispatch as Before};
use argus_abi::{DType, Kind, RuntimeKind};
use argus_chip::A2A3SIM;
use argus_scene::arguments::elements;
use argus_scenes::params::PagedAttention;
use argus_scenes::reference::paged_attention::{Partial, online_update, pv, qk, softmax_prepare};

use crate::model::{A, Model, View, bytes, f32s, number, task, u16s};
use crate::setup::Subject;

const QK: [i64; 1] = [0];
const SF: [i64; 1] = [1];
const PV: [i64; 1] = [2];
const UP: [i64; 1] = [3];

/// Scores with columns outside of the view, which nothing may look at.
fn padded(valid: &[f32], rows: usize, block_size: usize) -> Vec<f32> {
    let cols = valid.len() / rows;
    let mut all = vec![f32::NAN; rows * block_size];
    for row in 0..rows {
        all[row * block_size..][..cols].copy_from_slice(&valid[row * cols..][..cols]);
    }
    all
}

/// Merges a block into the state. Both are m, l, o; returns the new state and the output.
fn update(block: &[Vec<u8>], state: &[Vec<u8>], out: &[u8], is_first: bool, is_last: bool) -> Vec<Vec<u8>> {
    let [m, l, o] = [0, 1, 2].map(|index: usize| f32s(&block[index]));
    let [sm, sl, so] = [0, 1, 2].map(|index: usize| f32s(&state[index]));
    let block = Partial { m: &m, l: &l, o: &o };
    let running = Partial { m: &sm, l: &sl, o: &so };
    let updated = online_update(block, running, is_first, is_last);
    let out = updated.out.map_or(out.to_vec(), |out| bytes(&out));
    vec![bytes(&updated.m), bytes(&updated.l), bytes(&updated.o), out]
}

/// The ids that a runtime gives to the tasks of one block, in the order QK, SF, PV, UP.
type Ids<'a> = &'a mut dyn FnMut(Option<usize>) -> u64;

/// One request after the other, block after block, on tensor descriptors.
fn on_tensors(subject: &Subject, params: &PagedAttention, ids: Ids<'_>) -> Model {
    let mut model = Model::default();
    let table: Vec<i32> = elements(&subject.args, "block_table");
    let scale = subject.args.scalars[0];
    let [query, keys, values, _, _, out] = <[View; 6]>::try_from(model.arguments(&subject.args)).unwrap();
    let (heads, head_dim, size) = (params.num_heads, params.head_dim, params.block_size);
    let flat = |view: &View, rows: usize| view.reshape(&[rows as u32, head_dim as u32]);
    let query = flat(&query, params.batch * heads);
    let (keys, values) =
        (flat(&keys, params.total_blocks() * size), flat(&values, params.total_blocks() * size));
    let out = flat(&out, params.batch * heads);
    let matrix = [heads as u32, head_dim as u32];
    let scores = [heads as u32, size as u32];
    let per_row = [heads as u32];
    for request in 0..params.batch {
        ids(None);
        let state = [model.fresh(F32, &per_row), model.fresh(F32, &per_row), model.fresh(F32, &matrix)];
        let blocks = params.blocks_of(request);
        for block in 0..blocks {
            let cached = table[request * params.max_blocks_per_request() + block] as usize;
            let valid = params.valid_len(request, block);
            let s = model.fresh(F32, &scores);
            let args = [
                A::In(query.rows(request * heads, heads)),
                A::In(keys.rows(cached * size, size)),
                A::Out(s.clone()),
            ];
            model.run(task(ids(Some(0)), &QK), &args, |tensors| {
                vec![bytes(&qk(&u16s(&tensors[0]), &u16s(&tensors[1]), head_dim))]
            });
            let p = model.fresh(Bf16, &scores);
            let [m, l] = [(); 2].map(|()| model.fresh(F32, &per_row));
            let created = [&p, &m, &l].map(|view| A::Out(view.clone()));
            let mut args = vec![A::In(s.columns(valid))];
            args.extend(created);
            args.push(number(scale));
            model.run(task(ids(Some(1)), &SF), &args, |tensors| {
                let scores = padded(&f32s(&tensors[0]), heads, size);
                let softmax = softmax_prepare(&scores, size, valid, f32::from_bits(scale as u32));
                vec![bytes(&softmax.p), bytes(&softmax.m), bytes(&softmax.l)]
            });
            let o = model.fresh(F32, &matrix);
            let args = [A::In(p), A::In(values.rows(cached * size, size)), A::Out(o.clone())];
            model.run(task(ids(Some(2)), &PV), &args, |tensors| {
                vec![bytes(&pv(&u16s(&tensors[0]), &u16s(&tensors[1]), head_dim))]
            });
            let (is_first, is_last) = (block == 0, block + 1 == blocks);
            let mut args = [m, l, o].map(A::In).to_vec();
            args.extend(state.iter().map(|view| A::Inout(view.clone())));
            args.push(A::Inout(out.rows(request * heads, heads)));
            args.extend([number(is_first.into()), number(is_last.into())]);
            model.run(task(ids(Some(3)), &UP), &args, |tensors| {
                update(&tensors[..3], &tensors[3..6], &tensors[6], is_first, is_last)
            });
        }
    }
    model
}

/// A ring for the state of requests and one for the blocks.
fn two_rings() -> impl FnMut(Option<usize>) -> u64 {
    let mut next = 0x2_0000_0000;
    move |task| {
        next += u64::from(task.is_some());
        next - 1
    }
}

/// Everything of a request on one ring, its state first.
fn one_ring() -> impl FnMut(Option<usize>) -> u64 {
    let mut next = 0x1_0000_0000;
    move |_| {
        next += 1;
        next - 1
    }
}

#[test]
fn paged_attention_is_dumped_as_the_references_compute_it() {
    for (case, params) in
        [("CaseSmall1", PagedAttention::case_small1()), ("CaseVarSeq2", PagedAttention::case_var_seq2())]
    {
        for runtime in [RuntimeKind::Trb, RuntimeKind::Abg] {
            let subject = Subject::scene("paged_attention", case, runtime);
            subject.assert_true(&on_tensors(&subject, &params, &mut two_rings()));
        }
        let subject = Subject::scene("paged_attention_manual_scope", case, RuntimeKind::Trb);
        subject.assert_true(&on_tensors(&subject, &params, &mut one_ring()));
    }
}

#[test]
fn paged_attention_built_on_the_host_is_dumped_as_the_references_compute_it() {
    for (case, params) in [("small1", PagedAttention::hbg_small1()), ("small2", PagedAttention::hbg_small2())]
    {
        let subject = Subject::scene("paged_attention", case, RuntimeKind::Hbg);
        subject.assert_true(&on_addresses(&subject, &params));
    }
}

/// One request on raw addresses, with sizes as scalars.
fn on_addresses(subject: &Subject, params: &PagedAttention) -> Model {
    let mut model = Model::default();
    let table: Vec<i32> = elements(&subject.args, "block_table");
    let scale = subject.args.scalars[0];
    let [query, keys, values, ..] = <[View; 6]>::try_from(model.arguments(&subject.args)).unwrap();
    let (rows, head_dim, size) = (params.num_heads, params.head_dim, params.block_size);
    let matrix = [rows as u32, head_dim as u32];
    let (scores, per_row) = ([rows as u32, size as u32], [rows as u32]);
    let query = query.as_address(&matrix);
    let numbers = |values: [usize; 3]| values.map(|value| number(value as u64));
    let out = model.fresh(F32, &matrix);
    let state = [model.fresh(F32, &per_row), model.fresh(F32, &per_row), model.fresh(F32, &matrix)];
    let blocks = params.blocks_of(0);
    for (block, &cached) in table[..blocks].iter().enumerate() {
        let at = |cache: &View| cache.rows(cached as usize, 1).as_address(&[size as u32, head_dim as u32]);
        let valid = params.valid_len(0, block);
        let first = 4 * block as u64;
        let (s, p) = (model.fresh(F32, &scores), model.fresh(Bf16, &scores));
        let [m, l] = [(); 2].map(|()| model.fresh(F32, &per_row));
        let o = model.fresh(F32, &matrix);
        let mut args = vec![A::In(query.clone()), A::In(at(&keys)), A::Out(s.clone())];
        args.extend(numbers([rows, head_dim, size]));
        model.run(task(first, &QK), &args, |tensors| {
            vec![bytes(&qk(&u16s(&tensors[0]), &u16s(&tensors[1]), head_dim))]
        });
        let mut args = vec![A::In(s.columns(valid)), A::Scalar(F32, scale)];
        args.extend([&p, &m, &l].map(|view| A::Out(view.clone())));
        args.extend(numbers([rows, size, valid]));
        model.run(task(first + 1, &SF), &args, |tensors| {
            let scores = padded(&f32s(&tensors[0]), rows, size);
            let softmax = softmax_prepare(&scores, size, valid, f32::from_bits(scale as u32));
            vec![bytes(&softmax.p), bytes(&softmax.m), bytes(&softmax.l)]
        });
        let mut args = vec![A::In(p), A::In(at(&values)), A::Out(o.clone())];
        args.extend(numbers([rows, size, head_dim]));
        model.run(task(first + 2, &PV), &args, |tensors| {
            vec![bytes(&pv(&u16s(&tensors[0]), &u16s(&tensors[1]), head_dim))]
        });
        let (is_first, is_last) = (block == 0, block + 1 == blocks);
        let mut args = [m, l, o].map(A::In).to_vec();
        args.extend(state.iter().map(|view| A::Inout(view.clone())));
        args.extend([number(is_first.into()), number(is_last.into()), A::Out(out.clone())]);
        args.extend([number(rows as u64), number(head_dim as u64)]);
        model.run(task(first + 3, &UP), &args, |tensors| {
            update(&tensors[..3], &tensors[3..6], &tensors[6], is_first, is_last)
        });
    }
    model
}

#[test]
fn batch_paged_attention_is_dumped_as_the_references_compute_it() {
    for (case, params) in [
        ("CaseSmall2", PagedAttention::batch_case_small2()),
        ("CaseVarSeq2", PagedAttention::case_var_seq2()),
    ] {
        let subject = Subject::scene("batch_paged_attention", case, RuntimeKind::Trb);
        subject.assert_true(&batch(&subject, &params));
    }
}

/// All requests at once, block position after block position.
fn batch(subject: &Subject, params: &PagedAttention) -> Model {
    let mut model = Model::default();
    let table: Vec<i32> = elements(&subject.args, "block_table");
    let scale = subject.args.scalars[0];
    let [query, keys, values, block_table, lens, out] =
        <[View; 6]>::try_from(model.arguments(&subject.args)).unwrap();
    let (requests, heads, head_dim, size) =
        (params.batch, params.num_heads, params.head_dim, params.block_size);
    let flat = |view: &View, rows: usize| view.reshape(&[rows as u32, head_dim as u32]);
    let rows = requests * heads;
    let (query, out) = (flat(&query, rows), flat(&out, rows));
    let (keys, values) =
        (flat(&keys, params.total_blocks() * size), flat(&values, params.total_blocks() * size));
    let table_row = params.max_blocks_per_request();
    let (scores, matrix) = ([rows as u32, size as u32], [rows as u32, head_dim as u32]);
    let per_row = [rows as u32];
    let numbers = |values: &[usize]| values.iter().map(|&value| number(value as u64)).collect::<Vec<_>>();
    let state = [model.fresh(F32, &per_row), model.fresh(F32, &per_row), model.fresh(F32, &matrix)];
    let blocks = (0..requests).map(|request| params.blocks_of(request)).max().unwrap();
    for block in 0..blocks {
        let first = 0x2_0000_0000 + 4 * block as u64;
        let cached = |request: usize| table[request * table_row + block] as usize * size * head_dim;
        let s = model.fresh(F32, &scores);
        let mut args =
            vec![A::In(query.clone()), A::In(keys.clone()), A::In(block_table.clone()), A::Out(s.clone())];
        args.extend(numbers(&[requests, block, 0, table_row, heads, 0]));
        model.run(task(first, &QK), &args, |tensors| {
            let (q, k) = (u16s(&tensors[0]), u16s(&tensors[1]));
            let of = |request: usize| {
                let q = &q[request * heads * head_dim..][..heads * head_dim];
                qk(q, &k[cached(request)..][..size * head_dim], head_dim)
            };
            vec![bytes(&(0..requests).flat_map(of).collect::<Vec<_>>())]
        });
        let p = model.fresh(Bf16, &scores);
        let [m, l] = [(); 2].map(|()| model.fresh(F32, &per_row));
        let mut args = vec![A::In(s), A::In(lens.clone())];
        args.extend([&p, &m, &l].map(|view| A::Out(view.clone())));
        args.push(number(scale));
        args.extend(numbers(&[requests, block, 0]));
        model.run(task(first + 1, &SF), &args, |tensors| {
            let s = f32s(&tensors[0]);
            let each: Vec<_> = (0..requests)
                .map(|request| {
                    let own = &s[request * heads * size..][..heads * size];
                    softmax_prepare(own, size, params.valid_len(request, block), f32::from_bits(scale as u32))
                })
                .collect();
            vec![
                each.iter().flat_map(|softmax| bytes(&softmax.p)).collect(),
                each.iter().flat_map(|softmax| bytes(&softmax.m)).collect(),
                each.iter().flat_map(|softmax| bytes(&softmax.l)).collect(),
            ]
        });
        let o = model.fresh(F32, &matrix);
        let mut args = vec![A::In(p), A::In(values.clone()), A::In(block_table.clone()), A::Out(o.clone())];
        args.extend(numbers(&[requests, block, table_row, 0]));
        model.run(task(first + 2, &PV), &args, |tensors| {
            let (p, v) = (u16s(&tensors[0]), u16s(&tensors[1]));
            let of = |request: usize| {
                let p = &p[request * heads * size..][..heads * size];
                pv(p, &v[cached(request)..][..size * head_dim], head_dim)
            };
            vec![bytes(&(0..requests).flat_map(of).collect::<Vec<_>>())]
        });
        let (is_first, is_last) = (block == 0, block + 1 == blocks);
        let mut args = [m, l, o].map(A::In).to_vec();
        args.extend(state.iter().map(|view| A::Inout(view.clone())));
        args.push(A::Inout(out.clone()));
        args.extend(numbers(&[is_first.into(), is_last.into(), requests, 0, heads, 0]));
        // Rows do not meet each other, so one update serves all requests.
        model.run(task(first + 3, &UP), &args, |tensors| {
            update(&tensors[..3], &tensors[3..6], &tensors[6], is_first, is_last)
        });
    }
    model
}

/// A line of the table: argument, role, type, shape, strides, start in elements.
type Line = (u16, argus_abi::Role, DType, &'static [u32], &'static [u32], u64);

/// A task of the table: its id, its scalars by slot, its records before and after.
type Task<'a> = (u64, &'a [(u16, u64)], &'a [Line], &'a [Line]);

/// CaseSmall1 at level full as spec/runtime.md 7.2 counts it, written down by hand.
#[test]
fn case_small1_has_the_records_views_and_scalars_of_the_specification() {
    const SQUARE: &[u32] = &[16, 16];
    const ROWS: &[u32] = &[16, 1];
    const VECTOR: &[u32] = &[16];
    const ONE: &[u32] = &[1];
    for runtime in [RuntimeKind::Trb, RuntimeKind::Abg] {
        let subject = Subject::scene("paged_attention", "CaseSmall1", runtime);
        let table: Vec<i32> = elements(&subject.args, "block_table");
        let dump = subject.record(&A2A3SIM, &Default::default()).complete(runtime.name());
        let tensors = dump.records.iter().filter(|record| record.kind == Kind::Tensor).count();
        assert_eq!((tensors, dump.records.len() - tensors), (63, 9), "{runtime}");
        assert_eq!(dump.manifest["payload_bytes"], 32_832);
        let found = dump.by_key();
        let mut seen = 0;
        for block in 0..3u64 {
            let cached = table[block as usize] as u64 * 256;
            let valid: &[u32] = if block == 2 { &[16, 1] } else { SQUARE };
            let ids: [u64; 4] = [0, 1, 2, 3].map(|task| 0x2_0000_0000 + 4 * block + task);
            let is = |flag: bool| u64::from(flag);
            let tasks: [Task<'_>; 4] = [
                (
                    ids[0],
                    &[],
                    &[(0, Input, Bf16, SQUARE, ROWS, 0), (1, Input, Bf16, SQUARE, ROWS, cached)],
                    &[(2, Output, F32, SQUARE, ROWS, 0)],
                ),
                (
                    ids[1],
                    &[(4, 0x3F80_0000)],
                    &[(0, Input, F32, valid, ROWS, 0)],
                    &[
                        (1, Output, Bf16, SQUARE, ROWS, 0),
                        (2, Output, F32, VECTOR, ONE, 0),
                        (3, Output, F32, VECTOR, ONE, 0),
                    ],
                ),
                (
                    ids[2],
                    &[],
                    &[(0, Input, Bf16, SQUARE, ROWS, 0), (1, Input, Bf16, SQUARE, ROWS, cached)],
                    &[(2, Output, F32, SQUARE, ROWS, 0)],
                ),
                (
                    ids[3],
                    &[(7, is(block == 0)), (8, is(block == 2))],
                    &[
                        (0, Input, F32, VECTOR, ONE, 0),
                        (1, Input, F32, VECTOR, ONE, 0),
                        (2, Input, F32, SQUARE, ROWS, 0),
                        (3, Inout, F32, VECTOR, ONE, 0),
                        (4, Inout, F32, VECTOR, ONE, 0),
                        (5, Inout, F32, SQUARE, ROWS, 0),
                        (6, Inout, F32, SQUARE, ROWS, 0),
                    ],
                    &[
                        (3, Inout, F32, VECTOR, ONE, 0),
                        (4, Inout, F32, VECTOR, ONE, 0),
                        (5, Inout, F32, SQUARE, ROWS, 0),
                        (6, Inout, F32, SQUARE, ROWS, 0),
                    ],
                ),
            ];
            for (index, (id, scalars, before, after)) in tasks.into_iter().enumerate() {
                for &(slot, bits) in scalars {
                    let record = found[&(id, Before, slot)];
                    assert_eq!(
                        (record.bits, record.dtype, record.role),
                        (Some(bits), U64, Input),
                        "{record:?}"
                    );
                    seen += 1;
                }
                let lines =
                    before.iter().map(|line| (Before, line)).chain(after.iter().map(|line| (After, line)));
                for (stage, &(arg, role, dtype, shape, strides, start)) in lines {
                    let record = found[&(id, stage, arg)];
                    assert_eq!((record.role, record.dtype), (role, dtype), "{record:?}");
                    assert_eq!((&record.shape[..], &record.strides[..]), (shape, strides), "{record:?}");
                    assert_eq!(record.start_offset, start, "{record:?}");
                    // Only the scores of the one valid column have gaps between their rows.
                    assert_eq!(record.contiguous, shape != [16, 1], "{record:?}");
                    assert_eq!((&record.funcs[..], record.blocks), (&[index as i64][..], 1), "{record:?}");
                    seen += 1;
                }
            }
            if block == 0 {
                for arg in [3, 4, 5] {
                    let state = found[&(ids[3], Before, arg)].payload.as_ref().unwrap();
                    assert!(state.iter().all(|&byte| byte == 0xFF), "the state is not written yet");
                }
            }
        }
        assert_eq!(seen, dump.records.len(), "the table names every record");
        assert_eq!(dump.states().len(), 13);
        assert!(dump.states().contains_key(&0x1_0000_0000), "the allocation is a task of the graph");
    }
}

#[test]
fn case_small1_has_the_edges_of_the_specification() {
    let subject = Subject::scene("paged_attention", "CaseSmall1", RuntimeKind::Trb);
    let dump = subject.record(&A2A3SIM, &Default::default()).complete("edges");
    let (alloc, ring) = (0x1_0000_0000u64, 0x2_0000_0000u64);
    let mut expected = Vec::new();
    for block in 0..3 {
        let [qk, sf, pv, up] = [0, 1, 2, 3].map(|task| ring + 4 * block + task);
        expected.extend([(qk, sf), (sf, pv), (sf, up), (pv, up), (alloc, up)]);
        if block > 0 {
            expected.push((up - 4, up));
        }
    }
    expected.sort_unstable();
    let mut found: Vec<_> = dump.edges().into_iter().map(|(from, to, _)| (from, to)).collect();
    found.sort_unstable();
    assert_eq!(found, expected);
}
