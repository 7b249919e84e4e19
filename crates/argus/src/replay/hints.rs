//! What helps with a task that cannot be replayed or written as a workspace, in flags of this command line. The
//! libraries know what would help and no flag.

use argus_replay::{Hint, ReplayError};
use argus_workspace::{CollectError, Setting, WorkspaceError};

use crate::failure::Failure;

/// A task that cannot be found, run or written down. That is blamed on what was typed.
pub fn cannot_replay(error: impl Into<ReplayError>) -> Failure {
    let error = error.into();
    let hint = error.hint().map(replay);
    let failure = match error {
        ReplayError::Damaged { .. } => Failure::failed(error),
        _ => Failure::usage(error),
    };
    failure.hint(hint)
}

/// A workspace that is not written. A place that cannot be written is a failure, the rest is wrong usage.
pub fn cannot_generate(error: WorkspaceError) -> Failure {
    let hint = error.hint().map(workspace);
    let failure = match error {
        WorkspaceError::Write { .. } | WorkspaceError::Memory(_) => Failure::failed(error),
        _ => Failure::usage(error),
    };
    failure.hint(hint)
}

/// A workspace that could not be recorded.
pub fn cannot_collect(error: CollectError) -> Failure {
    let hint = error.hint().map(workspace);
    Failure::failed(error).hint(hint)
}

fn replay(hint: Hint) -> String {
    match hint {
        Hint::NameTask => "name a task with --task ID, --kernel NAME or --func-id N[,N]".to_owned(),
        Hint::NameTaskAndKernel => {
            "name the task with --task ID, and its kernel with --scene S --case C --kernel NAME".to_owned()
        }
        Hint::NameScene => "name the scene and case that it came from with --scene and --case".to_owned(),
        Hint::SmallerNumber => {
            "give a smaller number: both --task KERNEL:N and --nth N count from 0".to_owned()
        }
        Hint::GiveArgument { slot } => format!(
            "capture it with --dump-tensor=full or hybrid, set a scalar with --set-arg {slot}=VALUE, or describe all \
             arguments with --arg-spec FILE"
        ),
        Hint::GivePayload { slot } => {
            format!("give it one with --set-arg {slot}=VALUE, {slot}=random, {slot}=zero or {slot}=FILE.npy")
        }
    }
}

fn workspace(hint: argus_workspace::Hint) -> String {
    use argus_workspace::Hint;
    match hint {
        Hint::GiveSource => "name a kernel, or give its source with --kernel-source FILE".to_owned(),
        Hint::SortSource => "put the file into a folder kernels/aic or kernels/aiv".to_owned(),
        Hint::DescribeArguments => "describe all arguments with --arg-spec FILE".to_owned(),
        Hint::DescribeSmaller => "describe smaller ones with --arg-spec FILE".to_owned(),
        Hint::UseBackend(backend) => format!("use --backend {}", backend.name()),
        Hint::NameFunction => "name one with --kernel NAME".to_owned(),
        Hint::LeaveOneFunction => {
            "a source with one such function launches that one, whatever the kernel is called".to_owned()
        }
        Hint::NameSymbol => "name one with --kernel-symbol NAME".to_owned(),
        Hint::Change(setting) => format!("give another {}", flag(setting)),
        Hint::ReplaceWorkspace => {
            "choose another directory, or replace the workspace with --force".to_owned()
        }
        Hint::RemoveByHand => "--force replaces nothing but a workspace: remove it by hand".to_owned(),
    }
}

fn flag(setting: Setting) -> &'static str {
    match setting {
        Setting::MsprofMinutes => "--msprof-timeout",
        Setting::LaunchCount => "--launch-count",
        Setting::Device => "--device",
        Setting::SocVersion => "--soc-version",
        Setting::Runtime => "--runtime",
    }
}
