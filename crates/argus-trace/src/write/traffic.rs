//! What moved where: the bytes of every path and those that the units read and write, core by core.

use argus_tile::{LogEntry, OperandPlace, Pipe, Space, Split};

use crate::machine::{Path, Role};
use crate::timeline::Timeline;

/// A way between a unit and the memory it works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Port {
    L0aToCube,
    L0bToCube,
    CubeToL0c,
    L0cToCube,
    UbToVector,
    VectorToUb,
}

impl Port {
    pub const ALL: [Port; 6] = [
        Port::L0aToCube,
        Port::L0bToCube,
        Port::CubeToL0c,
        Port::L0cToCube,
        Port::UbToVector,
        Port::VectorToUb,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Port::L0aToCube => "L0A_TO_CUBE",
            Port::L0bToCube => "L0B_TO_CUBE",
            Port::CubeToL0c => "CUBE_TO_L0C",
            Port::L0cToCube => "L0C_TO_CUBE",
            Port::UbToVector => "UB_TO_VECTOR",
            Port::VectorToUb => "VECTOR_TO_UB",
        }
    }

    /// The port that an operand goes through.
    fn of_operand(pipe: Pipe, space: Space, written: bool) -> Option<Port> {
        Some(match (pipe, space, written) {
            (Pipe::M, Space::Left, false) => Port::L0aToCube,
            (Pipe::M, Space::Right, false) => Port::L0bToCube,
            (Pipe::M, Space::Acc, true) => Port::CubeToL0c,
            (Pipe::M, Space::Acc, false) => Port::L0cToCube,
            (Pipe::V, Space::Vec, false) => Port::UbToVector,
            (Pipe::V, Space::Vec, true) => Port::VectorToUb,
            _ => return None,
        })
    }
}

/// Instructions that moved something, and what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flow {
    pub requests: u64,
    pub bytes: u64,
    pub cycles: u64,
}

impl Flow {
    fn add(&mut self, bytes: u64, cycles: u64) {
        self.requests += 1;
        self.bytes += bytes;
        self.cycles += cycles;
    }

    pub fn join(self, other: Flow) -> Flow {
        Flow {
            requests: self.requests + other.requests,
            bytes: self.bytes + other.bytes,
            cycles: self.cycles + other.cycles,
        }
    }
}

/// What one core moved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traffic {
    paths: [Flow; Path::ALL.len()],
    ports: [Flow; Port::ALL.len()],
    /// Of what went from L0C to UB, the part for each vector core.
    pub to_ub: [Flow; 2],
}

/// The paths with an end in global memory.
const GLOBAL: [Path; 5] = [Path::GmToUb, Path::GmToL1, Path::UbToGm, Path::L1ToGm, Path::L0cToGm];

impl Traffic {
    pub fn new(timeline: &Timeline<'_>, core: usize) -> Traffic {
        let mut traffic = Traffic::default();
        let log = &timeline.task.cores[core].log;
        let mut last = None;
        for instr in &timeline.cores[core].instrs {
            let entry = &log.entries[instr.entry as usize];
            if let Some(path) = instr.path {
                traffic.paths[path as usize].add(instr.bytes, instr.cycles());
                if path == Path::L0cToUb {
                    let halves = entry.fifo.is_some_and(|(_, split)| split != Split::NoSplit);
                    let parts = if halves { &mut traffic.to_ub[..] } else { &mut traffic.to_ub[..1] };
                    let bytes = instr.bytes / parts.len() as u64;
                    parts.iter_mut().for_each(|part| part.add(bytes, instr.cycles()));
                }
            }
            // The operands of a tile instruction count once, however many machine instructions it becomes.
            if instr.role == Role::Work && instr.pipe == entry.pipe && last != Some(instr.entry) {
                last = Some(instr.entry);
                traffic.add_operands(entry);
            }
        }
        traffic
    }

    fn add_operands(&mut self, entry: &LogEntry) {
        for operand in entry.operands.iter().filter(|operand| operand.name != "tmp") {
            if let OperandPlace::Tile { space, dtype, valid, .. } = operand.place
                && let Some(port) = Port::of_operand(entry.pipe, space, operand.written)
            {
                let bits = u64::from(valid[0]) * u64::from(valid[1]) * u64::from(dtype.bits());
                self.ports[port as usize].add(bits.div_ceil(8), 0);
            }
        }
    }

    pub fn path(&self, path: Path) -> Flow {
        self.paths[path as usize]
    }

    pub fn port(&self, port: Port) -> Flow {
        self.ports[port as usize]
    }

    /// What leaves L0C, wherever it goes.
    pub fn leaving_l0c(&self) -> Flow {
        [Path::L0cToGm, Path::L0cToL1, Path::L0cToUb]
            .iter()
            .fold(Flow::default(), |sum, &path| sum.join(self.path(path)))
    }

    /// Bytes read from and written to global memory.
    pub fn global_bytes(&self) -> u64 {
        GLOBAL.iter().map(|&path| self.path(path).bytes).sum()
    }
}
