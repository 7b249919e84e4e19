//! One file.

use std::fs::{File, FileType, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use crate::leftover;

/// A file that is being written and has no name yet.
#[derive(Debug)]
pub struct Draft {
    file: NamedTempFile,
    path: PathBuf,
}

impl Draft {
    /// Begins the file `path`, with a mode as `open` takes it: the umask has its say.
    pub fn create(path: &Path, mode: u32) -> io::Result<Draft> {
        refuse_special(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        leftover::sweep(beside(path), &format!(".{name}"));
        let prefix = leftover::prefix(&format!(".{name}"));
        let file = tempfile::Builder::new()
            .prefix(&prefix)
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(beside(path))
            .map_err(|error| unmade(beside(path), error))?;
        Ok(Draft { file, path: path.to_owned() })
    }

    pub fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Gives the file its name; what had it before is gone.
    pub fn publish(self) -> io::Result<()> {
        self.into_parts().1.publish()
    }

    /// The open file, and what will name it: for writers that keep the file themselves.
    pub fn into_parts(self) -> (File, Unnamed) {
        let (file, temporary) = self.file.into_parts();
        (file, Unnamed { temporary, path: self.path })
    }
}

/// A file in `directory` that never has a name: it is gone when it is closed, however the process ends.
pub fn scratch(directory: &Path) -> io::Result<File> {
    tempfile::tempfile_in(directory)
}

/// A written file that still lacks its name.
#[derive(Debug)]
pub struct Unnamed {
    temporary: TempPath,
    path: PathBuf,
}

impl Unnamed {
    /// Where the file is until it has its name.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// The name it will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name; a file that had it before is gone.
    pub fn publish(self) -> io::Result<()> {
        refuse_special(&self.path)?;
        self.temporary.persist(&self.path).map_err(|failed| failed.error)
    }
}

/// Writes a small file, and waits until the disk has its content if `sync` asks for it.
pub fn write(path: &Path, bytes: &[u8], sync: bool) -> io::Result<()> {
    let mut draft = Draft::create(path, crate::OPEN)?;
    draft.file().write_all(bytes)?;
    if sync {
        draft.file().sync_data()?;
    }
    draft.publish()
}

/// Refuses a name that belongs to anything but a file: a device, a pipe, a link or a directory is never replaced.
pub(crate) fn refuse_special(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(there) if !there.is_file() => {
            let what = kind(there.file_type());
            Err(io::Error::other(format!("there is {what} under this name, which is not replaced")))
        }
        _ => Ok(()),
    }
}

/// What a name belongs to, in words.
pub(crate) fn kind(kind: FileType) -> &'static str {
    match () {
        () if kind.is_file() => "a file",
        () if kind.is_symlink() => "a symbolic link",
        () if kind.is_dir() => "a directory",
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    }
}

/// Why nothing can be made in `directory`, without the temporary name that was tried.
pub(crate) fn unmade(directory: &Path, error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::NotFound {
        let why = format!("there is no directory {}", directory.display());
        return io::Error::new(io::ErrorKind::NotFound, why);
    }
    let text = error.to_string();
    match text.rsplit_once(" at path ") {
        Some((why, _)) => io::Error::new(error.kind(), why),
        None => error,
    }
}

/// Whether a file can be written here, before there is anything to write. One that exists is refused unless `force`
/// says that it may be replaced.
pub fn check_output(path: &Path, force: bool) -> io::Result<()> {
    refuse_special(path)?;
    if !force && path.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    // Made and removed again: nothing else tells whether it can be.
    Draft::create(path, crate::OPEN).map(drop)
}

/// The directory of a path.
pub(crate) fn beside(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_replaces_the_one_of_its_name() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("name");
        for content in ["old", "new"] {
            write(&path, content.as_bytes(), true).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
        assert_eq!(names(home.path()), ["name"]);
    }

    #[test]
    fn a_draft_that_is_dropped_leaves_nothing_and_spares_the_old_file() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("name");
        write(&path, b"old", false).unwrap();
        let mut draft = Draft::create(&path, crate::OPEN).unwrap();
        draft.file().write_all(b"new").unwrap();
        assert_eq!(names(home.path()).len(), 2);
        drop(draft);
        assert_eq!(names(home.path()), ["name"]);
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }

    #[test]
    fn the_mode_is_the_one_that_was_asked_for() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("name");
        Draft::create(&path, 0o640).unwrap().publish().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777 & !0o640, 0);
    }

    #[test]
    fn devices_pipes_and_links_stay_what_they_are() {
        let home = tempfile::tempdir().unwrap();
        let (file, link) = (home.path().join("file"), home.path().join("link"));
        write(&file, b"kept", false).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        for path in [Path::new("/dev/full"), &link] {
            let error = write(path, b"new", false).unwrap_err().to_string();
            assert!(error.ends_with("under this name, which is not replaced"), "{error}");
            assert!(!path.symlink_metadata().unwrap().is_file());
            assert!(check_output(path, true).is_err());
        }
        assert_eq!(fs::read(&file).unwrap(), b"kept");
        assert_eq!(check_output(&file, false).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        check_output(&file, true).unwrap();
        let error = check_output(&home.path().join("none/file"), false).unwrap_err().to_string();
        assert_eq!(error, format!("there is no directory {}", home.path().join("none").display()));
        let error = check_output(&file.join("below"), false).unwrap_err().to_string();
        assert_eq!(error, "Not a directory (os error 20)", "no temporary name");
        assert_eq!(names(home.path()).len(), 2);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_by_the_next_one() {
        let home = tempfile::tempdir().unwrap();
        // No process has the largest number.
        for name in [format!(".name.argus-{}-abc", u32::MAX), format!(".argus-{}-dir", u32::MAX)] {
            fs::create_dir(home.path().join(name)).unwrap();
        }
        let own = format!(".argus-{}-mine", std::process::id());
        fs::create_dir(home.path().join(&own)).unwrap();
        write(&home.path().join("name"), b"new", false).unwrap();
        crate::Stage::inside(home.path()).unwrap().remove().unwrap();
        let mut left = names(home.path());
        left.sort();
        assert_eq!(left, [own.as_str(), "name"]);
    }

    #[test]
    fn a_name_that_a_directory_has_is_an_error_and_leaves_nothing() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("name");
        fs::create_dir(&path).unwrap();
        assert!(write(&path, b"new", false).is_err());
        assert_eq!(names(home.path()), ["name"]);
    }
}
