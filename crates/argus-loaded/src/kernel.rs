//! A kernel from a shared object: bound to the engine, called on a core.
#![allow(unsafe_code)]

pub(crate) mod abi;
mod decode;
mod issue;
mod show;

use std::any::Any;
use std::ffi::{CStr, c_char};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use argus_abi::args::{GLOBAL_CONTEXT_SLOT, LOCAL_CONTEXT_SLOT};
use argus_abi::{DType, FatalCode, KernelArgs, Tensor};
use argus_tile::{Core, Fault, GlobalShape, Kernel, KernelResult, Overrun};

use crate::object::{LoadError, Object};
use crate::orchestration::{Level, Log};

/// The one symbol of a kernel object.
const BIND: &str = "argus_kernel_bind";
/// Bytes of an exception's text that are kept.
const MESSAGE: usize = 512;

/// The UB that C++ kernels find in every simulator, whatever the chip has.
const SIMULATED_UB: u64 = 512 * 1024;

/// What objects are bound to.
static TABLE: abi::Table = abi::Table {
    size: size_of::<abi::Table>() as u32,
    abi: abi::ABI,
    issue,
    clock,
    show_tile,
    show_tensor,
    complete_when,
};

/// A kernel in a shared object.
pub struct LoadedKernel {
    object: Object,
    call: abi::Call,
    /// Takes what is to be said of it: a name and where that goes.
    log: Option<(String, Log)>,
    /// How far beyond UB it was said to reach.
    told: AtomicU64,
}

impl fmt::Debug for LoadedKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedKernel").field("object", &self.object).finish_non_exhaustive()
    }
}

impl LoadedKernel {
    /// Opens an object and binds the kernel in it.
    pub fn open(path: &Path) -> Result<LoadedKernel, LoadError> {
        let object = Object::open(path)?;
        // SAFETY: the type is that of the header which every version of the interface keeps.
        let bind: abi::Bind = unsafe { object.symbol(BIND)? };
        // SAFETY: the table is static, and the object reads its size and number before anything else.
        let bound = unsafe { bind(&raw const TABLE) };
        let refuse =
            |theirs| LoadError::OtherAbi { path: path.to_owned(), what: "kernel", theirs, ours: abi::ABI };
        if bound.is_null() {
            return Err(refuse(0));
        }
        // SAFETY: size and number come first in every version. Only they are read here, as the two words they are.
        let [size, theirs] = unsafe { bound.cast::<[u32; 2]>().read() };
        if theirs != abi::ABI || (size as usize) < size_of::<abi::Object>() {
            return Err(refuse(theirs));
        }
        // SAFETY: the object is of our version and at least as large as we know it.
        let call = unsafe { (*bound).call };
        Ok(LoadedKernel { object, call, log: None, told: AtomicU64::new(0) })
    }

    /// What is to be said of the kernel although it ran to its end goes there, under this name.
    pub fn with_log(self, name: &str, log: Log) -> LoadedKernel {
        LoadedKernel { log: Some((name.to_owned(), log)), ..self }
    }

    /// Says once how far a kernel goes beyond the end of UB: here that works, on a device it does not.
    fn tell_overrun(&self, core: &Core) {
        let (Some((name, log)), Some(Overrun { used, size })) = (&self.log, core.ub_overrun()) else {
            return;
        };
        if self.told.fetch_max(used, Relaxed) < used {
            let text = format!(
                "tiles reach {used:#x} in UB, which ends at {size:#x} on this chip; only simulators allow that"
            );
            log(Level::Warn, name, &text);
        }
    }

    /// The file that the kernel was loaded from.
    pub fn path(&self) -> &Path {
        self.object.path()
    }
}

/// One call of a kernel. C++ sees the first field and hands the whole back with each instruction.
#[repr(C)]
struct Running<'a> {
    seen: abi::Core,
    core: &'a mut Core,
    /// Why an instruction did not complete; the first reason counts.
    fault: Option<Fault>,
    panic: Option<Box<dyn Any + Send>>,
}

impl Running<'_> {
    /// What C++ is told, which knows no reasons.
    fn answer(&mut self, result: Result<KernelResult, Box<dyn Any + Send>>) -> i32 {
        match result {
            Ok(Ok(())) => abi::DONE,
            Ok(Err(fault)) => {
                self.fault.get_or_insert(fault);
                abi::HALTED
            }
            Err(panic) => {
                self.panic.get_or_insert(panic);
                abi::HALTED
            }
        }
    }
}

impl Kernel for LoadedKernel {
    fn run(&self, core: &mut Core, args: &KernelArgs<'_>) -> KernelResult {
        let payload = args.payload();
        // A copy: the kernel may write to its slots.
        let mut slots = payload.args;
        for (index, slot) in slots.iter_mut().enumerate().take(args.tensor_count()) {
            *slot = std::ptr::from_ref(args.tensor(index)?).expose_provenance() as u64;
        }
        slots[LOCAL_CONTEXT_SLOT] = std::ptr::from_ref(&payload.local).expose_provenance() as u64;
        slots[GLOBAL_CONTEXT_SLOT] = std::ptr::from_ref(&payload.global).expose_provenance() as u64;

        core.tolerate_ub_up_to(SIMULATED_UB);
        let seen = abi::Core { sub_block_id: core.sub_block_id(), reserved: 0 };
        let mut running = Running { seen, core, fault: None, panic: None };
        let mut message = [0; MESSAGE];
        // SAFETY: `call` came from an object of our version. `running` and `slots` outlive the call, and nothing else
        // uses them before it returns; the object keeps neither pointer beyond that. No exception leaves `call`.
        let status = unsafe {
            let running = (&raw mut running).cast::<abi::Core>();
            (self.call)(running, slots.as_mut_ptr().cast(), message.as_mut_ptr(), message.len())
        };
        if let Some(panic) = running.panic {
            resume_unwind(panic);
        }
        self.tell_overrun(running.core);
        match (running.fault, status) {
            (Some(fault), _) => Err(fault),
            (None, abi::DONE) => Ok(()),
            (None, abi::EXCEPTION) => Err(running.core.complaint(thrown(&message))),
            (None, left) if left < 0 => Err(uncompleted(running.core, left.wrapping_neg())),
            (None, _) => {
                Err(running.core.complaint("the kernel ended itself as if an instruction had failed"))
            }
        }
    }
}

/// A kernel that left a code where its task's completion was to be.
fn uncompleted(core: &Core, code: i32) -> Fault {
    let known = FatalCode::from_raw(code);
    let name = known.map_or_else(|| format!("code {code}"), |known| known.to_string());
    core.complaint(format!("its deferred completion failed: {name}")).with_code(known)
}

fn thrown(message: &[c_char; MESSAGE]) -> String {
    let bytes = message.map(|byte| byte as u8);
    match CStr::from_bytes_until_nul(&bytes).map(CStr::to_string_lossy) {
        Ok(text) if !text.is_empty() => format!("the kernel threw an exception: {text}"),
        _ => "the kernel threw something that is not a std::exception".to_owned(),
    }
}

/// Slot `issue` of the table.
extern "C" fn issue(core: *mut abi::Core, instruction: *const abi::Instruction) -> i32 {
    if core.is_null() || instruction.is_null() {
        // A thread that the kernel started has no core.
        return abi::HALTED;
    }
    // SAFETY: a core that is not null is the `Running` of the `run` below us on this thread's stack: objects keep it
    // in thread-local memory for the length of that call. `run` does not touch it meanwhile, and instructions do not
    // call back into the kernel, so this is the only reference.
    let running = unsafe { &mut *core.cast::<Running<'_>>() };
    // SAFETY: descriptors live on the kernel's stack until this returns.
    let instruction = unsafe { &*instruction };
    let result = catch_unwind(AssertUnwindSafe(|| issue::run(running.core, instruction)));
    running.answer(result)
}

/// Slot `complete_when` of the table.
extern "C" fn complete_when(
    core: *mut abi::Core,
    addr: u64,
    value: i32,
    file: *const c_char,
    file_length: u32,
    line: u32,
) -> i32 {
    if core.is_null() {
        return abi::HALTED;
    }
    // SAFETY: as in `issue`.
    let running = unsafe { &mut *core.cast::<Running<'_>>() };
    let core = &mut *running.core;
    let result = catch_unwind(AssertUnwindSafe(|| {
        core.issue_from(decode::file(file, file_length), line);
        let signal = core.global_raw(addr, DType::I32, GlobalShape::nd(1, 1))?;
        core.complete_when(&signal, value)
    }));
    running.answer(result)
}

/// Slot `clock` of the table. All kernels of the process count from one moment, so that their times compare.
extern "C" fn clock(_: *mut abi::Core) -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Slot `show_tile` of the table: only debuggers call it.
extern "C" fn show_tile(core: *mut abi::Core, tile: *const abi::Tile, rows: u32, cols: u32) -> *const c_char {
    if core.is_null() || tile.is_null() {
        return show::keep(show::NO_CORE.to_owned());
    }
    // SAFETY: as in `issue`; the kernel is stopped between two of its own statements, or in a function that it called.
    // A debugger that stops within an instruction and calls this looks at what that instruction is changing, which
    // only makes the text wrong.
    let (running, tile) = unsafe { (&mut *core.cast::<Running<'_>>(), &*tile) };
    let told = catch_unwind(AssertUnwindSafe(|| show::tile(running.core, tile, rows, cols)));
    show::keep(told.unwrap_or_else(|_| "the tile cannot be shown".to_owned()))
}

/// Slot `show_tensor` of the table: only debuggers call it.
extern "C" fn show_tensor(
    core: *mut abi::Core,
    tensor: *const Tensor,
    rows: u32,
    cols: u32,
) -> *const c_char {
    if core.is_null() || tensor.is_null() || !tensor.is_aligned() {
        return show::keep(show::NO_CORE.to_owned());
    }
    // SAFETY: the core as in `show_tile`. The tensor is a slot of the kernel's arguments, as far as the person at the
    // debugger says; what it holds is checked before it is followed.
    let (running, tensor) = unsafe { (&mut *core.cast::<Running<'_>>(), *tensor) };
    let told = catch_unwind(AssertUnwindSafe(|| show::tensor(running.core, &tensor, rows, cols)));
    show::keep(told.unwrap_or_else(|_| "the tensor cannot be shown".to_owned()))
}
