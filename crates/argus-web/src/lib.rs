//! Dumps in a browser, served on the loopback.
//!
//! What comes in: paths of dumps, and questions as `GET`. What goes out: the page that lies in `web/`, the objects that
//! commands print with `--json`, and columns of numbers where there are many.
//!
//! Guarantees:
//! - No request gets an answer without the token in the address, and no other page in a browser gets one at all (`gate`).
//! - Nothing that a client sends becomes a path: dumps, tasks and records are numbers.
//! - Nothing is written but the layout of a large graph, beside its dump.
//! - Memory is bounded: connections, headers, answers that wait for slow readers, and everything that is kept.
//! - No tile is made of samples: what takes long is `pending` until it is exact.
//!
//! What it never does: print, name a flag, answer anything but GET.
//!
//! | module | subject |
//! |---|---|
//! | `server` | listens, and ends |
//! | `gate` | who may ask |
//! | `patience` | clients that take nothing |
//! | `routes` | what can be asked for |
//! | `answer`, `columns` | how it is answered |
//! | `bundle` | the page |
//! | `session`, `shown` | the dumps, and one of them as it was when it was last opened |
//! | `live` | runs that are still going on |
//! | `table` | tasks in columns |
//! | `graph`, `layout_file` | the graph, drawn |
//! | `overview`, `task`, `sources` | a run, a task, its sources |
//! | `record`, `plane`, `cells`, `pyramid` | a tensor in tiles |
//! | `timeline`, `trace` | when what ran where; the instructions of a task |
//! | `findings`, `judged`, `compare` | what a search found, one in the background, one against another dump |
//! | `report` | the same answers in one file, without a server |
#![forbid(unsafe_code)]

mod answer;
mod bundle;
mod cells;
mod columns;
mod compare;
mod findings;
mod gate;
mod graph;
mod judged;
mod layout_file;
mod live;
mod overview;
mod patience;
mod plane;
mod pyramid;
mod record;
pub mod report;
mod routes;
mod server;
mod session;
mod shown;
mod sources;
mod table;
mod task;
mod timeline;
mod trace;

pub use gate::Token;
pub use server::{Address, Ended, Options, Place, ServeError, serve};
pub use session::{Commands, Session, Unopened, Verb};
