//! Runs a case and judges its outputs.

use std::sync::Arc;
use std::time::Duration;

use argus_abi::{ArgDirection, RuntimeKind};
use argus_chip::Chip;
use argus_facts::SceneOrigin;
use argus_runtime::{Device, HostArgs, Injection, Program, RunConfig, RunError, RunReport};
use thiserror::Error;

use crate::compare::{OutputMismatch, OutputVerdict, Tolerance, compare};
use crate::scene::{Case, Expected, PrepareError};

/// What a caller may say about playing a case; everything else comes from the case and the chip.
#[derive(Clone, Debug, Default)]
pub struct PlayOptions {
    pub block_dim: Option<u32>,
    pub control_threads: Option<u32>,
    pub rounds: u32,
    /// Do not compute and compare the expected outputs.
    pub skip_golden: bool,
    pub tolerance: Option<Tolerance>,
    /// Last word on the configuration, after the case had its own.
    pub configure: Option<fn(&mut RunConfig)>,
    pub progress_timeout: Option<Duration>,
    pub zero_fill: bool,
    /// Task slots of every ring.
    pub ring_window: Option<u32>,
    /// Heap bytes of every ring.
    pub ring_heap: Option<u64>,
    pub reference_hazards: bool,
    /// Faults to make on purpose.
    pub injections: Vec<Injection>,
    /// Write down when what ran where.
    pub timeline: bool,
    /// Run in this process, also code that may crash.
    pub in_process: bool,
}

/// One round.
#[derive(Clone, Debug)]
pub struct Round {
    pub report: RunReport,
    /// Empty when nothing was compared: the scene has no golden, or it was skipped.
    pub outputs: Vec<OutputVerdict>,
}

/// All rounds of a case.
#[derive(Clone, Debug)]
pub struct Played {
    pub rounds: Vec<Round>,
    pub tolerance: Tolerance,
    /// Outputs that have no expected values, where others have.
    pub uncompared: Vec<String>,
}

impl Played {
    /// No output differs. Says nothing about outputs that were not compared.
    pub fn passed(&self) -> bool {
        self.rounds.iter().all(|round| round.outputs.iter().all(|output| output.pass))
    }
}

/// Why a case could not be played to its end.
#[derive(Debug, Error)]
pub enum PlayError {
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Output(#[from] OutputMismatch),
}

/// Plays a case on a chip.
pub fn play(
    case: &Case,
    runtime: RuntimeKind,
    chip: &'static Chip,
    options: &PlayOptions,
) -> Result<Played, PlayError> {
    play_with(case, runtime, chip, options, |stage| {
        Ok(stage.device.run(stage.program, stage.args, stage.config)?)
    })
}

/// What a round is run with.
pub struct Stage<'a> {
    pub device: &'a mut Device,
    pub program: &'a Program,
    pub args: &'a mut HostArgs,
    pub config: &'a RunConfig,
    /// Where the program came from.
    pub origin: Option<&'a Arc<SceneOrigin>>,
    /// Counts from 0.
    pub round: u32,
}

/// Plays a case, each round by `run`.
pub fn play_with<E: From<OutputMismatch> + From<PrepareError>>(
    case: &Case,
    runtime: RuntimeKind,
    chip: &'static Chip,
    options: &PlayOptions,
    mut run: impl FnMut(Stage<'_>) -> Result<RunReport, E>,
) -> Result<Played, E> {
    let prepared = case.prepare(runtime, chip)?;
    let config = options.applied(case.config(&prepared, chip));
    let tolerance = options.tolerance.unwrap_or(prepared.tolerance);
    let golden = prepared.golden.as_ref().filter(|_| !options.skip_golden);
    let mut device = Device::new(chip);
    let mut expected: Option<Vec<Expected>> = None;
    let mut rounds = Vec::new();
    for round in 0..options.rounds.max(1) {
        let mut fresh = prepared.args.clone();
        let (device, program, config) = (&mut device, &prepared.program, &config);
        let report = run(Stage {
            device,
            program,
            args: &mut fresh,
            config,
            origin: prepared.origin.as_ref(),
            round,
        })?;
        let outputs = match golden {
            None => Vec::new(),
            Some(golden) => {
                if expected.is_none() {
                    expected = Some(golden(&prepared.args)?);
                }
                judge(&fresh, expected.as_deref().unwrap_or_default(), tolerance)?
            }
        };
        rounds.push(Round { report, outputs });
    }
    let uncompared = expected.map_or_else(Vec::new, |expected| without_expected(&prepared.args, &expected));
    Ok(Played { rounds, tolerance, uncompared })
}

/// Outputs that are not among the expected ones.
fn without_expected(args: &HostArgs, expected: &[Expected]) -> Vec<String> {
    let outputs = args.tensors.iter().filter(|tensor| tensor.direction != ArgDirection::In);
    let unknown = outputs.filter(|tensor| expected.iter().all(|known| known.name != tensor.name));
    unknown.map(|tensor| tensor.name.clone()).collect()
}

impl PlayOptions {
    /// The case's configuration with what the caller says about it.
    fn applied(&self, mut config: RunConfig) -> RunConfig {
        config.block_dim = self.block_dim.or(config.block_dim);
        config.control_threads = self.control_threads.or(config.control_threads);
        config.progress_timeout = self.progress_timeout.unwrap_or(config.progress_timeout);
        if self.zero_fill {
            config.fill = argus_gm::Fill::Zero;
        }
        for ring in &mut config.rings {
            ring.window = self.ring_window.unwrap_or(ring.window);
            ring.heap = self.ring_heap.unwrap_or(ring.heap);
        }
        if self.reference_hazards {
            config.hazards = argus_runtime::Hazards::Reference;
        }
        config.injections.clone_from(&self.injections);
        config.timeline = self.timeline;
        config.isolated &= !self.in_process;
        if let Some(configure) = self.configure {
            configure(&mut config);
        }
        config
    }
}

fn judge(
    args: &HostArgs,
    expected: &[Expected],
    tolerance: Tolerance,
) -> Result<Vec<OutputVerdict>, OutputMismatch> {
    expected
        .iter()
        .map(|output| {
            let actual = args.tensors.iter().find(|tensor| tensor.name == output.name);
            let actual = actual.ok_or_else(|| OutputMismatch::NoOutput { name: output.name.clone() })?;
            compare(&output.name, (actual.dtype, &actual.bytes), (output.dtype, &output.bytes), tolerance)
        })
        .collect()
}
