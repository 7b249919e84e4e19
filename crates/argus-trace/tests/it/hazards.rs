//! Missing synchronisation is found by the bytes it endangers; a wait without a set is a deadlock.

use argus_abi::{DType, Member};
use argus_chip::{A2A3SIM, A5SIM, CHIPS};
use argus_tile::{CoreLog, GlobalShape, Opcode, Pipe, Tile};
use argus_trace::{Hazard, ModelError, Params, TaskLog, Timeline};

use crate::kernels::{double_buffered, mix, softmax};
use crate::rig::{Rig, hand_over, nd, timeline, without};

fn hazards(task: &TaskLog) -> Vec<Hazard> {
    timeline(task, &Params::for_chip(task.chip).unwrap()).hazards
}

fn line_of(text: &str) -> u32 {
    let source = include_str!("kernels.rs");
    source.lines().position(|line| line.contains(text)).unwrap() as u32 + 1
}

#[test]
fn kernels_with_all_their_flags_have_no_hazard() {
    for chip in CHIPS {
        for task in [double_buffered(chip, 6), softmax(chip), mix(chip, 5)] {
            assert_eq!(hazards(&task), [], "{}", chip.hardware);
        }
    }
}

#[test]
fn a_softmax_without_its_flag_to_the_store() {
    for chip in CHIPS {
        let task = without(
            without(softmax(chip), Opcode::SetFlag, Pipe::V, Pipe::Mte3),
            Opcode::WaitFlag,
            Pipe::V,
            Pipe::Mte3,
        );
        let found = hazards(&task);
        let stored = found.iter().find(|hazard| hazard.bytes == [0x2000, 0x3000]).unwrap();
        assert_eq!(stored.memory, "UB of core0.veccore0");
        let text = stored.to_string();
        let (exp, store) = (line_of("core.texp(&weights"), line_of("core.tstore(&to, &weights)"));
        assert_eq!(
            text,
            format!(
                "hazard on 0x2000..0x3000 of UB of core0.veccore0: TEXP at crates/argus-trace/tests/it/kernels.rs:{exp} \
                 writes on pipe V of core0.veccore0; TSTORE at crates/argus-trace/tests/it/kernels.rs:{store} reads \
                 on pipe MTE3 of core0.veccore0; no flag or barrier orders them"
            )
        );
        // The sum is stored unprotected too: 16 f32.
        assert!(found.iter().any(|hazard| hazard.bytes == [0x6100, 0x6140]
            && hazard.first.instruction == "TROWSUM"
            && hazard.second.instruction == "TSTORE"));
        assert!(found.iter().all(|hazard| hazard.second.pipe == "MTE3" && hazard.first.pipe == "V"));
    }
}

#[test]
fn a_double_buffered_product_without_the_flag_that_frees_its_buffers() {
    // Loads no longer wait until L1 was emptied.
    let task = without(
        without(double_buffered(&A2A3SIM, 6), Opcode::WaitFlag, Pipe::Mte1, Pipe::Mte2),
        Opcode::SetFlag,
        Pipe::Mte1,
        Pipe::Mte2,
    );
    let found = hazards(&task);
    let mut seen: Vec<_> = found
        .iter()
        .map(|hazard| (hazard.first.instruction.as_str(), hazard.second.instruction.as_str(), hazard.bytes))
        .collect();
    seen.sort();
    // The tiles of buffer 0 are reloaded while MTE1 may still read them; each pair of lines is told once.
    assert_eq!(seen, [("TMOV", "TLOAD", [0, 0x2000]), ("TMOV", "TLOAD", [0x2000, 0x4000])]);
    assert!(found.iter().all(|hazard| hazard.memory == "L1 of core0.cubecore0" && hazard.count == 4));
    assert!(found.iter().all(|hazard| !hazard.first.writes && hazard.second.writes));
}

#[test]
fn a_double_buffered_product_without_the_flag_that_fills_its_buffers() {
    let task = without(
        without(double_buffered(&A5SIM, 4), Opcode::WaitFlag, Pipe::Mte2, Pipe::Mte1),
        Opcode::SetFlag,
        Pipe::Mte2,
        Pipe::Mte1,
    );
    let found = hazards(&task);
    assert!(found.iter().any(|hazard| hazard.first.pipe == "MTE2"
        && hazard.second.pipe == "MTE1"
        && hazard.bytes == [0, 0x2000]));
}

#[test]
fn a_set_that_is_missing_is_a_deadlock_with_its_line() {
    for chip in CHIPS {
        let task = without(double_buffered(chip, 4), Opcode::SetFlag, Pipe::Mte2, Pipe::Mte1);
        let params = Params::for_chip(chip).unwrap();
        let ModelError::Deadlock { waits } = Timeline::new(&task, &params).unwrap_err() else {
            panic!("no deadlock");
        };
        let wait = &waits[0];
        assert_eq!(
            (wait.core.as_str(), wait.pipe.as_str(), wait.awaited.as_str(), wait.id, wait.line),
            (
                "core0.cubecore0",
                "MTE1",
                "flag 0 from MTE2 to MTE1",
                0,
                line_of("core.wait_flag(Pipe::Mte2, Pipe::Mte1, id)")
            )
        );
        assert_eq!(wait.unreached_set, None);
        let text = ModelError::Deadlock { waits: waits.clone() }.to_string();
        assert!(
            text.starts_with(&format!(
                "deadlock: core0.cubecore0: pipe MTE1 waits at crates/argus-trace/tests/it/kernels.rs:{} for flag 0 \
                 from MTE2 to MTE1, which is never set after that; ",
                wait.line
            )),
            "{text}"
        );
        // The others wait for what comes behind it.
        assert!(waits[1..].iter().all(|wait| wait.unreached_set.is_some()), "{waits:?}");
    }
}

#[test]
fn a_pop_without_a_push_is_a_deadlock() {
    let mut task = mix(&A2A3SIM, 3);
    task.cores[0].log.entries.retain(|entry| entry.opcode != Opcode::Tpush);
    let error = Timeline::new(&task, &Params::for_chip(&A2A3SIM).unwrap()).unwrap_err().to_string();
    assert!(error.contains("core0.veccore0: pipe MTE2 waits at"), "{error}");
    assert!(
        error.contains("for a tile of the C2V pipe with flag 0, which is never set after that"),
        "{error}"
    );
}

#[test]
fn a_wait_may_be_issued_before_its_set() {
    // MTE3 waits first, V sets later: only the scalar stream would be stuck by that.
    let mut rig = Rig::new(&A2A3SIM);
    let y = rig.tensor("y", DType::F32, 1024);
    let task = rig.run(Member::Aiv0, |core| {
        let tile = Tile::vec(DType::F32, 16, 64).at(0);
        let to = nd(core, &y, 16, 64);
        core.wait_flag(Pipe::V, Pipe::Mte3, 0)?;
        core.tstore(&to, &tile)?;
        core.tadds(&tile, &tile, 1.0)?;
        core.set_flag(Pipe::V, Pipe::Mte3, 0)
    });
    let params = Params::for_chip(&A2A3SIM).unwrap();
    let timeline = timeline(&task, &params);
    assert_eq!(timeline.hazards, []);
    let times: Vec<_> = timeline.cores[0].instrs.iter().map(|instr| (instr.start, instr.end)).collect();
    // VADDS: issued at 3, 13 + 16 + 18 until 50; set 50..51; the wait was issued at 1.
    assert_eq!(times[2], (3, 50));
    assert_eq!(times[3], (50, 51));
    assert_eq!(times[0], (1, 51));
    assert_eq!(times[1].0, 51);
}

#[test]
fn barriers_and_the_scalar_stream_order_too() {
    for (ordered, barrier) in [(false, Pipe::V), (false, Pipe::Mte3), (true, Pipe::All)] {
        let mut rig = Rig::new(&A2A3SIM);
        let y = rig.tensor("y", DType::F32, 1024);
        let task = rig.run(Member::Aiv0, |core| {
            let tile = Tile::vec(DType::F32, 16, 64).at(0);
            let to = nd(core, &y, 16, 64);
            core.tadds(&tile, &tile, 1.0)?;
            core.pipe_barrier(barrier)?;
            core.tstore(&to, &tile)
        });
        assert_eq!(hazards(&task).is_empty(), ordered, "{barrier}");
    }
    for ordered in [false, true] {
        let mut rig = Rig::new(&A2A3SIM);
        let x = rig.tensor("x", DType::I32, 64);
        let task = rig.run(Member::Aiv0, |core| {
            let tile = Tile::vec(DType::I32, 1, 64).at(0x100);
            let from = nd(core, &x, 1, 64);
            core.tload(&tile, &from)?;
            if ordered {
                hand_over(core, Pipe::Mte2, Pipe::S, 0)?;
            }
            core.get_value::<i32>(&tile, 3).map(|_| ())
        });
        let found = hazards(&task);
        assert_eq!(found.is_empty(), ordered);
        assert!(found.iter().all(|hazard| hazard.bytes == [0x10c, 0x110]), "{found:?}");
    }
}

#[test]
fn neighbours_that_share_no_byte_are_no_hazard() {
    let mut rig = Rig::new(&A2A3SIM);
    let x = rig.tensor("x", DType::F32, 16 * 64);
    let task = rig.run(Member::Aiv0, |core| {
        // V works on the left half of every row, MTE2 loads the right half.
        let whole = Tile::vec(DType::F32, 16, 64).at(0);
        let left = whole.valid(16, 32);
        let from = core.global(&x, GlobalShape::nd_strided(16, 32, 64))?;
        let elsewhere = Tile::vec(DType::F32, 16, 32).at(0x4000);
        core.tadds(&left, &left, 1.0)?;
        core.tload(&elsewhere, &from)
    });
    assert_eq!(hazards(&task), []);
}

#[test]
fn hazards_in_global_memory_between_pipes_and_between_blocks() {
    let mut rig = Rig::new(&A2A3SIM);
    let x = rig.tensor("x", DType::F32, 2048);
    let half = |member, block: u32, column: u64| {
        let mut core = rig.core(member);
        let tile = Tile::vec(DType::F32, 16, 64).at(0);
        let part = GlobalShape::nd_strided(16, 64, 128);
        let to = core.global_at(&x, column, part).unwrap();
        core.tstore(&to, &tile).unwrap();
        CoreLog { member, block, log: core.take_log().unwrap() }
    };
    // Two halves of the same rows: interleaved, and yet apart.
    let task = rig.task(vec![half(Member::Aiv0, 0, 0), half(Member::Aiv0, 1, 64)]);
    assert_eq!(hazards(&task), []);
    let task = rig.task(vec![half(Member::Aiv0, 0, 0), half(Member::Aiv0, 1, 32)]);
    let found = hazards(&task);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].memory.as_str(), found[0].bytes), ("buffer x in global memory", [128, 256]));
    assert_eq!(
        (found[0].first.core.as_str(), found[0].second.core.as_str()),
        ("core0.veccore0", "core1.veccore0")
    );

    // A store and a load of the same tensor without a flag.
    let task = rig.run(Member::Aiv0, |core| {
        let (a, b) = (Tile::vec(DType::F32, 8, 64).at(0), Tile::vec(DType::F32, 8, 64).at(0x1000));
        let global = nd(core, &x, 8, 64);
        core.tstore(&global, &a)?;
        core.tload(&b, &global)
    });
    let found = hazards(&task);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].first.pipe.as_str(), found[0].second.pipe.as_str()), ("MTE3", "MTE2"));
    assert_eq!(found[0].bytes, [0, 2048]);
}

#[test]
fn adding_stores_of_two_blocks_are_no_hazard_and_hide_no_plain_store() {
    const STORE: &str = "TSTORE";
    const ADD: &str = "TSTORE_ATOMIC_ADD";
    type Case = (&'static [bool], &'static [bool], &'static [(&'static str, &'static str)]);
    let mut rig = Rig::new(&A2A3SIM);
    let x = rig.tensor("x", DType::F32, 1024);
    let stores = |block: u32, adds: &[bool]| {
        let mut core = rig.core(Member::Aiv0);
        let to = nd(&mut core, &x, 16, 64);
        let tile = Tile::vec(DType::F32, 16, 64).at(0);
        for &adds in adds {
            if adds {
                core.tstore_atomic_add(&to, &tile).unwrap()
            } else {
                core.tstore(&to, &tile).unwrap()
            };
        }
        CoreLog { member: Member::Aiv0, block, log: core.take_log().unwrap() }
    };
    // Each pair of blocks with the instructions that meet unordered.
    let cases: [Case; 6] = [
        (&[true], &[true], &[]),
        (&[true], &[false], &[(ADD, STORE)]),
        (&[false], &[true], &[(STORE, ADD)]),
        // The store of block 0 stands behind its own add, and nothing orders the add of block 1 with it.
        (&[false, true], &[true], &[(STORE, ADD)]),
        (&[true, false], &[true], &[(STORE, ADD)]),
        (&[false, true], &[true, false], &[(STORE, ADD), (STORE, STORE), (ADD, STORE)]),
    ];
    for (first, second, expected) in cases {
        let found = hazards(&rig.task(vec![stores(0, first), stores(1, second)]));
        let pairs: Vec<_> = found
            .iter()
            .map(|hazard| (hazard.first.instruction.as_str(), hazard.second.instruction.as_str()))
            .collect();
        assert_eq!(pairs, expected, "{first:?} {second:?}");
        assert!(found.iter().all(|hazard| hazard.bytes == [0, 4096]));
    }
}

#[test]
fn a_cut_log_keeps_what_ran_and_leaves_out_what_waits_for_the_rest() {
    let mut rig = Rig::new(&A2A3SIM);
    let y = rig.tensor("y", DType::F32, 1024);
    let mut task = rig.run(Member::Aiv0, |core| {
        let tile = Tile::vec(DType::F32, 16, 64).at(0);
        let to = nd(core, &y, 16, 64);
        core.tadds(&tile, &tile, 1.0)?;
        // MTE3 waits, and V continues; the set is behind the cut.
        core.wait_flag(Pipe::V, Pipe::Mte3, 0)?;
        core.tstore(&to, &tile)?;
        core.tmuls(&tile, &tile, 2.0)?;
        core.set_flag(Pipe::V, Pipe::Mte3, 0)
    });
    task.cores[0].log.entries.pop();
    let params = Params::for_chip(&A2A3SIM).unwrap();
    assert!(matches!(Timeline::new(&task, &params), Err(ModelError::Deadlock { .. })));
    task.cut = true;
    let timeline = Timeline::new(&task, &params).unwrap();
    let names: Vec<_> = timeline.cores[0].instrs.iter().map(|instr| instr.mnemonic.name()).collect();
    assert_eq!(names, ["VADDS", "VMULS"]);
    assert_eq!(timeline.sites.len(), 2);
}
