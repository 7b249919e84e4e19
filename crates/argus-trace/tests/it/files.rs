//! Written files are valid, the same every time, and every kind of damage is noticed.

use std::fs;
use std::path::{Path, PathBuf};

use argus_chip::{A2A3SIM, A5SIM, CHIPS};
use argus_facts::with_causes;
use argus_trace::{CheckReport, Params, Sources, Stamp, TaskLog, Timeline, check, write};
use serde_json::Value;

use crate::kernels::{double_buffered, mix, softmax};
use crate::python::root;

pub const STAMP: &str = "20260822143005123";

pub fn write_task(task: &TaskLog, dir: &Path) -> argus_trace::Written {
    let params = Params::for_chip(task.chip).unwrap();
    let timeline = Timeline::new(task, &params).unwrap();
    let mut sources = Sources::default();
    for file in &timeline.files {
        sources.add(file, &fs::read_to_string(root().join(file)).unwrap());
    }
    write(&timeline, dir, &sources, &Stamp::parse(STAMP).unwrap()).unwrap()
}

fn every_kernel() -> Vec<(&'static str, TaskLog)> {
    CHIPS
        .into_iter()
        .flat_map(|chip| {
            [("matmul", double_buffered(chip, 5)), ("softmax", softmax(chip)), ("mix", mix(chip, 5))]
        })
        .collect()
}

fn every_file(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut todo = vec![dir.to_owned()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                todo.push(path);
            } else {
                found.push((path.clone(), fs::read(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn what_is_written_is_valid_and_complete() {
    for (name, task) in every_kernel() {
        let dir = tempfile::tempdir().unwrap();
        let written = write_task(&task, dir.path());
        assert_eq!(written.missing_sources, Vec::<String>::new());
        let report = check(dir.path()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(report.slices, written.slices);
        let params = Params::for_chip(task.chip).unwrap();
        let timeline = Timeline::new(&task, &params).unwrap();
        let paired = 2 * timeline.pairs.len() as u64 + report.unpaired_flags;
        let flags = timeline.cores.iter().flat_map(|core| &core.instrs).filter(|instr| instr.role.is_flag());
        assert_eq!(paired, flags.count() as u64);
        assert_eq!(report.flows, timeline.pairs.len() as u64);
        assert_eq!((report.cores.len(), report.sources, report.trace_blocks), (task.cores.len(), 2, 1));
        // The last slots of the pipe are freed and never waited for.
        let unpaired = if name == "mix" { 4 } else { 0 };
        assert_eq!(report.unpaired_flags, unpaired, "{name}");
    }
}

#[test]
fn the_files_of_a_task_are_the_same_in_every_run() {
    let make = || mix(&A2A3SIM, 4);
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    // Two runs: other addresses in memory, other threads.
    for dir in &dirs {
        write_task(&make(), dir.path());
    }
    let files = |dir: &Path| -> Vec<(PathBuf, Vec<u8>)> {
        every_file(dir)
            .into_iter()
            .map(|(path, bytes)| (path.strip_prefix(dir).unwrap().to_owned(), bytes))
            .collect()
    };
    let [first, second] = [files(dirs[0].path()), files(dirs[1].path())];
    assert_eq!(first.len(), 5 + 3 * 3);
    for ((path, a), (other, b)) in first.iter().zip(&second) {
        assert_eq!(path, other);
        assert!(a == b, "{} differs", path.display());
    }
}

#[test]
fn an_older_trace_is_replaced_and_a_foreign_directory_is_not() {
    let dir = tempfile::tempdir().unwrap();
    write_task(&softmax(&A2A3SIM), dir.path());
    fs::write(dir.path().join("simulator/old"), "").unwrap();
    write_task(&double_buffered(&A2A3SIM, 2), dir.path());
    assert!(!dir.path().join("simulator/old").exists());
    assert_eq!(check(dir.path()).unwrap().cores, ["core0.cubecore0"]);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);

    let foreign = tempfile::tempdir().unwrap();
    fs::create_dir(foreign.path().join("simulator")).unwrap();
    fs::write(foreign.path().join("simulator/thesis.txt"), "years").unwrap();
    let task = softmax(&A2A3SIM);
    let params = Params::for_chip(&A2A3SIM).unwrap();
    let timeline = Timeline::new(&task, &params).unwrap();
    let error = write(&timeline, foreign.path(), &Sources::default(), &Stamp::parse(STAMP).unwrap());
    assert!(
        error
            .unwrap_err()
            .to_string()
            .ends_with("exists and was not written by a trace; remove it or choose another directory")
    );
    assert_eq!(fs::read(foreign.path().join("simulator/thesis.txt")).unwrap(), b"years");
    assert_eq!(
        Stamp::parse("2026").unwrap_err().to_string(),
        "`2026` is not a time stamp: 17 digits are needed, as in 20260822143005123"
    );
    assert_eq!(Stamp::now().as_str().len(), 17);
}

#[test]
fn files_belong_to_their_owner() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    write_task(&softmax(&A5SIM), dir.path());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dir.path().join("simulator")) & !0o077, 0o755 & !0o077);
    for (path, _) in every_file(&dir.path().join("simulator")) {
        assert_eq!(mode(&path) & !0o644, 0, "{}", path.display());
    }
}

#[test]
fn missing_sources_leave_the_lines_out() {
    let dir = tempfile::tempdir().unwrap();
    let task = softmax(&A2A3SIM);
    let params = Params::for_chip(&A2A3SIM).unwrap();
    let timeline = Timeline::new(&task, &params).unwrap();
    let written = write(&timeline, dir.path(), &Sources::default(), &Stamp::parse(STAMP).unwrap()).unwrap();
    assert_eq!(
        written.missing_sources,
        ["crates/argus-trace/tests/it/kernels.rs", "crates/argus-trace/tests/it/rig.rs"]
    );
    let report: CheckReport = check(dir.path()).unwrap();
    assert_eq!(report.sources, 0);
}

/// A written task that can be damaged again and again.
pub struct Damage {
    pub dir: tempfile::TempDir,
    /// What went unnoticed, or was called by another name.
    missed: std::cell::RefCell<Vec<String>>,
}

impl Damage {
    pub fn of(task: &TaskLog) -> Damage {
        let damage = Damage { dir: tempfile::tempdir().unwrap(), missed: Default::default() };
        write_task(task, damage.dir.path());
        check(damage.dir.path()).unwrap_or_else(|error| panic!("{}", with_causes(&error)));
        damage
    }

    /// All damage was noticed.
    pub fn was_noticed(&self) {
        assert_eq!(*self.missed.borrow(), Vec::<String>::new());
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("simulator").join(name)
    }

    /// Replaces the first occurrence of a text, checks, and puts the file back.
    pub fn text(&self, name: &str, from: &str, to: &str, expected: &str) {
        let text = fs::read_to_string(self.path(name)).unwrap();
        assert!(text.contains(from), "{name} has no {from}");
        self.bytes(name, text.replacen(from, to, 1).as_bytes(), expected);
    }

    fn bytes(&self, name: &str, bytes: &[u8], expected: &str) {
        let path = self.path(name);
        let good = fs::read(&path).unwrap();
        fs::write(&path, bytes).unwrap();
        let said = check(self.dir.path()).map_or_else(|error| with_causes(&error), |_| "all is well".into());
        if said == "all is well" || !said.contains(expected) {
            self.missed.borrow_mut().push(format!("{said:?} does not say {expected:?}"));
        }
        fs::write(&path, good).unwrap();
    }

    /// Changes one table of the bin.
    pub fn table(&self, kind: u8, change: impl FnOnce(&mut Value), expected: &str) {
        let good = fs::read(self.path("visualize_data.bin")).unwrap();
        let mut blocks = split(&good);
        let block = blocks.iter_mut().find(|block| block.0[8] == kind).unwrap();
        let padding = usize::from(block.0[9]);
        let mut table: Value = serde_json::from_slice(&block.1[..block.1.len() - padding]).unwrap();
        change(&mut table);
        let mut content = serde_json::to_vec(&table).unwrap();
        let padding = content.len().next_multiple_of(4) - content.len();
        content.resize(content.len() + padding, 0);
        block.0[..8].copy_from_slice(&(content.len() as u64).to_le_bytes());
        block.0[9] = padding as u8;
        block.1 = content;
        let bytes: Vec<u8> =
            blocks.into_iter().flat_map(|(header, content)| [header, content].concat()).collect();
        self.bytes("visualize_data.bin", &bytes, expected);
    }
}

/// Headers and contents of a bin; the path of a source counts as content.
pub fn split(mut bytes: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut blocks = Vec::new();
    while !bytes.is_empty() {
        let size = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let size = size + if bytes[8] == 1 { 4096 } else { 0 };
        blocks.push((bytes[..12].to_vec(), bytes[12..12 + size].to_vec()));
        bytes = &bytes[12 + size..];
    }
    blocks
}

#[test]
fn damage_is_noticed_one_by_one() {
    let damage = Damage::of(&softmax(&A2A3SIM));
    let trace = "trace.json";

    // The envelope and the form of events.
    damage.text(trace, r#""profilingType":"op","#, "", "where profilingType must stand");
    damage.text(trace, r#""profilingType":"op""#, r#""profilingType":"system""#, "profilingType is system");
    damage.text(trace, r#""schemaVersion":2"#, r#""schemaVersion":1"#, "schemaVersion is 1");
    damage.text(
        trace,
        r#""ph":"X","pid":"core0.veccore0""#,
        r#""pid":"core0.veccore0","ph":"X""#,
        "stands behind pid",
    );
    damage.text(trace, r#""ph":"X""#, r#""ph":"i""#, "phase i, which readers drop");
    damage.text(trace, r#""ph":"t""#, r#""ph":"f""#, "phase f, which readers drop");
    damage.text(trace, r#""ph":"B""#, r#""ph":"X""#, "colour");
    damage.text(trace, r#""name":"VEXP""#, r#""name":"vexp""#, "vexp is not a mnemonic");
    damage.text(trace, r#""tid":"MTE2","ts""#, r#""tid":"MTE9","ts""#, "no track is called MTE9");
    damage.text(trace, r#""pid":"core0.veccore0""#, r#""pid":"core0.gpu""#, "no core is called core0.gpu");
    damage.text(trace, r#""cname":"rail_response""#, r#""cname":"good""#, "colour");
    damage.text(trace, r#""sort_index":6"#, r#""sort_index":5"#, "track MTE2 has place 5");
    damage.text(trace, "Src:OUT,", "Src: OUT,", "white space in operands");
    damage.text(trace, r#""detail":"#, r#""detale":"#, "unknown field `detale`");
    damage.text(trace, "]}", "]", "EOF");
    // Slices, flags and arrows.
    damage.text(trace, r#""dur":0."#, r#""dur":7."#, "slices overlap");
    damage.text(trace, r#""pc_addr":"0x"#, r#""pc_addr":"0xf"#, "the TRACE blocks do not hold the events");
    damage.text(trace, r#""cat":"MTE2ToVECTOR""#, r#""cat":"MTE2ToCUBE""#, "differ in cat");
    damage.text(
        trace,
        r#""id":"core0.veccore0_0","name":"flow""#,
        r#""id":"core0.veccore0_9","name":"flow""#,
        "incomplete",
    );
    damage.text(trace, "FLAGID:0,", "FLAGID:1,", "have different operands");
    damage.text(trace, r#""name":"SET_FLAG","ph":"E""#, r#""name":"WAIT_FLAG","ph":"E""#, "ends SET_FLAG");
    damage.text(trace, r#"{"args":{},"#, r#"{"args":{"code":"x:1"},"#, "an E event has arguments");
    damage.text(trace, r#""process_bytes":"4096""#, r#""process_bytes":"4097""#, "adds up to");
    damage.text(
        trace,
        r#""name":"GM_TO_UB","ph":"C","pid":"MTE Throughput","tid":0,"ts":0.001"#,
        r#""name":"GM_TO_UB","ph":"C","pid":"MTE Throughput","tid":0,"ts":0.000"#,
        "has a point at 0 us",
    );

    // The summary.
    damage.text(
        "summary.json",
        r#""unpaired_flags": 0"#,
        r#""unpaired_flags": 1"#,
        "promises 1 unpaired flags",
    );
    damage.text("summary.json", r#""parameters": "a2a3-1""#, r#""parameters": """#, "that it is a model");
    damage.text("summary.json", r#""mhz": 1850.0"#, r#""mhz": 1800.0"#, "cycles");

    // Blocks.
    let bin = "visualize_data.bin";
    let good = fs::read(damage.path(bin)).unwrap();
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        bytes
    };
    damage.bytes(bin, &good[..good.len() - 1], "are announced");
    damage.bytes(bin, &good[..good.len() - good.len() / 3], "");
    damage.bytes(bin, &[], "there is no trace");
    damage.bytes(bin, &with(&|bytes| bytes[..8].fill(0)), "a size of 0 bytes");
    damage.bytes(bin, &with(&|bytes| bytes[..8].fill(0xFF)), "a size of");
    damage.bytes(bin, &with(&|bytes| bytes[10] = 0), "version 0x0");
    damage.bytes(bin, &with(&|bytes| bytes[11] = 0), "reserve 0x0");
    damage.bytes(bin, &with(&|bytes| bytes[8] = 0x20), "type 32 is unknown");
    damage.bytes(bin, &with(&|bytes| bytes[9] = 4), "4 bytes of padding");
    damage.bytes(bin, &with(&|bytes| bytes.push(0)), "inside a header");
    let join = |blocks: &[(Vec<u8>, Vec<u8>)]| -> Vec<u8> {
        blocks.iter().flat_map(|(header, content)| [&header[..], content].concat()).collect()
    };
    let blocks = split(&good);
    let mut moved = blocks.clone();
    moved.rotate_left(1);
    damage.bytes(bin, &join(&moved), "a trace behind other blocks");
    let cores = blocks.iter().position(|block| block.0[8] == 12).unwrap();
    damage.bytes(bin, &join(&blocks[..cores]), "block 12 is missing");
    let source = blocks.iter().position(|block| block.0[8] == 1).unwrap();
    let mut renamed = blocks.clone();
    renamed[source].1[0] = b'/';
    damage.bytes(bin, &join(&renamed), "absolute");
    let mut cut = blocks.clone();
    cut[source].1[4096..].fill(b' ');
    damage.bytes(bin, &join(&cut), "");
    let mut without_source = blocks.clone();
    without_source.remove(source);
    damage.bytes(bin, &join(&without_source), "is in no source");

    // Tables.
    let first = |table: &mut Value, column: &str, value: Value| table["Instructions"][0][column] = value;
    damage.table(4, |table| first(table, "Cycles", vec![1.5].into()), "1.5 is shown as 0");
    damage.table(
        4,
        |table| first(table, "Cycles", vec![3_000_000_000u64].into()),
        "3000000000 is shown as 0",
    );
    damage.table(4, |table| first(table, "Cycles", vec![1u64, 2].into()), "2 numbers for 1 cores");
    damage.table(4, |table| first(table, "Cycles", vec![100_000].into()), "100000 cycles, but the trace has");
    damage.table(4, |table| first(table, "Instructions Executed", vec![7].into()), "7 slices");
    damage.table(4, |table| first(table, "Process Bytes", vec![7].into()), "7 bytes");
    damage.table(
        4,
        |table| first(table, "Vector Utilization Percentage", vec![100].into()),
        "100 is shown as 0",
    );
    damage.table(4, |table| first(table, "Pipe", "CUBE".into()), "it is on CUBE");
    damage.table(
        4,
        |table| first(table, "AscendC Inner Code", "nowhere.rs:1".into()),
        "nowhere.rs:1 is in no source",
    );
    damage.table(4, |table| first(table, "Address", "0x1".into()), "slices");
    damage.table(4, |table| drop(table["Instructions"].as_array_mut().unwrap().pop()), "has no row");
    damage.table(4, |table| table["Instructions"].as_array_mut().unwrap().reverse(), "not in order");
    damage.table(4, |table| table["Cores"][0] = "core1.veccore0".into(), "not those of the trace");
    damage.table(
        4,
        |table| table["Instructions Dtype"]["Instructions"]["Cycles"] = 2.into(),
        "not declared as type 1",
    );
    damage.table(3, |table| table["Files"][0]["Source"] = "other.rs".into(), "has no source block");
    damage.table(3, |table| table["Files"][0]["Lines"][0]["Cycles"][0] = 1.into(), "its instructions have");
    damage.table(3, |table| table["Files"][0]["Lines"][0]["Line"] = 9999.into(), "behind the last line");
    damage.table(
        3,
        |table| table["Files"][0]["Lines"][0]["Address Range"][0][1] = "0x10d20000".into(),
        "not the addresses",
    );
    damage.table(
        3,
        |table| drop(table["Files"][0]["Lines"].as_array_mut().unwrap().pop()),
        "are found by line",
    );
    damage.table(5, |table| table["duration"] = 1.0.into(), "duration is 1, the trace has");
    damage.table(5, |table| table["op_type"] = "graph".into(), "op_type");
    damage.table(5, |table| table["block_detail"]["size"][0] = 3.into(), "another size");
    damage.table(7, |table| table["subblock_detail"][0]["value"] = 9.0.into(), "Active is 9, the trace has");
    damage.table(8, |table| table["core_memory_map"][0]["soc"] = "Z80".into(), "soc");
    damage.table(
        9,
        |table| table["table_per_block"][0]["table_detail"][0]["size"][1] = 9.into(),
        "another length",
    );
    damage.table(
        12,
        |table| drop(table.as_object_mut().unwrap().remove("op_detail")),
        "null where a list is needed",
    );

    // Files of a core.
    let core = "core0.veccore0/trace.json";
    damage.text(core, r#""schemaVersion":1"#, r#""schemaVersion":2"#, "schemaVersion is 2");
    damage.text(core, r#""dur":0."#, r#""dur":5."#, "overlap");
    damage.text(core, r#""ph":"s""#, r#""ph":"t""#, "twice");
    damage.text(core, r#""sort_index":70"#, r#""sort_index":71"#, "process_sort_index of process 70");
    let instr = format!("core0.veccore0/core0.veccore0_instr_exe_{STAMP}.csv");
    damage.text(&instr, "instr,addr", "instr,address", "the header is");
    damage.text(&instr, ",MTE2,1,", ",MTE2,2,", "2 calls, the trace has 1 slices");
    damage.text(&instr, ",VECTOR,", ",CUBE,", "its slices are on VECTOR");
    damage.text(&instr, "\"Src", "Src", "without quotes");
    let code = format!("core0.veccore0/core0.veccore0_code_exe_{STAMP}.csv");
    let text = fs::read_to_string(damage.path(&code)).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let swapped = [&[lines[0]], &lines[2..], &[lines[1]]].concat().join("\n");
    damage.bytes(&code, swapped.as_bytes(), "not ordered by cycles");
    damage.bytes(&code, lines[..lines.len() - 1].join("\n").as_bytes(), "has no row");

    // Perfetto.
    damage.text("perfetto.json", r#""dur":0."#, r#""dur":5."#, "SCALAR of core0.veccore0 has 1 slices of 5");
    damage.text("perfetto.json", r#""ph":"f""#, r#""ph":"s""#, "bound to no slice");
    damage.text("perfetto.json", r#""name":"MTE3""#, r#""name":"MTE1""#, "MTE3 of core0.veccore0 is missing");
    let native = "perfetto.pftrace";
    let good = fs::read(damage.path(native)).unwrap();
    damage.bytes(native, &good[..good.len() - 1], "are announced");
    damage.bytes(native, &good[..good.len() - length_of_last(&good)], "never ends");
    damage.bytes(native, &good[first_packet(&good)..], "has no parent");
    let mut renamed = good.clone();
    // The name of a track: field 2, four bytes.
    let at = renamed.windows(6).position(|window| window == b"\x12\x04MTE3").unwrap();
    renamed[at + 5] = b'1';
    damage.bytes(native, &renamed, "MTE3 of core0.veccore0 is missing");

    damage.was_noticed();

    // Files that are missing, foreign or open to everyone.
    let second = damage.path(&format!("core0.veccore0/core0.veccore0_instr_exe_{}.csv", "1".repeat(17)));
    fs::write(&second, "").unwrap();
    assert!(with_causes(&check(damage.dir.path()).unwrap_err()).contains("2 files *_instr_exe_*.csv"));
    fs::remove_file(second).unwrap();
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(damage.path(trace), fs::Permissions::from_mode(0o666)).unwrap();
    assert!(with_causes(&check(damage.dir.path()).unwrap_err()).contains("everyone may write"));
    fs::remove_file(damage.path(trace)).unwrap();
    assert!(with_causes(&check(damage.dir.path()).unwrap_err()).starts_with("cannot read "));
}

/// Bytes of the first packet of a native trace.
fn first_packet(bytes: &[u8]) -> usize {
    // Tag, one byte of length: the packet names a core.
    2 + usize::from(bytes[1])
}

fn length_of_last(bytes: &[u8]) -> usize {
    let (mut at, mut last) = (0, 0);
    while at < bytes.len() {
        let (mut length, mut shift, mut head) = (0usize, 0, 1);
        loop {
            let byte = bytes[at + head];
            length |= usize::from(byte & 0x7F) << shift;
            (shift, head) = (shift + 7, head + 1);
            if byte < 0x80 {
                break;
            }
        }
        last = head + length;
        at += last;
    }
    last
}
