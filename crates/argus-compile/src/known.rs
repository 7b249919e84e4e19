//! What was learned of a compiler when it was asked, so that the next start need not ask it: starting a compiler takes
//! longer than everything else that an object from the cache needs.
//!
//! An answer counts as long as the files of the compiler are the very files they were: the command and the program
//! behind it, each by place, inode, size and both times. A command that is a script may do something else each time it is
//! called, and one that does not name the program behind it may be a front for anything; both are always asked.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cache;
use crate::error::CompileError;
use crate::toolchain::{Kind, Toolchain, ask, on_path};

/// Changes when what is kept, or the way it is learned, does.
const VERSION: u32 = 1;
/// Variables that lead a command to another program.
const VARIABLES: [&str; 2] = ["GCC_EXEC_PREFIX", "COMPILER_PATH"];

/// An answer and the files that gave it.
#[derive(Serialize, Deserialize)]
struct Known {
    version: u32,
    command: Stamp,
    inner: Stamp,
    compiler_version: String,
    kind: Kind,
    identity: u128,
}

/// A file at one moment. The last two numbers are the time that no program can set.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    path: PathBuf,
    numbers: [i64; 7],
}

impl Stamp {
    fn of(path: &Path) -> io::Result<Stamp> {
        let facts = fs::metadata(path)?;
        let [device, inode, size] = [facts.dev(), facts.ino(), facts.size()].map(|number| number as i64);
        let changed = [facts.mtime(), facts.mtime_nsec(), facts.ctime(), facts.ctime_nsec()];
        let [mtime, mtime_nsec, ctime, ctime_nsec] = changed;
        let numbers = [device, inode, size, mtime, mtime_nsec, ctime, ctime_nsec];
        Ok(Stamp { path: path.into(), numbers })
    }
}

/// A compiler by its name: what `memory` knows of it, or what it says now.
pub(crate) fn recall(compiler: OsString, memory: &Path) -> Result<Toolchain, CompileError> {
    let Some(path) = on_path(Path::new(&compiler)).filter(|path| !is_script(path)) else {
        return ask(compiler);
    };
    let place = place(memory, &compiler, &path);
    if let Some(known) = read(&place, &path) {
        return Ok(known.into_toolchain(compiler));
    }
    // The files as they are before it is asked: one that is replaced meanwhile is another one at the next start.
    let before = Stamp::of(&path);
    let asked = ask(compiler)?;
    if let (Ok(command), Some(inner)) = (before, &asked.inner) {
        // Without a file the next start asks again.
        let _ = keep(&place, &asked, command, inner);
    }
    Ok(asked)
}

/// The answer that is kept, if it still counts.
fn read(place: &Path, path: &Path) -> Option<Known> {
    let known: Known = serde_json::from_slice(&fs::read(place).ok()?).ok()?;
    let unchanged = |stamp: &Stamp| Stamp::of(&stamp.path).is_ok_and(|now| now == *stamp);
    let counts = known.version == VERSION
        && known.command.path == path
        && unchanged(&known.command)
        && unchanged(&known.inner);
    counts.then_some(known)
}

fn keep(place: &Path, asked: &Toolchain, command: Stamp, inner: &Path) -> io::Result<()> {
    let known = Known {
        version: VERSION,
        command,
        inner: Stamp::of(inner)?,
        compiler_version: asked.version.clone(),
        kind: asked.kind,
        identity: asked.identity,
    };
    if let Some(directory) = place.parent() {
        fs::create_dir_all(directory)?;
    }
    argus_files::write(place, &serde_json::to_vec(&known)?, false)
}

impl Known {
    fn into_toolchain(self, compiler: OsString) -> Toolchain {
        Toolchain {
            compiler,
            version: self.compiler_version,
            kind: self.kind,
            identity: self.identity,
            inner: Some(self.inner.path),
        }
    }
}

/// One file for each way to call a compiler.
fn place(memory: &Path, compiler: &OsStr, path: &Path) -> PathBuf {
    let variables = VARIABLES.map(|name| env::var_os(name).unwrap_or_default());
    let parts = [compiler, path.as_os_str()].into_iter().chain(variables.iter().map(OsString::as_os_str));
    memory.join(format!("{:032x}.json", cache::request(parts.map(OsStr::as_encoded_bytes))))
}

fn is_script(path: &Path) -> bool {
    let mut start = [0; 2];
    // What cannot be read is treated like one.
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).map_or(true, |()| start == *b"#!")
}
