//! Kernels that only say where they run: scalar stores into one 64-byte line per writer.

use argus_abi::{ArgDirection, CoreType, FuncId, KernelArgs, Member};
use argus_runtime::{KernelEntry, SourceFile, source_file};
use argus_tile::{Core, Fault, Global, GlobalShape, Kernel, KernelResult, Scalar};
use std::sync::Arc;

/// Elements of a 64-byte line.
pub const LINE: u32 = 16;
/// Lines of a block of a mix task.
pub const MEMBERS: u32 = Member::ALL.len() as u32;

const SOURCES: &[SourceFile] = &[source_file!("spmd.rs"), super::SHARED];
const WRITES: &[ArgDirection] = &[ArgDirection::Inout];

/// Line `number` of the tensor in a slot.
fn line(core: &mut Core, args: &KernelArgs<'_>, slot: usize, number: u32) -> Result<Global, Fault> {
    core.global_at(args.tensor(slot)?, u64::from(number * LINE), GlobalShape::nd(1, LINE))
}

/// Writes the start of a line.
fn write<T: Scalar>(
    core: &mut Core,
    args: &KernelArgs<'_>,
    slot: usize,
    number: u32,
    values: &[T],
) -> KernelResult {
    let line = line(core, args, slot, number)?;
    for (index, &value) in (0..).zip(values) {
        core.store_scalar(&line, index, value)?;
    }
    // The line leaves this core's cache.
    core.dcci()?;
    core.dsb()
}

/// The line of this member of this block, if every block has three.
fn own_line(core: &Core, args: &KernelArgs<'_>) -> u32 {
    args.block_idx() as u32 * MEMBERS + core.member() as u32
}

/// Writes this member's block index, the number of blocks and its sub-block id.
fn write_context(core: &mut Core, args: &KernelArgs<'_>) -> KernelResult {
    let context = [args.block_idx(), args.block_num(), args.sub_block_id()].map(|value| value as f32);
    let number = own_line(core, args);
    write(core, args, 0, number, &context)
}

/// Writes the block index to the block's only line.
fn write_block(core: &mut Core, args: &KernelArgs<'_>) -> KernelResult {
    write(core, args, 0, args.block_idx() as u32, &[args.block_idx() as f32])
}

/// Writes the block index to the member's line.
fn write_member(core: &mut Core, args: &KernelArgs<'_>) -> KernelResult {
    let number = own_line(core, args);
    write(core, args, 0, number, &[args.block_idx() as f32])
}

/// Meets all members of all blocks, then writes the block index to the member's line.
///
/// Each block leaves a mark in the tensor of slot 1 and waits for the marks of the others. Were not all of
/// them on cores at once, those that are would wait for ever.
fn meet_and_write(core: &mut Core, args: &KernelArgs<'_>) -> KernelResult {
    let number = own_line(core, args);
    write(core, args, 1, number, &[1i32])?;
    for other in 0..args.block_num() as u32 * MEMBERS {
        let mark = line(core, args, 1, other)?;
        while core.load_scalar::<i32>(&mark, 0)? == 0 {
            // Many simulated cores share few real ones.
            std::thread::yield_now();
        }
    }
    write(core, args, 0, number, &[args.block_idx() as f32])
}

fn entry(
    func_id: u32,
    name: &'static str,
    core_type: CoreType,
    signature: &'static [ArgDirection],
    kernel: impl Kernel + 'static,
) -> KernelEntry {
    let (func_id, kernel) = (FuncId(func_id), Arc::new(kernel));
    KernelEntry {
        func_id,
        name: name.into(),
        core_type,
        signature: signature.into(),
        sources: SOURCES.into(),
        kernel,
    }
}

/// One kernel for each member of a mix, under three func_ids from `first` on.
fn for_members(
    first: u32,
    names: [&'static str; 3],
    signature: &'static [ArgDirection],
    kernel: fn(&mut Core, &KernelArgs<'_>) -> KernelResult,
) -> [KernelEntry; 3] {
    Member::ALL.map(|member| {
        let place = member as usize;
        entry(first + place as u32, names[place], member.core_type(), signature, kernel)
    })
}

/// Every member tells what it knows of its block.
pub fn context_writers(first: u32) -> [KernelEntry; 3] {
    for_members(first, ["context_aic", "context_aiv0", "context_aiv1"], WRITES, write_context)
}

/// A vector core writes its block's index.
pub fn block_writer(func_id: u32) -> KernelEntry {
    entry(func_id, "write_block", CoreType::Aiv, WRITES, write_block)
}

/// Every member writes its block's index.
pub fn member_writers(first: u32) -> [KernelEntry; 3] {
    for_members(first, ["write_aic", "write_aiv0", "write_aiv1"], WRITES, write_member)
}

/// Every member writes its block's index when all have met.
pub fn meeting_writers(first: u32) -> [KernelEntry; 3] {
    const SIGNATURE: &[ArgDirection] = &[ArgDirection::Inout, ArgDirection::Inout];
    for_members(first, ["meet_aic", "meet_aiv0", "meet_aiv1"], SIGNATURE, meet_and_write)
}
