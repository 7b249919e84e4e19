//! A small capture, written with the crate's own writers.

use std::fs;
use std::path::Path;

use argus_abi::{CoreType, DType, TaskId, TensorArgType};
use argus_artefacts::counters::{CounterRow, Counters};
use argus_artefacts::deps::{
    Deps, DepsArg, DepsEdge, DepsTask, DepsTensor, EdgeSource, Flags, View, tensor_id,
};
use argus_artefacts::names::Names;
use argus_artefacts::times::{Part, Phase, Stream, Submit, Times};

pub const ADDRESS: u64 = 0x7f00_0000_1000;

pub fn id(number: u32) -> TaskId {
    TaskId::new(2, number)
}

fn view() -> View {
    View {
        tensor_id: Some(tensor_id(ADDRESS, 0)),
        dtype: Some(DType::F32),
        shape: vec![4, 4],
        start_offset: Some(0),
        strides: vec![4, 1],
    }
}

/// A matrix task makes a tensor, a vector task reads it, a barrier waits for both, and a mix writes the tensor.
pub fn deps() -> Deps {
    let task = |number, kernel_ids, args| DepsTask {
        id: id(number),
        manual_scope: false,
        early_dispatch: Some(false),
        kernel_ids: Some(kernel_ids),
        block_num: Some(1),
        args,
    };
    let arg = |index, kind, view| DepsArg { index, kind, view };
    let both = Some(Flags { wait: true, retain: true });
    let creator = |succ| DepsEdge {
        arg: Some(0),
        flags: both,
        consumer: Some(view()),
        ..DepsEdge::new(id(0), succ, EdgeSource::Creator)
    };
    let explicit = |pred, succ| DepsEdge { flags: both, ..DepsEdge::new(pred, succ, EdgeSource::Explicit) };
    Deps {
        runtime: None,
        tasks: vec![
            task(0, [7, -1, -1], vec![arg(0, TensorArgType::Output, None)]),
            task(1, [-1, 9, -1], vec![arg(0, TensorArgType::Input, Some(view()))]),
            task(2, [-1, -1, -1], vec![]),
            task(3, [7, 9, 9], vec![arg(0, TensorArgType::Inout, Some(view()))]),
        ],
        tensors: vec![DepsTensor {
            id: tensor_id(ADDRESS, 0),
            address: ADDRESS,
            version: 0,
            dtype: Some(DType::F32),
            elements: Some(16),
        }],
        edges: vec![creator(id(1)), explicit(id(1), id(2)), creator(id(3)), explicit(id(2), id(3))],
    }
}

pub fn times() -> Times {
    let part = |core, task, token, start, end| Part {
        core,
        task,
        func: None,
        token: Some(token),
        dispatch: Some(start - 10),
        receive: Some(start - 4),
        start,
        end,
        finish: Some(end + 5),
        epoch: None,
    };
    let phase = Phase {
        kind: 0,
        start: 80,
        end: 95,
        loop_iter: 3,
        tasks: 2,
        task: Some(id(2)),
        pops: Some([1, 2]),
        ready: Some([[1, 0, 0], [0, 0, 0]]),
        epoch: None,
    };
    Times {
        level: Some(4),
        clock_hz: 50_000_000,
        core_types: vec![CoreType::Aic, CoreType::Aiv, CoreType::Aiv],
        core_threads: vec![Some(0), Some(0), None],
        parts: vec![
            part(0, id(0), 1, 100, 300),
            part(0, id(3), 2, 500, 600),
            part(1, id(1), 1, 320, 400),
            part(1, id(3), 2, 500, 620),
            part(2, id(3), 1, 510, 590),
        ],
        streams: vec![
            Stream { id: 0, phases: vec![phase], ..Stream::default() },
            Stream { id: 1, ..Stream::default() },
        ],
        kinds: vec!["dispatch".to_owned()],
        submits: vec![Submit::new(0, id(0), 50, 60)],
        ..Times::default()
    }
}

pub fn counters() -> Counters {
    let row = |core, number, func, core_type, counters| CounterRow {
        thread: 0,
        core,
        task: id(number),
        func,
        core_type,
        total_cycles: u64::MAX,
        counters,
        event: 2,
        epoch: None,
    };
    Counters {
        columns: vec!["vec_busy_cycles".to_owned(), "icache_req".to_owned()],
        rows: vec![row(0, 0, 7, CoreType::Aic, vec![0, 5]), row(1, 1, 9, CoreType::Aiv, vec![80, 6])],
    }
}

pub const SCOPES: &str = r#"{"version": 6, "fatal": true, "dropped": 0, "total": 3, "task_window_max": [16, 16, 16, 16], "heap_max": [4096, 4096, 4096, 4096], "dep_pool_max": [8, 8, 8, 8], "tensormap_max": 64}
{"site": "(unknown):0", "phase": "begin", "depth": 0, "ring": 0, "task_window_start": 0, "task_window_end": 0, "heap_start": 0, "heap_end": 0, "dep_pool_start": 1, "dep_pool_end": 1, "tensormap": 0}
{"site": "orch.cpp:17", "phase": "begin", "depth": 1, "ring": 1, "task_window_start": 2, "task_window_end": 3, "heap_start": 100, "heap_end": 300, "dep_pool_start": 1, "dep_pool_end": 1, "tensormap": 0}
{"site": "orch.cpp:17", "phase": "end", "depth": 1, "ring": 1, "task_window_start": 4, "task_window_end": 9, "heap_start": 200, "heap_end": 1300, "dep_pool_start": 1, "dep_pool_end": 5, "tensormap": 4}
"#;

pub const LOG: &str =
    "[mono_ns=5][T0x1][TIMING] f: [STRACE] v=1 pid=1 tid=1 inv=1 hid=0 depth=0 name=chip.run ts=1 dur=9\n";

pub fn names() -> Names {
    Names::of_kernels(Some("orch".to_owned()), [(7, "QK".to_owned()), (9, "SF".to_owned())])
}

/// Writes the whole capture.
pub fn write(directory: &Path) {
    fs::create_dir_all(directory.join("scope_stats")).unwrap();
    fs::write(directory.join("deps.json"), deps().text()).unwrap();
    fs::write(directory.join("chip_swimlane_records.json"), times().text()).unwrap();
    fs::write(directory.join("name_map_made.json"), names().text()).unwrap();
    fs::write(directory.join("pmu.csv"), counters().text()).unwrap();
    fs::write(directory.join("scope_stats/scope_stats.jsonl"), SCOPES).unwrap();
    fs::write(directory.join("run.log"), LOG).unwrap();
}
