//! Tasks that are complete only later: when words in memory have reached a value. The kernel that says so has
//! returned by then, and its core runs something else.

use core::fmt;
use core::panic::Location;

use crate::core::Core;
use crate::fault::Fault;
use crate::global::Global;
use crate::kernel::KernelResult;
use crate::signal::{WaitFor, check_words, word};
use crate::site::Site;

const WANTED: WaitFor = WaitFor::GreaterOrEqual;

/// A condition for the completion of a task.
#[derive(Debug)]
pub struct Deferred {
    signal: Global,
    value: i32,
    at: Site,
}

impl Deferred {
    /// Whether the word has reached the value. What was stored before it was notified is visible then.
    pub fn holds(&self) -> Result<bool, Fault> {
        let _turn = self.signal.window().take_turn();
        Ok(WANTED.holds(word(&self.signal, 0)?, self.value))
    }
}

impl fmt::Display for Deferred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Deferred { signal, value, at } = self;
        write!(f, "its completion waits for a signal {} {value}", WANTED.sign())?;
        if let Ok(word) = word(signal, 0) {
            write!(f, ", which is {word}")?;
        }
        write!(f, " ({}:{})", at.file(), at.line())
    }
}

impl Core {
    /// The task of the running kernel is complete only when the first word of `signal` is at least `value`; with
    /// several such conditions, when all of them hold. The core is free as soon as the kernel returns.
    #[track_caller]
    pub fn complete_when(&mut self, signal: &Global, value: i32) -> KernelResult {
        let at = self.site(Location::caller());
        check_words("signal", signal).and_then(|()| word(signal, 0)).map_err(|fault| fault.located(at))?;
        self.deferred.push(Deferred { signal: signal.clone(), value, at });
        Ok(())
    }

    /// What the kernel that has just ended left for its task to wait for.
    pub fn take_deferred(&mut self) -> Vec<Deferred> {
        std::mem::take(&mut self.deferred)
    }
}
