//! What a process does when the system sends it a signal: one message and an exit code, not a core dump.
//!
//! | signal | when | what happens |
//! |---|---|---|
//! | `SIGBUS` | a mapped file became shorter and is read behind its new end | the file is named, the process exits with 1 |
//! | `SIGXFSZ` | a file would grow past `ulimit -f` | nothing: the write fails, and its error is told |
//! | `SIGABRT` | memory could not be had where nothing else can be done | a message, exit code 1 |
//! | `SIGHUP`, `SIGINT`, `SIGTERM` | ignored by the program that started this one, as `nohup` does | ignored |
//!
//! Why a handler for `SIGBUS`. A file can become shorter between any check of its length and the access behind it, so
//! no check makes a mapped read safe. Copying every file into memory would, at the price of memory as large as the
//! dump. What is left is the fault itself: the handler knows the mapped files, and a fault anywhere else ends the process
//! as it would without it. A reader cannot go on with bytes that are gone, so the message is the last thing it says;
//! readers write their results under other names first, so nothing half-written is left under a name that counts.
//!
//! Only the tool calls [`install`]: a library does not change what its process does with signals.
#![allow(unsafe_code, reason = "handlers of signals are set by the C library")]

use std::ffi::CString;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Exit code of a process that ends in a handler.
const FAILED: libc::c_int = 1;
/// Files that can be mapped at once and be named.
const MAPPED: usize = 1024;

/// A mapped range; free while `start` is 0.
struct Range {
    start: AtomicUsize,
    end: AtomicUsize,
    name: AtomicPtr<libc::c_char>,
}

static RANGES: [Range; MAPPED] = [const {
    Range { start: AtomicUsize::new(0), end: AtomicUsize::new(0), name: AtomicPtr::new(std::ptr::null_mut()) }
}; MAPPED];

/// A mapped file that is named if reading it faults, for as long as this lives.
#[derive(Debug)]
pub struct Mapped {
    slot: Option<usize>,
}

impl Mapped {
    /// The bytes of a map of the file `name`.
    pub fn new(bytes: &[u8], name: &str) -> Mapped {
        let start = bytes.as_ptr() as usize;
        let name = CString::new(name.replace('\0', " ")).unwrap_or_default();
        // 1 reserves a place: no map begins there.
        let free =
            |range: &Range| range.start.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        // More files than places: a fault in those is not told by name.
        let slot = RANGES.iter().position(free);
        if let Some(slot) = slot {
            RANGES[slot].name.store(name.into_raw(), Ordering::Relaxed);
            RANGES[slot].end.store(start.saturating_add(bytes.len()), Ordering::Relaxed);
            RANGES[slot].start.store(start, Ordering::Release);
        }
        Mapped { slot }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            // The name stays: a handler may be reading it.
            RANGES[slot].start.store(0, Ordering::Release);
        }
    }
}

/// Sets the handlers of this process.
pub fn install() {
    set(libc::SIGBUS, on_bus_error as *const () as usize, libc::SA_SIGINFO | libc::SA_ONSTACK);
    set(libc::SIGABRT, on_abort as *const () as usize, libc::SA_ONSTACK);
    // Not ignored, because programs that are started would inherit that.
    set(libc::SIGXFSZ, on_file_size as *const () as usize, libc::SA_RESTART);
}

fn set(signal: libc::c_int, handler: usize, flags: libc::c_int) {
    // SAFETY: an action of all zeros is valid, and the handlers below have the signatures that their flags ask for.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = flags;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}

/// Signals that end a process and that the program that started this one ignores.
#[derive(Debug)]
pub struct Ignored(Vec<libc::c_int>);

impl Ignored {
    /// Those that are ignored now.
    pub fn now() -> Ignored {
        let ignored = |signal: &libc::c_int| {
            // SAFETY: asks for the action of a signal; the one of all zeros is a valid place for it.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                libc::sigaction(*signal, std::ptr::null(), &raw mut action) == 0
                    && action.sa_sigaction == libc::SIG_IGN
            }
        };
        Ignored([libc::SIGHUP, libc::SIGINT, libc::SIGTERM].into_iter().filter(ignored).collect())
    }

    /// Ignores them again, whatever was set meanwhile.
    pub fn restore(&self) {
        for &signal in &self.0 {
            set(signal, libc::SIG_IGN, 0);
        }
    }
}

extern "C" fn on_file_size(_: libc::c_int) {}

extern "C" fn on_abort(_: libc::c_int) {
    say(b"error: the program could not go on; most often memory could not be had\n");
    // SAFETY: ends the process without running anything else.
    unsafe { libc::_exit(FAILED) }
}

extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system passes what happened.
    let at = unsafe { (*info).si_addr() } as usize;
    for range in &RANGES {
        let start = range.start.load(Ordering::Acquire);
        if start > 1 && (start..range.end.load(Ordering::Relaxed)).contains(&at) {
            let name = range.name.load(Ordering::Relaxed);
            say(b"error: ");
            if !name.is_null() {
                // SAFETY: names end with 0 and are never freed.
                say(unsafe { std::ffi::CStr::from_ptr(name) }.to_bytes());
            }
            say(b" became shorter while it was read, or its disk failed\n");
            // SAFETY: ends the process without running anything else.
            unsafe { libc::_exit(FAILED) }
        }
    }
    // Not ours: the access is made again and ends the process as usual.
    set(signal, libc::SIG_DFL, 0);
}

/// Writes to stderr; nothing can be done if that fails.
fn say(text: &[u8]) {
    // SAFETY: writes bytes that are there; a handler may call this function.
    let _ = unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
}
