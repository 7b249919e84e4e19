//! From a task's log to its timeline: lowering, times, hazards, addresses.

use std::fmt;

use argus_abi::Member;
use argus_tile::{OperandPlace, Space};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::footprint::Memory;
use crate::hazard::{self, Found, Side};
use crate::input::{GlobalBuffer, TaskLog, core_name};
use crate::lower::{Channel, Channels, lower};
use crate::machine::{At, Instr, Role, Track};
use crate::params::Params;
use crate::schedule::{Pair, Program, Stuck, remove_unreached, schedule};
use crate::site::{self, Site};
use crate::text::Ticks;

/// Where buffers lie in the files, and where memory outside all buffers does.
const FIRST_BUFFER: u64 = 0x1_0000_0000;
const FIRST_PAGE: u64 = 0x100_0000_0000;
const BUFFER_ALIGNMENT: u64 = 512;
const PAGE: u64 = 4096;

/// Why a log has no timeline.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("{}", deadlock_text(waits))]
    Deadlock { waits: Vec<StuckWait> },
    #[error("the task has no cores")]
    NoCores,
    #[error("{core} appears twice in the log of the task")]
    DuplicateCore { core: String },
    #[error("the parameters are for {params}, the task ran on {task}")]
    WrongChip { params: String, task: &'static str },
    #[error("a core ran {count} instructions; a timeline holds at most {}", u32::MAX - 1)]
    TooLong { count: usize },
}

/// A wait that never gets its set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StuckWait {
    pub core: String,
    /// The pipe that waits.
    pub pipe: String,
    /// What it waits for: `flag 0 from MTE2 to V`, or a tile or a free slot of a cross-core pipe.
    pub awaited: String,
    /// The flag's number, or the number of the cross-core pipe.
    pub id: u8,
    pub file: String,
    pub line: u32,
    /// Where the set stands that was never reached.
    pub unreached_set: Option<String>,
}

impl fmt::Display for StuckWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StuckWait { core, pipe, awaited, file, line, .. } = self;
        write!(f, "{core}: pipe {pipe} waits at {file}:{line} for {awaited}")?;
        match &self.unreached_set {
            Some(set) => write!(f, ", whose set at {set} is never reached"),
            None => f.write_str(", which is never set after that"),
        }
    }
}

fn deadlock_text(waits: &[StuckWait]) -> String {
    let mut text = String::from("deadlock: ");
    for (index, wait) in waits.iter().take(3).enumerate() {
        if index > 0 {
            text.push_str("; ");
        }
        text.push_str(&wait.to_string());
    }
    if waits.len() > 3 {
        text.push_str(&format!("; and {} more", waits.len() - 3));
    }
    text
}

/// Two instructions on different pipes that touch the same bytes, one writing, with nothing that orders them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hazard {
    /// The memory, such as `UB of core0.veccore0`, or a buffer in global memory.
    pub memory: String,
    /// The first bytes that both touch: start and end in that memory.
    pub bytes: [u64; 2],
    pub first: HazardSide,
    pub second: HazardSide,
    /// How often the same two lines met without order.
    pub count: u64,
}

/// One of the two instructions of a hazard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HazardSide {
    pub core: String,
    pub pipe: String,
    pub instruction: String,
    pub writes: bool,
    pub file: String,
    pub line: u32,
}

impl fmt::Display for HazardSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HazardSide { core, pipe, instruction, file, line, .. } = self;
        let access = if self.writes { "writes" } else { "reads" };
        write!(f, "{instruction} at {file}:{line} {access} on pipe {pipe} of {core}")
    }
}

impl fmt::Display for Hazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [start, end] = self.bytes;
        write!(f, "hazard on {:#x}..{:#x} of {}: {}; ", start, end, self.memory, self.first)?;
        write!(f, "{}; no flag or barrier orders them", self.second)?;
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        Ok(())
    }
}

/// The timeline of one task. Times are cycles.
#[derive(Debug)]
pub struct Timeline<'a> {
    pub task: &'a TaskLog,
    pub params: &'a Params,
    /// When the last core is done.
    pub cycles: u64,
    pub cores: Vec<CoreTimeline>,
    /// Sets and the waits that they released.
    pub pairs: Vec<Pair>,
    /// Every address, in order.
    pub sites: Vec<Site>,
    /// Source paths, relative to the repository.
    pub files: Vec<String>,
    pub hazards: Vec<Hazard>,
    pub(crate) channels: Vec<Channel>,
    pub(crate) addresses: Addresses,
}

/// One core of a timeline.
#[derive(Debug)]
pub struct CoreTimeline {
    pub name: String,
    pub member: Member,
    pub block: u32,
    /// In program order; those of one track are also in the order of time and do not overlap.
    pub instrs: Vec<Instr>,
}

impl<'a> Timeline<'a> {
    /// Lowers the logs, gives every instruction its times and looks for hazards.
    pub fn new(task: &'a TaskLog, params: &'a Params) -> Result<Timeline<'a>, ModelError> {
        check_task(task, params)?;
        let mut channels = Channels::default();
        let lower_core = |core| lower(core, task.chip, params, &mut channels);
        let lowered: Vec<Vec<Instr>> = task.cores.iter().map(lower_core).collect();
        if let Some(long) = lowered.iter().find(|instrs| instrs.len() >= u32::MAX as usize) {
            return Err(ModelError::TooLong { count: long.len() });
        }
        let mut programs: Vec<Program> = (task.cores.iter().zip(lowered))
            .map(|(core, instrs)| Program { block: core.block, instrs })
            .collect();
        let mut times = schedule(&mut programs, params);
        if task.cut && !times.stuck.is_empty() {
            remove_unreached(&mut programs, &times.order);
            times = schedule(&mut programs, params);
        }
        let logs: Vec<_> = task.cores.iter().map(|core| &core.log).collect();
        let (sites, files) = site::assign(&logs, &mut programs);
        if !times.stuck.is_empty() {
            let stuck = times.stuck.iter();
            let waits = stuck
                .map(|stuck| stuck_wait(task, &programs, &channels.list, &sites, &files, stuck))
                .collect();
            return Err(ModelError::Deadlock { waits });
        }
        let found = hazard::find(task, &programs, &times.order);
        let addresses = Addresses::new(task);
        let hazards = found.iter().map(|found| describe(task, &addresses, found)).collect();
        let cores = task
            .cores
            .iter()
            .zip(programs)
            .map(|(core, program)| CoreTimeline {
                name: core_name(core),
                member: core.member,
                block: core.block,
                instrs: program.instrs,
            })
            .collect();
        Ok(Timeline {
            task,
            params,
            cycles: times.cycles,
            cores,
            pairs: times.pairs,
            sites,
            files,
            hazards,
            channels: channels.list,
            addresses,
        })
    }

    pub fn instr(&self, at: At) -> &Instr {
        &self.cores[at.core as usize].instrs[at.index as usize]
    }

    /// Flags that were set and never waited for.
    pub fn unpaired_sets(&self) -> usize {
        let instrs = self.cores.iter().flat_map(|core| &core.instrs);
        instrs.filter(|instr| instr.role.is_flag() && instr.pair().is_none()).count()
    }

    /// `path:line` of an instruction.
    pub fn source(&self, instr: &Instr) -> String {
        let site = &self.sites[instr.site as usize];
        format!("{}:{}", self.files[site.file as usize], site.line)
    }

    pub(crate) fn ticks(&self) -> Ticks {
        Ticks::at_mhz(self.params.mhz())
    }

    /// The tracks of a core that hold anything, in the order in which they are drawn.
    pub(crate) fn tracks(&self, core: usize) -> Vec<Track> {
        let mut used = [false; Track::ALL.len()];
        for instr in &self.cores[core].instrs {
            used[instr.track as usize] = true;
        }
        Track::ALL.into_iter().filter(|track| used[*track as usize]).collect()
    }
}

fn check_task(task: &TaskLog, params: &Params) -> Result<(), ModelError> {
    if task.cores.is_empty() {
        return Err(ModelError::NoCores);
    }
    if params.chip() != task.chip.hardware {
        return Err(ModelError::WrongChip { params: params.chip().to_owned(), task: task.chip.hardware });
    }
    let mut names: Vec<String> = task.cores.iter().map(core_name).collect();
    names.sort();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(ModelError::DuplicateCore { core: pair[0].clone() });
    }
    Ok(())
}

fn stuck_wait(
    task: &TaskLog,
    programs: &[Program],
    channels: &[Channel],
    sites: &[Site],
    files: &[String],
    stuck: &Stuck,
) -> StuckWait {
    let instr_at = |at: At| &programs[at.core as usize].instrs[at.index as usize];
    let place = |instr: &Instr| {
        let site = &sites[instr.site as usize];
        (files[site.file as usize].clone(), site.line)
    };
    let instr = instr_at(stuck.at);
    let (awaited, id) = match instr.role {
        Role::Wait(flag) => (format!("flag {} from {} to {}", flag.id, flag.src, flag.dst), flag.id),
        Role::Await(number) => {
            let channel = &channels[usize::from(number)];
            let what = if channel.free { "a free slot" } else { "a tile" };
            let way = if channel.to_vector { "C2V" } else { "V2C" };
            (format!("{what} of the {way} pipe with flag {}", channel.pipe.flag_id), channel.pipe.flag_id)
        }
        _ => (String::new(), 0),
    };
    let (file, line) = place(instr);
    StuckWait {
        core: core_name(&task.cores[stuck.at.core as usize]),
        pipe: instr.pipe.name().to_owned(),
        awaited,
        id,
        file,
        line,
        unreached_set: stuck.set.map(|at| {
            let (file, line) = place(instr_at(at));
            format!("{file}:{line}")
        }),
    }
}

fn describe(task: &TaskLog, addresses: &Addresses, found: &Found) -> Hazard {
    let side = |side: Side| {
        let core = &task.cores[side.core as usize];
        let entry = &core.log.entries[side.entry as usize];
        HazardSide {
            core: core_name(core),
            pipe: entry.pipe.name().to_owned(),
            instruction: entry.opcode.name().to_owned(),
            writes: side.written,
            file: site::readable_path(entry.location.file()),
            line: entry.location.line(),
        }
    };
    let (start, end) = found.range;
    let (memory, start, end) = match found.memory {
        Memory::OnChip { core, space } => {
            (format!("{} of {}", space.memory(), core_name(&task.cores[core as usize])), start, end)
        }
        Memory::Global => match addresses.buffer_of(start) {
            Some(buffer) => {
                (format!("buffer {} in global memory", buffer.name), start - buffer.addr, end - buffer.addr)
            }
            None => {
                let shown = addresses.shown(start);
                ("global memory".to_owned(), shown, shown + (end - start))
            }
        },
    };
    Hazard {
        memory,
        bytes: [start, end],
        first: side(found.first),
        second: side(found.second),
        count: found.count,
    }
}

/// Addresses of global memory as files show them: the same in every run.
#[derive(Debug)]
pub(crate) struct Addresses {
    /// Sorted by address, with the address that is shown.
    buffers: Vec<(GlobalBuffer, u64)>,
    pages: FxHashMap<u64, u64>,
}

impl Addresses {
    fn new(task: &TaskLog) -> Addresses {
        let mut next = FIRST_BUFFER;
        let mut buffers: Vec<(GlobalBuffer, u64)> = task
            .buffers
            .iter()
            .map(|buffer| {
                let shown = next;
                next += buffer.bytes.next_multiple_of(BUFFER_ALIGNMENT).max(BUFFER_ALIGNMENT);
                (buffer.clone(), shown)
            })
            .collect();
        buffers.sort_by_key(|(buffer, _)| buffer.addr);
        let mut addresses = Addresses { buffers, pages: FxHashMap::default() };
        for entry in task.cores.iter().flat_map(|core| &core.log.entries) {
            for operand in &entry.operands {
                if let OperandPlace::Global { addr, .. } = operand.place
                    && addresses.buffer_of(addr).is_none()
                {
                    let number = addresses.pages.len() as u64;
                    addresses.pages.entry(addr / PAGE).or_insert(FIRST_PAGE + number * PAGE);
                }
            }
        }
        addresses
    }

    fn find(&self, addr: u64) -> Option<&(GlobalBuffer, u64)> {
        let at = self.buffers.partition_point(|(buffer, _)| buffer.addr <= addr).checked_sub(1)?;
        let found = &self.buffers[at];
        (addr - found.0.addr < found.0.bytes).then_some(found)
    }

    fn buffer_of(&self, addr: u64) -> Option<&GlobalBuffer> {
        self.find(addr).map(|(buffer, _)| buffer)
    }

    pub fn shown(&self, addr: u64) -> u64 {
        match self.find(addr) {
            Some((buffer, shown)) => shown + (addr - buffer.addr),
            None => self.pages.get(&(addr / PAGE)).map_or(addr % PAGE, |page| page + addr % PAGE),
        }
    }
}

/// A memory's short name in operand texts.
pub(crate) const fn memory_name(space: Space) -> &'static str {
    match space {
        Space::Vec => "UB",
        Space::Mat => "L1",
        Space::Left => "L0A",
        Space::Right => "L0B",
        Space::Acc => "L0C",
        Space::Bias => "BT",
        Space::Scaling => "FB",
        Space::ScaleLeft => "L0A_MX",
        Space::ScaleRight => "L0B_MX",
    }
}
