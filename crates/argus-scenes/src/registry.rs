//! The scenes there are, and what each needs to be run and judged.

use std::fmt;

use argus_abi::{ArgDirection, DType};
use argus_runtime::{HostArgs, HostTensor, Program, RunConfig};
use thiserror::Error;

use crate::compare::Tolerance;
use crate::scenes;

/// The three graph builders, as scenes and users name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RuntimeKind {
    Hbg,
    Abg,
    Trb,
}

impl RuntimeKind {
    pub const ALL: [RuntimeKind; 3] = [RuntimeKind::Hbg, RuntimeKind::Abg, RuntimeKind::Trb];

    pub const fn name(self) -> &'static str {
        match self {
            RuntimeKind::Hbg => "host_build_graph",
            RuntimeKind::Abg => "aicpu_build_graph",
            RuntimeKind::Trb => "tensormap_and_ringbuffer",
        }
    }

    pub const fn short(self) -> &'static str {
        match self {
            RuntimeKind::Hbg => "hbg",
            RuntimeKind::Abg => "abg",
            RuntimeKind::Trb => "trb",
        }
    }

    /// The runtime with this name, long or short.
    pub fn by_name(name: &str) -> Result<RuntimeKind, SceneError> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name || kind.short() == name);
        found.ok_or_else(|| SceneError::Runtime { name: name.into() })
    }
}

impl fmt::Display for RuntimeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.short())
    }
}

/// A scene: an orchestration with its kernels, on one or more runtimes, in one or more cases.
pub struct Scene {
    pub name: &'static str,
    pub about: &'static str,
    /// The first case is the default.
    pub cases: &'static [Case],
}

/// A set of parameters of a scene.
pub struct Case {
    pub name: &'static str,
    /// Names that the reference uses for the same case elsewhere.
    pub aliases: &'static [&'static str],
    /// Runtimes it is written for; the first is the default.
    pub runtimes: &'static [RuntimeKind],
    /// Clusters and control threads it is meant for; the chip's all if nothing is said.
    pub block_dim: Option<u32>,
    pub control_threads: Option<u32>,
    pub prepare: fn(RuntimeKind) -> Prepared,
}

/// A case ready to run.
pub struct Prepared {
    pub program: Program,
    pub args: HostArgs,
    pub tolerance: Tolerance,
    /// What the outputs must be, computed from the arguments as they are before the run.
    pub golden: Golden,
    /// Changes to the run's configuration that belong to the case, such as small rings.
    pub configure: fn(&mut RunConfig),
}

/// Computes the expected outputs from the arguments.
pub type Golden = Box<dyn Fn(&HostArgs) -> Vec<Expected>>;

/// What one output must hold.
#[derive(Clone, Debug)]
pub struct Expected {
    pub name: &'static str,
    pub values: Vec<f32>,
}

/// A scene, case or runtime that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SceneError {
    #[error("there is no scene '{name}'; there are {known}")]
    Scene { name: String, known: String },
    #[error("scene '{scene}' has no case '{name}'; it has {known}")]
    Case { scene: &'static str, name: String, known: String },
    #[error("there is no runtime '{name}'; there are hbg, abg and trb (or their long names)")]
    Runtime { name: String },
    #[error("case '{case}' of scene '{scene}' is not written for {runtime}; it runs on {known}")]
    NotOnRuntime { scene: &'static str, case: &'static str, runtime: RuntimeKind, known: String },
}

/// Every scene, by name.
pub fn scenes() -> &'static [&'static Scene] {
    scenes::ALL
}

/// The scene with this name.
pub fn scene(name: &str) -> Result<&'static Scene, SceneError> {
    scenes().iter().copied().find(|scene| scene.name == name).ok_or_else(|| SceneError::Scene {
        name: name.into(),
        known: list(scenes().iter().map(|scene| scene.name)),
    })
}

impl Scene {
    /// The case with this name or alias, for a runtime if one is given. Where several cases share an alias,
    /// the runtime decides.
    pub fn case(
        &self,
        name: Option<&str>,
        runtime: Option<RuntimeKind>,
    ) -> Result<(&'static Case, RuntimeKind), SceneError> {
        let named =
            |case: &&'static Case| name.is_none_or(|name| case.name == name || case.aliases.contains(&name));
        let fits = |case: &Case| runtime.is_none_or(|runtime| case.runtimes.contains(&runtime));
        let case = self.cases.iter().find(|case| named(case) && fits(case));
        match (case, self.cases.iter().find(named)) {
            (Some(case), _) => Ok((case, runtime.unwrap_or(case.runtimes[0]))),
            (None, Some(case)) => Err(SceneError::NotOnRuntime {
                scene: self.name,
                case: case.name,
                runtime: runtime.unwrap_or(case.runtimes[0]),
                known: list(case.runtimes.iter().map(|runtime| runtime.short())),
            }),
            (None, None) => Err(SceneError::Case {
                scene: self.name,
                name: name.unwrap_or_default().into(),
                known: list(self.cases.iter().map(|case| case.name)),
            }),
        }
    }
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// A tensor argument from elements of any plain type.
pub fn tensor<T: bytemuck::NoUninit>(
    name: &str,
    direction: ArgDirection,
    dtype: DType,
    shape: &[u32],
    values: &[T],
) -> HostTensor {
    let bytes = bytemuck::cast_slice(values).to_vec();
    HostTensor { name: name.into(), direction, dtype, shape: shape.into(), bytes }
}

/// The elements of an argument, read as plain type.
pub fn elements<T: bytemuck::AnyBitPattern>(args: &HostArgs, name: &str) -> Vec<T> {
    let tensor = args.tensors.iter().find(|tensor| tensor.name == name);
    let bytes = tensor.map_or(&[][..], |tensor| &tensor.bytes);
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}
