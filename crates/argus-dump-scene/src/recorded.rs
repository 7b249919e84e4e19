//! A case that is run once more for what a capture of it tells.

use std::path::Path;

use argus_abi::RuntimeKind;
use argus_chip::Chip;
use argus_record::{Names, RecordProblem, RecordRequest, record};
use argus_scene::play::{PlayOptions, play_with};
use argus_scene::{Case, Scene};

use crate::error::LookupError;

/// What came of a run. Cases that fail on purpose have tasks all the same.
pub(crate) struct Recorded {
    pub result: Result<(), LookupError>,
    /// The directory holds a dump.
    pub kept: bool,
    pub problems: Vec<RecordProblem>,
}

/// Runs a case and writes what was asked for into a directory.
pub(crate) fn record_case(
    scene: &Scene,
    (case, runtime): (&Case, RuntimeKind),
    chip: &'static Chip,
    request: &RecordRequest,
    directory: &Path,
) -> Recorded {
    let names = Names {
        scene: scene.name.clone(),
        case: case.name.clone(),
        runtime: runtime.name().into(),
        ..Names::default()
    };
    let options = PlayOptions { skip_golden: true, ..PlayOptions::default() };
    let (mut kept, mut problems) = (false, Vec::new());
    let played = play_with(case, runtime, chip, &options, |stage| {
        let run = record(stage.device, stage.program, stage.args, stage.config, request, &names, directory);
        (problems, kept) = (run.problems, run.dump.is_some());
        run.result.map_err(LookupError::from)
    });
    Recorded { result: played.map(drop), kept, problems }
}
