//! What C++ costs, as whole processes of the tool: a warm start, a large graph beside its twin in Rust, a cold build.
//!
//! | limit | what |
//! |---|---|
//! | 100 ms | a scene in C++ whose objects are in the cache, from start to exit |
//! | 10 % more | 16,640 tasks of paged attention with C++ kernels and orchestration than with those in Rust |
//! | 12 s | four attention kernels and an orchestration with an empty cache, on two cores |
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot start says so by a panic")]

use std::process::{Command, Stdio};

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};

fn argus(line: &str, cache: Option<&std::path::Path>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_argus"));
    command.args(line.split(' ')).stdout(Stdio::null());
    if let Some(cache) = cache {
        command.env("ARGUS_CACHE", cache);
    }
    assert!(command.status().unwrap().success(), "argus {line}");
}

fn processes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("cpp");
    group.sample_size(10);
    // The objects are made once, before anything is measured.
    argus("run vector_example_cpp", None);
    group.bench_function("warm start", |bench| bench.iter(|| argus("run vector_example_cpp", None)));
    for scene in ["paged_attention", "paged_attention_cpp"] {
        let line = format!("run {scene} --case large --runtime trb --skip-golden");
        argus(&line, None);
        group.bench_function(format!("16640 tasks of {scene}"), |bench| bench.iter(|| argus(&line, None)));
    }
    group.bench_function("cold build of paged_attention_cpp", |bench| {
        bench.iter_batched(
            || tempfile::tempdir().unwrap(),
            |cache| argus("run paged_attention_cpp --case CaseSmall1", Some(cache.path())),
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, processes);
criterion_main!(benches);
