//! Entries as a device would write them, and payloads that can be computed again.

use std::path::Path;

use argus_abi::args::KernelAbi;
use argus_abi::capture::{
    ArgumentEntry, EDGES_PER_ENTRY, ENTRY_MAGIC, ENTRY_VERSION, EdgesEntry, EntryHeader, SkipEntry,
    TaskEntry, TaskFields, argument_flags, what,
};
use argus_abi::{ArgDirection, CoreSet, CoreType, DType};
use argus_dump::{DumpInfo, DumpOptions, DumpWriter};
use argus_facts::{KernelInfo, Sink};

fn header(what: u8) -> EntryHeader {
    EntryHeader { magic: ENTRY_MAGIC, version: ENTRY_VERSION, what, ring: 0, sequence: 0 }
}

/// An input tensor of bytes.
pub fn tensor(task_id: u64, arg_index: u16, bytes: u64) -> ArgumentEntry {
    ArgumentEntry {
        header: header(what::ARGUMENT),
        task_id,
        time_ns: task_id.wrapping_add(1000),
        arg_index,
        stage: 0,
        role: 0,
        kind: 0,
        dtype: DType::U8 as u8,
        ndims: 1,
        flags: argument_flags::CONTIGUOUS,
        address: 0x7f00_0000_1000,
        start_offset: 0,
        payload_bytes: bytes,
        scalar_bits: 0,
        shapes: [bytes as u32, 7, 7, 7, 7],
        strides: [1, 7, 7, 7, 7],
        reserved: [0; 16],
    }
}

pub fn scalar(task_id: u64, arg_index: u16, dtype: DType, bits: u64) -> ArgumentEntry {
    ArgumentEntry {
        kind: 1,
        dtype: dtype as u8,
        ndims: 0,
        address: 0,
        scalar_bits: bits,
        shapes: [0; 5],
        strides: [0; 5],
        ..tensor(task_id, arg_index, 0)
    }
}

pub fn task(task_id: u64, func_ids: [i32; 3]) -> TaskEntry {
    TaskEntry {
        header: header(what::TASK),
        task: TaskFields {
            task_id,
            func_ids,
            blocks: 2,
            dispatch_order: task_id & 0xffff,
            dispatched_ns: 10,
            finished_ns: 20,
            cores: CoreSet::from_iter([0, 2, 64, 255]),
            scope_depth: 1,
            tensors: 3,
            scalars: 1,
            state: 0,
            reserved: [0; 7],
        },
        reserved: [0; 16],
    }
}

pub fn edges(consumer: u64, from: &[(u64, u8)]) -> EdgesEntry {
    let mut entry = EdgesEntry {
        header: header(what::EDGES),
        consumer,
        count: from.len() as u8,
        reserved: [0; 7],
        reasons: [0; 16],
        producers: [0; EDGES_PER_ENTRY],
    };
    for (index, &(producer, reason)) in from.iter().enumerate() {
        entry.producers[index] = producer;
        entry.reasons[index] = reason;
    }
    entry
}

pub fn skip(task_id: u64, arg_index: u16) -> SkipEntry {
    SkipEntry {
        header: header(what::SKIP),
        task_id,
        func_id: 3,
        arg_index,
        stage: 1,
        reason: 0,
        reserved: [0; 96],
    }
}

pub fn kernel(func_id: u32, name: &str) -> KernelInfo {
    KernelInfo {
        func_id,
        name: name.to_owned(),
        core_type: CoreType::Aiv,
        signature: vec![ArgDirection::In, ArgDirection::Out, ArgDirection::Scalar],
        abi: KernelAbi::Tensors,
    }
}

pub fn info() -> DumpInfo {
    DumpInfo {
        scene: "Scene".to_owned(),
        case: "case".to_owned(),
        platform: "a2a3sim".to_owned(),
        runtime: "host_build_graph".to_owned(),
        level: "full".to_owned(),
        run_id: 0x0123_4567_89ab_cdef_0011_2233_4455_6677,
        kernels: vec![kernel(0, "QK"), kernel(1, "SF")],
        ..DumpInfo::default()
    }
}

pub fn start(directory: &Path, options: DumpOptions) -> DumpWriter {
    DumpWriter::create(directory, options, info()).unwrap()
}

/// Delivers an argument in pieces of at most `piece` bytes.
pub fn deliver(
    writer: &mut DumpWriter,
    entry: &ArgumentEntry,
    bytes: &[u8],
    piece: usize,
) -> Result<(), argus_dump::DumpError> {
    writer.begin_argument(entry)?;
    for piece in bytes.chunks(piece) {
        writer.payload(piece)?;
    }
    writer.end_argument()
}

/// Bytes that depend on `seed` only.
pub fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut out = Vec::with_capacity(len + 8);
    while out.len() < len {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        out.extend_from_slice(&state.to_le_bytes());
    }
    out.truncate(len);
    out
}
