//! Shared objects: opened once, never unloaded.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

/// Why an object cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("{} is not a shared object that this machine can load: {reason}", path.display())]
    NotAnObject { path: PathBuf, reason: String },
    #[error("{} does not export {symbol}: it was not compiled together with our support source", path.display())]
    NoSuchSymbol { path: PathBuf, symbol: &'static str },
    #[error(
        "{} was compiled for version {theirs} of the {what} interface, this is version {ours}: compile it again",
        path.display()
    )]
    OtherAbi { path: PathBuf, what: &'static str, theirs: u32, ours: u32 },
    #[error("{} exports no function {name}: is it spelled so, and declared extern \"C\"?", path.display())]
    NoSuchFunction { path: PathBuf, name: String },
    #[error("{} was compiled for runtime {runtime}, which is none of ours", path.display())]
    UnknownRuntime { path: PathBuf, runtime: u32 },
}

/// An open object.
#[derive(Debug)]
pub(crate) struct Object {
    path: PathBuf,
    /// Never dropped: unloading would take away code and texts that others point to.
    library: ManuallyDrop<Library>,
}

impl Object {
    /// Opens an object with all its symbols resolved and none of them visible to other objects.
    pub fn open(path: &Path) -> Result<Object, LoadError> {
        let refuse = |reason: String| LoadError::NotAnObject { path: path.to_owned(), reason };
        // A bare name would be searched for along the system's paths.
        let full = std::path::absolute(path).map_err(|error| refuse(error.to_string()))?;
        // SAFETY: opening runs the object's constructors. That code is the user's and is trusted as far as running
        // their kernel is: it can do nothing that the kernel itself could not.
        let library = unsafe { Library::open(Some(&full), RTLD_NOW | RTLD_LOCAL) }
            .map_err(|error| refuse(cause_of(&error)))?;
        Ok(Object { path: path.to_owned(), library: ManuallyDrop::new(library) })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The address of a function that the object's author named.
    pub fn address(&self, name: &str) -> Option<*mut c_void> {
        // SAFETY: the address is not used as anything here.
        let found = unsafe { self.library.get::<*mut c_void>(name.as_bytes()) };
        found.ok().map(|symbol| *symbol).filter(|address| !address.is_null())
    }

    /// The address of a symbol as a function pointer or a pointer to data.
    ///
    /// # Safety
    /// `T` must be the type of the symbol.
    pub unsafe fn symbol<T: Copy>(&self, name: &'static str) -> Result<T, LoadError> {
        // SAFETY: by the caller's promise. The library is never closed, so a copy of the address stays good.
        let found = unsafe { self.library.get::<T>(name.as_bytes()) };
        match found {
            Ok(symbol) => Ok(*symbol),
            Err(_) => Err(LoadError::NoSuchSymbol { path: self.path.clone(), symbol: name }),
        }
    }
}

/// What the dynamic loader says, which libloading keeps as a source.
fn cause_of(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), |source| source.to_string())
}
