//! A folder of expected values: `.npy`, `.npz` and `.safetensors` files named by task and argument.
//!
//! A name must hold a task id in hexadecimal (`0x0000000200000001`, zeros in front may be missing) and end in
//! the number of an argument; `before` in it means the value before dispatch, everything else the value after
//! completion. So the names of `argus export` are right as they are, and so is `0x1_2.npy`.
//!
//! Values may be in the tensor's own type, in its raw bits (unsigned integers of the same width), or in a
//! wider one: f32 and f64 for floats, any integer type for integers.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use argus_abi::{DType, Stage, TaskId};
use argus_facts::number::element;
use npyz::{NpyHeader, Order, TypeChar};
use rustc_hash::FxHashMap;
use safetensors::SafeTensors;
use thiserror::Error;
use zip::ZipArchive;

/// A member of an archive larger than this is refused rather than unpacked.
const MAX_MEMBER: u64 = 8 << 30;

/// Why a folder of expected values cannot be used.
#[derive(Debug, Error)]
pub enum GoldenError {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is no {kind} file that can be read: {why}", path.display())]
    Parse { path: PathBuf, kind: &'static str, why: String },
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
pub struct Place {
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
    places: FxHashMap<Place, Source>,
    /// Names that could not be understood, for the report.
    pub ignored: Vec<String>,
}

/// Expected values, ready to be compared with a payload.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// In the tensor's own type.
    Own(Vec<u8>),
    /// Wider floats than the tensor's.
    F32(Vec<u8>),
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
    pub fn places(&self) -> Vec<Place> {
        let mut places: Vec<Place> = self.places.keys().copied().collect();
        places.sort();
        places
    }

    /// The values expected at a place, for a tensor of this type and size; `None` if the folder has none.
    pub fn values(
        &self,
        place: Place,
        dtype: DType,
        elements: u64,
    ) -> Option<Result<(String, Values), GoldenError>> {
        let source = self.places.get(&place)?;
        Some(load(source, dtype, elements).map(|values| (source.label(), values)))
    }
}

/// `task_0x0000000200000001_after_out2` → that task, argument 2, after completion.
fn place(stem: &str) -> Option<Place> {
    let at = stem.find("0x")?;
    let hex = &stem[at + 2..];
    let digits = hex.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(hex.len());
    let task = TaskId::from_raw(u64::from_str_radix(&hex[..digits], 16).ok()?);
    let rest = &hex[digits..];
    let number = rest.len() - rest.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
    let argument = rest[rest.len() - number..].parse().ok()?;
    let stage = if stem.contains("before") { Stage::BeforeDispatch } else { Stage::AfterCompletion };
    Some(Place { task, argument, stage })
}

fn load(source: &Source, dtype: DType, elements: u64) -> Result<Values, GoldenError> {
    let is = |kind| source.file.extension().is_some_and(|extension| extension == kind);
    let wrong = |kind: &'static str, why: String| {
        let path = source.label().into();
        GoldenError::Parse { path, kind, why }
    };
    if is("safetensors") {
        let name = source.member.clone().unwrap_or_default();
        return with_tensors(&source.file, |tensors| {
            let view = tensors.tensor(&name).map_err(|error| error.to_string())?;
            let stored = safetensors_type(view.dtype());
            let stored = stored.ok_or_else(|| format!("its type {:?} is unknown here", view.dtype()))?;
            let count = view.shape().iter().try_fold(1u64, |n, &extent| n.checked_mul(extent as u64));
            convert(view.data(), stored, count, dtype, elements)
        })?
        .map_err(|why| wrong("safetensors", why));
    }
    let bytes = match &source.member {
        None => fs::read(&source.file)
            .map_err(|error| GoldenError::Read { path: source.file.clone(), source: error })?,
        Some(member) => npz_member(&source.file, member)?,
    };
    npy_values(&bytes, dtype, elements).map_err(|why| wrong("npy", why))
}

/// How numbers are stored in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stored {
    As(DType),
    F64,
    /// Bits without a meaning of their own, so many bytes each.
    Raw(usize),
}

fn npy_values(bytes: &[u8], dtype: DType, elements: u64) -> Result<Values, String> {
    let mut rest = bytes;
    let header = NpyHeader::from_reader(&mut rest).map_err(|error| error.to_string())?;
    let npyz::DType::Plain(plain) = header.dtype() else {
        return Err("it holds records, not numbers".to_owned());
    };
    if plain.endianness() == npyz::Endianness::Big && plain.size_field() > 1 {
        return Err("its numbers are big-endian; save them little-endian".to_owned());
    }
    let size = usize::try_from(plain.size_field()).map_err(|error| error.to_string())?;
    let stored = match (plain.type_char(), size) {
        (TypeChar::Float, 8) => Stored::F64,
        (TypeChar::Float, 4) => Stored::As(DType::F32),
        (TypeChar::Float, 2) => Stored::As(DType::F16),
        (TypeChar::Int, 1) => Stored::As(DType::I8),
        (TypeChar::Int, 2) => Stored::As(DType::I16),
        (TypeChar::Int, 4) => Stored::As(DType::I32),
        (TypeChar::Int, 8) => Stored::As(DType::I64),
        (TypeChar::Uint, 1) => Stored::As(DType::U8),
        (TypeChar::Uint, 2) => Stored::As(DType::U16),
        (TypeChar::Uint, 4) => Stored::As(DType::U32),
        (TypeChar::Uint, 8) => Stored::As(DType::U64),
        (TypeChar::Bool, 1) => Stored::As(DType::Bool),
        (TypeChar::RawData, size) => Stored::Raw(size),
        (other, size) => return Err(format!("numbers of type {other:?} with {size} bytes are unknown here")),
    };
    let shape = header.shape();
    let flat = shape.iter().filter(|&&extent| extent > 1).count() <= 1;
    if header.order() == Order::Fortran && !flat {
        return Err("its rows lie by columns (fortran_order); save np.ascontiguousarray of it".to_owned());
    }
    let count = shape.iter().try_fold(1u64, |n, &extent| n.checked_mul(extent));
    convert(rest, stored, count, dtype, elements)
}

fn safetensors_type(dtype: safetensors::Dtype) -> Option<Stored> {
    use safetensors::Dtype;
    Some(Stored::As(match dtype {
        Dtype::F64 => return Some(Stored::F64),
        Dtype::F32 => DType::F32,
        Dtype::F16 => DType::F16,
        Dtype::BF16 => DType::Bf16,
        Dtype::F8_E4M3 => DType::Fp8E4M3Fn,
        Dtype::F8_E8M0 => DType::Fp8E8M0,
        Dtype::F4 => DType::Fp4E2M1,
        Dtype::I8 => DType::I8,
        Dtype::I16 => DType::I16,
        Dtype::I32 => DType::I32,
        Dtype::I64 => DType::I64,
        Dtype::U8 => DType::U8,
        Dtype::U16 => DType::U16,
        Dtype::U32 => DType::U32,
        Dtype::U64 => DType::U64,
        Dtype::BOOL => DType::Bool,
        _ => return None,
    }))
}

/// Brings stored numbers into a form that compares with a tensor of `dtype`.
fn convert(
    bytes: &[u8],
    stored: Stored,
    count: Option<u64>,
    dtype: DType,
    elements: u64,
) -> Result<Values, String> {
    if count != Some(elements) {
        let count = count.map_or_else(|| "too many".to_owned(), |count| count.to_string());
        return Err(format!("it has {count} elements, the tensor has {elements}"));
    }
    let width = |bytes_each: usize| elements.checked_mul(bytes_each as u64);
    let needed = match stored {
        Stored::As(stored) => stored.packed_bytes(elements),
        Stored::F64 => width(8),
        Stored::Raw(size) => width(size),
    };
    let bytes = needed
        .and_then(|needed| bytes.get(..usize::try_from(needed).ok()?))
        .ok_or_else(|| format!("it ends after {} bytes", bytes.len()))?;
    let unsigned = |stored| matches!(stored, DType::U8 | DType::U16 | DType::U32 | DType::U64);
    match stored {
        Stored::As(stored) if stored == dtype => Ok(Values::Own(bytes.to_vec())),
        // Floats without a type of their own in numpy are saved as their bits.
        Stored::As(stored) if unsigned(stored) && dtype.is_float() && dtype.bits() == stored.bits() => {
            Ok(Values::Own(bytes.to_vec()))
        }
        Stored::As(DType::U8) if dtype == DType::Fp4E2M1 => {
            let pairs = bytes.chunks(2).map(|pair| pair[0] & 15 | pair.get(1).map_or(0, |high| high << 4));
            Ok(Values::Own(pairs.collect()))
        }
        Stored::Raw(size) if size * 8 == dtype.bits() as usize => Ok(Values::Own(bytes.to_vec())),
        Stored::Raw(size) => {
            Err(format!("it holds raw elements of {size} bytes, the tensor is {}", dtype.name()))
        }
        Stored::F64 if dtype.is_float() => {
            let narrowed = bytes
                .as_chunks::<8>()
                .0
                .iter()
                .flat_map(|raw| (f64::from_le_bytes(*raw) as f32).to_le_bytes());
            Ok(Values::F32(narrowed.collect()))
        }
        Stored::As(stored) if stored.is_float() && dtype.is_float() => {
            let wide =
                |index| element(stored, bytes, index).map_or(f32::NAN, |number| number.as_f64() as f32);
            Ok(Values::F32((0..elements).flat_map(|index| wide(index).to_le_bytes()).collect()))
        }
        Stored::As(stored) if !stored.is_float() && !dtype.is_float() => {
            integers(bytes, stored, dtype, elements)
        }
        _ => Err(format!("its numbers are of another kind than the tensor's {}", dtype.name())),
    }
}

fn integers(bytes: &[u8], stored: DType, dtype: DType, elements: u64) -> Result<Values, String> {
    use argus_facts::number::Number;
    let exact = |number: Number| match number {
        Number::Signed(value) => i128::from(value),
        Number::Unsigned(value) => i128::from(value),
        Number::Bool(value) => i128::from(value),
        Number::Float(_) => 0,
    };
    let mut out = Vec::new();
    for index in 0..elements {
        let value = element(stored, bytes, index).map(exact).unwrap_or_default();
        let raw = (value as u64).to_le_bytes();
        let own = &raw[..dtype.size()];
        if element(dtype, own, 0).map(exact) != Some(value) {
            return Err(format!("element {index} is {value}, which {} does not hold", dtype.name()));
        }
        out.extend_from_slice(own);
    }
    Ok(Values::Own(out))
}

fn with_tensors<T>(file: &Path, look: impl FnOnce(&SafeTensors<'_>) -> T) -> Result<T, GoldenError> {
    let bytes = fs::read(file).map_err(|source| GoldenError::Read { path: file.to_path_buf(), source })?;
    let tensors = SafeTensors::deserialize(&bytes).map_err(|error| GoldenError::Parse {
        path: file.to_path_buf(),
        kind: "safetensors",
        why: error.to_string(),
    })?;
    Ok(look(&tensors))
}

fn archive(file: &Path) -> Result<ZipArchive<io::BufReader<fs::File>>, GoldenError> {
    let opened =
        fs::File::open(file).map_err(|source| GoldenError::Read { path: file.to_path_buf(), source })?;
    ZipArchive::new(io::BufReader::new(opened)).map_err(|error| not_npz(file, &io::Error::from(error)))
}

fn not_npz(file: &Path, error: &io::Error) -> GoldenError {
    GoldenError::Parse { path: file.to_path_buf(), kind: "npz", why: error.to_string() }
}

fn npz_members(file: &Path) -> Result<Vec<String>, GoldenError> {
    Ok(archive(file)?.file_names().map(str::to_owned).collect())
}

fn npz_member(file: &Path, member: &str) -> Result<Vec<u8>, GoldenError> {
    let mut archive = archive(file)?;
    let entry = archive.by_name(member).map_err(|error| not_npz(file, &io::Error::other(error)))?;
    let mut bytes = Vec::new();
    entry.take(MAX_MEMBER).read_to_end(&mut bytes).map_err(|error| not_npz(file, &error))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_task_stage_and_argument() {
        let id = TaskId::from_raw;
        let after = |task, argument| Some(Place { task: id(task), argument, stage: Stage::AfterCompletion });
        assert_eq!(place("task_0x0000000200000001_after_out2"), after(0x2_0000_0001, 2));
        assert_eq!(place("0x1_0"), after(1, 0));
        assert_eq!(
            place("task_0x0000000200000001_before_inout12"),
            Some(Place { task: id(0x2_0000_0001), argument: 12, stage: Stage::BeforeDispatch })
        );
        assert_eq!(place("weights"), None);
        assert_eq!(place("0x1_out"), None);
    }

    #[test]
    fn numbers_of_other_widths_are_brought_into_form() {
        let f64s: Vec<u8> = [1.5f64, -2.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        let f32s: Vec<u8> = [1.5f32, -2.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(convert(&f64s, Stored::F64, Some(2), DType::Bf16, 2), Ok(Values::F32(f32s.clone())));
        assert_eq!(convert(&f32s, Stored::As(DType::F32), Some(2), DType::F32, 2), Ok(Values::Own(f32s)));
        let i64s: Vec<u8> = [7i64, -1].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(
            convert(&i64s, Stored::As(DType::I64), Some(2), DType::I8, 2),
            Ok(Values::Own(vec![7, 0xff]))
        );
        assert!(convert(&i64s, Stored::As(DType::I64), Some(2), DType::U8, 2).unwrap_err().contains("-1"));
        assert_eq!(
            convert(&[1, 2, 3], Stored::As(DType::U8), Some(3), DType::Fp4E2M1, 3),
            Ok(Values::Own(vec![0x21, 0x03]))
        );
        assert!(
            convert(&[0; 4], Stored::As(DType::F32), Some(1), DType::F32, 2)
                .unwrap_err()
                .contains("1 elements")
        );
        assert!(
            convert(&[0; 3], Stored::As(DType::F32), Some(1), DType::F32, 1).unwrap_err().contains("3 bytes")
        );
    }
}
