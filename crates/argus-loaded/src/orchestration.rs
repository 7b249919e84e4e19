//! Orchestrations from shared objects: bound to a builder for the length of one call.
#![allow(unsafe_code)]

mod abi;
mod bridge;
mod decode;
mod observe;

use std::ffi::{CStr, c_void};
use std::path::Path;
use std::sync::Arc;

use argus_abi::{ArgLimits, FatalCode, RuntimeKind, Tensor};
use argus_runtime::{EntryArgs, Fatal, Orchestration};

use crate::object::{LoadError, Object};
use bridge::{Bridge, Builder};

pub use observe::{Observer, ScopeEdge, Submission, Submitted};

/// The entry function where none is named.
pub const DEFAULT_ENTRY: &str = "aicpu_orchestration_entry";
/// The configuration function where none is named.
pub const DEFAULT_CONFIG: &str = "aicpu_orchestration_config";

/// How urgent a message of an orchestration is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Error,
    Warn,
    Timing,
    Info,
    Debug,
}

impl Level {
    fn from_raw(raw: u32) -> Level {
        match raw {
            0 => Level::Error,
            1 => Level::Warn,
            2 => Level::Timing,
            3 => Level::Info,
            _ => Level::Debug,
        }
    }
}

/// Takes the messages of an orchestration: level, function, text.
pub type Log = Arc<dyn Fn(Level, &str, &str) + Send + Sync>;

/// An orchestration whose code is in a shared object.
pub struct LoadedOrchestration {
    facts: abi::ObjectFacts,
    runtime: Runtime,
    entry: Function,
    config: Option<Function>,
    name: String,
    log: Log,
    observer: Option<Arc<dyn Observer>>,
    /// The code itself.
    _object: Object,
}

/// The builder that an object was compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runtime {
    Trb,
    HbgRaw,
    HbgTensor,
    Abg,
}

/// The address of a function in an object.
#[derive(Clone, Copy)]
struct Function(*mut c_void);

// SAFETY: it is only an address; the code behind it is never unloaded, and each call of it is bound to its own thread.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl LoadedOrchestration {
    /// Opens an object and finds its entry function. A configuration function is optional unless it is named.
    pub fn open(
        path: &Path,
        entry: Option<&str>,
        config: Option<&str>,
        log: Log,
    ) -> Result<LoadedOrchestration, LoadError> {
        let object = Object::open(path)?;
        // SAFETY: a symbol of this name is this function, by the header that every support source includes.
        let describe: abi::Describe = unsafe { object.symbol(abi::SYMBOL) }?;
        // SAFETY: it only returns the address of a constant. Size and version come first in every version.
        let facts = unsafe { describe() };
        // SAFETY: as above; the rest is read only when the version is ours.
        let theirs = unsafe { (&raw const (*facts).abi).read() };
        if theirs != abi::ABI {
            let (path, ours) = (path.to_owned(), abi::ABI);
            return Err(LoadError::OtherAbi { path, what: "orchestration", theirs, ours });
        }
        // SAFETY: the versions are equal, and so is the layout.
        let facts = unsafe { facts.read() };
        let runtime = match facts.runtime {
            abi::RUNTIME_TRB => Runtime::Trb,
            abi::RUNTIME_HBG_RAW => Runtime::HbgRaw,
            abi::RUNTIME_HBG_TENSOR => Runtime::HbgTensor,
            abi::RUNTIME_ABG => Runtime::Abg,
            runtime => return Err(LoadError::UnknownRuntime { path: path.to_owned(), runtime }),
        };
        let find = |name: &str| {
            let missing = || LoadError::NoSuchFunction { path: path.to_owned(), name: name.into() };
            object.address(name).map(Function).ok_or_else(missing)
        };
        let name = entry.filter(|name| !name.is_empty()).unwrap_or(DEFAULT_ENTRY);
        let config = match config.filter(|name| !name.is_empty()) {
            _ if runtime == Runtime::HbgRaw => None,
            Some(name) => Some(find(name)?),
            None => object.address(DEFAULT_CONFIG).map(Function),
        };
        let entry = find(name)?;
        let (name, observer) = (name.into(), None);
        Ok(LoadedOrchestration { facts, runtime, entry, config, name, log, observer, _object: object })
    }

    /// It with a listener to what its code asks for.
    pub fn observed(self, observer: Arc<dyn Observer>) -> LoadedOrchestration {
        LoadedOrchestration { observer: Some(observer), ..self }
    }

    /// The runtime it was compiled for.
    pub fn runtime(&self) -> RuntimeKind {
        match self.runtime {
            Runtime::Trb => RuntimeKind::Trb,
            Runtime::Abg => RuntimeKind::Abg,
            Runtime::HbgRaw | Runtime::HbgTensor => RuntimeKind::Hbg,
        }
    }

    /// It as an orchestration like any other.
    pub fn into_orchestration(self) -> Orchestration {
        match self.runtime {
            Runtime::Trb => Orchestration::TensormapAndRingbuffer(Arc::new(move |trb, args| {
                self.run(Builder::Trb(trb), args)
            })),
            Runtime::HbgTensor => Orchestration::HostBuildTensorGraph(Arc::new(move |trb, args| {
                self.run(Builder::Trb(trb), args)
            })),
            Runtime::Abg => {
                Orchestration::AicpuBuildGraph(Arc::new(move |abg, args| self.run(Builder::Abg(abg), args)))
            }
            Runtime::HbgRaw => {
                Orchestration::HostBuildGraph(Arc::new(move |hbg, args| self.run(Builder::Hbg(hbg), args)))
            }
        }
    }

    /// Calls the object's code with a builder.
    fn run(&self, builder: Builder<'_>, args: &EntryArgs) -> Result<(), Fatal> {
        let on_host: Vec<Tensor>;
        let tensors = match self.runtime {
            Runtime::HbgRaw => {
                on_host = host_tensors(args)?;
                &on_host[..]
            }
            Runtime::Trb | Runtime::HbgTensor | Runtime::Abg => args.tensors(),
        };
        let scalars = args.scalars();
        let entry_args = abi::EntryArgs {
            tensors: tensors.as_ptr(),
            scalars: scalars.as_ptr(),
            tensor_count: tensors.len() as u32,
            scalar_count: scalars.len() as u32,
        };
        if let Some(config) = self.config {
            let expected = self.enter(self.facts.configure, config, &entry_args)?;
            let given = tensors.len() + scalars.len();
            if usize::try_from(expected).is_ok_and(|expected| given < expected) {
                let message = format!("the orchestration expects {expected} arguments and was given {given}");
                return Err(Fatal::invalid(message));
            }
        }
        let august = self.facts.generation >= abi::GENERATION_AUGUST;
        let limits = if august { ArgLimits::AUGUST } else { ArgLimits::JUNE };
        let observer = self.observer.as_deref().filter(|observer| observer.is_listening());
        let mut bridge = Bridge::new(builder, args, limits, &self.log, observer);
        bridge.tell_scope(true, None);
        let table = bridge.table();
        // SAFETY: the table outlives the call, and is taken away before it goes.
        unsafe { (self.facts.bind)(&table) };
        let called = self.enter(self.facts.call, self.entry, &entry_args);
        // SAFETY: as above.
        unsafe { (self.facts.bind)(std::ptr::null()) };
        bridge.tell_scope(false, None);
        // What the calls ended with comes first: an exception may be its consequence.
        match (bridge.into_fatal(), called) {
            (Some(fatal), _) | (None, Err(fatal)) => Err(fatal),
            (None, Ok(0)) => Ok(()),
            (None, Ok(returned)) => {
                let message = format!("{} returned {returned}", self.name);
                Err(Fatal::new(FatalCode::ExplicitOrchFatal, message))
            }
        }
    }

    /// Calls a function of the object through its shim; an exception is an error.
    fn enter(&self, shim: abi::CallEntry, function: Function, args: &abi::EntryArgs) -> Result<i32, Fatal> {
        let mut returned = 0;
        let mut message = [0u8; 1024];
        // SAFETY: shim and function are of the same object, whose headers gave both their types. What the function
        // itself does is its author's.
        let ended =
            unsafe { shim(function.0, args, &mut returned, message.as_mut_ptr().cast(), message.len()) };
        if ended == abi::CALL_DONE {
            return Ok(returned);
        }
        let text = CStr::from_bytes_until_nul(&message).map(CStr::to_string_lossy).unwrap_or_default();
        Err(Fatal::new(FatalCode::ExplicitOrchFatal, format!("{} threw an exception: {text}", self.name)))
    }
}

/// Arguments in host memory as descriptors.
fn host_tensors(args: &EntryArgs) -> Result<Vec<Tensor>, Fatal> {
    let tensors = args.host_tensors().iter().map(|tensor| {
        let addr = tensor.bytes.as_ptr().expose_provenance() as u64;
        Tensor::contiguous(addr, tensor.dtype, &tensor.shape)
            .map_err(|error| Fatal::invalid(format!("argument '{}': {error}", tensor.name)))
    });
    tensors.collect()
}
