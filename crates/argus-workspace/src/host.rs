//! What the template of the host program is filled in with: buffers, descriptors, scalars and cores.

use argus_abi::args::{GLOBAL_CONTEXT_SLOT, KernelAbi, LOCAL_CONTEXT_SLOT, SLOTS};
use argus_abi::{MAX_DIMS, Role};
use serde::Serialize;
use serde_json::{Value, json};

use crate::classify::Shape;
use crate::config::payload_file;
use crate::error::WorkspaceError;
use crate::plan::{Core, Plan};
use crate::request::Request;
use crate::task::Buffer;

/// The values of `replay_host.cpp`.
pub fn host_values(request: &Request, plan: &Plan) -> Result<Value, WorkspaceError> {
    #[derive(Serialize)]
    struct HostBuffer {
        size: u64,
        payload: Option<String>,
        fill: u8,
        output: Option<String>,
    }
    #[derive(Serialize)]
    struct HostTensor<'a> {
        slot: usize,
        name: &'a str,
        role: &'static str,
        dtype_name: &'static str,
        buffer: usize,
        base: u64,
        size: u64,
        start_offset: u64,
        ndims: u32,
        dtype: u8,
        contiguous: u8,
        shapes: [u32; MAX_DIMS],
        extent: u64,
        strides: [u32; MAX_DIMS],
    }
    #[derive(Serialize)]
    struct HostScalar<'a> {
        slot: usize,
        name: &'a str,
        bits: String,
    }
    #[derive(Serialize)]
    struct HostSide<'a> {
        name: &'static str,
        title: &'static str,
        cores: &'a [Core],
    }
    let task = &request.task;
    let tensor_args = task.tensors();
    let is_written = |index| {
        tensor_args
            .iter()
            .any(|tensor| tensor.buffer == index && matches!(tensor.role, Role::Output | Role::Inout))
    };
    let buffers = task.buffers.iter().enumerate().map(|(index, buffer)| {
        let (payload, fill) = match buffer {
            Buffer::Bytes(_) => (Some(payload_file(index)), 0),
            Buffer::Fill { byte, .. } => (None, *byte),
        };
        let output = is_written(index).then(|| format!("output/buffer_{index:02}.bin"));
        HostBuffer { size: buffer.size(), payload, fill, output }
    });
    let buffers: Vec<HostBuffer> = buffers.collect();
    let mut tensors = Vec::new();
    for tensor in &tensor_args {
        let descriptor = task.descriptor(tensor)?;
        tensors.push(HostTensor {
            slot: tensor.slot,
            name: &tensor.name,
            role: tensor.role.name(),
            dtype_name: tensor.dtype.name(),
            buffer: tensor.buffer,
            base: tensor.base,
            size: descriptor.size,
            start_offset: descriptor.start_offset,
            ndims: descriptor.ndims,
            dtype: descriptor.dtype,
            contiguous: descriptor.is_contiguous,
            shapes: descriptor.shapes,
            extent: descriptor.extent,
            strides: descriptor.strides,
        });
    }
    let scalars = task.scalars().into_iter().map(|scalar| HostScalar {
        slot: scalar.slot,
        name: &scalar.name,
        bits: format!("0x{:x}", scalar.bits),
    });
    let scalars: Vec<HostScalar<'_>> = scalars.collect();
    let aic = HostSide { name: "aic", title: "Aic", cores: &plan.aic };
    let aiv = HostSide { name: "aiv", title: "Aiv", cores: &plan.aiv };
    let sides = match plan.shape {
        Shape::AicOnly => vec![aic],
        Shape::AivOnly => vec![aiv],
        Shape::SpmdMix => vec![aic, aiv],
    };
    let tensor_abi = task.abi == KernelAbi::Tensors;
    Ok(json!({
            "kernel": task.name,
            "mix": plan.shape == Shape::SpmdMix,
            "slots": SLOTS,
            "local_context_slot": LOCAL_CONTEXT_SLOT,
            "global_context_slot": GLOBAL_CONTEXT_SLOT,
            "max_dims": MAX_DIMS,
            "device": request.launch.device,
            "width": plan.width,
            "contexts": tensor_abi,
            // Without tensors there is nothing to allocate.
            "descriptors": tensor_abi && !tensors.is_empty(),
            "buffers": buffers,
            "tensors": tensors,
            "scalars": scalars,
            "sides": sides,
    }))
}
