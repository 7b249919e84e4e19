//! Runs a case and judges its outputs.

use std::time::Duration;

use argus_chip::Chip;
use argus_runtime::{Device, HostArgs, Injection, Program, RunConfig, RunError, RunReport};
use thiserror::Error;

use crate::compare::{LengthMismatch, OutputVerdict, Tolerance, compare};
use crate::registry::{Case, Expected, Prepared, RuntimeKind, elements};

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
}

/// One round.
#[derive(Clone, Debug)]
pub struct Round {
    pub report: RunReport,
    /// Empty when the golden was skipped.
    pub outputs: Vec<OutputVerdict>,
}

/// All rounds of a case.
#[derive(Clone, Debug)]
pub struct Played {
    pub rounds: Vec<Round>,
    pub tolerance: Tolerance,
}

impl Played {
    pub fn passed(&self) -> bool {
        self.rounds.iter().all(|round| round.outputs.iter().all(|output| output.pass))
    }
}

/// Why a case could not be played to its end.
#[derive(Debug, Error)]
pub enum PlayError {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Length(#[from] LengthMismatch),
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
    /// Counts from 0.
    pub round: u32,
}

/// Plays a case, each round by `run`.
pub fn play_with<E: From<LengthMismatch>>(
    case: &Case,
    runtime: RuntimeKind,
    chip: &'static Chip,
    options: &PlayOptions,
    mut run: impl FnMut(Stage<'_>) -> Result<RunReport, E>,
) -> Result<Played, E> {
    let Prepared { program, args, tolerance, golden, configure } = (case.prepare)(runtime);
    let mut config = RunConfig {
        // A case made for a larger chip uses what this one has.
        block_dim: case.block_dim.map(|clusters| clusters.min(chip.clusters)),
        control_threads: case.control_threads.map(|threads| threads.min(chip.control_threads)),
        ..RunConfig::default()
    };
    configure(&mut config);
    config.block_dim = options.block_dim.or(config.block_dim);
    config.control_threads = options.control_threads.or(config.control_threads);
    config.progress_timeout = options.progress_timeout.unwrap_or(config.progress_timeout);
    if options.zero_fill {
        config.fill = argus_gm::Fill::Zero;
    }
    for ring in &mut config.rings {
        ring.window = options.ring_window.unwrap_or(ring.window);
        ring.heap = options.ring_heap.unwrap_or(ring.heap);
    }
    if options.reference_hazards {
        config.hazards = argus_runtime::Hazards::Reference;
    }
    config.injections.clone_from(&options.injections);
    config.timeline = options.timeline;
    if let Some(configure) = options.configure {
        configure(&mut config);
    }
    let tolerance = options.tolerance.unwrap_or(tolerance);
    let mut device = Device::new(chip);
    let mut expected: Option<Vec<Expected>> = None;
    let mut rounds = Vec::new();
    for round in 0..options.rounds.max(1) {
        let mut fresh = args.clone();
        let (device, program, config) = (&mut device, &program, &config);
        let report = run(Stage { device, program, args: &mut fresh, config, round })?;
        let outputs = if options.skip_golden {
            Vec::new()
        } else {
            judge(&fresh, expected.get_or_insert_with(|| golden(&args)), tolerance)?
        };
        rounds.push(Round { report, outputs });
    }
    Ok(Played { rounds, tolerance })
}

fn judge(
    args: &HostArgs,
    expected: &[Expected],
    tolerance: Tolerance,
) -> Result<Vec<OutputVerdict>, LengthMismatch> {
    expected
        .iter()
        .map(|output| compare(output.name, &elements::<f32>(args, output.name), &output.values, tolerance))
        .collect()
}
