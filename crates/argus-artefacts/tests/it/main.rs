//! Files beside dumps: made up, damaged, and the reference's own where `ARGUS_SAMPLES` names some.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helpers too")]

mod ages;
mod contradictions;
mod damage;
mod logs;
mod made;
mod paths;
mod random;
mod samples;
