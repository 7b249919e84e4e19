//! The rules on errors hold in every crate.
//!
//! | file | subject |
//! |---|---|
//! | `chains` | errors with causes, built or provoked: nothing is said twice |
//! | `texts` | the sources: no cause in its error's words, no text for an error, no flag in a library |

mod chains;
mod texts;
