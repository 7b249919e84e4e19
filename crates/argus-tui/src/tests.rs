//! The browser without a terminal: dumps made by hand, keys, and what then stands on the screen.

mod browsing;
mod damage;
mod million;
mod pictures;
mod rig;
