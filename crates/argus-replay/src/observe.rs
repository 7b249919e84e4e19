//! Looking into a kernel while it runs.
//!
//! A *watch* follows one element of an argument and tells each time it changes. A *probe* shows an operand of an
//! instruction when that is complete. A *break* ends the kernel at the first instruction that writes a NaN.
//! None of them changes what the kernel computes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use argus_abi::{DType, Member};
use argus_facts::number;
use argus_gm::GlobalMemory;
use argus_tile::{Core, Fault, KernelResult, LogEntry, LogOperand, Observer, Opcode, OperandPlace, Tile};
use thiserror::Error;

use crate::error::ReplayError;
use crate::rebuild::Rebuilt;

/// What is kept of one run at most; the rest is counted.
const KEPT: usize = 1000;
/// Elements of an operand that are looked at at most.
const ELEMENTS: usize = 1 << 20;

/// Why nothing can be looked at there.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LookError {
    #[error(
        "'{text}' is not an element to watch: write SLOT[INDEX] or SLOT[ROW,COLUMN], as in 2[17] or 2[1,3]"
    )]
    WatchForm { text: String },
    #[error("'{watch}' is not an element to watch: slot {} is not a tensor; tensors are in slots {known}", watch.slot)]
    NoTensor { watch: Watch, known: String },
    #[error("'{watch}' is not an element to watch: the tensor has the shape {shape:?}")]
    NoElement { watch: Watch, shape: Vec<u32> },
    #[error("'{text}' is not a probe: write TILE@INSTR, as in dst@12, dst@TMATMUL or src@TSTORE#2")]
    ProbeForm { text: String },
    #[error("the probe {probe} never fired: the task ran {instructions} instructions: {ran}")]
    SilentProbe { probe: Probe, instructions: u64, ran: String },
    #[error("the watched element {watch} never changed; {changed}")]
    SilentWatch { watch: Watch, changed: String },
    #[error("no instruction wrote a NaN: the task ran {instructions} instructions to its end")]
    NoNan { instructions: u64 },
    #[error("'{text}' is not a probe: there is no instruction '{name}'; there are {}", opcodes())]
    NoInstruction { text: String, name: String },
}

fn opcodes() -> String {
    Opcode::ALL.iter().map(|opcode| opcode.name()).collect::<Vec<_>>().join(", ")
}

/// One element of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    pub slot: usize,
    /// One number for each dimension, or one alone that counts elements in logical order.
    pub index: Vec<u32>,
}

impl Watch {
    /// Parses `SLOT[INDEX]` or `SLOT[I,J,...]`.
    pub fn parse(text: &str) -> Result<Watch, LookError> {
        let wrong = || LookError::WatchForm { text: text.into() };
        let (slot, rest) = text.split_once('[').ok_or_else(wrong)?;
        let list = rest.strip_suffix(']').ok_or_else(wrong)?;
        let index: Result<Vec<u32>, _> = list.split(',').map(|number| number.trim().parse()).collect();
        let (slot, index) = (slot.trim().parse().map_err(|_| wrong())?, index.map_err(|_| wrong())?);
        Ok(Watch { slot, index })
    }
}

impl fmt::Display for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let index: Vec<String> = self.index.iter().map(u32::to_string).collect();
        write!(f, "{}[{}]", self.slot, index.join(","))
    }
}

/// An operand of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Its name, as `dst` or `src0`; `*` for all.
    pub operand: String,
    pub instruction: At,
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.instruction {
            At::Number(number) => write!(f, "{}@{number}", self.operand),
            At::Sort(opcode, None) => write!(f, "{}@{}", self.operand, opcode.name()),
            At::Sort(opcode, Some(number)) => write!(f, "{}@{}#{number}", self.operand, opcode.name()),
        }
    }
}

/// Which instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// The n-th of its core's kernel, counted from 1.
    Number(u64),
    /// The n-th of its sort, counted from 1; all of them without a number.
    Sort(Opcode, Option<u64>),
}

impl Probe {
    /// Parses `TILE@INSTR`, where INSTR is a number, an opcode, or `OPCODE#N`.
    pub fn parse(text: &str) -> Result<Probe, LookError> {
        let form = || LookError::ProbeForm { text: text.into() };
        let (operand, instruction) = text.split_once('@').ok_or_else(form)?;
        if operand.is_empty() {
            return Err(form());
        }
        let (sort, number) = match instruction.split_once('#') {
            None => (instruction, None),
            Some((sort, number)) => (sort, Some(number.parse().map_err(|_| form())?)),
        };
        if let (Ok(number), None) = (sort.parse(), number) {
            return Ok(Probe { operand: operand.into(), instruction: At::Number(number) });
        }
        let opcode = Opcode::ALL.iter().copied().find(|opcode| opcode.name().eq_ignore_ascii_case(sort));
        let unknown = || LookError::NoInstruction { text: text.into(), name: sort.into() };
        let opcode = opcode.ok_or_else(unknown)?;
        Ok(Probe { operand: operand.into(), instruction: At::Sort(opcode, number) })
    }
}

/// Something that was seen, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Sighting {
    pub kernel: String,
    pub member: Member,
    pub block: u32,
    /// The instruction's number, counted from 1.
    pub instruction: u64,
    pub opcode: Opcode,
    /// File and line of the kernel's source.
    pub location: String,
    pub seen: Observation,
}

/// What was seen.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// A watched element has another value; raw bits.
    Changed { watch: Watch, dtype: DType, from: u64, to: u64 },
    /// An operand of a probed instruction: its valid region row by row, packed.
    Operand { name: &'static str, place: String, dtype: DType, rows: u32, cols: u32, bytes: Vec<u8> },
}

/// What every observer that looks at one run shares.
#[derive(Debug)]
pub(crate) struct Observers {
    memory: Arc<GlobalMemory>,
    watches: Vec<Watched>,
    probes: Vec<Probe>,
    break_on_nan: bool,
    seen: Mutex<Vec<Sighting>>,
    more: AtomicU64,
    /// For each watch and each probe how often it fired.
    changes: Vec<AtomicU64>,
    hits: Vec<AtomicU64>,
    ran: Mutex<Ran>,
}

/// The instructions of a run: how many of each sort, and the names of their operands.
#[derive(Debug, Default)]
struct Ran(BTreeMap<&'static str, (u64, BTreeSet<&'static str>)>);

impl Ran {
    fn instructions(&self) -> u64 {
        self.0.values().map(|(count, _)| count).sum()
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (opcode, (count, operands))) in self.0.iter().enumerate() {
            let comma = if number == 0 { "" } else { "; " };
            write!(f, "{comma}{count} {opcode}")?;
            for (number, operand) in operands.iter().enumerate() {
                write!(f, "{}{operand}", if number == 0 { " with " } else { ", " })?;
            }
        }
        Ok(())
    }
}

/// A watch at its place.
#[derive(Debug)]
struct Watched {
    watch: Watch,
    address: u64,
    dtype: DType,
    last: AtomicU64,
}

impl Observers {
    pub(crate) fn new(
        rebuilt: &Rebuilt,
        watches: &[Watch],
        probes: &[Probe],
        break_on_nan: bool,
    ) -> Result<Observers, ReplayError> {
        let placed = watches.iter().map(|watch| Watched::new(watch, rebuilt)).collect::<Result<_, _>>()?;
        Ok(Observers {
            memory: Arc::clone(&rebuilt.memory),
            watches: placed,
            probes: probes.to_vec(),
            break_on_nan,
            seen: Mutex::default(),
            more: AtomicU64::new(0),
            changes: watches.iter().map(|_| AtomicU64::new(0)).collect(),
            hits: probes.iter().map(|_| AtomicU64::new(0)).collect(),
            ran: Mutex::default(),
        })
    }

    /// Whether anything is to be observed.
    pub(crate) fn is_open(&self) -> bool {
        self.break_on_nan || !self.watches.is_empty() || !self.probes.is_empty()
    }

    /// An observer that looks at one core for the time of one kernel.
    pub(crate) fn lookout(self: &Arc<Observers>, kernel: &Arc<str>, block: u32) -> Box<dyn Observer> {
        Box::new(Lookout {
            observers: Arc::clone(self),
            kernel: Arc::clone(kernel),
            block,
            counts: [0; OPCODES],
        })
    }

    /// What was seen, in the order of blocks, members and instructions, and how much more there was.
    pub(crate) fn close(&self) -> (Vec<Sighting>, u64) {
        let mut seen = std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        seen.sort_by_key(|sighting| (sighting.block, sighting.member, sighting.instruction));
        (seen, self.more.load(Ordering::Relaxed))
    }

    /// What was to be seen in a task that ended, and was not. `changed` says what a watch would have seen.
    pub(crate) fn silent(&self, changed: impl Fn() -> String) -> Vec<LookError> {
        let ran = self.ran.lock().unwrap_or_else(PoisonError::into_inner);
        let none = |count: &AtomicU64| count.load(Ordering::Relaxed) == 0;
        let probes = self.probes.iter().zip(&self.hits).filter(|(_, hits)| none(hits)).map(|(probe, _)| {
            LookError::SilentProbe {
                probe: probe.clone(),
                instructions: ran.instructions(),
                ran: ran.to_string(),
            }
        });
        let watches = self.watches.iter().zip(&self.changes).filter(|(_, changes)| none(changes));
        let watches = watches
            .map(|(watched, _)| LookError::SilentWatch { watch: watched.watch.clone(), changed: changed() });
        let no_nan = self.break_on_nan.then(|| LookError::NoNan { instructions: ran.instructions() });
        probes.chain(watches).chain(no_nan).collect()
    }

    fn note(&self, sighting: Sighting) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() < KEPT {
            seen.push(sighting);
        } else {
            self.more.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn read(&self, address: u64, dtype: DType) -> u64 {
        let mut bytes = [0; 8];
        // The address was checked when the watch was placed.
        let read = self.memory.read(address, &mut bytes[..dtype.size()]);
        debug_assert!(read.is_ok(), "{read:?}");
        u64::from_le_bytes(bytes)
    }
}

impl Watched {
    fn new(watch: &Watch, rebuilt: &Rebuilt) -> Result<Watched, ReplayError> {
        let placed = rebuilt.placed.iter().find(|placed| placed.slot == watch.slot).ok_or_else(|| {
            let slots: Vec<String> = rebuilt.placed.iter().map(|placed| placed.slot.to_string()).collect();
            LookError::NoTensor { watch: watch.clone(), known: slots.join(", ") }
        })?;
        let tensor = &placed.tensor;
        let no_element = || LookError::NoElement { watch: watch.clone(), shape: tensor.shape().to_vec() };
        let mut index = watch.index.clone();
        if index.len() == 1 && tensor.rank() > 1 {
            let mut flat = u64::from(index[0]);
            index = vec![0; tensor.rank()];
            for (place, &extent) in index.iter_mut().zip(tensor.shape()).rev() {
                let extent = u64::from(extent.max(1));
                (*place, flat) = ((flat % extent) as u32, flat / extent);
            }
            if flat > 0 {
                return Err(no_element().into());
            }
        }
        let offset = tensor.element_offset(&index);
        let dtype = tensor.dtype().filter(|dtype| dtype.bits() >= 8);
        let (Some(offset), Some(dtype)) = (offset, dtype) else {
            return Err(no_element().into());
        };
        let address = tensor.addr + offset * dtype.size() as u64;
        let mut bytes = [0; 8];
        rebuilt.memory.read(address, &mut bytes[..dtype.size()])?;
        Ok(Watched { watch: watch.clone(), address, dtype, last: AtomicU64::new(u64::from_le_bytes(bytes)) })
    }
}

const OPCODES: usize = Opcode::ALL.len();

#[derive(Debug)]
struct Lookout {
    observers: Arc<Observers>,
    kernel: Arc<str>,
    block: u32,
    /// How often each instruction was seen.
    counts: [u64; OPCODES],
}

impl Observer for Lookout {
    fn after(&mut self, core: &mut Core, index: u64, entry: &LogEntry) -> KernelResult {
        self.counts[entry.opcode as usize] += 1;
        let observers = Arc::clone(&self.observers);
        {
            let mut ran = observers.ran.lock().unwrap_or_else(PoisonError::into_inner);
            let (count, operands) = ran.0.entry(entry.opcode.name()).or_default();
            *count += 1;
            operands.extend(entry.operands.iter().map(|operand| operand.name));
        }
        let stores =
            |operand: &LogOperand| operand.written && matches!(operand.place, OperandPlace::Global { .. });
        if entry.operands.iter().any(stores) {
            for (watched, changes) in observers.watches.iter().zip(&observers.changes) {
                let to = observers.read(watched.address, watched.dtype);
                let from = watched.last.swap(to, Ordering::AcqRel);
                if from != to {
                    changes.fetch_add(1, Ordering::Relaxed);
                    let (watch, dtype) = (watched.watch.clone(), watched.dtype);
                    self.note(core, index, entry, Observation::Changed { watch, dtype, from, to });
                }
            }
        }
        for (probe, hits) in observers.probes.iter().zip(&observers.hits) {
            if self.hits(probe, index, entry.opcode) {
                for operand in &entry.operands {
                    if probe.operand == "*" || probe.operand == operand.name {
                        hits.fetch_add(1, Ordering::Relaxed);
                        let seen = look(core, &observers.memory, operand);
                        self.note(core, index, entry, seen);
                    }
                }
            }
        }
        // Naming a place writes nothing to it.
        let names_only = matches!(entry.opcode, Opcode::Tassign | Opcode::Treshape);
        if observers.break_on_nan && !names_only {
            return entry.operands.iter().filter(|operand| operand.written).try_for_each(|operand| {
                match first_nan(core, &observers.memory, operand) {
                    None => Ok(()),
                    Some((row, col, of)) => {
                        Err(Fault::kernel(format!("it wrote a NaN to {}[{row}, {col}], {of}", operand.name)))
                    }
                }
            });
        }
        Ok(())
    }
}

impl Lookout {
    fn hits(&self, probe: &Probe, index: u64, opcode: Opcode) -> bool {
        match probe.instruction {
            At::Number(number) => number == index,
            At::Sort(sort, None) => sort == opcode,
            At::Sort(sort, Some(number)) => sort == opcode && self.counts[opcode as usize] == number,
        }
    }

    fn note(&self, core: &Core, index: u64, entry: &LogEntry, seen: Observation) {
        self.observers.note(Sighting {
            kernel: self.kernel.to_string(),
            member: core.member(),
            block: self.block,
            instruction: index,
            opcode: entry.opcode,
            location: format!("{}:{}", entry.location.file(), entry.location.line()),
            seen,
        });
    }
}

/// The valid region of an operand.
fn look(core: &mut Core, memory: &GlobalMemory, operand: &LogOperand) -> Observation {
    let (name, place) = (operand.name, describe(&operand.place));
    match operand.place {
        OperandPlace::Tile { dtype, .. } => {
            let (rows, cols, bytes) = tile_bytes(core, &operand.place).unwrap_or_default();
            Observation::Operand { name, place, dtype, rows, cols, bytes }
        }
        OperandPlace::Global { dtype, .. } => {
            let (rows, cols, bytes) = global_bytes(memory, &operand.place).unwrap_or_default();
            Observation::Operand { name, place, dtype, rows, cols, bytes }
        }
    }
}

fn describe(place: &OperandPlace) -> String {
    match place {
        OperandPlace::Tile { space, addr, dtype, shape, valid, .. } => format!(
            "{space} tile at {addr:#x}, {dtype} {} x {}, valid {} x {}",
            shape[0], shape[1], valid[0], valid[1]
        ),
        OperandPlace::Global { dtype, shape, .. } => format!("global memory, {dtype} {shape:?}"),
    }
}

/// Rows, columns and packed bytes of a tile's valid region.
fn tile_bytes(core: &mut Core, place: &OperandPlace) -> Option<(u32, u32, Vec<u8>)> {
    let OperandPlace::Tile { space, addr, dtype, layout, fractal, shape, valid } = *place else {
        return None;
    };
    if dtype.bits() < 8 {
        return None;
    }
    let tile = Tile::new(space, dtype, shape[0], shape[1], layout, fractal).at(addr);
    let start = addr as usize;
    let storage = core.peek(space, start..start.checked_add(usize::try_from(tile.storage_bytes()).ok()?)?)?;
    let width = dtype.size();
    let mut bytes = Vec::new();
    for row in 0..valid[0] {
        for col in 0..valid[1] {
            let at = tile.element_offset(row, col)? * width;
            bytes.extend_from_slice(storage.get(at..at + width)?);
        }
    }
    Some((valid[0], valid[1], bytes))
}

/// A walk through global memory as rows of its last dimension.
fn global_bytes(memory: &GlobalMemory, place: &OperandPlace) -> Option<(u32, u32, Vec<u8>)> {
    let OperandPlace::Global { addr, dtype, shape, stride, .. } = *place else { return None };
    let width = dtype.size() as u64;
    let rows = shape[..4].iter().try_fold(1u32, |product, &extent| product.checked_mul(extent))?;
    if dtype.bits() < 8 || u64::from(rows) * u64::from(shape[4]) > ELEMENTS as u64 {
        return None;
    }
    let mut bytes = Vec::new();
    for row in 0..rows {
        let mut left = row;
        let mut offset = 0u64;
        for dim in (0..4).rev() {
            let extent = shape[dim].max(1);
            offset = offset.checked_add(u64::from(left % extent).checked_mul(stride[dim])?)?;
            left /= extent;
        }
        for col in 0..u64::from(shape[4]) {
            let at = offset.checked_add(col.checked_mul(stride[4])?)?;
            let mut element = [0; 8];
            // A walk may be larger than what the instruction moved: what is not there is left out.
            memory.read(addr.checked_add(at.checked_mul(width)?)?, &mut element[..width as usize]).ok()?;
            bytes.extend_from_slice(&element[..width as usize]);
        }
    }
    Some((rows, shape[4], bytes))
}

/// The first NaN of what an instruction wrote. Tiles and single elements are looked at; what a store leaves in
/// global memory was in a tile before.
fn first_nan(core: &mut Core, memory: &GlobalMemory, operand: &LogOperand) -> Option<(u32, u32, String)> {
    let (dtype, found) = match operand.place {
        OperandPlace::Tile { dtype, .. } if dtype.is_float() => (dtype, tile_bytes(core, &operand.place)),
        OperandPlace::Global { dtype, shape: [1, 1, 1, 1, 1], .. } if dtype.is_float() => {
            (dtype, global_bytes(memory, &operand.place))
        }
        _ => return None,
    };
    let (rows, cols, bytes) = found?;
    let nan = |at: &u64| number::element(dtype, &bytes, *at).is_some_and(|number| number.as_f64().is_nan());
    let at = (0..u64::from(rows) * u64::from(cols)).find(nan)?;
    let cols = u64::from(cols.max(1));
    Some(((at / cols) as u32, (at % cols) as u32, describe(&operand.place)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_look_at_is_understood_or_refused_with_examples() {
        assert_eq!(Watch::parse("2[17]").unwrap(), Watch { slot: 2, index: vec![17] });
        assert_eq!(Watch::parse("0[1, 3]").unwrap(), Watch { slot: 0, index: vec![1, 3] });
        for text in ["2", "2[", "2[]", "[1]", "x[1]", "2[-1]", "2[1]x"] {
            let error = Watch::parse(text).unwrap_err().to_string();
            assert!(error.contains("2[1,3]") && error.contains(text), "{error}");
        }
        let probe = |text| Probe::parse(text).unwrap().instruction;
        assert_eq!(probe("dst@12"), At::Number(12));
        assert_eq!(probe("dst@tmatmul"), At::Sort(Opcode::Tmatmul, None));
        assert_eq!(probe("src@TSTORE#2"), At::Sort(Opcode::Tstore, Some(2)));
        for text in ["dst", "@12", "dst@TSTORE#x"] {
            assert!(Probe::parse(text).unwrap_err().to_string().contains("dst@TMATMUL"), "{text}");
        }
        let unknown = Probe::parse("dst@TFOO").unwrap_err().to_string();
        assert!(unknown.contains("'TFOO'") && unknown.contains("TMATMUL_ACC"), "{unknown}");
    }
}
