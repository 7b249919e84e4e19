//! Orderings with names.
//!
//! An ordering that hands something over is written `order!("type.method", Release)`. That is the constant
//! `Ordering::Release` and nothing else, except in the loom build: there one half of one ordering can be
//! taken away from outside, and `models::weakened` does so with each of them to see a model fail. What needs
//! no ordering says `Relaxed` and why.

#[cfg(not(loom))]
macro_rules! order {
    ($name:literal, $ordering:ident) => {
        ::std::sync::atomic::Ordering::$ordering
    };
}

#[cfg(loom)]
macro_rules! order {
    ($name:literal, $ordering:ident) => {
        $crate::order::weakened($name, ::std::sync::atomic::Ordering::$ordering)
    };
}

pub(crate) use order;

/// Which half of which ordering is taken away: `NAME/acquire` or `NAME/release`.
#[cfg(loom)]
pub(crate) const WEAKEN: &str = "ARGUS_WEAKEN";

#[cfg(loom)]
pub(crate) fn weakened(name: &str, ordering: std::sync::atomic::Ordering) -> std::sync::atomic::Ordering {
    use std::sync::OnceLock;
    use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

    static CHOSEN: OnceLock<Option<String>> = OnceLock::new();
    let chosen = CHOSEN.get_or_init(|| std::env::var(WEAKEN).ok());
    let half = chosen.as_deref().and_then(|chosen| chosen.strip_prefix(name)?.strip_prefix('/'));
    match (half, ordering) {
        (None, _) => ordering,
        (Some("acquire"), Acquire) | (Some("release"), Release) => Relaxed,
        (Some("acquire"), AcqRel) => Release,
        (Some("release"), AcqRel) => Acquire,
        (Some(half), _) => panic!("{name} is {ordering:?} and has no half '{half}'"),
    }
}
