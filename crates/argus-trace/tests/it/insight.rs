//! What MindStudio Insight shows of the files, point by point: the bytes of the written files, parsed here, against the
//! instructions of the timeline. Each point is broken once, and `check` must say so.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use argus_abi::{DType, Member};
use argus_chip::{A2A3SIM, A5SIM, CHIPS};
use argus_tile::{CoreLog, Pipe, Tile};
use argus_trace::{Instr, Params, Path, Role, TaskLog, Timeline, Track};
use serde_json::{Value, json};

use crate::files::{Damage, split};
use crate::kernels::{double_buffered, mix, softmax};
use crate::rig::{Rig, hand_over, nd, timeline};

/// A task with the files that were written of it.
struct Shown {
    task: TaskLog,
    params: Params,
    damage: Damage,
}

impl Shown {
    fn new(task: TaskLog) -> Shown {
        let params = Params::for_chip(task.chip).unwrap();
        Shown { damage: Damage::of(&task), params, task }
    }

    fn timeline(&self) -> Timeline<'_> {
        timeline(&self.task, &self.params)
    }

    fn block(&self, kind: u8) -> Value {
        self.optional(kind).unwrap_or_else(|| panic!("no block {kind}"))
    }

    fn optional(&self, kind: u8) -> Option<Value> {
        let bytes = fs::read(self.damage.path("visualize_data.bin")).unwrap();
        let (header, content) = split(&bytes).into_iter().find(|(header, _)| header[8] == kind)?;
        Some(serde_json::from_slice(&content[..content.len() - usize::from(header[9])]).unwrap())
    }

    fn events(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.damage.path("trace.json")).unwrap();
        let mut trace: Value = serde_json::from_str(&text).unwrap();
        trace["traceEvents"].take().as_array().unwrap().clone()
    }

    fn breaks(&self, kind: u8, change: impl FnOnce(&mut Value), expected: &str) {
        self.damage.table(kind, change, expected);
        self.damage.was_noticed();
    }

    /// Microseconds of the whole task.
    fn duration(&self) -> f64 {
        self.timeline().cycles as f64 / self.params.mhz()
    }
}

/// Two vector cores of one block, without a matrix core.
fn two_vectors() -> TaskLog {
    let mut rig = Rig::new(&A2A3SIM);
    let x = rig.tensor("x", DType::F32, 2048);
    let part = |member: Member, rows: u32| {
        let mut core = rig.core(member);
        let tile = Tile::vec(DType::F32, rows, 64).at(0);
        let at = if member == Member::Aiv0 { 0 } else { 1024 };
        let shape = argus_tile::GlobalShape::nd(rows, 64);
        let global = core.global_at(&x, at, shape).unwrap();
        core.tload(&tile, &global).unwrap();
        hand_over(&mut core, Pipe::Mte2, Pipe::V, 0).unwrap();
        core.tadds(&tile, &tile, 1.0).unwrap();
        hand_over(&mut core, Pipe::V, Pipe::Mte3, 0).unwrap();
        core.tstore(&global, &tile).unwrap();
        CoreLog { member, block: 0, log: core.take_log().unwrap() }
    };
    rig.task(vec![part(Member::Aiv0, 8), part(Member::Aiv1, 16)])
}

/// A task that only counts.
fn scalar_only() -> TaskLog {
    let mut rig = Rig::new(&A2A3SIM);
    let x = rig.tensor("x", DType::I32, 64);
    rig.run(Member::Aiv0, |core| {
        let global = nd(core, &x, 1, 64);
        core.store_scalar(&global, 0, 7i32)
    })
}

fn every_task() -> Vec<TaskLog> {
    let shipped = CHIPS.iter().flat_map(|chip| [double_buffered(chip, 5), softmax(chip), mix(chip, 5)]);
    shipped.chain([two_vectors()]).collect()
}

fn bytes(instrs: &[Instr], paths: &[Path]) -> u64 {
    instrs.iter().filter(|instr| instr.path.is_some_and(|path| paths.contains(&path))).map(|i| i.bytes).sum()
}

const GLOBAL: [Path; 5] = [Path::GmToUb, Path::GmToL1, Path::UbToGm, Path::L1ToGm, Path::L0cToGm];

fn near(found: &Value, expected: f64) -> bool {
    (found.as_f64().unwrap() - expected).abs() <= 1e-6 * expected.abs().max(1e-6)
}

#[test]
fn point_1_a_block_has_one_memory_map_and_one_entry_of_tables() {
    for (task, op_type, units) in [
        (mix(&A2A3SIM, 5), "mix", &["Cube", "Vector", "Vector1"][..]),
        (mix(&A5SIM, 5), "mix", &["Cube", "Vector", "Vector1"]),
        (two_vectors(), "mix", &["Vector", "Vector1"]),
        (double_buffered(&A2A3SIM, 4), "cube", &["Cube"]),
    ] {
        let shown = Shown::new(task);
        let maps = shown.block(8);
        let [map] = &maps["core_memory_map"].as_array().unwrap()[..] else { panic!("{maps}") };
        assert_eq!((&map["core_no"], &map["op_type"]), (&0.into(), &op_type.into()));
        for unit in ["Cube", "Vector", "Vector1"] {
            assert_eq!(map.get(unit).is_some(), units.contains(&unit), "{unit} of {op_type}");
        }
        let tables = shown.block(9);
        let [entry] = &tables["table_per_block"].as_array().unwrap()[..] else { panic!("{tables}") };
        assert_eq!((&entry["block_id"], &entry["table_op_type"]), (&0.into(), &op_type.into()));
        assert!(entry["table_detail"].as_array().unwrap().len() > 1);
        shown.breaks(
            8,
            |maps| {
                let twin = maps["core_memory_map"][0].clone();
                maps["core_memory_map"].as_array_mut().unwrap().push(twin);
            },
            "has two entries, and readers show the first",
        );
        shown.breaks(
            9,
            |tables| tables["table_per_block"][0]["table_op_type"] = "cube0".into(),
            "table_op_type",
        );
    }
}

#[test]
fn point_2_throughput_is_whole_bytes_of_global_memory() {
    for task in every_task() {
        let shown = Shown::new(task);
        let timeline = shown.timeline();
        let cores = shown.block(12);
        let details = cores["op_detail"].as_array().unwrap().iter();
        let found: Vec<u64> = details
            .flat_map(|detail| detail["core_detail"].as_array().unwrap())
            .map(|core| core["throughput"].as_u64().expect("a whole number"))
            .collect();
        let expected: Vec<u64> = timeline.cores.iter().map(|core| bytes(&core.instrs, &GLOBAL)).collect();
        assert_eq!(found, expected);
        assert!(found.iter().any(|&bytes| bytes > 0));
        let first =
            |cores: &mut Value, value: Value| cores["op_detail"][0]["core_detail"][0]["throughput"] = value;
        shown.breaks(12, |cores| first(cores, json!(1.91)), "a whole number of bytes");
        shown.breaks(12, |cores| first(cores, json!(1)), "a whole number of bytes");
    }
}

#[test]
fn point_3_each_vector_core_of_a_vector_task_has_an_entry() {
    let shown = Shown::new(two_vectors());
    let cores = shown.block(12);
    assert_eq!(cores["op_type"], "vector");
    let details = cores["op_detail"].as_array().unwrap();
    let ids: Vec<_> = details.iter().map(|detail| detail["core_id"].as_u64().unwrap()).collect();
    assert_eq!(ids, [0, 1]);
    for detail in details {
        assert_eq!(detail["core_detail"].as_array().unwrap().len(), 1);
    }
    shown.breaks(
        12,
        |cores| {
            let second = cores["op_detail"][1]["core_detail"][0].take();
            cores["op_detail"].as_array_mut().unwrap().pop();
            cores["op_detail"][0]["core_detail"].as_array_mut().unwrap().push(second);
        },
        "readers keep one vector core of an entry",
    );
    // A mix keeps the cores of a block together.
    let mix = Shown::new(mix(&A2A3SIM, 5)).block(12);
    assert_eq!(mix["op_detail"].as_array().unwrap().len(), 1);
    assert_eq!(mix["op_detail"][0]["core_detail"].as_array().unwrap().len(), 3);
}

#[test]
fn point_4_counters_begin_with_their_bin_and_end_with_the_kernel() {
    for task in every_task() {
        let shown = Shown::new(task);
        let timeline = shown.timeline();
        let end = (shown.duration() * 1e6).round() as u64;
        let mut counters: BTreeMap<String, Vec<(u64, f64)>> = BTreeMap::new();
        let mut last_slice = 0;
        for event in shown.events() {
            let ps = |key: &str| (event[key].as_f64().unwrap_or(0.0) * 1e6).round() as u64;
            match event["ph"].as_str().unwrap() {
                "C" => {
                    let value = event["args"]["throughput(MB/s)"].as_f64().unwrap();
                    let name = event["name"].as_str().unwrap().to_owned();
                    counters.entry(name).or_default().push((ps("ts"), value));
                }
                "X" | "E" => last_slice = last_slice.max(ps("ts") + ps("dur")),
                _ => {}
            }
        }
        assert_eq!(last_slice, end);
        let all: Vec<Instr> = timeline.cores.iter().flat_map(|core| core.instrs.clone()).collect();
        assert!(!counters.is_empty());
        for (name, points) in counters {
            // The view is as long as the kernel: SF of 811 ns was shown as 1999 ns.
            assert_eq!(*points.last().unwrap(), (end, 0.0), "{name}");
            let starts: Vec<u64> = points.iter().map(|point| point.0).collect();
            let bins = (1..end.div_ceil(1_000_000)).map(|bin| bin * 1_000_000);
            assert_eq!(starts, [1000].into_iter().chain(bins).chain([end]).collect::<Vec<_>>(), "{name}");
            // What is under the curve is what was moved; the first bin begins at zero.
            let area: f64 = points
                .windows(2)
                .map(|pair| {
                    let start = if pair[0].0 == 1000 { 0 } else { pair[0].0 };
                    pair[0].1 * (pair[1].0 - start) as f64 / 1e6
                })
                .sum();
            let paths = match name.as_str() {
                "GM_TO_UB" => &[Path::GmToUb][..],
                "GM_TO_L1" => &[Path::GmToL1],
                "GM_TO_TOTAL" => &[Path::GmToUb, Path::GmToL1],
                "UB_TO_GM" => &[Path::UbToGm],
                "L1_TO_GM" => &[Path::L1ToGm],
                _ => &[Path::UbToGm, Path::L1ToGm, Path::L0cToGm],
            };
            let expected = bytes(&all, paths) as f64;
            assert!((area - expected).abs() < 1e-3, "{name}: {area} {expected}");
        }
    }
    let shown = Shown::new(softmax(&A2A3SIM));
    let end = format!("{:.6}", shown.duration());
    let closing =
        |end: &str| format!(r#""name":"UB_TO_GM","ph":"C","pid":"MTE Throughput","tid":0,"ts":{end}}}"#);
    shown.damage.text("trace.json", &closing(&end), &closing("99.0"), "does not close with zero");
    shown.damage.was_noticed();
}

#[test]
fn point_5_a_map_has_only_the_arrows_of_its_chip() {
    let arrows = |shown: &Shown| -> BTreeMap<u64, (u64, Value)> {
        let maps = shown.block(8);
        let units = maps["core_memory_map"][0]["memory_unit"].as_array().unwrap().iter();
        let row = |unit: &Value| (unit["request"].as_u64().unwrap(), unit["bandwidth"].clone());
        units.map(|unit| (unit["memory_path"].as_u64().unwrap(), row(unit))).collect()
    };
    let keys = |arrows: &BTreeMap<u64, (u64, Value)>| arrows.keys().copied().collect::<Vec<_>>();
    let a2 = Shown::new(mix(&A2A3SIM, 5));
    let a5 = Shown::new(mix(&A5SIM, 5));
    let (on_a2, on_a5) = (arrows(&a2), arrows(&a5));
    assert_eq!(keys(&on_a2), (2..=19).collect::<Vec<_>>());
    assert_eq!(
        keys(&on_a5),
        [2, 3, 12, 13, 14, 15, 16, 17, 18, 19, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47]
    );
    // What is known to carry nothing says so; arrows of caches have no numbers.
    let vector = Shown::new(softmax(&A5SIM));
    let on_vector = arrows(&vector);
    assert_eq!(keys(&on_vector), [12, 13, 14, 15, 42, 44, 46]);
    assert_eq!([42, 44, 46].map(|path| on_vector[&path].0), [0; 3]);
    let without = |path: u64| {
        move |maps: &mut Value| {
            let units = maps["core_memory_map"][0]["memory_unit"].as_array_mut().unwrap();
            units.retain(|unit| unit["memory_path"] != path);
        }
    };
    vector.breaks(8, without(44), "arrow 44 of block 0 has no numbers");
    a2.breaks(8, without(11), "arrow 11 of block 0 has no numbers");
    // Tiles of the mix go from L0C to both halves of UB; A2 and A3 have no such way and go through memory.
    let timeline = a5.timeline();
    let pushed =
        timeline.cores[0].instrs.iter().filter(|instr| instr.path == Some(Path::L0cToUb)).count() as u64;
    assert!(pushed > 0);
    assert_eq!([on_a5[&42].0, on_a5[&43].0, on_a5[&39].0], [pushed; 3]);
    assert!(on_a2[&10].0 >= 5 && a2.timeline().cores[0].instrs.iter().all(|i| i.path != Some(Path::L0cToUb)));
    let rename = |from: u64, to: u64| {
        move |maps: &mut Value| {
            let units = maps["core_memory_map"][0]["memory_unit"].as_array_mut().unwrap();
            units.iter_mut().find(|unit| unit["memory_path"] == from).unwrap()["memory_path"] = to.into();
        }
    };
    a5.breaks(8, rename(37, 4), "memory_path 4 is not in the map");
    a2.breaks(8, rename(10, 42), "memory_path 42 is not in the map");
}

#[test]
fn arrows_between_a_unit_and_its_memory_carry_the_operands() {
    let shown = Shown::new(double_buffered(&A2A3SIM, 4));
    let maps = shown.block(8);
    let units = maps["core_memory_map"][0]["memory_unit"].as_array().unwrap();
    let bytes = |path: u64| {
        let unit = units.iter().find(|unit| unit["memory_path"] == path).unwrap();
        assert_eq!(
            unit["peak_ratio"],
            if (6..=8).contains(&path) || path == 11 { json!("NA") } else { json!(0) }
        );
        unit["bandwidth"].as_f64().unwrap() * (shown.duration() / 1e6) * f64::from(1 << 30)
    };
    // Four products of 64 x 64 x 64 in f16 into f32; all but the first add to what is there.
    for (path, expected) in [(6, 4 * 8192), (7, 4 * 8192), (8, 4 * 16384), (11, 3 * 16384)] {
        assert!((bytes(path) - f64::from(expected)).abs() < 1.0, "{path}: {}", bytes(path));
    }
}

#[test]
fn point_6_active_is_work_and_waits_have_rows_of_their_own() {
    for task in every_task() {
        let shown = Shown::new(task);
        let timeline = shown.timeline();
        let mut expected: BTreeMap<(u32, String, bool), u64> = BTreeMap::new();
        for core in &timeline.cores {
            let part = ["cube0", "vector0", "vector1"][core.member as usize];
            for instr in &core.instrs {
                let waits = matches!(instr.role, Role::Wait(_) | Role::Await(_));
                let key = |waits| (core.block, format!("{part} {}", instr.track.name()), waits);
                expected.entry(key(false)).or_default();
                *expected.entry(key(waits)).or_default() += instr.end - instr.start;
            }
        }
        expected.retain(|key, cycles| !key.2 || *cycles > 0);
        for kind in [6, 7] {
            let load = shown.block(kind);
            let mut found = BTreeMap::new();
            for bar in load["subblock_detail"].as_array().unwrap() {
                let (track, what) = bar["name"].as_str().unwrap().split_once(' ').unwrap();
                let part = bar["block_type"].as_str().unwrap();
                let cycles = bar["origin_value"].as_u64().unwrap();
                let value = if kind == 6 {
                    cycles as f64 / timeline.cycles as f64 * 100.0
                } else {
                    cycles as f64 / shown.params.mhz()
                };
                assert!(near(&bar["value"], value), "{bar}");
                let block = bar["block_id"].as_u64().unwrap() as u32;
                found.insert((block, format!("{part} {track}"), what.starts_with("Wait")), cycles);
            }
            assert_eq!(found, expected, "block {kind}");
        }
        shown.breaks(7, |load| load["subblock_detail"][0]["value"] = 1e6.into(), "the trace has");
    }
    let shown = Shown::new(softmax(&A2A3SIM));
    let maps = shown.block(8);
    let unit = &maps["core_memory_map"][0]["Vector"];
    let timeline = shown.timeline();
    let works = |instr: &&Instr| instr.track == Track::Vector && !matches!(instr.role, Role::Wait(_));
    let work: u64 = timeline.cores[0].instrs.iter().filter(works).map(Instr::cycles).sum();
    assert_eq!(unit["cycle"], work);
    shown.breaks(
        8,
        |maps| maps["core_memory_map"][0]["Vector"]["cycle"] = (work + 100).into(),
        "the work of a unit",
    );
}

#[test]
fn point_7_bandwidth_is_bytes_over_the_length_of_the_task() {
    let shown = Shown::new(softmax(&A2A3SIM));
    let timeline = shown.timeline();
    let maps = shown.block(8);
    for (arrow, path, gib_s) in [(12, Path::GmToUb, 247.16), (13, Path::UbToGm, 188.46)] {
        let units = maps["core_memory_map"][0]["memory_unit"].as_array().unwrap();
        let unit = units.iter().find(|unit| unit["memory_path"] == arrow).unwrap();
        let bytes = bytes(&timeline.cores[0].instrs, &[path]) as f64;
        let expected = bytes / (shown.duration() / 1e6) / f64::from(1 << 30);
        assert!(near(&unit["bandwidth"], expected), "{unit}");
        let ratio = unit["peak_ratio"].as_f64().unwrap();
        assert!((ratio - expected / gib_s * 100.0).abs() < 1e-3 * ratio, "{ratio} {expected}");
    }
    shown.breaks(
        8,
        |maps| maps["core_memory_map"][0]["memory_unit"][0]["bandwidth"] = 100.0.into(),
        "bandwidth of arrow 12 is 100",
    );
}

#[test]
fn point_8_what_is_not_known_of_the_cache_is_na() {
    let shown = Shown::new(mix(&A5SIM, 5));
    assert_eq!(shown.block(12)["op_detail"][0]["core_detail"][0]["L2cache_hit_rate"], "NA");
    let cache = &shown.block(8)["core_memory_map"][0]["L2cache"];
    assert_eq!(*cache, json!({ "hit": "NA", "miss": "NA", "total_request": "NA", "hit_ratio": "NA" }));
    shown.breaks(
        12,
        |cores| cores["op_detail"][0]["core_detail"][0]["L2cache_hit_rate"] = 0.0.into(),
        "no cache is modelled",
    );
    shown.breaks(8, |maps| drop(maps["core_memory_map"][0]["L2cache"].take()), "no cache is modelled");
}

#[test]
fn point_9_no_two_bars_of_a_block_have_one_name() {
    for (task, suffixes) in [
        (mix(&A2A3SIM, 5), &["Active", "Active0", "Active1"][..]),
        (two_vectors(), &["Active0", "Active1"]),
        (softmax(&A2A3SIM), &["Active"]),
    ] {
        let shown = Shown::new(task);
        let load = shown.block(6);
        let bars = load["subblock_detail"].as_array().unwrap();
        let names: BTreeSet<&str> = bars.iter().map(|bar| bar["name"].as_str().unwrap()).collect();
        assert_eq!(names.len(), bars.len(), "{names:?}");
        let ends =
            names.iter().map(|name| name.split_once(' ').unwrap().1).filter(|end| !end.contains("Wait"));
        assert_eq!(ends.collect::<BTreeSet<_>>(), suffixes.iter().copied().collect());
        shown.breaks(
            6,
            |load| {
                let twin = load["subblock_detail"][0].clone();
                load["subblock_detail"].as_array_mut().unwrap().push(twin);
            },
            "are called",
        );
    }
}

#[test]
fn point_10_a_flag_names_the_pipe_at_its_other_end() {
    let shown = Shown::new(softmax(&A2A3SIM));
    let table = shown.block(4);
    let rows = table["Instructions"].as_array().unwrap();
    let flags: BTreeSet<(&str, &str)> = rows
        .iter()
        .map(|row| (row["Pipe"].as_str().unwrap(), row["Source"].as_str().unwrap()))
        .filter(|(_, source)| source.contains("_FLAG"))
        .collect();
    let expected = [
        ("MTE2", "SET_FLAG V ID:0"),
        ("VECTOR", "SET_FLAG MTE3 ID:0"),
        ("VECTOR", "WAIT_FLAG MTE2 ID:0"),
        ("MTE3", "WAIT_FLAG V ID:0"),
    ];
    assert!(expected.iter().all(|flag| flags.contains(flag)), "{flags:?}");
    let own = rows.iter().position(|row| row["Source"] == "SET_FLAG V ID:0").unwrap();
    shown.breaks(
        4,
        |table| table["Instructions"][own]["Source"] = "SET_FLAG MTE2 ID:0".into(),
        "does not name the pipe V at the other end",
    );
    // Cores of a mix: the tile that FIXP sends is awaited by MTE2.
    let mixed = Shown::new(mix(&A5SIM, 5)).block(4);
    let sources: BTreeSet<&str> =
        mixed["Instructions"].as_array().unwrap().iter().map(|row| row["Source"].as_str().unwrap()).collect();
    assert!(sources.iter().any(|source| source.starts_with("SET_INTRA_BLOCK MTE2 ID:")), "{sources:?}");
}

#[test]
fn point_11_bytes_of_an_instruction_that_moves_none_are_na() {
    for task in every_task() {
        let shown = Shown::new(task);
        let timeline = shown.timeline();
        let table = shown.block(4);
        let mut without = None;
        for (number, row) in table["Instructions"].as_array().unwrap().iter().enumerate() {
            for (index, core) in timeline.cores.iter().enumerate() {
                let here = core.instrs.iter().filter(|instr| instr.site as usize == number);
                let bytes: u64 = here.map(|instr| instr.bytes).sum();
                let expected = if bytes == 0 { -1 } else { bytes as i64 };
                assert_eq!(row["Process Bytes"][index], expected, "{row}");
                without = without.or((bytes == 0).then_some((number, index)));
            }
        }
        let (number, index) = without.unwrap();
        shown.breaks(
            4,
            |table| table["Instructions"][number]["Process Bytes"][index] = 0.into(),
            "0 bytes, but the trace has -1",
        );
        let lines = shown.block(3);
        let cells =
            lines["Files"].as_array().unwrap().iter().flat_map(|file| file["Lines"].as_array().unwrap());
        assert!(cells.flat_map(|line| line["Process Bytes"].as_array().unwrap()).all(|cell| *cell != 0));
    }
}

#[test]
fn point_12_chips_have_full_names_and_base_info_the_heads_that_readers_know() {
    for (task, soc, detail) in [
        (softmax(&A2A3SIM), "Ascend910B1", "block_detail"),
        (mix(&A2A3SIM, 5), "Ascend910B1", "mix_block_detail"),
        (mix(&A5SIM, 5), "Ascend950PR_9599", "mix_block_detail"),
    ] {
        let shown = Shown::new(task);
        let base = shown.block(5);
        assert_eq!((&base["soc"], &shown.block(12)["soc"]), (&soc.into(), &soc.into()));
        assert_eq!(base[detail]["head_name"][1], "Core Type");
        assert_eq!(base[detail]["head_name"][2], "Duration (\u{b5}s)");
        let other = if detail == "block_detail" { "mix_block_detail" } else { "block_detail" };
        assert!(base.get(other).is_none());
        shown.breaks(5, |base| base["soc"] = "910B".into(), "idle cores are drawn for full names only");
        shown.breaks(12, |cores| cores["soc"] = "910B".into(), "idle cores are drawn for full names only");
        shown.breaks(5, |base| base[detail]["head_name"][1] = "Core".into(), "its columns are");
        shown.breaks(5, |base| base[other] = base[detail].take(), &format!("must be in {detail}"));
    }
}

#[test]
fn the_roofline_is_the_work_of_the_task_under_what_the_model_allows() {
    let shown = Shown::new(double_buffered(&A2A3SIM, 4));
    let roofline = shown.block(13);
    let picture = &roofline["multiple_rooflines"][0];
    assert_eq!(picture["title"], "Pipeline(Cube)");
    let lines = picture["rooflines"].as_array().unwrap();
    let line = lines.iter().find(|line| line["bw_name"] == "GM to L1 (GB/s)").unwrap();
    // Four products of 64 x 64 x 64, two operations each; both factors are loaded in f16.
    let operations = 4.0 * 2.0 * 64.0 * 64.0 * 64.0;
    let loaded = 4.0 * 2.0 * 64.0 * 64.0 * 2.0;
    let performance = operations / (shown.duration() * 1e-6) / 1e9;
    assert!(near(&line["point"][0], operations / loaded) && near(&line["point"][1], performance), "{line}");
    // One cube of 16 x 16 x 16 a cycle.
    assert!(near(&line["computility"], 2.0 * 4096.0 * 1850e6 / 1e9), "{line}");
    let bandwidth = 135.0 * f64::from(1 << 30) / 1e9;
    assert!((line["bw"].as_f64().unwrap() - bandwidth).abs() < 1e-3 * bandwidth, "{line}");
    let roof = (bandwidth * operations / loaded).min(2.0 * 4096.0 * 1.85);
    assert!((line["ratio"].as_f64().unwrap() - performance / roof * 100.0).abs() < 0.1, "{line}");
    shown.breaks(
        13,
        |roofline| roofline["multiple_rooflines"][0]["rooflines"][0]["point"][1] = 1e12.into(),
        "is not below the roof",
    );
    for task in every_task() {
        let matrix = task.cores.iter().any(|core| core.member == Member::Aic);
        let vector = task.cores.iter().any(|core| core.member != Member::Aic);
        let shown = Shown::new(task);
        let roofline = shown.block(13);
        let titles: Vec<_> =
            roofline["multiple_rooflines"].as_array().unwrap().iter().map(|p| &p["title"]).collect();
        let expected: Vec<Value> = [(matrix, "Pipeline(Cube)"), (vector, "Pipeline(Vector)")]
            .iter()
            .filter(|(there, _)| *there)
            .map(|(_, title)| (*title).into())
            .collect();
        assert_eq!(titles, expected.iter().collect::<Vec<_>>());
    }
    assert_eq!(Shown::new(scalar_only()).optional(13), None);
}

#[test]
fn every_memory_that_was_used_has_its_table_and_every_block_one_of_pipes() {
    let names = |shown: &Shown| -> Vec<String> {
        let tables = shown.block(9);
        let list = tables["table_per_block"][0]["table_detail"].as_array().unwrap().iter();
        list.map(|table| table["table_name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&Shown::new(double_buffered(&A2A3SIM, 4))), ["L0A/L0B/L0C", "L1", "HBM", "Pipe"]);
    assert_eq!(names(&Shown::new(mix(&A2A3SIM, 5))), ["L0A/L0B/L0C", "L1", "UB", "HBM", "Pipe"]);
    let shown = Shown::new(softmax(&A2A3SIM));
    assert_eq!(names(&shown), ["UB", "HBM", "Pipe"]);
    let timeline = shown.timeline();
    let tables = shown.block(9);
    let rows = tables["table_per_block"][0]["table_detail"][0]["row"].as_array().unwrap();
    let loads = rows.iter().find(|row| row["name"] == "vector0 GM_TO_UB").unwrap();
    let loaded = bytes(&timeline.cores[0].instrs, &[Path::GmToUb]);
    assert_eq!((&loads["value"][0], &loads["value"][1]), (&"1".into(), &loaded.to_string().into()));
    // Even a task of scalars alone has rows.
    let shown = Shown::new(scalar_only());
    assert!(names(&shown).contains(&"Pipe".to_owned()));
    shown.breaks(
        9,
        |tables| {
            let last = &mut tables["table_per_block"][0]["table_detail"][0];
            (last["row"], last["size"][0]) = (json!([]), 0.into());
        },
        "has no rows",
    );
}

#[test]
fn vector_utilization_is_the_share_of_lanes_that_work() {
    let mut rig = Rig::new(&A2A3SIM);
    let x = rig.tensor("x", DType::F32, 1024);
    let task = rig.run(Member::Aiv0, |core| {
        let full = Tile::vec(DType::F32, 16, 64).at(0);
        let part = full.valid(16, 16);
        let from = nd(core, &x, 16, 64);
        core.tload(&full, &from)?;
        hand_over(core, Pipe::Mte2, Pipe::V, 0)?;
        core.tadds(&full, &full, 1.0)?;
        // 16 of the 64 lanes of each repeat.
        core.tmuls(&part, &part, 2.0)
    });
    let shown = Shown::new(task);
    let table = shown.block(4);
    let cell = |name: &str| {
        let rows = table["Instructions"].as_array().unwrap();
        let row = rows.iter().find(|row| row["Source"].as_str().unwrap().starts_with(name)).unwrap();
        row["Vector Utilization Percentage"][0].as_f64().unwrap()
    };
    assert_eq!((cell("VADDS"), cell("VMULS"), cell("MOV_SRC")), (100.0, 25.0, -1.0));
    // What the model does not know stays unknown.
    for row in table["Instructions"].as_array().unwrap() {
        for column in ["GPR Count", "UB Read Conflict", "UB Write Conflict"] {
            assert_eq!(row[column], json!([-1]));
        }
    }
    shown.breaks(
        4,
        |table| table["Instructions"][0]["Vector Utilization Percentage"][0] = 101.5.into(),
        "the vector unit is used 101.5 %",
    );
}

#[test]
fn stall_reasons_are_the_waits_of_the_timeline() {
    let shown = Shown::new(softmax(&A2A3SIM));
    let timeline = shown.timeline();
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for instr in &timeline.cores[0].instrs {
        if let Role::Wait(flag) = instr.role {
            let name = |pipe: Pipe| match pipe {
                Pipe::V => "VEC".to_owned(),
                Pipe::S => "SCALAR".to_owned(),
                other => other.to_string(),
            };
            *expected.entry(format!("{} waits for {}", name(flag.dst), name(flag.src))).or_default() +=
                instr.cycles();
        }
    }
    assert_eq!(shown.block(15), json!({ "top_stall_reason_table": expected }));
    shown.breaks(
        15,
        |reasons| reasons["top_stall_reason_table"]["VEC waits for MTE2"] = 100_000.into(),
        "the sum of all waits",
    );
}
