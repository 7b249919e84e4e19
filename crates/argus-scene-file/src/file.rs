//! What a `scene.toml` says, as it is written.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

/// A whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SceneFile {
    pub name: String,
    #[serde(default)]
    pub about: String,
    pub runtime: String,
    /// A scene whose arguments, expected outputs and references this one shares, case by case.
    pub twin: Option<String>,
    /// Found out from the sources if it is not said.
    pub generation: Option<String>,
    pub orchestration: OrchestrationText,
    #[serde(rename = "kernel")]
    pub kernels: Vec<KernelText>,
    #[serde(default)]
    pub build: BuildText,
    /// Arguments of the orchestration, in order.
    #[serde(default, rename = "tensor")]
    pub tensors: Vec<TensorText>,
    #[serde(default, rename = "scalar")]
    pub scalars: Vec<ScalarText>,
    pub tolerance: Option<ToleranceText>,
    /// One case called "default" if there is none.
    #[serde(default, rename = "case")]
    pub cases: Vec<CaseText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrchestrationText {
    pub source: PathBuf,
    /// The function that describes the graph.
    pub entry: Option<String>,
    /// The function that says how many arguments it needs.
    pub config: Option<String>,
    #[serde(default)]
    pub defines: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelText {
    pub func_id: u32,
    pub name: String,
    pub source: PathBuf,
    /// `aic` or `aiv`.
    pub core: String,
    /// `in`, `out`, `inout` or `scalar` for each argument.
    #[serde(default)]
    pub signature: Vec<String>,
    #[serde(default)]
    pub defines: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuildText {
    #[serde(default)]
    pub include_dirs: Vec<PathBuf>,
    #[serde(default)]
    pub defines: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorText {
    pub name: String,
    /// `in`, `out` or `inout`.
    pub direction: String,
    pub dtype: String,
    pub shape: Vec<Extent>,
    /// What it holds before the run; zeros if nothing is said.
    pub input: Option<InputText>,
    /// What it must hold after the run.
    pub expected: Option<ArrayText>,
}

/// A number, or the name of one of the case's parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "an extent is a number of elements or the name of one of the case's parameters"
)]
pub enum Extent {
    Number(u32),
    Name(String),
}

/// Exactly one of these.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputText {
    pub fill: Option<f64>,
    /// From and up to.
    pub uniform: Option<[f64; 2]>,
    /// Standard deviation around 0.
    pub normal: Option<f64>,
    /// First value and step.
    pub count: Option<[f64; 2]>,
    /// Whole numbers from 0 up to below this one.
    pub below: Option<u32>,
    pub file: Option<PathBuf>,
    /// Of a file that holds several arrays.
    pub key: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrayText {
    pub file: PathBuf,
    pub key: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScalarText {
    pub name: String,
    pub dtype: String,
    pub value: Value,
}

/// A number, or the name of one of the case's parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a value is a number or the name of one of the case's parameters")]
pub enum Value {
    Number(f64),
    Name(String),
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToleranceText {
    #[serde(default)]
    pub rtol: f64,
    #[serde(default)]
    pub atol: f64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseText {
    pub name: String,
    #[serde(default)]
    pub aliases: Vec<String>,
    /// The case of the scene's twin that this one is like; the one of the same name if it is not said.
    pub twin: Option<String>,
    /// Numbers that shapes and scalars may name.
    #[serde(default)]
    pub params: BTreeMap<String, f64>,
    /// For kernels and orchestration of this case.
    #[serde(default)]
    pub defines: Vec<String>,
    pub block_dim: Option<u32>,
    pub control_threads: Option<u32>,
    pub ring_window: Option<u32>,
    pub ring_heap: Option<u64>,
    pub ring_dep_pool: Option<u32>,
    pub tolerance: Option<ToleranceText>,
    /// In place of those of the scene with the same names.
    #[serde(default, rename = "tensor")]
    pub tensors: Vec<TensorText>,
    #[serde(default, rename = "scalar")]
    pub scalars: Vec<ScalarText>,
}

impl Default for CaseText {
    fn default() -> CaseText {
        CaseText {
            name: "default".into(),
            aliases: Vec::new(),
            twin: None,
            params: BTreeMap::new(),
            defines: Vec::new(),
            block_dim: None,
            control_threads: None,
            ring_window: None,
            ring_heap: None,
            ring_dep_pool: None,
            tolerance: None,
            tensors: Vec::new(),
            scalars: Vec::new(),
        }
    }
}
