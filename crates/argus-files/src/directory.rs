//! A directory, or files that appear together.

use std::fs;
use std::io;
use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use tempfile::TempDir;

use crate::file::{beside, kind, refuse_special, unmade};
use crate::leftover;

/// Makes a directory and those above it, unless they are there.
pub fn make_directory(path: &Path) -> io::Result<()> {
    check_directory(path)?;
    fs::create_dir_all(path)
}

/// Whether there may be a directory here, before there is anything to put into it. A link to one will do; anything
/// else under one of the names is refused by what it is.
pub fn check_directory(path: &Path) -> io::Result<()> {
    let taken = path.ancestors().find_map(|ancestor| Some((ancestor, fs::symlink_metadata(ancestor).ok()?)));
    match taken {
        Some((ancestor, there)) if !ancestor.is_dir() => {
            let (what, name) = (kind(there.file_type()), ancestor.display());
            let why = if ancestor == path {
                format!("there is {what} under this name, not a directory")
            } else {
                format!("{name} is {what}, not a directory")
            };
            Err(io::Error::new(io::ErrorKind::NotADirectory, why))
        }
        _ => Ok(()),
    }
}

/// A directory in which something is put together before it gets its place. What is still in it when it is
/// dropped is removed.
#[derive(Debug)]
pub struct Stage {
    directory: TempDir,
}

impl Stage {
    /// A stage in `directory`, which exists.
    pub fn inside(directory: &Path) -> io::Result<Stage> {
        leftover::sweep(directory, "");
        let made = tempfile::Builder::new().prefix(&leftover::prefix("")).tempdir_in(directory);
        Ok(Stage { directory: made.map_err(|error| unmade(directory, error))? })
    }

    /// A stage beside `path`.
    pub fn beside(path: &Path) -> io::Result<Stage> {
        Stage::inside(beside(path))
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Gives `name`, a file or directory on the stage, its place. A file is replaced; a directory only if it is
    /// empty, even if another process made it meanwhile; nothing else is.
    pub fn publish(&self, name: &str, target: &Path) -> io::Result<()> {
        if !target.is_dir() || target.is_symlink() {
            refuse_special(target)?;
        }
        fs::rename(self.path().join(name), target)
    }

    /// Gives the directory `name` its place; one that is there already changes places with it, in one step where the
    /// file system can do that.
    pub fn exchange(&self, name: &str, target: &Path) -> io::Result<()> {
        if target.symlink_metadata().is_err() {
            return self.publish(name, target);
        }
        match renameat_with(CWD, self.path().join(name), CWD, target, RenameFlags::EXCHANGE) {
            // Some file systems cannot exchange.
            Err(Errno::INVAL | Errno::NOSYS) => self.exchange_in_steps(name, target),
            other => Ok(other?),
        }
    }

    /// What is at `target` goes aside first, and comes back if the other one cannot take its place.
    fn exchange_in_steps(&self, name: &str, target: &Path) -> io::Result<()> {
        let old = self.path().join(format!("{name}.old"));
        fs::rename(target, &old)?;
        if let Err(error) = self.publish(name, target) {
            let _ = fs::rename(&old, target);
            return Err(error);
        }
        fs::rename(&old, self.path().join(name))
    }

    /// Removes the stage and what is left on it, and says so if that fails.
    pub fn remove(self) -> io::Result<()> {
        self.directory.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_takes_a_free_name_or_changes_places_with_the_one_that_has_it() {
        for exchange in [Stage::exchange, Stage::exchange_in_steps] {
            let home = tempfile::tempdir().unwrap();
            let stage = Stage::inside(home.path()).unwrap();
            let (fresh, target) = (stage.path().join("new"), home.path().join("name"));
            for (content, before) in [("first", None), ("second", Some("first"))] {
                fs::create_dir(&fresh).unwrap();
                fs::write(fresh.join("file"), content).unwrap();
                let put = if before.is_some() { exchange } else { Stage::exchange };
                put(&stage, "new", &target).unwrap();
                assert_eq!(fs::read_to_string(target.join("file")).unwrap(), content);
                assert_eq!(fs::read_to_string(fresh.join("file")).ok().as_deref(), before);
            }
            stage.remove().unwrap();
            assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn a_directory_is_made_with_those_above_it_and_what_is_none_is_named() {
        let home = tempfile::tempdir().unwrap();
        let (file, link) = (home.path().join("file"), home.path().join("link"));
        fs::write(&file, "kept").unwrap();
        std::os::unix::fs::symlink(home.path(), &link).unwrap();
        make_directory(&home.path().join("a/b")).unwrap();
        make_directory(&link).unwrap();
        make_directory(&link.join("a/c")).unwrap();
        assert!(home.path().join("a/b").is_dir() && home.path().join("a/c").is_dir());
        let said = |path: &Path| make_directory(path).unwrap_err().to_string();
        assert_eq!(said(&file), "there is a file under this name, not a directory");
        assert_eq!(said(Path::new("/dev/null")), "there is a device under this name, not a directory");
        assert_eq!(said(&file.join("x/y")), format!("{} is a file, not a directory", file.display()));
        assert_eq!(fs::read(&file).unwrap(), b"kept");
    }

    #[test]
    fn a_target_that_cannot_be_replaced_stays() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("name");
        fs::create_dir(&target).unwrap();
        let stage = Stage::beside(&target).unwrap();
        for put in [Stage::exchange, Stage::exchange_in_steps] {
            assert!(put(&stage, "nothing", &target).is_err());
            assert!(target.is_dir());
        }
    }
}
