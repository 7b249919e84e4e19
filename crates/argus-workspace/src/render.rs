//! From a request to the files of a workspace, in memory.
//!
//! Reads the kernel sources and the user's templates; writes nothing. Every path in every file is relative to
//! the workspace or begins with an environment variable.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use argus_abi::args::{GLOBAL_CONTEXT_SLOT, LOCAL_CONTEXT_SLOT, SLOTS};
use argus_abi::{CoreType, Member};
use argus_chip::{Chip, Macro, VendorNames};
use argus_replay::task::place_name;
use serde::Serialize;
use serde_json::{Value, json};

use crate::classify::{Shape, SlotsRead, check_entry, classify, core_of, slots_read};
use crate::config::{Build, CONFIG_FILE, Config, MemberRecord, payload_file};
use crate::error::WorkspaceError;
use crate::host::host_values;
use crate::plan::{LANES, Plan, plan};
use crate::ptoas;
use crate::request::{Backend, Request};
use crate::scan::scan;
use crate::sources::SourceTree;
use crate::task::{Buffer, TaskSpec};
use crate::templates::Templates;

/// The kernel's function on the device and the launcher's on the host.
const SYMBOLS: [&str; 2] = ["replay_entry", "launch_replay"];

/// A file of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFile<'a> {
    /// Relative to the workspace.
    pub path: String,
    pub bytes: Cow<'a, [u8]>,
    pub executable: bool,
}

/// A rendered workspace.
#[derive(Clone, Debug)]
pub struct Project<'a> {
    pub shape: Shape,
    /// Clusters that are launched.
    pub width: u32,
    pub files: Vec<ProjectFile<'a>>,
}

/// Renders every file of the workspace that `request` asks for.
pub fn render(request: &Request) -> Result<Project<'_>, WorkspaceError> {
    request.check()?;
    let sources = Sources::read(&request.task)?;
    match request.backend {
        Backend::Simpler => render_simpler(request, &sources),
        Backend::Ptoas => render_ptoas(request, &sources),
    }
}

/// The kernel sources of a task, read.
struct Sources {
    tree: SourceTree,
    /// Real path of each kernel's source.
    roots: Vec<PathBuf>,
}

impl Sources {
    fn read(task: &TaskSpec) -> Result<Sources, WorkspaceError> {
        let mut tree = SourceTree::default();
        let roots = task.kernels.iter().map(|kernel| tree.add(&kernel.source)).collect::<Result<_, _>>()?;
        Ok(Sources { tree, roots })
    }

    fn slots(&self, kernel: usize) -> SlotsRead {
        slots_read(&scan(self.tree.text(&self.roots[kernel])))
    }

    fn copies(&self, placed: &BTreeMap<&Path, String>) -> Vec<ProjectFile<'static>> {
        let copies = placed.iter().map(|(path, place)| ProjectFile {
            path: place.clone(),
            bytes: Cow::Owned(self.tree.text(path).as_bytes().to_vec()),
            executable: false,
        });
        copies.collect()
    }

    fn members<'a>(&self, task: &'a TaskSpec, placed: &BTreeMap<&Path, String>) -> Vec<MemberRecord<'a>> {
        let members = task.kernels.iter().enumerate().map(|(index, kernel)| {
            let slots = self.slots(index);
            MemberRecord {
                name: &kernel.name,
                func_id: kernel.func_id,
                place: kernel.place.map(place_name),
                source: placed[self.roots[index].as_path()].clone(),
                slots_read: slots.by_number.into_iter().collect(),
                slots_computed: slots.computed,
            }
        });
        members.collect()
    }

    fn needs_pto_isa(&self) -> bool {
        self.tree.external.iter().any(|name| name.starts_with("pto/"))
    }

    fn needs_simpler(&self) -> bool {
        self.tree.external.iter().any(|name| !name.starts_with("pto/"))
    }
}

fn render_simpler<'a>(request: &'a Request, sources: &Sources) -> Result<Project<'a>, WorkspaceError> {
    let task = &request.task;
    let plan = plan(task, shape_of(task, sources)?);
    check_coverage(task, sources)?;
    let placed = sources.tree.placed()?;
    let templates = Templates::load(request.templates.as_deref())?;
    let roots =
        roots(&[(sources.needs_pto_isa(), "PTO_ISA_ROOT"), (sources.needs_simpler(), "SIMPLER_ROOT")]);

    let mut files = sources.copies(&placed);
    let mut text = |path: &str, template: &str, values: Value| -> Result<(), WorkspaceError> {
        let bytes = Cow::Owned(templates.render(template, values)?.into_bytes());
        files.push(ProjectFile { path: path.to_owned(), bytes, executable: path.ends_with(".sh") });
        Ok(())
    };
    let source_of = |kernel: usize| placed[sources.roots[kernel].as_path()].as_str();
    match plan.single_core() {
        Some(core) => text(
            "replay_kernel.cpp",
            "replay_kernel_single.cpp.jinja",
            single_values(request, core, source_of(0)),
        )?,
        None => {
            text("replay_kernel.cpp", "replay_kernel_mix.cpp.jinja", mix_values(request, &plan, &source_of))?
        }
    }
    let mix = plan.shape == Shape::SpmdMix;
    text("replay_launch.cpp", "replay_launch.cpp.jinja", json!({ "mix": mix }))?;
    text("replay_host.cpp", "replay_host.cpp.jinja", host_values(request, &plan)?)?;
    text(
        "CMakeLists.txt",
        "CMakeLists.txt.jinja",
        json!({
                    "roots": roots,
                    "includes": include_path(request, sources),
                    "debug_lines": request.launch.debug_lines,
                    "platform": platform_values(request.chip),
        }),
    )?;
    text(
        "run_collect.sh",
        "run_collect.sh.jinja",
        json!({ "roots": roots, "symbol": SYMBOLS[0], "run_dir": ".", "collect_dir": "collect", "collect": collect_values(request) }),
    )?;

    let build = Build {
        library: "build/libreplay_kernel.so".to_owned(),
        symbols: SYMBOLS.map(str::to_owned).into(),
        base_name: None,
        programs: ["bash", "cmake", "msprof"].map(str::to_owned).into(),
        roots: roots.iter().map(|root| (*root).to_owned()).collect(),
        external_includes: sources.tree.external.iter().cloned().collect(),
    };
    let config = Config::new(request, &plan, sources.members(task, &placed), Vec::new(), build);
    files.push(config_file(&config)?);
    files.extend(task.buffers.iter().enumerate().filter_map(|(index, buffer)| match buffer {
        Buffer::Bytes(bytes) => {
            Some(ProjectFile { path: payload_file(index), bytes: Cow::Borrowed(bytes), executable: false })
        }
        Buffer::Fill { .. } => None,
    }));
    Ok(Project { shape: plan.shape, width: plan.width, files })
}

fn render_ptoas<'a>(request: &'a Request, sources: &Sources) -> Result<Project<'a>, WorkspaceError> {
    let task = &request.task;
    let ([kernel], [root]) = (task.kernels.as_slice(), sources.roots.as_slice()) else {
        return Err(WorkspaceError::MixForPtoas { kernels: task.kernels.len() });
    };
    let placed = sources.tree.placed()?;
    let source = placed[root.as_path()].clone();
    let scanned = scan(sources.tree.text(root));
    let core = core_of(root, kernel.place.map(Member::core_type))?;
    let wanted = Some(kernel.name.as_str()).filter(|name| !name.is_empty());
    let function = ptoas::global_function(root, &scanned, wanted)?;
    let inputs = ptoas::inputs(task, &function)?;
    let plan = plan(task, Shape::of_core(core));
    let templates = Templates::load(request.templates.as_deref())?;
    let roots = roots(&[(true, "PTOAS_ROOT"), (sources.needs_pto_isa(), "PTO_ISA_ROOT")]);
    let testcase = file_word(&function.name);
    let kind = match core {
        CoreType::Aic => "cube",
        CoreType::Aiv => "vec",
    };

    let mut files = sources.copies(&placed);
    let script = templates.render(
        "run_collect_ptoas.sh.jinja",
        json!({
                    "roots": roots,
                    "source": source,
                    "testcase": testcase,
                    "aicore_arch": format!("{}-{kind}", request.chip.vendor.compiler_arch),
                    "pto_isa": sources.needs_pto_isa(),
                    "run_dir": "run",
                    "collect_dir": "../collect",
                    "collect": collect_values(request),
        }),
    )?;
    let bytes = Cow::Owned(script.into_bytes());
    files.push(ProjectFile { path: "run_collect.sh".to_owned(), bytes, executable: true });
    let build = Build {
        library: format!("build/lib{testcase}_kernel.so"),
        symbols: Vec::new(),
        base_name: Some(function.name),
        programs: ["bash", "cmake", "msprof", "python3"].map(str::to_owned).into(),
        roots: roots.iter().map(|root| (*root).to_owned()).collect(),
        external_includes: sources.tree.external.iter().cloned().collect(),
    };
    let input_file = |parameter: &str| format!("inputs/{}.bin", file_word(parameter));
    let names = inputs.iter().map(|(parameter, _)| input_file(parameter)).collect();
    let config = Config::new(request, &plan, sources.members(task, &placed), names, build);
    files.push(config_file(&config)?);
    files.extend(inputs.into_iter().map(|(parameter, bytes)| ProjectFile {
        path: input_file(&parameter),
        bytes: Cow::Owned(bytes),
        executable: false,
    }));
    Ok(Project { shape: plan.shape, width: plan.width, files })
}

/// The shape of the launch: several kernels are a mix whatever their sources say.
fn shape_of(task: &TaskSpec, sources: &Sources) -> Result<Shape, WorkspaceError> {
    let mut shape = None;
    for (kernel, root) in task.kernels.iter().zip(&sources.roots) {
        let scanned = scan(sources.tree.text(root));
        check_entry(root, &scanned)?;
        let own = classify(root, &scanned, kernel.place.map(Member::core_type))?;
        shape = Some(if shape.is_some() { Shape::SpmdMix } else { own });
    }
    shape.ok_or(WorkspaceError::NoKernel)
}

/// Every slot that a source reads by number must have a value.
fn check_coverage(task: &TaskSpec, sources: &Sources) -> Result<(), WorkspaceError> {
    for (index, path) in sources.roots.iter().enumerate() {
        let read = sources.slots(index).by_number;
        if let Some(&slot) = read.iter().find(|slot| **slot >= SLOTS) {
            return Err(WorkspaceError::SlotBeyondEnd { path: path.clone(), slot });
        }
        let contexts = [LOCAL_CONTEXT_SLOT, GLOBAL_CONTEXT_SLOT];
        let given = |slot: &usize| contexts.contains(slot) || task.args.iter().any(|arg| arg.slot() == *slot);
        let slots: Vec<usize> = read.into_iter().filter(|slot| !given(slot)).collect();
        if !slots.is_empty() {
            return Err(WorkspaceError::SlotsNotCovered { path: path.clone(), slots });
        }
    }
    Ok(())
}

fn roots(optional: &[(bool, &'static str)]) -> Vec<&'static str> {
    let needed = optional.iter().filter(|(needed, _)| *needed).map(|(_, root)| *root);
    std::iter::once("CANN_HOME").chain(needed).collect()
}

/// Where the device compiler looks for headers that the workspace does not hold.
fn include_path(request: &Request, sources: &Sources) -> Vec<String> {
    let mut includes = Vec::new();
    if sources.needs_pto_isa() {
        includes.extend(["include", "include/pto"].map(|folder| format!("${{PTO_ISA_ROOT}}/{folder}")));
    }
    if sources.needs_simpler() {
        let (chip, runtime) = (request.chip.hardware, &request.launch.runtime);
        let folders = [
            "simpler_setup/incore".to_owned(),
            "src/common/platform/include".to_owned(),
            format!("src/{chip}/runtime/{runtime}/runtime"),
            format!("src/{chip}/runtime/{runtime}/common"),
            "src/common/task_interface".to_owned(),
            "src/common".to_owned(),
            format!("src/{chip}/platform/include"),
        ];
        includes.extend(folders.map(|folder| format!("${{SIMPLER_ROOT}}/{folder}")));
    }
    includes
}

/// What templates may say about the chip.
fn platform_values(chip: &Chip) -> Value {
    let VendorNames { simulator_dir, soc_version, compiler_arch, defines, compatibility, .. } = chip.vendor;
    let macros = compatibility.iter().map(|Macro { name, value }| json!({ "name": name, "value": value }));
    json!({
        "name": chip.hardware,
        "simulator_dir": simulator_dir,
        "soc_version": soc_version,
        "compiler_arch": compiler_arch,
        "defines": defines,
        "compatibility": macros.collect::<Vec<_>>(),
    })
}

fn collect_values(request: &Request) -> Value {
    json!({
        "simulator_dir": request.chip.vendor.simulator_dir,
        "launch_count": request.launch.launch_count,
        "soc_version": request.soc_version(),
        "msprof_minutes": request.launch.msprof_minutes,
    })
}

fn single_values(request: &Request, core: CoreType, source: &str) -> Value {
    json!({
            "kernel": request.task.name,
            "core": core.name(),
            "core_macro": core_macro(core),
            "source": source,
            "platform": platform_values(request.chip),
    })
}

fn mix_values<'a>(request: &Request, plan: &Plan, source_of: &impl Fn(usize) -> &'a str) -> Value {
    #[derive(Serialize)]
    struct Included<'a> {
        function: &'static str,
        source: &'a str,
    }
    #[derive(Serialize)]
    struct Side<'a> {
        #[serde(rename = "macro")]
        core_macro: &'static str,
        members: Vec<Included<'a>>,
    }
    #[derive(Serialize)]
    struct Call {
        lane: i32,
        function: &'static str,
    }
    let function = |place: Member| {
        // The same source on both vector cores is included once.
        let kernel = plan.kernel_at(place)?;
        let same = place == Member::Aiv1
            && plan.kernel_at(Member::Aiv0).is_some_and(|first| source_of(first) == source_of(kernel));
        Some(match if same { Member::Aiv0 } else { place } {
            Member::Aic => "replay_aic",
            Member::Aiv0 => "replay_aiv0",
            Member::Aiv1 => "replay_aiv1",
        })
    };
    let mut sides: Vec<Side<'_>> = Vec::new();
    for core in [CoreType::Aic, CoreType::Aiv] {
        let mut members: Vec<Included<'_>> = Vec::new();
        for place in Member::ALL.into_iter().filter(|place| place.core_type() == core) {
            let (Some(kernel), Some(function)) = (plan.kernel_at(place), function(place)) else { continue };
            if members.iter().all(|member| member.function != function) {
                members.push(Included { function, source: source_of(kernel) });
            }
        }
        if !members.is_empty() {
            sides.push(Side { core_macro: core_macro(core), members });
        }
    }
    let lanes = [Member::Aiv0, Member::Aiv1].into_iter();
    let aiv_by_lane: Vec<Call> = lanes
        .filter_map(|place| Some(Call { lane: place.sub_block_id(), function: function(place)? }))
        .collect();
    json!({
            "kernel": request.task.name,
            "platform": platform_values(request.chip),
            "slots": SLOTS,
            "local_context_slot": LOCAL_CONTEXT_SLOT,
            "global_context_slot": GLOBAL_CONTEXT_SLOT,
            "lanes": LANES,
            "sides": sides,
            "aic": function(Member::Aic),
            "aic_rows": plan.aic.len(),
            "aiv_by_lane": aiv_by_lane,
            "aiv_rows": plan.aiv.len(),
    })
}

fn core_macro(core: CoreType) -> &'static str {
    match core {
        CoreType::Aic => "__DAV_CUBE__",
        CoreType::Aiv => "__DAV_VEC__",
    }
}

/// A name as part of a file name.
fn file_word(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect()
}

fn config_file(config: &Config<'_>) -> Result<ProjectFile<'static>, WorkspaceError> {
    let mut bytes = serde_json::to_vec_pretty(config).map_err(WorkspaceError::Record)?;
    bytes.push(b'\n');
    Ok(ProjectFile { path: CONFIG_FILE.to_owned(), bytes: Cow::Owned(bytes), executable: false })
}
