//! One NumPy archive, and an index beside it.

use std::io::{self, Write};

use zip::result::ZipError;
use zip::write::FileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::Job;
use super::npy::{INDEX, write_array, write_index};
use crate::content::array;
use crate::error::ExportError;
use crate::output::{Output, finish};
use crate::report::{Remarks, Report};
use crate::row::index_item;

const ARCHIVE: &str = "tensors.npz";

/// Members are stored as they are, so that writing is as fast as the disk; the time is left out, so that the same
/// dump gives the same bytes.
pub(crate) fn export(job: &Job<'_>, output: Output) -> Result<Report, ExportError> {
    output.check_free([ARCHIVE.to_owned(), INDEX.to_owned()])?;
    let (mut without, mut remarks) = (Remarks::default(), Remarks::default());
    let mut items = Vec::with_capacity(job.records.len());
    output.create(ARCHIVE)?.fill(|file| {
        let mut archive = ZipWriter::new(file);
        for record in job.records() {
            let name = job.names.stem(&record);
            match array(job.dump, &record) {
                Ok(array) => {
                    let large = array.elements().saturating_mul(8) >= u64::from(u32::MAX) / 2;
                    let options = FileOptions::default()
                        .compression_method(CompressionMethod::Stored)
                        .last_modified_time(DateTime::default())
                        .large_file(large);
                    archive.start_file(format!("{name}.npy"), options).map_err(unwrapped)?;
                    write_array(&mut archive, &array)?;
                    items.push(index_item(job.dump, &record, &name, Ok(array.storage())));
                    remarks.take(record.index, array.remark);
                }
                Err(why) => {
                    items.push(index_item(job.dump, &record, &name, Err(&why)));
                    without.without(record.index, &why);
                }
            }
            job.progress.add(&record);
        }
        archive.finish().map_err(unwrapped)?.flush()
    })?;
    write_index(&output, &items)?;
    finish(output, job.records.len(), without.groups(), remarks.groups())
}

/// A failure of the disk as it was; the archive's own error would say it twice.
fn unwrapped(error: ZipError) -> io::Error {
    match error {
        ZipError::Io(error) => error,
        other => io::Error::other(other),
    }
}
