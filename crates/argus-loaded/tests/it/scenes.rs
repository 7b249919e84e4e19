//! Whole scenes in the reference's vocabulary, unchanged: each runs here, and its records and edges are those that the
//! reference recorded.

mod recorded;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use argus_abi::{CoreType, FatalCode, FuncId, RuntimeKind};
use argus_chip::{CHIPS, Chip};
use argus_compile::{Compiler, Generation, Role, Toolchain, Unit};
use argus_dump::read::Dump;
use argus_facts::Level;
use argus_loaded::{LoadedKernel, LoadedOrchestration};
use argus_record::{Names, RecordRequest, record};
use argus_runtime::{Device, Hazards, HostArgs, KernelEntry, KernelTable, Program, RunConfig, RunError};

use table::{SCENES, Scene, direction_of, scene};

fn scenes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance/scenes").canonicalize().unwrap()
}

fn compiler() -> Compiler {
    Compiler::with_cache(Toolchain::find(None).unwrap(), Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap()
}

/// Compiles a scene and opens its objects.
fn program(scene: &Scene, chip: &'static Chip) -> Program {
    let sources = scenes().join(scene.name).join("kernels");
    let unit = |source: &str, role| Unit {
        source: sources.join(format!("{source}.cpp")),
        root: Some(sources.clone()),
        role,
        generation: scene.generation,
        chip,
        runtime: scene.runtime,
        include_dirs: Vec::new(),
        defines: Vec::new(),
        debug: false,
    };
    let core = |source: &str, name: &str| {
        if source.starts_with("aic/") || name.ends_with("_aic") { CoreType::Aic } else { CoreType::Aiv }
    };
    let mut units = vec![unit(&format!("orchestration/{}", scene.orchestration), Role::Orchestration)];
    units
        .extend(scene.kernels.iter().map(|(source, name, _)| unit(source, Role::Kernel(core(source, name)))));
    let objects = compiler().compile(&units).unwrap_or_else(|error| panic!("{}: {error:?}", scene.name));
    for object in &objects {
        assert_eq!(object.said, "", "{}: {}", scene.name, object.command);
    }
    let quiet = Arc::new(|_, _: &str, _: &str| ());
    let orchestration = LoadedOrchestration::open(&objects[0].path, scene.entry, None, quiet).unwrap();
    assert_eq!(orchestration.runtime(), scene.runtime);
    let entries =
        (0u32..).zip(scene.kernels).zip(&objects[1..]).map(|((number, (source, name, letters)), object)| {
            let signature: Vec<_> = letters.chars().map(direction_of).collect();
            KernelEntry {
                func_id: FuncId(number),
                name: (*name).into(),
                core_type: core(source, name),
                signature: signature.into(),
                sources: [].into(),
                kernel: Arc::new(LoadedKernel::open(&object.path).unwrap()),
            }
        });
    Program { orchestration: orchestration.into_orchestration(), kernels: KernelTable::new(entries).unwrap() }
}

fn config(scene: &Scene, case: &str) -> RunConfig {
    let mut config = RunConfig { hazards: Hazards::Reference, ..RunConfig::default() };
    (scene.configure)(case, &mut config);
    config
}

/// Records a case and says how it differs from what the reference recorded.
fn differences(scene: &Scene, case: &str, chip: &'static Chip, recorded: &Path) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let program = program(scene, chip);
    let mut args = (scene.args)(case);
    let level = match case {
        "default--dump-args-1" => Level::Partial,
        "default--dump-args-3" => Level::Hybrid,
        _ => Level::Full,
    };
    let request = RecordRequest { level: Some(level), ..RecordRequest::default() };
    let mut device = Device::new(chip);
    let (config, names) = (config(scene, case), Names::default());
    let run = record(&mut device, &program, &mut args, &config, &request, &names, directory.path());
    if let Err(error) = run.result {
        return vec![format!("the run failed: {}", argus_facts::with_causes(&error))];
    }
    assert!(run.problems.is_empty(), "{:?}", run.problems);
    let (theirs, ours) = (Dump::open(recorded).unwrap(), Dump::open(directory.path()).unwrap());
    let verdict = argus_dump::verify::verify(&ours, |_, _| ());
    assert!(verdict.is_sound(), "{} {case}: {verdict:?}", scene.name);
    // The reference captures the inputs of a task once per block, when others of its blocks may have run, and those of
    // a task that is placed early before its producers have written them. We capture once per task, when its inputs
    // are final.
    let input_payloads = !matches!(scene.name, "blocks_and_sync" | "ring_pressure");
    let (mut theirs, mut ours_records) =
        (recorded::records(&theirs, input_payloads), recorded::records(&ours, input_payloads));
    if scene.name == "legacy_graph" {
        // The reference leaves numbers among raw slots out; without them a task could not be replayed.
        let number = "0x0000000000000001 before_dispatch scalar 1 input UINT64 [] strides [] at 0 contiguous true 0 bytes";
        let before = ours_records.len();
        ours_records.retain(|(key, _), _| !key.starts_with(number));
        assert_eq!(ours_records.len(), before - 1);
    }
    if scene.name == "blocks_and_sync" {
        (theirs, ours_records) = (recorded::once(theirs), recorded::once(ours_records));
    }
    let mut found = recorded::differences(&theirs, &ours_records);
    if let Some(theirs) = recorded::recorded_edges(recorded) {
        let ours = recorded::edges(ours.graph().unwrap(), scene.name == "graph_replay");
        found.extend(theirs.difference(&ours).map(|edge| format!("missing edge {edge:?}")));
        found.extend(ours.difference(&theirs).map(|edge| format!("extra edge {edge:?}")));
    }
    found
}

#[test]
fn every_scene_gives_the_records_and_edges_that_the_reference_recorded() {
    let mut failed = Vec::new();
    let mut compared = 0;
    for scene in SCENES {
        for chip in CHIPS {
            for case in scene.cases {
                let recorded = scenes().join(scene.name).join("expected").join(chip.name).join(case);
                if !recorded.is_dir() {
                    continue;
                }
                compared += 1;
                let found = differences(scene, case, chip, &recorded);
                if !found.is_empty() {
                    let shown = found.iter().take(12).map(|line| format!("\n    {line}")).collect::<String>();
                    failed.push(format!(
                        "{} {case} on {}: {} differences{shown}",
                        scene.name,
                        chip.name,
                        found.len()
                    ));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{} of {compared} cases differ:\n{}", failed.len(), failed.join("\n"));
    assert_eq!(compared, recorded_dumps(&scenes()), "every recorded dump is compared with one of ours");
}

/// Directories with a dump of a command that runs a whole test file.
fn recorded_dumps(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir()).fold(0, |sum, path| {
        let is_dump = ["tensor_dump", "args_dump"].iter().any(|name| path.join(name).is_dir());
        let repeats = path.to_string_lossy().ends_with("--pytest");
        sum + if is_dump { usize::from(!repeats) } else { recorded_dumps(&path) }
    })
}

fn run(name: &str, case: &str, chip: &'static Chip) -> (Result<(), RunError>, HostArgs) {
    let scene = scene(name);
    let mut args = (scene.args)(case);
    let result = Device::new(chip).run(&program(scene, chip), &mut args, &config(scene, case));
    (result.map(drop), args)
}

#[test]
fn mistakes_and_fatal_errors_end_with_the_recorded_codes() {
    let mistakes = [("0", 5), ("1", 5), ("2", 7), ("3", 5), ("4", 1)];
    for chip in CHIPS {
        for (which, code) in mistakes {
            let error = run("error_codes", which, chip).0.expect_err(which);
            assert_eq!(error.fatal_code(), FatalCode::from_raw(code), "{which}: {error}");
        }
        run("error_codes", "9", chip).0.unwrap();
        for generation in ["fatal_stop/june", "fatal_stop/august"] {
            let error = run(generation, "", chip).0.expect_err(generation);
            let text = "fatal 9 (EXPLICIT_ORCH_FATAL): stop asked for by the test: 17";
            assert_eq!(error.to_string(), text, "later calls must do nothing");
        }
    }
}

#[test]
fn results_reach_the_host() {
    let f32s = |args: &HostArgs, index: usize| -> Vec<f32> {
        let words = args.tensors[index].bytes.chunks_exact(4);
        words.map(|word| f32::from_le_bytes(word.try_into().unwrap())).collect()
    };
    for chip in CHIPS {
        for generation in ["worker_direct/june", "worker_direct/august"] {
            for k in ["2", "-0.5"] {
                let (result, args) = run(generation, k, chip);
                result.unwrap();
                let k: f32 = k.parse().unwrap();
                let expected: Vec<f32> =
                    f32s(&args, 0).iter().zip(f32s(&args, 1)).map(|(x, y)| x + k * y).collect();
                assert_eq!(f32s(&args, 2), expected);
            }
        }
        // Values that the orchestration itself moved.
        let (result, args) = run("alloc_readback", "default", chip);
        result.unwrap();
        assert_eq!(f32s(&args, 2), [3.0, 31.0, 4.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(args.tensors[1].bytes, [41i32, 42, 7, -2].map(i32::to_le_bytes).concat());
        // A host-built graph copies back what it recorded: (a + b) * 1.5 + a.
        let (result, args) = run("legacy_graph", "default", chip);
        result.unwrap();
        let expected: Vec<f32> =
            f32s(&args, 0).iter().zip(f32s(&args, 1)).map(|(a, b)| (a + b) * 1.5 + a).collect();
        assert_eq!(f32s(&args, 2), expected);
    }
}

#[test]
fn rounds_start_from_the_same_state() {
    for chip in CHIPS {
        for name in ["rounds_state", "inplace_war"] {
            let scene = scene(name);
            let (program, mut device) = (program(scene, chip), Device::new(chip));
            let rounds: Vec<HostArgs> = (0..3)
                .map(|_| {
                    let mut args = (scene.args)("default");
                    device.run(&program, &mut args, &config(scene, "default")).unwrap();
                    args
                })
                .collect();
            assert!(rounds.iter().all(|round| *round == rounds[0]));
        }
    }
}

#[test]
fn generations_are_told_by_their_words() {
    for scene in SCENES {
        let directory = scenes().join(scene.name).join("kernels/orchestration");
        let text = fs::read_to_string(directory.join(format!("{}.cpp", scene.orchestration))).unwrap();
        assert_eq!(Generation::detect([&text[..]]), scene.generation, "{}", scene.name);
        assert!(matches!(scene.runtime, RuntimeKind::Trb | RuntimeKind::Hbg));
    }
}
