//! The events of `trace.json` and of the TRACE blocks: one object each, keys in alphabetical order.

use crate::detail::push_detail;
use crate::machine::{At, Instr, Path, Role, Track};
use crate::site::Site;
use crate::text::{Ticks, push_hex, push_json, push_u64, push_us};
use crate::timeline::Timeline;

/// What starts and ends the text of a trace. Readers decide by what stands before the first bracket.
pub(crate) fn envelope(schema: u32) -> (String, &'static str) {
    let start =
        format!(r#"{{"displayTimeUnit":"ns","profilingType":"op","schemaVersion":{schema},"traceEvents":["#);
    (start, "]}")
}

/// Picoseconds of a microsecond.
const MICRO: u64 = 1_000_000;
/// Readers drop a counter's point at time zero.
const FIRST_POINT: u64 = 1000;

/// Colours by track.
const fn colour(track: Track) -> &'static str {
    match track {
        Track::Scalar | Track::ScalarLdSt | Track::RvecLd => "startup",
        Track::Mte1 => "thread_state_running",
        Track::Cube => "background_memory_dump",
        Track::Fixp => "thread_state_unknown",
        Track::Mte2 => "thread_state_iowait",
        Track::Vector => "cq_build_failed",
        Track::Mte3 => "rail_response",
        Track::All => "good",
        Track::RvecEx => "running",
        Track::RvecSt => "runnable",
        Track::PushQ => "unknown",
    }
}

/// The place of a track among the tracks of its core.
pub(crate) const fn sort_index(track: Track) -> u32 {
    match track {
        Track::Scalar => 1,
        Track::Mte1 => 3,
        Track::Cube => 4,
        Track::Fixp => 5,
        Track::Mte2 => 6,
        Track::Vector => 7,
        Track::Mte3 => 8,
        Track::ScalarLdSt => 10,
        Track::All => 11,
        Track::RvecEx => 18,
        Track::RvecSt => 20,
        Track::RvecLd => 21,
        Track::PushQ => 22,
    }
}

/// The name a flag is drawn with. Readers keep begin and end only of these four.
pub(crate) const fn flag_name(role: Role) -> &'static str {
    match role {
        Role::Set(_) => "SET_FLAG",
        Role::Wait(_) => "WAIT_FLAG",
        Role::Signal(_) => "set_event",
        _ => "wait_event",
    }
}

/// `"path:line"` of each site.
pub(crate) fn codes(timeline: &Timeline<'_>) -> Vec<Vec<u8>> {
    let code = |site: &Site| {
        let mut code = Vec::new();
        push_json(&mut code, &format!("{}:{}", timeline.files[site.file as usize], site.line));
        code
    };
    timeline.sites.iter().map(code).collect()
}

/// Texts that many events share, made once.
pub(crate) struct Events<'a> {
    timeline: &'a Timeline<'a>,
    ticks: Ticks,
    codes: Vec<Vec<u8>>,
    /// The number of the next flag without a partner.
    next_lonely: u64,
}

impl<'a> Events<'a> {
    pub fn new(timeline: &'a Timeline<'a>) -> Events<'a> {
        let codes = codes(timeline);
        Events { timeline, ticks: timeline.ticks(), codes, next_lonely: timeline.pairs.len() as u64 }
    }

    /// The names and the order of cores and tracks.
    pub fn push_metadata(&self, out: &mut Vec<u8>, sink: &mut dyn FnMut(&mut Vec<u8>)) {
        for (number, core) in self.timeline.cores.iter().enumerate() {
            let sort = 3 * core.block + 1 + core.member as u32;
            let name = &core.name;
            out.extend_from_slice(
                format!(
                    r#"{{"args":{{"sort_index":{sort}}},"name":"process_sort_index","ph":"M","pid":"{name}","tid":"NA"}}"#
                )
                .as_bytes(),
            );
            sink(out);
            for track in self.timeline.tracks(number) {
                let (sort, track) = (sort_index(track), track.name());
                out.extend_from_slice(
                    format!(
                        r#"{{"args":{{"sort_index":{sort}}},"name":"thread_sort_index","ph":"M","pid":"{name}","tid":"{track}"}}"#
                    )
                    .as_bytes(),
                );
                sink(out);
            }
        }
    }

    /// The events of one instruction. `sink` is called after each and empties the buffer if it likes.
    pub fn push_instr(&mut self, out: &mut Vec<u8>, at: At, sink: &mut dyn FnMut(&mut Vec<u8>)) {
        let timeline = self.timeline;
        let instr = timeline.instr(at);
        if instr.role.is_flag() {
            return self.push_flag(out, at, instr, sink);
        }
        let (start, end) = (self.ticks.ps(instr.start), self.ticks.ps(instr.end));
        self.push_args(out, at, instr);
        out.extend_from_slice(br#","cname":""#);
        out.extend_from_slice(colour(instr.track).as_bytes());
        out.extend_from_slice(br#"","dur":"#);
        push_us(out, end - start);
        out.extend_from_slice(br#","name":""#);
        out.extend_from_slice(instr.mnemonic.name().as_bytes());
        out.extend_from_slice(br#"","ph":"X","#);
        self.push_place(out, at, instr.track, start);
        sink(out);
    }

    fn push_flag(&mut self, out: &mut Vec<u8>, at: At, instr: &Instr, sink: &mut dyn FnMut(&mut Vec<u8>)) {
        let (start, end) = (self.ticks.ps(instr.start), self.ticks.ps(instr.end));
        let id = self.flag_id(at, instr);
        let name = flag_name(instr.role);
        self.push_args(out, at, instr);
        let cname = if instr.role.sets() { "black" } else { "yellow" };
        let middle = |out: &mut Vec<u8>, ph: &str| {
            out.extend_from_slice(br#","cname":""#);
            out.extend_from_slice(cname.as_bytes());
            out.extend_from_slice(br#"","id":""#);
            out.extend_from_slice(&id);
            out.extend_from_slice(br#"","name":""#);
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(br#"","ph":""#);
            out.extend_from_slice(ph.as_bytes());
            out.extend_from_slice(br#"","#);
        };
        middle(out, "B");
        self.push_place(out, at, instr.track, start);
        sink(out);
        out.extend_from_slice(br#"{"args":{}"#);
        middle(out, "E");
        self.push_place(out, at, instr.track, end);
        sink(out);
        let Some(pair) = instr.pair() else { return };
        let pair = self.timeline.pairs[pair as usize];
        let (set, wait) = (self.timeline.instr(pair.set), self.timeline.instr(pair.wait));
        out.extend_from_slice(br#"{"cat":""#);
        out.extend_from_slice(set.track.name().as_bytes());
        out.extend_from_slice(b"To");
        out.extend_from_slice(wait.track.name().as_bytes());
        out.extend_from_slice(br#"","id":""#);
        out.extend_from_slice(&id);
        out.extend_from_slice(br#"","name":"flow","ph":""#);
        out.push(if instr.role.sets() { b's' } else { b't' });
        out.extend_from_slice(br#"","#);
        self.push_place(out, at, instr.track, end);
        sink(out);
    }

    /// A pair shares its number; a flag without partner has one of its own.
    fn flag_id(&mut self, at: At, instr: &Instr) -> Vec<u8> {
        let mut id = Vec::with_capacity(24);
        let number = match instr.pair() {
            Some(pair) => u64::from(pair),
            None => {
                self.next_lonely += 1;
                self.next_lonely - 1
            }
        };
        if matches!(instr.role, Role::Signal(_) | Role::Await(_)) {
            id.extend_from_slice(b"intra_");
        } else {
            id.extend_from_slice(self.timeline.cores[at.core as usize].name.as_bytes());
            id.push(b'_');
        }
        push_u64(&mut id, number);
        id
    }

    fn push_args(&self, out: &mut Vec<u8>, at: At, instr: &Instr) {
        out.extend_from_slice(br#"{"args":{"code":"#);
        out.extend_from_slice(&self.codes[instr.site as usize]);
        out.extend_from_slice(br#","detail":""#);
        push_detail(out, self.timeline, at.core as usize, instr);
        out.extend_from_slice(br#"","pc_addr":""#);
        push_hex(out, self.timeline.sites[instr.site as usize].addr);
        if instr.bytes > 0 {
            out.extend_from_slice(br#"","process_bytes":""#);
            push_u64(out, instr.bytes);
        }
        out.extend_from_slice(br#""}"#);
    }

    fn push_place(&self, out: &mut Vec<u8>, at: At, track: Track, ps: u64) {
        out.extend_from_slice(br#""pid":""#);
        out.extend_from_slice(self.timeline.cores[at.core as usize].name.as_bytes());
        out.extend_from_slice(br#"","tid":""#);
        out.extend_from_slice(track.name().as_bytes());
        out.extend_from_slice(br#"","ts":"#);
        push_us(out, ps);
        out.push(b'}');
    }

    /// Bytes to and from global memory, microsecond by microsecond. A reader holds a value until the next point and
    /// draws as far as the last one: a point stands where its microsecond begins, and a zero where the kernel ends.
    pub fn push_counters(&self, out: &mut Vec<u8>, sink: &mut dyn FnMut(&mut Vec<u8>)) {
        let counters: [(&str, &[Path]); 6] = [
            ("GM_TO_UB", &[Path::GmToUb]),
            ("GM_TO_L1", &[Path::GmToL1]),
            ("GM_TO_TOTAL", &[Path::GmToUb, Path::GmToL1]),
            ("UB_TO_GM", &[Path::UbToGm]),
            ("L1_TO_GM", &[Path::L1ToGm]),
            ("TOTAL_TO_GM", &[Path::UbToGm, Path::L1ToGm, Path::L0cToGm]),
        ];
        let end = self.ticks.ps(self.timeline.cycles);
        let length = end.div_ceil(MICRO) as usize;
        for (name, paths) in counters {
            let mut moved = vec![0f64; length];
            let mut any = false;
            for instr in self.timeline.cores.iter().flat_map(|core| &core.instrs) {
                if instr.path.is_some_and(|path| paths.contains(&path)) && instr.bytes > 0 {
                    any = true;
                    spread(&mut moved, self.ticks.ps(instr.start), self.ticks.ps(instr.end), instr.bytes);
                }
            }
            if !any {
                continue;
            }
            let mut point = |value: f64, ps: u64| {
                out.extend_from_slice(br#"{"args":{"throughput(MB/s)":"#);
                out.extend_from_slice(format!("{value:.6}").as_bytes());
                out.extend_from_slice(br#"},"name":""#);
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(br#"","ph":"C","pid":"MTE Throughput","tid":0,"ts":"#);
                push_us(out, ps);
                out.push(b'}');
                sink(out);
            };
            for (index, bytes) in moved.iter().enumerate() {
                let start = index as u64 * MICRO;
                // Bytes in a microsecond are megabytes in a second; the last one may be shorter.
                let share = (end - start).min(MICRO) as f64 / MICRO as f64;
                point(bytes / share, start.max(FIRST_POINT));
            }
            point(0.0, end.max(2 * FIRST_POINT));
        }
    }
}

/// Spreads bytes evenly over the microseconds of a transfer.
fn spread(moved: &mut [f64], start: u64, end: u64, bytes: u64) {
    let length = (end - start).max(1) as f64;
    let mut at = start;
    while at < end.max(start + 1) {
        let index = (at / MICRO) as usize;
        let next = ((at / MICRO + 1) * MICRO).min(end.max(start + 1));
        if let Some(slot) = moved.get_mut(index) {
            *slot += bytes as f64 * (next - at) as f64 / length;
        }
        at = next;
    }
}

/// The instructions of all cores, core by core.
pub(crate) fn all_instrs<'a>(timeline: &'a Timeline<'_>) -> impl Iterator<Item = At> + 'a {
    timeline.cores.iter().enumerate().flat_map(|(core, of_core)| {
        (0..of_core.instrs.len() as u32).map(move |index| At { core: core as u32, index })
    })
}
