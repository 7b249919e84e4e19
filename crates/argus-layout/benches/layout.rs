//! A graph of 100,000 tasks and 300,000 edges against one of a tenth of both: the time is to grow as they do.

use argus_layout::{Graph, layout};
use criterion::{Criterion, criterion_group, criterion_main};

/// Layers of 100 tasks; each reads three of the layer before, at distances that tangle.
fn graph(tasks: u32) -> (Vec<u32>, Vec<(u32, u32)>) {
    let kernels = (0..tasks).map(|task| task % 5).collect();
    let edges = (100..tasks).flat_map(|task| {
        let start = (task / 100 - 1) * 100;
        [7, 31, 59].map(|step| (start + (task * step + 13) % 100, task))
    });
    (kernels, edges.collect())
}

fn measure(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("layout");
    group.sample_size(10);
    for tasks in [10_000, 100_000] {
        let (kernels, edges) = graph(tasks);
        group.bench_function(format!("{tasks} tasks"), |bencher| {
            bencher.iter(|| layout(&Graph { kernels: &kernels, edges: &edges }))
        });
    }
    group.finish();
}

criterion_group!(benches, measure);
criterion_main!(benches);
