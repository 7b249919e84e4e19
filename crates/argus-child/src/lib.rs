//! Work in a child process that may crash.
//!
//! Code that Rust did not check can do anything to its process. So it runs in a copy of the process that [`fork`] makes:
//! everything that was prepared is there, and whatever the code does stays there. The parent keeps what must be
//! believed afterwards. The two share one [`Page`], on which the child shows how far it is and its last signal handler
//! writes what happened, and a pipe that carries one message, the child's answer.
//!
//! ```
//! use argus_child::{Ended, Patience, fork};
//!
//! let mut child = fork(|| b"done".to_vec())?;
//! match child.wait(1 << 20, |_page| Patience::Wait) {
//!     Ended::Answered(answer) => assert_eq!(answer, b"done"),
//!     other => panic!("{other:?}"),
//! }
//! // What ends the child leaves this process alone.
//! let mut child = fork(|| std::process::abort())?;
//! let Ended::Died(death) = child.wait(1 << 20, |page| match page.crash() {
//!     Some(_) => Patience::Kill,
//!     None => Patience::Wait,
//! }) else { panic!("it answered") };
//! assert!(death.crash.expect("its handler wrote it down").to_string().starts_with("abort (SIGABRT)"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # What holds
//!
//! - The child is the calling thread and no other. Locks that other threads held stay locked in it; those of the standard
//!   streams are free, and so is the allocator.
//! - A thread of the child that crashes stays in its handler, so that the others can still say where it stood. If they
//!   cannot, the page has the signal, the address and the stack.
//! - The child ends when the parent does, whatever it is doing, and ignores what a terminal sends: the parent decides.
//! - The parent checks everything that it takes from the page.
//!
//! | module | subject |
//! |---|---|
//! | `page` | the memory that both see |
//! | `inside` | the child: its handlers, its threads, its end |
//! | `outside` | the parent: waiting, the message, the death |
//! | `crash` | what happened, in words |
//! | `stack` | addresses of code as functions and source lines |

mod crash;
mod inside;
mod outside;
mod page;
mod stack;

pub use crash::{Cause, Crash};
pub use inside::{Place, crash_told, enter, fork, guard, is_child, page, prepare_thread};
pub use outside::{Child, Death, Ended, Exit, Patience};
pub use page::{CORES, Page, SharedPage, Shown};
pub use stack::{Frame, resolve};
