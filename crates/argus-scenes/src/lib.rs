//! The scenes that ship: their kernels, orchestrations, inputs and independent references.
//!
//! The references share no code with the tile engine. A wrong instruction therefore cannot hide by being
//! wrong in the same way on both sides of a comparison.
//!
//! ```
//! use argus_chip::DEFAULT_CHIP;
//! use argus_scene::play::{PlayOptions, play};
//!
//! let scene = argus_scenes::scene("vector_example")?;
//! let (case, runtime) = scene.case(None, None)?;
//! let options = PlayOptions { rounds: 2, ..PlayOptions::default() };
//! let played = play(&case, runtime, DEFAULT_CHIP, &options)?;
//! assert_eq!(played.rounds.len(), 2);
//! assert!(played.passed(), "{:?}", played.rounds[0].outputs);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`scenes`] | orchestration, cases, inputs and golden of each scene |
//! | [`kernels`] | the kernels they submit |
//! | [`params`] | the parameters of cases, and the presets |
//! | [`inputs`] | inputs that are the same bits on every machine |
//! | [`reference`](mod@reference) | what each kernel and each scene must produce |
//! | [`isolated`] | what a single task must produce from the inputs it had |
#![forbid(unsafe_code)]

pub mod inputs;
pub mod isolated;
pub mod kernels;
pub mod params;
pub mod reference;
pub mod scenes;

use std::sync::Arc;

use argus_scene::{Registry, Scene, SceneError};

/// A registry of the scenes that ship.
pub fn registry() -> Registry {
    Registry::new(scenes::all()).expect("the scenes that ship have different names")
}

/// The scene with this name, of those that ship.
pub fn scene(name: &str) -> Result<Arc<Scene>, SceneError> {
    registry().scene(name)
}
