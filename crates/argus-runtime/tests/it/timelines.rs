//! What a timed run says of its graph.

use std::sync::Arc;

use argus_chip::DEFAULT_CHIP;
use argus_facts::Edge;
use argus_runtime::{Device, RunConfig};

use crate::generate::{Style, program};
use crate::runtimes::{Runtime, prepared};

#[test]
fn a_timed_run_tells_the_edges_that_a_captured_run_records_on_every_runtime() {
    let mut edges_of = [0; 3];
    for seed in 0..60 {
        for (runtime, seen) in [Runtime::Trb, Runtime::Abg, Runtime::Hbg].into_iter().zip(&mut edges_of) {
            let spec = Arc::new(program(seed, Style { nested: runtime != Runtime::Abg, mixes: true }));
            let timed = RunConfig { timeline: true, ..RunConfig::default() };
            let (program, mut args, config) = prepared(&spec, runtime, timed);
            let mut device = Device::new(DEFAULT_CHIP);
            device.run(&program, &mut args, &config).unwrap();
            let mut told: Vec<Edge> = device.timed().unwrap().edges.clone();
            told.sort_unstable();
            told.dedup();

            let (program, mut args, config) = prepared(&spec, runtime, RunConfig::default());
            let graph = Device::new(DEFAULT_CHIP).graph(&program, &mut args, &config).unwrap();
            assert_eq!(told, graph.edges, "seed {seed}, {runtime:?}");
            *seen += told.len();
        }
    }
    assert!(edges_of.iter().all(|&edges| edges > 100), "{edges_of:?}");
}
