//! `core*/trace.json`: one core for a browser's trace viewer, each track a process of its own. Operand texts are
//! left to the file of all cores.

use std::io::{self, Write};

use crate::machine::{At, Track};
use crate::text::{push_hex, push_u64, push_us};
use crate::timeline::Timeline;
use crate::write::events::{codes, envelope};

/// The text is handed on in pieces of about this size.
const PIECE: usize = 1 << 20;

/// The process number of a track.
const fn process(track: Track) -> u64 {
    match track {
        Track::Scalar => 10,
        Track::ScalarLdSt => 20,
        Track::Vector => 30,
        Track::Cube => 40,
        Track::Mte1 => 50,
        Track::Mte2 => 60,
        Track::Mte3 => 70,
        Track::Fixp => 80,
        Track::All => 100,
        Track::RvecEx => 130,
        Track::RvecLd => 140,
        Track::RvecSt => 150,
        Track::PushQ => 160,
    }
}

/// Instructions of a track never overlap, so each track is one thread.
const THREAD: u64 = 1;

pub(crate) fn write(out: &mut impl Write, timeline: &Timeline<'_>, core: usize) -> io::Result<()> {
    let (start, end) = envelope(1);
    let mut text = start.into_bytes();
    let mut first = true;
    for track in timeline.tracks(core) {
        let (pid, name) = (process(track), track.name());
        for (kind, tid, args) in [
            ("process_name", "0", format!(r#""name":"{name}""#)),
            ("process_sort_index", "0", format!(r#""sort_index":{pid}"#)),
            ("thread_name", "1", format!(r#""name":"{name}_{THREAD}""#)),
            ("thread_sort_index", "1", format!(r#""sort_index":{THREAD}"#)),
        ] {
            separate(&mut text, &mut first);
            text.extend_from_slice(
                format!(r#"{{"args":{{{args}}},"name":"{kind}","ph":"M","pid":{pid},"tid":{tid}}}"#)
                    .as_bytes(),
            );
        }
    }
    let (ticks, codes) = (timeline.ticks(), codes(timeline));
    for (index, instr) in timeline.cores[core].instrs.iter().enumerate() {
        let (start, end) = (ticks.ps(instr.start), ticks.ps(instr.end));
        let site = &timeline.sites[instr.site as usize];
        separate(&mut text, &mut first);
        text.extend_from_slice(br#"{"args":{"code":"#);
        text.extend_from_slice(&codes[instr.site as usize]);
        text.extend_from_slice(br#","pc_addr":""#);
        push_hex(&mut text, site.addr);
        text.extend_from_slice(br#""},"dur":"#);
        push_us(&mut text, end - start);
        text.extend_from_slice(br#","name":""#);
        text.extend_from_slice(instr.mnemonic.name().as_bytes());
        text.extend_from_slice(br#"","ph":"X","pid":"#);
        push_u64(&mut text, process(instr.track));
        text.extend_from_slice(br#","tid":1,"ts":"#);
        push_us(&mut text, start);
        text.push(b'}');
        push_flow(&mut text, timeline, At { core: core as u32, index: index as u32 });
        if text.len() > PIECE {
            out.write_all(&text)?;
            text.clear();
        }
    }
    text.extend_from_slice(end.as_bytes());
    out.write_all(&text)
}

/// One end of an arrow, if both ends lie on this core.
fn push_flow(text: &mut Vec<u8>, timeline: &Timeline<'_>, at: At) {
    let instr = timeline.instr(at);
    let Some(number) = instr.pair() else { return };
    let pair = timeline.pairs[number as usize];
    if pair.set.core != pair.wait.core {
        return;
    }
    let ticks = timeline.ticks();
    let (phase, time) = if instr.role.sets() {
        let (start, end) = (ticks.ps(instr.start), ticks.ps(instr.end));
        ("s", start + (end - start) / 2)
    } else {
        ("t", ticks.ps(instr.end))
    };
    let (set, wait) = (timeline.instr(pair.set), timeline.instr(pair.wait));
    text.extend_from_slice(
        format!(
            r#",{{"cat":"{}To{}","id":"{number}","name":"flow","ph":"{phase}","pid":"{}","tid":"1","ts":"#,
            set.track.name(),
            wait.track.name(),
            process(instr.track),
        )
        .as_bytes(),
    );
    push_us(text, time);
    text.push(b'}');
}

fn separate(text: &mut Vec<u8>, first: &mut bool) {
    if !*first {
        text.push(b',');
    }
    *first = false;
}
