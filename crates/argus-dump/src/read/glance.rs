//! A dump at a glance: who wrote it and how much it holds, without reading its records.
//!
//! A run of many ranks is listed this way. What is said here comes from the head of a manifest or from the length of a
//! journal, and is what the files claim; opening the dump checks it.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::dump::FormatVersion;
use super::locate::{AUGUST_DIRECTORY, AUGUST_MANIFEST};
use crate::{DUMP_DIRECTORY, JOURNAL_FILE, MANIFEST_FILE};

/// The head of a manifest is shorter than this in every format version.
const HEAD: u64 = 1 << 14;

/// What a directory of a capture has of a dump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Glance {
    /// `None`: there is neither a manifest nor a journal.
    pub version: Option<FormatVersion>,
    /// Records that the manifest claims; `None` if it does not say, or if there is a journal only.
    pub records: Option<u64>,
    /// Records that were lost, as the manifest says.
    pub dropped: u64,
    /// The number of the run in its process, where the first record says it.
    pub epoch: Option<u64>,
    pub payload: Option<PathBuf>,
    /// The manifest says that there is no payload.
    pub no_payload: bool,
    pub payload_bytes: u64,
}

impl Glance {
    /// Looks at the directory of one capture: the one that holds the dump's own directory, or that directory.
    pub fn at(capture: &Path) -> Glance {
        let mut glance = Glance::default();
        let mut named = false;
        for directory in [capture.to_path_buf(), capture.join(AUGUST_DIRECTORY), capture.join(DUMP_DIRECTORY)]
        {
            for name in [AUGUST_MANIFEST, MANIFEST_FILE] {
                if glance.version.is_none()
                    && let Some(head) = head(&directory.join(name))
                {
                    glance.version = Some(version(name, &head));
                    glance.records = number(&head, "total_args").or_else(|| number(&head, "total_tensors"));
                    glance.dropped = number(&head, "dropped_records").unwrap_or(0);
                    glance.epoch = number(&head, "run_epoch");
                    match bin_file(&head) {
                        Some("null") => glance.no_payload = true,
                        Some(name) => glance.take_payload(directory.join(name.trim_matches('"'))),
                        None => {}
                    }
                    named = bin_file(&head).is_some();
                }
            }
            if glance.version.is_none() && directory.join(JOURNAL_FILE).is_file() {
                glance.version = Some(FormatVersion::Argus);
            }
            if !named && glance.payload.is_none() {
                glance.find_payload(&directory);
            }
        }
        glance
    }

    fn find_payload(&mut self, directory: &Path) {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.sort();
        let is_payload = |path: &&PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            name.ends_with(".bin") && (name.starts_with("args.") || name.starts_with("tensor_dump"))
        };
        if let Some(path) = files.iter().find(is_payload) {
            self.take_payload(path.clone());
        }
    }

    fn take_payload(&mut self, path: PathBuf) {
        if let Ok(metadata) = fs::metadata(&path) {
            self.payload_bytes = metadata.len();
            self.payload = Some(path);
        }
    }
}

fn head(path: &Path) -> Option<String> {
    // A pipe would wait for a writer.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(HEAD).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn version(name: &str, head: &str) -> FormatVersion {
    match (name, head.contains("\"schema\"")) {
        (AUGUST_MANIFEST, _) => FormatVersion::August,
        (_, true) => FormatVersion::Argus,
        (_, false) => FormatVersion::June,
    }
}

/// The payload file that the head names: `null` or a plain name in quotes.
fn bin_file(head: &str) -> Option<&str> {
    let (_, behind) = head.split_once("\"bin_file\"")?;
    let value = behind.trim_start().strip_prefix(':')?.trim_start();
    let end = value.find([',', '\n', '}'])?;
    let value = value[..end].trim_end();
    let plain = value.len() > 2 && value.starts_with('"') && value.ends_with('"') && !value.contains('/');
    (value == "null" || plain).then_some(value)
}

/// The number behind a key of the head. Records come later in the file and have other keys.
fn number(head: &str, key: &str) -> Option<u64> {
    let (_, behind) = head.split_once(&format!("\"{key}\""))?;
    let digits = behind.trim_start().strip_prefix(':')?.trim_start();
    let end = digits.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}
