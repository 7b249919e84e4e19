//! Numbers and spellings that other programs rely on.

use argus_abi::args::{LOCAL_CONTEXT_SLOT, SLOTS};
use argus_abi::{
    ArgDirection, DType, DispatchPayload, FatalCode, KernelArgs, Kind, Role, Stage, TaskId, Tensor,
    TensorArgType,
};

#[test]
fn dtypes_have_the_numbers_widths_and_names_of_the_format() {
    let table = [
        (0, "FLOAT32", 32),
        (1, "FLOAT16", 16),
        (2, "INT32", 32),
        (3, "INT16", 16),
        (4, "INT8", 8),
        (5, "UINT8", 8),
        (6, "BFLOAT16", 16),
        (7, "INT64", 64),
        (8, "UINT64", 64),
        (9, "UINT16", 16),
        (10, "UINT32", 32),
        (11, "BOOL", 8),
        (12, "FP8E4M3FN", 8),
        (13, "FP8E8M0", 8),
        (14, "FP4E2M1", 4),
    ];
    for (raw, name, bits) in table {
        let dtype = DType::from_raw(raw).unwrap();
        assert_eq!((dtype.name(), dtype.bits(), dtype as u8), (name, bits, raw));
        assert_eq!(DType::from_name(&name.to_lowercase()), Some(dtype));
    }
    assert_eq!(DType::from_raw(15), None);
    assert_eq!(DType::from_raw(255), None);
    assert_eq!(DType::F32.packed_bytes(u64::MAX), None);
}

#[test]
fn task_ids_print_with_sixteen_digits() {
    let id = TaskId::new(2, 11);
    assert_eq!(id.raw(), 0x0000_0002_0000_000b);
    assert_eq!(id.to_string(), "0x000000020000000b");
    assert_eq!((id.ring(), id.local(), id.is_valid()), (2, 11, true));
    assert!(!TaskId::INVALID.is_valid());
    assert_eq!(TaskId::from_raw(0xABCD_0003_0000_0001).ring(), 3, "only the low 8 bits of the ring count");
}

#[test]
fn roles_stages_and_kinds_are_spelled_as_in_dumps() {
    assert_eq!([Role::Input, Role::Output, Role::Inout].map(Role::name), ["input", "output", "inout"]);
    assert_eq!(Stage::from_name("before_dispatch"), Some(Stage::BeforeDispatch));
    assert_eq!(Stage::from_raw(1).map(Stage::name), Some("after_completion"));
    assert_eq!((Kind::from_raw(1), Kind::from_raw(2)), (Some(Kind::Scalar), None));
    assert!(
        Role::Inout.captured_at(Stage::BeforeDispatch) && Role::Inout.captured_at(Stage::AfterCompletion)
    );
    assert!(!Role::Output.captured_at(Stage::BeforeDispatch));
    assert_eq!(ArgDirection::Scalar.role(), None);
    assert_eq!(TensorArgType::NoDep.role(), Role::Input);
    assert_eq!(TensorArgType::OutputExisting.role(), Role::Output);
}

#[test]
fn fatal_codes_keep_their_numbers() {
    for raw in (1..=11).chain([100]) {
        assert_eq!(FatalCode::from_raw(raw).map(FatalCode::raw), Some(raw));
    }
    assert_eq!(FatalCode::from_raw(0), None);
    assert_eq!(FatalCode::RequireSyncStartInvalid.to_string(), "7 (REQUIRE_SYNC_START_INVALID)");
}

#[test]
fn kernel_arguments_are_read_with_checks() {
    let tensors = [Tensor::contiguous(64, DType::F32, &[4]).unwrap()];
    let mut payload = DispatchPayload::default();
    payload.args[1] = u64::from(1.5f32.to_bits());
    payload.args[2] = u64::MAX;
    payload.local.block_idx = 3;
    let args = KernelArgs::new(&payload, &tensors, 2);
    assert_eq!(args.tensor(0).unwrap().addr, 64);
    assert_eq!(args.scalar_f32(1).unwrap(), 1.5);
    assert_eq!(args.scalar(2).unwrap(), u64::MAX);
    assert_eq!(args.block_idx(), 3);
    let error = args.tensor(1).unwrap_err();
    assert_eq!(error.to_string(), "argument slot 1 is not a tensor: the task has 1 tensors and 2 scalars");
    assert!(args.scalar(0).is_err());
    assert!(args.scalar(3).is_err());
    assert!(args.scalar(LOCAL_CONTEXT_SLOT).is_err());
    assert!(args.scalar(SLOTS).is_err());
}
