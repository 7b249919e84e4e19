//! Who is writing: the writer of a dump holds a lock on its journal, which the system takes back however it ends.
//!
//! A journal without an end entry belongs to a run that is still running or was killed; the lock tells which. On a
//! file system without locks every such run counts as killed.

use std::fs::File;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::JOURNAL_FILE;

/// Held as long as it lives.
pub(crate) struct Hold {
    _file: Option<File>,
}

impl Hold {
    /// Says that this process writes the journal in a directory.
    pub(crate) fn take(directory: &Path) -> Hold {
        let file = File::open(directory.join(JOURNAL_FILE)).ok();
        Hold { _file: file.filter(|file| flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()) }
    }
}

/// Whether some process is writing the dump in this directory right now.
pub fn is_being_written(directory: &Path) -> bool {
    let Ok(file) = File::open(directory.join(JOURNAL_FILE)) else { return false };
    matches!(flock(&file, FlockOperation::NonBlockingLockShared), Err(Errno::WOULDBLOCK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_is_being_written_as_long_as_its_writer_lives() {
        let directory = tempfile::tempdir().unwrap();
        assert!(!is_being_written(directory.path()), "there is no journal");
        std::fs::write(directory.path().join(JOURNAL_FILE), "").unwrap();
        assert!(!is_being_written(directory.path()));
        let hold = Hold::take(directory.path());
        assert!(is_being_written(directory.path()));
        assert!(is_being_written(directory.path()), "to ask changes nothing");
        drop(hold);
        assert!(!is_being_written(directory.path()));
    }
}
