//! The numbers of the timing model: one set for each chip, each number with its source, all of them open to a
//! user's file.
//!
//! A user's file is JSON of the same shape as a chip's set and holds only what it changes. Every key must be
//! one that the set knows, every number finite and not negative; anything else is an error that names it.

mod changes;
mod row_names;

use std::collections::BTreeMap;
use std::path::{Path as FilePath, PathBuf};

use argus_chip::Chip;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::machine::{Path, VectorInstr};
use changes::Changes;
use row_names::{ROW_EXPAND, ROWS, WIDTHS};

/// More would be a mistake, and sums stay far from the end of the counters.
const LARGEST: f64 = 1e9;

/// Why a parameter file was refused.
#[derive(Debug, thiserror::Error)]
pub enum ParamsError {
    #[error("cannot read timing parameters from {}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{file} is not JSON")]
    Syntax { file: String, source: serde_json::Error },
    #[error("{file}: the top level must be an object of parameters")]
    NotAnObject { file: String },
    #[error("{file}: there is no parameter `{key}`; known here: {known}")]
    UnknownKey { file: String, key: String, known: String },
    #[error("{file}: `{key}` must be {wanted}, not {found}")]
    WrongType { file: String, key: String, wanted: &'static str, found: String },
    #[error("{file}: `{key}` is {value}, but must lie between {low} and {LARGEST:e}")]
    OutOfRange { file: String, key: String, value: f64, low: &'static str },
    #[error("{file} is for {found}, the task ran on {wanted}")]
    WrongChip { file: String, found: String, wanted: &'static str },
    #[error("the timing set of {chip} has no row `{row}`")]
    MissingRow { chip: &'static str, row: String },
}

/// A resolved set of parameters.
#[derive(Clone, Debug)]
pub struct Params {
    set: Set,
    chip: &'static str,
    vector: Vec<[[VectorCost; 2]; 3]>,
    row_expand: VectorCost,
    paths: Vec<PathCost>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Set {
    name: String,
    #[serde(rename = "chip")]
    _chip: String,
    clock: Clock,
    issue: Fixed,
    scalar: Fixed,
    scalar_global: Fixed,
    flag: Fixed,
    barrier: Fixed,
    cross_core: Fixed,
    count_mode: Fixed,
    vector_function: VectorFunction,
    cube: CubeCost,
    vector: BTreeMap<String, VectorCost>,
    paths: BTreeMap<String, PathCost>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Clock {
    mhz: f64,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fixed {
    cycles: f64,
    #[serde(rename = "source")]
    _source: String,
}

/// Cycles of a vector instruction: `head + per_row * rows + slope * repeats`, and `tail` until its result is
/// there.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VectorCost {
    pub head: f64,
    pub slope: f64,
    pub per_row: f64,
    pub tail: f64,
    #[serde(rename = "source")]
    _source: String,
}

/// Where the loads, the computation and the stores of a vector function lie inside it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VectorFunction {
    pub start: f64,
    pub drain: f64,
    pub load: f64,
    pub store: f64,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CubeCost {
    pub head: f64,
    pub f32: f64,
    pub other: f64,
    #[serde(rename = "source")]
    _source: String,
}

/// Seconds of a transfer: `(half_bytes + bytes) / bandwidth`, and `latency` cycles.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PathCost {
    gib_s: f64,
    half_bytes: f64,
    latency: f64,
    #[serde(rename = "source")]
    _source: String,
}

/// The width of an element and how its rows lie: what a cost row may depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub element: usize,
    pub in_rows: bool,
}

impl Params {
    /// The set that ships for a chip.
    pub fn for_chip(chip: &'static Chip) -> Result<Params, ParamsError> {
        Params::resolve(chip, shipped(chip)?, chip.name)
    }

    /// The chip's set with the changes that a user's file makes.
    pub fn from_file(chip: &'static Chip, path: &FilePath) -> Result<Params, ParamsError> {
        let text = argus_files::read(path, argus_files::LARGEST_TEXT)
            .and_then(|bytes| String::from_utf8(bytes).map_err(std::io::Error::other))
            .map_err(|source| ParamsError::Read { path: path.to_owned(), source })?;
        Params::with_changes(chip, &text, &path.display().to_string())
    }

    /// The chip's set with changes; `file` is what messages call them.
    pub fn with_changes(chip: &'static Chip, changes: &str, file: &str) -> Result<Params, ParamsError> {
        let changes: Value = serde_json::from_str(changes)
            .map_err(|source| ParamsError::Syntax { file: file.to_owned(), source })?;
        let Value::Object(changes) = changes else {
            return Err(ParamsError::NotAnObject { file: file.to_owned() });
        };
        let mut set = shipped(chip)?;
        if let Some(found) = changes.get("chip").filter(|found| *found != chip.hardware) {
            let found = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
            return Err(ParamsError::WrongChip { file: file.to_owned(), found, wanted: chip.hardware });
        }
        let name = set.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        if !changes.contains_key("name") {
            set.insert("name".into(), format!("{name} changed by {file}").into());
        }
        Changes { file }.apply(&mut set, &changes, "")?;
        Params::resolve(chip, set, file)
    }

    fn resolve(chip: &'static Chip, mut set: Map<String, Value>, file: &str) -> Result<Params, ParamsError> {
        if let Some(Value::Object(rows)) = set.get_mut("vector") {
            row_names::copy_same(rows);
        }
        let set: Set = serde_json::from_value(Value::Object(set))
            .map_err(|source| ParamsError::Syntax { file: file.to_owned(), source })?;
        let missing = |row: &str| ParamsError::MissingRow { chip: chip.hardware, row: row.to_owned() };
        let row = |name: &str, width: &str, rows: &str| {
            let found =
                row_names::candidates(name, width, rows).iter().find_map(|key| set.vector.get(key)).cloned();
            found.ok_or_else(|| missing(name))
        };
        let mut vector = Vec::with_capacity(VectorInstr::ALL.len());
        for instr in VectorInstr::ALL {
            let name = instr.mnemonic().name();
            let of_width = |width| Ok([row(name, width, "")?, row(name, width, ROWS)?]);
            vector.push([of_width("")?, of_width(WIDTHS[0])?, of_width(WIDTHS[1])?]);
        }
        let row_expand = row(ROW_EXPAND, "", "")?;
        let mut paths = Vec::with_capacity(Path::ALL.len());
        for path in Path::ALL {
            paths.push(set.paths.get(path.name()).cloned().ok_or_else(|| missing(path.name()))?);
        }
        Ok(Params { chip: chip.hardware, vector, row_expand, paths, set })
    }

    /// The set's name, which every output repeats.
    pub fn name(&self) -> &str {
        &self.set.name
    }

    /// The chip that the set is for.
    pub fn chip(&self) -> &'static str {
        self.chip
    }

    pub fn mhz(&self) -> f64 {
        self.set.clock.mhz
    }

    pub(crate) fn issue(&self) -> u64 {
        whole(self.set.issue.cycles)
    }

    pub(crate) fn scalar(&self) -> u32 {
        at_least_one(self.set.scalar.cycles)
    }

    pub(crate) fn scalar_global(&self) -> u32 {
        at_least_one(self.set.scalar_global.cycles)
    }

    pub(crate) fn flag(&self) -> u32 {
        at_least_one(self.set.flag.cycles)
    }

    pub(crate) fn barrier(&self) -> u32 {
        at_least_one(self.set.barrier.cycles)
    }

    pub(crate) fn cross_core(&self) -> u64 {
        whole(self.set.cross_core.cycles)
    }

    pub(crate) fn count_mode(&self) -> f64 {
        self.set.count_mode.cycles
    }

    pub(crate) fn vector_function(&self) -> &VectorFunction {
        &self.set.vector_function
    }

    pub(crate) fn vector(&self, instr: VectorInstr, shape: Shape) -> &VectorCost {
        let width = match shape.element {
            2 => 1,
            1 => 2,
            _ => 0,
        };
        &self.vector[instr as usize][width][usize::from(shape.in_rows)]
    }

    pub(crate) fn row_expand(&self) -> &VectorCost {
        &self.row_expand
    }

    pub(crate) fn cube(&self) -> &CubeCost {
        &self.set.cube
    }

    /// Cycles of a transfer, at least one.
    pub fn transfer(&self, path: Path, bytes: u64) -> u32 {
        let cost = &self.paths[path as usize];
        let per_cycle = self.bytes_per_cycle(path);
        at_least_one((cost.half_bytes + bytes as f64) / per_cycle + cost.latency)
    }

    /// What a path moves in a cycle at best.
    pub fn bytes_per_cycle(&self, path: Path) -> f64 {
        self.paths[path as usize].gib_s * (1u64 << 30) as f64 / (self.mhz() * 1e6)
    }
}

/// The set of a chip as a user's file would spell it: costs are in the set, chip and clock in the descriptor.
fn shipped(chip: &Chip) -> Result<Map<String, Value>, ParamsError> {
    let mut set: Map<String, Value> = serde_json::from_str(chip.timing)
        .map_err(|source| ParamsError::Syntax { file: format!("the timing set of {}", chip.name), source })?;
    set.insert("chip".into(), chip.hardware.into());
    let source = format!("clock of {} in msopprof", chip.vendor.soc_version);
    set.insert("clock".into(), json!({ "mhz": chip.core_mhz, "source": source }));
    Ok(set)
}

/// Cycles, rounded up.
pub(crate) fn whole(cycles: f64) -> u64 {
    cycles.ceil() as u64
}

/// Cycles of something that takes time, rounded up.
pub(crate) fn at_least_one(cycles: f64) -> u32 {
    (cycles.ceil() as u32).max(1)
}

#[cfg(test)]
mod tests {
    use argus_chip::{A2A3SIM, A5SIM, CHIPS};
    use argus_facts::with_causes;

    use super::*;

    /// A set without what only a shipped one may say.
    fn numbers(set: &Value) -> Value {
        let mut set = set.clone();
        let rows = set["vector"].as_object_mut().unwrap();
        rows.retain(|_, row| row.get("same_as").is_none());
        set
    }

    #[test]
    fn the_shipped_sets_are_whole_and_in_range() {
        for chip in CHIPS {
            let params = Params::for_chip(chip).unwrap();
            assert_eq!((params.chip(), params.mhz()), (chip.hardware, chip.core_mhz.into()));
            // A set that changes nothing passes its own checks, so every number is in range.
            let set: Value = serde_json::from_str(chip.timing).unwrap();
            let same = Params::with_changes(chip, &numbers(&set).to_string(), "itself").unwrap();
            assert_eq!(same.name(), params.name());
            for (key, row) in set["vector"].as_object().unwrap() {
                assert!(row_names::is_cost_row(key) || key == ROW_EXPAND, "{key}");
                assert!(!row["source"].as_str().unwrap().is_empty());
            }
        }
    }

    #[test]
    fn transfers_follow_the_curve() {
        let params = Params::for_chip(&A2A3SIM).unwrap();
        // (30643 + 65536) B / 247.16 GiB/s = 362.4 ns; at 1850 MHz 670.5 cycles.
        assert_eq!(params.transfer(Path::GmToUb, 65536), 671);
        // 512 B at 441 GiB/s and 1850 MHz: 255.96 B a cycle.
        assert_eq!(params.transfer(Path::L1ToL0a, 512), 3);
        assert_eq!(params.transfer(Path::UbToUb, 32), 1);
        // 214 cycles before the first byte, then 78.35 B a cycle.
        assert_eq!(params.transfer(Path::GmToL1, 7835), 214 + 100);
    }

    #[test]
    fn changes_replace_numbers_and_are_named() {
        let params = Params::with_changes(
            &A2A3SIM,
            r#"{"vector": {"VADD": {"slope": 3}, "VADD.b16": {"head": 1, "slope": 1, "tail": 1}}}"#,
            "mine.json",
        )
        .unwrap();
        assert_eq!(params.name(), "a2a3-1 changed by mine.json");
        let cost = |element| params.vector(VectorInstr::Vadd, Shape { element, in_rows: false });
        assert_eq!((cost(4).head, cost(4).slope, cost(4).tail), (10.0, 3.0, 14.0));
        assert_eq!((cost(2).head, cost(2).slope, cost(2).tail), (1.0, 1.0, 1.0));
        let named = Params::with_changes(&A5SIM, r#"{"name": "lab", "chip": "a5"}"#, "mine.json").unwrap();
        assert_eq!(named.name(), "lab");
    }

    #[test]
    fn bad_changes_are_refused_by_name() {
        let refused = |text: &str| with_causes(&Params::with_changes(&A2A3SIM, text, "t.json").unwrap_err());
        assert_eq!(
            refused(r#"{"cube": {"haed": 3}}"#),
            "t.json: there is no parameter `cube.haed`; known here: f32, head, other, source"
        );
        assert!(refused(r#"{"vector": {"VFOO": {}}}"#).contains("no parameter `vector.VFOO`"));
        assert_eq!(refused(r#"{"issue": 3}"#), "t.json: `issue` must be an object, not 3");
        assert_eq!(
            refused(r#"{"clock": {"mhz": "fast"}}"#),
            r#"t.json: `clock.mhz` must be a number, not "fast""#
        );
        assert_eq!(
            refused(r#"{"clock": {"mhz": 0}}"#),
            "t.json: `clock.mhz` is 0, but must lie between 0.001 and 1e9"
        );
        assert_eq!(
            refused(r#"{"flag": {"cycles": -1}}"#),
            "t.json: `flag.cycles` is -1, but must lie between 0 and 1e9"
        );
        assert_eq!(refused(r#"{"chip": "a5"}"#), "t.json is for a5, the task ran on a2a3");
        assert_eq!(refused("[]"), "t.json: the top level must be an object of parameters");
        assert!(refused("{").starts_with("t.json is not JSON: EOF"));
        let missing = with_causes(&Params::from_file(&A5SIM, FilePath::new("no/such.json")).unwrap_err());
        assert!(missing.starts_with("cannot read timing parameters from no/such.json: "), "{missing}");
    }
    #[test]
    fn a_row_is_another_until_a_file_changes_it() {
        let cost = |changes: &str, instr| {
            let params = Params::with_changes(&A2A3SIM, changes, "t.json").unwrap();
            params.vector(instr, Shape { element: 4, in_rows: false }).slope
        };
        let both = |changes: &str| (cost(changes, VectorInstr::MoveV), cost(changes, VectorInstr::Vdup));
        assert_eq!(both("{}"), (1.0, 1.0));
        assert_eq!(both(r#"{"vector": {"MOVEV": {"slope": 3}}}"#), (3.0, 3.0));
        assert_eq!(both(r#"{"vector": {"VDUP": {"slope": 3}}}"#), (1.0, 3.0));
        let narrow =
            Params::with_changes(&A2A3SIM, r#"{"vector": {"VDIV.b16": {"slope": 5}}}"#, "t").unwrap();
        let row = narrow.vector(VectorInstr::Vdiv, Shape { element: 2, in_rows: false });
        assert_eq!((row.head, row.slope, row.tail), (11.0, 5.0, 19.0), "the rest is as for wider elements");
    }

    /// No instruction may be priced by a row that was not meant for it.
    #[test]
    fn a_set_without_the_row_of_an_instruction_is_refused() {
        for chip in CHIPS {
            let names = VectorInstr::ALL.iter().map(|instr| instr.mnemonic().name()).chain([ROW_EXPAND]);
            for name in names {
                let mut set = shipped(chip).unwrap();
                let rows = set["vector"].as_object_mut().unwrap();
                rows.retain(|key, _| key != name && !key.starts_with(&format!("{name}.")));
                // A row that is the same as the missing one is missing too.
                let without: Vec<&str> = rows
                    .iter()
                    .filter(|(_, row)| row["same_as"] == name)
                    .map(|(key, _)| key.as_str())
                    .chain([name])
                    .collect();
                let messages = without
                    .iter()
                    .map(|row| format!("the timing set of {} has no row `{row}`", chip.hardware))
                    .collect::<Vec<_>>();
                let error = Params::resolve(chip, set, "t").unwrap_err().to_string();
                assert!(messages.contains(&error), "{name}: {error}");
            }
        }
    }
}
