//! One NumPy file per record, and an index.

use std::io::{self, Write};

use npyz::WriterBuilder;
use rayon::prelude::*;

use super::Job;
use crate::content::{Array, NoArray, array};
use crate::error::ExportError;
use crate::index::put_item;
use crate::output::{Draft, Output, finish};
use crate::report::{Remarks, Report};

pub(super) const INDEX: &str = "index.json";

/// A record, its item of the index, and a remark or why there is no array of it.
type Told = (usize, Vec<u8>, Result<Option<String>, NoArray>);

pub(crate) fn export(job: &Job<'_>, output: Output) -> Result<Report, ExportError> {
    output.check_free(job.file_names("npy").chain([INDEX.to_owned()]))?;
    let file_system = output.file_system_time(job.records.len())?;
    let told: Vec<Told> = job
        .records
        .par_iter()
        .map(|&index| {
            let record = job.dump.record(index);
            let name = format!("{}.npy", job.names.stem(&record));
            let mut item = Vec::new();
            let told = match array(job.dump, &record) {
                Ok(array) => {
                    let mut file = header(&array).map_err(ExportError::write(name.as_ref()))?;
                    file.extend_from_slice(&array.unpacked());
                    output.write(&name, &file)?;
                    put_item(&mut item, job.dump, &record, &name, Ok(array.storage()));
                    (index, item, Ok(array.remark))
                }
                Err(why) => {
                    put_item(&mut item, job.dump, &record, &name, Err(&why));
                    (index, item, Err(why))
                }
            };
            job.progress.add(&record);
            Ok(told)
        })
        .collect::<Result<_, ExportError>>()?;
    let (mut without, mut remarks) = (Remarks::default(), Remarks::default());
    let mut items = IndexFile::create(&output)?;
    for (index, item, outcome) in told {
        items.add(|out| out.extend_from_slice(&item))?;
        match outcome {
            Ok(remark) => remarks.take(index, remark),
            Err(why) => without.without(index, &why),
        }
    }
    items.finish()?;
    let report = finish(output, job.records.len(), without.groups(), remarks.groups())?;
    Ok(Report { file_system, ..report })
}

/// An index that is written while its records are: one item per line.
pub(super) struct IndexFile {
    draft: Draft,
    item: Vec<u8>,
    any: bool,
}

impl IndexFile {
    pub(super) fn create(output: &Output) -> Result<IndexFile, ExportError> {
        Ok(IndexFile { draft: output.create(INDEX)?, item: Vec::new(), any: false })
    }

    pub(super) fn add(&mut self, put: impl FnOnce(&mut Vec<u8>)) -> Result<(), ExportError> {
        self.item.clear();
        self.item.extend_from_slice(if self.any { b",\n" } else { b"[\n" });
        self.any = true;
        put(&mut self.item);
        let path = self.draft.path().to_path_buf();
        self.draft.file.write_all(&self.item).map_err(ExportError::write(&path))
    }

    pub(super) fn finish(self) -> Result<(), ExportError> {
        let start: &[u8] = if self.any { b"" } else { b"[" };
        self.draft.fill(|file| {
            file.write_all(start)?;
            file.write_all(b"\n]\n")
        })
    }
}

/// The bytes before the elements of an array.
pub(super) fn header(array: &Array<'_>) -> io::Result<Vec<u8>> {
    let storage = array.storage().parse().map_err(io::Error::other)?;
    let header = npyz::WriteOptions::new_header_only().dtype(npyz::DType::Plain(storage)).shape(&array.shape);
    let mut bytes = Vec::new();
    header.writer(&mut bytes).write_header_only()?;
    Ok(bytes)
}
