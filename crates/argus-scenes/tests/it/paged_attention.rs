//! The kernels of paged attention one by one, and the graphs they are put into.

use std::sync::{Arc, Mutex};

use argus_abi::{ArgDirection, CoreType, DType, RuntimeKind, TaskId};
use argus_chip::A2A3SIM;
use argus_runtime::{
    Arg, Device, EntryArgs, Fatal, Hbg, HostArgs, HostTensor, KernelTable, Orchestration, Program, RunConfig,
    ScopeMode, Trb,
};
use argus_scene::arguments::{elements, tensor};
use argus_scene::generator::Generator;
use argus_scene::play::{PlayOptions, play};
use argus_scenes::kernels::paged_attention::{PV, QK, SF, UP, on_addresses, on_tensors};
use argus_scenes::reference::paged_attention::{self as reference, Partial};
use argus_scenes::scene;

/// Rows, head size and positions of a block.
const SIZES: [(u32, u32, u32); 5] = [(16, 16, 16), (16, 128, 128), (64, 128, 64), (128, 64, 32), (8, 32, 16)];

fn run(orchestration: Orchestration, mut args: HostArgs) -> HostArgs {
    let kernels = match orchestration {
        Orchestration::HostBuildGraph(_) => on_addresses(),
        _ => on_tensors(),
    };
    let program = Program { orchestration, kernels: KernelTable::new(kernels).expect("four func_ids") };
    Device::new(&A2A3SIM).run(&program, &mut args, &RunConfig::default()).expect("one task runs");
    args
}

fn run_trb(
    tensors: Vec<HostTensor>,
    entry: impl Fn(&mut Trb, &EntryArgs) -> Result<(), Fatal> + Send + Sync + 'static,
) -> HostArgs {
    let args = HostArgs { tensors, scalars: Vec::new() };
    run(Orchestration::TensormapAndRingbuffer(Arc::new(entry)), args)
}

fn input<T: bytemuck::NoUninit>(name: &str, dtype: DType, shape: &[u32], values: &[T]) -> HostTensor {
    tensor(name, ArgDirection::In, dtype, shape, values)
}

fn output(name: &str, dtype: DType, shape: &[u32]) -> HostTensor {
    let count = shape.iter().product::<u32>() as usize;
    tensor(name, ArgDirection::Out, dtype, shape, &vec![0xA5u8; count * dtype.size()])
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn uniform(name: &str, count: u32, lo: f32, hi: f32) -> Vec<f32> {
    Generator::new(name).uniform_vec_f32(count as usize, lo, hi)
}

fn uniform_bf16(name: &str, count: u32) -> Vec<u16> {
    Generator::new(name).uniform_vec_bf16(count as usize, -1.0, 1.0)
}

#[test]
fn qk_is_the_reference_bit_by_bit() {
    for (rows, head_dim, block) in SIZES {
        let (q, k) = (uniform_bf16("q", rows * head_dim), uniform_bf16("k", block * head_dim));
        let tensors = vec![
            input("q", DType::Bf16, &[rows, head_dim], &q),
            input("k", DType::Bf16, &[block, head_dim], &k),
            output("s", DType::F32, &[rows, block]),
        ];
        let done = run_trb(tensors, |trb, args| {
            let arg = Arg::new().input(args.tensor(0)?).input(args.tensor(1)?).output(args.tensor(2)?);
            trb.submit_aic(QK, arg).map(drop)
        });
        let expected = reference::qk(&q, &k, head_dim as usize);
        assert_eq!(bits(&elements::<f32>(&done, "s")), bits(&expected), "{rows} {head_dim} {block}");
    }
}

#[test]
fn pv_is_the_reference_bit_by_bit() {
    for (rows, head_dim, block) in SIZES {
        let (p, v) = (uniform_bf16("p", rows * block), uniform_bf16("v", block * head_dim));
        let tensors = vec![
            input("p", DType::Bf16, &[rows, block], &p),
            input("v", DType::Bf16, &[block, head_dim], &v),
            output("o", DType::F32, &[rows, head_dim]),
        ];
        let done = run_trb(tensors, |trb, args| {
            let arg = Arg::new().input(args.tensor(0)?).input(args.tensor(1)?).output(args.tensor(2)?);
            trb.submit_aic(PV, arg).map(drop)
        });
        let expected = reference::pv(&p, &v, head_dim as usize);
        assert_eq!(bits(&elements::<f32>(&done, "o")), bits(&expected), "{rows} {head_dim} {block}");
    }
}

/// Valid lengths worth trying in a block: none, one, odd, all but one, all.
fn valid_lens(block: u32) -> [u32; 5] {
    [0, 1, block / 2 + 1, block - 1, block]
}

fn softmax_tensors(s: &[f32], rows: u32, block: u32) -> Vec<HostTensor> {
    vec![
        input("s", DType::F32, &[rows, block], s),
        output("p", DType::Bf16, &[rows, block]),
        output("m", DType::F32, &[rows]),
        output("l", DType::F32, &[rows]),
    ]
}

fn assert_softmax(done: &HostArgs, s: &[f32], block: u32, valid: u32, scale: f32) {
    let expected = reference::softmax_prepare(s, block as usize, valid as usize, scale);
    let case = format!("{valid} of {block} columns, {} rows", expected.m.len());
    assert_eq!(bits(&elements::<f32>(done, "m")), bits(&expected.m), "maxima of {case}");
    assert_eq!(bits(&elements::<f32>(done, "l")), bits(&expected.l), "sums of {case}");
    assert_eq!(elements::<u16>(done, "p"), expected.p, "weights of {case}");
}

#[test]
fn sf_is_the_reference_bit_by_bit_for_whole_partial_and_empty_blocks() {
    const SCALE: f32 = 0.7;
    for (rows, _, block) in SIZES {
        let mut s = uniform("s", rows * block, -6.0, 6.0);
        // What lies outside the context must not matter.
        s[(block - 1) as usize] = f32::NAN;
        for valid in valid_lens(block).into_iter().filter(|&valid| valid < block) {
            let done = run_trb(softmax_tensors(&s, rows, block), move |trb, args| {
                let inside = args.tensor(0)?.view(&[rows, valid], &[0, 0]).unwrap();
                let arg = Arg::new().input(&inside).output(args.tensor(1)?);
                let arg = arg.output(args.tensor(2)?).output(args.tensor(3)?).scalar_f32(SCALE);
                trb.submit_aiv(SF, arg).map(drop)
            });
            assert_softmax(&done, &s, block, valid, SCALE);
        }
    }
}

#[test]
fn sf_on_raw_addresses_is_the_same() {
    const SCALE: f32 = 1.3;
    for (rows, _, block) in SIZES {
        let s = uniform("raw s", rows * block, -3.0, 3.0);
        for valid in valid_lens(block) {
            let build = move |hbg: &mut Hbg, _: &EntryArgs| {
                let count = u64::from(rows * block);
                let s = hbg.upload(0)?;
                let (p, m, l) = (
                    hbg.device_malloc(count * 2)?,
                    hbg.device_malloc(u64::from(rows) * 4)?,
                    hbg.device_malloc(u64::from(rows) * 4)?,
                );
                for (argument, addr) in [(1, p), (2, m), (3, l)] {
                    hbg.record_tensor_pair(argument, addr)?;
                }
                let (scale, sizes) = (u64::from(SCALE.to_bits()), [rows, block, valid].map(u64::from));
                let args = [s, scale, p, m, l, sizes[0], sizes[1], sizes[2]];
                hbg.add_task(&args, SF, CoreType::Aiv).map(drop)
            };
            let args = HostArgs { tensors: softmax_tensors(&s, rows, block), scalars: Vec::new() };
            let done = run(Orchestration::HostBuildGraph(Arc::new(build)), args);
            assert_softmax(&done, &s, block, valid, SCALE);
        }
    }
}

/// Exponentials of the engine are rounded correctly, those of the reference almost always.
fn assert_within_one_ulp(actual: &[f32], expected: &[f32], what: &str) {
    assert_eq!(actual.len(), expected.len(), "{what}");
    for (at, (actual, expected)) in actual.iter().zip(expected).enumerate() {
        let apart = actual.to_bits().abs_diff(expected.to_bits());
        assert!(apart <= 1, "{what} {at}: {actual} instead of {expected}");
    }
}

#[test]
fn up_merges_as_the_reference_does() {
    for (rows, head_dim, _) in SIZES {
        for (is_first, is_last) in [(true, false), (true, true), (false, false), (false, true)] {
            let vector = |name, lo, hi| uniform(name, rows, lo, hi);
            let block = [
                vector("mij", -4.0, 4.0),
                vector("lij", 1.0, 16.0),
                uniform("oij", rows * head_dim, 0.0, 4.0),
            ];
            let state =
                [vector("mi", -4.0, 4.0), vector("li", 1.0, 16.0), uniform("oi", rows * head_dim, 0.0, 4.0)];
            let inout = |name, shape: &[u32], values: &[f32]| {
                tensor(name, ArgDirection::Inout, DType::F32, shape, values)
            };
            let untouched = uniform("out", rows * head_dim, 9.0, 10.0);
            let tensors = vec![
                input("mij", DType::F32, &[rows], &block[0]),
                input("lij", DType::F32, &[rows], &block[1]),
                input("oij", DType::F32, &[rows, head_dim], &block[2]),
                inout("mi", &[rows], &state[0]),
                inout("li", &[rows], &state[1]),
                inout("oi", &[rows, head_dim], &state[2]),
                inout("out", &[rows, head_dim], &untouched),
            ];
            let done = run_trb(tensors, move |trb, args| {
                let mut arg = Arg::new();
                for index in 0..7 {
                    let tensor = args.tensor(index)?;
                    arg = if index < 3 { arg.input(tensor) } else { arg.inout(tensor) };
                }
                trb.submit_aiv(UP, arg.scalar(is_first.into()).scalar(is_last.into())).map(drop)
            });
            let expected = reference::online_update(
                Partial { m: &block[0], l: &block[1], o: &block[2] },
                Partial { m: &state[0], l: &state[1], o: &state[2] },
                is_first,
                is_last,
            );
            assert_eq!(elements::<f32>(&done, "mi"), expected.m);
            assert_within_one_ulp(&elements::<f32>(&done, "li"), &expected.l, "sum");
            assert_within_one_ulp(&elements::<f32>(&done, "oi"), &expected.o, "value");
            let out = expected.out.unwrap_or(untouched);
            assert_within_one_ulp(&elements::<f32>(&done, "out"), &out, "output");
        }
    }
}

#[test]
fn graphs_have_the_published_number_of_tasks() {
    let device = [("CaseSmall1", 13), ("CaseSmall2", 33), ("CaseVarSeq2", 22), ("CaseVarSeq4", 68)];
    let aliases =
        [("SmallCase1", 13), ("SmallCase2", 33), ("SmallCaseVarSeq2", 22), ("SmallCaseVarSeq4", 68)];
    let host = [("small1", 4), ("small2", 16), ("SmallCase1", 4), ("SmallCase2", 16)];
    let batch =
        [("CaseSmall1", 13), ("CaseSmall2", 9), ("CaseSmall3", 33), ("CaseVarSeq2", 13), ("CaseVarSeq4", 33)];
    for (name, runtime, cases) in [
        ("paged_attention", RuntimeKind::Trb, &device[..]),
        ("paged_attention", RuntimeKind::Trb, &aliases),
        ("paged_attention", RuntimeKind::Abg, &device),
        ("paged_attention", RuntimeKind::Hbg, &host),
        ("paged_attention_manual_scope", RuntimeKind::Trb, &device),
        ("paged_attention_manual_scope", RuntimeKind::Trb, &aliases),
        ("batch_paged_attention", RuntimeKind::Trb, &batch),
    ] {
        for &(case, tasks) in cases {
            let (found, runtime) = scene(name).unwrap().case(Some(case), Some(runtime)).unwrap();
            let options = PlayOptions { skip_golden: true, ..PlayOptions::default() };
            let played = play(&found, runtime, &A2A3SIM, &options).unwrap();
            assert_eq!(played.rounds[0].report.tasks, tasks, "{name} {case} {runtime}");
        }
    }
}

/// The ids that the next tasks on rings 0, 1 and 2 get after the scene's own.
fn next_ids(name: &str) -> Vec<TaskId> {
    let scene = scene(name).expect("a scene that exists");
    let (case, runtime) = scene.case(Some("CaseSmall1"), Some(RuntimeKind::Trb)).expect("its first case");
    let mut prepared = case.prepare(runtime, argus_chip::DEFAULT_CHIP).unwrap();
    let Orchestration::TensormapAndRingbuffer(graph) = prepared.program.orchestration else {
        panic!("{name} is not for this runtime");
    };
    let ids = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&ids);
    let probe = move |trb: &mut Trb, args: &EntryArgs| {
        graph(trb, args)?;
        let outer = trb.submit_dummy(Arg::new())?.task_id();
        trb.scope(ScopeMode::Auto, |trb| {
            let middle = trb.submit_dummy(Arg::new())?.task_id();
            let inner = trb.scope(ScopeMode::Auto, |trb| trb.submit_dummy(Arg::new()))?.task_id();
            seen.lock().expect("no thread panicked").extend([outer, middle, inner]);
            Ok(())
        })
    };
    prepared.program.orchestration = Orchestration::TensormapAndRingbuffer(Arc::new(probe));
    Device::new(&A2A3SIM)
        .run(&prepared.program, &mut prepared.args, &RunConfig::default())
        .expect("the scene runs with more tasks behind it");
    ids.lock().expect("no thread panicked").clone()
}

#[test]
fn tasks_of_a_block_are_on_ring_2_and_the_state_on_ring_1() {
    assert_eq!(next_ids("paged_attention"), [TaskId::new(0, 0), TaskId::new(1, 1), TaskId::new(2, 12)]);
}

#[test]
fn a_manual_scope_has_all_tasks_of_a_request_on_ring_1() {
    assert_eq!(
        next_ids("paged_attention_manual_scope"),
        [TaskId::new(0, 0), TaskId::new(1, 13), TaskId::new(2, 0)]
    );
}
