//! How a control thread hands a task to a core and learns that it is done.
//!
//! Two registers and two payload slots per core, as on the chip. The control thread fills the payload slot
//! of the token's parity and writes the token to the dispatch register. The core sees a token it has not
//! seen, acknowledges it, runs, and reports the same token as finished. A core may be given the next token
//! while it runs; the acknowledgement of the next overwrites the finish of the one before, so a control
//! thread that sees the later token knows that the earlier task is done.

use std::ops::DerefMut;

use crate::order::order;
use crate::primitives::atomic::{AtomicU32, Ordering::Relaxed};
use crate::primitives::{Mutex, relock};

/// Set in the condition register when the token's task has finished; clear while it runs.
const FINISHED: u32 = 1 << 31;
/// Tokens above are reserved: exit, control idle, core exited, core idle.
const LAST_TOKEN: u32 = 0x7FFF_FFEF;
/// What a core reports before its first task.
const CORE_IDLE: u32 = 0x7FFF_FFFF;
/// What the dispatch register holds before the first token.
const CONTROL_IDLE: u32 = 0x7FFF_FFFD;

/// Names one dispatch on one core. Consecutive tokens of a core differ in parity, also where they wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token(u32);

impl Token {
    pub const FIRST: Token = Token(0);

    /// The token after this one. The last one is odd, so wrapping to 0 keeps parities alternating.
    #[inline]
    pub fn next(self) -> Token {
        Token(if self.0 == LAST_TOKEN { 0 } else { self.0 + 1 })
    }

    fn slot(self) -> usize {
        (self.0 & 1) as usize
    }
}

/// What the condition register says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Idle,
    Running(Token),
    Finished(Token),
}

/// The registers and payload slots of one core.
#[derive(Debug)]
pub struct Mailbox<P> {
    dispatch: AtomicU32,
    condition: AtomicU32,
    payloads: [Mutex<P>; 2],
}

impl<P: Default> Default for Mailbox<P> {
    fn default() -> Mailbox<P> {
        Mailbox {
            dispatch: AtomicU32::new(CONTROL_IDLE),
            condition: AtomicU32::new(CORE_IDLE | FINISHED),
            payloads: [Mutex::new(P::default()), Mutex::new(P::default())],
        }
    }
}

impl<P> Mailbox<P> {
    /// Control side: fills the payload slot and writes the token. The slot is free because at most two
    /// tokens are in flight and the one of the same parity is known to be finished.
    pub fn post(&self, token: Token, fill: impl FnOnce(&mut P)) {
        let mut payload = relock(self.payloads[token.slot()].lock());
        fill(&mut *payload);
        drop(payload);
        // Relaxed: the slot's lock hands over the payload and all that came before it. The thread that has read the
        // token takes that lock after us, because it could not have read it otherwise.
        self.dispatch.store(token.0, Relaxed);
    }

    /// Core side: the token in the dispatch register, if it is not the one taken last. Relaxed: see
    /// [`Mailbox::post`].
    #[inline]
    pub fn receive(&self, last: Option<Token>) -> Option<Token> {
        let raw = self.dispatch.load(Relaxed);
        (raw <= LAST_TOKEN && last != Some(Token(raw))).then_some(Token(raw))
    }

    /// Core side: reports that the token's task runs. All tokens before it are finished.
    #[inline]
    pub fn acknowledge(&self, token: Token) {
        // SYNC POINT: release, because this overwrites the finish of the token before and so publishes
        // what that task wrote.
        self.condition.store(token.0, order!("mailbox.acknowledge", Release));
    }

    /// Core side: the payload posted with a token.
    #[inline]
    pub fn payload(&self, token: Token) -> impl DerefMut<Target = P> {
        relock(self.payloads[token.slot()].lock())
    }

    /// Core side: reports that the token's task is done.
    #[inline]
    pub fn finish(&self, token: Token) {
        // SYNC POINT: what the kernel wrote is visible to the thread that acquires this in `condition`.
        self.condition.store(token.0 | FINISHED, order!("mailbox.finish", Release));
    }

    /// Control side: what the core reports.
    #[inline]
    pub fn condition(&self) -> Condition {
        // SYNC POINT: pairs with the releases in `acknowledge` and `finish`.
        let raw = self.condition.load(order!("mailbox.condition", Acquire));
        match (raw & FINISHED != 0, raw & !FINISHED) {
            (_, token) if token > LAST_TOKEN => Condition::Idle,
            (true, token) => Condition::Finished(Token(token)),
            (false, token) => Condition::Running(Token(token)),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn tokens_alternate_in_parity_even_where_they_wrap() {
        let last = Token(LAST_TOKEN);
        assert_ne!(last.slot(), last.next().slot());
        assert_eq!(last.next(), Token(0));
        assert_ne!(Token::FIRST.slot(), Token::FIRST.next().slot());
    }

    #[test]
    fn a_core_takes_each_token_once() {
        let mailbox = Mailbox::<u64>::default();
        assert_eq!(mailbox.receive(None), None);
        assert_eq!(mailbox.condition(), Condition::Idle);
        mailbox.post(Token::FIRST, |payload| *payload = 7);
        assert_eq!(mailbox.receive(None), Some(Token::FIRST));
        assert_eq!(*mailbox.payload(Token::FIRST), 7);
        assert_eq!(mailbox.receive(Some(Token::FIRST)), None);
        mailbox.acknowledge(Token::FIRST);
        assert_eq!(mailbox.condition(), Condition::Running(Token::FIRST));
        mailbox.finish(Token::FIRST);
        assert_eq!(mailbox.condition(), Condition::Finished(Token::FIRST));
    }
}
