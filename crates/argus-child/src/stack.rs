//! Addresses of code as functions and source lines.
//!
//! Objects that were loaded before the process was copied lie at the same addresses in both copies, so the parent can
//! look them up in peace.
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ffi::CStr;
use std::fmt;
use std::path::{Path, PathBuf};

use addr2line::Loader;
use serde::{Deserialize, Serialize};

/// One function on a stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    pub function: String,
    /// File and line, if the object has debug information.
    pub source: Option<(String, u32)>,
    /// The file that holds the code.
    pub object: PathBuf,
    /// How often it is there in a row: a function that calls itself.
    pub times: u32,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.function)?;
        match &self.source {
            Some((file, line)) => write!(f, " at {file}:{line}")?,
            None => {
                let name = self.object.file_name().unwrap_or(self.object.as_os_str());
                write!(f, " in {}", name.to_string_lossy())?;
            }
        }
        if self.times > 1 {
            write!(f, ", {} times", self.times)?;
        }
        Ok(())
    }
}

/// The functions of a stack that are not this program's own, the innermost first; inlined ones are listed too.
pub fn resolve(stack: &[u64]) -> Vec<Frame> {
    let own = object_of(resolve as *const () as u64).map(|(path, ..)| path);
    let mut loaders: HashMap<PathBuf, Option<Loader>> = HashMap::new();
    let mut frames = Vec::new();
    for &address in stack {
        let Some((path, base, symbol)) = object_of(address) else { continue };
        if Some(&path) == own.as_ref() {
            // The handler at first, then the program that called the code.
            if frames.is_empty() {
                continue;
            }
            break;
        }
        let loader = loaders.entry(path.clone()).or_insert_with(|| Loader::new(&path).ok());
        let found = loader.as_ref().map(|loader| lines(loader, address - base, &path)).unwrap_or_default();
        match (found.is_empty(), symbol) {
            (false, _) => frames.extend(found),
            // The C library's way into a handler, and code without a name.
            (true, Some(symbol)) if symbol != "__restore_rt" => {
                frames.push(Frame { function: demangled(&symbol), source: None, object: path, times: 1 });
            }
            (true, _) => {}
        }
    }
    frames.dedup_by(|next, frame| {
        let same = (&next.function, &next.source) == (&frame.function, &frame.source);
        frame.times += u32::from(same);
        same
    });
    frames
}

fn lines(loader: &Loader, address: u64, object: &Path) -> Vec<Frame> {
    let Ok(mut found) = loader.find_frames(address) else { return Vec::new() };
    let mut frames = Vec::new();
    while let Ok(Some(frame)) = found.next() {
        let function = frame.function.and_then(|name| name.demangle().ok().map(|name| name.into_owned()));
        // Names below a directory that the object does not tell begin with a dot.
        let file = |file: &str| file.strip_prefix("./").unwrap_or(file).to_owned();
        let source = frame.location.and_then(|place| Some((file(place.file?), place.line?)));
        if let (Some(function), true) = (function, source.is_some()) {
            frames.push(Frame { function, source, object: object.to_owned(), times: 1 });
        }
    }
    frames
}

fn demangled(symbol: &str) -> String {
    addr2line::demangle_auto(symbol.into(), None).into_owned()
}

/// The object that code lies in, where it was loaded, and the name of the function as the linker knows it.
fn object_of(address: u64) -> Option<(PathBuf, u64, Option<String>)> {
    // SAFETY: the function only fills in the place that it is given.
    let info = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        (libc::dladdr(address as *const libc::c_void, &raw mut info) != 0).then_some(info)
    }?;
    let text = |name: *const libc::c_char| {
        // SAFETY: texts of the loader end with 0 and stay as long as the object, which is never unloaded.
        (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    };
    Some((text(info.dli_fname)?.into(), info.dli_fbase as u64, text(info.dli_sname)))
}
