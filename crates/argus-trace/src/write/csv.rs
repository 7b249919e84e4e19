//! `*_instr_exe_*.csv`, one row for each address, and `*_code_exe_*.csv`, one for each source line.

use std::fmt::Write;

use crate::detail::push_detail;
use crate::text::Ticks;
use crate::timeline::Timeline;
use crate::write::totals::{Totals, lines};

/// Microseconds with two decimals, printed with six.
fn running_time(ticks: Ticks, cycles: u64) -> String {
    let hundredths = (ticks.us(cycles) * 100.0).round() / 100.0;
    format!("{hundredths:.6}")
}

pub(crate) fn instr_exe(timeline: &Timeline<'_>, totals: &Totals, core: usize) -> String {
    let mut text = String::from("instr,addr,pipe,call_count,cycles,running_time(us),detail\n");
    let mut rows: Vec<usize> =
        (0..timeline.sites.len()).filter(|&site| totals.sites[core][site].calls > 0).collect();
    rows.sort_by_key(|&site| (std::cmp::Reverse(totals.sites[core][site].cycles), site));
    // The first instruction on this core at each address.
    let mut examples = vec![None; timeline.sites.len()];
    for instr in timeline.cores[core].instrs.iter().rev() {
        examples[instr.site as usize] = Some(instr);
    }
    for site in rows {
        let (total, place) = (totals.sites[core][site], &timeline.sites[site]);
        let mut detail = Vec::new();
        if let Some(example) = examples[site] {
            push_detail(&mut detail, timeline, core, example);
        }
        // Instructions of one address lie on one track, so their times add up without overlap.
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},\"{}\"",
            place.mnemonic.name(),
            place.addr,
            place.track.name(),
            total.calls,
            total.cycles,
            running_time(timeline.ticks(), total.cycles),
            String::from_utf8_lossy(&detail),
        );
    }
    text
}

pub(crate) fn code_exe(timeline: &Timeline<'_>, core: usize) -> String {
    let mut text = String::from("code,call_count,cycles,running_time(us)\n");
    let mut rows: Vec<_> = lines(timeline, core).into_iter().collect();
    rows.sort_by_key(|(line, total)| (std::cmp::Reverse(total.cycles), *line));
    for ((file, line), total) in rows {
        let path = &timeline.files[file as usize];
        let time = running_time(timeline.ticks(), total.covered);
        let _ = writeln!(text, "{path}:{line},{},{},{time}", total.calls, total.cycles);
    }
    text
}
