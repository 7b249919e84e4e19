//! The roofline: what the task computes in a second against what its unit and its paths could carry.
//!
//! All of it is of the model. The roof of a unit is what it would do if every step of the instructions that ran were full
//! and followed the one before; the slope of a path is its bandwidth in the parameters, once for each core.

use argus_abi::Member;
use serde_json::{Value, json};

use super::Facts;
use crate::machine::{Instr, Path, Track};

const GIGA: f64 = 1e9;

/// A unit with the paths that feed it.
struct Unit {
    title: &'static str,
    name: &'static str,
    matrix: bool,
    tracks: &'static [Track],
    /// Operations of one element, or of one multiplication with its addition.
    operations: f64,
    paths: &'static [(Path, &'static str)],
}

const UNITS: [Unit; 2] = [
    Unit {
        title: "Pipeline(Cube)",
        name: "Cube",
        matrix: true,
        tracks: &[Track::Cube],
        operations: 2.0,
        paths: &[
            (Path::GmToL1, "GM to L1"),
            (Path::L1ToL0a, "L1 to L0A"),
            (Path::L1ToL0b, "L1 to L0B"),
            (Path::L0cToGm, "L0C to GM"),
        ],
    },
    Unit {
        title: "Pipeline(Vector)",
        name: "Vector",
        matrix: false,
        tracks: &[Track::Vector, Track::RvecEx],
        operations: 1.0,
        paths: &[(Path::GmToUb, "GM to UB"), (Path::UbToGm, "UB to GM")],
    },
];

impl Facts<'_> {
    /// None if nothing is computed from what is moved.
    pub(super) fn roofline(&self) -> Option<Value> {
        let pictures: Vec<Value> = UNITS.iter().filter_map(|unit| self.picture(unit)).collect();
        let advice = self.advice().join(" ");
        (!pictures.is_empty()).then(|| json!({ "advice": advice, "multiple_rooflines": pictures }))
    }

    fn picture(&self, unit: &Unit) -> Option<Value> {
        let cores = || {
            let cores = self.timeline.cores.iter().enumerate();
            cores.filter(|(_, core)| (core.member == Member::Aic) == unit.matrix)
        };
        let computes = |instr: &&Instr| unit.tracks.contains(&instr.track) && instr.capacity > 0;
        let (mut useful, mut capacity, mut cycles, mut units) = (0, 0, 0, 0u32);
        for (_, core) in cores() {
            let before = capacity;
            for instr in core.instrs.iter().filter(computes) {
                useful += instr.useful;
                capacity += instr.capacity;
                cycles += u64::from(instr.work);
            }
            units += u32::from(capacity > before);
        }
        if useful == 0 || cycles == 0 || self.timeline.cycles == 0 {
            return None;
        }
        let hz = self.summary.mhz * 1e6;
        let operations = useful as f64 * unit.operations;
        let performance = operations / (self.timeline.cycles as f64 / hz) / GIGA;
        let roof = capacity as f64 * unit.operations / cycles as f64 * hz * f64::from(units) / GIGA;
        let lines: Vec<Value> = unit
            .paths
            .iter()
            .filter_map(|&(path, name)| {
                let flows = cores().map(|(number, _)| self.traffic[number].path(path));
                let used = flows.clone().filter(|flow| flow.bytes > 0).count();
                let bytes: u64 = flows.map(|flow| flow.bytes).sum();
                if bytes == 0 {
                    return None;
                }
                let bandwidth = self.timeline.params.bytes_per_cycle(path) * hz * used as f64 / GIGA;
                let intensity = operations / bytes as f64;
                Some(json!({
                    "bw": bandwidth,
                    "bw_name": format!("{name} (GB/s)"),
                    "computility": roof,
                    "computility_name": format!("{} (Gop/s)", unit.name),
                    "point": [intensity, performance],
                    "ratio": performance / roof.min(bandwidth * intensity) * 100.0,
                }))
            })
            .collect();
        (!lines.is_empty()).then(|| json!({ "title": unit.title, "rooflines": lines }))
    }
}
