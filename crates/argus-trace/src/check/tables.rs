//! The tables of `visualize_data.bin`, column by column, against the events and the sources.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::check::bin::Blocks;
use crate::check::broken::rule;
use crate::check::trace::{Address, TraceFacts, check_code, parse_hex};
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
    Ok(())
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
            // Readers show -1 as "NA": nothing was moved.
            let bytes = if address.bytes == 0 { -1.0 } else { address.bytes as f64 };
            check_sum(number("Process Bytes"), bytes, 0.0, "bytes").map_err(wrong)?;
            check_partner(text(&value["Source"])?, address).map_err(wrong)?;
            check_utilization(&value["Vector Utilization Percentage"][index], pipe).map_err(wrong)?;
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

/// A flag names the pipe at its other end.
fn check_partner(source: &str, address: &Address) -> Rule {
    let Some(partner) = &address.partner else { return Ok(()) };
    // Operands spell three pipes otherwise.
    let short = match partner.as_str() {
        "VEC" => "V",
        "CUBE" => "M",
        "FIXP" => "FIX",
        "SCALAR" => "S",
        other => other,
    };
    if source.split(' ').nth(1) == Some(short) {
        return Ok(());
    }
    Err(rule!("{source} does not name the pipe {short} at the other end"))
}

fn check_utilization(cell: &Value, pipe: &str) -> Rule {
    let percent = cell.as_f64().unwrap_or(f64::NAN);
    let vector = matches!(pipe, "VECTOR" | "RVECEX" | "RVECLD" | "RVECST");
    let good = percent == -1.0 || vector && percent > 0.0 && percent <= 100.0;
    if good { Ok(()) } else { Err(rule!("the vector unit is used {percent} % by an instruction on {pipe}")) }
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
                    let known =
                        of_line.iter().map(|row| row.numbers[column][core]).filter(|&number| number >= 0);
                    let expected: i64 = known.sum();
                    let expected = if column == "Process Bytes" && expected == 0 { -1 } else { expected };
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

fn check_types(types: &Value, columns: &[(&str, u64)]) -> Rule {
    let types = types.as_object().ok_or("no table of column types")?;
    for (column, kind) in columns {
        if types.get(*column).and_then(Value::as_u64) != Some(*kind) {
            return Err(rule!("column {column} is not declared as type {kind}"));
        }
    }
    if types.len() == columns.len() { Ok(()) } else { Err("columns are declared that are unknown".into()) }
}

pub(super) fn list(value: &Value) -> Rule<&Vec<Value>> {
    value.as_array().ok_or_else(|| rule!("{} where a list is needed", short(value)))
}

pub(super) fn text(value: &Value) -> Rule<&str> {
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
