use argus_abi::DType;
use argus_tile::{
    FaultKind, Flag, GlobalLayout, GlobalShape, Layout, LogEntry, LogOperand, Opcode, OperandPlace, Pipe,
    ScalarValue, Space, Tile, Work,
};

use crate::rig::Rig;

fn tile_place(tile: &Tile) -> OperandPlace {
    OperandPlace::Tile {
        space: tile.space,
        addr: tile.addr,
        dtype: tile.dtype,
        layout: tile.layout(),
        fractal: tile.fractal,
        shape: [tile.rows, tile.cols],
        valid: [tile.valid_rows, tile.valid_cols],
    }
}

fn operand(name: &'static str, written: bool, place: OperandPlace) -> LogOperand {
    LogOperand { name, written, place }
}

#[test]
fn a_small_kernel_entry_by_entry() {
    let mut rig = Rig::aiv(900);
    let (tensor, _) = rig.tensor(DType::F32, 1024);
    rig.core.dsb().unwrap();
    rig.core.start_log();
    let tile = Tile::vec(DType::F32, 16, 64).at(0x100).valid(10, 60);
    let column = Tile::vec(DType::F32, 16, 1).dn().at(0x2000).valid(10, 1);
    let global = rig.core.global(&tensor, GlobalShape::nd(16, 64)).unwrap();
    let first = line!() + 1;
    rig.core.tload(&tile, &global).unwrap();
    rig.core.set_flag(Pipe::Mte2, Pipe::V, 0).unwrap();
    rig.core.wait_flag(Pipe::Mte2, Pipe::V, 0).unwrap();
    rig.core.tadds(&tile, &tile, 2.0f32).unwrap();
    rig.core.pipe_barrier(Pipe::V).unwrap();
    rig.core.trowmax(&column, &tile, &tile).unwrap();
    rig.core.tstore(&global, &tile).unwrap();
    rig.core.pipe_sync().unwrap();
    rig.core.dcci().unwrap();
    assert!(rig.core.tadd(&tile.at(1), &tile, &tile).is_err());
    let entries = rig.core.take_log().unwrap().entries;
    assert!(rig.core.take_log().is_none());

    let in_global = OperandPlace::Global {
        addr: tensor.addr,
        dtype: DType::F32,
        shape: [1, 1, 1, 16, 64],
        stride: [1024, 1024, 1024, 64, 1],
        layout: GlobalLayout::Nd,
    };
    let in_tile = tile_place(&tile);
    assert_eq!(
        in_tile,
        OperandPlace::Tile {
            space: Space::Vec,
            addr: 0x100,
            dtype: DType::F32,
            layout: Layout::Nd,
            fractal: 512,
            shape: [16, 64],
            valid: [10, 60],
        }
    );
    let blank = |opcode, pipe, at: usize| LogEntry {
        opcode,
        pipe,
        operands: Default::default(),
        scalars: Default::default(),
        flag: None,
        fifo: None,
        bytes: 0,
        work: Work::None,
        location: entries[at].location,
    };
    let to_v = Some(Flag { src: Pipe::Mte2, dst: Pipe::V, id: 0 });
    let to_s = Some(Flag { src: Pipe::Mte3, dst: Pipe::S, id: 7 });
    let expected = vec![
        LogEntry {
            operands: [operand("dst", true, in_tile), operand("src", false, in_global)].into_iter().collect(),
            bytes: 2400,
            ..blank(Opcode::Tload, Pipe::Mte2, 0)
        },
        LogEntry { flag: to_v, ..blank(Opcode::SetFlag, Pipe::Mte2, 1) },
        LogEntry { flag: to_v, ..blank(Opcode::WaitFlag, Pipe::V, 2) },
        LogEntry {
            operands: [operand("dst", true, in_tile), operand("src", false, in_tile)].into_iter().collect(),
            scalars: [ScalarValue::F32(2.0)].into_iter().collect(),
            // 60 of 64 columns: a repeat for each row.
            work: Work::Repeats(10),
            ..blank(Opcode::Tadds, Pipe::V, 3)
        },
        blank(Opcode::PipeBarrier, Pipe::V, 4),
        LogEntry {
            operands: [
                operand("dst", true, tile_place(&column)),
                operand("src", false, in_tile),
                operand("tmp", false, in_tile),
            ]
            .into_iter()
            .collect(),
            work: Work::Repeats(10),
            ..blank(Opcode::Trowmax, Pipe::V, 5)
        },
        LogEntry {
            operands: [operand("dst", true, in_global), operand("src", false, in_tile)].into_iter().collect(),
            bytes: 2400,
            ..blank(Opcode::Tstore, Pipe::Mte3, 6)
        },
        LogEntry { flag: to_s, ..blank(Opcode::SetFlag, Pipe::Mte3, 7) },
        LogEntry { flag: to_s, ..blank(Opcode::WaitFlag, Pipe::S, 8) },
        blank(Opcode::Dcci, Pipe::S, 9),
    ];
    assert_eq!(entries, expected);
    let lines: Vec<u32> = entries.iter().map(|entry| entry.location.line() - first).collect();
    assert_eq!(lines, [0, 1, 2, 3, 4, 5, 6, 7, 7, 8]);
    assert!(entries.iter().all(|entry| entry.location.file().ends_with("log.rs")));
}

#[test]
fn a_full_log_ends_the_kernel_and_keeps_what_it_has() {
    let mut rig = Rig::aiv(903);
    rig.core.start_limited_log(2);
    let tile = Tile::vec(DType::F32, 8, 8).at(0);
    rig.core.tadds(&tile, &tile, 1.0f32).unwrap();
    rig.core.tmuls(&tile, &tile, 2.0f32).unwrap();
    let fault = rig.core.texp(&tile, &tile).unwrap_err();
    assert_eq!(fault.kind, FaultKind::LogFull);
    assert!(fault.to_string().ends_with("the log is limited to 2 instructions"), "{fault}");
    let opcodes: Vec<_> = rig.core.take_log().unwrap().entries.iter().map(|entry| entry.opcode).collect();
    assert_eq!(opcodes, [Opcode::Tadds, Opcode::Tmuls]);
}

#[test]
fn repeats_and_products() {
    let mut rig = Rig::aiv(901);
    rig.core.start_log();
    for (dtype, rows, cols, valid, repeats) in [
        (DType::F32, 16, 64, (16, 64), 16),
        (DType::F32, 16, 8, (10, 8), 2),
        (DType::Bf16, 16, 64, (16, 64), 8),
        (DType::I8, 4, 512, (4, 300), 8),
    ] {
        let tile = Tile::vec(dtype, rows, cols).at(0).valid(valid.0, valid.1);
        rig.core.tadd(&tile, &tile, &tile).unwrap();
        let entries = rig.core.take_log().unwrap().entries;
        assert_eq!(entries[0].work, Work::Repeats(repeats), "{dtype} {rows}x{cols}");
        rig.core.start_log();
    }
    let mut rig = Rig::aic(902);
    rig.core.start_log();
    let mat = Tile::mat_nz(DType::Bf16, 32, 32).at(0);
    let left = Tile::left(DType::Bf16, 32, 32).at(0).valid(17, 20);
    let right = Tile::right(DType::Bf16, 32, 32).at(0).valid(32, 9);
    let acc = Tile::acc(DType::F32, 32, 32).at(0);
    let (tensor, _) = rig.tensor(DType::F32, 1024);
    let global = rig.core.global(&tensor, GlobalShape::nd(32, 32)).unwrap();
    rig.core.tmov(&left, &mat).unwrap();
    rig.core.textract(&right, &mat, 0, 3).unwrap();
    rig.core.tmatmul_acc(&acc, &acc, &left, &right).unwrap();
    rig.core.tmov(&Tile::mat_nz(DType::Bf16, 32, 32).at(0x800), &acc).unwrap();
    rig.core.tstore(&global, &acc).unwrap();
    let entries = rig.core.take_log().unwrap().entries;
    let pipes: Vec<Pipe> = entries.iter().map(|entry| entry.pipe).collect();
    assert_eq!(pipes, [Pipe::Mte1, Pipe::Mte1, Pipe::M, Pipe::Fix, Pipe::Fix]);
    assert_eq!(entries[2].work, Work::Product { m: 17, k: 20, n: 9 });
    assert_eq!((entries[0].bytes, entries[1].bytes), (2048, 2 * 32 * 9));
}

#[test]
fn a_scalar_access_names_its_element() {
    let mut rig = Rig::aiv(903);
    let (tensor, _) = rig.tensor(DType::I32, 64);
    let global = rig.core.global(&tensor, GlobalShape::nd(8, 8)).unwrap();
    rig.core.start_log();
    rig.core.load_scalar::<i32>(&global, 9).unwrap();
    rig.core.store_scalar::<i32>(&global, 63, 1).unwrap();
    let entries = rig.core.take_log().unwrap().entries;
    let element = |offset: u64| OperandPlace::Global {
        addr: tensor.addr + offset,
        dtype: DType::I32,
        shape: [1; 5],
        stride: [1; 5],
        layout: GlobalLayout::Nd,
    };
    assert_eq!(entries[0].operands[..], [operand("src", false, element(36))]);
    assert_eq!(entries[1].operands[..], [operand("dst", true, element(252))]);
    assert_eq!((entries[0].bytes, entries[1].bytes), (4, 4));
}
