//! A captured run, from request to dump directory.
//!
//! Runtime and dump do not know each other: the one delivers entries to a sink, the other is a sink. This
//! crate joins them for the code that runs programs, the command line or another language, and holds the run
//! to the promise of a capture: every record, or a stated reason why it is not there. An empty or partial
//! capture is an error.
//!
//! ```
//! use argus_chip::DEFAULT_CHIP;
//! use argus_record::{Names, RecordRequest, record};
//! use argus_runtime::{Device, RunConfig};
//!
//! let (case, runtime) = argus_scenes::scene("vector_example")?.case(None, None)?;
//! let mut prepared = case.prepare(runtime, DEFAULT_CHIP)?;
//! let directory = tempfile::tempdir()?;
//!
//! let mut device = Device::new(DEFAULT_CHIP);
//! let (config, request) = (RunConfig::default(), RecordRequest::default());
//! let (program, args) = (&prepared.program, &mut prepared.args);
//! let run = record(&mut device, program, args, &config, &request, &Names::default(), directory.path());
//!
//! let report = run.result?;
//! assert!(run.problems.is_empty(), "every record, or a reason");
//! let dump = argus_dump::read::Dump::open(directory.path())?;
//! let graph = dump.graph().expect("it is written beside the records");
//! assert_eq!(graph.tasks.len() as u64, report.tasks);
//! assert_eq!(dump.len() as u64, run.dump.expect("it was finished").records);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod problem;
mod request;

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use argus_abi::Kind;
use argus_dump::{
    DumpInfo, DumpOptions, DumpSummary, DumpWriter, OrchestrationArg, RunEnd, RunStatus, StatsMode,
};
use argus_facts::{Level, SceneOrigin, with_causes};
use argus_runtime::{
    CaptureRequest, CapturedRun, Device, HostArgs, Injected, Opening, Program, RunConfig, RunError, RunReport,
};
use serde_json::{Value, json};

pub use problem::{Hint, RecordProblem};
pub use request::RecordRequest;

/// Names of what is run, for the dump.
#[derive(Clone, Debug, Default)]
pub struct Names {
    pub scene: String,
    pub case: String,
    pub runtime: String,
    /// Where the program's code came from, if that is known.
    pub origin: Option<Arc<SceneOrigin>>,
}

/// How a recorded run ended.
pub struct RecordedRun {
    pub result: Result<RunReport, RunError>,
    /// What the dump holds; missing if none could be finished.
    pub dump: Option<DumpSummary>,
    /// Time the device spent waiting for the collector, and how often.
    pub waits: (u64, u64),
    /// What is wrong with the capture itself. Empty: it is complete.
    pub problems: Vec<RecordProblem>,
}

/// Runs a program and writes what the request asks for to `directory`, which exists and holds no dump.
pub fn record(
    device: &mut Device,
    program: &Program,
    args: &mut HostArgs,
    config: &RunConfig,
    request: &RecordRequest,
    names: &Names,
    directory: &Path,
) -> RecordedRun {
    let selection = Arc::new(match request.selection() {
        Ok(selection) => selection,
        Err(problem) => return refused(problem),
    });
    if let Some(problem) = RecordProblem::unknown_kernel(&selection, &program.kernels) {
        return refused(problem);
    }
    let capture = CaptureRequest {
        selection: Arc::clone(&selection),
        stats_only: request.stats == StatsMode::Instead,
        collect: request.collect,
    };
    let chip = device.chip().name;
    // Arguments are named before the run borrows them.
    let named: Vec<_> = args.tensors.iter().map(|tensor| (tensor.name.clone(), tensor.dtype)).collect();
    let created = Cell::new(false);
    let open = |opening: &Opening<'_>| {
        let mut info = DumpInfo {
            scene: names.scene.clone(),
            case: names.case.clone(),
            platform: chip.into(),
            runtime: names.runtime.clone(),
            level: request.level_name().into(),
            run_id: argus_dump::new_run_id(),
            kernels: program.kernel_infos(),
            origin: names.origin.as_deref().cloned(),
            ..DumpInfo::default()
        };
        describe(&mut info, opening, config, request);
        if request.orchestration_args {
            info.orchestration_args = orchestration_args(opening, &named);
        }
        let options = DumpOptions { dedupe: request.dedupe, stats: request.stats, ..DumpOptions::default() };
        let writer = DumpWriter::create(directory, options, info)?;
        created.set(true);
        Ok(writer)
    };
    let CapturedRun { result, captured } = device.run_captured(program, args, config, &capture, open);
    let Some(captured) = captured else {
        if created.get() {
            withdraw(directory);
        }
        return RecordedRun { result, dump: None, waits: (0, 0), problems: Vec::new() };
    };
    let ledger = captured.account.ledger.clone();
    let total = ledger.total();
    let mut problems: Vec<RecordProblem> = RecordProblem::of_account(captured.account).into_iter().collect();
    let end = RunEnd {
        status: if result.is_ok() { RunStatus::Complete } else { RunStatus::Failed },
        error: result.as_ref().err().map(|error| with_causes(error)),
        ledger,
        injections: device.injected().iter().map(injected).collect(),
        times: device.timed().map(|timed| Arc::clone(&timed.times)).unwrap_or_default(),
    };
    let finish = |mut writer: DumpWriter| {
        if device.marked_only() && request.level == Some(Level::Full) {
            writer.set_level(Level::Partial.name());
        }
        writer.finish(end)
    };
    let dump = match captured.sink.map(finish) {
        Some(Ok(summary)) => Some(summary),
        Some(Err(error)) => {
            problems.push(RecordProblem::Dump(Arc::new(error)));
            None
        }
        None => None,
    };
    if let (Ok(_), Some(summary)) = (&result, &dump) {
        problems.extend(RecordProblem::of_selection(&selection, &program.kernels));
        problems.extend(RecordProblem::of_summary(request, summary));
    }
    RecordedRun { result, dump, waits: (total.waits, total.wait_ns), problems }
}

fn refused(problem: RecordProblem) -> RecordedRun {
    let result = Err(RunError::Capture(Box::new(problem.clone())));
    RecordedRun { result, dump: None, waits: (0, 0), problems: vec![problem] }
}

/// Removes the files of a dump whose run never began. They would look like those of a run that is still active.
fn withdraw(directory: &Path) {
    for name in [argus_dump::RUN_FILE, argus_dump::JOURNAL_FILE, argus_dump::PAYLOAD_FILE] {
        // The run's own error matters more than a file that cannot be removed.
        _ = std::fs::remove_file(directory.join(name));
    }
}

/// What run.json says of the configuration.
fn describe(info: &mut DumpInfo, opening: &Opening<'_>, config: &RunConfig, request: &RecordRequest) {
    let rings: Vec<_> = (config.rings.iter())
        .map(|ring| json!({ "window": ring.window, "heap": ring.heap, "dep_pool": ring.dep_pool }))
        .collect();
    let facts = json!({
        "clusters": opening.clusters,
        "control_threads": opening.control_threads,
        "hazards": format!("{:?}", config.hazards).to_lowercase(),
        "fill": format!("{:?}", config.fill).to_lowercase(),
        "rings": rings,
        "level": request.level_name(),
        "selectors": request.selectors,
        "collect": request.collect_name(),
        "injections": config.injections.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    if let Value::Object(facts) = facts {
        info.config = facts;
    }
    info.versions.insert("argus".into(), env!("CARGO_PKG_VERSION").into());
}

/// What run.json says of a fault that was made on purpose.
fn injected(done: &Injected) -> Value {
    let max_change = match done.max_change {
        finite if finite.is_finite() => json!(finite),
        infinite => infinite.to_string().into(),
    };
    json!({
        "kernel": done.injection.kernel,
        "n": done.injection.nth,
        "kind": done.injection.kind.name(),
        "task_id": done.task.map(|task| task.to_string()),
        "arg_index": done.argument,
        "elements": done.elements,
        "changed": done.changed,
        "max_change": max_change,
        "what": done.what,
    })
}

fn orchestration_args(opening: &Opening<'_>, named: &[(String, argus_abi::DType)]) -> Vec<OrchestrationArg> {
    let shape = |index: usize| opening.entry.shape(index).iter().map(|&dim| u64::from(dim)).collect();
    let tensors = named.iter().enumerate().map(|(index, (name, dtype))| OrchestrationArg {
        name: name.clone(),
        kind: Kind::Tensor,
        dtype: *dtype,
        shape: shape(index),
        address: opening.entry.tensor(index).map_or(0, |tensor| tensor.addr),
        bits: 0,
    });
    let scalars = opening.entry.scalars().iter().enumerate().map(|(index, &bits)| OrchestrationArg {
        name: format!("scalar{index}"),
        kind: Kind::Scalar,
        dtype: argus_abi::DType::U64,
        shape: Vec::new(),
        address: 0,
        bits,
    });
    tensors.chain(scalars).collect()
}
