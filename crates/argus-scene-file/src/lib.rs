//! Scenes from files: a `scene.toml` beside C++ sources.
//!
//! What comes in: a path. What goes out: an [`argus_scene::Scene`] like any other. Its sources are compiled and loaded
//! when one of its cases is prepared; inputs come from generators or files, expected outputs from files.
//!
//! ```toml
//! name = "vector_add"
//! runtime = "trb"
//!
//! [orchestration]
//! source = "kernels/orchestration/add_orch.cpp"
//!
//! [[kernel]]
//! func_id = 0
//! name = "add"
//! source = "kernels/aiv/add.cpp"
//! core = "aiv"
//! signature = ["in", "in", "out"]
//!
//! [[tensor]]
//! name = "a"
//! direction = "in"
//! dtype = "f32"
//! shape = ["rows", 16]
//! input = { uniform = [-1.0, 1.0] }
//!
//! [[tensor]]
//! name = "sum"
//! direction = "out"
//! dtype = "f32"
//! shape = ["rows", 16]
//! expected = { file = "golden/sum.npy" }
//!
//! [[case]]
//! name = "small"
//! params = { rows = 16 }
//! ```
//!
//! Every path is relative to the file. `docs/scene-file.md` describes each key.
//!
//! | module | subject |
//! |---|---|
//! | [`file`](mod@file) | what is written in a file |
//! | [`load`](mod@load) | from a file to a scene |
//! | [`inputs`] | arguments and expected outputs of a case |
//! | [`program`] | sources compiled and loaded |
//! | `twin` | a scene whose arguments and references another one shares |
//! | [`shipped`](mod@shipped) | the scenes in C++ that ship |
//! | `words` | the words that a file may use |
//! | [`error`] | why a file is not a scene |
#![forbid(unsafe_code)]

pub mod error;
pub mod file;
pub mod inputs;
pub mod load;
pub mod program;
pub mod shipped;
mod twin;
mod words;

pub use error::SceneFileError;
pub use load::{SceneFiles, load};
pub use shipped::shipped;
