//! The tables of `visualize_data.bin`, column by column, against the events and the sources.

use std::collections::{BTreeMap, BTreeSet};

use argus_chip::CHIPS;
use serde_json::Value;

use crate::check::bin::Blocks;
use crate::check::broken::rule;
use crate::check::trace::{TraceFacts, check_code, parse_hex};
use crate::check::{Broken, FilePlace, Rule};

const COLUMNS: &[(&str, u64)] = &[
    ("Address", 3),
    ("AscendC Inner Code", 3),
    ("Source", 3),
    ("Pipe", 3),
    ("Instructions Executed", 1),
    ("Cycles", 1),
    ("GPR Count", 1),
    ("Process Bytes", 1),
    ("Vector Utilization Percentage", 4),
    ("UB Read Conflict", 1),
    ("UB Write Conflict", 1),
];
const LINE_COLUMNS: &[(&str, u64)] = &[
    ("Address Range", 0),
    ("Cycles", 1),
    ("Instructions Executed", 1),
    ("Line", 1),
    ("GPR Count", 1),
    ("Process Bytes", 1),
];
/// Where writers stop counting.
const FULL: i64 = i32::MAX as i64;

pub(super) fn check(blocks: &Blocks, seen: &TraceFacts) -> Rule {
    let lines: BTreeMap<&str, usize> =
        blocks.sources.iter().map(|(path, text)| (path.as_str(), text.lines().count())).collect();
    if lines.len() != blocks.sources.len() {
        return Err("a source appears twice".into());
    }
    let instrs = blocks.table(4)?;
    let rows =
        instructions(instrs, seen, &lines).map_err(|broken| broken.at(FilePlace::Table("API_INSTR")))?;
    files(blocks.table(3)?, &rows, &lines).map_err(|broken| broken.at(FilePlace::Table("API_FILE")))?;
    details(blocks, seen)
}

/// A row of the instruction table.
struct Row {
    address: u64,
    code: String,
    numbers: BTreeMap<&'static str, Vec<i64>>,
}

fn instructions(table: &Value, seen: &TraceFacts, lines: &BTreeMap<&str, usize>) -> Rule<Vec<Row>> {
    let cores = names(&table["Cores"])?;
    let same: BTreeSet<&str> = seen.cores().collect();
    if cores.iter().copied().collect::<BTreeSet<_>>() != same || cores.len() != same.len() {
        return Err("its cores are not those of the trace".into());
    }
    check_types(&table["Instructions Dtype"]["Instructions"], COLUMNS)?;
    let mut rows: Vec<Row> = Vec::new();
    let mut cycles_by_track: BTreeMap<(&str, String), i64> = BTreeMap::new();
    for value in list(&table["Instructions"])? {
        let row = row(value, cores.len())?;
        let wrong = |broken: Broken| broken.at(FilePlace::Address(row.address));
        if rows.last().is_some_and(|last| last.address >= row.address) {
            return Err(wrong("rows are not in order".into()));
        }
        let pipe = text(&value["Pipe"])?;
        if text(&value["Source"])?.is_empty() {
            return Err(wrong("no instruction text".into()));
        }
        if !row.code.is_empty() {
            let (path, line) = check_code(&row.code).map_err(wrong)?;
            if lines.get(path).is_none_or(|&lines| line as usize > lines) {
                return Err(wrong(rule!("{} is in no source", row.code)));
            }
        }
        for (index, &core) in cores.iter().enumerate() {
            let none = Default::default();
            let address = seen.addresses.get(&(core.to_owned(), row.address)).unwrap_or(&none);
            let number = |name: &str| row.numbers[name][index];
            if address.slices > 0 && address.track != pipe {
                return Err(wrong(rule!("it is on {pipe}, its slices on {}", address.track)));
            }
            if address.slices > 0 && !row.code.is_empty() && address.code != row.code {
                return Err(wrong(rule!("it is at {}, its slices at {}", row.code, address.code)));
            }
            check_sum(number("Instructions Executed"), address.slices as f64, 0.0, "slices")
                .map_err(wrong)?;
            check_sum(number("Process Bytes"), address.bytes as f64, 0.0, "bytes").map_err(wrong)?;
            // Each end is rounded to a picosecond.
            let slack = 0.5 + address.slices as f64 * seen.mhz / 1e6;
            let cycles = address.ps as f64 * seen.mhz / 1e6;
            check_sum(number("Cycles"), cycles, slack, "cycles").map_err(wrong)?;
            *cycles_by_track.entry((core, pipe.to_owned())).or_default() += number("Cycles");
        }
        rows.push(row);
    }
    let known: BTreeSet<u64> = rows.iter().map(|row| row.address).collect();
    if let Some(((core, pc), _)) = seen.addresses.iter().find(|((_, pc), _)| !known.contains(pc)) {
        return Err(rule!("address {pc:#x} of a slice on {core} has no row"));
    }
    let full = rows.iter().any(|row| row.numbers["Cycles"].contains(&FULL));
    for ((core, track), sums) in seen.tracks.iter().filter(|_| !full) {
        let cycles = *cycles_by_track.get(&(core.as_str(), track.clone())).unwrap_or(&0);
        let busy = sums.busy_ps as f64 * seen.mhz / 1e6;
        if (cycles as f64 - busy).abs() > 0.5 + sums.slices as f64 * seen.mhz / 1e6 {
            return Err(rule!("{cycles} cycles on {track} of {core}, but its slices last {busy:.1}"));
        }
    }
    Ok(rows)
}

fn check_sum(found: i64, expected: f64, slack: f64, what: &str) -> Rule {
    let saturated = found == FULL && expected >= FULL as f64 - slack;
    if saturated || (found as f64 - expected).abs() <= slack {
        return Ok(());
    }
    Err(rule!("{found} {what}, but the trace has {expected:.1}"))
}

fn row(value: &Value, cores: usize) -> Rule<Row> {
    let object = value.as_object().ok_or("a row is not an object")?;
    if object.len() != COLUMNS.len() {
        return Err(rule!("a row of {} columns", object.len()));
    }
    let mut numbers = BTreeMap::new();
    for &(column, kind) in COLUMNS {
        let cell = object.get(column).ok_or_else(|| rule!("column {column} is missing"))?;
        match kind {
            1 => drop(numbers.insert(column, ints(cell, cores)?)),
            4 => percentages(cell, cores)?,
            _ => drop(text(cell)?),
        }
    }
    let address = parse_hex(text(&object["Address"])?)?;
    Ok(Row { address, code: text(&object["AscendC Inner Code"])?.to_owned(), numbers })
}

fn files(table: &Value, rows: &[Row], lines: &BTreeMap<&str, usize>) -> Rule {
    let cores = names(&table["Cores"])?.len();
    check_types(&table["Files Dtype"]["Lines"], LINE_COLUMNS)?;
    let mut mapped = 0;
    for file in list(&table["Files"])? {
        let path = text(&file["Source"])?;
        let &length = lines.get(path).ok_or_else(|| rule!("{path} has no source block"))?;
        let mut last = 0;
        for line in list(&file["Lines"])? {
            let number = line["Line"].as_u64().ok_or("a line without number")?;
            let wrong = |broken: Broken| broken.at(FilePlace::Source { path: path.to_owned(), line: number });
            if number <= last || number as usize > length {
                return Err(wrong(rule!("out of order, or behind the last line {length}")));
            }
            last = number;
            let code = format!("{path}:{number}");
            let of_line: Vec<&Row> = rows.iter().filter(|row| row.code == code).collect();
            mapped += of_line.len();
            for column in ["Cycles", "Instructions Executed", "Process Bytes"] {
                let sums = ints(&line[column], cores).map_err(wrong)?;
                for (core, &sum) in sums.iter().enumerate() {
                    let expected: i64 = of_line.iter().map(|row| row.numbers[column][core]).sum();
                    if sum != expected.min(FULL) {
                        return Err(wrong(rule!("{sum} {column}, its instructions have {expected}")));
                    }
                }
            }
            ints(&line["GPR Count"], cores).map_err(wrong)?;
            let mut covered = BTreeSet::new();
            for range in list(&line["Address Range"])? {
                let [start, end] = &list(range)?[..] else {
                    return Err(wrong("a range without two ends".into()));
                };
                let (start, end) = (parse_hex(text(start)?)?, parse_hex(text(end)?)?);
                if start > end || end - start > 1 << 32 {
                    return Err(wrong(rule!("range {start:#x} to {end:#x}")));
                }
                covered.extend((start..=end).step_by(4));
            }
            if !of_line.iter().map(|row| row.address).eq(covered) {
                return Err(wrong("its ranges are not the addresses of its instructions".into()));
            }
        }
    }
    let with_line = rows.iter().filter(|row| !row.code.is_empty()).count();
    if mapped != with_line {
        return Err(rule!("{with_line} instructions have a line, {mapped} are found by line"));
    }
    Ok(())
}

fn details(blocks: &Blocks, seen: &TraceFacts) -> Rule {
    let need: &[(u8, &[&str])] = &[
        (
            5,
            &[
                "name",
                "soc",
                "op_type",
                "block_dim",
                "duration",
                "device_id",
                "pid",
                "advice",
                "block_detail",
            ],
        ),
        (6, &["advice", "subblock_detail"]),
        (7, &["advice", "subblock_detail"]),
        (8, &["core_memory_map"]),
        (9, &["table_per_block"]),
        (12, &["soc", "op_type", "advice", "op_detail"]),
    ];
    for (kind, keys) in need {
        let table = blocks.table(*kind)?;
        for key in *keys {
            if table.get(key).is_none_or(Value::is_null) {
                return Err(rule!("block {kind}: {key} is missing"));
            }
        }
    }
    let base = blocks.table(5)?;
    if !["cube", "vector", "mix"].contains(&text(&base["op_type"])?) {
        return Err(rule!("block 5: op_type {}", base["op_type"]));
    }
    let duration = base["duration"].as_f64().ok_or("block 5: duration is not a number")?;
    if (duration * 1e6 - seen.end_ps() as f64).abs() > 1.0 {
        return Err(rule!("block 5: it lasts {duration} us, the trace {} ps", seen.end_ps()));
    }
    if list(&base["advice"])?.iter().all(|advice| advice.as_str().is_none_or(str::is_empty)) {
        return Err("block 5: it does not say that it is a model".into());
    }
    let shape = |table: &Value, rows: &Value| -> Rule {
        let (size, rows) = (list(&table["size"])?, list(rows)?);
        if size.first().and_then(Value::as_u64) != Some(rows.len() as u64) {
            return Err("a table has another size than it says".into());
        }
        for row in rows {
            if size.get(1).and_then(Value::as_u64) != Some(list(&row["value"])?.len() as u64) {
                return Err("a row has another length than its table says".into());
            }
        }
        Ok(())
    };
    shape(&base["block_detail"], &base["block_detail"]["row"])
        .map_err(|broken| broken.at(FilePlace::Details(5)))?;
    for block in list(&blocks.table(9)?["table_per_block"])? {
        for table in list(&block["table_detail"])? {
            shape(table, &table["row"]).map_err(|broken| broken.at(FilePlace::Details(9)))?;
        }
    }
    // The bars are the busy times of the tracks.
    let mut bars = 0;
    for bar in list(&blocks.table(7)?["subblock_detail"])? {
        let kind = match text(&bar["block_type"])? {
            "cube0" => "cubecore0",
            "vector0" => "veccore0",
            "vector1" => "veccore1",
            other => return Err(rule!("block 7: block_type {other}")),
        };
        let core = format!("core{}.{kind}", bar["block_id"]);
        let track = text(&bar["name"])?.to_owned();
        let sums = seen.tracks.get(&(core.clone(), track.clone()));
        let sums = sums.ok_or_else(|| rule!("block 7: {core} has no track {track}"))?;
        let value = bar["value"].as_f64().ok_or("block 7: a value is not a number")?;
        if (value * 1e6 - sums.busy_ps as f64).abs() > 1.0 + sums.slices as f64 {
            return Err(rule!(
                "block 7: {track} of {core} is busy {value} us, its slices {} ps",
                sums.busy_ps
            ));
        }
        bars += 1;
    }
    if bars != seen.tracks.len() {
        return Err(rule!("block 7: {bars} bars for {} tracks", seen.tracks.len()));
    }
    let soc = text(&blocks.table(12)?["soc"])?;
    for map in list(&blocks.table(8)?["core_memory_map"])? {
        let known = CHIPS.iter().any(|chip| chip.vendor.insight == soc);
        if text(&map["soc"])? != soc || !known {
            return Err(rule!("block 8: soc {}", map["soc"]));
        }
        for arrow in list(&map["memory_unit"])? {
            if arrow["memory_path"].as_u64().is_none_or(|path| path > 55) {
                return Err(rule!("block 8: memory_path {}", arrow["memory_path"]));
            }
        }
    }
    Ok(())
}

fn check_types(types: &Value, columns: &[(&str, u64)]) -> Rule {
    let types = types.as_object().ok_or("no table of column types")?;
    for (column, kind) in columns {
        if types.get(*column).and_then(Value::as_u64) != Some(*kind) {
            return Err(rule!("column {column} is not declared as type {kind}"));
        }
    }
    if types.len() == columns.len() { Ok(()) } else { Err("columns are declared that are unknown".into()) }
}

fn list(value: &Value) -> Rule<&Vec<Value>> {
    value.as_array().ok_or_else(|| rule!("{} where a list is needed", short(value)))
}

fn text(value: &Value) -> Rule<&str> {
    value.as_str().ok_or_else(|| rule!("{} where a text is needed", short(value)))
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(40).collect()
}

fn names(value: &Value) -> Rule<Vec<&str>> {
    list(value)?.iter().map(text).collect()
}

/// Integers that fit 32 bits, one for each core. Anything else is shown as 0.
fn ints(value: &Value, cores: usize) -> Rule<Vec<i64>> {
    let cells = list(value)?;
    if cells.len() != cores {
        return Err(rule!("{} numbers for {cores} cores", cells.len()));
    }
    let int = |cell: &Value| {
        let number = cell.as_i64().filter(|number| (-1..=FULL).contains(number));
        number.ok_or_else(|| rule!("{cell} is shown as 0"))
    };
    cells.iter().map(int).collect()
}

/// Numbers with a decimal point, one for each core.
fn percentages(value: &Value, cores: usize) -> Rule {
    let cells = list(value)?;
    if cells.len() != cores {
        return Err(rule!("{} percentages for {cores} cores", cells.len()));
    }
    match cells.iter().find(|cell| !cell.is_f64()) {
        Some(cell) => Err(rule!("{cell} is shown as 0")),
        None => Ok(()),
    }
}
