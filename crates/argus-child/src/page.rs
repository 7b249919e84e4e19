//! The page that parent and child share.
#![allow(unsafe_code)]

use std::io;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use crate::crash::{Cause, Crash};
use crate::inside::{Place, current_thread, interrupt_thread};

/// How long a thread that is asked for its stack may take, in rounds.
const ANSWER_ROUNDS: u32 = 100;
const ANSWER_ROUND: Duration = Duration::from_millis(2);
/// Cores whose work can be shown.
pub const CORES: usize = 256;
/// Return addresses of a crash that are kept.
pub(crate) const FRAMES: usize = 64;

/// Memory that both processes see. Words of atomics only: the other side may write anything at any time.
#[derive(Debug)]
#[repr(C)]
pub struct Page {
    /// Counts the looks of the child's watcher.
    beat: AtomicU64,
    /// Set by the parent: the child is to end soon and in order.
    interrupt: AtomicU32,
    submitted: AtomicU64,
    completed: AtomicU64,
    orchestrated: AtomicU32,
    pub(crate) crash: CrashWords,
    /// The thread of the orchestration, as the system numbers threads.
    orchestration: AtomicU32,
    /// What each core runs.
    activity: [CoreWords; CORES],
}

/// Work of a core, as two words.
#[derive(Debug)]
#[repr(C)]
struct CoreWords {
    task: AtomicU64,
    func_and_block: AtomicU64,
    thread: AtomicU32,
}

/// What a handler writes down.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct CrashWords {
    /// 0: nothing happened; 1: being written; 2: cause and place are there; 3: the stack, too.
    pub state: AtomicU32,
    /// A signal, or 0 for a call of `exit`.
    pub signal: AtomicU32,
    /// `si_code` of a signal, or the code of `exit`.
    pub code: AtomicU32,
    pub address: AtomicU64,
    pub place: AtomicU32,
    /// Counts crashes that were told by the process itself.
    pub told: AtomicU32,
    pub frames: AtomicU32,
    pub stack: [AtomicU64; FRAMES],
}

pub(crate) const WRITING: u32 = 1;
pub(crate) const CAUSE: u32 = 2;
pub(crate) const WHOLE: u32 = 3;

/// How far the child's run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    pub submitted: u64,
    pub completed: u64,
    pub orchestrated: bool,
}

impl Page {
    /// The child's watcher is alive.
    pub fn beat(&self) {
        self.beat.fetch_add(1, Ordering::Relaxed);
    }

    /// Changes whenever the child's watcher looks.
    pub fn beats(&self) -> u64 {
        self.beat.load(Ordering::Relaxed)
    }

    /// The child is to end soon and in order.
    pub fn interrupt(&self) {
        self.interrupt.store(1, Ordering::Relaxed);
    }

    /// Whether the child is to end; asked once, it is forgotten.
    pub fn take_interrupt(&self) -> bool {
        self.interrupt.swap(0, Ordering::Relaxed) != 0
    }

    /// Shows how far the run is.
    pub fn show(&self, shown: Shown) {
        self.submitted.store(shown.submitted, Ordering::Relaxed);
        self.completed.store(shown.completed, Ordering::Relaxed);
        self.orchestrated.store(shown.orchestrated.into(), Ordering::Relaxed);
    }

    pub fn shown(&self) -> Shown {
        Shown {
            submitted: self.submitted.load(Ordering::Relaxed),
            completed: self.completed.load(Ordering::Relaxed),
            orchestrated: self.orchestrated.load(Ordering::Relaxed) != 0,
        }
    }

    /// A core begins a block of a task. Cores that the page has no room for are not shown.
    pub fn begin(&self, core: usize, task: u64, func: u32, block: u32) {
        if let Some(words) = self.activity.get(core) {
            words.thread.store(current_thread(), Ordering::Relaxed);
            words.func_and_block.store(u64::from(func) << 32 | u64::from(block), Ordering::Relaxed);
            // One more than the task, so that fresh memory means idle.
            words.task.store(task.wrapping_add(1), Ordering::Release);
        }
    }

    /// A core is idle again.
    pub fn end(&self, core: usize) {
        if let Some(words) = self.activity.get(core) {
            words.task.store(0, Ordering::Relaxed);
        }
    }

    /// What a core runs: task, kernel, block.
    pub fn activity(&self, core: usize) -> Option<(u64, u32, u32)> {
        let words = self.activity.get(core)?;
        let task = words.task.load(Ordering::Acquire).checked_sub(1)?;
        let func_and_block = words.func_and_block.load(Ordering::Relaxed);
        Some((task, (func_and_block >> 32) as u32, func_and_block as u32))
    }

    /// The calling thread runs the orchestration.
    pub fn begin_orchestration(&self) {
        self.orchestration.store(current_thread(), Ordering::Relaxed);
    }

    /// The stack of the thread that is at a place: it is interrupted for a moment to walk it. Empty if there is no such
    /// thread, or if it does not answer.
    pub fn stack_at(&self, place: Place) -> Vec<u64> {
        let thread = match place {
            Place::Core(core) => self.activity.get(core as usize).map(|words| &words.thread),
            Place::Orchestration => Some(&self.orchestration),
            Place::Elsewhere => None,
        };
        let thread = thread.map_or(0, |thread| thread.load(Ordering::Relaxed));
        if thread == 0 || self.crash.state.load(Ordering::Acquire) != 0 || !interrupt_thread(thread) {
            return Vec::new();
        }
        for _ in 0..ANSWER_ROUNDS {
            if self.crash_is_whole() {
                break;
            }
            std::thread::sleep(ANSWER_ROUND);
        }
        let stack = self.crash().map(|crash| crash.stack).unwrap_or_default();
        self.forget_crash();
        stack
    }

    /// What was written down makes room for what comes.
    pub(crate) fn forget_crash(&self) {
        self.crash.frames.store(0, Ordering::Relaxed);
        self.crash.state.store(0, Ordering::Release);
    }

    /// What a handler wrote down, if anything happened.
    pub fn crash(&self) -> Option<Crash> {
        let words = &self.crash;
        if words.state.load(Ordering::Acquire) < CAUSE {
            return None;
        }
        let code = words.code.load(Ordering::Relaxed) as i32;
        let cause = match words.signal.load(Ordering::Relaxed) {
            0 => Cause::Exit { code },
            signal => {
                let address = words.address.load(Ordering::Relaxed);
                Cause::Signal { signal: signal as i32, code, address }
            }
        };
        let frames = (words.frames.load(Ordering::Acquire) as usize).min(FRAMES);
        let stack = words.stack[..frames].iter().map(|word| word.load(Ordering::Relaxed)).collect();
        Some(Crash { cause, place: words.place.load(Ordering::Relaxed).into(), stack })
    }

    /// Whether the handler is done writing.
    pub fn crash_is_whole(&self) -> bool {
        self.crash.state.load(Ordering::Acquire) == WHOLE
    }
}

/// A page, mapped into both processes.
#[derive(Clone, Debug)]
pub struct SharedPage(Arc<Mapping>);

#[derive(Debug)]
struct Mapping(NonNull<Page>);

// SAFETY: the page is nothing but atomics.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl SharedPage {
    pub(crate) fn fresh() -> io::Result<SharedPage> {
        // SAFETY: asks for memory anywhere.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size_of::<Page>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let at = NonNull::new(at.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(SharedPage(Arc::new(Mapping(at))))
    }

    pub(crate) fn address(&self) -> *const Page {
        self.0.0.as_ptr()
    }
}

impl Deref for SharedPage {
    type Target = Page;

    fn deref(&self) -> &Page {
        // SAFETY: mapped for as long as this lives, zeros at first, and made of integers that hold every pattern of bits.
        unsafe { self.0.0.as_ref() }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `fresh` with this size, and unmapped nowhere else.
        unsafe { libc::munmap(self.0.as_ptr().cast(), size_of::<Page>()) };
    }
}
