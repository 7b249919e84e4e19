//! The child: its handlers, its threads, its end.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use serde::{Deserialize, Serialize};

use crate::outside::Child;
use crate::page::{CAUSE, FRAMES, Page, SharedPage, WHOLE, WRITING};

/// Signals that a bad program raises itself.
const CRASHES: [c_int; 7] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT, libc::SIGTRAP, libc::SIGSYS];
/// Asks a thread for its stack. Programs that do not know it ignore it.
const STACK_WANTED: c_int = libc::SIGURG;
/// How long a guarded process may take to tell of a crash.
const SILENCE_SECONDS: u32 = 10;
/// Room for a handler that walks a stack while the thread's own is full.
const HANDLER_STACK: usize = 128 << 10;

/// The first byte of a message says what follows.
pub(crate) const ANSWER: u8 = 1;
pub(crate) const PANIC: u8 = 2;

/// What a thread is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// It runs a kernel on this core.
    Core(u32),
    /// It runs the orchestration.
    Orchestration,
    /// It does something else.
    Elsewhere,
}

impl From<u32> for Place {
    fn from(raw: u32) -> Place {
        match raw {
            0 => Place::Elsewhere,
            1 => Place::Orchestration,
            core => Place::Core(core - 2),
        }
    }
}

impl Place {
    fn raw(self) -> u32 {
        match self {
            Place::Elsewhere => 0,
            Place::Orchestration => 1,
            Place::Core(core) => core.saturating_add(2),
        }
    }
}

thread_local! {
    static PLACE: Cell<u32> = const { Cell::new(0) };
    static THREAD: Cell<u32> = const { Cell::new(0) };
}

/// The number that the system has for this thread.
pub(crate) fn current_thread() -> u32 {
    if THREAD.get() == 0 {
        // SAFETY: asks for a number.
        THREAD.set(unsafe { libc::gettid() } as u32);
    }
    THREAD.get()
}

/// Makes a thread of this process walk its stack; false if there is no such thread.
pub(crate) fn interrupt_thread(thread: u32) -> bool {
    // SAFETY: sends a signal that has a handler to a thread of this process, or fails.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread as libc::pid_t, STACK_WANTED) == 0 }
}

/// The page of this process, if it is a child or guarded.
static PAGE: AtomicPtr<Page> = AtomicPtr::new(ptr::null_mut());

/// This process is a child, whose parent sees to everything else.
static CHILD: AtomicBool = AtomicBool::new(false);
/// What was done about each of [`CRASHES`] before.
static EARLIER: [AtomicPtr<libc::sigaction>; CRASHES.len()] =
    [const { AtomicPtr::new(ptr::null_mut()) }; CRASHES.len()];

/// From now on this thread is at another place; returns where it was.
#[inline]
pub fn enter(place: Place) -> Place {
    PLACE.replace(place.raw()).into()
}

/// The page that this process shares with its parent if it is a child, or has for itself if it is guarded.
#[inline]
pub fn page() -> Option<&'static Page> {
    // SAFETY: only ever set to a page that stays mapped until the process ends.
    unsafe { PAGE.load(Ordering::Acquire).as_ref() }
}

/// Whether this process is the copy of another, and ends when its work is done: then memory need not be given back.
pub fn is_child() -> bool {
    CHILD.load(Ordering::Relaxed)
}

/// Copies this process and runs `work` in the copy. What it returns is the child's answer.
///
/// In the parent `work` is dropped without having run: what must happen there exactly once, like closing something that
/// both share, is not for its destructors.
pub fn fork(work: impl FnOnce() -> Vec<u8>) -> io::Result<Child> {
    let page = SharedPage::fresh()?;
    // What is buffered would be written twice; and a lock that another thread holds would stay locked in the child.
    let (mut out, err) = (io::stdout().lock(), io::stderr().lock());
    out.flush()?;
    // One thread at a time, until the writer's end is closed here: a child of another thread would keep it open.
    let (reader, writer) = pipe()?;
    // SAFETY: no stream means all streams of C.
    unsafe { libc::fflush(ptr::null_mut()) };
    // SAFETY: asks for a number.
    let parent = unsafe { libc::getpid() };
    // SAFETY: the child continues with this thread alone, see the crate's promises; it never returns from here.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            drop((reader, out, err));
            live(page, File::from(writer), parent, work)
        }
        pid => {
            drop(writer);
            drop((out, err));
            Ok(Child::new(pid, page, File::from(reader)))
        }
    }
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [-1; 2];
    // SAFETY: there is room for two numbers.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both were just opened and belong to this function.
    let (reader, writer) = unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) };
    // More fits into one system call; a system that refuses is slower.
    // SAFETY: the pipe is open.
    unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETPIPE_SZ, 1 << 20) };
    Ok((reader, writer))
}

/// The life of the child, from its first instruction to its last.
fn live(page: SharedPage, mut answer: File, parent: libc::pid_t, work: impl FnOnce() -> Vec<u8>) -> ! {
    settle(&page, parent);
    let (kind, bytes) = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(bytes) => (ANSWER, bytes),
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            (PANIC, text.unwrap_or_default().into_bytes())
        }
    };
    let mut head = [0; 9];
    head[0] = kind;
    head[1..].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
    // A parent that is gone reads nothing, and this process ends with it.
    let _ = answer.write_all(&head).and_then(|()| answer.write_all(&bytes));
    drop(answer);
    if page.crash.state.load(Ordering::Acquire) == 0 {
        // Where a thread crashed, it may hold the lock of a stream; its lines are written by then.
        // SAFETY: no stream means all streams of C.
        unsafe { libc::fflush(ptr::null_mut()) };
    }
    // Destructors are for the parent: files, threads and memory of this copy end with it.
    // SAFETY: ends the process.
    unsafe { libc::_exit(0) }
}

/// Makes this process a child that can be left alone.
fn settle(page: &SharedPage, parent: libc::pid_t) {
    PAGE.store(page.address().cast_mut(), Ordering::Release);
    // SAFETY: plain system calls with plain arguments; the handlers have the signatures that their flags ask for.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != parent {
            libc::_exit(1);
        }
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            libc::signal(signal, libc::SIG_IGN);
        }
        // What a kernel prints is seen although it crashes later.
        setvbuf(stdout, ptr::null_mut(), libc::_IOLBF, 0);
    }
    CHILD.store(true, Ordering::Relaxed);
    handle_crashes();
    // Where memory runs out, this process is the one to go. Without the file the system chooses.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    prepare_thread();
}

/// Lets this process itself outlive a crash of code that is called under [`enter`], long enough to say where it happened.
/// For work whose results would be worthless without that code, and that has nothing to protect from it.
pub fn guard() -> io::Result<()> {
    if page().is_none() {
        let page = SharedPage::fresh()?;
        PAGE.store(page.address().cast_mut(), Ordering::Release);
        // Handlers may need it until the process ends.
        std::mem::forget(page);
        handle_crashes();
    }
    Ok(())
}

/// The crash so far, if there was one, is told: a guarded process lives on, and the next run is not blamed for it. A child
/// keeps what it wrote down, for its parent.
pub fn crash_told() {
    if let Some(page) = page()
        && !is_child()
    {
        page.crash.told.fetch_add(1, Ordering::Release);
        page.forget_crash();
    }
}

fn handle_crashes() {
    for (signal, earlier) in CRASHES.into_iter().zip(&EARLIER) {
        // SAFETY: an action of all zeros is valid, and the handler has the signature that its flags ask for.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let mut before: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_crash as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigfillset(&raw mut action.sa_mask);
            if libc::sigaction(signal, &raw const action, &raw mut before) == 0 {
                earlier.store(Box::into_raw(Box::new(before)), Ordering::Release);
            }
        }
    }
    // SAFETY: as above.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_stack_wanted as *const () as usize;
        action.sa_flags = libc::SA_ONSTACK | libc::SA_RESTART;
        libc::sigaction(STACK_WANTED, &raw const action, ptr::null_mut());
    }
    // SAFETY: the handler has the signature that is asked for.
    unsafe { on_exit(on_process_exit, ptr::null_mut()) };
}

/// Gives this thread a stack for handlers. Threads that run such code call it first; elsewhere it does nothing.
pub fn prepare_thread() {
    if page().is_none() {
        return;
    }
    // SAFETY: the memory is fresh and belongs to the thread until the process ends, which is soon.
    unsafe {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let base = libc::mmap(ptr::null_mut(), HANDLER_STACK, protection, flags, -1, 0);
        if base == libc::MAP_FAILED {
            // A full stack then ends the process without its story; the parent still says that it did.
            return;
        }
        let stack = libc::stack_t { ss_sp: base, ss_flags: 0, ss_size: HANDLER_STACK };
        libc::sigaltstack(&raw const stack, ptr::null_mut());
    }
    // A call of `exit` takes a function off the list before it runs it: a second thread that calls it at the same moment needs
    // one of its own, or it ends them all.
    // SAFETY: the handler has the signature that is asked for.
    unsafe { on_exit(on_process_exit, ptr::null_mut()) };
}

unsafe extern "C" {
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    fn setvbuf(stream: *mut libc::FILE, buffer: *mut libc::c_char, mode: c_int, size: usize) -> c_int;
    static stdout: *mut libc::FILE;
    fn _Unwind_Backtrace(
        each: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIPInfo(context: *mut c_void, before: *mut c_int) -> usize;
}

extern "C" fn on_crash(signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    if !is_ours() {
        // Done again, it is met as it was before.
        let place = CRASHES.iter().position(|&crash| crash == signal);
        let earlier = place.map_or(ptr::null_mut(), |place| EARLIER[place].load(Ordering::Acquire));
        // SAFETY: an earlier action is never freed; without one there is the system's own.
        unsafe {
            if earlier.is_null() {
                libc::signal(signal, libc::SIG_DFL);
            } else {
                libc::sigaction(signal, earlier, ptr::null_mut());
            }
            if (*info).si_code <= 0 {
                // Raised by a call, which does not repeat itself.
                libc::raise(signal);
            }
        }
        return;
    }
    // SAFETY: the system passes what happened.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as u64) };
    let told = told();
    write_down(signal as u32, code, address);
    stay(told)
}

/// `exit` of C ends all threads, also those that could still say what happened. It comes here first.
extern "C" fn on_process_exit(code: c_int, _: *mut c_void) {
    if Place::from(PLACE.get()) != Place::Elsewhere {
        let told = told();
        write_down(0, code, 0);
        stay(told)
    }
}

extern "C" fn on_stack_wanted(signal: c_int) {
    write_down(signal as u32, 0, 0);
}

/// Whether this thread's trouble is to be told here: in a child any, elsewhere that of the code that was let in.
fn is_ours() -> bool {
    CHILD.load(Ordering::Relaxed) || Place::from(PLACE.get()) != Place::Elsewhere
}

/// The first trouble of a process is the one that is told.
fn write_down(signal: u32, code: c_int, address: u64) {
    let Some(page) = page() else { return };
    let words = &page.crash;
    if words.state.compare_exchange(0, WRITING, Ordering::AcqRel, Ordering::Relaxed).is_err() {
        return;
    }
    words.signal.store(signal, Ordering::Relaxed);
    words.code.store(code as u32, Ordering::Relaxed);
    words.address.store(address, Ordering::Relaxed);
    words.place.store(PLACE.get(), Ordering::Relaxed);
    // Walking a stack can fail in every way there is. What is written so far counts.
    words.state.store(CAUSE, Ordering::Release);
    // SAFETY: `note_frame` keeps to the signature; the page outlives the walk.
    unsafe { _Unwind_Backtrace(note_frame, ptr::from_ref(page).cast_mut().cast()) };
    words.state.store(WHOLE, Ordering::Release);
}

extern "C" fn note_frame(context: *mut c_void, page: *mut c_void) -> c_int {
    const GO_ON: c_int = 0;
    const STOP: c_int = 5;
    // SAFETY: `write_down` passed the page.
    let words = unsafe { &(*page.cast::<Page>()).crash };
    let mut before = 0;
    // SAFETY: the unwinder passes a context of its own.
    let address = unsafe { _Unwind_GetIPInfo(context, &raw mut before) } as u64;
    let frame = words.frames.load(Ordering::Relaxed) as usize;
    if frame == FRAMES || address == 0 {
        return STOP;
    }
    // A return address is behind the call; the line of the call is wanted.
    words.stack[frame].store(address - u64::from(before == 0), Ordering::Relaxed);
    words.frames.store(frame as u32 + 1, Ordering::Release);
    GO_ON
}

/// How many crashes were told so far.
fn told() -> u32 {
    page().map_or(0, |page| page.crash.told.load(Ordering::Acquire))
}

/// The thread is of no use any more, but what it holds must not be torn down under the others. `before` crashes had been
/// told when this one happened.
fn stay(before: u32) -> ! {
    if !CHILD.load(Ordering::Relaxed) {
        // SAFETY: sleeps.
        unsafe { libc::sleep(SILENCE_SECONDS) };
    }
    while CHILD.load(Ordering::Relaxed) || told() != before {
        // SAFETY: waits for a signal; all are blocked here.
        unsafe { libc::pause() };
    }
    // Without a parent this thread is the last to know if the others cannot continue either.
    const SAID: &[u8] = b"error: a kernel crashed and left this process unable to say more\n";
    // SAFETY: writes bytes that are there, and ends the process.
    unsafe {
        let _ = libc::write(libc::STDERR_FILENO, SAID.as_ptr().cast(), SAID.len());
        libc::_exit(1)
    }
}
