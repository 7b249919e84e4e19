//! host_build_graph with tensors: edges follow from views, nothing runs before the graph is whole, and graphs may be
//! tasks of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use argus_abi::{ArgLimits, FatalCode, Tensor};
use argus_chip::CHIPS;
use argus_runtime::{Arg, Device, Fatal, Hazards, MixedKernels, RunConfig, ScopeMode, Trb};

use crate::programs::{
    BUMP, FILL, Kernels, MOVE, arguments, bump, config, fill, fill_new, i32s, own, refusal, results, shift,
    values, wait_ms,
};

#[test]
fn nothing_runs_before_the_orchestration_returns() {
    let ran = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&ran);
    let kernels = Kernels::standard().own(0, move |_, _| {
        counter.fetch_add(1, SeqCst);
        Ok(())
    });
    let seen = Arc::clone(&ran);
    let program = kernels.ahead(move |trb, args| {
        for _ in 0..10 {
            trb.scope(ScopeMode::Auto, |trb| trb.submit_aiv(own(0), Arg::new().inout(args.tensor(0)?)))?;
        }
        wait_ms(60);
        assert_eq!(seen.load(SeqCst), 0);
        Ok(())
    });
    results(&program, &[&[0]], &config());
    assert_eq!(ran.load(SeqCst), 10);
}

#[test]
fn views_order_tasks_and_all_ids_are_on_one_ring() {
    let program = Kernels::standard().ahead(|trb, args| {
        let [word, out] = [args.tensor(0)?, args.tensor(1)?];
        let made = trb.submit_aiv(FILL, fill_new(1, 40, 30)?)?;
        trb.scope(ScopeMode::Auto, |trb| {
            trb.submit_aiv(BUMP, bump(made.tensor(0)?, 10))?;
            trb.submit_aiv(MOVE, shift(made.tensor(0)?, word, 0))
        })?;
        let fence = trb.submit_dummy(Arg::new().inout(word))?;
        trb.submit_aiv(MOVE, shift(word, out, 0).after(&[fence.task_id()])).map(drop)
    });
    assert_eq!(results(&program, &[&[0], &[0]], &config()), [[42], [43]]);
    let mut args = arguments(&[&[0], &[0]]);
    let graph = Device::new(CHIPS[0]).graph(&program, &mut args, &config()).unwrap();
    let mut ids: Vec<_> = graph.tasks.iter().map(|task| task.id.raw()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [0, 1, 2, 3, 4]);
}

#[test]
fn the_orchestration_reads_arguments_and_not_what_tasks_will_write() {
    let program = Kernels::standard().ahead(|trb, args| {
        let count = trb.get_tensor_data::<i32>(args.tensor(0)?, &[1])?;
        trb.set_tensor_bits(args.tensor(0)?, &[0], 0xFFFF_FFFF_0000_0007)?;
        for _ in 0..count {
            trb.submit_aiv(BUMP, bump(args.tensor(1)?, 0))?;
        }
        Ok(())
    });
    assert_eq!(results(&program, &[&[0, 3], &[0]], &config()), [vec![7, 3], vec![3]]);

    let reads = Kernels::standard().ahead(|trb, args| {
        trb.submit_aiv(BUMP, bump(args.tensor(0)?, 0))?;
        trb.get_tensor_bits(args.tensor(0)?, &[0]).map(drop)
    });
    let error = refusal(&reads, &[&[0]], &config());
    assert_eq!(error.fatal_code(), Some(FatalCode::InvalidArgs));
    assert!(error.to_string().contains("a host-built graph runs only when it is whole"), "{error}");

    // Inside a graph too, whose own tasks have written nothing.
    let reads = Kernels::standard().ahead(|trb, args| {
        let word = args.tensor(0)?;
        trb.submit_aiv(BUMP, bump(word, 0))?;
        trb.submit_graph(boundary(word, word), |trb| trb.get_tensor_bits(word, &[0]).map(drop)).map(drop)
    });
    assert_eq!(refusal(&reads, &[&[0]], &config()).fatal_code(), Some(FatalCode::InvalidArgs));

    let fills =
        Kernels::standard().ahead(|trb, _| trb.alloc_tensors(&[i32s(1)?.with_initial_value(3)]).map(drop));
    let error = refusal(&fills, &[], &config());
    assert_eq!(error.fatal_code(), Some(FatalCode::InvalidArgs));
}

/// `z = x + 2 + plus`, by moves and bumps.
fn inner(trb: &mut Trb, x: &Tensor, z: &Tensor, plus: u32) -> Result<(), Fatal> {
    let made = trb.submit_aiv(MOVE, Arg::new().input(x).create(&i32s(1)?).scalar(10))?;
    for _ in 0..plus {
        trb.submit_aiv(BUMP, bump(made.tensor(0)?, 5))?;
    }
    trb.submit_aiv(MOVE, shift(made.tensor(0)?, z, 0)).map(drop)
}

fn boundary(x: &Tensor, z: &Tensor) -> Arg {
    Arg::with_limits(ArgLimits::GRAPH).input(x).output(z)
}

#[test]
fn graphs_are_ordered_by_their_boundaries_and_their_tasks_have_names_of_their_own() {
    let program = Kernels::standard().ahead(|trb, args| {
        let [a, b, c] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?];
        trb.submit_aiv(BUMP, bump(a, 30))?;
        trb.submit_graph(boundary(a, b), |trb| inner(trb, a, b, 0))?;
        trb.submit_graph(boundary(b, c), |trb| inner(trb, b, c, 2))?;
        trb.submit_graph(boundary(c, a), |trb| inner(trb, c, a, 0))?;
        trb.submit_aiv(BUMP, bump(a, 0)).map(drop)
    });
    // a = 1; b = 3; c = 7; a = 9, then 10.
    for threads in [1, 4] {
        let config = RunConfig { host_threads: Some(threads), ..config() };
        assert_eq!(results(&program, &[&[0], &[0], &[0]], &config), [[10], [3], [7]]);
    }
    let reference = RunConfig { hazards: Hazards::Reference, ..config() };
    let mut args = arguments(&[&[0], &[0], &[0]]);
    let graph = Device::new(CHIPS[0]).graph(&program, &mut args, &reference).unwrap();
    let mut ids: Vec<_> = graph.tasks.iter().map(|task| task.id.raw()).collect();
    ids.sort_unstable();
    const INNER: u64 = 1 << 32;
    let names = [0, 1, 0x400, 0x401, 0x402, 0x403, 0x800, 0x801].map(|name| INNER + name);
    assert_eq!(ids, [vec![0, 1, 2, 3, 4], names.to_vec()].concat());
    let mut outer: Vec<_> = graph.edges.iter().map(|edge| (edge.from.raw(), edge.to.raw())).collect();
    outer.retain(|(from, to)| *from < INNER && *to < INNER);
    outer.sort_unstable();
    // With the reference's hazards an output does not replace the writer before it.
    assert_eq!(outer, [(0, 1), (0, 4), (1, 2), (2, 3), (3, 4)]);
    // A graph's first task waits for what its boundary waits for, and the graph for its tasks.
    let has =
        |from: u64, to: u64| graph.edges.iter().any(|edge| edge.from.raw() == from && edge.to.raw() == to);
    assert!(has(0, INNER) && has(1, INNER + 0x400) && has(INNER + 1, 1) && has(INNER + 0x400, INNER + 0x401));
}

#[test]
fn what_no_graph_can_be_is_refused() {
    type Body = fn(&mut Trb, &Tensor) -> Result<(), Fatal>;
    let cases: [(Body, &str); 5] = [
        (
            |trb, x| {
                let nested = |trb: &mut Trb| trb.submit_graph(boundary(x, x), |_| Ok(())).map(drop);
                trb.submit_graph(boundary(x, x), nested).map(drop)
            },
            "a graph within a graph has no graphs of its own",
        ),
        (
            |trb, _| {
                let made = Arg::with_limits(ArgLimits::GRAPH).create(&i32s(1)?);
                trb.submit_graph(made, |_| Ok(())).map(drop)
            },
            "the boundary of a graph is made of tensors that exist",
        ),
        (
            |trb, x| {
                let many = |trb: &mut Trb| {
                    (0..0x401).try_for_each(|_| trb.submit_aiv(FILL, fill(x, 1, 0)).map(drop))
                };
                trb.submit_graph(boundary(x, x), many).map(drop)
            },
            "a graph within the graph has at most 1024 tasks",
        ),
        (|trb, _| trb.graph_end(), "a graph ended that was never begun"),
        (
            |trb, x| {
                let both = MixedKernels { aic: None, aiv0: Some(FILL), aiv1: Some(FILL) };
                trb.submit(both, fill(x, 1, 0).blocks(16_384)).map(drop)
            },
            "16384 blocks of 2 kernels are 32768 calls, a task of a graph built ahead has at most 32767",
        ),
    ];
    for (body, message) in cases {
        let program = Kernels::standard().ahead(move |trb, args| body(trb, args.tensor(0)?));
        assert_eq!(
            refusal(&program, &[&[0]], &config()).to_string(),
            format!("fatal 5 (INVALID_ARGS): {message}")
        );
    }
    let program = Kernels::standard().trb(|trb, args| {
        let x = args.tensor(0)?;
        trb.submit_graph(boundary(x, x), |_| Ok(())).map(drop)
    });
    let error = refusal(&program, &[&[0]], &config());
    assert_eq!(error.to_string(), "fatal 5 (INVALID_ARGS): graphs are submitted in host-built graphs only");
}

#[test]
fn a_graph_without_tasks_is_complete_after_what_its_boundary_waits_for() {
    let program = Kernels::standard().ahead(|trb, args| {
        let [x, y] = [args.tensor(0)?, args.tensor(1)?];
        trb.submit_aiv(BUMP, bump(x, 30))?;
        let whole = trb.submit_graph(boundary(x, y), |_| Ok(()))?;
        trb.submit_aiv(MOVE, Arg::new().no_dep(x).output(y).scalar(0).after(&[whole])).map(drop)
    });
    let mut args = arguments(&[&[0], &[0]]);
    crate::programs::run(&program, &mut args, &config()).unwrap();
    assert_eq!((values(&args, 0), values(&args, 1)), (vec![1], vec![2]));
}
