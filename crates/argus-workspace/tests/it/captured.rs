//! Captured tasks become the same buffers, views and scalars.

use std::path::PathBuf;

use argus_abi::args::KernelAbi;
use argus_abi::{DType, FuncId, Member, Role, TaskId};
use argus_gm::Fill;
use argus_replay::{
    Argument, CapturedTask, Content, Identity, MemberKernel, Poison, Rebuilt, TensorArgument, What,
};
use argus_workspace::{Arg, Blocks, Buffer, task_spec};

use crate::cases::i32_bytes;

fn tensor(slot: usize, role: Role, shape: &[u32], address: u64, before: Content) -> Argument {
    let tensor = TensorArgument {
        address: Some(address),
        before,
        ..TensorArgument::contiguous(DType::I32, role, shape)
    };
    Argument { slot, name: format!("arg{slot}"), what: What::Tensor(tensor), source: String::new() }
}

fn task(members: Vec<MemberKernel>) -> CapturedTask {
    let numbers = |range: std::ops::Range<i32>| Content::Bytes(i32_bytes(range));
    CapturedTask {
        id: TaskId::new(1, 7),
        identity: Identity { scene: "s".to_owned(), members, ..Identity::default() },
        blocks: 3,
        abi: KernelAbi::Tensors,
        fill: Fill::Poison,
        completed: true,
        arguments: vec![
            // The second begins inside the first; the third lies elsewhere and is written only.
            tensor(0, Role::Input, &[4], 0x1000, numbers(1..5)),
            tensor(1, Role::Inout, &[2, 2], 0x1008, numbers(3..7)),
            tensor(2, Role::Output, &[5], 0x9000, Content::Unneeded),
            Argument {
                slot: 3,
                name: "n".to_owned(),
                what: What::Scalar { dtype: DType::F32, bits: 0x7fc0_0001 },
                source: String::new(),
            },
        ],
        notes: Vec::new(),
    }
}

#[test]
fn overlapping_arguments_share_a_buffer_and_unknown_bytes_are_a_fill() {
    let members = vec![
        MemberKernel { member: Member::Aiv0, func_id: FuncId(4), name: "V".to_owned() },
        MemberKernel { member: Member::Aic, func_id: FuncId(3), name: "C".to_owned() },
    ];
    let task = task(members);
    let rebuilt = Rebuilt::new(&task, Poison::of_run(&task)).unwrap();
    let files = ["c.cpp", "v.cpp"].map(PathBuf::from);
    let spec = task_spec(&task, &rebuilt, &files).unwrap();
    assert_eq!(spec.name, "V+C");
    assert_eq!(spec.origin.scene.as_deref(), Some("s"));
    assert_eq!(
        (spec.origin.case.as_deref(), spec.origin.task_id.as_deref()),
        (None, Some("0x0000000100000007"))
    );
    assert_eq!(spec.blocks, Blocks::all(3));
    let kernels: Vec<_> =
        spec.kernels.iter().map(|kernel| (kernel.place, kernel.func_id, &kernel.source)).collect();
    assert_eq!(kernels, [(Some(Member::Aic), Some(3), &files[0]), (Some(Member::Aiv0), Some(4), &files[1])]);

    let shared = [i32_bytes(1..7), vec![0xFF; 1000]].concat();
    assert_eq!(spec.buffers, [Buffer::Bytes(shared), Buffer::Fill { byte: 0xFF, size: 1024 }]);
    let views: Vec<_> = (spec.args.iter())
        .filter_map(|arg| match arg {
            Arg::Tensor(tensor) => {
                Some((tensor.slot, tensor.role, tensor.buffer, tensor.base, tensor.start_offset))
            }
            Arg::Scalar(_) => None,
        })
        .collect();
    assert_eq!(views, [(0, Role::Input, 0, 0, 0), (1, Role::Inout, 0, 8, 0), (2, Role::Output, 1, 0, 0)]);
    let Some(Arg::Scalar(scalar)) = spec.args.last() else { panic!("the scalar is last") };
    assert_eq!((scalar.slot, scalar.bits, scalar.dtype), (3, 0x7fc0_0001, Some(DType::F32)));
    spec.check().unwrap();
}

#[test]
fn a_view_far_inside_of_a_buffer_is_refused_before_anything_is_copied() {
    let mut task = task(Vec::new());
    let What::Tensor(out) = &mut task.arguments[2].what else { panic!("slot 2 is a tensor") };
    (out.start_offset, out.address) = (1 << 30, None);
    let rebuilt = Rebuilt::new(&task, Poison(0)).unwrap();
    let error = task_spec(&task, &rebuilt, &[PathBuf::from("kernels/aic/weigh.cpp")]).unwrap_err();
    // 2^30 elements of 4 bytes and the view behind them, padded to 1024, and the other buffer.
    assert_eq!(
        error.to_string(),
        "the buffers of the task take 4294969344 bytes with the argument in slot 2, and a workspace holds at most \
         4294967296"
    );
}

#[test]
fn a_task_without_kernel_takes_the_name_of_its_source() {
    let task = task(Vec::new());
    let rebuilt = Rebuilt::new(&task, Poison(0)).unwrap();
    let spec = task_spec(&task, &rebuilt, &[PathBuf::from("kernels/aic/weigh.cpp")]).unwrap();
    assert_eq!((spec.name.as_str(), spec.kernels.len(), spec.kernels[0].place), ("weigh", 1, None));
    assert_eq!(spec.buffers[1], Buffer::Fill { byte: 0, size: 1024 });
    let error = task_spec(&task, &rebuilt, &[]).unwrap_err();
    assert!(error.to_string().starts_with("0 kernel sources for 1 kernels"), "{error}");
}
