//! Collecting with stand-ins for the vendor's programs: what is run, with which words, and what is made of it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use argus_workspace::{CollectOptions, Request, Toolkit, check_export, collect, generate};
use tempfile::TempDir;

use crate::cases;
use crate::compiled::{compile, compiler};
use crate::said;

/// A workspace and a directory of stand-ins that come first on the path.
struct Bench {
    folder: TempDir,
    workspace: PathBuf,
    toolkit: Toolkit,
}

/// Writes its words down, makes a dump without the start addresses beside it, and exports it only with them.
const MSPROF: &str = r#"#!/bin/bash
printf '%s\n' "$PWD" "$@" '' >> "$CALLS/msprof"
for word in "$@"; do
    case "$word" in
        --output=*) output="${word#*=}" ;;
        --export=*) export_from="${word#*=}" ;;
    esac
done
if [[ -z "${export_from:-}" ]]; then
    mkdir -p "$output/OPPROF_1/device0/tmp_dump"
    echo 0x1000 > "$output/OPPROF_1/pc_start_addr.txt"
else
    [[ -s "$export_from/pc_start_addr.txt" ]] || exit 9
    core="$output/OPPROF_20261116/simulator/core0.cubecore0"
    mkdir -p "$core"
    echo '{"traceEvents":[]}' > "$core/../trace.json"
    printf 'bin' > "$core/../visualize_data.bin"
    printf 'instr,addr\nMOV,0x1000\n' > "$core/core0.cubecore0_instr_exe_0.csv"
fi
"#;

/// Writes its words down and puts the library where a build would.
const CMAKE: &str = r#"#!/bin/bash
printf '%s\n' "$@" '' >> "$CALLS/cmake"
if [[ "$1" == --build ]]; then
    mkdir -p build
    cp "$CALLS/library.so" "build/$LIBRARY"
fi
"#;

const PYTHON: &str = r#"#!/bin/bash
printf '%s\n' "$@" '' >> "$CALLS/python3"
mkdir -p testcase/sample/add_tiles
touch testcase/sample/add_tiles/validation_meta.env
"#;

impl Bench {
    /// With a library made from this source; `None` where there is no compiler.
    fn new(request: &Request, library: &str, source: &str) -> Option<Bench> {
        let compiler = compiler()?;
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().join("workspace");
        generate(request, &workspace, false).unwrap();
        fs::write(folder.path().join("library.cpp"), source).unwrap();
        compile(compiler, folder.path(), &["-shared", "-fPIC", "library.cpp", "-o", "library.so"]);
        let programs = folder.path().join("bin");
        fs::create_dir(&programs).unwrap();
        let variables: BTreeMap<String, OsString> = [
            ("CALLS", folder.path().as_os_str().to_owned()),
            ("LIBRARY", library.into()),
            ("ASCEND_HOME_PATH", "/opt/toolkit".into()),
            ("CANN_HOME", "".into()),
            ("PTO_ISA_ROOT", "/opt/pto isa".into()),
            ("SIMPLER_ROOT", "/opt/simpler".into()),
            ("PTOAS_ROOT", "/opt/ptoas".into()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        let path = std::env::join_paths([&programs, Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
        let bench = Bench { folder, workspace, toolkit: Toolkit { path, variables } };
        bench.stand_in("msprof", MSPROF);
        bench.stand_in("cmake", CMAKE);
        bench.stand_in("python3", PYTHON);
        Some(bench)
    }

    fn stand_in(&self, name: &str, script: &str) {
        let path = self.folder.path().join("bin").join(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The words of each call, one list per call.
    fn calls(&self, program: &str) -> Vec<Vec<String>> {
        let text = fs::read_to_string(self.folder.path().join(program)).unwrap();
        text.trim_end().split("\n\n").map(|call| call.lines().map(str::to_owned).collect()).collect()
    }

    fn collect(&self) -> Result<argus_workspace::Collected, String> {
        collect(&self.workspace, &self.toolkit, &CollectOptions::default()).map_err(said)
    }

    fn log(&self, step: &str) -> (String, String) {
        let path = self.workspace.join(format!("logs/{step}.log"));
        (path.display().to_string(), fs::read_to_string(&path).unwrap())
    }
}

const SIMPLER_LIBRARY: &str = "extern \"C\" void replay_entry() {}\nextern \"C\" void launch_replay() {}\n";

fn simpler() -> Option<Bench> {
    Bench::new(&cases::single(), "libreplay_kernel.so", SIMPLER_LIBRARY)
}

#[test]
fn everything_missing_is_said_at_once_and_nothing_is_run() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join("w");
    generate(&cases::single(), &workspace, false).unwrap();
    let toolkit = Toolkit { path: folder.path().as_os_str().to_owned(), variables: BTreeMap::new() };
    let error = collect(&workspace, &toolkit, &CollectOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot collect, because bash is not on the PATH, cmake is not on the PATH, msprof is not on the PATH, CANN_HOME \
         is not set, PTO_ISA_ROOT is not set, SIMPLER_ROOT is not set; the workspace is complete and its run_collect.sh \
         runs wherever they are there"
    );
    assert!(!workspace.join("logs").exists());
}

#[test]
fn a_file_that_cannot_be_run_is_not_a_program() {
    let Some(bench) = simpler() else { return };
    let mut toolkit = bench.toolkit.clone();
    toolkit.path = bench.folder.path().join("bin").into();
    assert_eq!(toolkit.program("msprof"), Some(bench.folder.path().join("bin/msprof")));
    fs::set_permissions(bench.folder.path().join("bin/msprof"), fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(toolkit.program("msprof"), None);
}

#[test]
fn msprof_gets_the_program_the_kernel_and_the_limits() {
    let Some(bench) = simpler() else { return };
    let collected = bench.collect().unwrap();
    assert_eq!(collected.symbol, "replay_entry");
    let simulator = bench.workspace.join("insight_export/OPPROF_20261116/simulator");
    assert_eq!(collected.export.simulator, simulator);
    let table = simulator.join("core0.cubecore0/core0.cubecore0_instr_exe_0.csv");
    assert_eq!(collected.export.instruction_tables, [table]);

    let here = bench.workspace.canonicalize().unwrap().display().to_string();
    assert_eq!(
        bench.calls("msprof"),
        [
            vec![
                &*here,
                "op",
                "simulator",
                "--application=./build/replay_host",
                "--kernel-name=replay_entry",
                "--launch-count=1",
                "--soc-version=Ascend910B1",
                "--timeout=120",
                "--output=collect"
            ],
            vec![
                &*here,
                "op",
                "simulator",
                "--export=collect/OPPROF_1/device0/tmp_dump",
                "--output=insight_export"
            ]
        ]
    );
    assert_eq!(
        bench.calls("cmake"),
        [
            vec![
                "-S",
                ".",
                "-B",
                "build",
                "-DCANN_HOME=/opt/toolkit",
                "-DPTO_ISA_ROOT=/opt/pto isa",
                "-DSIMPLER_ROOT=/opt/simpler"
            ],
            vec!["--build", "build"]
        ]
    );
    let mode = |name: &str| fs::metadata(bench.workspace.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode("collect"), mode("insight_export")], [0o700; 2]);
}

#[test]
fn a_ptoas_kernel_is_collected_by_its_mangled_name() {
    let library = "void add_tiles(float *, float *, float *) {}\nvoid add_tiles_stub() {}\n";
    let Some(bench) = Bench::new(&cases::ptoas(), "libadd_tiles_kernel.so", library) else { return };
    let collected = bench.collect().unwrap();
    assert_eq!(collected.symbol, "_Z9add_tilesPfS_S_");
    assert_eq!(
        bench.calls("python3"),
        [[
            "/opt/ptoas/test/npu_validation/scripts/generate_testcase.py",
            "--input",
            "kernel/add.cpp",
            "--testcase",
            "add_tiles",
            "--output-root",
            "testcase",
            "--run-mode",
            "sim",
            "--soc-version",
            "Ascend910B1",
            "--aicore-arch",
            "dav-c220-vec"
        ]]
    );
    assert_eq!(
        bench.calls("cmake"),
        [
            vec![
                "-S",
                "testcase/sample/add_tiles",
                "-B",
                "build",
                "-DSOC_VERSION=Ascend910B1",
                "-DPTO_ISA_ROOT=/opt/pto isa"
            ],
            vec!["--build", "build", "--target", "add_tiles_sim"]
        ]
    );
    let first = &bench.calls("msprof")[0];
    assert_eq!(first[0], bench.workspace.join("run").canonicalize().unwrap().display().to_string());
    assert_eq!(first[3..5], ["--application=../build/add_tiles_sim", "--kernel-name=_Z9add_tilesPfS_S_"]);
    assert_eq!(first[8], "--output=../collect");
    // The program runs beside a copy of the packed inputs: 1.5, -2.25, 8.0 without the gaps between them.
    let floats = [1.5f32, -2.25, 8.0].into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>();
    assert_eq!(fs::read(bench.workspace.join("run/v1.bin")).unwrap(), floats);
    assert_eq!(fs::read(bench.workspace.join("run/v3.bin")).unwrap(), [0; 12]);
}

#[test]
fn a_given_symbol_must_exist() {
    let library = "void add_tiles(int) {}\nvoid add_tiles(float) {}\n";
    let Some(bench) = Bench::new(&cases::ptoas(), "libadd_tiles_kernel.so", library) else { return };
    let path = bench.workspace.join("build/libadd_tiles_kernel.so");
    assert_eq!(
        bench.collect().unwrap_err(),
        format!(
            "cannot find the kernel in {}: several symbols demangle to add_tiles(...): _Z9add_tilesf, _Z9add_tilesi",
            path.display()
        )
    );
    let with =
        |symbol: &str| CollectOptions { kernel_symbol: Some(symbol.to_owned()), ..CollectOptions::default() };
    let error = collect(&bench.workspace, &bench.toolkit, &with("_Z9add_tilesd")).unwrap_err();
    assert!(said(error).contains("no symbol `_Z9add_tilesd`"));
    let collected = collect(&bench.workspace, &bench.toolkit, &with("_Z9add_tilesf")).unwrap();
    assert_eq!(collected.symbol, "_Z9add_tilesf");
}

#[test]
fn a_build_without_the_entry_is_not_recorded() {
    let source = "extern \"C\" void launch_replay() {}\n";
    let Some(bench) = Bench::new(&cases::single(), "libreplay_kernel.so", source) else { return };
    let error = bench.collect().unwrap_err();
    let path = bench.workspace.join("build/libreplay_kernel.so");
    let start = format!(
        "cannot find the kernel in {}: no symbol `replay_entry`: the build lacks it; exported are launch_replay",
        path.display()
    );
    assert!(error.starts_with(&start), "{error}");
    assert!(!bench.folder.path().join("msprof").exists());

    bench.stand_in("cmake", "#!/bin/bash\n");
    fs::remove_file(&path).unwrap();
    let error = bench.collect().unwrap_err();
    assert!(error.starts_with(&format!("cannot read the built library {}: ", path.display())), "{error}");
}

#[test]
fn a_failing_step_names_its_log() {
    let Some(bench) = simpler() else { return };
    bench.stand_in("msprof", "#!/bin/bash\necho no licence >&2\nexit 4\n");
    let error = bench.collect().unwrap_err();
    let (path, text) = bench.log("collect");
    assert_eq!(error, format!("step collect failed (exit status: 4); its output is in {path}"));
    assert_eq!(text, "no licence\n");

    bench.stand_in("msprof", "#!/bin/bash\n");
    assert!(bench.collect().unwrap_err().starts_with("step collect failed (exit status: 3)"));
    assert_eq!(bench.log("collect").1, "run_collect.sh: msprof left no device0/tmp_dump below collect\n");

    bench.stand_in("cmake", "#!/bin/bash\necho no compiler; exit 1\n");
    let error = bench.collect().unwrap_err();
    let (path, text) = bench.log("build");
    assert_eq!(error, format!("step build failed (exit status: 1); its output is in {path}"));
    assert_eq!(text, "no compiler\n");
}

#[test]
fn a_step_that_takes_too_long_is_ended() {
    let Some(bench) = simpler() else { return };
    bench.stand_in("cmake", "#!/bin/bash\nsleep 100000\n");
    let options = CollectOptions { max_time: Duration::ZERO, ..CollectOptions::default() };
    let error = collect(&bench.workspace, &bench.toolkit, &options).unwrap_err();
    let (path, _) = bench.log("build");
    assert_eq!(error.to_string(), format!("timed out after 0 s in step build; its output is in {path}"));
}

#[test]
fn an_interrupted_step_is_ended_and_named() {
    let Some(bench) = simpler() else { return };
    bench.stand_in("cmake", "#!/bin/bash\nsleep 100000\n");
    let options =
        CollectOptions { interrupted: Arc::new(AtomicBool::new(true)), ..CollectOptions::default() };
    let error = collect(&bench.workspace, &bench.toolkit, &options).unwrap_err();
    let (path, _) = bench.log("build");
    assert_eq!(error.to_string(), format!("interrupted in step build; its output is in {path}"));
}

#[test]
fn an_earlier_export_does_not_count() {
    let Some(bench) = simpler() else { return };
    bench.collect().unwrap();
    bench.stand_in("msprof", "#!/bin/bash\nmkdir -p collect/OPPROF_2/device0/dump\n");
    assert_eq!(
        bench.collect().unwrap_err(),
        format!(
            "no OPPROF_*/simulator directory in {}: msprof exported nothing",
            bench.workspace.join("insight_export").display()
        )
    );
}

#[test]
fn only_a_workspace_is_collected() {
    let folder = tempfile::tempdir().unwrap();
    let failure = || {
        let error = collect(folder.path(), &Toolkit::default(), &CollectOptions::default()).unwrap_err();
        said(error).replace(&*folder.path().to_string_lossy(), "W")
    };
    assert!(failure().starts_with("W is not a workspace: insight_trace_config.json: No such file"));
    let record = |text: &str| fs::write(folder.path().join("insight_trace_config.json"), text).unwrap();
    record("{}");
    assert!(failure().contains("W is not a workspace: insight_trace_config.json: missing field `build`"));
    record(
        "{\"build\":{\"library\":\"../k.so\",\"symbols\":[],\"base_name\":null,\"programs\":[],\"roots\":[],\
         \"external_includes\":[]}}",
    );
    assert_eq!(
        failure(),
        "W is not a workspace: insight_trace_config.json: the library `../k.so` is outside"
    );
}

#[test]
fn the_workspace_script_says_which_root_is_not_set() {
    let Some(bench) = simpler() else { return };
    let run = |words: &[&str], root: &str| {
        let output = std::process::Command::new("bash")
            .arg(bench.workspace.join("run_collect.sh"))
            .args(words)
            .env("PATH", &bench.toolkit.path)
            .envs(&bench.toolkit.variables)
            .env_remove(root)
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(
        run(&["build"], "PTO_ISA_ROOT"),
        (Some(2), "run_collect.sh: PTO_ISA_ROOT is not set\n".to_owned())
    );
    assert_eq!(
        run(&["build"], "ASCEND_HOME_PATH"),
        (Some(2), "run_collect.sh: CANN_HOME is not set\n".to_owned())
    );
    let unknown = "run_collect.sh: unknown step 'clean' (build, collect)\n";
    assert_eq!(run(&["clean"], "PTOAS_ROOT"), (Some(2), unknown.to_owned()));
    // Started from anywhere, without words, it does everything.
    assert_eq!(run(&[], "PTOAS_ROOT"), (Some(0), String::new()));
    assert!(check_export(&bench.workspace).is_ok());
}

#[test]
fn an_incomplete_export_is_refused_by_file() {
    let folder = tempfile::tempdir().unwrap();
    let failure = || {
        let error = check_export(folder.path()).unwrap_err();
        said(error).replace(&*folder.path().to_string_lossy(), "W")
    };
    let nothing = "no OPPROF_*/simulator directory in W/insight_export: msprof exported nothing";
    assert_eq!(failure(), nothing);
    let simulator = folder.path().join("insight_export/OPPROF_2/simulator");
    fs::create_dir_all(folder.path().join("insight_export/OPPROF_3")).unwrap();
    assert_eq!(failure(), nothing);
    fs::create_dir_all(&simulator).unwrap();
    let place = "W/insight_export/OPPROF_2/simulator";
    assert_eq!(failure(), format!("the export in {place} lacks trace.json and visualize_data.bin"));
    fs::write(simulator.join("trace.json"), "{\"traceEvents\":[").unwrap();
    fs::write(simulator.join("visualize_data.bin"), "").unwrap();
    assert_eq!(failure(), format!("the export in {place} lacks visualize_data.bin"));
    fs::write(simulator.join("visualize_data.bin"), "b").unwrap();
    assert!(failure().starts_with(&format!("{place}/trace.json is broken: EOF while parsing a list")));
    fs::write(simulator.join("trace.json"), "[]").unwrap();
    assert_eq!(failure(), format!("no core*/*instr_exe*.csv in {place}: msprof saw no instruction"));
    let core = simulator.join("core0.veccore1");
    fs::create_dir(&core).unwrap();
    fs::write(core.join("core0.veccore1_code_exe_0.csv"), "a\nb\n").unwrap();
    assert_eq!(failure(), format!("no core*/*instr_exe*.csv in {place}: msprof saw no instruction"));
    let table = core.join("core0.veccore1_instr_exe_0.csv");
    fs::write(&table, "instr,addr\n").unwrap();
    assert_eq!(
        failure(),
        format!(
            "{place}/core0.veccore1/core0.veccore1_instr_exe_0.csv is broken: it has no row below its header"
        )
    );
    fs::write(&table, "instr,addr\nMOV,1\n").unwrap();
    assert_eq!(check_export(folder.path()).unwrap().instruction_tables, [table]);
}
