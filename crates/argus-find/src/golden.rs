//! A folder of expected values: `.npy`, `.npz` and `.safetensors` files named by task and argument.
//!
//! A name must hold a task id in hexadecimal (`0x0000000200000001`, zeros in front may be missing) and end in
//! the number of an argument; `before` in it means the value before dispatch, everything else the value after
//! completion. So the names of `argus export` are right as they are, and so is `0x1_2.npy`.
//!
//! Values may be in the tensor's own type, in its raw bits (unsigned integers of the same width), or in a
//! wider one: f32 and f64 for floats, any integer type for integers.
//!
//! | file | subject |
//! |---|---|
//! | this one | which value is where |
//! | `files` | files of the three formats, opened once |
//! | `values` | numbers of a file in a form that compares with a tensor |

mod files;
mod values;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use argus_abi::{DType, Stage, TaskId};
use argus_dump::read::{Dump, Record};
use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

use self::files::GoldenFile;
pub use self::values::{Values, ValuesError};

/// Expected values without a counterpart that are named before the rest is only counted.
const LISTED: usize = 12;

/// Why a folder of expected values cannot be used.
#[derive(Debug, Error)]
pub enum GoldenError {
    #[error("cannot read {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} cannot be used as a {kind} file", path.display())]
    Parse { path: PathBuf, kind: &'static str, source: ValuesError },
    #[error(
        "{} holds no expected values: no .npy, .npz or .safetensors whose names have a task id such as \
         0x0000000200000001 and end in an argument number",
        path.display()
    )]
    Empty { path: PathBuf },
    #[error("{first} and {second} both stand for argument {argument} of task {task}")]
    Twice { first: String, second: String, task: TaskId, argument: u32 },
}

/// What a value is expected of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArgumentKey {
    pub task: TaskId,
    pub argument: u32,
    pub stage: Stage,
}

/// Where an expected value is, until it is wanted.
#[derive(Clone, Debug)]
struct Source {
    /// Position in [`Folder::files`].
    file: usize,
    /// Name inside an archive.
    member: Option<String>,
}

/// All expected values of a folder.
#[derive(Debug)]
pub struct Folder {
    places: FxHashMap<ArgumentKey, Source>,
    /// Each is opened once, however many values it has.
    files: Vec<(PathBuf, GoldenFile)>,
    /// Names that could not be understood, for the report.
    pub ignored: Vec<String>,
}

impl Folder {
    pub fn open(path: &Path) -> Result<Folder, GoldenError> {
        let read = |source| GoldenError::Read { path: path.to_path_buf(), source };
        let mut files: Vec<PathBuf> = fs::read_dir(path)
            .map_err(read)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()
            .map_err(read)?;
        files.sort();
        let mut folder = Folder { places: FxHashMap::default(), files: Vec::new(), ignored: Vec::new() };
        for path in files {
            let Some(file) = GoldenFile::open(&path)? else { continue };
            let number = folder.files.len();
            let members = file.members();
            folder.files.push((path, file));
            match members {
                Some(members) => {
                    for member in members {
                        let stem = member.strip_suffix(".npy").unwrap_or(&member).to_owned();
                        folder.add(&stem, Source { file: number, member: Some(member) })?;
                    }
                }
                None => {
                    let stem = folder.files[number].0.file_stem().unwrap_or_default();
                    let stem = stem.to_string_lossy().into_owned();
                    folder.add(&stem, Source { file: number, member: None })?;
                }
            }
        }
        if folder.places.is_empty() {
            return Err(GoldenError::Empty { path: path.to_path_buf() });
        }
        Ok(folder)
    }

    fn add(&mut self, stem: &str, source: Source) -> Result<(), GoldenError> {
        let Some(place) = place(stem) else {
            self.ignored.push(self.label(&source));
            return Ok(());
        };
        match self.places.insert(place, source.clone()) {
            None => Ok(()),
            Some(first) => Err(GoldenError::Twice {
                first: self.label(&first),
                second: self.label(&source),
                task: place.task,
                argument: place.argument,
            }),
        }
    }

    fn label(&self, source: &Source) -> String {
        let path = self.files[source.file].0.display();
        match &source.member {
            Some(member) => format!("{path}:{member}"),
            None => path.to_string(),
        }
    }

    /// Everything that values are expected of, sorted.
    pub fn places(&self) -> Vec<ArgumentKey> {
        let mut places: Vec<ArgumentKey> = self.places.keys().copied().collect();
        places.sort();
        places
    }

    /// What values are expected of and the dump does not have, sorted.
    pub fn unmet(&self, dump: &Dump) -> Vec<ArgumentKey> {
        let key = |record: Record| ArgumentKey {
            task: record.task_id,
            argument: record.arg_index,
            stage: record.stage,
        };
        let captured: FxHashSet<ArgumentKey> =
            dump.records().map(key).filter(|place| self.places.contains_key(place)).collect();
        self.places().into_iter().filter(|place| !captured.contains(place)).collect()
    }

    /// Expected values that were compared with nothing, in words.
    pub fn unused(&self, dump: &Dump) -> Vec<String> {
        let unmet = self.unmet(dump);
        let more = unmet.len().saturating_sub(LISTED);
        let places = unmet.iter().take(LISTED).map(|place| {
            let ArgumentKey { task, argument, stage } = place;
            let when = match stage {
                Stage::BeforeDispatch => "before",
                Stage::AfterCompletion => "after",
            };
            format!("the folder expects argument {argument} of task {task} {when} it ran, which the dump does not have")
        });
        let more = (more > 0).then(|| format!("the folder expects {more} more that the dump does not have"));
        let ignored = self.ignored.iter();
        let ignored = ignored.map(|name| format!("{name} names no task and argument: it was not used"));
        places.chain(more).chain(ignored).collect()
    }

    /// The values expected at a place, for a tensor of this type and size; `None` if the folder has none.
    pub fn values(
        &self,
        place: ArgumentKey,
        dtype: DType,
        elements: u64,
    ) -> Option<Result<(String, Values), GoldenError>> {
        let source = self.places.get(&place)?;
        let (path, file) = &self.files[source.file];
        let label = self.label(source);
        let loaded = file.load(path, &label, source.member.as_deref(), dtype, elements);
        Some(loaded.map(|values| (label, values)))
    }
}

/// `task_0x0000000200000001_after_out2` → that task, argument 2, after completion.
fn place(stem: &str) -> Option<ArgumentKey> {
    let at = stem.find("0x")?;
    let hex = &stem[at + 2..];
    let digits = hex.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(hex.len());
    let task = TaskId::from_raw(u64::from_str_radix(&hex[..digits], 16).ok()?);
    let rest = &hex[digits..];
    let number = rest.len() - rest.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
    let argument = rest[rest.len() - number..].parse().ok()?;
    let stage = if stem.contains("before") { Stage::BeforeDispatch } else { Stage::AfterCompletion };
    Some(ArgumentKey { task, argument, stage })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_task_stage_and_argument() {
        let id = TaskId::from_raw;
        let after =
            |task, argument| Some(ArgumentKey { task: id(task), argument, stage: Stage::AfterCompletion });
        assert_eq!(place("task_0x0000000200000001_after_out2"), after(0x2_0000_0001, 2));
        assert_eq!(place("0x1_0"), after(1, 0));
        assert_eq!(
            place("task_0x0000000200000001_before_inout12"),
            Some(ArgumentKey { task: id(0x2_0000_0001), argument: 12, stage: Stage::BeforeDispatch })
        );
        assert_eq!(place("weights"), None);
        assert_eq!(place("0x1_out"), None);
    }
}
