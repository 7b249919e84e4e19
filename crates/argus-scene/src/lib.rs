//! What a scene is: a program with its cases, how it is played and judged, and the registry that commands ask.
//!
//! A scene is data. Commands ask a [`Registry`] for one by name and never learn who made it: the scenes that ship, a
//! crate of a user, a file with C++ sources, or another language. They all fill the same [`Scene`].
//!
//! ```
//! use std::sync::Arc;
//!
//! use argus_abi::{ArgDirection, CoreType, DType, FuncId, KernelArgs, RuntimeKind};
//! use argus_chip::DEFAULT_CHIP;
//! use argus_runtime::{Arg, HostArgs, KernelEntry, KernelTable, Orchestration, Program};
//! use argus_scene::arguments::{elements, tensor};
//! use argus_scene::play::{PlayOptions, play};
//! use argus_scene::{Case, Expected, Prepared, Registry, Scene, Tolerance};
//! use argus_tile::{Core, GlobalShape, Tile};
//!
//! fn double() -> Prepared {
//!     let kernel = |core: &mut Core, args: &KernelArgs<'_>| {
//!         let tile = Tile::vec(DType::F32, 1, 8).at(0);
//!         let place = core.global_at(args.tensor(0)?, 0, GlobalShape::nd(1, 8))?;
//!         core.tload(&tile, &place)?;
//!         core.tmuls(&tile, &tile, 2.0)?;
//!         core.tstore(&place, &tile)
//!     };
//!     let entry = KernelEntry::new(FuncId(0), "double", CoreType::Aiv, &[ArgDirection::Inout], kernel);
//!     let orchestration = Orchestration::TensormapAndRingbuffer(Arc::new(|graph, args| {
//!         graph.submit_aiv(FuncId(0), Arg::new().inout(args.tensor(0)?))?;
//!         Ok(())
//!     }));
//!     let x = tensor("x", ArgDirection::Inout, DType::F32, &[1, 8], &[1.5f32; 8]);
//!     Prepared {
//!         program: Program { kernels: KernelTable::new([entry]).expect("one kernel"), orchestration },
//!         args: HostArgs { tensors: vec![x], scalars: Vec::new() },
//!         tolerance: Tolerance::EXACT,
//!         golden: Some(Box::new(|args| {
//!             let twice: Vec<f32> = elements::<f32>(args, "x").iter().map(|x| x * 2.0).collect();
//!             Ok(vec![Expected::f32("x", &twice)])
//!         })),
//!         configure: Box::new(|_| ()),
//!         origin: None,
//!     }
//! }
//!
//! let case = Case::new("default", &[RuntimeKind::Trb], |_| double());
//! let registry = Registry::new([Scene::new("double", "doubles eight numbers").with_case(case)])?;
//!
//! let (case, runtime) = registry.scene("double")?.case(None, None)?;
//! let played = play(&case, runtime, DEFAULT_CHIP, &PlayOptions::default())?;
//! assert_eq!(played.rounds[0].outputs.len(), 1);
//! assert!(played.passed());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`scene`] | a scene, its cases, and a case ready to run |
//! | [`registry`] | the scenes that a tool knows |
//! | [`play`] | runs a case and judges its outputs |
//! | [`compare`] | outputs against references, within a tolerance |
//! | [`arguments`] | arguments from plain values, and back |
//! | [`faults`] | faults to inject, as people ask for them |
//! | [`generator`] | numbers for inputs that are the same bits on every machine |
//! | [`graph`] | the graph of a case, for dumps that do not have one |
//!
//! What it never does: name a scene, compile anything, write files.
#![forbid(unsafe_code)]

pub mod arguments;
pub mod compare;
pub mod faults;
pub mod generator;
pub mod graph;
pub mod play;
pub mod registry;
pub mod scene;

pub use compare::Tolerance;
pub use registry::{Registry, SceneError, SceneSource};
pub use scene::{Case, Configure, DebugProgram, Expected, Golden, PrepareError, Prepared, Scene};
