//! `argus run --dump-...`: from the flags to a recorded run.

use std::path::PathBuf;

use anyhow::anyhow;
use argus_abi::RuntimeKind;
use argus_abi::capture::ENTRY_BYTES;
use argus_dump::directory::remove_empty;
use argus_dump::{DumpError, DumpSummary, RunDirectory, StatsMode, runs};
use argus_facts::select::{by_id, parse_size};
use argus_facts::{Level, with_causes};
use argus_record::{Hint, Names, RecordProblem, RecordRequest, RecordedRun, record};
use argus_runtime::{Collect, RunReport};
use argus_scene::Case;
use argus_scene::graph::graph;
use argus_scene::play::Stage;

use crate::cli::{DumpArgs, Stats, When};
use crate::failure::{FAILED, Failure, did_you_mean, run_exit_code};
use crate::output;
use crate::settings::settings;

/// What was kept of one round.
#[derive(Debug)]
pub struct Kept {
    pub summary: DumpSummary,
    pub waits: u64,
    pub wait_ns: u64,
}

/// Records every round of a run.
pub struct Recording {
    request: RecordRequest,
    names: Names,
    rounds: u32,
    output: Option<PathBuf>,
    /// The run that is at `output` is replaced.
    force: bool,
    /// Made when the first round starts, so that a run that cannot start leaves no directory.
    directory: Option<RunDirectory>,
    pub kept: Vec<Kept>,
}

impl Recording {
    /// None if nothing is to be captured.
    pub fn new(
        args: &DumpArgs,
        names: Names,
        rounds: u32,
        force: bool,
    ) -> Result<Option<Recording>, Failure> {
        let level = args.dump_tensor.as_deref().map(level).transpose()?;
        let orchestration_args = match args.dump_args.as_deref() {
            None => false,
            Some("") => true,
            Some(value) => return Err(dump_args_value(value)),
        };
        if level.is_none() {
            check_alone(args)?;
        }
        if level.is_none() && !orchestration_args {
            return Ok(None);
        }
        let request = RecordRequest {
            level,
            selectors: args.dump_select.clone(),
            stats: match args.dump_stats {
                None => StatsMode::Off,
                Some(Stats::Beside) => StatsMode::Beside,
                Some(Stats::Instead) => StatsMode::Instead,
            },
            dedupe: !args.no_dedupe,
            collect: collect(args)?,
            orchestration_args,
        };
        let output = args.output.clone();
        Ok(Some(Recording { request, names, rounds, output, force, directory: None, kept: Vec::new() }))
    }

    /// Replaces tasks that a selector counts by their ids, which takes a run of which only the graph is kept.
    pub fn count_tasks(&mut self, case: &Case, runtime: RuntimeKind) -> Result<(), Failure> {
        let graph = || graph(case, runtime).map_err(Failure::failed);
        self.request.selectors = by_id(&self.request.selectors, graph)?;
        Ok(())
    }

    /// Runs one round and keeps its dump.
    pub fn run(&mut self, stage: Stage<'_>) -> Result<RunReport, Failure> {
        let path = self.place(stage.round)?;
        let Stage { device, program, args, config, origin, .. } = stage;
        self.names.origin = origin.cloned();
        let RecordedRun { result, dump, waits, mut problems } =
            record(device, program, args, config, &self.request, &self.names, &path);
        let kept = dump.map(|summary| Kept { summary, waits: waits.0, wait_ns: waits.1 });
        // In a dump without records there is the failure to find, and nothing else.
        let found = kept.as_ref().filter(|kept| kept.summary.records > 0 || result.is_err());
        let next = found.map(|kept| format!("argus find {}", output::shell_word(&kept.summary.directory)));
        let finding = |failure: Failure| match next {
            Some(command) => failure.next(command),
            None => failure,
        };
        match (result, problems.first()) {
            (Err(error), None) => {
                if kept.is_none() {
                    remove_empty(&path);
                }
                Err(finding(Failure::run(error)))
            }
            (_, Some(RecordProblem::Selector(_) | RecordProblem::UnknownKernel { .. })) => {
                // Nothing ran: the directory made for it says nothing.
                remove_empty(&path);
                let problem = problems.remove(0);
                let meant = match &problem {
                    RecordProblem::UnknownKernel { kernel, known, .. } => {
                        did_you_mean(kernel, known.split(", "))
                    }
                    _ => None,
                };
                Err(match problem {
                    RecordProblem::Selector(error) => error.into(),
                    other => Failure::usage(other).hint(meant),
                })
            }
            (result, Some(_)) => {
                let exit_code = result.as_ref().err().map_or(FAILED, run_exit_code);
                let failed = result.err().map(|error| with_causes(&error));
                let said: Vec<String> =
                    failed.into_iter().chain(problems.iter().map(|problem| with_causes(problem))).collect();
                let helps =
                    problems.iter().filter_map(RecordProblem::hint).map(|hint| helps(hint).to_owned());
                let failure = Failure { exit_code, ..Failure::failed(anyhow!("{}", said.join("; "))) };
                Err(finding(helps.fold(failure, Failure::also)))
            }
            (Ok(report), None) => {
                self.kept.extend(kept);
                Ok(report)
            }
        }
    }

    fn place(&mut self, round: u32) -> Result<PathBuf, Failure> {
        if self.directory.is_none() {
            let Names { scene, case, .. } = &self.names;
            let made = match &self.output {
                Some(path) => match RunDirectory::at(path) {
                    Err(DumpError::Occupied { .. }) if self.force => {
                        runs::remove(path).map_err(Failure::usage)?;
                        RunDirectory::at(path)
                    }
                    made => made,
                },
                None => RunDirectory::create(&settings().outputs, scene, case),
            };
            self.directory = Some(made.map_err(|error| match error {
                DumpError::Occupied { .. } => {
                    Failure::usage(error).hint(output::REPLACE_DIRECTORY.to_owned())
                }
                _ => Failure::usage(error),
            })?);
        }
        let directory = self.directory.as_ref().expect("made above");
        let place = if self.rounds == 1 { directory.dump() } else { directory.round(round + 1) };
        place.map_err(Failure::failed)
    }
}

/// What gives a complete capture, in flags of this command line.
fn helps(hint: Hint) -> &'static str {
    match hint {
        Hint::CaptureUnmarked => {
            "use --dump-tensor=full, or --dump-select to choose without editing the program"
        }
        Hint::MoreMemory => {
            "give more memory with --capture-memory, or collect during the run with --collect streaming"
        }
    }
}

fn level(name: &str) -> Result<Level, Failure> {
    Level::from_name(name).ok_or_else(|| {
        Failure::usage(anyhow!("there is no level '{name}'; --dump-tensor takes full, partial or hybrid"))
    })
}

/// The error for a value after `--dump-args`.
pub fn dump_args_value(value: &str) -> Failure {
    Failure::usage(anyhow!(
        "--dump-args takes no value, but was given '{value}': it captures the orchestration's own arguments"
    ))
    .hint("--dump-tensor=LEVEL chooses how much is captured of tasks: full, partial or hybrid".to_owned())
}

/// Flags that only change how tasks are captured are mistakes when they are not.
fn check_alone(args: &DumpArgs) -> Result<(), Failure> {
    let alone = [
        ("--dump-select", !args.dump_select.is_empty()),
        ("--dump-stats", args.dump_stats.is_some()),
        ("--no-dedupe", args.no_dedupe),
        ("--capture-memory", args.capture_memory.is_some()),
        ("--collect after-sync", args.collect == When::AfterSync),
        ("-o", args.output.is_some() && args.dump_args.is_none()),
    ];
    match alone.iter().find(|(_, given)| *given) {
        Some((flag, _)) => {
            Err(Failure::usage(anyhow!("{flag} says how to capture, but nothing is to be captured"))
                .hint("add --dump-tensor".to_owned()))
        }
        None => Ok(()),
    }
}

fn collect(args: &DumpArgs) -> Result<Collect, Failure> {
    let memory = args.capture_memory.as_deref().map(size).transpose()?;
    match (args.collect, memory) {
        (When::Streaming, None) => Ok(Collect::default()),
        (When::Streaming, Some(_)) => {
            Err(Failure::usage(anyhow!("--capture-memory is for --collect after-sync")))
        }
        (When::AfterSync, memory) => {
            let memory_per_ring = memory.unwrap_or(argus_capture::CaptureConfig::AFTER_SYNC_BYTES as u64);
            let memory_per_ring = usize::try_from(memory_per_ring).unwrap_or(usize::MAX);
            if memory_per_ring < 16 * ENTRY_BYTES {
                return Err(Failure::usage(anyhow!(
                    "--capture-memory must be at least {} bytes",
                    16 * ENTRY_BYTES
                )));
            }
            Ok(Collect::AfterSync { memory_per_ring })
        }
    }
}

/// A size as typed.
pub fn size(text: &str) -> Result<u64, Failure> {
    parse_size(text).ok_or_else(|| {
        Failure::usage(anyhow!(
            "'{text}' is not a size; write a number of bytes, or one followed by k, M or G"
        ))
    })
}
