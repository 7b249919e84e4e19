//! Arguments in memory: views at their places, shared bytes shared, unknown bytes known to be unknown.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use argus_abi::args::{GLOBAL_CONTEXT_SLOT, KernelAbi, LOCAL_CONTEXT_SLOT};
use argus_abi::{CoreType, DType, FuncId, KernelArgs, Member, Role, RuntimeKind};
use argus_chip::A2A3SIM;
use argus_facts::with_causes;
use argus_record::RecordRequest;
use argus_replay::compare::{Change, Flaky};
use argus_replay::rebuild::Placed;
use argus_replay::{
    Argument, CapturedTask, Content, Hint, Identity, Judgement, MemberKernel, Options, Poison, Proof,
    Rebuilt, ReplayError, Substitute, TensorArgument, What, replay,
};
use argus_runtime::{KernelEntry, KernelTable};
use argus_scenes::{self};
use argus_tile::{Core, GlobalShape, Kernel, KernelResult};

use crate::setup::Recorded;

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn tensor(slot: usize, tensor: TensorArgument) -> Argument {
    Argument {
        slot,
        name: format!("t{slot}"),
        what: What::Tensor(tensor),
        source: "made for the test".into(),
    }
}

fn input(values: &[f32]) -> TensorArgument {
    let before = Content::Bytes(floats(values));
    TensorArgument { before, ..TensorArgument::contiguous(DType::F32, Role::Input, &[values.len() as u32]) }
}

fn output(values: &[f32]) -> TensorArgument {
    let after = Content::Bytes(floats(values));
    TensorArgument { after, ..TensorArgument::contiguous(DType::F32, Role::Output, &[values.len() as u32]) }
}

fn scalar(slot: usize, bits: u64) -> Argument {
    let what = What::Scalar { dtype: DType::U64, bits };
    Argument { slot, name: format!("s{slot}"), what, source: "made for the test".into() }
}

fn task(abi: KernelAbi, arguments: Vec<Argument>) -> CapturedTask {
    let member = MemberKernel { member: Member::Aiv0, func_id: FuncId(0), name: "test".into() };
    let identity = Identity { members: vec![member], ..Identity::default() };
    CapturedTask { arguments, ..CapturedTask::of_kernel(identity, abi) }
}

fn run(
    task: &CapturedTask,
    kernel: impl Fn(&mut Core, &KernelArgs<'_>) -> KernelResult + Send + Sync + 'static,
) -> Proof {
    replay(task, &kernels(kernel), &A2A3SIM, &Options::default(), 3).unwrap()
}

fn kernels(kernel: impl Kernel + 'static) -> KernelTable {
    let entry = KernelEntry {
        func_id: FuncId(0),
        name: "test".into(),
        core_type: CoreType::Aiv,
        signature: [].into(),
        sources: [].into(),
        kernel: Arc::new(kernel),
    };
    KernelTable::new([entry]).unwrap()
}

/// The `count` f32 from the start of a view's buffer, as bits.
fn physical(rebuilt: &Rebuilt, placed: &Placed, count: usize) -> Vec<u32> {
    let mut bytes = vec![0; count * 4];
    rebuilt.memory.read(placed.tensor.addr, &mut bytes).unwrap();
    bytes.chunks_exact(4).map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap())).collect()
}

#[test]
fn elements_lie_where_offset_and_strides_say_and_the_rest_holds_the_pattern() {
    let mut view = input(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    (view.shape, view.strides, view.start_offset) = (vec![2, 3], vec![8, 2], 5);
    let task = task(KernelAbi::Tensors, vec![tensor(0, view), scalar(1, 7)]);
    for poison in [Poison::of_run(&task), Poison::OTHER] {
        let rebuilt = Rebuilt::new(&task, poison).unwrap();
        let mut expected = [u32::from_le_bytes([poison.0; 4]); 256];
        for (at, value) in [(5, 1.0f32), (7, 2.0), (9, 3.0), (13, 4.0), (15, 5.0), (17, 6.0)] {
            expected[at] = value.to_bits();
        }
        let placed = &rebuilt.placed[0];
        assert_eq!(physical(&rebuilt, placed, 256), expected);
        let descriptor = &rebuilt.args.tensors[0];
        assert_eq!((descriptor.start_offset, descriptor.ndims, descriptor.extent), (5, 2, 13));
        assert_eq!((descriptor.shape(), descriptor.stride()), (&[2, 3][..], &[8, 2][..]));
        assert_eq!(
            (descriptor.size, descriptor.is_contiguous, descriptor.dtype()),
            (1024, 0, Some(DType::F32))
        );
        assert_eq!(rebuilt.args.scalars[..], [7]);
        assert_eq!(rebuilt.gather(0).unwrap(), floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    }
}

#[test]
fn what_overlapped_in_the_run_overlaps_here_and_nothing_else_does() {
    let at = |mut view: TensorArgument, address, start_offset| {
        (view.address, view.start_offset) = (address, start_offset);
        view
    };
    let four = || input(&[1.0, 2.0, 3.0, 4.0]);
    let task = task(
        KernelAbi::Tensors,
        vec![
            tensor(0, at(four(), Some(0x1000), 0)),
            // The last two elements of slot 0, as a view of the same buffer and as one of its own.
            tensor(1, at(input(&[3.0, 4.0]), Some(0x1008), 2)),
            tensor(2, at(output(&[0.0, 0.0]), Some(0x1008), 0)),
            tensor(3, at(four(), Some(0x1010), 0)),
            tensor(4, at(four(), None, 0)),
            tensor(5, at(four(), None, 0)),
        ],
    );
    let rebuilt = Rebuilt::new(&task, Poison::OTHER).unwrap();
    let base: Vec<u64> = rebuilt.placed.iter().map(|placed| placed.tensor.addr).collect();
    let data: Vec<u64> = rebuilt.placed.iter().map(|placed| placed.tensor.data_addr().unwrap()).collect();
    assert_eq!((base[1], data[1], data[2]), (base[0], base[0] + 8, base[0] + 8));
    assert_eq!(rebuilt.buffers.len(), 4);
    // An output shows what an input put there.
    assert_eq!(rebuilt.gather(2).unwrap(), floats(&[3.0, 4.0]));
    for (one, other) in [(0, 3), (3, 4), (4, 5), (0, 5)] {
        assert!(base[one].abs_diff(base[other]) >= 1024, "slots {one} and {other}");
    }
}

#[test]
fn a_raw_kernel_finds_addresses_and_scalars_in_their_slots() {
    let mut view = input(&[2.0, 3.0]);
    view.start_offset = 4;
    let task = task(KernelAbi::Raw, vec![tensor(0, view), scalar(1, 5), tensor(2, output(&[15.0]))]);
    let proof = run(&task, |core, args| {
        assert_eq!((args.tensor_count(), args.scalar_count()), (0, 3));
        let payload = args.payload();
        assert_eq!((payload.args[LOCAL_CONTEXT_SLOT], payload.args[GLOBAL_CONTEXT_SLOT]), (0, 0));
        // The slot holds where the buffer begins; the view starts four elements later.
        let from = core.global_raw(args.scalar(0)? + 4 * 4, DType::F32, GlobalShape::nd(1, 2))?;
        let to = core.global_raw(args.scalar(2)?, DType::F32, GlobalShape::nd(1, 1))?;
        let value = core.load_scalar::<f32>(&from, 1)?;
        core.store_scalar(&to, 0, value * args.scalar(1)? as f32)
    });
    assert!(proof.passed() && proof.compared(), "{proof:?}");
}

#[test]
fn contexts_are_in_their_slots_and_every_block_runs_once() {
    let mut task = task(KernelAbi::Tensors, vec![tensor(0, output(&[0.0, 1.0, 2.0, 3.0, 4.0]))]);
    task.blocks = 5;
    let proof = run(&task, |core, args| {
        let payload = args.payload();
        let local = std::ptr::from_ref(&payload.local) as u64;
        let global = std::ptr::from_ref(&payload.global) as u64;
        assert_eq!((payload.args[LOCAL_CONTEXT_SLOT], payload.args[GLOBAL_CONTEXT_SLOT]), (local, global));
        assert_eq!((args.block_num(), args.sub_block_id()), (5, core.sub_block_id()));
        let block = args.block_idx();
        let to = core.global(args.tensor(0)?, GlobalShape::nd(1, 5))?;
        core.store_scalar(&to, block as u64, block as f32)
    });
    assert!(proof.passed() && proof.compared(), "{proof:?}");
    assert_eq!(proof.verdicts[0].unwritten, 0);
}

#[test]
fn what_was_not_written_is_not_compared() {
    let task = task(KernelAbi::Tensors, vec![tensor(0, output(&[1.0, 9.0, 1.0, 9.0]))]);
    let proof = run(&task, |core, args| {
        let to = core.global(args.tensor(0)?, GlobalShape::nd(1, 4))?;
        core.store_scalar(&to, 0, 1f32)?;
        core.store_scalar(&to, 2, 1f32)
    });
    assert!(proof.passed(), "{proof:?}");
    assert_eq!((proof.verdicts[0].unwritten, proof.verdicts[0].dependent), (2, 0));
    assert_eq!(proof.verdicts[0].judgement, Judgement::BitEqual);
    // Whatever the pattern is, writing it counts as writing.
    let proof = run(&task, |core, args| {
        let to = core.global(args.tensor(0)?, GlobalShape::nd(1, 4))?;
        (0..4).try_for_each(|index| core.store_scalar(&to, index, f32::from_bits(u32::MAX)))
    });
    assert_eq!(proof.verdicts[0].unwritten, 0);
    let Judgement::Differs(difference) = &proof.verdicts[0].judgement else { panic!("{proof:?}") };
    assert_eq!(difference.count, 4);
}

#[test]
fn results_of_bytes_that_were_not_captured_are_found() {
    let task = task(KernelAbi::Tensors, vec![tensor(0, input(&[1.0, 2.0])), tensor(1, output(&[1.0, 5.0]))]);
    let proof = run(&task, |core, args| {
        let from = core.global(args.tensor(0)?, GlobalShape::nd(1, 8))?;
        let to = core.global(args.tensor(1)?, GlobalShape::nd(1, 2))?;
        let (inside, behind) = (core.load_scalar::<u32>(&from, 0)?, core.load_scalar::<u32>(&from, 6)?);
        core.store_scalar(&to, 0, inside)?;
        core.store_scalar(&to, 1, behind ^ 1)
    });
    assert_eq!((proof.verdicts[0].dependent, proof.verdicts[0].unwritten), (1, 0));
    assert!(!proof.passed());
}

#[test]
fn writes_beside_the_arguments_are_found() {
    let task = task(KernelAbi::Tensors, vec![tensor(0, output(&[1.0]))]);
    let proof = run(&task, |core, args| {
        let to = core.global(args.tensor(0)?, GlobalShape::nd(1, 8))?;
        core.store_scalar(&to, 0, 1f32)?;
        core.store_scalar(&to, 3, 1f32)
    });
    let stray = proof.outcome.stray.unwrap();
    // 1.0f32 is 00 00 80 3f: all four bytes are others than the pattern.
    assert_eq!((stray.bytes, stray.slot, stray.offset), (4, 0, 12));
    assert!(proof.passed());
}

#[test]
fn a_task_that_gives_other_bytes_each_time_is_flaky() {
    let task = task(KernelAbi::Tensors, vec![tensor(0, output(&[0.0, 0.0]))]);
    let runs = AtomicU32::new(0);
    let proof = run(&task, move |core, args| {
        let to = core.global(args.tensor(0)?, GlobalShape::nd(1, 2))?;
        core.store_scalar(&to, 0, 0f32)?;
        // The first two runs are those with the two patterns.
        let count = runs.fetch_add(1, Ordering::Relaxed);
        core.store_scalar(&to, 1, if count < 3 { 0f32 } else { 1f32 })
    });
    assert!(!proof.passed());
    assert_eq!(proof.flaky, [Flaky { run: 3, change: Change::Output { slot: 0, element: 1 } }]);
}

/// Metadata of everything, payload of nothing.
fn hybrid() -> (Recorded, CapturedTask) {
    let (case, runtime) =
        argus_scenes::scene("dump_tensor_example").unwrap().case(None, Some(RuntimeKind::Trb)).unwrap();
    let request = RecordRequest { level: Some(argus_facts::Level::Hybrid), ..RecordRequest::default() };
    let recorded = Recorded::case("dump_tensor_example", &case, runtime, &A2A3SIM, &request);
    let task = recorded.task("add", 0);
    (recorded, task)
}

fn substituted(recorded: &Recorded, task: &CapturedTask, texts: &[&str]) -> Result<Proof, ReplayError> {
    let mut task = task.clone();
    task.substitute(&Substitute::parse_all(texts.iter().copied())?)?;
    replay(&task, &recorded.code.kernels, &A2A3SIM, &Options::default(), 1)
}

#[test]
fn a_missing_payload_is_named_with_its_slot_and_the_way_out() {
    let (recorded, task) = hybrid();
    let refused = |texts: &[&str]| substituted(&recorded, &task, texts).unwrap_err();
    let says = |texts: &[&str]| with_causes(&refused(texts));
    let error = refused(&[]);
    assert!(error.to_string().starts_with("argument slot 0 has no payload:"), "{error}");
    assert_eq!(error.hint(), Some(Hint::GivePayload { slot: 0 }));
    assert!(says(&["0=zero"]).starts_with("argument slot 1 has no payload:"));
    assert_eq!(says(&["5=zero"]), "slot 5 cannot be set: the task has only slots 0, 1, 2");
    assert!(says(&["0=nowhere.npy"]).starts_with("slot 0: nowhere.npy: "));
}

#[test]
fn substitutes_take_the_place_of_what_was_not_captured() {
    let (recorded, task) = hybrid();
    let size = 128 * 128;
    let result = |texts: &[&str]| {
        let proof = substituted(&recorded, &task, texts).unwrap();
        assert!(!proof.compared(), "outputs were not captured either");
        proof.outcome.outputs[0].bytes.clone()
    };
    assert_eq!(result(&["0=1.5", "1=0x40000000"]), 3.5f32.to_le_bytes().repeat(size));
    assert_eq!(result(&["0=zero", "1=-1"]), (-1f32).to_le_bytes().repeat(size));
    let random = result(&["0=random:4", "1=zero"]);
    assert_eq!(random, result(&["0=random:4", "1=zero"]));
    assert_ne!(random, result(&["0=random:5", "1=zero"]));

    let directory = tempfile::tempdir().unwrap();
    let npy = |name: &str, header: &str, data: &[u8]| {
        let mut header = header.to_owned();
        // 6 bytes of magic, 2 of version, 2 of length: the data starts at a multiple of 64.
        while !(10 + header.len() + 1).is_multiple_of(64) {
            header.push(' ');
        }
        header.push('\n');
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend_from_slice(&(header.len() as u16).to_le_bytes());
        file.extend_from_slice(header.as_bytes());
        file.extend_from_slice(data);
        let path = directory.path().join(name);
        std::fs::write(&path, file).unwrap();
        format!("0={}", path.display())
    };
    let ramp: Vec<f32> = (0..size).map(|index| index as f32).collect();
    let shape = format!("{:?}", shape_of(&task));
    let shape = shape.replace('[', "(").replace(']', ",)");
    let header = |descr: &str, shape: &str| {
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}")
    };
    let good = npy("good.npy", &header("<f4", &shape), &floats(&ramp));
    assert_eq!(result(&[&good, "1=zero"]), floats(&ramp));
    let says = |text: &str| with_causes(&substituted(&recorded, &task, &[text, "1=zero"]).unwrap_err());
    let doubles = npy("doubles.npy", &header("<f8", &shape), &vec![0; size * 8]);
    assert!(
        says(&doubles).ends_with("its elements are <f8, FLOAT32 is written as <f4"),
        "{}",
        says(&doubles)
    );
    let small = npy("small.npy", &header("<f4", "(3,)"), &floats(&ramp[..3]));
    assert!(says(&small).contains("its shape is [3], the view's is"), "{}", says(&small));
    let cut = npy("cut.npy", &header("<f4", &shape), &floats(&ramp[..3]));
    assert!(says(&cut).contains("it has 12 bytes of elements, its shape needs 65536"), "{}", says(&cut));
}

fn shape_of(task: &CapturedTask) -> Vec<u32> {
    let What::Tensor(tensor) = &task.arguments[0].what else { panic!() };
    tensor.shape.clone()
}

#[test]
fn a_slot_that_was_not_captured_is_named() {
    let (case, runtime) =
        argus_scenes::scene("dump_tensor_example").unwrap().case(None, Some(RuntimeKind::Trb)).unwrap();
    let request = RecordRequest { selectors: vec!["kind=tensor".into()], ..RecordRequest::default() };
    let recorded = Recorded::case("dump_tensor_example", &case, runtime, &A2A3SIM, &request);
    let task = recorded.task("add_scalar_inplace", 0);
    let error = replay(&task, &recorded.code.kernels, &A2A3SIM, &Options::default(), 1).unwrap_err();
    assert!(error.to_string().starts_with("argument slot 1 of the task was not captured"), "{error}");
    assert_eq!(error.hint(), Some(Hint::GiveArgument { slot: 1 }));
    let proof = substituted(&recorded, &task, &["1=1.0"]).unwrap();
    assert!(proof.passed() && proof.compared());
    let proof = substituted(&recorded, &task, &["1=2.0"]).unwrap();
    assert!(!proof.passed(), "another scalar gives another result");
}

#[test]
fn descriptors_must_come_first() {
    let task =
        task(KernelAbi::Tensors, vec![tensor(0, input(&[1.0])), scalar(1, 3), tensor(2, input(&[1.0]))]);
    let error = with_causes(&Rebuilt::new(&task, Poison::OTHER).unwrap_err());
    assert!(error.contains("slot 2 is a tensor, but slot 1 is not"), "{error}");
}

/// The kernel writes the first of three elements. In a tensor that its task created, the others are what fresh memory
/// holds, or one value that it was created with; a run that left anything else did what the replay did not.
#[test]
fn unwritten_elements_of_created_tensors_must_be_what_fresh_memory_is() {
    let poison = f32::from_bits(u32::MAX);
    let compared = |created: bool, others: [f32; 2]| {
        let made = TensorArgument { created, ..output(&[1.0, others[0], others[1]]) };
        let task = task(KernelAbi::Tensors, vec![tensor(0, made)]);
        let proof = run(&task, |core, args| {
            let place = core.global(args.tensor(0)?, GlobalShape::nd(1, 3))?;
            core.store_scalar(&place, 0, 1f32)
        });
        (proof.passed(), proof.elements())
    };
    assert_eq!(compared(true, [poison, poison]), (true, (3, 3)));
    assert_eq!(compared(true, [poison, 7.0]), (false, (3, 3)));
    // A value that all of them have may have been there from the beginning.
    assert_eq!(compared(true, [7.0, 7.0]), (true, (1, 3)));
    // What was there before in memory that the task was given is not known, and not compared.
    assert_eq!(compared(false, [poison, 7.0]), (true, (1, 3)));
}
