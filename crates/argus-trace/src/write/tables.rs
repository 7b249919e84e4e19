//! The tables behind the source view: API_FILE by line, API_INSTR by address.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::detail::source_text;
use crate::machine::Track;
use crate::site::INSTRUCTION_BYTES;
use crate::timeline::Timeline;
use crate::write::Sources;
use crate::write::totals::{SiteTotal, Totals};

/// How a column is shown.
const HIDDEN: u32 = 0;
const INT: u32 = 1;
const TEXT: u32 = 3;
const PERCENT: u32 = 4;
/// Shown as "NA": the model does not know.
const UNKNOWN: i64 = -1;

/// Readers keep 32 bits.
fn int(value: u64) -> i64 {
    value.min(i32::MAX as u64) as i64
}

/// Bytes for each core, as "NA" where none were moved.
fn bytes_per_core(totals: &[SiteTotal]) -> Value {
    let cell = |total: &SiteTotal| if total.bytes == 0 { UNKNOWN } else { int(total.bytes) };
    totals.iter().map(cell).collect::<Vec<_>>().into()
}

/// How full the steps of the vector unit are, as "NA" for what it does not run.
fn utilization(totals: &[SiteTotal], track: Track) -> Value {
    let vector = matches!(track, Track::Vector | Track::RvecEx | Track::RvecLd | Track::RvecSt);
    let cell = |total: &SiteTotal| match total.capacity {
        capacity if vector && capacity > 0 => total.useful as f64 / capacity as f64 * 100.0,
        _ => UNKNOWN as f64,
    };
    totals.iter().map(cell).collect::<Vec<_>>().into()
}

/// One number for each core.
fn per_core(totals: &[SiteTotal], value: impl Fn(&SiteTotal) -> u64) -> Value {
    totals.iter().map(|total| int(value(total))).collect::<Vec<_>>().into()
}

fn sums<'a>(totals: &Totals, sites: impl Iterator<Item = &'a usize> + Clone) -> Vec<SiteTotal> {
    totals
        .sites
        .iter()
        .map(|core| {
            sites.clone().fold(SiteTotal::default(), |sum, &site| SiteTotal {
                calls: sum.calls + core[site].calls,
                cycles: sum.cycles + core[site].cycles,
                bytes: sum.bytes + core[site].bytes,
                useful: sum.useful + core[site].useful,
                capacity: sum.capacity + core[site].capacity,
            })
        })
        .collect()
}

fn core_names<'a>(timeline: &'a Timeline<'_>) -> Vec<&'a str> {
    timeline.cores.iter().map(|core| core.name.as_str()).collect()
}

/// The table of source lines. Only files whose text is there.
pub(crate) fn api_file(timeline: &Timeline<'_>, totals: &Totals, sources: &Sources) -> Value {
    let mut files: BTreeMap<&str, BTreeMap<u32, Vec<usize>>> = BTreeMap::new();
    for (number, site) in timeline.sites.iter().enumerate() {
        let path = timeline.files[site.file as usize].as_str();
        if sources.has_line(path, site.line) {
            files.entry(path).or_default().entry(site.line).or_default().push(number);
        }
    }
    let cores = timeline.cores.len();
    let files: Vec<Value> = files
        .into_iter()
        .map(|(path, lines)| {
            let lines: Vec<Value> = lines
                .into_iter()
                .map(|(line, sites)| {
                    let totals = sums(totals, sites.iter());
                    json!({
                        "Line": line,
                        "Cycles": per_core(&totals, |total| total.cycles),
                        "Instructions Executed": per_core(&totals, |total| total.calls),
                        "GPR Count": vec![UNKNOWN; cores],
                        "Process Bytes": bytes_per_core(&totals),
                        "Address Range": ranges(timeline, &sites),
                    })
                })
                .collect();
            json!({ "Source": path, "Lines": lines })
        })
        .collect();
    json!({
        "Cores": core_names(timeline),
        "Files Dtype": { "Lines": {
            "Address Range": HIDDEN,
            "Cycles": INT,
            "Instructions Executed": INT,
            "Line": INT,
            "GPR Count": INT,
            "Process Bytes": INT,
        } },
        "Files": files,
    })
}

/// Addresses that follow each other are one range; both ends belong to it.
fn ranges(timeline: &Timeline<'_>, sites: &[usize]) -> Vec<[String; 2]> {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for &site in sites {
        let addr = timeline.sites[site].addr;
        match ranges.last_mut() {
            Some(last) if last.1 + INSTRUCTION_BYTES == addr => last.1 = addr,
            _ => ranges.push((addr, addr)),
        }
    }
    ranges.into_iter().map(|(start, end)| [format!("{start:#x}"), format!("{end:#x}")]).collect()
}

/// The table of addresses.
pub(crate) fn api_instr(timeline: &Timeline<'_>, totals: &Totals, sources: &Sources) -> Value {
    let cores = timeline.cores.len();
    let rows: Vec<Value> = timeline
        .sites
        .iter()
        .enumerate()
        .map(|(number, site)| {
            let path = timeline.files[site.file as usize].as_str();
            let totals = sums(totals, [number].iter());
            let (core, index) = site.example;
            let example = &timeline.cores[core as usize].instrs[index as usize];
            let code = if sources.has_line(path, site.line) {
                format!("{path}:{}", site.line)
            } else {
                String::new()
            };
            json!({
                "Address": format!("{:#x}", site.addr),
                "AscendC Inner Code": code,
                "Source": source_text(timeline, core as usize, example),
                "Pipe": site.track.name(),
                "Instructions Executed": per_core(&totals, |total| total.calls),
                "Cycles": per_core(&totals, |total| total.cycles),
                "GPR Count": vec![UNKNOWN; cores],
                "Process Bytes": bytes_per_core(&totals),
                "Vector Utilization Percentage": utilization(&totals, site.track),
                "UB Read Conflict": vec![UNKNOWN; cores],
                "UB Write Conflict": vec![UNKNOWN; cores],
            })
        })
        .collect();
    json!({
        "Cores": core_names(timeline),
        "Instructions Dtype": { "Instructions": {
            "Address": TEXT,
            "AscendC Inner Code": TEXT,
            "Source": TEXT,
            "Pipe": TEXT,
            "Instructions Executed": INT,
            "Cycles": INT,
            "GPR Count": INT,
            "Process Bytes": INT,
            "Vector Utilization Percentage": PERCENT,
            "UB Read Conflict": INT,
            "UB Write Conflict": INT,
        } },
        "Instructions": rows,
    })
}
