//! The blocks behind the details view, against the events: what each view of MindStudio Insight needs to show the truth.

use std::collections::{BTreeMap, BTreeSet};

use argus_chip::{CHIPS, MemoryMap};
use serde_json::Value;

use crate::check::bin::Blocks;
use crate::check::broken::rule;
use crate::check::tables::{list, text};
use crate::check::trace::{Moved, TraceFacts};
use crate::check::{Broken, FilePlace, Rule};

/// Numbers that are written with few decimals, or summed from rounded times.
const SLACK: f64 = 1e-3;

pub(super) fn check(blocks: &Blocks, seen: &TraceFacts) -> Rule {
    type Check = fn(&Value, &Task<'_>) -> Rule;
    let task = Task::new(seen);
    let checks: [(u8, Check); 8] = [
        (5, base_info),
        (6, load_graph),
        (7, load_table),
        (8, memory_graph),
        (9, memory_tables),
        (12, inter_core),
        (13, roofline),
        (15, stall_reasons),
    ];
    for (kind, check) in checks {
        // Which blocks must be there was checked when they were read.
        let Ok(table) = blocks.table(kind) else { continue };
        check(table, &task).map_err(|broken| broken.at(FilePlace::Details(kind)))?;
    }
    let [base, cores] = [5, 12].map(|kind| blocks.table(kind).map(|table| &table["soc"]));
    if base? != cores? {
        return Err("blocks 5 and 12 name different chips".into());
    }
    Ok(())
}

/// The cores of the task, as the events have them.
struct Task<'a> {
    seen: &'a TraceFacts,
    /// The kinds of cores of each block: `cubecore0`, `veccore0`, `veccore1`.
    blocks: BTreeMap<u64, BTreeSet<&'a str>>,
}

impl<'a> Task<'a> {
    fn new(seen: &'a TraceFacts) -> Task<'a> {
        let mut blocks: BTreeMap<u64, BTreeSet<&str>> = BTreeMap::new();
        for core in seen.cores() {
            let (number, kind) = core.trim_start_matches("core").split_once('.').unwrap_or_default();
            blocks.entry(number.parse().unwrap_or(u64::MAX)).or_default().insert(kind);
        }
        Task { seen, blocks }
    }

    fn op_type(&self) -> &'static str {
        op_type(self.blocks.values().flatten())
    }

    fn duration_us(&self) -> f64 {
        self.seen.end_ps() as f64 / 1e6
    }

    /// What a core moved from one memory to another, as operands name them.
    fn moved(&self, core: &str, from: &str, to: &str) -> Moved {
        let key = (core.to_owned(), from.to_owned(), to.to_owned());
        self.seen.moved.get(&key).copied().unwrap_or_default()
    }

    /// Each block of a list once, and all of them.
    fn each_block(&self, entries: &'a [Value], key: &str, see: impl Fn(u64, &Value) -> Rule) -> Rule {
        let mut found = BTreeSet::new();
        for entry in entries {
            let block = entry[key].as_u64().ok_or_else(|| rule!("{key} is {}", entry[key]))?;
            if !found.insert(block) {
                return Err(rule!("block {block} has two entries, and readers show the first"));
            }
            if !self.blocks.contains_key(&block) {
                return Err(rule!("block {block} is not in the trace"));
            }
            see(block, entry)?;
        }
        if found.len() == self.blocks.len() { Ok(()) } else { Err("a block has no entry".into()) }
    }
}

fn op_type<'a>(kinds: impl Iterator<Item = &'a &'a str> + Clone) -> &'static str {
    let has = |prefix: &str| kinds.clone().any(|kind| kind.starts_with(prefix));
    match (has("cube"), has("vec")) {
        (true, true) => "mix",
        (true, false) => "cube",
        _ => "vector",
    }
}

/// The part of a block's entries that one of its cores is: `cube0`, `vector0` or `vector1`.
fn core_of(block: u64, part: &str) -> Rule<String> {
    let kind = match part {
        "cube0" => "cubecore0",
        "vector0" => "veccore0",
        "vector1" => "veccore1",
        other => return Err(rule!("block_type {other}")),
    };
    Ok(format!("core{block}.{kind}"))
}

fn number(value: &Value, what: &str) -> Rule<f64> {
    value.as_f64().ok_or_else(|| rule!("{what} is {value}, which is not a number"))
}

fn same(found: f64, expected: f64, slack: f64, what: &str) -> Rule {
    if (found - expected).abs() <= slack {
        return Ok(());
    }
    Err(rule!("{what} is {found}, the trace has {expected}"))
}

fn unknown(value: &Value, what: &str) -> Rule {
    if value == "NA" { Ok(()) } else { Err(rule!("{what} is {value}, and no cache is modelled")) }
}

fn is(value: &Value, expected: &str, what: &str) -> Rule {
    let found = text(value)?;
    if found == expected { Ok(()) } else { Err(rule!("{what} is {found} instead of {expected}")) }
}

fn full_name(soc: &Value) -> Rule {
    let soc = text(soc)?;
    let short = soc.is_empty() || CHIPS.iter().any(|chip| chip.vendor.insight == soc);
    if short { Err(rule!("soc {soc:?}: idle cores are drawn for full names only")) } else { Ok(()) }
}

fn base_info(info: &Value, task: &Task<'_>) -> Rule {
    full_name(&info["soc"])?;
    is(&info["op_type"], task.op_type(), "op_type")?;
    same(number(&info["block_dim"], "block_dim")?, task.blocks.len() as f64, 0.0, "block_dim")?;
    same(number(&info["duration"], "duration")?, task.duration_us(), 1e-6, "duration")?;
    if list(&info["advice"])?.iter().all(|advice| advice.as_str().is_none_or(str::is_empty)) {
        return Err("it does not say that it is a model".into());
    }
    for key in ["name", "device_id", "pid", "mix_block_dim"] {
        if info[key].is_null() {
            return Err(rule!("{key} is missing"));
        }
    }
    let [detail, other] = match task.op_type() {
        "mix" => ["mix_block_detail", "block_detail"],
        _ => ["block_detail", "mix_block_detail"],
    };
    if info[detail].is_null() || !info[other].is_null() {
        return Err(rule!("the cores of a {} task must be in {detail}", task.op_type()));
    }
    let heads: Vec<&str> = list(&info[detail]["head_name"])?.iter().map(text).collect::<Rule<_>>()?;
    if heads.get(..3) != Some(&["Block ID", "Core Type", "Duration (\u{b5}s)"]) {
        return Err(rule!("its columns are {heads:?}"));
    }
    same(
        list(&info[detail]["row"])?.len() as f64,
        task.seen.cores().count() as f64,
        0.0,
        "the number of rows",
    )?;
    shape(&info[detail])
}

/// A table has as many rows and columns as it says.
fn shape(table: &Value) -> Rule {
    let (size, rows) = (list(&table["size"])?, list(&table["row"])?);
    if size.first().and_then(Value::as_u64) != Some(rows.len() as u64) {
        return Err("a table has another size than it says".into());
    }
    for row in rows {
        if size.get(1).and_then(Value::as_u64) != Some(list(&row["value"])?.len() as u64) {
            return Err("a row has another length than its table says".into());
        }
    }
    Ok(())
}

fn load_graph(load: &Value, task: &Task<'_>) -> Rule {
    let end = task.seen.end_ps().max(1) as f64;
    bars(load, task, 3, |ps| ps / end * 100.0)
}

fn load_table(load: &Value, task: &Task<'_>) -> Rule {
    bars(load, task, 0, |ps| ps / 1e6)
}

/// A bar for the work of each track, and one for its waits; no two of a block have one name.
fn bars(load: &Value, task: &Task<'_>, unit: u64, measure: impl Fn(f64) -> f64) -> Rule {
    list(&load["advice"])?;
    let mut names = BTreeSet::new();
    let (mut active, mut waits) = (0, 0);
    for bar in list(&load["subblock_detail"])? {
        let block = bar["block_id"].as_u64().ok_or_else(|| rule!("block_id {}", bar["block_id"]))?;
        let part = text(&bar["block_type"])?;
        let core = core_of(block, part)?;
        let name = text(&bar["name"])?;
        if !names.insert((block, name)) {
            return Err(rule!("two bars of block {block} are called {name}"));
        }
        if bar["unit"].as_u64() != Some(unit) {
            return Err(rule!("unit {} of {name}", bar["unit"]));
        }
        let (track, kind) = name.split_once(' ').ok_or_else(|| rule!("a bar called {name}"))?;
        let sums = task.seen.tracks.get(&(core.clone(), track.to_owned()));
        let sums = sums.ok_or_else(|| rule!("{core} has no track {track}"))?;
        let (digit, alone) = (kind.trim_start_matches(char::is_alphabetic), task.blocks[&block].len() == 1);
        let wanted = if alone || part == "cube0" { "" } else { &part["vector".len()..] };
        if digit != wanted {
            return Err(rule!("{name} of {core} does not end in {wanted:?}"));
        }
        let ps = match &kind[..kind.len() - digit.len()] {
            "Active" => {
                active += 1;
                sums.busy_ps - sums.wait_ps
            }
            "Wait" => {
                waits += 1;
                sums.wait_ps
            }
            other => return Err(rule!("a bar called {other}")),
        };
        // Each end of a slice is rounded to a picosecond.
        let slack = measure(1.0 + 2.0 * sums.slices as f64);
        same(number(&bar["value"], name)?, measure(ps as f64), slack, name)?;
    }
    let waiting = task.seen.tracks.values().filter(|track| track.wait_ps > 0).count();
    same(active as f64, task.seen.tracks.len() as f64, 0.0, "the number of bars")?;
    same(waits as f64, waiting as f64, 0.0, "the number of bars of waits")
}

/// What the map and the tables of a block are called: readers draw more than one core only for a mix.
fn block_type(kinds: &BTreeSet<&str>) -> &'static str {
    if kinds.len() > 1 { "mix" } else { op_type(kinds.iter()) }
}

/// The arrows of a map: number, core, and the two ends as operands name them; none if operands do not tell.
type Arrows = &'static [(u64, &'static str, Option<(&'static str, &'static str)>)];

/// Arrows that both maps have.
const SHARED: Arrows = &[
    (2, "cubecore0", Some(("OUT", "L1"))),
    (3, "cubecore0", Some(("L1", "OUT"))),
    (12, "veccore0", Some(("OUT", "UB"))),
    (13, "veccore0", Some(("UB", "OUT"))),
    (14, "veccore0", None),
    (15, "veccore0", None),
    (16, "veccore1", Some(("OUT", "UB"))),
    (17, "veccore1", Some(("UB", "OUT"))),
    (18, "veccore1", None),
    (19, "veccore1", None),
];
const PLAIN: Arrows = &[
    (4, "cubecore0", Some(("L1", "L0A"))),
    (5, "cubecore0", Some(("L1", "L0B"))),
    (6, "cubecore0", None),
    (7, "cubecore0", None),
    (8, "cubecore0", None),
    (9, "cubecore0", Some(("L0C", "L1"))),
    (10, "cubecore0", Some(("L0C", "OUT"))),
    (11, "cubecore0", None),
];
const FIXPIPE: Arrows = &[
    (37, "cubecore0", Some(("L1", "L0A"))),
    (38, "cubecore0", Some(("L1", "L0B"))),
    (39, "cubecore0", None),
    (40, "cubecore0", Some(("L0C", "OUT"))),
    (41, "cubecore0", Some(("L0C", "L1"))),
    (42, "cubecore0", None),
    (43, "cubecore0", None),
    (42, "veccore0", None),
    (43, "veccore1", None),
    (44, "veccore0", None),
    (45, "veccore1", None),
    (46, "veccore0", Some(("UB", "L1"))),
    (47, "veccore1", Some(("UB", "L1"))),
];

fn memory_graph(graph: &Value, task: &Task<'_>) -> Rule {
    task.each_block(list(&graph["core_memory_map"])?, "core_no", |block, map| {
        let kinds = &task.blocks[&block];
        is(&map["op_type"], block_type(kinds), "op_type")?;
        for (kind, unit) in [("cubecore0", "Cube"), ("veccore0", "Vector"), ("veccore1", "Vector1")] {
            if kinds.contains(kind) != map[unit].is_object() {
                return Err(rule!("block {block} has {kind}, or says so by {unit}, but not both"));
            }
            if kinds.contains(kind) {
                unit_load(&map[unit], &format!("core{block}.{kind}"), task)?;
            }
        }
        for key in ["hit", "miss", "total_request", "hit_ratio"] {
            unknown(&map["L2cache"][key], key)?;
        }
        let soc = text(&map["soc"])?;
        let chip = CHIPS.iter().find(|chip| chip.vendor.insight == soc);
        let chip = chip.ok_or_else(|| rule!("soc {soc}: there is no map of it"))?;
        let arrows = match chip.vendor.memory_map {
            MemoryMap::Plain => PLAIN,
            MemoryMap::Fixpipe => FIXPIPE,
        };
        let mut drawn = BTreeSet::new();
        for unit in list(&map["memory_unit"])? {
            let path = unit["memory_path"].as_u64().unwrap_or(u64::MAX);
            if !drawn.insert(path) {
                return Err(rule!("arrow {path} of block {block} is there twice"));
            }
            arrow(path, unit, arrows, block, task)?;
        }
        let known = SHARED.iter().chain(arrows).filter(|(_, kind, _)| kinds.contains(kind));
        match known.map(|(path, ..)| path).find(|path| !drawn.contains(path)) {
            Some(path) => Err(rule!("arrow {path} of block {block} has no numbers")),
            None => Ok(()),
        }
    })
}

/// One arrow, whose bandwidth is what went along it in the task's whole time.
fn arrow(path: u64, unit: &Value, arrows: Arrows, block: u64, task: &Task<'_>) -> Rule {
    let mut known = SHARED.iter().chain(arrows).filter(|(number, ..)| *number == path).peekable();
    let Some((_, first, _)) = known.peek() else {
        return Err(rule!("memory_path {path} is not in the map of the chip"));
    };
    let Some((_, kind, ends)) = known.find(|(_, kind, _)| task.blocks[&block].contains(kind)) else {
        return Err(rule!("arrow {path} of block {block} belongs to {first}, which it does not have"));
    };
    let bandwidth = number(&unit["bandwidth"], "bandwidth")?;
    let requests = number(&unit["request"], "request")?;
    if (requests > 0.0) != (unit["display"] == 1) {
        return Err(rule!("arrow {path} has {requests} requests and display {}", unit["display"]));
    }
    if let Some((from, to)) = ends {
        let moved = task.moved(&format!("core{block}.{kind}"), from, to);
        let what = format!("bandwidth of arrow {path}");
        let gib_s = moved.bytes as f64 / (task.duration_us().max(1e-6) / 1e6) / f64::from(1 << 30);
        same(bandwidth, gib_s, gib_s * SLACK, &what)?;
        same(requests, moved.requests as f64, 0.0, &format!("requests of arrow {path}"))?;
        let ratio = number(&unit["peak_ratio"], "peak_ratio")?;
        if !(0.0..=100.0 + SLACK).contains(&ratio) || (ratio > 0.0) != (moved.bytes > 0) {
            return Err(rule!("arrow {path} uses {ratio} % of its peak"));
        }
    }
    Ok(())
}

fn unit_load(load: &Value, core: &str, task: &Task<'_>) -> Rule {
    let tracks: &[&str] = if core.ends_with("cubecore0") { &["CUBE"] } else { &["VECTOR", "PUSHQ"] };
    let sums = task.seen.lanes_of(core).filter(|(track, _)| tracks.contains(track));
    let (ps, slices) = sums
        .fold((0, 0), |(ps, slices), (_, track)| (ps + track.busy_ps - track.wait_ps, slices + track.slices));
    let expected = ps as f64 * task.seen.mhz / 1e6;
    let slack = 0.5 + slices as f64 * task.seen.mhz / 1e6;
    same(number(&load["cycle"], "cycle")?, expected, slack, "the work of a unit in cycles")
}

fn memory_tables(tables: &Value, task: &Task<'_>) -> Rule {
    task.each_block(list(&tables["table_per_block"])?, "block_id", |block, entry| {
        is(&entry["table_op_type"], block_type(&task.blocks[&block]), "table_op_type")?;
        let mut names = BTreeSet::new();
        for table in list(&entry["table_detail"])? {
            let name = text(&table["table_name"])?;
            if !["L0A/L0B/L0C", "L1", "UB", "HBM", "Pipe"].contains(&name) || !names.insert(name) {
                return Err(rule!("a table called {name}, or two of them"));
            }
            shape(table)?;
            if list(&table["row"])?.is_empty() {
                return Err(rule!("table {name} has no rows"));
            }
            if list(&table["header_name"])?.len() as u64 != table["size"][1].as_u64().unwrap_or(0) + 1 {
                return Err(rule!("table {name} has columns without heading"));
            }
            for row in list(&table["row"])? {
                table_row(name, row, block, task)?;
            }
        }
        if names.contains("Pipe") { Ok(()) } else { Err(rule!("block {block} has no table of its pipes")) }
    })
}

/// A row is `PART PATH` or `PART TRACK`; its second number is bytes or cycles.
fn table_row(table: &str, row: &Value, block: u64, task: &Task<'_>) -> Rule {
    let name = text(&row["name"])?;
    let (part, what) = name.split_once(' ').ok_or_else(|| rule!("a row called {name}"))?;
    let core = core_of(block, part)?;
    let cell = |index: usize| -> Rule<f64> {
        let cell = text(&row["value"][index])?;
        cell.parse().map_err(|_| rule!("{cell} in row {name} is not a number"))
    };
    if table == "Pipe" {
        let sums = task.seen.tracks.get(&(core, what.to_owned()));
        let sums = sums.ok_or_else(|| rule!("row {name} is not a track"))?;
        same(cell(0)?, sums.slices as f64, 0.0, name)?;
        let slack = 0.5 + sums.slices as f64 * task.seen.mhz / 1e6;
        same(cell(1)?, (sums.busy_ps - sums.wait_ps) as f64 * task.seen.mhz / 1e6, slack, name)?;
        return same(cell(2)?, sums.wait_ps as f64 * task.seen.mhz / 1e6, slack, name);
    }
    let (from, to) = what.split_once("_TO_").unwrap_or_default();
    let memory = |name| if name == "GM" { "OUT" } else { name };
    let moved = task.moved(&core, memory(from), memory(to));
    // What a unit reads and writes is not in the operands of a transfer.
    if moved.requests > 0 {
        same(cell(0)?, moved.requests as f64, 0.0, name)?;
        same(cell(1)?, moved.bytes as f64, 0.0, name)?;
    }
    Ok(())
}

fn inter_core(cores: &Value, task: &Task<'_>) -> Rule {
    full_name(&cores["soc"])?;
    is(&cores["op_type"], task.op_type(), "op_type")?;
    text(&cores["advice"])?;
    let details = list(&cores["op_detail"])?;
    let alone = task.op_type() == "vector";
    let (mut ids, mut left) = (BTreeSet::new(), task.seen.cores().collect::<Vec<_>>());
    // In the order of blocks, each with its matrix core first.
    left.sort_by_key(|core| task.seen.sorted_cores.get(*core).copied());
    let mut left = left.into_iter();
    for detail in details {
        if !ids.insert(detail["core_id"].as_u64()) {
            return Err(rule!("core_id {} is there twice", detail["core_id"]));
        }
        let parts = list(&detail["core_detail"])?;
        if parts.is_empty() || (alone && parts.len() != 1) {
            return Err("readers keep one vector core of an entry".into());
        }
        for part in parts {
            let core = left.next().ok_or("more cores than in the trace")?;
            let kind = if core.ends_with("cubecore0") { "cube" } else { "vector" };
            is(&part["subcore_type"], kind, "subcore_type")?;
            unknown(&part["L2cache_hit_rate"], "L2cache_hit_rate")?;
            let global =
                |(of, from, to): &(String, String, String)| of == core && (from == "OUT" || to == "OUT");
            let bytes: u64 =
                (task.seen.moved.iter().filter(|(key, _)| global(key))).map(|(_, moved)| moved.bytes).sum();
            if part["throughput"].as_u64() != Some(bytes) {
                let found = &part["throughput"];
                return Err(rule!(
                    "throughput of {core} is {found} instead of {bytes}, a whole number of bytes"
                ));
            }
        }
    }
    if left.next().is_some() { Err("a core has no entry".into()) } else { Ok(()) }
}

fn roofline(roofline: &Value, _: &Task<'_>) -> Rule {
    text(&roofline["advice"])?;
    let pictures = list(&roofline["multiple_rooflines"])?;
    for picture in pictures {
        let title = text(&picture["title"])?;
        if !["Pipeline(Cube)", "Pipeline(Vector)"].contains(&title) {
            return Err(rule!("a roofline called {title}"));
        }
        for line in list(&picture["rooflines"])? {
            for key in ["bw_name", "computility_name"] {
                text(&line[key])?;
            }
            let [bandwidth, roof] =
                [number(&line["bw"], "bw")?, number(&line["computility"], "computility")?];
            let [Some(intensity), Some(performance)] = [0, 1].map(|index| line["point"][index].as_f64())
            else {
                return Err(rule!("a point at {}", line["point"]));
            };
            let ceiling = roof.min(bandwidth * intensity);
            if !(performance > 0.0 && performance <= ceiling * (1.0 + SLACK)) {
                return Err(rule!("{performance} is not below the roof of {ceiling}"));
            }
            let percent = performance / ceiling * 100.0;
            same(number(&line["ratio"], "ratio")?, percent, percent * SLACK, "ratio")?;
        }
    }
    if pictures.is_empty() { Err("there are no rooflines".into()) } else { Ok(()) }
}

/// All waits, by what they wait for.
fn stall_reasons(reasons: &Value, task: &Task<'_>) -> Rule {
    let table = reasons["top_stall_reason_table"].as_object().ok_or("no table of reasons")?;
    let mut sum = 0.0;
    for (name, cycles) in table {
        let cycles = cycles.as_u64().filter(|&cycles| cycles <= i32::MAX as u64);
        sum += cycles.ok_or_else(|| Broken::from("a count that readers show as 0"))? as f64;
        if name.is_empty() {
            return Err("a reason without name".into());
        }
    }
    let tracks = task.seen.tracks.values();
    let (ps, slices) = tracks.fold((0, 0), |(ps, slices), track| (ps + track.wait_ps, slices + track.slices));
    let slack = 0.5 + slices as f64 * task.seen.mhz / 1e6;
    if table.values().any(|cycles| cycles == i32::MAX) {
        return Ok(());
    }
    same(sum, ps as f64 * task.seen.mhz / 1e6, slack, "the sum of all waits in cycles")
}
