//! One NumPy file per record, and an index.

use std::io::{self, Write};

use npyz::WriterBuilder;
use rayon::prelude::*;
use serde_json::Value;

use super::Job;
use crate::content::{Array, NoArray, array};
use crate::error::ExportError;
use crate::output::{Output, finish};
use crate::report::{Remarks, Report};
use crate::row::index_item;

pub(super) const INDEX: &str = "index.json";

pub(crate) fn export(job: &Job<'_>, output: Output) -> Result<Report, ExportError> {
    output.check_free(job.file_names("npy").chain([INDEX.to_owned()]))?;
    let told: Vec<(usize, Value, Result<Option<String>, NoArray>)> = job
        .records
        .par_iter()
        .map(|&index| {
            let record = job.dump.record(index);
            let name = format!("{}.npy", job.names.stem(&record));
            let told = match array(job.dump, &record) {
                Ok(array) => {
                    output.create(&name)?.fill(|file| write_array(file, &array))?;
                    (index, index_item(job.dump, &record, &name, Ok(array.storage())), Ok(array.remark))
                }
                Err(why) => (index, index_item(job.dump, &record, &name, Err(&why)), Err(why)),
            };
            job.progress.add(&record);
            Ok(told)
        })
        .collect::<Result<_, ExportError>>()?;
    let (mut without, mut remarks) = (Remarks::default(), Remarks::default());
    let mut items = Vec::with_capacity(told.len());
    for (index, item, outcome) in told {
        items.push(item);
        match outcome {
            Ok(remark) => remarks.take(index, remark),
            Err(why) => without.without(index, &why),
        }
    }
    write_index(&output, &items)?;
    finish(output, job.records.len(), without.groups(), remarks.groups())
}

/// One item per line.
pub(super) fn write_index(output: &Output, items: &[Value]) -> Result<(), ExportError> {
    output.create(INDEX)?.fill(|file| {
        file.write_all(b"[")?;
        for (place, item) in items.iter().enumerate() {
            write!(file, "{}{item}", if place == 0 { "\n" } else { ",\n" })?;
        }
        file.write_all(b"\n]\n")
    })
}

/// Header and elements.
pub(super) fn write_array(file: &mut impl Write, array: &Array<'_>) -> io::Result<()> {
    let storage = array.storage().parse().map_err(io::Error::other)?;
    let header = npyz::WriteOptions::new_header_only().dtype(npyz::DType::Plain(storage)).shape(&array.shape);
    header.writer(&mut *file).write_header_only()?;
    file.write_all(&array.unpacked())
}
