//! The numbers of the timing model: one set for each chip, each number with its source, all of them open to a
//! user's file.
//!
//! A user's file is JSON of the same shape as `data/a2a3.json` and holds only what it changes. Every key must
//! be one that the set knows, every number finite and not negative; anything else is an error that names it.

use std::collections::BTreeMap;
use std::path::{Path as FilePath, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::input::Chip;
use crate::machine::{Mnemonic, Path};

const A2A3: &str = include_str!("../data/a2a3.json");
const A5: &str = include_str!("../data/a5.json");
/// More would be a mistake, and sums stay far from the end of the counters.
const LARGEST: f64 = 1e9;
/// Cost row for what has none of its own.
const DEFAULT: &str = "DEFAULT";
/// Cost row of a column that is spread over its row.
const ROW_EXPAND: &str = "ROWEXPAND";
/// Endings of a cost row for elements of one width, and for rows that do not follow each other in memory.
const WIDTHS: [&str; 2] = [".b16", ".b8"];
const ROWS: &str = ".rows";

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
}

/// A resolved set of parameters.
#[derive(Clone, Debug)]
pub struct Params {
    set: Set,
    vector: Vec<[[VectorCost; 2]; 3]>,
    row_expand: VectorCost,
    paths: Vec<PathCost>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Set {
    name: String,
    chip: String,
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
    pub fn of(chip: Chip) -> Params {
        let text = match chip {
            Chip::A2a3 => A2A3,
            Chip::A5 => A5,
        };
        let set = serde_json::from_str(text).expect("the shipped parameters are tested");
        Params::resolve(set)
    }

    /// The chip's set with the changes that a user's file makes.
    pub fn from_file(chip: Chip, path: &FilePath) -> Result<Params, ParamsError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ParamsError::Read { path: path.to_owned(), source })?;
        Params::with_changes(chip, &text, &path.display().to_string())
    }

    /// The chip's set with changes; `file` is what messages call them.
    pub fn with_changes(chip: Chip, changes: &str, file: &str) -> Result<Params, ParamsError> {
        let changes: Value = serde_json::from_str(changes)
            .map_err(|source| ParamsError::Syntax { file: file.to_owned(), source })?;
        let Value::Object(changes) = changes else {
            return Err(ParamsError::NotAnObject { file: file.to_owned() });
        };
        let base = match chip {
            Chip::A2a3 => A2A3,
            Chip::A5 => A5,
        };
        let mut set: Map<String, Value> = serde_json::from_str(base)
            .map_err(|source| ParamsError::Syntax { file: "shipped".into(), source })?;
        if let Some(found) = changes.get("chip").filter(|found| *found != chip.name()) {
            let found = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
            return Err(ParamsError::WrongChip { file: file.to_owned(), found, wanted: chip.name() });
        }
        let name = set.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        if !changes.contains_key("name") {
            set.insert("name".into(), format!("{name} changed by {file}").into());
        }
        Changes { file }.apply(&mut set, &changes, "")?;
        let set = serde_json::from_value(Value::Object(set))
            .map_err(|source| ParamsError::Syntax { file: file.to_owned(), source })?;
        Ok(Params::resolve(set))
    }

    fn resolve(set: Set) -> Params {
        let find = |name: &str, width: Option<usize>, rows: bool| {
            let width = width.map_or("", |width| WIDTHS[width]);
            let candidates = [
                format!("{name}{width}{}", if rows { ROWS } else { "" }),
                format!("{name}{width}"),
                format!("{name}{}", if rows { ROWS } else { "" }),
                name.to_owned(),
                DEFAULT.to_owned(),
            ];
            candidates
                .iter()
                .find_map(|key| set.vector.get(key))
                .cloned()
                .expect("changes cannot remove the default row")
        };
        let vector = Mnemonic::ALL
            .iter()
            .map(|mnemonic| {
                [None, Some(0), Some(1)]
                    .map(|width| [false, true].map(|rows| find(mnemonic.name(), width, rows)))
            })
            .collect();
        let row_expand = find(ROW_EXPAND, None, false);
        let paths = Path::ALL
            .iter()
            .map(|path| set.paths.get(path.name()).cloned().expect("changes cannot remove a path"))
            .collect();
        Params { vector, row_expand, paths, set }
    }

    /// The set's name, which every output repeats.
    pub fn name(&self) -> &str {
        &self.set.name
    }

    pub fn chip(&self) -> &str {
        &self.set.chip
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

    pub(crate) fn vector(&self, mnemonic: Mnemonic, shape: Shape) -> &VectorCost {
        let width = match shape.element {
            2 => 1,
            1 => 2,
            _ => 0,
        };
        &self.vector[mnemonic as usize][width][usize::from(shape.in_rows)]
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

/// Cycles, rounded up.
pub(crate) fn whole(cycles: f64) -> u64 {
    cycles.ceil() as u64
}

/// Cycles of something that takes time, rounded up.
pub(crate) fn at_least_one(cycles: f64) -> u32 {
    (cycles.ceil() as u32).max(1)
}

/// Puts a user's changes over a set, key by key.
struct Changes<'a> {
    file: &'a str,
}

impl Changes<'_> {
    fn apply(
        &self,
        base: &mut Map<String, Value>,
        changes: &Map<String, Value>,
        prefix: &str,
    ) -> Result<(), ParamsError> {
        for (key, change) in changes {
            let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
            if !base.contains_key(key) && prefix == "vector" && is_cost_row(key) {
                // A row of its own for what shared one so far.
                base.insert(key.clone(), base[DEFAULT].clone());
            }
            let Some(old) = base.get_mut(key) else {
                let known: Vec<&str> = base.keys().map(String::as_str).collect();
                let known = known.join(", ");
                return Err(ParamsError::UnknownKey { file: self.file.to_owned(), key: path, known });
            };
            match (old, change) {
                (Value::Object(old), Value::Object(change)) => {
                    if old.contains_key("source") && !change.contains_key("source") {
                        old.insert("source".into(), self.file.into());
                    }
                    self.apply(old, change, &path)?;
                }
                (old @ Value::String(_), Value::String(_)) => *old = change.clone(),
                (old @ Value::Number(_), Value::Number(_)) => {
                    self.check_range(&path, change.as_f64().unwrap_or(f64::NAN))?;
                    *old = change.clone();
                }
                (old, change) => {
                    let wanted = match old {
                        Value::Object(_) => "an object",
                        Value::String(_) => "a text",
                        _ => "a number",
                    };
                    let found = change.to_string();
                    return Err(ParamsError::WrongType {
                        file: self.file.to_owned(),
                        key: path,
                        wanted,
                        found,
                    });
                }
            }
        }
        Ok(())
    }

    fn check_range(&self, key: &str, value: f64) -> Result<(), ParamsError> {
        // By these something is divided.
        let divides = key == "clock.mhz" || key.ends_with(".gib_s");
        let (good, low) = if divides { (value >= 1e-3, "0.001") } else { (value >= 0.0, "0") };
        if good && value <= LARGEST {
            return Ok(());
        }
        Err(ParamsError::OutOfRange { file: self.file.to_owned(), key: key.to_owned(), value, low })
    }
}

/// Whether a key names a vector instruction, with or without an ending.
fn is_cost_row(key: &str) -> bool {
    let key = key.strip_suffix(ROWS).unwrap_or(key);
    let name = WIDTHS.iter().find_map(|width| key.strip_suffix(width)).unwrap_or(key);
    Mnemonic::ALL.iter().any(|mnemonic| mnemonic.name() == name)
}

#[cfg(test)]
mod tests {
    use argus_facts::with_causes;

    use super::*;

    #[test]
    fn the_shipped_sets_are_whole_and_in_range() {
        for (chip, text) in [(Chip::A2a3, A2A3), (Chip::A5, A5)] {
            let params = Params::of(chip);
            assert_eq!(params.chip(), chip.name());
            // A set that changes nothing passes its own checks, so every number is in range.
            let same = Params::with_changes(chip, text, "itself").unwrap();
            assert_eq!(same.name(), params.name());
            let set: Value = serde_json::from_str(text).unwrap();
            for (key, row) in set["vector"].as_object().unwrap() {
                assert!(is_cost_row(key) || key == DEFAULT || key == ROW_EXPAND, "{key}");
                assert!(!row["source"].as_str().unwrap().is_empty());
            }
        }
    }

    #[test]
    fn transfers_follow_the_curve() {
        let params = Params::of(Chip::A2a3);
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
            Chip::A2a3,
            r#"{"vector": {"VADD": {"slope": 3}, "VADD.b16": {"head": 1, "slope": 1, "tail": 1}}}"#,
            "mine.json",
        )
        .unwrap();
        assert_eq!(params.name(), "a2a3-1 changed by mine.json");
        let cost = |element| params.vector(Mnemonic::Vadd, Shape { element, in_rows: false });
        assert_eq!((cost(4).head, cost(4).slope, cost(4).tail), (10.0, 3.0, 14.0));
        assert_eq!((cost(2).head, cost(2).slope, cost(2).tail), (1.0, 1.0, 1.0));
        let named = Params::with_changes(Chip::A5, r#"{"name": "lab", "chip": "a5"}"#, "mine.json").unwrap();
        assert_eq!(named.name(), "lab");
    }

    #[test]
    fn bad_changes_are_refused_by_name() {
        let refused =
            |text: &str| with_causes(&Params::with_changes(Chip::A2a3, text, "t.json").unwrap_err());
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
        let missing = with_causes(&Params::from_file(Chip::A5, FilePath::new("no/such.json")).unwrap_err());
        assert!(missing.starts_with("cannot read timing parameters from no/such.json: "), "{missing}");
    }
}
