//! A folder of expected values: `.npy`, `.npz` and `.safetensors` files named by task and argument.
//!
//! A name must hold a task id in hexadecimal (`0x0000000200000001`, zeros in front may be missing) and end in
//! the number of an argument; `before` in it means the value before dispatch, everything else the value after
//! completion. So the names of `argus export` are right as they are, and so is `0x1_2.npy`.
//!
//! Values may be in the tensor's own type, in its raw bits (unsigned integers of the same width), or in a
//! wider one: f32 and f64 for floats, any integer type for integers.

mod values;

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use argus_abi::{DType, Stage, TaskId};
use rustc_hash::FxHashMap;
use safetensors::SafeTensors;
use thiserror::Error;
use zip::ZipArchive;

pub use self::values::{Values, ValuesError};
use self::values::{convert, npy_values, safetensors_type};

/// A member of an archive larger than this is refused rather than unpacked.
const MAX_MEMBER: u64 = 8 << 30;

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

/// Where an expected value is, until somebody wants it.
#[derive(Clone, Debug)]
struct Source {
    file: PathBuf,
    /// Name inside an archive.
    member: Option<String>,
}

impl Source {
    fn label(&self) -> String {
        match &self.member {
            Some(member) => format!("{}:{member}", self.file.display()),
            None => self.file.display().to_string(),
        }
    }
}

/// All expected values of a folder.
#[derive(Debug)]
pub struct Folder {
    places: FxHashMap<ArgumentKey, Source>,
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
        let mut folder = Folder { places: FxHashMap::default(), ignored: Vec::new() };
        for file in files {
            match file.extension().and_then(|extension| extension.to_str()) {
                Some("npy") => {
                    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                    folder.add(&stem, Source { file, member: None })?;
                }
                Some("npz") => {
                    for member in npz_members(&file)? {
                        let stem = member.trim_end_matches(".npy").to_owned();
                        folder.add(&stem, Source { file: file.clone(), member: Some(member) })?;
                    }
                }
                Some("safetensors") => {
                    for member in with_tensors(&file, |tensors| {
                        tensors.names().iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()
                    })? {
                        folder.add(&member.clone(), Source { file: file.clone(), member: Some(member) })?;
                    }
                }
                _ => {}
            }
        }
        if folder.places.is_empty() {
            return Err(GoldenError::Empty { path: path.to_path_buf() });
        }
        Ok(folder)
    }

    fn add(&mut self, stem: &str, source: Source) -> Result<(), GoldenError> {
        let Some(place) = place(stem) else {
            self.ignored.push(source.label());
            return Ok(());
        };
        match self.places.insert(place, source.clone()) {
            None => Ok(()),
            Some(first) => Err(GoldenError::Twice {
                first: first.label(),
                second: source.label(),
                task: place.task,
                argument: place.argument,
            }),
        }
    }

    /// Everything that values are expected of, sorted.
    pub fn places(&self) -> Vec<ArgumentKey> {
        let mut places: Vec<ArgumentKey> = self.places.keys().copied().collect();
        places.sort();
        places
    }

    /// The values expected at a place, for a tensor of this type and size; `None` if the folder has none.
    pub fn values(
        &self,
        place: ArgumentKey,
        dtype: DType,
        elements: u64,
    ) -> Option<Result<(String, Values), GoldenError>> {
        let source = self.places.get(&place)?;
        Some(load(source, dtype, elements).map(|values| (source.label(), values)))
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

fn load(source: &Source, dtype: DType, elements: u64) -> Result<Values, GoldenError> {
    let is = |kind| source.file.extension().is_some_and(|extension| extension == kind);
    let wrong = |kind, error| GoldenError::Parse { path: source.label().into(), kind, source: error };
    if is("safetensors") {
        let name = source.member.clone().unwrap_or_default();
        return with_tensors(&source.file, |tensors| {
            let view = tensors.tensor(&name).map_err(ValuesError::Safetensors)?;
            let stored = safetensors_type(view.dtype());
            let stored = stored.ok_or(ValuesError::SafetensorsType(view.dtype()))?;
            let count = view.shape().iter().try_fold(1u64, |n, &extent| n.checked_mul(extent as u64));
            convert(view.data(), stored, count, dtype, elements)
        })?
        .map_err(|error| wrong("safetensors", error));
    }
    let bytes = match &source.member {
        None => fs::read(&source.file)
            .map_err(|error| GoldenError::Read { path: source.file.clone(), source: error })?,
        Some(member) => npz_member(&source.file, member)?,
    };
    npy_values(&bytes, dtype, elements).map_err(|error| wrong("npy", error))
}

fn with_tensors<T>(file: &Path, look: impl FnOnce(&SafeTensors<'_>) -> T) -> Result<T, GoldenError> {
    let bytes = fs::read(file).map_err(|source| GoldenError::Read { path: file.to_path_buf(), source })?;
    let tensors = SafeTensors::deserialize(&bytes).map_err(|error| GoldenError::Parse {
        path: file.to_path_buf(),
        kind: "safetensors",
        source: ValuesError::Safetensors(error),
    })?;
    Ok(look(&tensors))
}

fn archive(file: &Path) -> Result<ZipArchive<io::BufReader<fs::File>>, GoldenError> {
    let opened =
        fs::File::open(file).map_err(|source| GoldenError::Read { path: file.to_path_buf(), source })?;
    ZipArchive::new(io::BufReader::new(opened)).map_err(|error| not_npz(file, ValuesError::Zip(error)))
}

fn not_npz(file: &Path, source: ValuesError) -> GoldenError {
    GoldenError::Parse { path: file.to_path_buf(), kind: "npz", source }
}

fn npz_members(file: &Path) -> Result<Vec<String>, GoldenError> {
    Ok(archive(file)?.file_names().map(str::to_owned).collect())
}

fn npz_member(file: &Path, member: &str) -> Result<Vec<u8>, GoldenError> {
    let mut archive = archive(file)?;
    let entry = archive.by_name(member).map_err(|error| not_npz(file, ValuesError::Zip(error)))?;
    let mut bytes = Vec::new();
    entry.take(MAX_MEMBER).read_to_end(&mut bytes).map_err(|error| not_npz(file, error.into()))?;
    Ok(bytes)
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
