//! Files of the three formats, opened once.
//!
//! Of an archive the table of contents is read when it is opened, and each value from its place when it is wanted:
//! a file of a million values is not read a million times, and is never in memory as a whole.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use argus_abi::DType;
use argus_arrays::Elements;
use safetensors::tensor::Metadata;
use zip::ZipArchive;

use super::GoldenError;
use super::values::{Values, ValuesError, convert, npy_values};

/// More than any header, and more than the bytes of a value with a header before them.
const HEADER: u64 = 1 << 20;
/// What the format allows for its header.
const SAFETENSORS_HEADER: u64 = 100_000_000;

/// A file of expected values.
#[derive(Debug)]
pub(super) enum GoldenFile {
    /// Not opened: a folder may have more of them than a process may have open.
    Npy,
    Npz(Mutex<ZipArchive<BufReader<File>>>),
    Safetensors(Safetensors),
}

/// A safetensors file and where its tensors lie.
#[derive(Debug)]
pub(super) struct Safetensors {
    file: File,
    contents: Metadata,
    /// Where the data begins, and where the file ends.
    start: u64,
    end: u64,
}

impl GoldenFile {
    /// `None` for a file of another format.
    pub(super) fn open(path: &Path) -> Result<Option<GoldenFile>, GoldenError> {
        let open = || File::open(path).map_err(|source| GoldenError::Read { path: path.into(), source });
        let wrong = |kind, source| GoldenError::Parse { path: path.to_path_buf(), kind, source };
        // Opening a pipe would wait for a writer, and a device has no end.
        if std::fs::metadata(path).is_ok_and(|file| !file.is_file()) {
            return Ok(None);
        }
        Ok(Some(match path.extension().and_then(|extension| extension.to_str()) {
            Some("npy") => GoldenFile::Npy,
            Some("npz") => {
                let archive = ZipArchive::new(BufReader::new(open()?));
                GoldenFile::Npz(Mutex::new(archive.map_err(|error| wrong("npz", ValuesError::Zip(error)))?))
            }
            Some("safetensors") => {
                let opened = Safetensors::new(open()?).map_err(|error| wrong("safetensors", error))?;
                GoldenFile::Safetensors(opened)
            }
            _ => return Ok(None),
        }))
    }

    /// Names of its values; `None` if it is one value itself.
    pub(super) fn members(&self) -> Option<Vec<String>> {
        match self {
            GoldenFile::Npy => None,
            GoldenFile::Npz(archive) => {
                let archive = archive.lock().unwrap_or_else(PoisonError::into_inner);
                Some(archive.file_names().map(str::to_owned).collect())
            }
            GoldenFile::Safetensors(file) => {
                let mut names: Vec<String> = file.contents.tensors().into_keys().collect();
                names.sort();
                Some(names)
            }
        }
    }

    /// A value for a tensor of this type and size. `label` names it in errors.
    pub(super) fn load(
        &self,
        path: &Path,
        label: &str,
        member: Option<&str>,
        dtype: DType,
        elements: u64,
    ) -> Result<Values, GoldenError> {
        let wrong = |kind, source| GoldenError::Parse { path: label.into(), kind, source };
        // No number takes more than eight bytes: what is longer has another number of elements.
        let most = elements.saturating_mul(8).saturating_add(HEADER);
        match self {
            GoldenFile::Npy => {
                let file =
                    File::open(path).map_err(|source| GoldenError::Read { path: path.into(), source })?;
                let mut bytes = Vec::new();
                let read = file.take(most).read_to_end(&mut bytes);
                read.map_err(|source| GoldenError::Read { path: path.into(), source })?;
                npy_values(&bytes, dtype, elements).map_err(|error| wrong("npy", error))
            }
            GoldenFile::Npz(archive) => {
                let bytes = npz_member(archive, member.unwrap_or_default(), most);
                let bytes = bytes.map_err(|error| wrong("npz", error))?;
                npy_values(&bytes, dtype, elements).map_err(|error| wrong("npy", error))
            }
            GoldenFile::Safetensors(file) => file
                .load(member.unwrap_or_default(), dtype, elements)
                .map_err(|error| wrong("safetensors", error)),
        }
    }
}

fn npz_member(
    archive: &Mutex<ZipArchive<BufReader<File>>>,
    member: &str,
    most: u64,
) -> Result<Vec<u8>, ValuesError> {
    let mut archive = archive.lock().unwrap_or_else(PoisonError::into_inner);
    let entry = archive.by_name(member).map_err(ValuesError::Zip)?;
    let mut bytes = Vec::new();
    entry.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl Safetensors {
    fn new(file: File) -> Result<Safetensors, ValuesError> {
        let mut length = [0; 8];
        file.read_exact_at(&mut length, 0)?;
        let length = u64::from_le_bytes(length);
        let whole = file.metadata()?.len();
        if length > SAFETENSORS_HEADER || length > whole {
            return Err(ValuesError::SafetensorsHeader { length, file: whole });
        }
        let mut header = vec![0; length as usize];
        file.read_exact_at(&mut header, 8)?;
        let contents: Metadata = serde_json::from_slice(&header).map_err(io::Error::from)?;
        Ok(Safetensors { file, contents, start: 8 + length, end: whole })
    }

    fn load(&self, name: &str, dtype: DType, elements: u64) -> Result<Values, ValuesError> {
        let Some(info) = self.contents.info(name) else {
            return Err(io::Error::from(io::ErrorKind::NotFound).into());
        };
        let stored =
            Elements::from_safetensors(info.dtype).ok_or(ValuesError::SafetensorsType(info.dtype))?;
        let count = info.shape.iter().try_fold(1u64, |n, &extent| n.checked_mul(extent as u64));
        if count != Some(elements) {
            return Err(ValuesError::Count { found: count, wanted: elements });
        }
        let (from, to) = (info.data_offsets.0 as u64, info.data_offsets.1 as u64);
        let size = to.checked_sub(from).filter(|&size| size <= elements.saturating_mul(8));
        let at = self.start.checked_add(from);
        let there =
            at.zip(size).filter(|&(at, size)| at.checked_add(size).is_some_and(|end| end <= self.end));
        let Some((at, size)) = there else {
            return Err(ValuesError::Short { bytes: self.end.saturating_sub(self.start) as usize });
        };
        let mut bytes = vec![0; size as usize];
        self.file.read_exact_at(&mut bytes, at)?;
        convert(&bytes, stored, count, dtype, elements)
    }
}
