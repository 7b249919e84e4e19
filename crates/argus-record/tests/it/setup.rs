//! From a scene or a small program to a dump that can be read.

use std::path::Path;

use argus_abi::RuntimeKind;
use argus_chip::{A2A3SIM, A5SIM, Chip};
use argus_record::{Names, RecordRequest, RecordedRun, record};
use argus_runtime::{Collect, Device, HostArgs, Program, RunConfig};
use argus_scenes::{self};
use tempfile::TempDir;

use crate::dump::Dump;
use crate::model::Model;

pub const CHIPS: [&Chip; 2] = [&A2A3SIM, &A5SIM];

/// Streaming through rings that are large enough, through rings that are always full, and after the run.
pub const COLLECTS: [Collect; 3] = [
    Collect::Streaming { entries: 4096, payload_bytes: 4 << 20 },
    Collect::Streaming { entries: 8, payload_bytes: 4096 },
    Collect::AfterSync { memory_per_ring: 64 << 20 },
];

/// What is run.
#[derive(Clone)]
pub struct Subject {
    pub program: Program,
    pub args: HostArgs,
    pub config: RunConfig,
    pub names: Names,
}

impl Subject {
    pub fn new(program: Program, args: HostArgs) -> Subject {
        let config = RunConfig { block_dim: Some(3), control_threads: Some(3), ..RunConfig::default() };
        let name = |text: &str| text.to_owned();
        let names =
            Names { scene: name("a test"), case: name("default"), runtime: name("none"), ..Names::default() };
        Subject { program, args, config, names }
    }

    pub fn scene(scene: &str, case: &str, runtime: RuntimeKind) -> Subject {
        let (case, runtime) = argus_scenes::scene(scene).unwrap().case(Some(case), Some(runtime)).unwrap();
        let prepared = case.prepare(runtime, argus_chip::DEFAULT_CHIP).unwrap();
        let mut config = RunConfig {
            block_dim: case.block_dim,
            control_threads: case.control_threads,
            ..RunConfig::default()
        };
        (prepared.configure)(&mut config);
        let names = Names {
            scene: scene.into(),
            case: case.name.clone(),
            runtime: runtime.name().into(),
            ..Names::default()
        };
        Subject { program: prepared.program, args: prepared.args, config, names }
    }

    /// Runs it on a device of its own.
    pub fn record(&self, platform: &'static Chip, request: &RecordRequest) -> Recorded {
        self.record_on(&mut Device::new(platform), request)
    }

    pub fn record_on(&self, device: &mut Device, request: &RecordRequest) -> Recorded {
        let directory = tempfile::tempdir().unwrap();
        let mut args = self.args.clone();
        let run = self.record_into(device, &mut args, request, directory.path());
        Recorded { run, args, directory }
    }

    pub fn record_into(
        &self,
        device: &mut Device,
        args: &mut HostArgs,
        request: &RecordRequest,
        directory: &Path,
    ) -> RecordedRun {
        record(device, &self.program, args, &self.config, request, &self.names, directory)
    }

    /// Runs it at level full on every platform and through every transport: each dump is what the model says.
    pub fn assert_true(&self, model: &Model) {
        for platform in CHIPS {
            for collect in COLLECTS {
                let about = format!("{} on {} by {collect:?}", self.names.scene, platform.name);
                let request = RecordRequest { collect, ..RecordRequest::default() };
                let recorded = self.record(platform, &request);
                model.assert_dump(&recorded.complete(&about), &about);
            }
        }
        let request = RecordRequest { level: Some(argus_facts::Level::Hybrid), ..RecordRequest::default() };
        let dump = self.record(&A2A3SIM, &request).complete("hybrid");
        model.assert_facts(&dump, "hybrid");
        // One scene marks tensors, and the tests of levels look at it.
        if self.names.scene != "dump_tensor_example" {
            assert!(dump.records.iter().all(|record| record.payload.is_none()), "nothing is marked");
        }
    }
}

/// A run that was recorded, and where.
pub struct Recorded {
    pub run: RecordedRun,
    pub args: HostArgs,
    pub directory: TempDir,
}

impl Recorded {
    pub fn dump(&self) -> Dump {
        Dump::read(self.directory.path())
    }

    /// The dump of a run without any fault.
    pub fn complete(&self, about: &str) -> Dump {
        if let Err(error) = &self.run.result {
            panic!("{about}: {error}");
        }
        assert!(self.run.problems.is_empty(), "{about}: {:?}", self.run.problems);
        let dump = self.dump();
        assert_eq!(dump.manifest["status"], "complete", "{about}");
        assert_eq!(dump.manifest["dropped_records"], 0, "{about}");
        assert_eq!(dump.manifest["dropped_bytes"], 0, "{about}");
        assert!(dump.skipped().is_empty(), "{about}: {:?}", dump.skipped());
        assert!(dump.states().values().all(|state| state == "completed"), "{about}");
        let summary = self.run.dump.as_ref().unwrap();
        assert_eq!(summary.records, dump.records.len() as u64, "{about}");
        assert_eq!(summary.payload_bytes, dump.manifest["payload_bytes"].as_u64().unwrap(), "{about}");
        dump
    }

    /// Names of the files that are there.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.directory.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

/// Whether the long forms of tests are asked for.
pub fn long() -> bool {
    std::env::var_os("ARGUS_LONG").is_some_and(|value| value == "1")
}
