//! `argus run`: from arguments to a played case.

use std::time::Duration;

use anyhow::anyhow;
use argus_runtime::{ConfigError, PLATFORMS, Platform, PlatformError, RunError};
use argus_scenes::compare::Tolerance;
use argus_scenes::play::{PlayError, PlayOptions, Played, play};
use argus_scenes::registry::{self, Case, RuntimeKind, Scene, SceneError, scenes};

use crate::cli::{Deps, RunArgs};
use crate::failure::{Failure, did_you_mean};

/// A case that was played to its end.
pub struct Summary {
    pub scene: &'static Scene,
    pub case: &'static Case,
    pub runtime: RuntimeKind,
    pub platform: &'static Platform,
    pub played: Played,
}

pub fn run(args: &RunArgs) -> Result<Summary, Failure> {
    let platform = Platform::by_name(&args.platform).map_err(no_platform)?;
    let scene = registry::scene(&args.scene).map_err(|error| {
        let hint = did_you_mean(&args.scene, scenes().iter().map(|scene| scene.name));
        Failure::usage(error)
            .hint(hint.unwrap_or_else(|| "`argus list` shows the scenes and their cases".into()))
    })?;
    let runtime = args.runtime.as_deref().map(RuntimeKind::by_name).transpose().map_err(Failure::usage)?;
    let (case, runtime) = scene.case(args.case.as_deref(), runtime).map_err(|error| no_case(scene, error))?;
    let options = PlayOptions {
        block_dim: args.block_dim,
        control_threads: args.aicpu_threads,
        rounds: rounds(args.rounds)?,
        skip_golden: args.skip_golden,
        tolerance: tolerance(args, case, runtime)?,
        progress_timeout: args.timeout.map(timeout).transpose()?,
        zero_fill: args.no_poison,
        reference_hazards: args.deps == Deps::Reference,
        ..PlayOptions::default()
    };
    let played = play(case, runtime, platform, &options).map_err(not_played)?;
    Ok(Summary { scene, case, runtime, platform, played })
}

fn no_platform(error: PlatformError) -> Failure {
    let hint = match &error {
        PlatformError::Hardware { twin, .. } => Some(format!("-p {twin}")),
        PlatformError::Unknown { name } => did_you_mean(name, PLATFORMS.map(|platform| platform.name)),
    };
    Failure::usage(error).hint(hint)
}

fn no_case(scene: &Scene, error: SceneError) -> Failure {
    let hint = match &error {
        SceneError::Case { name, .. } => {
            let known = scene.cases.iter().flat_map(names_of);
            did_you_mean(name, known)
        }
        SceneError::NotOnRuntime { runtime, .. } => {
            let cases = scene.cases.iter().filter(|case| case.runtimes.contains(runtime));
            let names: Vec<&str> = cases.map(|case| case.name).collect();
            (!names.is_empty()).then(|| format!("cases written for {runtime}: {}", names.join(", ")))
        }
        SceneError::Scene { .. } | SceneError::Runtime { .. } => None,
    };
    Failure::usage(error).hint(hint)
}

fn names_of(case: &Case) -> impl Iterator<Item = &'static str> {
    [case.name].into_iter().chain(case.aliases.iter().copied())
}

fn rounds(rounds: u32) -> Result<u32, Failure> {
    if rounds == 0 {
        return Err(Failure::usage(anyhow!("rounds is 0; at least 1 is needed")));
    }
    Ok(rounds)
}

fn timeout(seconds: f64) -> Result<Duration, Failure> {
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err(Failure::usage(anyhow!("timeout is {seconds}; it must be a number of seconds above 0"))),
    }
}

/// The tolerance asked for; what is not said about it comes from the case.
fn tolerance(args: &RunArgs, case: &Case, runtime: RuntimeKind) -> Result<Option<Tolerance>, Failure> {
    let (rtol, atol) = match (args.rtol, args.atol) {
        (None, None) => return Ok(None),
        (Some(rtol), Some(atol)) => (rtol, atol),
        (rtol, atol) => {
            // Only a prepared case knows its tolerance. Bad numbers should not have to wait for that.
            Tolerance::new(rtol.unwrap_or(0.0), atol.unwrap_or(0.0)).map_err(Failure::usage)?;
            let own = (case.prepare)(runtime).tolerance;
            (rtol.unwrap_or(own.rtol()), atol.unwrap_or(own.atol()))
        }
    };
    Tolerance::new(rtol, atol).map(Some).map_err(Failure::usage)
}

fn not_played(error: PlayError) -> Failure {
    use ConfigError::{NoBlocks, NoControlThreads, TooManyBlocks, TooManyControlThreads, ZeroTime};
    let larger = |enough: &dyn Fn(&Platform) -> bool| PLATFORMS.into_iter().find(|chip| enough(chip));
    match &error {
        PlayError::Run(RunError::Config(NoBlocks | NoControlThreads | ZeroTime { .. })) => {
            Failure::usage(error)
        }
        &PlayError::Run(RunError::Config(TooManyBlocks { asked, .. })) => {
            let chip = larger(&|chip| chip.clusters >= asked);
            Failure::usage(error).hint(chip.map(|chip| format!("{} has {}", chip.name, chip.clusters)))
        }
        &PlayError::Run(RunError::Config(TooManyControlThreads { asked, .. })) => {
            let chip = larger(&|chip| chip.control_threads >= asked);
            Failure::usage(error).hint(chip.map(|chip| format!("{} has {}", chip.name, chip.control_threads)))
        }
        PlayError::Run(RunError::Stuck { .. } | RunError::OrchestrationStuck { .. }) => {
            let hint = "--timeout SECONDS allows more time without progress";
            Failure::failed(error).hint(hint.to_owned())
        }
        _ => Failure::failed(error),
    }
}
