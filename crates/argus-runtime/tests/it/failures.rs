//! How runs fail.
