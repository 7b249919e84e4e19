//! From a scene to a dump, and from a dump to a task.

use argus_abi::RuntimeKind;
use argus_chip::Chip;
use argus_dump::read::Dump;
use argus_record::{Names, RecordRequest, record};
use argus_replay::{CapturedTask, Code, Listing, Proof, TaskChoice, replay};
use argus_runtime::Device;
use argus_scene::Case;
use argus_scenes::{self};
use tempfile::TempDir;

/// A recorded run: its dump and the code that made it.
pub struct Recorded {
    pub directory: TempDir,
    pub code: Code,
    pub platform: &'static Chip,
}

impl Recorded {
    /// Records a case with everything, or with what `selectors` leave.
    pub fn case(
        scene: &str,
        case: &Case,
        runtime: RuntimeKind,
        platform: &'static Chip,
        request: &RecordRequest,
    ) -> Recorded {
        let prepared = case.prepare(runtime, platform).unwrap();
        let config = case.config(&prepared, platform);
        let names = Names {
            scene: scene.into(),
            case: case.name.clone(),
            runtime: runtime.name().into(),
            ..Names::default()
        };
        let directory = tempfile::tempdir().unwrap();
        let mut args = prepared.args;
        let mut device = Device::new(platform);
        // Whether the run succeeds is the test's business: some of them replay a run that failed.
        record(&mut device, &prepared.program, &mut args, &config, request, &names, directory.path());
        Recorded { directory, code: Code::from_program(&prepared.program), platform }
    }

    pub fn named(scene: &str, case: &str, runtime: RuntimeKind, platform: &'static Chip) -> Recorded {
        let (case, runtime) = argus_scenes::scene(scene).unwrap().case(Some(case), Some(runtime)).unwrap();
        Recorded::case(scene, &case, runtime, platform, &RecordRequest::default())
    }

    pub fn dump(&self) -> Dump {
        Dump::open(self.directory.path()).unwrap()
    }

    /// The `nth` task that runs `kernel`.
    pub fn task(&self, kernel: &str, nth: usize) -> CapturedTask {
        let dump = self.dump();
        let selection = TaskChoice { kernel: Some(kernel.into()), nth, ..TaskChoice::default() };
        let listed = Listing::from_dump(&dump).select(&selection).unwrap();
        CapturedTask::from_dump(&dump, &listed, &self.code, None).unwrap()
    }

    pub fn replay(&self, task: &CapturedTask) -> Proof {
        replay(task, &self.code.kernels, self.platform, &argus_replay::Options::default(), 1).unwrap()
    }
}

/// Whether the long forms of tests are asked for.
pub fn long() -> bool {
    std::env::var_os("ARGUS_LONG").is_some_and(|value| value == "1")
}
