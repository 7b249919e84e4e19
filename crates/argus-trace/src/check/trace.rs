//! The events of all cores: tracks without overlap, flags in pairs, arrows that meet their flags.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use crate::check::broken::rule;
use crate::check::events::{Args, Event, need, picoseconds};
use crate::check::{Broken, Rule};

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
    name: &'static str,
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

/// Both ends of a flag pair, as slices and as arrow: where and when.
#[derive(Debug, Default)]
struct Flow {
    set: Option<(Spot, u64)>,
    wait: Option<(Spot, u64)>,
    leaves: Option<(Spot, u64)>,
    arrives: Option<(Spot, u64)>,
    cat: Option<String>,
    detail: Option<String>,
}

/// A track of a core, by numbers: events are many, tracks are few.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spot {
    core: u32,
    track: u32,
}

/// What is known of tracks while events come in.
#[derive(Default)]
struct Spots {
    /// Numbers of a core and of its tracks by name.
    by_name: FxHashMap<String, (u32, FxHashMap<String, u32>)>,
    cores: Vec<String>,
    /// The core's number, the name and the sums.
    tracks: Vec<(u32, String, Track)>,
    addresses: FxHashMap<(u32, u64), Address>,
    /// Of each core what was moved from where to where.
    moved: Vec<Vec<(String, String, Moved)>>,
}

impl Spots {
    fn of(&mut self, event: &Event<'_>) -> Rule<Spot> {
        let core = need(event.pid.as_ref(), "pid")?.text()?;
        let track = need(event.tid.as_ref(), "tid")?.text()?;
        if let Some((core, tracks)) = self.by_name.get(core)
            && let Some(&track) = tracks.get(track)
        {
            return Ok(Spot { core: *core, track });
        }
        core_rank(core)?;
        let (number, tracks) = self.by_name.entry(core.to_owned()).or_insert_with(|| {
            self.cores.push(core.to_owned());
            self.moved.push(Vec::new());
            (self.cores.len() as u32 - 1, FxHashMap::default())
        });
        let spot = Spot { core: *number, track: self.tracks.len() as u32 };
        tracks.insert(track.to_owned(), spot.track);
        self.tracks.push((spot.core, track.to_owned(), Track::default()));
        Ok(spot)
    }

    fn core(&self, spot: Spot) -> &str {
        &self.cores[spot.core as usize]
    }

    fn track(&self, spot: Spot) -> &str {
        &self.tracks[spot.track as usize].1
    }

    fn state(&mut self, spot: Spot) -> &mut Track {
        &mut self.tracks[spot.track as usize].2
    }

    fn moved(&mut self, spot: Spot, from: &str, to: &str) -> &mut Moved {
        let all = &mut self.moved[spot.core as usize];
        let at = all.iter().position(|known| known.0 == from && known.1 == to).unwrap_or_else(|| {
            all.push((from.to_owned(), to.to_owned(), Moved::default()));
            all.len() - 1
        });
        &mut all[at].2
    }
}

/// All that `trace.json` says. The sums are there once it was read to its end.
pub(super) struct TraceFacts {
    pub mhz: f64,
    spots: Spots,
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
            spots: Spots::default(),
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

    pub fn event(&mut self, event: Event<'_>) -> Rule {
        self.digest = digest(self.digest, &event);
        let phase = need(event.ph.clone(), "ph")?;
        match &*phase {
            "X" => self.slice(event),
            "B" => self.begin(event),
            "E" => self.end(event),
            "s" | "t" => self.flow(event, *phase == *"s"),
            "C" => self.counter(event),
            "M" => self.metadata(event),
            other => Err(rule!("phase {other}, which readers drop")),
        }
    }

    fn slice(&mut self, event: Event<'_>) -> Rule {
        let name = need(event.name.as_deref(), "name")?;
        check_mnemonic(name)?;
        let spot = self.spots.of(&event)?;
        let colour = track_row(self.spots.track(spot))?.2;
        if event.cname.as_deref() != Some(colour) {
            let found = event.cname.as_deref();
            return Err(rule!("colour {found:?} on track {}", self.spots.track(spot)));
        }
        let start = picoseconds(need(event.ts, "ts")?)?;
        let end = start + picoseconds(need(event.dur, "dur")?)?;
        let args = need(event.args.as_ref(), "args")?;
        let pc = self.open_slice(spot, start, args)?;
        self.close_slice(spot, pc, start, end);
        Ok(())
    }

    fn begin(&mut self, event: Event<'_>) -> Rule {
        let found = need(event.name.as_deref(), "name")?;
        let Some(&name) = FLAGS.iter().find(|name| **name == found) else {
            return Err(rule!("B of {found}, which readers drop"));
        };
        let sets = sets(name);
        let colour = if sets { "black" } else { "yellow" };
        if event.cname.as_deref() != Some(colour) {
            return Err(rule!("colour {:?} of {name}", event.cname.as_deref()));
        }
        let spot = self.spots.of(&event)?;
        track_row(self.spots.track(spot))?;
        let start = picoseconds(need(event.ts, "ts")?)?;
        let id = need(event.id.as_deref(), "id")?;
        let args = need(event.args.as_ref(), "args")?;
        let detail = need(args.detail.as_deref(), "detail")?;
        let pc = self.open_slice(spot, start, args)?;
        let cross = matches!(name, "set_event" | "wait_event");
        let core = self.spots.core(spot);
        let form = match cross {
            true => id.starts_with("intra_"),
            false => id.strip_prefix(core).is_some_and(|rest| rest.starts_with('_')),
        };
        if !form {
            return Err(rule!("{name} on {core} has id {id}"));
        }
        let last = if cross { "sync_id:" } else { "FLAGID:" };
        let pipes = flag_pipes(detail).filter(|_| detail.contains(last) && detail.ends_with(','));
        let (set, wait) = pipes.ok_or_else(|| rule!("operands of a flag: {detail}"))?;
        let partner = if sets { wait } else { set };
        let address = self.spots.addresses.entry((spot.core, pc)).or_default();
        if address.partner.as_deref() != Some(partner) {
            address.partner = Some(partner.to_owned());
        }
        let flow = self.flow_of(id);
        match &flow.detail {
            Some(other) if other != detail => {
                return Err(rule!("the flags of {id} have different operands"));
            }
            Some(_) => {}
            None => flow.detail = Some(detail.to_owned()),
        }
        self.spots.state(spot).open = Some(Open { name, id: id.to_owned(), start, pc });
        Ok(())
    }

    /// The pair of flags with this id.
    fn flow_of(&mut self, id: &str) -> &mut Flow {
        self.flows.entry(id.to_owned()).or_default()
    }

    fn end(&mut self, event: Event<'_>) -> Rule {
        let spot = self.spots.of(&event)?;
        let end = picoseconds(need(event.ts, "ts")?)?;
        let args = need(event.args, "args")?;
        if args.code.is_some() || args.detail.is_some() || args.pc_addr.is_some() {
            return Err("an E event has arguments".into());
        }
        let open = need(self.spots.state(spot).open.take(), "the B event of this E")?;
        if event.name.as_deref() != Some(open.name) || event.id.as_deref() != Some(open.id.as_str()) {
            let (name, id) = (event.name.as_deref(), event.id.as_deref());
            return Err(rule!("E of {name:?} {id:?} ends {} {}", open.name, open.id));
        }
        if end < open.start {
            return Err(rule!("{} {} ends before it begins", open.name, open.id));
        }
        self.close_slice(spot, open.pc, open.start, end);
        if !sets(open.name) {
            self.spots.state(spot).wait_ps += end - open.start;
        }
        let flow = self.flow_of(&open.id);
        let slot = if sets(open.name) { &mut flow.set } else { &mut flow.wait };
        if slot.replace((spot, end)).is_some() {
            return Err(rule!("{} has the id {} of another one", open.name, open.id));
        }
        Ok(())
    }

    fn flow(&mut self, event: Event<'_>, leaves: bool) -> Rule {
        let spot = self.spots.of(&event)?;
        let (id, cat) = (need(event.id.as_deref(), "id")?, need(event.cat.as_deref(), "cat")?);
        if event.name.as_deref() != Some("flow") {
            return Err(rule!("an arrow named {:?}", event.name.as_deref()));
        }
        let time = picoseconds(need(event.ts, "ts")?)?;
        let flow = self.flow_of(id);
        match &flow.cat {
            Some(other) if other != cat => return Err(rule!("the ends of arrow {id} differ in cat")),
            Some(_) => {}
            None => flow.cat = Some(cat.to_owned()),
        }
        let slot = if leaves { &mut flow.leaves } else { &mut flow.arrives };
        if slot.replace((spot, time)).is_some() {
            return Err(rule!("arrow {id} has an end twice"));
        }
        Ok(())
    }

    fn counter(&mut self, event: Event<'_>) -> Rule {
        let name = need(event.name, "name")?.to_string();
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

    fn metadata(&mut self, event: Event<'_>) -> Rule {
        let name = need(event.name, "name")?;
        let core = need(event.pid, "pid")?.text()?.to_owned();
        let track = need(event.tid, "tid")?.text()?.to_owned();
        let sort = need(need(event.args, "args")?.sort_index, "sort_index")?;
        match &*name {
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
        self.sum_up();
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
        // Of several that are wrong the first by name, so that the same file is always told the same.
        let mut wrong: Option<(String, Broken)> = None;
        #[expect(clippy::iter_over_hash_type, reason = "what comes of it does not depend on the order")]
        for (id, flow) in std::mem::take(&mut self.flows) {
            match self.check_flow(&id, &flow) {
                Ok(true) => self.paired += 1,
                Ok(false) => self.unpaired += 1,
                Err(broken) if wrong.as_ref().is_none_or(|(first, _)| id < *first) => {
                    wrong = Some((id, broken));
                }
                Err(_) => {}
            }
        }
        if let Some((_, broken)) = wrong {
            return Err(broken);
        }
        self.check_counters()
    }

    /// Whether a flag has met its partner.
    fn check_flow(&self, id: &str, flow: &Flow) -> Rule<bool> {
        match (flow.set, flow.wait, flow.leaves, flow.arrives) {
            (Some(set), Some(wait), Some(leaves), Some(arrives)) => {
                if set != leaves || wait != arrives {
                    return Err(rule!("arrow {id} does not end where its flags end"));
                }
                if leaves.1 > arrives.1 {
                    return Err(rule!("arrow {id} goes back in time"));
                }
                let (from, to) = (self.spots.track(set.0), self.spots.track(wait.0));
                let cat = flow.cat.as_deref();
                let fits = cat.and_then(|cat| cat.strip_prefix(from)?.strip_prefix("To")) == Some(to);
                if !fits {
                    return Err(rule!("arrow {id} has cat {cat:?} instead of {from}To{to}"));
                }
                let cross = id.starts_with("intra_");
                if cross == (set.0.core == wait.0.core) {
                    let (from, to) = (self.spots.core(set.0), self.spots.core(wait.0));
                    return Err(rule!("arrow {id} goes from {from} to {to}"));
                }
                Ok(true)
            }
            (Some(_), None, None, None) => Ok(false),
            _ => Err(rule!("arrow {id} or its flags are incomplete")),
        }
    }

    /// What the events came to, by name.
    fn sum_up(&mut self) {
        let Spots { cores, tracks, addresses, moved, .. } = &mut self.spots;
        let core = |number: u32| cores[number as usize].clone();
        self.tracks = (tracks.iter_mut())
            .map(|(number, track, sums)| ((core(*number), track.clone()), std::mem::take(sums)))
            .collect();
        self.addresses = std::mem::take(addresses)
            .into_iter()
            .map(|((number, address), sums)| ((core(number), address), sums))
            .collect();
        let all = (0..).zip(std::mem::take(moved));
        self.moved = all
            .flat_map(|(number, of_core)| {
                of_core.into_iter().map(move |(from, to, moved)| (number, from, to, moved))
            })
            .map(|(number, from, to, moved)| ((core(number), from, to), moved))
            .collect();
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
    fn open_slice(&mut self, spot: Spot, start: u64, args: &Args<'_>) -> Rule<u64> {
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
        let (number, track, state) = &mut self.spots.tracks[spot.track as usize];
        if let Some(open) = &state.open {
            return Err(rule!("a slice begins inside {} {}", open.name, open.id));
        }
        if start < state.end_ps {
            let core = &self.spots.cores[*number as usize];
            return Err(rule!("slices overlap on {track} of {core} at {start} ps"));
        }
        state.slices += 1;
        let address = self.spots.addresses.entry((spot.core, pc)).or_default();
        if address.slices == 0 {
            (address.track, address.code) = (track.clone(), code.to_owned());
        } else if address.track != *track || address.code != code {
            return Err(rule!("address {pc:#x} is on two tracks or two lines"));
        }
        address.slices += 1;
        address.bytes += bytes;
        if let Some((from, to)) = ends(detail) {
            let moved = self.spots.moved(spot, from, to);
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

    fn close_slice(&mut self, spot: Spot, pc: u64, start: u64, end: u64) {
        let state = self.spots.state(spot);
        state.busy_ps += end - start;
        state.end_ps = end;
        self.spots.addresses.entry((spot.core, pc)).or_default().ps += end - start;
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

/// What begins and ends with events of its own.
const FLAGS: [&str; 4] = ["SET_FLAG", "set_event", "WAIT_FLAG", "wait_event"];

fn sets(name: &str) -> bool {
    matches!(name, "SET_FLAG" | "set_event")
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
pub(super) fn digest(before: u64, event: &Event<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    (before, &event.cat, &event.cname, &event.id, &event.name, &event.ph).hash(&mut hasher);
    (event.dur.map(f64::to_bits), event.ts.map(f64::to_bits)).hash(&mut hasher);
    (&event.pid, &event.tid).hash(&mut hasher);
    if let Some(args) = &event.args {
        (&args.code, &args.detail, &args.pc_addr, &args.process_bytes, &args.sort_index).hash(&mut hasher);
        args.throughput.map(f64::to_bits).hash(&mut hasher);
    }
    hasher.finish()
}
