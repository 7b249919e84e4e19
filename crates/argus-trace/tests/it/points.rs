//! Measured points: what the model says of single tile instructions that were timed on a chip, and the
//! curve of loads. The table in docs/timing.md is made here.

use argus_abi::{DType, Member};
use argus_chip::A2A3SIM;
use argus_tile::{Core, Global, KernelResult, RoundMode, Saturation, Tile};
use argus_trace::{Params, Path};

use crate::python::root;
use crate::rig::{Rig, nd, timeline};

struct Point {
    name: &'static str,
    measured: u64,
    member: Member,
    run: fn(&mut Core, &mut Walk<'_>) -> KernelResult,
}

/// Gives a walk of so many rows and columns over a tensor.
type Walk<'a> = dyn FnMut(&mut Core, u32, u32) -> Global + 'a;

const F32: Tile = Tile::vec(DType::F32, 64, 64).at(0);
const COLUMN: Tile = Tile::vec(DType::F32, 64, 1).dn().at(0x10000);

const POINTS: &[Point] = &[
    Point {
        name: "TADD f32 64x64",
        measured: 160,
        member: Member::Aiv0,
        run: |core, _| core.tadd(&F32, &F32, &F32),
    },
    Point {
        name: "TADD f16 16x256",
        measured: 92,
        member: Member::Aiv0,
        run: |core, _| {
            let tile = Tile::vec(DType::F16, 16, 256).at(0);
            core.tadd(&tile, &tile, &tile)
        },
    },
    Point {
        name: "TMUL f32 64x64",
        measured: 168,
        member: Member::Aiv0,
        run: |core, _| core.tmul(&F32, &F32, &F32),
    },
    Point {
        name: "TEXP f32 64x64",
        measured: 159,
        member: Member::Aiv0,
        run: |core, _| core.texp(&F32, &F32),
    },
    Point {
        name: "TROWMAX f32 64x64",
        measured: 480,
        member: Member::Aiv0,
        run: |core, _| core.trowmax(&COLUMN, &F32, &F32.at(0x8000)),
    },
    Point {
        name: "TROWSUM f32 64x64",
        measured: 492,
        member: Member::Aiv0,
        run: |core, _| core.trowsum(&COLUMN, &F32, &F32.at(0x8000)),
    },
    Point {
        name: "TROWEXPAND f32 64x64",
        measured: 933,
        member: Member::Aiv0,
        run: |core, _| core.trowexpand(&F32, &COLUMN),
    },
    Point {
        name: "TCVT f32 to f16 4x64",
        measured: 33,
        member: Member::Aiv0,
        run: |core, _| {
            let (from, to) = (Tile::vec(DType::F32, 4, 64).at(0), Tile::vec(DType::F16, 4, 64).at(0x1000));
            core.tcvt(&to, &from, RoundMode::Rint, Saturation::On)
        },
    },
    Point {
        name: "TLOAD f32 128x128",
        measured: 776,
        member: Member::Aiv0,
        run: |core, global| {
            let from = global(core, 128, 128);
            core.tload(&Tile::vec(DType::F32, 128, 128).at(0), &from)
        },
    },
    Point {
        name: "TMATMUL f16 40x50x60",
        measured: 54,
        member: Member::Aic,
        run: |core, _| {
            let left = Tile::left(DType::F16, 48, 64).at(0).valid(40, 50);
            let right = Tile::right(DType::F16, 64, 64).at(0).valid(50, 60);
            core.tmatmul(&Tile::acc(DType::F32, 48, 64).at(0), &left, &right)
        },
    },
    Point {
        name: "TMATMUL f32 120x110x50",
        measured: 902,
        member: Member::Aic,
        run: |core, _| {
            let left = Tile::left(DType::F32, 128, 112).at(0).valid(120, 110);
            let right = Tile::right(DType::F32, 112, 64).at(0).valid(110, 50);
            core.tmatmul(&Tile::acc(DType::F32, 128, 64).at(0), &left, &right)
        },
    },
];

/// Cycles of the one tile instruction.
fn modelled(point: &Point) -> u64 {
    let mut rig = Rig::new(&A2A3SIM);
    let x = rig.tensor("x", DType::F32, 128 * 128);
    let task =
        rig.run(point.member, |core| (point.run)(core, &mut |core, rows, cols| nd(core, &x, rows, cols)));
    let params = Params::for_chip(&A2A3SIM).unwrap();
    let timeline = timeline(&task, &params);
    let instrs = &timeline.cores[0].instrs;
    let start = instrs.iter().map(|instr| instr.start).min().unwrap();
    instrs.iter().map(|instr| instr.end).max().unwrap() - start
}

#[test]
fn measured_tile_instructions_are_met_within_a_factor_of_two() {
    for point in POINTS {
        let cycles = modelled(point) as f64;
        let ratio = cycles / point.measured as f64;
        assert!((0.5..=2.0).contains(&ratio), "{}: {cycles} cycles, measured {}", point.name, point.measured);
    }
}

/// Cycles of a load by the published curve: bandwidth = 247.16 GiB/s * B / (30643 + B), at 1.85 GHz.
fn curve(bytes: u64) -> f64 {
    let bandwidth = 247.16 * bytes as f64 / (30_643.0 + bytes as f64);
    bytes as f64 / (bandwidth * 1024.0 * 1024.0 * 1024.0) * 1.85e9
}

const SIZES: [u64; 8] = [32, 512, 1024, 4096, 16_384, 65_536, 131_072, 196_608];

#[test]
fn loads_follow_the_published_curve() {
    let params = Params::for_chip(&A2A3SIM).unwrap();
    for bytes in SIZES {
        let cycles = f64::from(params.transfer(Path::GmToUb, bytes));
        assert!((cycles - curve(bytes)).abs() <= 1.0, "{bytes} bytes: {cycles}, not {}", curve(bytes));
    }
}

/// docs/timing.md holds these tables; `ARGUS_BLESS=1` writes them anew.
#[test]
fn the_tables_in_the_documentation_are_those_of_the_model() {
    use std::fmt::Write;
    let mut tables =
        String::from("| tile instruction | measured cycles | model | ratio |\n|---|---|---|---|\n");
    for point in POINTS {
        let cycles = modelled(point);
        let ratio = cycles as f64 / point.measured as f64;
        writeln!(tables, "| {} | {} | {cycles} | {ratio:.2} |", point.name, point.measured).unwrap();
    }
    tables.push_str("\n| bytes from GM to UB | cycles by the curve | model |\n|---|---|---|\n");
    let params = Params::for_chip(&A2A3SIM).unwrap();
    for bytes in SIZES {
        writeln!(tables, "| {bytes} | {:.1} | {} |", curve(bytes), params.transfer(Path::GmToUb, bytes))
            .unwrap();
    }
    let path = root().join("docs/timing.md");
    let (begin, end) = ("<!-- tables: begin -->\n", "<!-- tables: end -->");
    let text = std::fs::read_to_string(&path).unwrap();
    let (head, rest) = text.split_once(begin).unwrap();
    let (old, tail) = rest.split_once(end).unwrap();
    if std::env::var_os("ARGUS_BLESS").is_some() {
        std::fs::write(&path, format!("{head}{begin}{tables}{end}{tail}")).unwrap();
        return;
    }
    assert_eq!(old, tables);
}
