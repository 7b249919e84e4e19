//! A dump at rest.
