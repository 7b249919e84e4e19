//! A scene: an orchestration with its kernels, in one or more cases, on one or more runtimes.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use argus_abi::{DType, FuncId, RuntimeKind};
use argus_chip::Chip;
use argus_facts::{References, SceneOrigin};
use argus_runtime::{HostArgs, Program, RunConfig};
use thiserror::Error;

use crate::compare::Tolerance;
use crate::registry::SceneError;

/// What the commands know of a program that can be run and judged. All of it is owned: a scene may come from a
/// file or from another language as well as from a constant.
#[derive(Clone)]
pub struct Scene {
    pub name: String,
    pub about: String,
    /// The first case is the default.
    pub cases: Vec<Arc<Case>>,
    /// What each kernel should make of its inputs, if the scene knows.
    pub references: Option<Arc<dyn References + Send>>,
}

/// A set of parameters of a scene.
#[derive(Clone)]
pub struct Case {
    pub name: String,
    /// Other names for the same case.
    pub aliases: Vec<String>,
    /// Runtimes it is written for; the first is the default.
    pub runtimes: Vec<RuntimeKind>,
    /// Clusters and control threads it is meant for; the chip's all if nothing is said.
    pub block_dim: Option<u32>,
    pub control_threads: Option<u32>,
    prepare: Arc<Prepare>,
    /// The program alone, where that takes less than all of it.
    program: Option<Arc<MakeProgram>>,
    /// The program for a debugger, where there is such a thing.
    debug: Option<Arc<MakeDebug>>,
}

/// A program in which some kernels can be followed line by line.
#[derive(Debug)]
pub struct DebugProgram {
    pub program: Program,
    /// Their sources, under the names that a debugger has for them.
    pub sources: Vec<PathBuf>,
}

type MakeProgram = dyn Fn(RuntimeKind, &'static Chip) -> Result<Program, PrepareError> + Send + Sync;

type MakeDebug =
    dyn Fn(RuntimeKind, &'static Chip, &[FuncId]) -> Result<DebugProgram, PrepareError> + Send + Sync;

type Prepare = dyn Fn(RuntimeKind, &'static Chip) -> Result<Prepared, PrepareError> + Send + Sync;

/// A case ready to run.
pub struct Prepared {
    pub program: Program,
    pub args: HostArgs,
    pub tolerance: Tolerance,
    /// What the outputs must be; `None` if the scene does not say.
    pub golden: Option<Golden>,
    /// Changes to the run's configuration that belong to the case, such as small rings.
    pub configure: Configure,
    /// Where the program came from, if it was made from files.
    pub origin: Option<Arc<SceneOrigin>>,
}

/// Computes the expected outputs from the arguments as they are before the run.
pub type Golden = Box<dyn Fn(&HostArgs) -> Result<Vec<Expected>, PrepareError> + Send + Sync>;

/// Changes a configuration.
pub type Configure = Box<dyn Fn(&mut RunConfig) + Send + Sync>;

/// What one output must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    pub name: String,
    pub dtype: DType,
    /// The elements in logical order.
    pub bytes: Vec<u8>,
}

impl Prepared {
    /// A program with its arguments, whose outputs are judged by nothing yet, and then bit by bit.
    pub fn new(program: Program, args: HostArgs) -> Prepared {
        Prepared {
            program,
            args,
            tolerance: Tolerance::EXACT,
            golden: None,
            configure: Box::new(|_| ()),
            origin: None,
        }
    }

    pub fn with_tolerance(self, tolerance: Tolerance) -> Prepared {
        Prepared { tolerance, ..self }
    }

    /// What the outputs must be, from the arguments as they are before the run.
    pub fn with_golden(
        self,
        golden: impl Fn(&HostArgs) -> Vec<Expected> + Send + Sync + 'static,
    ) -> Prepared {
        Prepared { golden: Some(Box::new(move |args| Ok(golden(args)))), ..self }
    }
}

impl Expected {
    pub fn f32(name: &str, values: &[f32]) -> Expected {
        Expected { name: name.into(), dtype: DType::F32, bytes: bytemuck::cast_slice(values).to_vec() }
    }
}

/// Why a case cannot be made ready: a source that does not compile, an input file that is missing. The cause says
/// all of it.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct PrepareError(pub Box<dyn Error + Send + Sync>);

impl PrepareError {
    pub fn new(cause: impl Error + Send + Sync + 'static) -> PrepareError {
        PrepareError(Box::new(cause))
    }
}

impl Scene {
    pub fn new(name: &str, about: &str) -> Scene {
        Scene { name: name.into(), about: about.into(), cases: Vec::new(), references: None }
    }

    pub fn with_case(mut self, case: Case) -> Scene {
        self.cases.push(Arc::new(case));
        self
    }

    pub fn with_references(self, references: impl References + Send + 'static) -> Scene {
        Scene { references: Some(Arc::new(references)), ..self }
    }

    /// The case with this name or alias, for a runtime if one is given. Where several cases share an alias,
    /// the runtime decides.
    pub fn case(
        &self,
        name: Option<&str>,
        runtime: Option<RuntimeKind>,
    ) -> Result<(Arc<Case>, RuntimeKind), SceneError> {
        let named = |case: &&Arc<Case>| name.is_none_or(|name| case.names().any(|known| known == name));
        let fits = |case: &Case| runtime.is_none_or(|runtime| case.runtimes.contains(&runtime));
        let case = self.cases.iter().find(|case| named(case) && fits(case));
        match (case, self.cases.iter().find(named)) {
            (Some(case), _) => Ok((Arc::clone(case), runtime.unwrap_or_else(|| case.default_runtime()))),
            (None, Some(case)) => Err(SceneError::NotOnRuntime {
                scene: self.name.clone(),
                case: case.name.clone(),
                runtime: runtime.unwrap_or_else(|| case.default_runtime()),
                known: case.runtimes.iter().map(|runtime| runtime.short()).collect::<Vec<_>>().join(", "),
            }),
            (None, None) => Err(SceneError::Case {
                scene: self.name.clone(),
                name: name.unwrap_or_default().into(),
                known: self.cases.iter().map(|case| &case.name[..]).collect::<Vec<_>>().join(", "),
            }),
        }
    }
}

impl Case {
    /// A case that is always ready, on every chip.
    pub fn new(
        name: &str,
        runtimes: &[RuntimeKind],
        prepare: impl Fn(RuntimeKind) -> Prepared + Send + Sync + 'static,
    ) -> Case {
        Case::prepared_by(name, runtimes, move |runtime, _| Ok(prepare(runtime)))
    }

    /// A case whose code depends on the chip, or may be impossible to get.
    pub fn prepared_by(
        name: &str,
        runtimes: &[RuntimeKind],
        prepare: impl Fn(RuntimeKind, &'static Chip) -> Result<Prepared, PrepareError> + Send + Sync + 'static,
    ) -> Case {
        assert!(!runtimes.is_empty(), "a case is written for at least one runtime");
        Case {
            name: name.into(),
            aliases: Vec::new(),
            runtimes: runtimes.into(),
            block_dim: None,
            control_threads: None,
            prepare: Arc::new(prepare),
            program: None,
            debug: None,
        }
    }

    /// A way to the program that needs no arguments.
    pub fn program_by(
        self,
        program: impl Fn(RuntimeKind, &'static Chip) -> Result<Program, PrepareError> + Send + Sync + 'static,
    ) -> Case {
        Case { program: Some(Arc::new(program)), ..self }
    }

    /// A way to a program for a debugger: with these kernels compiled for it.
    pub fn debug_by(
        self,
        debug: impl Fn(RuntimeKind, &'static Chip, &[FuncId]) -> Result<DebugProgram, PrepareError>
        + Send
        + Sync
        + 'static,
    ) -> Case {
        Case { debug: Some(Arc::new(debug)), ..self }
    }

    pub fn alias(mut self, name: &str) -> Case {
        self.aliases.push(name.into());
        self
    }

    /// The clusters and control threads that the case is meant for.
    pub fn machine(self, block_dim: impl Into<Option<u32>>, control_threads: impl Into<Option<u32>>) -> Case {
        Case { block_dim: block_dim.into(), control_threads: control_threads.into(), ..self }
    }

    /// The name and the aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name).chain(&self.aliases).map(String::as_str)
    }

    pub fn default_runtime(&self) -> RuntimeKind {
        self.runtimes[0]
    }

    /// The program and its arguments, for a runtime that the case is written for.
    pub fn prepare(&self, runtime: RuntimeKind, chip: &'static Chip) -> Result<Prepared, PrepareError> {
        (self.prepare)(runtime, chip)
    }

    /// The program alone, for work that has arguments of its own.
    pub fn program(&self, runtime: RuntimeKind, chip: &'static Chip) -> Result<Program, PrepareError> {
        match &self.program {
            Some(program) => program(runtime, chip),
            None => Ok(self.prepare(runtime, chip)?.program),
        }
    }

    /// The program with some kernels compiled for a debugger. `None` where kernels are not compiled from sources.
    pub fn debug_program(
        &self,
        runtime: RuntimeKind,
        chip: &'static Chip,
        kernels: &[FuncId],
    ) -> Option<Result<DebugProgram, PrepareError>> {
        self.debug.as_ref().map(|debug| debug(runtime, chip, kernels))
    }

    /// How the case wants to be run on a chip. One that is made for a larger chip uses what this one has.
    pub fn config(&self, prepared: &Prepared, chip: &Chip) -> RunConfig {
        let mut config = RunConfig {
            block_dim: self.block_dim.map(|clusters| clusters.min(chip.clusters)),
            control_threads: self.control_threads.map(|threads| threads.min(chip.control_threads)),
            // What was made from files is code that Rust did not check.
            isolated: prepared.origin.is_some(),
            ..RunConfig::default()
        };
        (prepared.configure)(&mut config);
        config
    }
}

impl fmt::Debug for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scene").field("name", &self.name).field("cases", &self.cases).finish_non_exhaustive()
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case")
            .field("name", &self.name)
            .field("runtimes", &self.runtimes)
            .finish_non_exhaustive()
    }
}
