//! A dump in other people's formats.
//!
//! What comes in: an opened [`Dump`], of ours or of the reference, and the numbers of the records that are
//! wanted. What goes out: files in one directory, in a [`Format`] that other tools read, or a whole dump in
//! another layout ([`convert()`]).
//!
//! ```
//! use argus_dump::read::Dump;
//! use argus_export::{Format, Options, export};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../argus-dump/tests/it/data/june");
//! # let directory = tempfile::tempdir()?;
//! # let out = directory.path();
//! let dump = Dump::open(path.as_ref())?;
//! let all: Vec<usize> = (0..dump.len()).collect();
//! let report = export(&dump, &all, Format::Parquet, out, Options::default(), &|_done, _total| {})?;
//! assert_eq!((report.records as usize, report.files), (dump.len(), 1));
//! assert!(out.join("records.parquet").is_file());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Guarantees:
//! - Files appear whole or not at all: everything is written aside first. A call that fails takes away what it
//!   made, directories included.
//! - Nothing that exists is replaced unless [`Options::force`] says so, and the dump itself never is.
//! - Nothing is lost in silence. A record without a payload is exported with its metadata, and whatever a format
//!   cannot hold is in the [`Report`], with the reason and the records that it is about.
//! - Payloads go from the mapped file to the output; no format holds more than a few of them in memory.
//!
//! # File names
//!
//! A record's name is that of the reference's text files: `task_<task id>_<before|after>_<in|out|inout><argument>`,
//! in April with `_s<member>` behind the task id. The reference overwrites one record with another when a task
//! captured an argument more than once; here the second one of a dump gets `_2` behind its name, the third `_3`.
//!
//! # Element types that NumPy lacks
//!
//! `npy` and `npz` hold the raw bits of BFLOAT16 as `<u2` and those of FP8 and FP4 as `|u1`, FP4 one element per
//! byte. `index.json` beside them names each array's `true_dtype`, so that
//! `np.load(file).view(getattr(ml_dtypes, true_dtype))` gives the numbers. `safetensors` has BFLOAT16 of its own;
//! FP8 and FP4 are stored as `U8` there, because its Python package cannot give them to NumPy, and the same index
//! is in its metadata under `argus_index`.
//!
//! | file | subject |
//! |---|---|
//! | `format` | the formats, one file each |
//! | `convert` | whole dumps, one file per family of layouts |
//! | `content`, `row` | what there is of a record to export |
//! | `names`, `output` | where it goes |
//! | [`percent_g`] | numbers as C and Python print them |

mod april;
mod content;
mod convert;
mod digits;
mod error;
mod format;
mod index;
mod names;
mod output;
pub mod percent_g;
mod report;
mod row;

use std::path::Path;

use argus_dump::read::Dump;

pub use convert::{Target, convert};
pub use error::ExportError;
pub use format::Format;
pub use format::csv::write as write_csv;
pub use format::parquet::FILE as PARQUET_FILE;
pub use report::{Group, Report};

use format::Job;
use names::Names;
use output::Output;
use report::Progress;

/// How records are exported.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Files of the same names are replaced.
    pub force: bool,
    /// Parquet gets a column with the payloads.
    pub payload: bool,
}

/// Exports `records`, numbered as in the dump, into the directory `out`, which is created if it is missing.
///
/// `progress` is told from several threads how much of how much is done, in bytes of payload; a record counts as
/// one byte at least.
pub fn export(
    dump: &Dump,
    records: &[usize],
    format: Format,
    out: &Path,
    options: Options,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<Report, ExportError> {
    if let Some(&index) = records.iter().find(|&&index| index >= dump.len()) {
        return Err(ExportError::NoSuchRecord { index, len: dump.len() });
    }
    let mut wanted = records.to_vec();
    wanted.sort_unstable();
    wanted.dedup();
    let progress = Progress::new(wanted.iter().map(|&index| dump.record(index)), progress);
    let output = Output::begin(dump, out, options.force)?;
    let names = Names::new(dump);
    let job = Job { dump, records: &wanted, names: &names, options, progress: &progress };
    match format {
        Format::Txt => format::txt::export(&job, output),
        Format::Npy => format::npy::export(&job, output),
        Format::Npz => format::npz::export(&job, output),
        Format::Safetensors => format::safetensors::export(&job, output),
        Format::Parquet => format::parquet::export(&job, output),
        Format::Csv => format::csv::export(&job, output),
    }
}
