//! One NumPy archive, and an index beside it.
//!
//! Archive and index are written in one pass, record after record. Members are stored as they are, so that writing is as
//! fast as the disk; the time is left out, so that the same dump gives the same bytes. All that is kept of a member until
//! the end is its row in the archive's directory, and that in a file.

mod archive;

use rustc_hash::FxHashMap;

use self::archive::Archive;
use super::Job;
use super::npy::{INDEX, IndexFile, header};
use crate::content::{Array, array};
use crate::error::ExportError;
use crate::index::put_item;
use crate::output::{Output, finish};
use crate::report::{Remarks, Report};

const ARCHIVE: &str = "tensors.npz";
/// Different headers that are kept. Most records of a dump have one of a few shapes.
const HEADERS: usize = 256;

pub(crate) fn export(job: &Job<'_>, output: Output) -> Result<Report, ExportError> {
    output.check_free([ARCHIVE.to_owned(), INDEX.to_owned()])?;
    let (mut without, mut remarks) = (Remarks::default(), Remarks::default());
    let mut index = IndexFile::create(&output)?;
    let draft = output.create(ARCHIVE)?;
    let path = draft.path().to_path_buf();
    let mut archive = Archive::new(draft.file, output.scratch("directory")?);
    let mut headers = Headers::default();
    let (mut stem, mut name) = (Vec::new(), String::new());
    for record in job.records() {
        stem.clear();
        job.names.put_stem(&mut stem, &record);
        name.clear();
        name.push_str(&String::from_utf8_lossy(&stem));
        match array(job.dump, &record) {
            Ok(array) => {
                let header = headers.of(&array).map_err(ExportError::write(&path))?;
                stem.extend_from_slice(b".npy");
                let added = archive.add(&stem, &[header, &array.unpacked()]);
                added.map_err(ExportError::write(&path))?;
                index.add(|out| put_item(out, job.dump, &record, &name, Ok(array.storage())))?;
                remarks.take(record.index, array.remark);
            }
            Err(why) => {
                index.add(|out| put_item(out, job.dump, &record, &name, Err(&why)))?;
                without.without(record.index, &why);
            }
        }
        job.progress.add(&record);
    }
    archive.finish().map_err(ExportError::write(&path))?;
    index.finish()?;
    finish(output, job.records.len(), without.groups(), remarks.groups())
}

/// Headers by type and shape.
#[derive(Default)]
struct Headers {
    known: FxHashMap<(&'static str, Vec<u64>), Vec<u8>>,
}

impl Headers {
    fn of(&mut self, array: &Array<'_>) -> std::io::Result<&[u8]> {
        if self.known.len() > HEADERS {
            self.known.clear();
        }
        let known = self.known.entry((array.storage(), array.shape.clone()));
        Ok(match known {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(place) => place.insert(header(array)?),
        })
    }
}
