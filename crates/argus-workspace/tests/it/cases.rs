//! The tasks that the tests put into workspaces.

use std::path::{Path, PathBuf};

use argus_abi::args::KernelAbi;
use argus_abi::{DType, Member, Role};
use argus_chip::{A2A3SIM, A5SIM, Chip};
use argus_workspace::{
    Arg, Backend, Blocks, Buffer, KernelSpec, Launch, Origin, Request, ScalarArg, TaskSpec, TensorArg,
};

/// A file of this test.
pub fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(name)
}

pub fn kernel(name: &str, func_id: u32, place: Option<Member>, source: &str) -> KernelSpec {
    KernelSpec { name: name.to_owned(), func_id: Some(func_id), place, source: file(source) }
}

pub fn tensor(
    slot: usize,
    name: &str,
    role: Role,
    buffer: usize,
    shape: &[u32],
    strides: &[u32],
) -> TensorArg {
    TensorArg {
        slot,
        name: name.to_owned(),
        role,
        dtype: DType::I32,
        shape: shape.to_vec(),
        strides: strides.to_vec(),
        start_offset: 0,
        buffer,
        base: 0,
    }
}

pub fn scalar(slot: usize, name: &str, bits: u64) -> Arg {
    Arg::Scalar(ScalarArg { slot, name: name.to_owned(), dtype: Some(DType::I64), bits })
}

pub fn request(task: TaskSpec, chip: &'static Chip) -> Request {
    Request { task, chip, backend: Backend::Simpler, launch: Launch::default(), templates: None }
}

/// The bytes of these numbers.
pub fn i32_bytes(values: impl IntoIterator<Item = i32>) -> Vec<u8> {
    values.into_iter().flat_map(i32::to_le_bytes).collect()
}

/// One matrix-core kernel: `a` is a view with gaps and an offset, `b` and `out` are two halves of one buffer.
pub fn single() -> Request {
    let a = TensorArg { start_offset: 3, ..tensor(0, "a", Role::Input, 0, &[2, 4], &[10, 2]) };
    let b = tensor(1, "b", Role::Input, 1, &[2, 4], &[4, 1]);
    let out = TensorArg { start_offset: 3, base: 20, ..tensor(2, "out", Role::Output, 1, &[2, 4], &[4, 1]) };
    let task = TaskSpec {
        name: "weigh".to_owned(),
        origin: Origin {
            scene: Some("weighing".to_owned()),
            case: Some("Small".to_owned()),
            task_id: Some("0x0000000100000002".to_owned()),
        },
        kernels: vec![kernel("WEIGH", 7, Some(Member::Aic), "kernels/aic/weigh.cpp")],
        abi: KernelAbi::Tensors,
        blocks: Blocks::all(1),
        buffers: vec![
            Buffer::Bytes(i32_bytes((0..20).map(|value| 1000 - value))),
            Buffer::Bytes(i32_bytes((0..16).map(|value| value * value))),
        ],
        args: vec![
            Arg::Tensor(out),
            Arg::Tensor(a),
            scalar(5, "marker", 0x8000_0000_0000_00ff),
            scalar(4, "weight", (-3i64) as u64),
            Arg::Tensor(b),
        ],
    };
    request(task, &A2A3SIM)
}

/// Blocks 1 and 2 of 4, each on a matrix core and two vector cores; the output is one buffer of poison.
pub fn mix() -> Request {
    let task = TaskSpec {
        name: "produce_consume".to_owned(),
        origin: Origin::default(),
        kernels: vec![
            kernel("PRODUCE", 0, Some(Member::Aic), "kernels/mix/produce.cpp"),
            kernel("CONSUME", 1, Some(Member::Aiv0), "kernels/mix/consume.cpp"),
            kernel("CONSUME", 1, Some(Member::Aiv1), "kernels/mix/consume.cpp"),
        ],
        abi: KernelAbi::Tensors,
        blocks: Blocks { first: 1, count: 2, total: 4 },
        buffers: vec![Buffer::Fill { byte: 0xFF, size: 144 }],
        args: vec![Arg::Tensor(tensor(0, "out", Role::Output, 0, &[12, 3], &[3, 1])), scalar(1, "tag", 42)],
    };
    request(task, &A5SIM)
}

/// A `__global__` function for PTOAS; the first tensor is every other element of its buffer.
pub fn ptoas() -> Request {
    let mut a = tensor(0, "a", Role::Input, 0, &[3], &[2]);
    a.dtype = DType::F32;
    let mut b = tensor(1, "b", Role::Input, 1, &[3], &[1]);
    b.dtype = DType::F32;
    let mut out = tensor(2, "out", Role::Output, 2, &[3], &[1]);
    out.dtype = DType::F32;
    let floats =
        |values: &[f32]| Buffer::Bytes(values.iter().flat_map(|value| value.to_le_bytes()).collect());
    let task = TaskSpec {
        name: "add".to_owned(),
        origin: Origin::default(),
        kernels: vec![kernel("add_tiles", 3, Some(Member::Aiv0), "kernels/ptoas/add.cpp")],
        abi: KernelAbi::Tensors,
        blocks: Blocks::all(1),
        buffers: vec![
            floats(&[1.5, f32::NAN, -2.25, f32::NAN, 8.0]),
            floats(&[0.5, 0.25, 0.125]),
            Buffer::Fill { byte: 0, size: 12 },
        ],
        args: vec![Arg::Tensor(a), Arg::Tensor(b), Arg::Tensor(out)],
    };
    Request { backend: Backend::Ptoas, ..request(task, &A2A3SIM) }
}
