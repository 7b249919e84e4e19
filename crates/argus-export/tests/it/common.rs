//! Small dumps: ours through the writer, the reference's written by hand.

use std::fs;
use std::path::{Path, PathBuf};

use argus_abi::args::KernelAbi;
use argus_abi::capture::{
    ArgumentEntry, EDGES_PER_ENTRY, ENTRY_MAGIC, ENTRY_VERSION, EdgesEntry, EntryHeader, SkipEntry,
    TaskEntry, TaskFields, argument_flags, what,
};
use argus_abi::{ArgDirection, CoreSet, CoreType, DType, Kind, Role, Stage};
use argus_dump::read::Dump;
use argus_dump::{DumpInfo, DumpOptions, DumpWriter, RunEnd, Sink};
use argus_export::{ExportError, Format, Options, Report};
use argus_facts::KernelInfo;

/// A name that needs care everywhere.
pub const HOSTILE: &str = "a,\"b\"\r\n=1+1;../../x\u{7f}\u{0}é";

fn header(what: u8) -> EntryHeader {
    EntryHeader { magic: ENTRY_MAGIC, version: ENTRY_VERSION, what, ring: 0, sequence: 0 }
}

/// An argument of a dump that is being made.
#[derive(Clone)]
pub struct Argument {
    pub entry: ArgumentEntry,
    pub payload: Vec<u8>,
}

pub fn tensor(task_id: u64, arg_index: u16, dtype: DType, shape: &[u32], payload: Vec<u8>) -> Argument {
    let mut shapes = [0; 5];
    shapes[..shape.len()].copy_from_slice(shape);
    let mut strides = [0; 5];
    let mut step = 1;
    for (place, &extent) in strides[..shape.len()].iter_mut().zip(shape).rev() {
        *place = step;
        step *= extent.max(1);
    }
    let entry = ArgumentEntry {
        header: header(what::ARGUMENT),
        task_id,
        time_ns: 1000 + task_id,
        arg_index,
        stage: Stage::BeforeDispatch as u8,
        role: Role::Input as u8,
        kind: Kind::Tensor as u8,
        dtype: dtype as u8,
        ndims: shape.len() as u8,
        flags: argument_flags::CONTIGUOUS,
        address: 0x7f00_0000_1000,
        start_offset: 0,
        payload_bytes: payload.len() as u64,
        scalar_bits: 0,
        shapes,
        strides,
        reserved: [0; 16],
    };
    Argument { entry, payload }
}

pub fn scalar(task_id: u64, arg_index: u16, dtype: DType, bits: u64) -> Argument {
    let mut argument = tensor(task_id, arg_index, dtype, &[], Vec::new());
    argument.entry.kind = Kind::Scalar as u8;
    argument.entry.address = 0;
    argument.entry.scalar_bits = bits;
    argument
}

/// Turned into an output.
pub fn output(mut argument: Argument) -> Argument {
    argument.entry.role = Role::Output as u8;
    argument.entry.stage = Stage::AfterCompletion as u8;
    argument
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

pub fn write(directory: &Path, arguments: &[Argument]) -> Dump {
    fs::create_dir_all(directory).unwrap();
    let kernel = |func_id, name: &str| KernelInfo {
        func_id,
        name: name.to_owned(),
        core_type: CoreType::Aiv,
        signature: vec![ArgDirection::In, ArgDirection::Out],
        abi: KernelAbi::Tensors,
    };
    let info = DumpInfo {
        scene: "Scene".to_owned(),
        case: "case".to_owned(),
        run_id: 7,
        kernels: vec![kernel(0, "add"), kernel(1, HOSTILE)],
        ..DumpInfo::default()
    };
    let mut writer = DumpWriter::create(directory, DumpOptions::default(), info).unwrap();
    for Argument { entry, payload } in arguments {
        writer.begin_argument(entry).unwrap();
        if !payload.is_empty() {
            writer.payload(payload).unwrap();
        }
        writer.end_argument().unwrap();
    }
    let mut ids: Vec<u64> = arguments.iter().map(|argument| argument.entry.task_id).collect();
    ids.sort_unstable();
    ids.dedup();
    for (order, &task_id) in ids.iter().enumerate() {
        let task = TaskEntry {
            header: header(what::TASK),
            task: TaskFields {
                task_id,
                func_ids: if order % 2 == 0 { [0, -1, -1] } else { [0, 1, 1] },
                blocks: 4,
                dispatch_order: order as u64,
                dispatched_ns: 10,
                finished_ns: 20,
                cores: CoreSet::from_iter([0, 2, 64]),
                scope_depth: 1,
                tensors: 2,
                scalars: 1,
                state: 0,
                reserved: [0; 7],
            },
            reserved: [0; 16],
        };
        writer.task(&task).unwrap();
    }
    if let [first, .., last] = ids[..] {
        let mut producers = [0; EDGES_PER_ENTRY];
        producers[0] = first;
        let mut reasons = [0; 16];
        reasons[0] = 2;
        let edges = EdgesEntry {
            header: header(what::EDGES),
            consumer: last,
            count: 1,
            reserved: [0; 7],
            reasons,
            producers,
        };
        writer.edges(&edges).unwrap();
    }
    writer
        .skip(&SkipEntry {
            header: header(what::SKIP),
            task_id: 99,
            func_id: 1,
            arg_index: 3,
            stage: 1,
            reason: 1,
            reserved: [0; 96],
        })
        .unwrap();
    writer.finish(RunEnd::default()).unwrap();
    Dump::open(directory).unwrap()
}

/// Special bits among random ones, of every type: NaN, infinities, zeros, subnormals, extremes.
pub fn payload(dtype: DType, elements: usize) -> Vec<u8> {
    let len = dtype.packed_bytes(elements as u64).unwrap() as usize;
    let mut payload = bytes(dtype as u64 + 3, len);
    let special: &[u64] = match dtype {
        DType::F32 => &[0x7fc0_0000, 0x7f80_0000, 0xff80_0000, 0x8000_0000, 0, 1, 0x3f80_0000],
        DType::F16 => &[0x7e00, 0x7c00, 0xfc00, 0x8000, 0, 1, 0x3c00],
        DType::Bf16 => &[0x7fc0, 0x7f80, 0xff80, 0x8000, 0, 1, 0x3f80],
        _ => &[0, u64::MAX, 1 << 63, 1 << 31, 1 << 15, 1],
    };
    let width = dtype.size();
    for (place, bits) in payload.chunks_exact_mut(width).step_by(3).zip(special.iter().cycle()) {
        place.copy_from_slice(&bits.to_le_bytes()[..width]);
    }
    if dtype == DType::Bool {
        payload.iter_mut().for_each(|byte| *byte &= 1);
    }
    payload
}

/// A dump with a bit of everything.
pub fn everything(directory: &Path) -> Dump {
    let mut arguments = Vec::new();
    for dtype in DType::ALL {
        let task = 0x2_0000_0000 + dtype as u64;
        arguments.push(tensor(task, 0, dtype, &[3, 7], payload(dtype, 21)));
        arguments.push(output(tensor(task, 1, dtype, &[2, 3, 1, 5], payload(dtype, 30))));
        arguments.push(scalar(task, 2, dtype, 0xfedc_ba98_7654_3210 + dtype as u64));
    }
    // A view with steps: its payload is contiguous in logical order.
    let mut strided = tensor(1, 0, DType::I16, &[3, 2], payload(DType::I16, 6));
    strided.entry.strides[..2].copy_from_slice(&[40, 8]);
    strided.entry.start_offset = 17;
    strided.entry.flags = 0;
    arguments.push(strided);
    // The same key three times.
    for fill in 1..=3u8 {
        arguments.push(tensor(2, 0, DType::U8, &[4], vec![fill; 4]));
    }
    arguments.push(tensor(3, 0, DType::F32, &[0, 4], Vec::new()));
    arguments.push(tensor(3, 1, DType::F32, &[], 1.5f32.to_le_bytes().to_vec()));
    let mut bare = tensor(3, 2, DType::F32, &[8], Vec::new());
    bare.entry.flags |= argument_flags::NO_PAYLOAD;
    arguments.push(bare);
    arguments.push(tensor(3, 3, DType::Bool, &[3], vec![0, 1, 2]));
    let mut partial = output(tensor(3, 4, DType::I64, &[2], payload(DType::I64, 2)));
    partial.entry.flags |= argument_flags::PARTIAL;
    arguments.push(partial);
    write(directory, &arguments)
}

pub fn all(dump: &Dump) -> Vec<usize> {
    (0..dump.len()).collect()
}

pub fn export(dump: &Dump, format: Format, out: &Path) -> Result<Report, ExportError> {
    argus_export::export(dump, &all(dump), format, out, Options { force: false, payload: true }, &|_, _| {})
}

/// Names of the files in a directory, sorted.
pub fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(directory).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A dump of the reference, from its manifest's text and its payload.
pub fn foreign(parent: &Path, directory: &str, manifest: (&str, &str), bin: (&str, &[u8])) -> PathBuf {
    let directory = parent.join(directory);
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join(manifest.0), manifest.1).unwrap();
    fs::write(directory.join(bin.0), bin.1).unwrap();
    directory
}
