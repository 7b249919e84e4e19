//! Scenes of the matrix and vector cores: task counts, exact values, cores that wait for each other.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use argus_abi::{KernelArgs, RuntimeKind};
use argus_chip::A2A3SIM;
use argus_runtime::{Device, KernelEntry, KernelTable, RunConfig};
use argus_scene::compare::Tolerance;
use argus_scene::play::{PlayOptions, Played, play};
use argus_scenes::scene;
use argus_tile::Core;

/// Scene, case, and how many tasks and kernel calls it is.
const COUNTS: [(&str, &str, u64, usize); 13] = [
    ("matmul", "default", 4, 4),
    ("bgemm", "default", 128, 128),
    ("benchmark_bgemm", "Bgemm64", 64, 64),
    ("mixed_example", "case1", 20, 36),
    ("mixed_example", "case2", 5, 9),
    ("spmd_basic", "Case1", 1, 3),
    ("spmd_basic", "Case2_AutoBlockDim", 1, 3),
    ("spmd_multiblock_aiv", "Case1", 5, 188),
    ("spmd_multiblock_mix", "Case1", 5, 282),
    ("spmd_sync_start", "Case1", 4, 120),
    ("pipe_mix", "default", 8, 24),
    ("matmul_double_buffered", "default", 1, 1),
    ("vector_example", "default", 5, 5),
];

fn play_with(name: &str, case: &str, runtime: Option<RuntimeKind>, options: &PlayOptions) -> Played {
    let found = scene(name).and_then(|scene| scene.case(Some(case), runtime));
    let (case, runtime) = found.unwrap_or_else(|error| panic!("{error}"));
    play(&case, runtime, &A2A3SIM, options).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The same kernel, but it counts its calls and looks at its flags afterwards.
fn supervised(entry: &KernelEntry, calls: &Arc<AtomicUsize>) -> KernelEntry {
    let (inner, name, calls) = (Arc::clone(&entry.kernel), entry.name.clone(), Arc::clone(calls));
    let kernel = Arc::new(move |core: &mut Core, args: &KernelArgs<'_>| {
        inner.run(core, args)?;
        calls.fetch_add(1, Ordering::Relaxed);
        let flags: Vec<_> = core.unbalanced_flags().collect();
        assert!(flags.is_empty(), "{name} leaves flags behind: {flags:?}");
        Ok(())
    });
    KernelEntry { kernel, ..entry.clone() }
}

#[test]
fn every_task_and_every_block_runs_once_and_leaves_no_flag_behind() {
    for (name, case, tasks, calls) in COUNTS {
        let (case, runtime) = scene(name).unwrap().case(Some(case), None).unwrap();
        let mut prepared = case.prepare(runtime, argus_chip::DEFAULT_CHIP).unwrap();
        let counted = Arc::new(AtomicUsize::new(0));
        let kernels = prepared.program.kernels.iter().map(|entry| supervised(entry, &counted));
        prepared.program.kernels = KernelTable::new(kernels.collect::<Vec<_>>()).unwrap();
        let config = RunConfig {
            block_dim: case.block_dim,
            control_threads: case.control_threads,
            ..RunConfig::default()
        };
        let report = Device::new(&A2A3SIM).run(&prepared.program, &mut prepared.args, &config);
        let report = report.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((report.tasks, counted.load(Ordering::Relaxed)), (tasks, calls), "{name} {}", case.name);
    }
}

#[test]
fn products_are_the_same_bits_as_their_references() {
    let exact = PlayOptions { tolerance: Some(Tolerance::EXACT), ..PlayOptions::default() };
    for (name, case, runtime) in [
        ("bgemm", "default", RuntimeKind::Hbg),
        ("benchmark_bgemm", "Bgemm64", RuntimeKind::Trb),
        ("mixed_example", "case1", RuntimeKind::Trb),
        ("pipe_mix", "default", RuntimeKind::Trb),
        ("matmul_double_buffered", "default", RuntimeKind::Trb),
        ("matmul_double_buffered", "default", RuntimeKind::Hbg),
    ] {
        let played = play_with(name, case, Some(runtime), &exact);
        assert!(played.passed(), "{name} {runtime}: {:?}", played.rounds[0].outputs);
    }
}

#[test]
fn cores_that_wait_for_each_other_progress_on_any_number_of_host_threads() {
    let configures: [fn(&mut RunConfig); 2] =
        [|config| config.host_threads = Some(1), |config| config.host_threads = Some(4)];
    for (name, case) in [("pipe_mix", "default"), ("spmd_sync_start", "Case1")] {
        for configure in configures {
            let options = PlayOptions { rounds: 5, configure: Some(configure), ..PlayOptions::default() };
            let played = play_with(name, case, None, &options);
            assert!(played.passed(), "{name}: {:?}", played.rounds);
        }
    }
}

#[test]
fn repeated_runs_of_a_crowded_graph_agree() {
    // Few clusters and many tasks: cores are given their next task while they run.
    let options = PlayOptions { rounds: 20, ..PlayOptions::default() };
    for (name, case) in [("benchmark_bgemm", "Bgemm64"), ("mixed_example", "case1")] {
        let played = play_with(name, case, None, &options);
        assert!(played.passed(), "{name}: {:?}", played.rounds);
    }
}
