//! A captured or described task, as the plain values that a workspace is made from.
//!
//! In: a task and its arguments laid out in memory ([`Rebuilt`]), and the sources of its kernels. Out: a
//! [`TaskSpec`] with the same buffers, views and scalars. A buffer that holds nothing but the pattern of unknown
//! bytes is described, not copied.

use std::path::PathBuf;

use argus_gm::MemoryError;
use argus_replay::rebuild::{Placed, Rebuilt};
use argus_replay::task::{CapturedTask, What};

use crate::error::{LayoutError, WorkspaceError};
use crate::task::{Arg, Blocks, Buffer, KernelSpec, Origin, ScalarArg, TaskSpec, TensorArg, assign_sources};

/// Bound on all buffers of a task: a view far inside of a buffer says how large that is, and what a file says is
/// not believed without end.
const MOST_BYTES: u64 = 1 << 32;

/// The task with its buffers as `rebuilt` laid them out. Every block is launched. A task that names no kernel
/// takes the one source's, which then says where it runs.
pub fn task_spec(
    task: &CapturedTask,
    rebuilt: &Rebuilt,
    sources: &[PathBuf],
) -> Result<TaskSpec, WorkspaceError> {
    let mut kernels: Vec<KernelSpec> = (task.identity.members.iter())
        .map(|member| KernelSpec {
            name: member.name.clone(),
            func_id: Some(member.func_id.0),
            place: Some(member.member),
            source: PathBuf::new(),
        })
        .collect();
    if kernels.is_empty() {
        let stem = sources.first().and_then(|file| file.file_stem()).unwrap_or_default();
        let name = stem.to_string_lossy().into_owned();
        kernels.push(KernelSpec { name, func_id: None, place: None, source: PathBuf::new() });
    }
    assign_sources(&mut kernels, sources)?;
    let name = match task.identity.kernel_names() {
        empty if empty.is_empty() => kernels[0].name.clone(),
        names => names,
    };
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let origin = Origin {
        scene: known(&task.identity.scene),
        case: known(&task.identity.case),
        task_id: task.id.is_valid().then(|| task.id.to_string()),
    };
    check_size(rebuilt)?;
    let buffers = (rebuilt.buffers.iter()).map(|&(addr, len)| buffer(rebuilt, addr, len));
    let buffers = buffers.collect::<Result<Vec<_>, _>>()?;
    let mut args = Vec::new();
    for argument in &task.arguments {
        let (slot, name) = (argument.slot, argument.name.clone());
        match &argument.what {
            What::Scalar { dtype, bits } => {
                args.push(Arg::Scalar(ScalarArg { slot, name, dtype: Some(*dtype), bits: *bits }));
            }
            What::Tensor(_) => args.push(Arg::Tensor(tensor(rebuilt, slot, name)?)),
            // A rebuilt task has none.
            What::Missing { .. } => {}
        }
    }
    Ok(TaskSpec { name, origin, kernels, abi: task.abi, blocks: Blocks::all(task.blocks), buffers, args })
}

fn check_size(rebuilt: &Rebuilt) -> Result<(), WorkspaceError> {
    let mut size = 0u64;
    for &(addr, len) in &rebuilt.buffers {
        size = size.saturating_add(len);
        if size > MOST_BYTES {
            let inside = |placed: &&Placed| placed.tensor.addr >= addr && placed.tensor.addr - addr < len;
            let slot = rebuilt.placed.iter().find(inside).map_or(0, |placed| placed.slot);
            return Err(WorkspaceError::TooLarge { slot, size, most: MOST_BYTES });
        }
    }
    Ok(())
}

fn buffer(rebuilt: &Rebuilt, addr: u64, len: u64) -> Result<Buffer, MemoryError> {
    let window = rebuilt.memory.window(addr, len)?;
    let mut bytes = vec![0; len as usize];
    window.read(addr, &mut bytes)?;
    let byte = rebuilt.poison.0;
    if bytes.iter().all(|&each| each == byte) {
        return Ok(Buffer::Fill { byte, size: len });
    }
    Ok(Buffer::Bytes(bytes))
}

fn tensor(rebuilt: &Rebuilt, slot: usize, name: String) -> Result<TensorArg, WorkspaceError> {
    let unplaced = || WorkspaceError::View { name: name.clone(), slot, source: LayoutError::Unplaced };
    let Placed { role, tensor, .. } =
        rebuilt.placed.iter().find(|placed| placed.slot == slot).ok_or_else(unplaced)?;
    let holds = |&(addr, len): &(u64, u64)| addr <= tensor.addr && tensor.addr - addr <= len;
    // An empty view may lie at the end of its buffer, where the next one can begin: the nearest start counts.
    let buffers = rebuilt.buffers.iter().enumerate().filter(|(_, buffer)| holds(buffer));
    let (buffer, &(start, _)) = buffers.max_by_key(|(_, buffer)| buffer.0).ok_or_else(unplaced)?;
    Ok(TensorArg {
        slot,
        role: *role,
        dtype: tensor.dtype().ok_or_else(unplaced)?,
        shape: tensor.shape().to_vec(),
        strides: tensor.stride().to_vec(),
        start_offset: tensor.start_offset,
        buffer,
        base: tensor.addr - start,
        name,
    })
}
