//! The scene behind a dump: which one it is, what it expects of the dump's tasks, and the code of one of them.
//!
//! A dump holds bytes; what should be in them, and the kernels that can make them again, belong to a scene. This crate
//! joins the two for every face of the tool: for a search ([`known`](known()) gives references and a graph), for a
//! replay ([`open`] gives a task with its kernels) and for a trace ([`Traced`] gives the task's instructions).
//!
//! ```no_run
//! use argus_dump::read::Dump;
//! use argus_dump_scene::{Lookup, Named, What, open};
//! use argus_facts::TaskSelector;
//! use argus_replay::{Options, TaskChoice, replay};
//! use argus_scene::Registry;
//!
//! # fn scenes() -> Registry { Registry::default() }
//! let registry = scenes();
//! let lookup = Lookup { registry: &registry, changed: &|files| eprintln!("changed since: {files:?}") };
//! let dump = Dump::open("my_run".as_ref())?;
//! let choice = TaskChoice { task: TaskSelector::parse("0x1"), ..TaskChoice::default() };
//! let wanted = Named { choice, ..Named::default() };
//! let source = open(What::Dump(&dump), &wanted, &lookup)?;
//! let proof = replay(&source.task, &source.code.kernels, source.chip, &Options::default(), 1)?;
//! assert!(proof.passed());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | subject |
//! |---|---|
//! | `carried` | the scene that a dump carries |
//! | [`fit`](mod@fit) | whether the tasks of a dump are those of a scene |
//! | [`known`](mod@known) | what a scene knows about a dump: kernels, edges, references |
//! | `recorded` | a case that is run once more for what a capture of it tells |
//! | [`source`](mod@source) | from a dump, a capsule or a scene to a task and the code it runs |
//! | [`traced`](mod@traced) | a task run once more, with its instructions written down |
//! | [`error`] | why there is no scene, or no task |
//!
//! What it never does: print, name a flag, or write a file that stays.
#![forbid(unsafe_code)]

mod carried;
pub mod error;
pub mod fit;
pub mod known;
mod recorded;
pub mod source;
pub mod traced;

use argus_dump::read::Dump;
use argus_scene::Registry;

pub use error::LookupError;
pub use fit::{Better, Span};
pub use known::{KernelReferences, Known, SceneChoice, known};
pub use source::{From, Named, Source, What, describe, of_arguments, open, open_for_debugger};
pub use traced::{MAX_INSTRUCTIONS, TraceError, Traced};

/// Where scenes are looked for, and who hears about them.
pub struct Lookup<'a> {
    pub registry: &'a Registry,
    /// Hears which files of a scene have changed since a dump was made. What follows is about the dump's own copy.
    pub changed: &'a dyn Fn(&[&str]),
}

/// Whether a dump leaves kernels and edges to its scene: those of the reference have no graph, and copies of them in our
/// layout have one with nothing but tasks.
fn is_bare(dump: &Dump) -> bool {
    dump.own_graph().is_none_or(|graph| graph.kernels.is_empty() && graph.edges.is_empty())
}
