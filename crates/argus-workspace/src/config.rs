//! The record of a workspace, `insight_trace_config.json`: what was rendered, and what building it needs.
//!
//! Written once with the workspace, read again when it is collected. 64-bit patterns are texts, because other
//! readers of JSON round large numbers.

use argus_abi::DType;
use serde::{Deserialize, Serialize};

use crate::classify::Shape;
use crate::plan::{LANES, Plan};
use crate::request::{Backend, Request};
use crate::task::{Arg, Blocks, Buffer, Origin};

/// Name of the record in the workspace.
pub const CONFIG_FILE: &str = "insight_trace_config.json";

#[derive(Serialize)]
pub(super) struct Config<'a> {
    pub backend: &'static str,
    pub origin: &'a Origin,
    pub kernel: Kernel<'a>,
    pub replay: Replay<'a>,
    pub args: Vec<ArgRecord<'a>>,
    /// Device memory before the launch; empty where another program makes the host part.
    pub buffers: Vec<BufferRecord>,
    /// Files of packed elements for that program, one per pointer parameter.
    pub inputs: Vec<String>,
    pub spmd: Option<Spmd>,
    pub build: Build,
}

#[derive(Serialize)]
pub(super) struct Kernel<'a> {
    pub name: &'a str,
    pub shape: Shape,
    pub members: Vec<MemberRecord<'a>>,
}

#[derive(Serialize)]
pub(super) struct MemberRecord<'a> {
    pub name: &'a str,
    pub func_id: Option<u32>,
    /// `null` for a source that runs on every core.
    pub place: Option<&'static str>,
    pub source: String,
    /// Slots that the source reads by number.
    pub slots_read: Vec<usize>,
    /// The source also reads slots by computed indices.
    pub slots_computed: bool,
}

#[derive(Serialize)]
pub(super) struct Replay<'a> {
    pub hw_block_num: u32,
    pub platform: &'static str,
    pub soc_version: &'a str,
    pub runtime: &'a str,
    pub device: u32,
    pub launch_count: u32,
    /// msprof counts minutes.
    pub timeout_minutes: u32,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum ArgRecord<'a> {
    Tensor {
        index: usize,
        name: &'a str,
        role: &'static str,
        dtype: &'static str,
        shape: &'a [u32],
        strides: &'a [u32],
        start_offset: u64,
        buffer: usize,
        base: u64,
    },
    Scalar {
        index: usize,
        name: &'a str,
        dtype: Option<&'static str>,
        bits: String,
    },
}

#[derive(Serialize)]
pub(super) struct BufferRecord {
    pub size: u64,
    /// `null`: every byte is `fill`.
    pub payload: Option<String>,
    pub fill: u8,
}

#[derive(Serialize)]
pub(super) struct Spmd {
    pub blocks: Blocks,
    pub aiv_lanes: u32,
    pub aic_cores: usize,
    pub aiv_cores: usize,
}

/// What building and collecting needs.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Build {
    /// The shared object with the kernel, once it is built.
    pub library: String,
    /// Symbols that it must export as they are written.
    pub symbols: Vec<String>,
    /// Function whose mangled symbol is looked up in it, where the name is not fixed.
    pub base_name: Option<String>,
    /// Programs that must be on the PATH.
    pub programs: Vec<String>,
    /// Environment variables that name the roots of other checkouts and of the toolkit.
    pub roots: Vec<String>,
    /// Files that the kernel includes and the workspace does not hold.
    pub external_includes: Vec<String>,
}

/// The part of the record that collecting reads.
#[derive(Deserialize)]
pub(super) struct BuildOnly {
    pub build: Build,
}

impl<'a> Config<'a> {
    pub(super) fn new(
        request: &'a Request,
        plan: &Plan,
        members: Vec<MemberRecord<'a>>,
        inputs: Vec<String>,
        build: Build,
    ) -> Config<'a> {
        let task = &request.task;
        let spmd = (plan.shape == Shape::SpmdMix).then_some(Spmd {
            blocks: task.blocks,
            aiv_lanes: LANES,
            aic_cores: plan.aic.len(),
            aiv_cores: plan.aiv.len(),
        });
        let mut args: Vec<&Arg> = task.args.iter().collect();
        args.sort_by_key(|arg| arg.slot());
        let buffers = task.buffers.iter().enumerate().map(|(index, buffer)| buffer_record(index, buffer));
        Config {
            backend: request.backend.name(),
            origin: &task.origin,
            kernel: Kernel { name: &task.name, shape: plan.shape, members },
            replay: Replay {
                hw_block_num: plan.width,
                platform: request.chip.hardware,
                soc_version: request.soc_version(),
                runtime: &request.launch.runtime,
                device: request.launch.device,
                launch_count: request.launch.launch_count,
                timeout_minutes: request.launch.msprof_minutes,
            },
            args: args.into_iter().map(arg_record).collect(),
            buffers: if request.backend == Backend::Simpler { buffers.collect() } else { Vec::new() },
            inputs,
            spmd,
            build,
        }
    }
}

fn arg_record(arg: &Arg) -> ArgRecord<'_> {
    match arg {
        Arg::Tensor(tensor) => ArgRecord::Tensor {
            index: tensor.slot,
            name: &tensor.name,
            role: tensor.role.name(),
            dtype: tensor.dtype.name(),
            shape: &tensor.shape,
            strides: &tensor.strides,
            start_offset: tensor.start_offset,
            buffer: tensor.buffer,
            base: tensor.base,
        },
        Arg::Scalar(scalar) => ArgRecord::Scalar {
            index: scalar.slot,
            name: &scalar.name,
            dtype: scalar.dtype.map(DType::name),
            bits: format!("0x{:016x}", scalar.bits),
        },
    }
}

fn buffer_record(index: usize, buffer: &Buffer) -> BufferRecord {
    match buffer {
        Buffer::Bytes(bytes) => {
            BufferRecord { size: bytes.len() as u64, payload: Some(payload_file(index)), fill: 0 }
        }
        Buffer::Fill { byte, size } => BufferRecord { size: *size, payload: None, fill: *byte },
    }
}

/// The payload file of a buffer.
pub(super) fn payload_file(index: usize) -> String {
    format!("payload/buffer_{index:02}.bin")
}
