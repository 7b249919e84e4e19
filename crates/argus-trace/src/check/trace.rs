//! The events of all cores: tracks without overlap, flags in pairs, arrows that meet their flags.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use crate::check::Rule;
use crate::check::broken::rule;
use crate::check::events::{Args, Event, need, picoseconds};

/// Tracks with their place and their colour.
const LANES: &[(&str, u64, &str)] = &[
    ("SCALAR", 1, "startup"),
    ("FLOWCTRL", 2, "cq_build_passed"),
    ("MTE1", 3, "thread_state_running"),
    ("CUBE", 4, "background_memory_dump"),
    ("FIXP", 5, "thread_state_unknown"),
    ("MTE2", 6, "thread_state_iowait"),
    ("VECTOR", 7, "cq_build_failed"),
    ("MTE3", 8, "rail_response"),
    ("SCALARLDST", 10, "startup"),
    ("ALL", 11, "good"),
    ("RVECEX", 18, "running"),
    ("RVECST", 20, "runnable"),
    ("RVECLD", 21, "startup"),
    ("PUSHQ", 22, "unknown"),
];

/// Readers drop a counter's point at time zero, so the first one stands a nanosecond later.
const FIRST_POINT: u64 = 1000;

/// Bytes of rounded counters may be off by this much, per point.
const COUNTER_SLACK: f64 = 1e-5;

/// A track's sums.
#[derive(Debug, Default)]
pub(super) struct Track {
    pub slices: u64,
    pub busy_ps: u64,
    /// The part of it that is waits.
    pub wait_ps: u64,
    end_ps: u64,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    name: String,
    id: String,
    start: u64,
    pc: u64,
}

/// The sums of one address on one core.
#[derive(Debug, Default)]
pub(super) struct Address {
    pub slices: u64,
    pub ps: u64,
    pub bytes: u64,
    pub track: String,
    pub code: String,
    /// Of a flag, the pipe at its other end as operands spell it.
    pub partner: Option<String>,
}

/// What was moved between two memories.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moved {
    pub requests: u64,
    pub bytes: u64,
}

/// Both ends of a flag pair, as slices and as arrow.
#[derive(Debug, Default)]
struct Flow {
    set: Option<(String, String, u64)>,
    wait: Option<(String, String, u64)>,
    leaves: Option<(String, String, u64)>,
    arrives: Option<(String, String, u64)>,
    cat: Option<String>,
    detail: Option<String>,
}

/// All that `trace.json` says.
pub(super) struct TraceFacts {
    pub mhz: f64,
    /// By core and track.
    pub tracks: BTreeMap<(String, String), Track>,
    /// By core and address.
    pub addresses: BTreeMap<(String, u64), Address>,
    pub sorted_cores: BTreeMap<String, u64>,
    sorted_tracks: BTreeSet<(String, String)>,
    flows: FxHashMap<String, Flow>,
    unpaired: u64,
    paired: u64,
    counters: BTreeMap<String, Counter>,
    pub digest: u64,
    /// By core, source and destination.
    pub moved: BTreeMap<(String, String, String), Moved>,
}

#[derive(Debug, Default)]
struct Counter {
    points: u64,
    /// Bytes under the curve: a value holds until the next point.
    bytes: f64,
    last_ps: u64,
    last_value: f64,
}

impl TraceFacts {
    pub fn new(mhz: f64) -> TraceFacts {
        TraceFacts {
            mhz,
            tracks: BTreeMap::new(),
            addresses: BTreeMap::new(),
            sorted_cores: BTreeMap::new(),
            sorted_tracks: BTreeSet::new(),
            flows: FxHashMap::default(),
            unpaired: 0,
            paired: 0,
            counters: BTreeMap::new(),
            digest: 0,
            moved: BTreeMap::new(),
        }
    }

    pub fn cores(&self) -> impl Iterator<Item = &str> {
        self.sorted_cores.keys().map(String::as_str)
    }

    pub fn slices(&self) -> u64 {
        self.tracks.values().map(|track| track.slices).sum()
    }

    pub fn flows(&self) -> u64 {
        self.paired
    }

    pub fn unpaired(&self) -> u64 {
        self.unpaired
    }

    pub fn end_ps(&self) -> u64 {
        self.tracks.values().map(|track| track.end_ps).max().unwrap_or(0)
    }

    /// The tracks of a core.
    pub fn lanes_of<'a>(&'a self, core: &'a str) -> impl Iterator<Item = (&'a str, &'a Track)> {
        let tracks = self.tracks.iter().filter(move |((of, _), _)| of == core);
        tracks.map(|((_, track), sums)| (track.as_str(), sums))
    }

    pub fn event(&mut self, event: Event) -> Rule {
        self.digest = digest(self.digest, &event);
        let phase = need(event.ph.as_deref(), "ph")?.to_owned();
        match phase.as_str() {
            "X" => self.slice(event),
            "B" => self.begin(event),
            "E" => self.end(event),
            "s" | "t" => self.flow(event, phase == "s"),
            "C" => self.counter(event),
            "M" => self.metadata(event),
            other => Err(rule!("phase {other}, which readers drop")),
        }
    }

    fn slice(&mut self, event: Event) -> Rule {
        let name = need(event.name.as_deref(), "name")?;
        check_mnemonic(name)?;
        let track = place(&event)?;
        let colour = track_row(&track.1)?.2;
        if event.cname.as_deref() != Some(colour) {
            return Err(rule!("colour {:?} on track {}", event.cname, track.1));
        }
        let start = picoseconds(need(event.ts, "ts")?)?;
        let end = start + picoseconds(need(event.dur, "dur")?)?;
        let args = need(event.args.as_ref(), "args")?;
        let pc = self.open_slice(&track, start, args)?;
        self.close_slice(&track, pc, start, end);
        Ok(())
    }

    fn begin(&mut self, event: Event) -> Rule {
        let name = need(event.name.clone(), "name")?;
        let colour = match name.as_str() {
            "SET_FLAG" | "set_event" => "black",
            "WAIT_FLAG" | "wait_event" => "yellow",
            other => return Err(rule!("B of {other}, which readers drop")),
        };
        if event.cname.as_deref() != Some(colour) {
            return Err(rule!("colour {:?} of {name}", event.cname));
        }
        let track = place(&event)?;
        track_row(&track.1)?;
        let start = picoseconds(need(event.ts, "ts")?)?;
        let id = need(event.id, "id")?;
        let args = need(event.args, "args")?;
        let detail = need(args.detail.clone(), "detail")?;
        let pc = self.open_slice(&track, start, &args)?;
        let cross = matches!(name.as_str(), "set_event" | "wait_event");
        let form = if cross { id.starts_with("intra_") } else { id.starts_with(&format!("{}_", track.0)) };
        if !form {
            return Err(rule!("{name} on {} has id {id}", track.0));
        }
        let last = if cross { "sync_id:" } else { "FLAGID:" };
        let pipes = flag_pipes(&detail).filter(|_| detail.contains(last) && detail.ends_with(','));
        let (set, wait) = pipes.ok_or_else(|| rule!("operands of a flag: {detail}"))?;
        let partner = if colour == "black" { wait } else { set };
        self.addresses.entry((track.0.clone(), pc)).or_default().partner = Some(partner.to_owned());
        let flow = self.flows.entry(id.clone()).or_default();
        if flow.detail.as_ref().is_some_and(|other| *other != detail) {
            return Err(rule!("the flags of {id} have different operands"));
        }
        flow.detail = Some(detail);
        self.tracks.entry(track).or_default().open = Some(Open { name, id, start, pc });
        Ok(())
    }

    fn end(&mut self, event: Event) -> Rule {
        let track = place(&event)?;
        let end = picoseconds(need(event.ts, "ts")?)?;
        let args = need(event.args, "args")?;
        if args.code.is_some() || args.detail.is_some() || args.pc_addr.is_some() {
            return Err("an E event has arguments".into());
        }
        let state = self.tracks.entry(track.clone()).or_default();
        let open = need(state.open.take(), "the B event of this E")?;
        if event.name.as_deref() != Some(open.name.as_str()) || event.id.as_deref() != Some(open.id.as_str())
        {
            return Err(rule!("E of {:?} {:?} ends {} {}", event.name, event.id, open.name, open.id));
        }
        if end < open.start {
            return Err(rule!("{} {} ends before it begins", open.name, open.id));
        }
        self.close_slice(&track, open.pc, open.start, end);
        if matches!(open.name.as_str(), "WAIT_FLAG" | "wait_event") {
            self.tracks.entry(track.clone()).or_default().wait_ps += end - open.start;
        }
        let flow = self.flows.entry(open.id.clone()).or_default();
        let sets = matches!(open.name.as_str(), "SET_FLAG" | "set_event");
        let slot = if sets { &mut flow.set } else { &mut flow.wait };
        if slot.replace((track.0, track.1, end)).is_some() {
            return Err(rule!("{} has the id {} of another one", open.name, open.id));
        }
        Ok(())
    }

    fn flow(&mut self, event: Event, leaves: bool) -> Rule {
        let track = place(&event)?;
        let (id, cat) = (need(event.id, "id")?, need(event.cat, "cat")?);
        if event.name.as_deref() != Some("flow") {
            return Err(rule!("an arrow named {:?}", event.name));
        }
        let time = picoseconds(need(event.ts, "ts")?)?;
        let flow = self.flows.entry(id.clone()).or_default();
        if flow.cat.as_ref().is_some_and(|other| *other != cat) {
            return Err(rule!("the ends of arrow {id} differ in cat"));
        }
        flow.cat = Some(cat);
        let slot = if leaves { &mut flow.leaves } else { &mut flow.arrives };
        if slot.replace((track.0, track.1, time)).is_some() {
            return Err(rule!("arrow {id} has an end twice"));
        }
        Ok(())
    }

    fn counter(&mut self, event: Event) -> Rule {
        let name = need(event.name, "name")?;
        let known = ["GM_TO_UB", "GM_TO_L1", "GM_TO_TOTAL", "UB_TO_GM", "L1_TO_GM", "TOTAL_TO_GM"];
        if !known.contains(&name.as_str()) {
            return Err(rule!("a counter named {name}"));
        }
        if need(event.pid, "pid")?.text()? != "MTE Throughput" || need(event.tid, "tid")?.number()? != 0 {
            return Err(rule!("counter {name} is not on MTE Throughput"));
        }
        let ts = need(event.ts, "ts")?;
        let value = need(need(event.args, "args")?.throughput, "throughput(MB/s)")?;
        let counter = self.counters.entry(name.clone()).or_default();
        let ps = picoseconds(ts)?;
        let good = if counter.points == 0 { ps == FIRST_POINT } else { ps > counter.last_ps };
        if !good {
            return Err(rule!("counter {name} has a point at {ts} us behind {} ps", counter.last_ps));
        }
        if !(value.is_finite() && value >= 0.0) {
            return Err(rule!("counter {name} is {value}"));
        }
        // The first bin begins at zero, where readers drop a point.
        let since = if counter.points == 1 { 0 } else { counter.last_ps };
        counter.bytes += counter.last_value * (ps - since) as f64 / 1e6;
        counter.points += 1;
        (counter.last_ps, counter.last_value) = (ps, value);
        Ok(())
    }

    fn metadata(&mut self, event: Event) -> Rule {
        let name = need(event.name, "name")?;
        let core = need(event.pid, "pid")?.text()?.to_owned();
        let track = need(event.tid, "tid")?.text()?.to_owned();
        let sort = need(need(event.args, "args")?.sort_index, "sort_index")?;
        match name.as_str() {
            "process_sort_index" if track == "NA" => {
                if sort != core_rank(&core)? {
                    return Err(rule!("{core} has place {sort}"));
                }
                if self.sorted_cores.insert(core.clone(), sort).is_some() {
                    return Err(rule!("{core} is named twice"));
                }
            }
            "thread_sort_index" => {
                if sort != track_row(&track)?.1 {
                    return Err(rule!("track {track} has place {sort}"));
                }
                if !self.sorted_tracks.insert((core.clone(), track.clone())) {
                    return Err(rule!("track {track} of {core} is named twice"));
                }
            }
            other => return Err(rule!("metadata {other}")),
        }
        Ok(())
    }

    /// Arrows and flags must meet, tracks must be named, counters must have moved what the slices moved.
    pub fn finish(&mut self) -> Rule {
        if let Some((track, _)) = self.tracks.iter().find(|(_, track)| track.open.is_some()) {
            return Err(rule!("a flag on {} of {} never ends", track.1, track.0));
        }
        let used: BTreeSet<_> = self.tracks.keys().cloned().collect();
        if let Some(track) = used.symmetric_difference(&self.sorted_tracks).next() {
            return Err(rule!("track {} of {} is used or named, but not both", track.1, track.0));
        }
        let cores: BTreeSet<&String> = used.iter().map(|(core, _)| core).collect();
        if !cores.iter().copied().eq(self.sorted_cores.keys()) {
            return Err("the cores that are named are not those that are used".into());
        }
        let flows: BTreeMap<_, _> = std::mem::take(&mut self.flows).into_iter().collect();
        for (id, flow) in &flows {
            match (&flow.set, &flow.wait, &flow.leaves, &flow.arrives) {
                (Some(set), Some(wait), Some(leaves), Some(arrives)) => {
                    if set != leaves || wait != arrives {
                        return Err(rule!("arrow {id} does not end where its flags end"));
                    }
                    if leaves.2 > arrives.2 {
                        return Err(rule!("arrow {id} goes back in time"));
                    }
                    let cat = format!("{}To{}", set.1, wait.1);
                    if flow.cat.as_deref() != Some(cat.as_str()) {
                        return Err(rule!("arrow {id} has cat {:?} instead of {cat}", flow.cat));
                    }
                    let cross = id.starts_with("intra_");
                    if cross == (set.0 == wait.0) {
                        return Err(rule!("arrow {id} goes from {} to {}", set.0, wait.0));
                    }
                    self.paired += 1;
                }
                (Some(_), None, None, None) => self.unpaired += 1,
                _ => return Err(rule!("arrow {id} or its flags are incomplete")),
            }
        }
        self.check_counters()
    }

    fn check_counters(&self) -> Rule {
        let [to_ub, to_l1] = ["UB", "L1"].map(|to| self.bytes_moved("OUT", to));
        let [ub, l1, l0c] = ["UB", "L1", "L0C"].map(|from| self.bytes_moved(from, "OUT"));
        let expected = [
            ("GM_TO_UB", to_ub),
            ("GM_TO_L1", to_l1),
            ("GM_TO_TOTAL", to_ub + to_l1),
            ("UB_TO_GM", ub),
            ("L1_TO_GM", l1),
            ("TOTAL_TO_GM", ub + l1 + l0c),
        ];
        let end = self.end_ps().max(2 * FIRST_POINT);
        for (name, bytes) in expected {
            let counter = self.counters.get(name);
            let sum = counter.map_or(0.0, |counter| counter.bytes);
            let points = counter.map_or(0, |counter| counter.points);
            if let Some(counter) =
                counter.filter(|counter| counter.last_value != 0.0 || counter.last_ps != end)
            {
                let at = counter.last_ps;
                return Err(rule!("counter {name} does not close with zero at {end} ps, but at {at} ps"));
            }
            if (sum - bytes as f64).abs() > COUNTER_SLACK * points as f64 + 1e-3 {
                return Err(rule!("counter {name} adds up to {sum} bytes, the slices to {bytes}"));
            }
        }
        Ok(())
    }

    /// Registers the start of a slice; its address.
    fn open_slice(&mut self, track: &(String, String), start: u64, args: &Args) -> Rule<u64> {
        let pc = need(args.pc_addr.as_deref(), "pc_addr")?;
        let pc = parse_hex(pc)?;
        let (code, detail) = (need(args.code.as_deref(), "code")?, need(args.detail.as_deref(), "detail")?);
        if detail.contains(char::is_whitespace) {
            return Err(rule!("white space in operands: {detail}"));
        }
        check_code(code)?;
        let bytes = match &args.process_bytes {
            Some(text) => match text.parse::<u64>() {
                Ok(bytes) if bytes > 0 => bytes,
                _ => return Err(rule!("process_bytes is {text}")),
            },
            None => 0,
        };
        let state = self.tracks.entry(track.clone()).or_default();
        if let Some(open) = &state.open {
            return Err(rule!("a slice begins inside {} {}", open.name, open.id));
        }
        if start < state.end_ps {
            return Err(rule!("slices overlap on {} of {} at {start} ps", track.1, track.0));
        }
        state.slices += 1;
        let address = self.addresses.entry((track.0.clone(), pc)).or_default();
        if address.slices == 0 {
            (address.track, address.code) = (track.1.clone(), code.to_owned());
        } else if address.track != track.1 || address.code != code {
            return Err(rule!("address {pc:#x} is on two tracks or two lines"));
        }
        address.slices += 1;
        address.bytes += bytes;
        if let Some((from, to)) = ends(detail) {
            let moved = self.moved.entry((track.0.clone(), from.to_owned(), to.to_owned())).or_default();
            moved.requests += 1;
            moved.bytes += bytes;
        }
        Ok(pc)
    }

    /// Bytes that all cores moved from one memory to another.
    pub fn bytes_moved(&self, from: &str, to: &str) -> u64 {
        let along = self.moved.iter().filter(|((_, src, dst), _)| src == from && dst == to);
        along.map(|(_, moved)| moved.bytes).sum()
    }

    fn close_slice(&mut self, track: &(String, String), pc: u64, start: u64, end: u64) {
        let state = self.tracks.entry(track.clone()).or_default();
        state.busy_ps += end - start;
        state.end_ps = end;
        self.addresses.entry((track.0.clone(), pc)).or_default().ps += end - start;
    }
}

/// Source and destination of a transfer's operands.
fn ends(detail: &str) -> Option<(&str, &str)> {
    let (from, rest) = detail.strip_prefix("Src:")?.split_once(',')?;
    let (to, _) = rest.strip_prefix("Dst:")?.split_once(',')?;
    Some((from, to))
}

/// The pipes of a flag's operands: which sets and which waits.
fn flag_pipes(detail: &str) -> Option<(&str, &str)> {
    let (set, rest) = detail.strip_prefix("PIPE:")?.split_once(',')?;
    let (wait, _) = rest.strip_prefix("TRIGGERPIPE:")?.split_once(',')?;
    Some((set, wait))
}

fn place(event: &Event) -> Rule<(String, String)> {
    let core = need(event.pid.as_ref(), "pid")?.text()?;
    let track = need(event.tid.as_ref(), "tid")?.text()?;
    core_rank(core)?;
    Ok((core.to_owned(), track.to_owned()))
}

fn track_row(track: &str) -> Rule<(&'static str, u64, &'static str)> {
    LANES.iter().find(|row| row.0 == track).copied().ok_or_else(|| rule!("no track is called {track}"))
}

/// The place of a core from its name: `coreN.cubecore0`, `coreN.veccore0` or `coreN.veccore1`.
fn core_rank(core: &str) -> Rule<u64> {
    let unknown = || rule!("no core is called {core}");
    let (number, kind) =
        core.strip_prefix("core").and_then(|rest| rest.split_once('.')).ok_or_else(unknown)?;
    let number: u64 = number.parse().map_err(|_| unknown())?;
    let member = match kind {
        "cubecore0" => 1,
        "veccore0" => 2,
        "veccore1" => 3,
        _ => return Err(unknown()),
    };
    number.checked_mul(3).map(|first| first + member).ok_or_else(unknown)
}

fn check_mnemonic(name: &str) -> Rule {
    // Some mnemonics end in a version, such as v2.
    let letters = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_' || c == 'v';
    let good = name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(letters);
    if good { Ok(()) } else { Err(rule!("{name} is not a mnemonic")) }
}

/// `path:line`, with one colon.
pub(super) fn check_code(code: &str) -> Rule<(&str, u32)> {
    let wrong = || rule!("{code} is not a path and a line");
    let (path, line) = code.split_once(':').ok_or_else(wrong)?;
    match line.parse() {
        Ok(line) if line > 0 && !path.is_empty() => Ok((path, line)),
        _ => Err(wrong()),
    }
}

pub(super) fn parse_hex(text: &str) -> Rule<u64> {
    let digits = text.strip_prefix("0x").ok_or_else(|| rule!("{text} is not a hexadecimal number"))?;
    u64::from_str_radix(digits, 16).map_err(|_| rule!("{text} is not a hexadecimal number"))
}

/// The digest of events so far and one more. TRACE blocks must hold the same events.
pub(super) fn digest(before: u64, event: &Event) -> u64 {
    let mut hasher = FxHasher::default();
    (before, &event.cat, &event.cname, &event.id, &event.name, &event.ph).hash(&mut hasher);
    (event.dur.map(f64::to_bits), event.ts.map(f64::to_bits)).hash(&mut hasher);
    format!("{:?}{:?}", event.pid, event.tid).hash(&mut hasher);
    if let Some(args) = &event.args {
        (&args.code, &args.detail, &args.pc_addr, &args.process_bytes, &args.sort_index).hash(&mut hasher);
        args.throughput.map(f64::to_bits).hash(&mut hasher);
    }
    hasher.finish()
}
