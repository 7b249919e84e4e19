//! Every tile instruction, from the engine to its cost: nothing falls into a default.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use argus_abi::{DType, Member, Tensor};
use argus_chip::{CHIPS, Chip};
use argus_gm::{Fill, GlobalMemory};
use argus_tile::{
    ClusterPipes, Core, CoreConfig, CoreLog, CoreStatus, Direction, Float8, Global, GlobalShape, InstrLog,
    KernelResult, Layout, LogEntry, MaskPattern, NotifyOp, Opcode, OperandPlace, Pad, Pipe, RoundMode,
    Saturation, Scaled, ScatterBounds, ScatterBy, ScatterOp, Space, Split, TPipe, Tile, WaitFor,
};
use serde_json::{Value, json};

use crate::footprint::{Memory, Regions};
use crate::lower::{Channels, lower};
use crate::machine::{Instr, Mnemonic};
use crate::params::Params;

const X: Tile = Tile::vec(DType::F32, 16, 64).at(0);
const Y: Tile = Tile::vec(DType::F32, 16, 64).at(0x2000);
const OUT: Tile = Tile::vec(DType::F32, 16, 64).at(0x4000);
const TMP: Tile = Tile::vec(DType::F32, 16, 64).at(0x6000);
const COLUMN: Tile = Tile::vec(DType::F32, 16, 1).dn().at(0x8000);
const ROW: Tile = Tile::vec(DType::F32, 1, 64).at(0x9000);
const WHOLE: Tile = Tile::vec(DType::I32, 16, 64).at(0xa000);
const L1: Tile = Tile::mat_nz(DType::F16, 64, 64).at(0);
const LEFT: Tile = Tile::left(DType::F16, 64, 64).at(0);
const RIGHT: Tile = Tile::right(DType::F16, 64, 64).at(0);
const ACC: Tile = Tile::acc(DType::F32, 64, 64).at(0);
const PIPE: TPipe = TPipe::new(0, Direction::C2V, 32 * 64 * 4, 2);
const RECORDS: Tile = Tile::vec(DType::F32, 16, 128).at(0xc000);
const LIST: Tile = Tile::vec(DType::F32, 1, 256).at(0x4000);
const HALF: Tile = Tile::vec(DType::F32, 32, 64).at(0);

/// Gives an instruction to the engine, with those that it cannot do without.
fn issue(core: &mut Core, opcode: Opcode, global: &Global, signal: &Global) -> KernelResult {
    match opcode {
        Opcode::Tassign => core.tassign(&mut X.clone(), 0x100),
        Opcode::Tload => core.tload(&X, global),
        Opcode::Tstore => core.tstore(global, &X),
        Opcode::TstoreAtomicAdd => core.tstore_atomic_add(global, &X),
        Opcode::Tadd => core.tadd(&OUT, &X, &Y),
        Opcode::Tsub => core.tsub(&OUT, &X, &Y),
        Opcode::Tmul => core.tmul(&OUT, &X, &Y),
        Opcode::Tdiv => core.tdiv(&OUT, &X, &Y),
        Opcode::Tmax => core.tmax(&OUT, &X, &Y),
        Opcode::Tmin => core.tmin(&OUT, &X, &Y),
        Opcode::Tadds => core.tadds(&OUT, &X, 2.0f32),
        Opcode::Tsubs => core.tsubs(&OUT, &X, 2.0f32),
        Opcode::Tmuls => core.tmuls(&OUT, &X, 2.0f32),
        Opcode::Tdivs => core.tdivs(&OUT, &X, 2.0f32),
        Opcode::Tmaxs => core.tmaxs(&OUT, &X, 2.0f32),
        Opcode::Tmins => core.tmins(&OUT, &X, 2.0f32),
        Opcode::Texpands => core.texpands(&OUT, 2.0f32),
        Opcode::Texp => core.texp(&OUT, &X),
        Opcode::Tlog => core.tlog(&OUT, &X),
        Opcode::Tsqrt => core.tsqrt(&OUT, &X),
        Opcode::Trsqrt => core.trsqrt(&OUT, &X),
        Opcode::Trecip => core.trecip(&OUT, &X),
        Opcode::Tneg => core.tneg(&OUT, &X),
        Opcode::Tabs => core.tabs(&OUT, &X),
        Opcode::Tcvt => core.tcvt(&WHOLE, &X, RoundMode::Rint, Saturation::On),
        Opcode::Tmatmul => core.tmatmul(&ACC, &LEFT, &RIGHT),
        Opcode::TmatmulAcc => core.tmatmul_acc(&ACC, &ACC, &LEFT, &RIGHT),
        Opcode::Tmov => core.tmov(&LEFT, &L1),
        Opcode::Textract => core.textract(&LEFT, &L1, 0, 0),
        Opcode::Treshape => core.treshape(&mut OUT.clone(), &X),
        Opcode::Ttrans => core.ttrans(&Tile::vec(DType::F32, 64, 16).at(0x4000), &X, &TMP),
        Opcode::Tfillpad => core.tfillpad(&OUT.pad(Pad::Zero), &X.valid(10, 40)),
        Opcode::TfillpadInplace => core.tfillpad_inplace(&X.pad(Pad::Zero), &X.valid(10, 40)),
        Opcode::Trowsum => core.trowsum(&COLUMN, &X, &TMP),
        Opcode::Trowmax => core.trowmax(&COLUMN, &X, &TMP),
        Opcode::Trowexpand => core.trowexpand(&OUT, &COLUMN),
        Opcode::Trowexpandmul => core.trowexpandmul(&OUT, &X, &COLUMN),
        Opcode::Trowexpandsub => core.trowexpandsub(&OUT, &X, &COLUMN),
        Opcode::Trowexpanddiv => core.trowexpanddiv(&OUT, &X, &COLUMN),
        Opcode::Tcolexpand => core.tcolexpand(&OUT, &ROW),
        Opcode::Tcolexpandmul => core.tcolexpandmul(&OUT, &X, &ROW),
        Opcode::Tgather => core.tgather(&OUT, &X, &WHOLE, &TMP),
        Opcode::TgatherMask => core.tgather_mask(&OUT, &X, MaskPattern::P0101),
        Opcode::Tci => core.tci(&Tile::vec(DType::I32, 1, 64).at(0), 3, false),
        Opcode::GetValue => core.get_value::<f32>(&X, 5).map(drop),
        Opcode::SetValue => core.set_value(&X, 5, 2.0f32),
        Opcode::LoadScalar => core.load_scalar::<f32>(global, 5).map(drop),
        Opcode::StoreScalar => core.store_scalar(global, 5, 2.0f32),
        Opcode::SetFlag => core.set_flag(Pipe::V, Pipe::Mte3, 0),
        Opcode::WaitFlag => {
            core.set_flag(Pipe::V, Pipe::Mte3, 0)?;
            core.wait_flag(Pipe::V, Pipe::Mte3, 0)
        }
        Opcode::PipeBarrier => core.pipe_barrier(Pipe::V),
        Opcode::Dcci => core.dcci(),
        Opcode::Dsb => core.dsb(),
        Opcode::Tpush => core.tpush(&PIPE, &ACC, Split::UpDown),
        Opcode::Tpop => core.tpop(&PIPE, &HALF, Split::UpDown),
        Opcode::Tfree => {
            core.tpop(&PIPE, &HALF, Split::UpDown)?;
            core.tfree(&PIPE, Split::UpDown)
        }
        Opcode::Tcolsum => core.tcolsum(&ROW, &X),
        Opcode::Tcolmax => core.tcolmax(&ROW, &X),
        Opcode::Tcolexpandadd => core.tcolexpandadd(&OUT, &X, &ROW),
        Opcode::Tcolexpandexpdif => core.tcolexpandexpdif(&OUT, &X, &ROW),
        Opcode::Tconcat => core.tconcat(&OUT, &X.valid(16, 20), &Y.valid(16, 30)),
        Opcode::Tsort32 => core.tsort32(&RECORDS, &X, &WHOLE),
        Opcode::Tmrgsort => core.tmrgsort(&LIST, &LIST, 64),
        Opcode::TmrgsortLists => core.tmrgsort_lists(&LIST, &TMP, &[ROW, ROW], false).map(drop),
        Opcode::Mscatter => {
            core.mscatter(global, &X, &WHOLE, ScatterBy::Element, ScatterOp::Replace, ScatterBounds::Skip)
        }
        Opcode::TmatmulMx => {
            let left = Tile::left(DType::Fp8E4M3Fn, 64, 64).at(0);
            let right = Tile::right(DType::Fp8E4M3Fn, 64, 64).at(0);
            let scale =
                |space, rows, cols, layout| Tile::new(space, DType::Fp8E8M0, rows, cols, layout, 32).at(0);
            let left_scale = scale(Space::ScaleLeft, 64, 2, Layout::Zz);
            let right_scale = scale(Space::ScaleRight, 2, 64, Layout::Nn);
            let left = Scaled { values: &left, kind: Float8::E4M3, scales: &left_scale };
            let right = Scaled { values: &right, kind: Float8::E4M3, scales: &right_scale };
            core.tmatmul_mx(&ACC, left, right)
        }
        Opcode::Tnotify => core.tnotify(signal, 1, NotifyOp::Add),
        Opcode::Twait => core.twait(signal, 0, WaitFor::GreaterOrEqual),
        Opcode::Tput => core.tput(global, global, &X, false),
        Opcode::TputAsync => core.tput_async(global, global),
        Opcode::TprefetchAsync => core.tprefetch_async(global),
    }
}

/// Where an instruction runs, the part of the timing set that prices it, and how many operands it touches.
fn expected(opcode: Opcode) -> (Member, &'static str, usize) {
    use Member::{Aic, Aiv0};
    match opcode {
        Opcode::Tassign | Opcode::Treshape => (Aiv0, "scalar", 0),
        Opcode::Dcci | Opcode::Dsb => (Aiv0, "scalar", 0),
        Opcode::Tci | Opcode::GetValue | Opcode::SetValue | Opcode::StoreScalar => (Aiv0, "scalar", 1),
        Opcode::LoadScalar => (Aiv0, "scalar_global", 1),
        Opcode::SetFlag | Opcode::WaitFlag | Opcode::Tfree => (Aiv0, "flag", 0),
        Opcode::PipeBarrier => (Aiv0, "barrier", 0),
        Opcode::Tload | Opcode::Tstore | Opcode::TstoreAtomicAdd => (Aiv0, "paths", 2),
        Opcode::Tmov | Opcode::Textract => (Aic, "paths", 2),
        Opcode::Tpush => (Aic, "paths", 1),
        // Where the tile is already there, the pop is its signal.
        Opcode::Tpop => (Aiv0, "flag", 1),
        Opcode::Tmatmul => (Aic, "cube", 3),
        Opcode::TmatmulAcc => (Aic, "cube", 4),
        Opcode::Texpands => (Aiv0, "vector", 1),
        Opcode::Tadds | Opcode::Tsubs | Opcode::Tmuls | Opcode::Tdivs | Opcode::Tmaxs | Opcode::Tmins => {
            (Aiv0, "vector", 2)
        }
        Opcode::Texp
        | Opcode::Tlog
        | Opcode::Tsqrt
        | Opcode::Trsqrt
        | Opcode::Trecip
        | Opcode::Tneg
        | Opcode::Tabs
        | Opcode::Tcvt
        | Opcode::Tfillpad
        | Opcode::TfillpadInplace
        | Opcode::Trowexpand
        | Opcode::Tcolexpand
        | Opcode::TgatherMask => (Aiv0, "vector", 2),
        Opcode::Tadd
        | Opcode::Tsub
        | Opcode::Tmul
        | Opcode::Tdiv
        | Opcode::Tmax
        | Opcode::Tmin
        | Opcode::Ttrans
        | Opcode::Trowsum
        | Opcode::Trowmax
        | Opcode::Trowexpandmul
        | Opcode::Trowexpandsub
        | Opcode::Trowexpanddiv
        | Opcode::Tcolexpandmul => (Aiv0, "vector", 3),
        Opcode::Tgather | Opcode::TmrgsortLists => (Aiv0, "vector", 4),
        Opcode::Tcolsum | Opcode::Tcolmax | Opcode::Tmrgsort => (Aiv0, "vector", 2),
        Opcode::Tcolexpandadd | Opcode::Tcolexpandexpdif | Opcode::Tconcat => (Aiv0, "vector", 3),
        Opcode::Tsort32 | Opcode::Mscatter => (Aiv0, "vector", 3),
        Opcode::TmatmulMx => (Aic, "cube", 5),
        Opcode::Tnotify => (Aiv0, "scalar", 0),
        Opcode::Twait => (Aiv0, "scalar_global", 0),
        Opcode::Tput => (Aiv0, "paths", 2),
        Opcode::TputAsync => (Aiv0, "scalar", 2),
        Opcode::TprefetchAsync => (Aiv0, "scalar", 0),
    }
}

/// What the engine writes down about one instruction.
fn logged(chip: &Chip, opcode: Opcode, member: Member) -> LogEntry {
    let memory = Arc::new(GlobalMemory::new());
    let pipes = Arc::new(ClusterPipes::new());
    let buffer = memory.allocate(16 * 64 * 4, Fill::Zero).unwrap();
    let tensor = Tensor::contiguous(buffer.addr, DType::F32, &[16 * 64]).unwrap();
    let on = |member: Member| {
        let config = CoreConfig { sizes: chip.core_sizes, core_type: member.core_type(), fill: Fill::Zero };
        let status = Arc::new(CoreStatus::new(Arc::new(AtomicBool::new(false))));
        let mut core = Core::new(config, memory.clone(), pipes.clone(), status);
        core.begin_kernel(member);
        core.start_log();
        core
    };
    if matches!(opcode, Opcode::Tpop | Opcode::Tfree) {
        on(Member::Aic).tpush(&PIPE, &ACC, Split::UpDown).unwrap();
    }
    let mut core = on(member);
    let global = core.global(&tensor, GlobalShape::nd(16, 64)).unwrap();
    let signal = core.global_raw(buffer.addr, DType::I32, GlobalShape::nd(1, 1)).unwrap();
    issue(&mut core, opcode, &global, &signal).unwrap();
    let entry = core.take_log().unwrap().entries.pop().unwrap();
    assert_eq!(entry.opcode, opcode);
    entry
}

fn lowered(chip: &Chip, entry: &LogEntry, member: Member, params: &Params) -> Vec<Instr> {
    let log = InstrLog { entries: vec![entry.clone()] };
    lower(&CoreLog { member, block: 0, log }, chip, params, &mut Channels::default())
}

/// For each row of a chip's set, its name and the set with that row alone made dear.
fn dear_rows(chip: &'static Chip) -> Vec<(String, Params)> {
    let set: Value = serde_json::from_str(chip.timing).unwrap();
    let changed = |name: String, changes: Value| {
        (name, Params::with_changes(chip, &changes.to_string(), "dear").unwrap())
    };
    let rows = |part: &'static str, dear: Value| {
        let rows = set[part].as_object().unwrap().keys();
        rows.map(move |row| changed(format!("{part}.{row}"), json!({ part: { row: dear } })))
            .collect::<Vec<_>>()
    };
    let fixed = ["scalar", "scalar_global", "flag", "barrier"];
    let fixed = fixed.map(|part| changed(part.into(), json!({ part: { "cycles": 7777 } })));
    let mut all = rows("vector", json!({ "slope": 777, "head": 7777 }));
    all.extend(rows("paths", json!({ "latency": 7777 })));
    all.push(changed("cube".into(), json!({ "cube": { "head": 7777 } })));
    all.extend(fixed);
    all
}

fn costs(instrs: &[Instr]) -> Vec<(u32, u32, u32)> {
    instrs.iter().map(|instr| (instr.work, instr.head, instr.tail)).collect()
}

#[test]
fn every_opcode_has_an_engine_a_lowering_a_cost_row_a_region_and_a_mnemonic() {
    for chip in CHIPS {
        let (params, dear) = (Params::for_chip(chip).unwrap(), dear_rows(chip));
        for &opcode in Opcode::ALL {
            let about = format!("{opcode} on {}", chip.name);
            // Only some chips have a memory for scales.
            if opcode == Opcode::TmatmulMx && chip.core_sizes.scale_left == 0 {
                continue;
            }
            let (member, part, touched) = expected(opcode);
            let entry = logged(chip, opcode, member);
            let space = |written| {
                let mut operands = entry.operands.iter().filter(|operand| operand.written == written);
                operands.next().and_then(|operand| match operand.place {
                    OperandPlace::Tile { space, .. } => Some(space),
                    OperandPlace::Global { .. } => None,
                })
            };
            // Flags and barriers run on the pipe that they name.
            if !matches!(opcode, Opcode::SetFlag | Opcode::WaitFlag | Opcode::PipeBarrier) {
                assert_eq!(entry.pipe, opcode.pipe(space(true), space(false)), "{about}");
            }

            let instrs = lowered(chip, &entry, member, &params);
            assert!(!instrs.is_empty(), "{about} is lowered to nothing");
            assert!(
                instrs.iter().all(|instr| instr.work > 0),
                "{about} has an instruction that takes no time"
            );

            let pricing: Vec<&str> = dear
                .iter()
                .filter(|(_, dear)| costs(&lowered(chip, &entry, member, dear)) != costs(&instrs))
                .map(|(row, _)| row.as_str())
                .collect();
            assert!(pricing.iter().any(|row| row.split('.').next() == Some(part)), "{about}: {pricing:?}");

            let (mut regions, mut accesses) = (Regions::default(), Vec::new());
            regions.of_entry(0, &entry, &mut accesses);
            assert_eq!(accesses.len(), touched, "{about}");
            for access in accesses {
                let (memory, region) = &regions.list[access.region as usize];
                assert!(region.hi() > region.lo(), "{about} touches no byte of {memory:?}");
                assert!(*memory == Memory::Global || region.hi() <= 1 << 20, "{about}: {region:?}");
            }
        }
    }
}

#[test]
fn opcodes_and_mnemonics_have_names_of_their_own() {
    fn all_differ(mut names: Vec<&str>) {
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert!(names.len() == count && !names.contains(&""), "{names:?}");
    }
    all_differ(Opcode::ALL.iter().map(|opcode| opcode.name()).collect());
    all_differ(Mnemonic::ALL.iter().map(|mnemonic| mnemonic.name()).collect());
    for (number, &opcode) in Opcode::ALL.iter().enumerate() {
        assert_eq!(Opcode::from_raw(number as u8), Some(opcode));
    }
}
