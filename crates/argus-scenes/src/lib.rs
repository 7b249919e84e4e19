//! The scenes: what a case runs on, what it must produce, and whether it did.
//!
//! The references share no code with the tile engine. A wrong instruction therefore cannot hide by being
//! wrong in the same way on both sides of a comparison.
//!
//! ```
//! use argus_chip::DEFAULT_CHIP;
//! use argus_scenes::play::{PlayOptions, play};
//! use argus_scenes::registry;
//!
//! let scene = registry::scene("vector_example")?;
//! let (case, runtime) = scene.case(None, None)?;
//! let options = PlayOptions { rounds: 2, ..PlayOptions::default() };
//! let played = play(case, runtime, DEFAULT_CHIP, &options)?;
//! assert_eq!(played.rounds.len(), 2);
//! assert!(played.passed(), "{:?}", played.rounds[0].outputs);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`registry`] | the scenes there are, and what each needs to be run and judged |
//! | [`play`] | runs a case and judges its outputs |
//! | [`scenes`] | orchestration, cases, inputs and golden of each scene |
//! | [`kernels`] | the kernels they submit |
//! | [`params`] | the parameters of cases, and the presets |
//! | [`inputs`] | inputs that are the same bits on every machine |
//! | [`reference`](mod@reference) | what each kernel and each scene must produce |
//! | [`isolated`] | what a single task must produce from the inputs it had |
//! | [`compare`] | outputs against references, within a tolerance |
#![forbid(unsafe_code)]

pub mod compare;
pub mod inputs;
pub mod isolated;
pub mod kernels;
pub mod params;
pub mod play;
pub mod reference;
pub mod registry;
pub mod scenes;
