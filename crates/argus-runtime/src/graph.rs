//! Three ways to build a graph. They differ in how a task gets its edges and its memory, in nothing else.

pub mod abg;
pub mod arg;
pub mod frame;
pub mod hbg;
pub mod tensormap;
pub mod trb;
