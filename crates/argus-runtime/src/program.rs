//! What a caller hands over: an orchestration, its kernels, its arguments.

use std::fmt;
use std::sync::Arc;

use argus_abi::args::KernelAbi;
use argus_abi::{ArgDirection, DType, Tensor};
use argus_facts::KernelInfo;

use crate::error::{ConfigError, Fatal};
use crate::graph::abg::Abg;
use crate::graph::hbg::Hbg;
use crate::graph::trb::Trb;
use crate::kernel_table::{KernelEntry, KernelTable};

/// A function that describes a graph through a builder `B`.
pub type Entry<B> = Arc<dyn Fn(&mut B, &EntryArgs) -> Result<(), Fatal> + Send + Sync>;

/// An orchestration for one of the three runtimes.
#[derive(Clone)]
pub enum Orchestration {
    HostBuildGraph(Entry<Hbg>),
    /// A host-built graph whose edges and memory come as in tensormap_and_ringbuffer.
    HostBuildTensorGraph(Entry<Trb>),
    AicpuBuildGraph(Entry<Abg>),
    TensormapAndRingbuffer(Entry<Trb>),
}

impl fmt::Debug for Orchestration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Orchestration::HostBuildGraph(_) | Orchestration::HostBuildTensorGraph(_) => "host_build_graph",
            Orchestration::AicpuBuildGraph(_) => "aicpu_build_graph",
            Orchestration::TensormapAndRingbuffer(_) => "tensormap_and_ringbuffer",
        })
    }
}

impl Orchestration {
    /// How the kernels of its tasks get their arguments.
    pub fn kernel_abi(&self) -> KernelAbi {
        match self {
            Orchestration::HostBuildGraph(_) => KernelAbi::Raw,
            Orchestration::HostBuildTensorGraph(_)
            | Orchestration::AicpuBuildGraph(_)
            | Orchestration::TensormapAndRingbuffer(_) => KernelAbi::Tensors,
        }
    }
}

/// An orchestration and the kernels it submits.
#[derive(Clone, Debug)]
pub struct Program {
    pub orchestration: Orchestration,
    pub kernels: KernelTable,
}

impl Program {
    /// The kernels as a dump describes them, sorted by number.
    pub fn kernel_infos(&self) -> Vec<KernelInfo> {
        let abi = self.orchestration.kernel_abi();
        let info = |entry: &KernelEntry| KernelInfo {
            func_id: entry.func_id.0,
            name: entry.name.to_string(),
            core_type: entry.core_type,
            signature: entry.signature.to_vec(),
            abi,
        };
        self.kernels.iter().map(info).collect()
    }
}

/// A tensor argument of a run, in host memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostTensor {
    pub name: String,
    pub direction: ArgDirection,
    pub dtype: DType,
    pub shape: Vec<u32>,
    pub bytes: Vec<u8>,
}

/// The arguments of a run. Outputs are overwritten when it succeeds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostArgs {
    pub tensors: Vec<HostTensor>,
    pub scalars: Vec<u64>,
}

impl HostArgs {
    /// Checks every tensor's bytes against its shape.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        for tensor in &self.tensors {
            let numel = tensor.shape.iter().try_fold(1u64, |n, &dim| n.checked_mul(u64::from(dim)));
            let expected = numel.and_then(|numel| tensor.dtype.packed_bytes(numel)).unwrap_or(u64::MAX);
            let got = tensor.bytes.len() as u64;
            if got != expected {
                return Err(ConfigError::ArgumentSize { name: tensor.name.clone(), got, expected });
            }
        }
        Ok(())
    }
}

/// The arguments as the orchestration sees them.
#[derive(Clone, Debug, Default)]
pub struct EntryArgs {
    /// On the device; empty for a host-built graph, whose orchestration moves data itself.
    pub(crate) device: Vec<Tensor>,
    /// On the host, for a host-built graph.
    pub(crate) host: Vec<HostTensor>,
    pub(crate) scalars: Vec<u64>,
}

impl EntryArgs {
    /// A tensor argument in device memory.
    pub fn tensor(&self, index: usize) -> Result<&Tensor, Fatal> {
        self.device.get(index).ok_or_else(|| missing("tensor", index, self.device.len()))
    }

    /// All tensor arguments in device memory.
    pub fn tensors(&self) -> &[Tensor] {
        &self.device
    }

    /// All tensor arguments in host memory.
    pub fn host_tensors(&self) -> &[HostTensor] {
        &self.host
    }

    /// The bytes of a tensor argument in host memory.
    pub fn bytes(&self, index: usize) -> Result<&[u8], Fatal> {
        let tensor = self.host.get(index).ok_or_else(|| missing("host tensor", index, self.host.len()))?;
        Ok(&tensor.bytes)
    }

    /// The shape of a tensor argument, wherever it lies.
    pub fn shape(&self, index: usize) -> &[u32] {
        let host = self.host.get(index).map(|tensor| &tensor.shape[..]);
        self.device.get(index).map(Tensor::shape).or(host).unwrap_or_default()
    }

    /// The raw bits of all scalar arguments.
    pub fn scalars(&self) -> &[u64] {
        &self.scalars
    }

    /// The raw bits of a scalar argument.
    pub fn scalar(&self, index: usize) -> Result<u64, Fatal> {
        self.scalars.get(index).copied().ok_or_else(|| missing("scalar", index, self.scalars.len()))
    }
}

fn missing(what: &str, index: usize, count: usize) -> Fatal {
    Fatal::invalid(format!("the orchestration asked for {what} argument {index} and was given {count}"))
}
