//! Files and directories that appear whole or not at all.
//!
//! Both are written under another name beside the one they will get, so that a rename is all that is left to
//! do. Code that gives up on the way, or drops what it has, leaves nothing behind; a process that is killed leaves the
//! other name, which begins with a dot, and the next one that writes there removes it. A device, a pipe or a link is
//! never replaced.
//!
//! ```
//! use std::io::Write;
//!
//! let directory = tempfile::tempdir()?;
//! let report = directory.path().join("report.txt");
//!
//! let mut draft = argus_files::Draft::create(&report, argus_files::OPEN)?;
//! draft.file().write_all(b"half of ")?;
//! assert!(!report.exists(), "half a file is never seen");
//! draft.file().write_all(b"it")?;
//! draft.publish()?;
//! assert_eq!(std::fs::read_to_string(&report)?, "half of it");
//! # Ok::<(), std::io::Error>(())
//! ```

mod directory;
mod file;
mod input;
mod leftover;

pub use directory::{Stage, check_directory, make_directory};
pub use file::{Draft, Unnamed, check_output, scratch, write};
pub use input::{LARGEST_TEXT, read};

/// Mode of every file that is written, before the umask: readable by all, writable by its owner.
pub const OPEN: u32 = 0o644;
