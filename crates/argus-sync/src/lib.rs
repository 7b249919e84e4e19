//! How threads hand over to each other.
//!
//! Each type here is one hand-off: a thread leaves something behind, another thread finds it, and nothing else
//! orders the two. None of them knows what is handed over. They lean on nothing, so that loom can try all
//! interleavings of each in one small build: `cargo xtask loom`. Nothing else in the workspace has a loom
//! configuration.
//!
//! | type | what it hands over |
//! |---|---|
//! | [`Mailbox`] | a payload from a control thread to a core, and the news that it is done |
//! | [`ReadyQueue`] | what is ready, to the thread that comes first |
//! | [`Bell`] | a wake-up that is not lost |
//! | [`Bits`] | hints: where it is worth to look |
//! | [`Countdown`], [`Holds`], [`Completion`] | the end of many things to the thread that continues |
//! | [`TaskAccount`] | how far a run is, and whether it can still change |
//! | [`FreeThreads`] | whether a thread is left to run a partner |
//! | [`ring`] | entries and bytes of a capture ring, between threads or processes |
//!
//! Every ordering that is more than relaxed has a name, and for each half of it there is a model that fails
//! without it: the table is in `src/models/weakened.rs`, and a test of the loom build tries every row. An
//! ordering that no model needs has no place here.
//!
//! # Example
//!
//! ```
//! use argus_sync::{Condition, Mailbox, Token};
//!
//! let mailbox = Mailbox::<u64>::default();
//! let sum = std::thread::scope(|scope| {
//!     // The core: takes the token, runs, reports.
//!     let core = scope.spawn(|| {
//!         let token = loop {
//!             match mailbox.receive(None) {
//!                 Some(token) => break token,
//!                 None => std::thread::yield_now(),
//!             }
//!         };
//!         mailbox.acknowledge(token);
//!         let sum = *mailbox.payload(token) + 1;
//!         mailbox.finish(token);
//!         sum
//!     });
//!     mailbox.post(Token::FIRST, |payload| *payload = 41);
//!     core.join().unwrap()
//! });
//! assert_eq!((sum, mailbox.condition()), (42, Condition::Finished(Token::FIRST)));
//! ```

mod account;
mod bell;
mod bits;
mod completion;
mod countdown;
mod free_threads;
mod mailbox;
#[cfg(all(test, loom))]
mod models;
mod order;
mod primitives;
mod ready;
pub mod ring;

pub use account::TaskAccount;
pub use bell::{Bell, Ticket};
pub use bits::Bits;
pub use completion::{Completion, Waiters};
pub use countdown::{Countdown, Holds};
pub use free_threads::FreeThreads;
pub use mailbox::{Condition, Mailbox, Token};
pub use primitives::relock;
pub use ready::ReadyQueue;
