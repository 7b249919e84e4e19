//! The rules of the timing model, one by one, with cycles worked out by hand.

use argus_abi::{DType, Member};
use argus_chip::{A2A3SIM, A5SIM, CHIPS, Chip};
use argus_tile::{
    Core, Direction, KernelResult, Opcode, Pad, Pipe, RoundMode, Saturation, Split, TPipe, Tile,
};
use argus_trace::{Mnemonic, Params, Role, Summary, TaskLog, Timeline, Track};

use crate::kernels::{double_buffered, mix};
use crate::rig::{Rig, hand_over, nd, timeline};

fn vector(chip: &'static Chip, kernel: impl FnOnce(&mut Core) -> KernelResult) -> TaskLog {
    Rig::new(chip).run(Member::Aiv0, kernel)
}

/// Name, track, start and end of every instruction of the first core.
fn listing(task: &TaskLog) -> Vec<(&'static str, &'static str, u64, u64)> {
    let params = Params::for_chip(task.chip).unwrap();
    let timeline = timeline(task, &params);
    let instrs = timeline.cores[0].instrs.iter();
    instrs.map(|instr| (instr.mnemonic.name(), instr.track.name(), instr.start, instr.end)).collect()
}

const TILE: Tile = Tile::vec(DType::F32, 16, 64).at(0);

#[test]
fn a_vector_pipe_pays_its_head_when_it_is_empty_and_its_tail_when_another_pipe_waits() {
    // VADD: head 10, 2 a repeat, tail 14; 16 repeats.
    let task = vector(&A2A3SIM, |core| {
        core.tadd(&TILE, &TILE, &TILE)?;
        core.tadd(&TILE, &TILE, &TILE)?;
        core.pipe_barrier(Pipe::V)?;
        core.tadd(&TILE, &TILE, &TILE)
    });
    assert_eq!(
        listing(&task),
        [
            // Issued at 1.
            ("VADD", "VECTOR", 1, 43),
            // The pipe is busy: no head; the barrier wants the result.
            ("VADD", "VECTOR", 43, 43 + 32 + 14),
            ("BAR", "VECTOR", 89, 90),
            // Empty again, and the end of the kernel wants the result.
            ("VADD", "VECTOR", 90, 90 + 42 + 14),
        ]
    );
}

#[test]
fn repeats_come_in_instructions_of_at_most_255() {
    let task = vector(&A2A3SIM, |core| {
        let tile = Tile::vec(DType::F32, 128, 128).at(0);
        core.texp(&tile, &tile)
    });
    // 256 repeats; VEXP: 13, 2, 18.
    assert_eq!(listing(&task), [("VEXP", "VECTOR", 1, 1 + 13 + 510), ("VEXP", "VECTOR", 524, 524 + 2 + 18)]);
}

#[test]
fn a_partial_repeat_sets_the_mask_and_costs_more() {
    let task = vector(&A2A3SIM, |core| {
        let part = TILE.valid(16, 60);
        core.tadds(&part, &part, 1.0)?;
        core.tadds(&part, &part, 1.0)?;
        core.tadds(&TILE, &TILE, 1.0)
    });
    // VADDS: 13, 1, 18, and 16 for a count that is not a multiple of a repeat.
    assert_eq!(
        listing(&task),
        [
            ("MOVEMASK", "VECTOR", 1, 2),
            ("MOVEMASK", "VECTOR", 2, 3),
            ("VADDS", "VECTOR", 3, 3 + 13 + 16 + 16),
            ("VADDS", "VECTOR", 48, 80),
            ("MOVEMASK", "VECTOR", 80, 81),
            ("MOVEMASK", "VECTOR", 81, 82),
            ("VADDS", "VECTOR", 82, 82 + 16 + 18),
        ]
    );
}

#[test]
fn flags_are_counters_in_the_order_of_their_sets() {
    let mut rig = Rig::new(&A2A3SIM);
    let x = rig.tensor("x", DType::F32, 1024);
    let task = rig.run(Member::Aiv0, |core| {
        let from = nd(core, &x, 16, 64);
        core.tload(&TILE, &from)?;
        core.set_flag(Pipe::Mte2, Pipe::V, 0)?;
        core.tload(&TILE.at(0x2000), &from)?;
        core.set_flag(Pipe::Mte2, Pipe::V, 0)?;
        core.wait_flag(Pipe::Mte2, Pipe::V, 0)?;
        core.tadds(&TILE, &TILE, 1.0)?;
        core.wait_flag(Pipe::Mte2, Pipe::V, 0)?;
        core.tadds(&TILE, &TILE.at(0x2000), 1.0)
    });
    // 4096 B from GM: (30643 + 4096) / 143.45 B a cycle = 242.17, so 243.
    assert_eq!(
        listing(&task),
        [
            ("MOV_SRC_TO_DST_ALIGN", "MTE2", 1, 244),
            ("SET_FLAG", "MTE2", 244, 245),
            ("MOV_SRC_TO_DST_ALIGN", "MTE2", 245, 488),
            ("SET_FLAG", "MTE2", 488, 489),
            // Issued at 5, released by the first set.
            ("WAIT_FLAG", "VECTOR", 5, 245),
            ("VADDS", "VECTOR", 245, 245 + 13 + 16 + 18),
            ("WAIT_FLAG", "VECTOR", 292, 489),
            ("VADDS", "VECTOR", 489, 489 + 13 + 16 + 18),
        ]
    );
    let params = Params::for_chip(&A2A3SIM).unwrap();
    let timeline = timeline(&task, &params);
    let pairs: Vec<_> = timeline.pairs.iter().map(|pair| (pair.set.index, pair.wait.index)).collect();
    assert_eq!(pairs, [(1, 4), (3, 6)]);
}

#[test]
fn the_scalar_stream_waits_and_holds_everything_behind_it() {
    let task = vector(&A2A3SIM, |core| {
        core.tadds(&TILE, &TILE, 1.0)?;
        hand_over(core, Pipe::V, Pipe::S, 0)?;
        core.get_value::<f32>(&TILE, 0)?;
        core.tadds(&TILE, &TILE, 1.0)?;
        core.pipe_barrier(Pipe::All)?;
        core.set_value::<f32>(&TILE, 0, 1.0)
    });
    assert_eq!(
        listing(&task),
        [
            ("VADDS", "VECTOR", 1, 48),
            ("SET_FLAG", "VECTOR", 48, 49),
            ("WAIT_FLAG", "SCALAR", 2, 49),
            ("LD_XD_XN_IMM", "SCALARLDST", 49, 50),
            ("VADDS", "VECTOR", 51, 98),
            ("BAR", "ALL", 98, 99),
            ("ST_XD_XN_IMM", "SCALARLDST", 99, 100),
        ]
    );
}

#[test]
fn tile_instructions_become_the_instructions_of_the_chip() {
    let names = |chip, kernel: fn(&mut Core) -> KernelResult| -> Vec<&'static str> {
        listing(&vector(chip, kernel)).into_iter().map(|row| row.0).collect()
    };
    let column = |core: &mut Core| {
        let column = Tile::vec(DType::F32, 16, 1).dn().at(0x6000);
        core.trowexpandsub(&TILE, &TILE, &column)
    };
    assert_eq!(names(&A2A3SIM, column), ["VBRCB", "BAR", "VSUB"]);
    assert_eq!(names(&A5SIM, column), ["VF", "RV_VLDI", "RV_VSUB", "RV_VSTI"]);
    let sum = |core: &mut Core| {
        let wide = Tile::vec(DType::F32, 16, 128).at(0);
        core.trowsum(&Tile::vec(DType::F32, 16, 1).dn().at(0x6000), &wide, &wide.at(0x8000))
    };
    assert_eq!(names(&A2A3SIM, sum), ["VADD", "BAR", "VCADD"]);
    let division = |core: &mut Core| {
        core.texpands(&TILE, 4.0)?;
        core.tdivs(&TILE, &TILE, 2.0)
    };
    assert_eq!(names(&A2A3SIM, division), ["MOVEV", "MOVEV", "BAR", "VDIV"]);
    assert_eq!(
        names(&A5SIM, division),
        ["VF", "RV_VDUP", "RV_VSTI", "VF", "RV_VDUP", "RV_VSTI", "VF", "RV_VLDI", "RV_VDIV", "RV_VSTI"]
    );
    let fill = |core: &mut Core| core.tfillpad(&TILE.pad(Pad::Min), &TILE.at(0x2000).valid(10, 64));
    assert_eq!(names(&A2A3SIM, fill), ["MOVEV", "VCOPY"]);
    let convert = |core: &mut Core| {
        let narrow = Tile::vec(DType::F16, 16, 64).at(0x2000);
        core.tcvt(&narrow, &TILE, RoundMode::Rint, Saturation::On)
    };
    assert_eq!(names(&A5SIM, convert), ["VF", "RV_VLDI", "RV_VCVT", "RV_VSTI"]);
    let mut rig = Rig::new(&A2A3SIM);
    let y = rig.tensor("y", DType::F32, 1024);
    let add = rig.run(Member::Aiv0, |core| {
        let to = nd(core, &y, 16, 64);
        core.tstore_atomic_add(&to, &TILE)
    });
    let names: Vec<_> = listing(&add).into_iter().map(|row| row.0).collect();
    assert_eq!(names, ["MOV_SPR_XN", "MOV_SRC_TO_DST_ALIGN", "MOV_SPR_XN"]);
}

#[test]
fn an_a5_vector_function_holds_its_loads_computation_and_stores() {
    let task = vector(&A5SIM, |core| core.tadd(&TILE, &TILE, &TILE));
    // 1.247 * 16 + 55.07 = 75.02 cycles; start 23, load 9, store 9, drain 12.
    assert_eq!(
        listing(&task),
        [
            ("VF", "PUSHQ", 1, 77),
            ("RV_VLDI", "RVECLD", 24, 47),
            ("RV_VADD", "RVECEX", 33, 56),
            ("RV_VSTI", "RVECST", 42, 65),
        ]
    );
    let rows = vector(&A5SIM, |core| core.tadd(&TILE.valid(16, 32), &TILE, &TILE));
    // (1.875 + 2.876) * 16 + 44.34 = 120.36.
    assert_eq!(listing(&rows)[0], ("VF", "PUSHQ", 1, 122));
}

#[test]
fn tiles_between_cores_wait_for_tiles_and_for_slots() {
    const PIPE: TPipe = TPipe::new(3, Direction::C2V, 16 * 64 * 4, 1);
    let rig = Rig::new(&A2A3SIM);
    let task = rig.run_mix(|core, member| {
        for _ in 0..2 {
            if member == Member::Aic {
                core.tpush(&PIPE, &Tile::acc(DType::F32, 32, 64).at(0), Split::UpDown)?;
            } else {
                core.tpop(&PIPE, &TILE, Split::UpDown)?;
                hand_over(core, Pipe::Mte2, Pipe::S, 0)?;
                core.tfree(&PIPE, Split::UpDown)?;
            }
        }
        Ok(())
    });
    let params = Params::for_chip(&A2A3SIM).unwrap();
    let timeline = timeline(&task, &params);
    let [cube, first, second] = &timeline.cores[..] else { panic!("three cores") };
    let times = |core: &argus_trace::CoreTimeline| -> Vec<(&'static str, u64, u64)> {
        core.instrs.iter().map(|instr| (instr.mnemonic.name(), instr.start, instr.end)).collect()
    };
    // 8192 B from L0C: 8192 / 40.63 + 214 = 415.6; 4096 B from GM: 243.
    assert_eq!(
        times(first),
        [
            ("WAIT_INTRA_BLOCK", 1, 419),
            ("MOV_SRC_TO_DST_ALIGN", 419, 662),
            ("SET_FLAG", 662, 663),
            ("WAIT_FLAG", 3, 663),
            ("SET_INTRA_BLOCK", 663, 664),
            ("WAIT_INTRA_BLOCK", 665, 1084),
            ("MOV_SRC_TO_DST_ALIGN", 1084, 1327),
            ("SET_FLAG", 1327, 1328),
            ("WAIT_FLAG", 667, 1328),
            ("SET_INTRA_BLOCK", 1328, 1329),
        ]
    );
    // The second vector core hears of its half one cycle later.
    assert_eq!(times(second)[0], ("WAIT_INTRA_BLOCK", 1, 420));
    assert_eq!(
        times(cube),
        [
            ("FIX_L0C_TO_DST", 1, 417),
            ("SET_INTRA_BLOCK", 417, 418),
            ("SET_INTRA_BLOCK", 418, 419),
            // One slot: the second tile waits until both vector cores have given it back.
            ("WAIT_INTRA_BLOCK", 419, 665),
            ("WAIT_INTRA_BLOCK", 665, 666),
            ("FIX_L0C_TO_DST", 666, 1082),
            ("SET_INTRA_BLOCK", 1082, 1083),
            ("SET_INTRA_BLOCK", 1083, 1084),
        ]
    );
    let crossing = timeline.pairs.iter().filter(|pair| pair.set.core != pair.wait.core).count();
    assert_eq!((crossing, timeline.unpaired_sets()), (6, 2));
}

#[test]
fn loads_and_products_of_a_double_buffered_kernel_overlap() {
    for chip in CHIPS {
        let task = double_buffered(chip, 8);
        let params = Params::for_chip(chip).unwrap();
        let timeline = timeline(&task, &params);
        let instrs = &timeline.cores[0].instrs;
        let on = |track| instrs.iter().filter(move |instr| instr.track == track && instr.role == Role::Work);
        let overlaps = on(Track::Cube).filter(|product| {
            on(Track::Mte2).any(|load| load.start < product.end && product.start < load.end)
        });
        assert_eq!(overlaps.count(), 7, "every product but the last has a load beside it");
    }
}

#[test]
fn lanes_never_overlap_and_keep_the_order_of_the_program() {
    for chip in CHIPS {
        for task in [double_buffered(chip, 6), mix(chip, 6)] {
            let params = Params::for_chip(chip).unwrap();
            let timeline = timeline(&task, &params);
            for core in &timeline.cores {
                for track in Track::ALL {
                    let mut end = 0;
                    for instr in core.instrs.iter().filter(|instr| instr.track == track) {
                        assert!(instr.start >= end && instr.end > instr.start, "{track:?} {instr:?}");
                        end = instr.end;
                    }
                    assert!(end <= timeline.cycles);
                }
            }
        }
    }
}

#[test]
fn one_call_site_has_one_address_on_every_core() {
    let task = mix(&A2A3SIM, 4);
    let params = Params::for_chip(&A2A3SIM).unwrap();
    let timeline = timeline(&task, &params);
    let adds = |core: usize| -> Vec<u64> {
        let instrs = timeline.cores[core].instrs.iter().filter(|instr| instr.mnemonic == Mnemonic::Vadd);
        instrs.map(|instr| timeline.sites[instr.site as usize].addr).collect()
    };
    assert_eq!(adds(1), vec![adds(1)[0]; 4]);
    assert_eq!(adds(1), adds(2));
    let mut last = 0;
    for site in &timeline.sites {
        assert!(site.addr > last);
        last = site.addr;
    }
    // Flags of one line in a helper that differ in their pipes have addresses of their own.
    let line = |from: Pipe| {
        let found = timeline.cores[0]
            .instrs
            .iter()
            .find(|instr| matches!(instr.role, Role::Set(flag) if flag.src == from && flag.dst != Pipe::S));
        &timeline.sites[found.unwrap().site as usize]
    };
    assert_eq!(line(Pipe::Mte2).line, line(Pipe::Mte1).line);
    assert_ne!(line(Pipe::Mte2).addr, line(Pipe::Mte1).addr);
    assert_eq!(
        timeline.files,
        ["crates/argus-trace/tests/it/kernels.rs", "crates/argus-trace/tests/it/rig.rs"]
    );
}

#[test]
fn logs_that_make_no_task_are_refused() {
    let task = double_buffered(&A2A3SIM, 2);
    let message = |task: &TaskLog, params: &Params| Timeline::new(task, params).unwrap_err().to_string();
    assert_eq!(
        message(&task, &Params::for_chip(&A5SIM).unwrap()),
        "the parameters are for a5, the task ran on a2a3"
    );
    let mut twice = task.clone();
    twice.cores.push(task.cores[0].clone());
    assert_eq!(
        message(&twice, &Params::for_chip(&A2A3SIM).unwrap()),
        "core0.cubecore0 appears twice in the log of the task"
    );
    let empty = TaskLog { cores: Vec::new(), ..task };
    assert_eq!(message(&empty, &Params::for_chip(&A2A3SIM).unwrap()), "the task has no cores");
}

#[test]
fn the_summary_adds_up() {
    let task = double_buffered(&A2A3SIM, 8);
    let params = Params::for_chip(&A2A3SIM).unwrap();
    let timeline = timeline(&task, &params);
    let summary = Summary::new(&timeline);
    assert_eq!(summary.parameters, "a2a3-1");
    assert!(summary.statement.contains("static cost table"));
    assert_eq!(summary.cycles, timeline.cycles);
    // Eight steps of two tiles of 8 KiB, each through L1 to L0, and one result of 16 KiB.
    let bytes: Vec<_> = summary.bytes.iter().map(|row| (row.path, row.bytes)).collect();
    assert_eq!(
        bytes,
        [("GM_TO_L1", 131_072), ("L0C_TO_GM", 16_384), ("L1_TO_L0A", 65_536), ("L1_TO_L0B", 65_536)]
    );
    // A load takes 8192 / 78.35 + 214 = 318.6, so 319 cycles; there are sixteen.
    let loads: u64 = summary.top.iter().filter(|row| row.track == "MTE2").map(|row| row.cycles).sum();
    assert_eq!(loads, 16 * 319);
    assert!(summary.top.windows(2).all(|rows| rows[0].cycles >= rows[1].cycles));
    // The chain leaves no cycle out.
    let chain: u64 = summary.critical_chain.tracks.iter().map(|track| track.cycles).sum();
    assert_eq!(chain + summary.critical_chain.issue_cycles, summary.cycles);
    assert_eq!(summary.critical_chain.tracks[0].track, "MTE2");
    assert!(
        summary.bottleneck.ends_with("the task is bound by loads from global memory."),
        "{}",
        summary.bottleneck
    );
    let track = summary.cores[0].tracks.iter().find(|track| track.track == "CUBE").unwrap();
    // 64 cubes of f16 in each product, and its head, because a flag comes before each. Eleven sets: two before
    // the loop, eight in it, one behind it.
    assert_eq!(track.busy_cycles - track.waiting_cycles, 8 * (64 + 6) + 11);
    let json = serde_json::to_value(&summary).unwrap();
    assert_eq!(json["cycles"], timeline.cycles);
    assert_eq!(json["hazards"], serde_json::json!([]));
}

#[test]
fn a_log_without_instructions_has_an_empty_timeline() {
    let mut task = double_buffered(&A2A3SIM, 2);
    task.cores[0].log.entries.retain(|entry| entry.opcode == Opcode::Tassign);
    let params = Params::for_chip(&A2A3SIM).unwrap();
    let timeline = timeline(&task, &params);
    assert_eq!((timeline.cycles, timeline.sites.len()), (0, 0));
    assert_eq!(Summary::new(&timeline).bottleneck, "The task runs no instruction.");
}
