//! An orchestration and its kernels, compiled and loaded.

use std::borrow::Cow;
use std::ffi::c_char;
use std::path::PathBuf;
use std::sync::Arc;

use argus_abi::{ArgDirection, CoreType, FuncId, RuntimeKind};
use argus_chip::Chip;
use argus_compile::{Compiler, Generation, Object, Role, Unit};
use argus_facts::{OriginFile, SceneOrigin};
use argus_loaded::{Level, LoadedKernel, LoadedOrchestration};
use argus_runtime::{KernelEntry, KernelTable, SourceFile};

use crate::memory::{array, end, give, object_mut, optional_text, sized, text};
use crate::numbers::{core_type, direction};
use crate::status::{ARGUS_ERROR_COMPILE, ARGUS_ERROR_LOAD, Failure, call};

/// A program: sources until it is loaded, code afterwards.
pub struct Program {
    chip: &'static Chip,
    runtime: RuntimeKind,
    orchestration: Option<Orchestration>,
    kernels: Vec<Kernel>,
    pub(crate) loaded: Option<Loaded>,
}

/// What a run needs of a program.
pub(crate) struct Loaded {
    pub program: argus_runtime::Program,
    pub chip: &'static Chip,
    pub runtime: RuntimeKind,
    /// Its sources, for the dump.
    pub origin: Arc<SceneOrigin>,
}

struct Orchestration {
    source: PathBuf,
    entry: Option<String>,
    config: Option<String>,
}

struct Kernel {
    func_id: u32,
    name: String,
    core: CoreType,
    source: PathBuf,
    signature: Vec<ArgDirection>,
}

/// A kernel of a program.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelSource {
    /// sizeof(argus_kernel_source)
    pub size: usize,
    /// The number by which the orchestration submits it.
    pub func_id: u32,
    /// ARGUS_CORE_AIC or ARGUS_CORE_AIV
    pub core: i32,
    /// What dumps and messages call it.
    pub name: *const c_char,
    /// The path of its C++ source.
    pub source: *const c_char,
    /// What it does with each argument: ARGUS_IN, ARGUS_OUT, ARGUS_INOUT, ARGUS_SCALAR. May be empty.
    pub signature: *const i32,
    pub signature_length: usize,
}

/// The orchestration of a program.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OrchestrationSource {
    /// sizeof(argus_orchestration_source)
    pub size: usize,
    /// The path of its C++ source.
    pub source: *const c_char,
    /// The function that builds the graph; null: aicpu_orchestration_entry
    pub entry: *const c_char,
    /// The function that says how many arguments are expected; null: aicpu_orchestration_config, if it is there
    pub config: *const c_char,
}

/// Makes an empty program for a platform (a name that `argus run --platform` takes) and a runtime ("trb", "hbg", "abg", or their long names).
///
/// # Safety
/// The texts end with a zero byte; the place for the result may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argus_program_create(
    platform: *const c_char,
    runtime: *const c_char,
    program: *mut *mut Program,
) -> i32 {
    call("argus_program_create", || {
        // SAFETY: the caller promises texts and a place.
        let (platform, runtime) = unsafe { (text(platform, "platform")?, text(runtime, "runtime")?) };
        let chip = Chip::by_name(platform)?;
        let runtime = RuntimeKind::by_name(runtime).ok_or_else(|| {
            Failure::usage(format!("there is no runtime '{runtime}'; there are trb, hbg and abg"))
        })?;
        let made = Program { chip, runtime, orchestration: None, kernels: Vec::new(), loaded: None };
        // SAFETY: the place is the caller's.
        unsafe { give(program, made) }
    })
}

/// Adds a kernel. A program that is loaded takes no more.
///
/// # Safety
/// The program lives and no other thread uses it; the structure is as large as it says, and so is what it points to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argus_program_add_kernel(program: *mut Program, kernel: *const KernelSource) -> i32 {
    call("argus_program_add_kernel", || {
        // SAFETY: the caller promises a program, a structure and what it points to.
        let (program, kernel) = unsafe { (object_mut(program, "program")?, sized(kernel, "kernel")?) };
        program.must_be_open()?;
        // SAFETY: as above.
        let (name, source, signature) = unsafe {
            (
                text(kernel.name, "name")?,
                text(kernel.source, "source")?,
                array(kernel.signature, kernel.signature_length, "signature")?,
            )
        };
        program.kernels.push(Kernel {
            func_id: kernel.func_id,
            name: name.to_owned(),
            core: core_type(kernel.core)?,
            source: source.into(),
            signature: signature.iter().map(|&number| direction(number)).collect::<Result<_, _>>()?,
        });
        Ok(())
    })
}

/// Says which source builds the graph.
///
/// # Safety
/// As for argus_program_add_kernel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argus_program_set_orchestration(
    program: *mut Program,
    orchestration: *const OrchestrationSource,
) -> i32 {
    call("argus_program_set_orchestration", || {
        // SAFETY: the caller promises a program, a structure and what it points to.
        let (program, given) =
            unsafe { (object_mut(program, "program")?, sized(orchestration, "orchestration")?) };
        program.must_be_open()?;
        // SAFETY: as above.
        let (source, entry, config) = unsafe {
            (
                text(given.source, "source")?,
                optional_text(given.entry, "entry")?,
                optional_text(given.config, "config")?,
            )
        };
        program.orchestration = Some(Orchestration {
            source: source.into(),
            entry: entry.map(str::to_owned),
            config: config.map(str::to_owned),
        });
        Ok(())
    })
}

/// Compiles the sources with the machine's compiler (the variable CXX, g++, clang++), or takes them from the cache, and
/// loads them. It may be called again after a failure.
///
/// # Safety
/// The program lives and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argus_program_load(program: *mut Program) -> i32 {
    call("argus_program_load", || {
        // SAFETY: the caller promises a program.
        let program = unsafe { object_mut(program, "program") }?;
        program.must_be_open()?;
        program.loaded = Some(program.load()?);
        Ok(())
    })
}

/// Ends a program. Null is fine.
///
/// # Safety
/// The program is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argus_program_free(program: *mut Program) {
    // SAFETY: it came from argus_program_create, and this is its last use.
    unsafe { end(program) }
}

impl Program {
    fn must_be_open(&self) -> Result<(), Failure> {
        match self.loaded {
            None => Ok(()),
            Some(_) => Err(Failure::usage("the program is loaded already")),
        }
    }

    fn load(&self) -> Result<Loaded, Failure> {
        let orchestration = self.orchestration.as_ref();
        let orchestration = orchestration.ok_or_else(|| {
            Failure::usage("the program has no orchestration; argus_program_set_orchestration names one")
        })?;
        let objects = self.compile(orchestration)?;
        let quiet = Arc::new(|_: Level, _: &str, _: &str| ());
        let (entry, config) = (orchestration.entry.as_deref(), orchestration.config.as_deref());
        let loaded = LoadedOrchestration::open(&objects[0].path, entry, config, quiet);
        let loaded = loaded.map_err(|error| Failure::error(ARGUS_ERROR_LOAD, &error))?;
        let kernels = self.kernels.iter().zip(&objects[1..]).map(|(kernel, object)| kernel.entry(object));
        let kernels = KernelTable::new(kernels.collect::<Result<Vec<_>, _>>()?);
        let kernels = kernels.map_err(|error| Failure::error(ARGUS_ERROR_LOAD, &error))?;
        let program = argus_runtime::Program { orchestration: loaded.into_orchestration(), kernels };
        let origin = Arc::new(origin(&orchestration.source, &objects));
        Ok(Loaded { program, chip: self.chip, runtime: self.runtime, origin })
    }

    /// The objects: of the orchestration first, then of the kernels in their order.
    fn compile(&self, orchestration: &Orchestration) -> Result<Vec<Object>, Failure> {
        let kernels = self.kernels.iter().map(|kernel| (&kernel.source, Role::Kernel(kernel.core)));
        let sources: Vec<(&PathBuf, Role)> =
            std::iter::once((&orchestration.source, Role::Orchestration)).chain(kernels).collect();
        // A source that cannot be read is an error when it is compiled. Comments may be in any encoding.
        let read = |(source, _): &(&PathBuf, Role)| argus_files::read(source, argus_files::LARGEST_TEXT).ok();
        let texts = sources.iter().filter_map(read).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let texts: Vec<String> = texts.collect();
        let generation = Generation::detect(texts.iter().map(String::as_str));
        let unit = |(source, role): (&PathBuf, Role)| Unit {
            source: source.clone(),
            role,
            generation,
            chip: self.chip,
            runtime: self.runtime,
            include_dirs: Vec::new(),
            defines: Vec::new(),
            root: None,
            debug: false,
        };
        let units: Vec<Unit> = sources.into_iter().map(unit).collect();
        let compiled = Compiler::find(None).and_then(|compiler| compiler.compile(&units));
        compiled.map_err(|error| Failure::error(ARGUS_ERROR_COMPILE, &error))
    }
}

impl Kernel {
    fn entry(&self, object: &Object) -> Result<KernelEntry, Failure> {
        let loaded = LoadedKernel::open(&object.path).map_err(|error| {
            let why = argus_facts::with_causes(&error);
            Failure::text(ARGUS_ERROR_LOAD, format!("kernel {} ({}): {why}", self.func_id, self.name))
        })?;
        let sources = object.sources.iter().map(|source| SourceFile {
            path: Cow::Owned(source.path.to_string_lossy().into_owned()),
            text: Cow::Owned(source.text.clone()),
        });
        let entry = KernelEntry::new(FuncId(self.func_id), &self.name, self.core, &self.signature, loaded);
        Ok(entry.with_sources(&sources.collect::<Vec<_>>()))
    }
}

/// Every file of the author's, once, and the commands.
fn origin(path: &std::path::Path, objects: &[Object]) -> SceneOrigin {
    let mut files: Vec<OriginFile> = Vec::new();
    for source in objects.iter().flat_map(|object| &object.sources) {
        let name = source.path.to_string_lossy().into_owned();
        if !files.iter().any(|file| file.name == name) {
            files.push(OriginFile { name, text: source.text.clone() });
        }
    }
    let commands = objects.iter().map(|object| object.command.clone()).collect();
    SceneOrigin { path: path.to_string_lossy().into_owned(), files, commands }
}
