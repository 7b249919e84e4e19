//! A dump in flight.

mod sink;

pub use sink::Sink;
