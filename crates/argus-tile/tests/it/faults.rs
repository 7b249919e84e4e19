use std::sync::atomic::Ordering;

use argus_abi::{DType, DispatchPayload, KernelArgs, Tensor};
use argus_tile::{
    Core, Direction, Fault, FaultKind, GlobalShape, Kernel, KernelResult, Layout, MaskPattern, Opcode, Pipe,
    RoundMode, Saturation, Space, Split, TPipe, Tile,
};

use crate::rig::{Rig, vec_tile};

/// The fault has a kind, names its instruction and operand in the message, and this file.
#[track_caller]
fn expect(fault: Fault, kind: FaultKind, opcode: Opcode, operand: &str, text: &str) {
    assert_eq!(std::mem::discriminant(&fault.kind), std::mem::discriminant(&kind), "{fault}");
    assert_eq!((fault.instruction, fault.operand), (Some(opcode), Some(operand)), "{fault}");
    let message = fault.to_string();
    let line = fault.location.unwrap();
    assert!(line.file().ends_with("faults.rs"), "{message}");
    let start = format!("{opcode} (instruction {}, {}:{}): ", fault.index, line.file(), line.line());
    assert!(message.starts_with(&start), "{message} does not start with {start}");
    assert!(message.contains(&format!("operand {operand}: ")), "{message}");
    assert!(message.contains(text), "{message} does not contain {text}");
}

fn f32_tile(addr: u32) -> Tile {
    Tile::vec(DType::F32, 16, 16).at(addr)
}

#[test]
fn operands_outside_their_memory() {
    let mut rig = Rig::aiv(800);
    let good = f32_tile(0);
    let far = f32_tile(256 * 1024 - 1024 + 32);
    let kind = FaultKind::OutOfRange;
    let text = "UB ends at 0x40000";
    expect(rig.core.tadd(&far, &good, &good).unwrap_err(), kind.clone(), Opcode::Tadd, "dst", text);
    expect(rig.core.tadd(&good, &far, &good).unwrap_err(), kind.clone(), Opcode::Tadd, "src0", text);
    expect(rig.core.tadd(&good, &good, &far).unwrap_err(), kind.clone(), Opcode::Tadd, "src1", text);
    expect(rig.core.trowsum(&good, &good, &far).unwrap_err(), kind.clone(), Opcode::Trowsum, "tmp", text);
    let fault = rig.core.get_value::<f32>(&good, 256).unwrap_err();
    expect(fault, kind.clone(), Opcode::GetValue, "src", "element 256");
    // A size that does not fit 32 bits.
    let huge = Tile::vec(DType::F32, u32::MAX, 1 << 20).at(32);
    expect(rig.core.tadd(&huge, &good, &good).unwrap_err(), kind, Opcode::Tadd, "dst", "UB ends");
    // The last byte is still inside.
    rig.core.tadd(&f32_tile(256 * 1024 - 1024), &good, &good).unwrap();
}

#[test]
fn misaligned_and_unassigned_tiles() {
    let mut rig = Rig::aiv(801);
    let good = f32_tile(0);
    let fault = rig.core.tmul(&good, &f32_tile(8), &good).unwrap_err();
    expect(fault, FaultKind::Misaligned, Opcode::Tmul, "src0", "0x8 is not a multiple of 32");
    let null = Tile::vec(DType::F32, 16, 16);
    let fault = rig.core.texp(&good, &null).unwrap_err();
    expect(fault, FaultKind::Unassigned, Opcode::Texp, "src", "no address");
    let pipe = TPipe::new(0, Direction::C2V, 1024, 2);
    let fault = rig.core.tpop(&pipe, &null, Split::NoSplit).unwrap_err();
    expect(fault, FaultKind::Unassigned, Opcode::Tpop, "dst", "no address");
}

#[test]
fn types_that_do_not_go_together() {
    let mut rig = Rig::aiv(802);
    let good = f32_tile(0);
    let other = Tile::vec(DType::I32, 16, 16).at(0x800);
    let kind = FaultKind::WrongType;
    let fault = rig.core.tsub(&good, &good, &other).unwrap_err();
    expect(fault, kind.clone(), Opcode::Tsub, "src1", "INT32");
    expect(rig.core.texp(&other, &other).unwrap_err(), kind.clone(), Opcode::Texp, "dst", "INT32");
    let long = Tile::vec(DType::I64, 16, 16).at(0);
    expect(rig.core.tadd(&long, &long, &long).unwrap_err(), kind.clone(), Opcode::Tadd, "dst", "INT64");
    let fault = rig.core.tcvt(&long, &good, RoundMode::Rint, Saturation::Off).unwrap_err();
    expect(fault, kind.clone(), Opcode::Tcvt, "dst", "INT64");
    let fault = rig.core.tgather(&good, &good, &good, &good).unwrap_err();
    expect(fault, kind.clone(), Opcode::Tgather, "idx", "32-bit integers");
    let nibbles = Tile::vec(DType::Fp4E2M1, 16, 64).at(0);
    expect(rig.core.tmov(&nibbles, &nibbles).unwrap_err(), kind.clone(), Opcode::Tmov, "dst", "FP4E2M1");
    let (tensor, _) = rig.tensor(DType::F16, 256);
    let global = rig.core.global(&tensor, GlobalShape::nd(16, 16)).unwrap();
    expect(rig.core.tload(&good, &global).unwrap_err(), kind.clone(), Opcode::Tload, "dst", "FLOAT16");
    let fault = rig.core.load_scalar::<f32>(&global, 0).unwrap_err();
    expect(fault, kind.clone(), Opcode::LoadScalar, "src", "FLOAT16");
    let mut aic = Rig::aic(802);
    let (left, right) = (Tile::left(DType::I32, 16, 8).at(0), Tile::right(DType::I32, 8, 16).at(0));
    let acc = Tile::acc(DType::F32, 16, 16).at(0);
    let fault = aic.core.tmatmul(&acc, &left, &right).unwrap_err();
    expect(fault, kind.clone(), Opcode::Tmatmul, "left", "INT32");
    let (left, right) = (Tile::left(DType::I8, 16, 32).at(0), Tile::right(DType::I8, 32, 16).at(0));
    expect(aic.core.tmatmul(&acc, &left, &right).unwrap_err(), kind, Opcode::Tmatmul, "dst", "INT32");
}

#[test]
fn memories_the_core_does_not_have() {
    let kind = FaultKind::WrongSpace;
    let (left, right) = (Tile::left(DType::F32, 16, 8).at(0), Tile::right(DType::F32, 8, 16).at(0));
    let acc = Tile::acc(DType::F32, 16, 16).at(0);
    let mut aiv = Rig::aiv(803);
    let fault = aiv.core.tmatmul(&acc, &left, &right).unwrap_err();
    expect(fault, kind.clone(), Opcode::Tmatmul, "dst", "an aiv core has no L0C");
    let (tensor, _) = aiv.tensor(DType::F32, 256);
    let global = aiv.core.global(&tensor, GlobalShape::nd(16, 16)).unwrap();
    let fault = aiv.core.tload(&Tile::mat_nz(DType::F32, 16, 16).at(0), &global).unwrap_err();
    expect(fault, kind.clone(), Opcode::Tload, "dst", "an aiv core has no L1");
    let mut aic = Rig::aic(803);
    let fault = aic.core.tadd(&f32_tile(0), &f32_tile(0), &f32_tile(0)).unwrap_err();
    expect(fault, kind.clone(), Opcode::Tadd, "dst", "an aic core has no UB");
    let fault = aic.core.tmatmul(&acc, &right, &left).unwrap_err();
    expect(fault, kind.clone(), Opcode::Tmatmul, "left", "no tile in L0B");
    let mat = Tile::mat_nz(DType::F32, 16, 16).at(0);
    expect(aic.core.tmov(&acc, &mat).unwrap_err(), kind, Opcode::Tmov, "dst", "no tile in L0C");
}

#[test]
fn shapes_that_do_not_fit() {
    let mut rig = Rig::aiv(804);
    let good = f32_tile(0);
    let kind = FaultKind::WrongShape;
    let mut add = |dst: Tile| rig.core.tadd(&dst, &good, &good).unwrap_err();
    expect(add(good.valid(17, 1)), kind.clone(), Opcode::Tadd, "dst", "17x1 exceeds");
    expect(add(Tile::vec(DType::F32, 32, 16).at(0)), kind.clone(), Opcode::Tadd, "src0", "32x16 elements");
    expect(add(Tile::vec(DType::F32, 4, 3).at(0)), kind.clone(), Opcode::Tadd, "dst", "multiple of 32 bytes");
    expect(add(Tile::vec(DType::F32, 0, 8).at(0)), kind.clone(), Opcode::Tadd, "dst", "0x8");
    let cut = vec_tile(DType::F32, Layout::Zn, 12, 16, 0);
    expect(add(cut), kind.clone(), Opcode::Tadd, "dst", "8x16 box of zn");
    let odd = Tile::new(Space::Vec, DType::F32, 16, 16, Layout::Nz, 99).at(0);
    expect(add(odd), kind.clone(), Opcode::Tadd, "dst", "fractal of 99");
    let fault = rig.core.tfillpad(&good, &good).unwrap_err();
    expect(fault, kind.clone(), Opcode::Tfillpad, "dst", "no pad value");
    expect(rig.core.tci(&good, 0, false).unwrap_err(), kind.clone(), Opcode::Tci, "dst", "one row");
    let fault =
        rig.core.tgather_mask(&Tile::vec(DType::F32, 1, 8).at(0), &good, MaskPattern::P1111).unwrap_err();
    expect(fault, kind.clone(), Opcode::TgatherMask, "dst", "256 selected");
    let fault = rig.core.trowexpandmul(&good, &good, &good.valid(16, 0)).unwrap_err();
    expect(fault, kind.clone(), Opcode::Trowexpandmul, "src1", "no valid column");
    let fault = rig.core.treshape(&mut Tile::vec(DType::F32, 1, 16), &good).unwrap_err();
    expect(fault, kind.clone(), Opcode::Treshape, "dst", "1024 bytes");
    let fault =
        rig.core.ttrans(&Tile::vec(DType::F32, 16, 16).at(0), &Tile::vec(DType::F32, 32, 16).at(0), &good);
    expect(fault.unwrap_err(), kind, Opcode::Ttrans, "dst", "16x32 elements");
}

#[test]
fn integers_divided_by_zero() {
    let mut rig = Rig::aiv(805);
    let tile = |addr| Tile::vec(DType::I32, 1, 8).at(addr);
    rig.core.texpands(&tile(0), 5).unwrap();
    let kind = FaultKind::DivisionByZero;
    let fault = rig.core.tdiv(&tile(0), &tile(0), &tile(0x40)).unwrap_err();
    expect(fault, kind.clone(), Opcode::Tdiv, "src1", "divided by zero");
    let fault = rig.core.tdivs(&tile(0), &tile(0), 0.5f32).unwrap_err();
    expect(fault, kind.clone(), Opcode::Tdivs, "scalar", "divided by zero");
    let fault = rig.core.trowexpanddiv(&tile(0), &tile(0), &tile(0x40).valid(1, 1)).unwrap_err();
    expect(fault, kind, Opcode::Trowexpanddiv, "src1", "divided by zero");
    rig.core.texpands(&tile(0), i32::MIN).unwrap();
    rig.core.tdivs(&tile(0), &tile(0), -1).unwrap();
    assert_eq!(rig.core.get_value::<i32>(&tile(0), 0).unwrap(), i32::MIN);
}

#[test]
fn global_memory_out_of_range() {
    let mut rig = Rig::aiv(806);
    let (tensor, _) = rig.tensor(DType::F32, 256);
    let good = f32_tile(0);
    let refused = |fault: Fault, opcode, operand| {
        assert!(matches!(fault.kind, FaultKind::Memory(_)), "{fault}");
        let kind = fault.kind.clone();
        expect(fault, kind, opcode, operand, "leave the allowed range");
    };
    let long = rig.core.global_at(&tensor, 1, GlobalShape::nd(16, 16)).unwrap();
    refused(rig.core.tload(&good, &long).unwrap_err(), Opcode::Tload, "src");
    refused(rig.core.tstore(&long, &good).unwrap_err(), Opcode::Tstore, "dst");
    refused(rig.core.tstore_atomic_add(&long, &good).unwrap_err(), Opcode::TstoreAtomicAdd, "dst");
    refused(rig.core.load_scalar::<i32>(&long, 255).unwrap_err(), Opcode::LoadScalar, "src");
    refused(rig.core.store_scalar(&long, u64::MAX, 1u32).unwrap_err(), Opcode::StoreScalar, "dst");
    let wide = rig.core.global(&tensor, GlobalShape::nd_strided(16, 16, u64::MAX / 2)).unwrap();
    refused(rig.core.tload(&good, &wide).unwrap_err(), Opcode::Tload, "src");
    let nowhere = Tensor::contiguous(0x1000, DType::F32, &[16]).unwrap();
    let fault = rig.core.global(&nowhere, GlobalShape::nd(1, 16)).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Memory(_)));
    assert!(fault.to_string().contains("0x1000") && fault.to_string().contains("faults.rs"), "{fault}");
    assert!(rig.core.global_raw(0x1000, DType::F32, GlobalShape::nd(1, 16)).is_err());
}

#[test]
fn a_stopped_core_ends_at_the_next_instruction() {
    let mut rig = Rig::aiv(807);
    rig.core.dsb().unwrap();
    rig.stop.store(true, Ordering::Relaxed);
    let fault = rig.core.tadd(&f32_tile(0), &f32_tile(0), &f32_tile(0)).unwrap_err();
    assert!(fault.is_stop());
    assert_eq!((fault.instruction, fault.index), (Some(Opcode::Tadd), 2));
    assert!(fault.to_string().starts_with("TADD (instruction 2, "), "{fault}");
    assert!(rig.core.set_flag(Pipe::V, Pipe::S, 0).unwrap_err().is_stop());
}

#[test]
fn flags_have_eight_numbers() {
    let mut rig = Rig::aiv(808);
    let fault = rig.core.set_flag(Pipe::Mte2, Pipe::V, 8).unwrap_err();
    assert_eq!((&fault.kind, fault.instruction), (&FaultKind::Protocol, Some(Opcode::SetFlag)));
    assert!(fault.to_string().contains("flag 8 does not exist"), "{fault}");
}

#[test]
fn kernels_complain_in_their_own_words_and_of_their_arguments() {
    fn kernel(_: &mut Core, args: &KernelArgs<'_>) -> KernelResult {
        args.tensor(0)?;
        Err(Fault::kernel("the block table is empty"))
    }
    let mut rig = Rig::aiv(809);
    let payload = DispatchPayload::default();
    let fault = kernel.run(&mut rig.core, &KernelArgs::new(&payload, &[], 0)).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Argument(_)));
    assert!(fault.to_string().contains("argument slot 0 is not a tensor"), "{fault}");
    assert!(fault.location.unwrap().file().ends_with("faults.rs"));
    let (tensor, _) = rig.tensor(DType::F32, 1);
    let fault = kernel.run(&mut rig.core, &KernelArgs::new(&payload, &[tensor], 0)).unwrap_err();
    assert!(fault.to_string().ends_with("the block table is empty"), "{fault}");
    fn is_kernel(_: &dyn Kernel) {}
    is_kernel(&kernel);
    is_kernel(&|core: &mut Core, _: &KernelArgs<'_>| core.dsb());
}
