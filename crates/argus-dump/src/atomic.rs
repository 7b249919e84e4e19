//! Files of a dump that appear whole or not at all, written by the writing thread.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use argus_files::Unnamed;

use crate::spool::{Failure, Target};
use crate::stream::Stream;

/// A large file that has no name yet.
pub(crate) struct Draft {
    file: Unnamed,
    pub(crate) stream: Stream,
    target: Arc<Target>,
}

/// What a file held when it got its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Published {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    /// xxh3_128.
    pub(crate) checksum: u128,
}

impl Draft {
    pub(crate) fn create(directory: &Path, name: &str, direct: bool) -> Result<Draft, Failure> {
        let path = directory.join(name);
        let draft = argus_files::Draft::create(&path, argus_files::OPEN)
            .map_err(|error| Failure::early(&path, &error))?;
        let (plain, file) = draft.into_parts();
        let target = Target::hashed(plain, file.temporary(), &path, direct);
        Ok(Draft { file, stream: Stream::new(Arc::clone(&target)), target })
    }

    /// Gives the file its name. It must be sealed and the writing thread must have caught up.
    pub(crate) fn publish(self) -> Result<Published, Failure> {
        let path = self.file.path().to_owned();
        let (bytes, checksum) = self.target.digest().unwrap_or_default();
        self.file.publish().map_err(|error| Failure::early(&path, &error))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Published { name, bytes, checksum })
    }
}

/// Waits until the disk has the names of the files in `directory`.
pub(crate) fn sync_names(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}
