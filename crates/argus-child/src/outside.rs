//! The parent: waiting, the message, the death.
#![allow(unsafe_code)]

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use crate::crash::{Crash, signal_words};
use crate::inside::{ANSWER, PANIC};
use crate::page::{Page, SharedPage};

/// How often the caller is asked.
const TICK: Duration = Duration::from_millis(20);
/// Bytes of a message that are read at once.
const PIECE: usize = 64 << 10;
/// How long a child may take to end once it has closed its side, in rounds.
const EXIT_ROUND: Duration = Duration::from_millis(1);
const EXIT_ROUNDS: u32 = 1000;

/// A child process. Dropping it ends it, and waits until the system has taken it away.
#[derive(Debug)]
pub struct Child {
    pid: libc::pid_t,
    page: SharedPage,
    answer: File,
    /// It has said all it had to say, and is ending.
    answered: bool,
    /// It was waited for, and its number may belong to another process now.
    gone: bool,
}

/// What a caller wants after a look at the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    Wait,
    /// The child is to end now.
    Kill,
}

/// How a child ended.
#[derive(Debug)]
pub enum Ended {
    /// It gave its answer.
    Answered(Vec<u8>),
    /// Its own work panicked, with this text.
    Panicked(String),
    /// It died, or was ended, without an answer.
    Died(Death),
}

/// The end of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Death {
    pub how: Exit,
    /// The caller ended it.
    pub wanted: bool,
    /// What its handler wrote down.
    pub crash: Option<Crash>,
}

/// How the system says that a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Exit::Code(code) => write!(f, "ended with code {code}"),
            Exit::Signal(libc::SIGKILL) => {
                f.write_str("was killed (SIGKILL), by a user or by a system that ran out of memory")
            }
            Exit::Signal(signal) => {
                let (name, words) = signal_words(signal);
                write!(f, "died: {words} ({name})")
            }
        }
    }
}

impl Child {
    pub(crate) fn new(pid: libc::pid_t, page: SharedPage, answer: File) -> Child {
        Child { pid, page, answer, answered: false, gone: false }
    }

    pub fn page(&self) -> &SharedPage {
        &self.page
    }

    /// Waits for the child's answer, or for its end without one. `look` is asked a few times in each second while nothing
    /// arrives. An answer of more than `limit` bytes is not taken.
    pub fn wait(&mut self, limit: u64, mut look: impl FnMut(&Page) -> Patience) -> Ended {
        let mut message = Message::default();
        let mut wanted = false;
        // Until the other end is closed or cannot be read: the child is done, one way or the other.
        while let Ok(true) = self.arrived(&mut message) {
            if message.is_whole(limit) {
                break;
            }
            if message.is_garbled(limit) {
                // Whatever follows is not an answer, and would fill this process's memory.
                self.kill();
                break;
            }
            if !wanted && look(&self.page) == Patience::Kill {
                wanted = true;
                self.kill();
            }
        }
        if let Some(ended) = message.taken(limit) {
            self.answered = true;
            return ended;
        }
        let crash = self.page.crash();
        // A child that closed its side is about to end; one that lives on is of no use.
        let how = self.end();
        Ended::Died(Death { how, wanted, crash: crash.or_else(|| self.page.crash()) })
    }

    /// Waits for a piece of the message, at most a tick. False: nothing will follow.
    fn arrived(&mut self, message: &mut Message) -> io::Result<bool> {
        let mut poll = libc::pollfd { fd: self.answer.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one place, one entry.
        let ready = unsafe { libc::poll(&raw mut poll, 1, TICK.as_millis() as libc::c_int) };
        if ready <= 0 {
            return Ok(true);
        }
        match message.read_piece(&mut self.answer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
            read => read.map(|bytes| bytes > 0),
        }
    }

    fn kill(&self) {
        if !self.gone {
            // SAFETY: the child was not waited for, so the number is still its own.
            unsafe { libc::kill(self.pid, libc::SIGKILL) };
        }
    }

    /// Ends it, if it has not ended, and says how it did.
    fn end(&mut self) -> Exit {
        // It closed its side: what it still does is to end. A moment for that, so that its own way of ending is seen.
        // SAFETY: asks for a descriptor of our own child, which was not waited for.
        let exit = unsafe { libc::syscall(libc::SYS_pidfd_open, self.pid, 0) } as libc::c_int;
        // SAFETY: the descriptor was just opened and belongs to this function.
        let exit = (exit >= 0).then(|| unsafe { OwnedFd::from_raw_fd(exit) });
        let mut status = 0;
        for round in 0.. {
            // SAFETY: waits for our own child.
            let waited = unsafe { libc::waitpid(self.pid, &raw mut status, libc::WNOHANG) };
            if waited == self.pid {
                break;
            }
            if waited < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                // Something else in this process waited for it.
                self.gone = true;
                return Exit::Code(0);
            }
            if round == EXIT_ROUNDS {
                self.kill();
            }
            // Readable when it has ended. A system without such descriptors sleeps through the round.
            let fd = exit.as_ref().map_or(-1, AsRawFd::as_raw_fd);
            let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
            // SAFETY: one place, one entry.
            unsafe { libc::poll(&raw mut poll, 1, EXIT_ROUND.as_millis() as libc::c_int) };
        }
        self.gone = true;
        match libc::WIFSIGNALED(status) {
            true => Exit::Signal(libc::WTERMSIG(status)),
            false => Exit::Code(libc::WEXITSTATUS(status)),
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.gone {
            if !self.answered {
                self.kill();
            }
            self.end();
        }
    }
}

/// What has arrived of the child's message: a byte that says what it is, its length, and its content.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    const HEAD: usize = 9;

    fn read_piece(&mut self, from: &mut File) -> io::Result<usize> {
        let before = self.0.len();
        self.0.resize(before + PIECE, 0);
        let read = from.read(&mut self.0[before..]);
        self.0.truncate(before + read.as_ref().copied().unwrap_or(0));
        read
    }

    /// Kind and length, if they can be believed.
    fn head(&self, limit: u64) -> Option<(u8, u64)> {
        let head = self.0.get(..Self::HEAD)?;
        let length = u64::from_le_bytes(head[1..].try_into().ok()?);
        (length <= limit && matches!(head[0], ANSWER | PANIC)).then_some((head[0], length))
    }

    fn is_whole(&self, limit: u64) -> bool {
        let content = self.0.len().saturating_sub(Self::HEAD) as u64;
        self.head(limit).is_some_and(|(_, length)| content >= length)
    }

    /// Whether this is not the beginning of any message.
    fn is_garbled(&self, limit: u64) -> bool {
        self.0.len() >= Self::HEAD && self.head(limit).is_none()
    }

    /// The message, if all of it is there.
    fn taken(mut self, limit: u64) -> Option<Ended> {
        let (kind, length) = self.head(limit).filter(|_| self.is_whole(limit))?;
        self.0.drain(..Self::HEAD);
        self.0.truncate(length as usize);
        Some(match kind {
            ANSWER => Ended::Answered(self.0),
            _ => Ended::Panicked(String::from_utf8_lossy(&self.0).into_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_answered_is_waited_for_when_it_is_dropped() {
        let mut child = crate::fork(|| b"done".to_vec()).unwrap();
        let process = std::path::PathBuf::from(format!("/proc/{}", child.pid));
        assert!(matches!(child.wait(10, |_| Patience::Wait), Ended::Answered(answer) if answer == b"done"));
        // One that has ended and was not waited for is still there.
        assert!(process.exists());
        drop(child);
        assert!(!process.exists());
    }

    #[test]
    fn what_cannot_become_a_message_is_known_by_its_head() {
        let message = |kind: u8, length: u64| {
            let mut bytes = vec![kind];
            bytes.extend(length.to_le_bytes());
            Message(bytes)
        };
        assert!(!Message(vec![ANSWER; Message::HEAD - 1]).is_garbled(10), "its head is not there yet");
        assert!(!message(ANSWER, 10).is_garbled(10) && !message(PANIC, 0).is_garbled(10));
        assert!(message(ANSWER, 11).is_garbled(10), "longer than is taken");
        assert!(message(77, 1).is_garbled(10), "no such kind");
    }
}
