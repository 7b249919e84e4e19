//! The memory map and the memory tables: one entry for each block, with all its cores.

use argus_abi::Member;
use argus_chip::MemoryMap;
use serde_json::{Value, json};

use super::load::work;
use super::{Facts, UNKNOWN, sub_core};
use crate::machine::{Path, Track};
use crate::write::traffic::{Flow, Port};

/// An arrow of the map: its number, what went along it, and the path whose bandwidth is its peak.
type Arrow = (u32, Flow, Option<Path>);

impl Facts<'_> {
    pub(super) fn memory_graph(&self) -> Value {
        let maps: Vec<Value> = self
            .blocks()
            .iter()
            .map(|(block, cores)| {
                let arrows: Vec<Value> = cores
                    .iter()
                    .flat_map(|&core| self.arrows(core))
                    .chain(self.idle_arrows(cores))
                    .map(|(number, flow, peak)| self.memory_unit(number, flow, peak))
                    .collect();
                let mut map = json!({
                    "core_no": block,
                    "op_type": self.block_type(cores),
                    "soc": self.timeline.task.chip.vendor.insight,
                    "advice": self.advice(),
                    "memory_unit": arrows,
                    "L2cache":
                        { "hit": UNKNOWN, "miss": UNKNOWN, "total_request": UNKNOWN, "hit_ratio": UNKNOWN },
                });
                for &core in cores {
                    let (unit, load) = self.unit_load(core);
                    map[unit] = load;
                }
                map
            })
            .collect();
        json!({ "core_memory_map": maps })
    }

    fn memory_unit(&self, number: u32, flow: Flow, peak: Option<Path>) -> Value {
        let ratio = peak.map_or(UNKNOWN.into(), |path| Value::from(self.peak_ratio(flow, path)));
        json!({
            "memory_path": number,
            "request": flow.requests,
            "bandwidth": self.bandwidth(flow),
            "peak_ratio": ratio,
            "display": u32::from(flow.requests > 0),
        })
    }

    /// GiB a second over the whole task, as the vendor counts it.
    fn bandwidth(&self, flow: Flow) -> f64 {
        let seconds = self.timeline.cycles.max(1) as f64 / (self.summary.mhz * 1e6);
        flow.bytes as f64 / seconds / (1u64 << 30) as f64
    }

    fn peak_ratio(&self, flow: Flow, path: Path) -> f64 {
        let peak = self.timeline.params.bytes_per_cycle(path) * self.timeline.cycles.max(1) as f64;
        flow.bytes as f64 / peak * 100.0
    }

    /// The arrows of a core that the map of its chip has.
    fn arrows(&self, core: usize) -> Vec<Arrow> {
        let traffic = &self.traffic[core];
        let along = |number, path| (number, traffic.path(path), Some(path));
        let port = |number, port| (number, traffic.port(port), None);
        let map = self.timeline.task.chip.vendor.memory_map;
        match (self.timeline.cores[core].member, map) {
            (Member::Aic, MemoryMap::Plain) => vec![
                along(2, Path::GmToL1),
                along(3, Path::L1ToGm),
                along(4, Path::L1ToL0a),
                along(5, Path::L1ToL0b),
                port(6, Port::L0aToCube),
                port(7, Port::L0bToCube),
                port(8, Port::CubeToL0c),
                along(9, Path::L0cToL1),
                along(10, Path::L0cToGm),
                port(11, Port::L0cToCube),
            ],
            (Member::Aic, MemoryMap::Fixpipe) => vec![
                along(2, Path::GmToL1),
                along(3, Path::L1ToGm),
                along(37, Path::L1ToL0a),
                along(38, Path::L1ToL0b),
                (39, traffic.leaving_l0c(), None),
                along(40, Path::L0cToGm),
                along(41, Path::L0cToL1),
                (42, traffic.to_ub[0], Some(Path::L0cToUb)),
                (43, traffic.to_ub[1], Some(Path::L0cToUb)),
            ],
            (member, map) => {
                let second = u32::from(member == Member::Aiv1);
                let first = 12 + 4 * second;
                let mut arrows = vec![
                    along(first, Path::GmToUb),
                    along(first + 1, Path::UbToGm),
                    port(first + 2, Port::UbToVector),
                    port(first + 3, Port::VectorToUb),
                ];
                if map == MemoryMap::Fixpipe {
                    arrows.push(along(46 + second, Path::UbToL1));
                }
                arrows
            }
        }
    }

    /// Arrows into UB that nothing went along: from L0C where the block has no matrix core, and from L1, for which the
    /// model has no instruction.
    fn idle_arrows(&self, cores: &[usize]) -> Vec<Arrow> {
        if self.timeline.task.chip.vendor.memory_map != MemoryMap::Fixpipe {
            return Vec::new();
        }
        let has = |member: Member| cores.iter().any(|&core| self.timeline.cores[core].member == member);
        let mut arrows = Vec::new();
        for (second, _) in [Member::Aiv0, Member::Aiv1].into_iter().enumerate().filter(|(_, m)| has(*m)) {
            if !has(Member::Aic) {
                arrows.push((42 + second as u32, Flow::default(), None));
            }
            arrows.push((44 + second as u32, Flow::default(), None));
        }
        arrows
    }

    /// The unit of a core by its name in the map, and how busy it is.
    fn unit_load(&self, core: usize) -> (&'static str, Value) {
        let (name, tracks) = match self.timeline.cores[core].member {
            Member::Aic => ("Cube", &[Track::Cube][..]),
            Member::Aiv0 => ("Vector", &[Track::Vector, Track::PushQ][..]),
            Member::Aiv1 => ("Vector1", &[Track::Vector, Track::PushQ][..]),
        };
        let of_core = &self.summary.cores[core];
        let is_unit = |name: &str| tracks.iter().any(|track| track.name() == name);
        let cycles: u64 = of_core.tracks.iter().filter(|track| is_unit(&track.track)).map(work).sum();
        let ratio = cycles as f64 / of_core.cycles.max(1) as f64 * 100.0;
        (name, json!({ "cycle": cycles, "ratio": ratio, "total_cycles": of_core.cycles }))
    }

    /// A table for each memory that was used, and one of the pipes.
    pub(super) fn memory_table(&self) -> Value {
        let tables: Vec<Value> = self
            .blocks()
            .iter()
            .map(|(block, cores)| {
                let mut tables: Vec<Value> =
                    MEMORIES.iter().filter_map(|memory| self.flow_table(memory, cores)).collect();
                tables.push(self.pipe_table(cores));
                json!({
                    "block_id": block,
                    "table_op_type": self.block_type(cores),
                    "advice": self.advice(),
                    "table_detail": tables,
                })
            })
            .collect();
        json!({ "table_per_block": tables })
    }

    fn flow_table(&self, memory: &Memory, cores: &[usize]) -> Option<Value> {
        let mut rows = Vec::new();
        for &core in cores {
            let unit = sub_core(self.timeline.cores[core].member);
            let traffic = &self.traffic[core];
            let paths = memory.paths.iter().map(|&path| (path.name(), traffic.path(path), Some(path)));
            let ports = memory.ports.iter().map(|&port| (port.name(), traffic.port(port), None));
            for (name, flow, peak) in paths.chain(ports).filter(|(_, flow, _)| flow.requests > 0) {
                let ratio =
                    peak.map_or(UNKNOWN.to_owned(), |path| format!("{:.3}", self.peak_ratio(flow, path)));
                let value = [
                    flow.requests.to_string(),
                    flow.bytes.to_string(),
                    format!("{:.3}", self.bandwidth(flow)),
                    ratio,
                ];
                rows.push(json!({ "name": format!("{unit} {name}"), "value": value }));
            }
        }
        let head = ["Path", "Requests", "Bytes", "Bandwidth (GiB/s)", "Peak ratio (%)"];
        (!rows.is_empty()).then(|| table(memory.name, &head, rows))
    }

    fn pipe_table(&self, cores: &[usize]) -> Value {
        let mut rows = Vec::new();
        for &core in cores {
            let unit = sub_core(self.timeline.cores[core].member);
            for track in &self.summary.cores[core].tracks {
                let value = [
                    track.instructions.to_string(),
                    work(track).to_string(),
                    track.waiting_cycles.to_string(),
                    format!("{:.3}", track.share * 100.0),
                ];
                rows.push(json!({ "name": format!("{unit} {}", track.track), "value": value }));
            }
        }
        table("Pipe", &["Pipe", "Instructions", "Active cycles", "Wait cycles", "Active (%)"], rows)
    }
}

/// A memory with all that goes in and out.
struct Memory {
    name: &'static str,
    paths: &'static [Path],
    ports: &'static [Port],
}

/// The tables of the vendor that the model has numbers for. It knows nothing of caches.
const MEMORIES: [Memory; 4] = [
    Memory {
        name: "L0A/L0B/L0C",
        paths: &[Path::L1ToL0a, Path::L1ToL0b, Path::L0cToL1, Path::L0cToGm, Path::L0cToUb],
        ports: &[Port::L0aToCube, Port::L0bToCube, Port::CubeToL0c, Port::L0cToCube],
    },
    Memory {
        name: "L1",
        paths: &[
            Path::GmToL1,
            Path::L1ToGm,
            Path::L0cToL1,
            Path::UbToL1,
            Path::L1ToL0a,
            Path::L1ToL0b,
            Path::L1ToBt,
            Path::L1ToFb,
            Path::FillL1,
        ],
        ports: &[],
    },
    Memory {
        name: "UB",
        paths: &[Path::GmToUb, Path::UbToGm, Path::UbToL1, Path::L0cToUb, Path::UbToUb],
        ports: &[Port::UbToVector, Port::VectorToUb],
    },
    Memory {
        name: "HBM",
        paths: &[Path::GmToUb, Path::GmToL1, Path::UbToGm, Path::L1ToGm, Path::L0cToGm],
        ports: &[],
    },
];

fn table(name: &str, head: &[&str], rows: Vec<Value>) -> Value {
    // The first heading stands above the names of the rows.
    json!({ "table_name": name, "size": [rows.len(), head.len() - 1], "header_name": head, "row": rows })
}
