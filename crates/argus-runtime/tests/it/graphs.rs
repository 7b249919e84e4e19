//! Random graphs on all three runtimes against a sequential run.

use std::sync::Arc;

use argus_abi::FatalCode;
use argus_chip::CHIPS;
use argus_runtime::{Hazards, RunConfig, RunError};

use crate::generate::{Item, Random, Style, program};
use crate::oracle;
use crate::runtimes::{Runtime, run};

/// Graphs to try; `cargo xtask long` asks for more.
fn graphs() -> u64 {
    std::env::var("ARGUS_GRAPHS").ok().and_then(|count| count.parse().ok()).unwrap_or(300)
}

#[test]
fn random_graphs_compute_what_a_sequential_run_computes() {
    for seed in 0..graphs() {
        let mut random = Random::new(seed ^ 0xABCD);
        for runtime in [Runtime::Trb, Runtime::Abg, Runtime::Hbg] {
            // A task of aicpu_build_graph is invisible until its scope ends, so an inner scope must not fill
            // a ring with tasks that wait for outer ones: its programs are rows of scopes.
            let style = Style { nested: runtime != Runtime::Abg, mixes: true };
            let spec = Arc::new(program(seed, style));
            let expected = oracle::run(&spec);
            let platform = CHIPS[random.below(2)];
            let config = RunConfig {
                control_threads: Some(1 + random.below(4) as u32),
                host_threads: Some(1 + random.below(3)),
                ..RunConfig::default()
            };
            let name = format!("seed {seed}, {runtime:?}, {}", platform.name);
            let actual = run(&spec, runtime, platform, config).unwrap_or_else(|error| {
                panic!("{name}: {error}");
            });
            let externals = (0..spec.buffers.len()).filter(|&buffer| spec.buffers[buffer].external);
            for (number, buffer) in externals.enumerate() {
                assert_eq!(actual[number], expected[buffer], "{name}: buffer {buffer}");
            }
        }
    }
}

#[test]
fn a_scope_larger_than_its_ring_is_code_1() {
    let mut spec = program(1, Style { nested: true, mixes: false });
    spec.window = 4;
    let tasks: Vec<Item> = (0..4).map(|_| Item::Task(0)).collect();
    spec.items = vec![Item::Scope(tasks)];
    spec.tasks.truncate(1);
    spec.tasks[0].operands.clear();
    let error = run(&Arc::new(spec), Runtime::Trb, CHIPS[0], RunConfig::default()).unwrap_err();
    assert_eq!(error.fatal_code(), Some(FatalCode::ScopeDeadlock), "{error}");
}

/// Without write-after-read edges some random program must come out wrong: the switch does something, and
/// the test above would notice a missing edge.
#[test]
fn the_references_hazards_lose_orders_that_ours_keep() {
    let wrong = (0..400).any(|seed| {
        let spec = Arc::new(program(seed, Style { nested: true, mixes: true }));
        let expected = oracle::run(&spec);
        let config = RunConfig { hazards: Hazards::Reference, ..RunConfig::default() };
        match run(&spec, Runtime::Trb, CHIPS[0], config) {
            Ok(actual) => {
                let externals = (0..spec.buffers.len()).filter(|&buffer| spec.buffers[buffer].external);
                externals.enumerate().any(|(number, buffer)| actual[number] != expected[buffer])
            }
            Err(RunError::Fatal(_)) => false,
            Err(error) => panic!("seed {seed}: {error}"),
        }
    });
    assert!(wrong);
}
