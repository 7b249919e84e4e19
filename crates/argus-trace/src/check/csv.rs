//! The two tables of a core.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

use crate::check::broken::rule;
use crate::check::trace::{TraceFacts, check_code};
use crate::check::{Broken, FilePlace, Rule};

/// The header, then the rows as fields. The last field may be quoted and hold commas.
fn rows(reader: impl BufRead, header: &str, quoted: bool, mut row: impl FnMut(&[&str]) -> Rule<u64>) -> Rule {
    let columns = header.split(',').count();
    let mut last = u64::MAX;
    for (index, line) in reader.lines().enumerate() {
        let line = line?;
        if index == 0 {
            if line != header {
                return Err(rule!("the header is {line}"));
            }
            continue;
        }
        let fields: Vec<&str> = line.splitn(columns, ',').collect();
        let wrong = |broken: Broken| broken.at(FilePlace::Line(index + 1));
        if fields.len() != columns {
            return Err(wrong(rule!("{} fields instead of {columns}", fields.len())));
        }
        if quoted {
            let detail = fields[columns - 1];
            let inner = detail.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            if inner.is_none_or(|inner| inner.contains('"')) {
                return Err(wrong(rule!("operands without quotes: {detail}")));
            }
        }
        let cycles = row(&fields).map_err(wrong)?;
        if cycles > last {
            return Err(wrong("rows are not ordered by cycles".into()));
        }
        last = cycles;
    }
    if last == u64::MAX { Err("there are no rows".into()) } else { Ok(()) }
}

fn number(text: &str) -> Rule<u64> {
    text.parse().map_err(|_| rule!("{text} is not a number"))
}

/// Two decimals, printed with six.
fn check_time(text: &str, us: f64) -> Rule {
    let time: f64 = text.parse().map_err(|_| rule!("{text} is not a time"))?;
    let form =
        text.split_once('.').is_some_and(|(_, decimals)| decimals.len() == 6 && decimals.ends_with("0000"));
    if form && (time - us).abs() <= 0.0051 {
        Ok(())
    } else {
        Err(rule!("a time of {text} us instead of {us:.2}"))
    }
}

pub(super) fn instr_exe(reader: impl BufRead, core: &str, seen: &TraceFacts) -> Rule {
    let mut left: BTreeMap<u64, _> = seen
        .addresses
        .iter()
        .filter(|((of, _), _)| of == core)
        .map(|((_, address), sums)| (*address, sums))
        .collect();
    rows(reader, "instr,addr,pipe,call_count,cycles,running_time(us),detail", true, |fields| {
        let address = number(fields[1])?;
        let sums =
            left.remove(&address).ok_or_else(|| rule!("address {address} is in no slice, or twice"))?;
        if fields[0].is_empty() || fields[2] != sums.track {
            return Err(rule!("{} on {}, its slices are on {}", fields[0], fields[2], sums.track));
        }
        if number(fields[3])? != sums.slices {
            return Err(rule!("{} calls, the trace has {} slices", fields[3], sums.slices));
        }
        let cycles = number(fields[4])?;
        let expected = sums.ps as f64 * seen.mhz / 1e6;
        if (cycles as f64 - expected).abs() > 0.5 + sums.slices as f64 * seen.mhz / 1e6 {
            return Err(rule!("{cycles} cycles, the trace has {expected:.1}"));
        }
        check_time(fields[5], sums.ps as f64 / 1e6)?;
        Ok(cycles)
    })?;
    match left.keys().next() {
        Some(address) => Err(rule!("address {address} has no row")),
        None => Ok(()),
    }
}

pub(super) fn code_exe(reader: impl BufRead, core: &str, seen: &TraceFacts) -> Rule {
    let mut left: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (_, sums) in seen.addresses.iter().filter(|((of, _), _)| of == core) {
        let line = left.entry(&sums.code).or_default();
        line.0 += sums.slices;
        line.1 += sums.ps;
    }
    let mut done = BTreeSet::new();
    rows(reader, "code,call_count,cycles,running_time(us)", false, |fields| {
        check_code(fields[0])?;
        let (slices, ps) =
            left.remove(fields[0]).ok_or_else(|| rule!("{} is in no slice, or twice", fields[0]))?;
        done.insert(fields[0].to_owned());
        if number(fields[1])? != slices {
            return Err(rule!("{} calls, the trace has {slices} slices", fields[1]));
        }
        let cycles = number(fields[2])?;
        let expected = ps as f64 * seen.mhz / 1e6;
        if (cycles as f64 - expected).abs() > 0.5 + slices as f64 * seen.mhz / 1e6 {
            return Err(rule!("{cycles} cycles, the trace has {expected:.1}"));
        }
        // Tracks run side by side, so a line may take less time than its instructions together.
        let time: f64 = fields[3].parse().map_err(|_| rule!("{} is not a time", fields[3]))?;
        check_time(fields[3], time.min(ps as f64 / 1e6))?;
        Ok(cycles)
    })?;
    match left.keys().next() {
        Some(code) => Err(rule!("{code} has no row")),
        None => Ok(()),
    }
}
