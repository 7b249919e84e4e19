//! Units to objects, several at a time.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::cache::{self, Cache, Entry, Made, Seen};
use crate::error::CompileError;
use crate::headers;
use crate::toolchain::Toolchain;
use crate::unit::Unit;

/// A compiler with the tool's headers and a cache.
pub struct Compiler {
    toolchain: Toolchain,
    headers: PathBuf,
    cache: Cache,
}

/// A shared object that can be loaded. Its name is a checksum of what it was made from, so the same path never holds
/// other code.
#[derive(Clone, Debug)]
pub struct Object {
    pub path: PathBuf,
    /// What the compiler said when it was made: warnings, or nothing.
    pub said: String,
    /// The command that made it, as it can be typed.
    pub command: String,
    /// The source and the headers that are its author's, the source first, with the names that the object has for them.
    pub sources: Vec<SourceText>,
    /// It was in the cache.
    pub cached: bool,
}

/// A file that an object was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// Its name below the scene's directory, or its full path.
    pub path: PathBuf,
    /// The name that the object has for it: as it was included, which may go up and down.
    pub spelled: PathBuf,
    pub text: String,
}

impl Compiler {
    /// The compiler that was named, or the machine's, with the user's cache.
    pub fn find(named: Option<&OsStr>) -> Result<Compiler, CompileError> {
        let directory = cache_directory();
        Compiler::with_cache(Toolchain::find_known(named, &directory.join("compilers"))?, &directory)
    }

    /// A compiler with a cache in `directory`.
    pub fn with_cache(toolchain: Toolchain, directory: &Path) -> Result<Compiler, CompileError> {
        let unusable = |source| CompileError::Cache { path: directory.into(), source };
        let cache = Cache::open(directory.join("objects-2")).map_err(unusable)?;
        // Paths in messages and debug information should not depend on where the tool was called.
        let headers = headers::materialise(&directory.join("headers")).map_err(unusable)?;
        let headers = fs::canonicalize(headers).map_err(unusable)?;
        Ok(Compiler { toolchain, headers, cache })
    }

    pub fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

    /// The directory that holds `pto/` and the other headers.
    pub fn headers(&self) -> &Path {
        &self.headers
    }

    /// The objects of these units, in their order. All of them are compiled even if one fails; the first failure in the
    /// order of the units is the error.
    pub fn compile(&self, units: &[Unit]) -> Result<Vec<Object>, CompileError> {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(units.len());
        let (next, seen) = (AtomicUsize::new(0), Seen::default());
        let done: Vec<Mutex<Option<Result<Object, CompileError>>>> =
            units.iter().map(|_| Mutex::new(None)).collect();
        let work = || {
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(unit) = units.get(place) else { return };
                let made = self.compile_one(unit, &seen);
                *done[place].lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(made);
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                // Without a second thread the first does all of it.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        let taken =
            done.into_iter().map(|made| made.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()));
        taken.map(|made| made.expect("every unit was compiled")).collect()
    }

    /// The command line that compiles a unit, as it can be typed.
    pub fn command(&self, unit: &Unit) -> Result<String, CompileError> {
        let arguments = unit.arguments(&self.toolchain, &self.headers)?;
        Ok(typed(&self.toolchain.compiler, arguments.iter().map(OsString::as_os_str), &unit.source))
    }

    fn compile_one(&self, unit: &Unit, seen: &Seen) -> Result<Object, CompileError> {
        let path = &unit.source;
        let unreadable = |source| CompileError::Source { path: path.clone(), source };
        let source = fs::canonicalize(path).map_err(unreadable)?;
        if !source.is_file() {
            return Err(CompileError::NotAFile { path: path.clone() });
        }
        let root = unit.root.as_ref().map(fs::canonicalize).transpose().map_err(unreadable)?;
        let include_dirs =
            unit.include_dirs.iter().map(|path| fs::canonicalize(path).unwrap_or_else(|_| path.clone()));
        let unit = Unit { source, root, include_dirs: include_dirs.collect(), ..unit.clone() };
        let text = fs::read(&unit.source).map_err(unreadable)?;
        let arguments = unit.arguments(&self.toolchain, &self.headers)?;
        let request = self.request(&unit, &arguments, &text);
        let (entry, cached) = match self.cache.find(request, unit.root.as_deref(), seen) {
            Some(entry) => (entry, true),
            None => (self.make(&unit, &arguments, request)?, false),
        };
        self.object(&unit, &text, entry, cached)
    }

    fn request(&self, unit: &Unit, arguments: &[OsString], text: &[u8]) -> u128 {
        // With a root, files are known by their names below it.
        let root = unit.root.as_deref().filter(|_| !unit.debug);
        let short =
            |path: &OsStr| cache::below(root, Path::new(path)).as_os_str().as_encoded_bytes().to_vec();
        let identity = self.toolchain.identity.to_le_bytes().to_vec();
        let own = [identity, unit.role.support().into(), short(unit.source.as_os_str()), text.to_vec()];
        let parts = own.into_iter().chain(arguments.iter().map(|argument| short(argument)));
        cache::request(parts)
    }

    /// Compiles and links. The support part is compiled along with the source: it needs the same arguments.
    fn make(&self, unit: &Unit, arguments: &[OsString], request: u128) -> Result<Entry, CompileError> {
        let unusable = |source| CompileError::Cache { path: self.cache.root().into(), source };
        let stage = argus_files::Stage::inside(self.cache.root()).map_err(unusable)?;
        let (object, list) = (stage.path().join("object.so"), stage.path().join("headers.d"));
        let mut command = Command::new(&self.toolchain.compiler);
        command.args(arguments).args(unit.forget_root()).args(unit.complete());
        command.arg("-shared").arg("-MMD").arg("-MF").arg(&list);
        // Whatever its name ends with, a source is C++: vendors have endings of their own.
        command.args(["-x", "c++"]).arg(&unit.source).args(["-x", "none"]);
        command.arg(self.support(unit)?).arg("-o").arg(&object);
        let said = run(&mut command, unit)?;
        let headers = fs::read_to_string(&list)
            .map(|text| header_list(&text))
            .map_err(|source| CompileError::NoHeaderList { path: unit.source.clone(), source })?;
        let search_path = unit.search_path(&self.headers)?;
        let command =
            typed(&self.toolchain.compiler, arguments.iter().map(OsString::as_os_str), &unit.source);
        let made = Made {
            object: &object,
            headers: &headers,
            search_path: &search_path,
            said: &said,
            command: &command,
        };
        self.cache.keep(request, &made, unit.root.as_deref()).map_err(unusable)
    }

    /// The compiled support part for a unit.
    fn support(&self, unit: &Unit) -> Result<PathBuf, CompileError> {
        let unusable = |source| CompileError::Cache { path: self.cache.root().into(), source };
        let source = self.headers.join(unit.role.support());
        let bare = Unit {
            source: source.clone(),
            include_dirs: Vec::new(),
            defines: Vec::new(),
            root: None,
            ..unit.clone()
        };
        let arguments = bare.arguments(&self.toolchain, &self.headers)?;
        // The headers' directory has their checksum in its name, and is among the arguments.
        let parts = [&self.toolchain.identity.to_le_bytes()[..], source.as_os_str().as_encoded_bytes()];
        let name = cache::request(
            parts.into_iter().chain(arguments.iter().map(|argument| argument.as_encoded_bytes())),
        );
        let target = self.cache.root().join(format!("support-{name:032x}.o"));
        if target.is_file() {
            return Ok(target);
        }
        let stage = argus_files::Stage::inside(self.cache.root()).map_err(unusable)?;
        let mut command = Command::new(&self.toolchain.compiler);
        command.args(&arguments).arg("-c").arg(&source).arg("-o").arg(stage.path().join("support.o"));
        run(&mut command, &bare)?;
        stage.publish("support.o", &target).map_err(unusable)?;
        Ok(target)
    }

    fn object(&self, unit: &Unit, text: &[u8], entry: Entry, cached: bool) -> Result<Object, CompileError> {
        let root = unit.root.as_deref().filter(|_| !unit.debug);
        let source_text = |path: &Path, text: &[u8]| SourceText {
            path: cache::below(root, &plain(path)).to_owned(),
            spelled: cache::below(root, path).to_owned(),
            text: String::from_utf8_lossy(text).into_owned(),
        };
        let read = |path: &Path| {
            let text = fs::read(path).map_err(|source| CompileError::Source { path: path.into(), source })?;
            Ok(source_text(path, &text))
        };
        let own = source_text(&unit.source, text);
        let theirs =
            entry.headers.iter().filter(|path| !path.starts_with(&self.headers) && **path != unit.source);
        let sources = std::iter::once(Ok(own)).chain(theirs.map(|path| read(path)));
        Ok(Object {
            path: entry.object,
            said: entry.said,
            command: entry.command,
            sources: sources.collect::<Result<_, CompileError>>()?,
            cached,
        })
    }
}

/// A path without `..`, if that names the same file.
fn plain(path: &Path) -> PathBuf {
    if path.components().all(|part| part != Component::ParentDir) {
        return path.to_owned();
    }
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    // A link on the way may lead elsewhere.
    match (fs::canonicalize(&plain), fs::canonicalize(path)) {
        (Ok(one), Ok(other)) if one == other => plain,
        _ => path.to_owned(),
    }
}

/// Where the user's cache is: `ARGUS_CACHE`, else the place that the desktop standard names.
pub fn cache_directory() -> PathBuf {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("ARGUS_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME").map(|home| home.join("argus")))
        .or_else(|| variable("HOME").map(|home| home.join(".cache/argus")))
        .unwrap_or_else(|| env::temp_dir().join("argus-cache"))
}

/// Runs the compiler and returns what it said.
fn run(command: &mut Command, unit: &Unit) -> Result<String, CompileError> {
    let compiler = command.get_program().to_owned();
    let cannot_start = |source: io::Error| CompileError::CannotStart {
        compiler: compiler.to_string_lossy().into_owned(),
        source,
    };
    // Messages in the words that other tools know.
    let ran = command.env("LC_ALL", "C").stdin(Stdio::null()).output().map_err(cannot_start)?;
    let Output { status, stderr, .. } = ran;
    let said = String::from_utf8_lossy(&stderr).trim_end().to_owned();
    if let Some(signal) = status.signal() {
        return Err(CompileError::Killed { path: unit.source.clone(), signal });
    }
    if !status.success() {
        if said.contains("undefined reference to `kernel_entry'") {
            return Err(CompileError::NoEntry { path: unit.source.clone() });
        }
        let command = typed(command.get_program(), command.get_args(), Path::new(""));
        return Err(CompileError::Failed { path: unit.source.clone(), command, said });
    }
    Ok(said)
}

/// A command line as it can be typed.
fn typed<'a>(program: &'a OsStr, arguments: impl Iterator<Item = &'a OsStr>, last: &'a Path) -> String {
    let words = std::iter::once(program).chain(arguments).chain([last.as_os_str()]);
    let quoted = words.filter(|word| !word.is_empty()).map(|word| {
        let word = word.to_string_lossy();
        let plain = |sign: char| sign.is_ascii_alphanumeric() || "-_=+./,:@%".contains(sign);
        match word.chars().all(plain) {
            true => word.into_owned(),
            false => format!("'{}'", word.replace('\'', r"'\''")),
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// The files in a list that the compiler wrote for make: `object: file file \` and so on.
fn header_list(text: &str) -> Vec<PathBuf> {
    let Some((_, files)) = text.split_once(": ") else { return Vec::new() };
    let mut list = Vec::new();
    let mut name = String::new();
    let mut signs = files.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' if signs.peek() == Some(&'\n') => {
                signs.next();
            }
            '\\' if matches!(signs.peek(), Some(' ' | '#' | '\\')) => name.extend(signs.next()),
            '$' if signs.peek() == Some(&'$') => name.extend(signs.next()),
            sign if sign.is_whitespace() => {
                if !name.is_empty() {
                    list.push(PathBuf::from(std::mem::take(&mut name)));
                }
            }
            sign => name.push(sign),
        }
    }
    if !name.is_empty() {
        list.push(name.into());
    }
    list.sort();
    list.dedup();
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_for_make_are_read_with_their_escapes() {
        let text = "a.so: /x/one.cpp \\\n /x/two\\ words.h /x/$$cash.h \\\n  /x/one.cpp\n";
        let names: Vec<PathBuf> = ["/x/$cash.h", "/x/one.cpp", "/x/two words.h"].map(PathBuf::from).into();
        assert_eq!(header_list(text), names);
    }

    #[test]
    fn a_command_can_be_typed_again() {
        let words = ["-DX=\"a b\"", "-O2"].map(OsStr::new);
        assert_eq!(
            typed(OsStr::new("g++"), words.into_iter(), Path::new("it's.cpp")),
            r#"g++ '-DX="a b"' -O2 'it'\''s.cpp'"#
        );
    }
}
