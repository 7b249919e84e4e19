//! An error as people read it.
//!
//! An error of this workspace does not repeat the words of its `source()`, so joining the chain says every cause once.

use std::error::Error;

/// An error and its causes in one line, the outermost first.
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    enum Outer {
        #[error("cannot start")]
        Named { source: Inner },
        #[error(transparent)]
        Same(#[from] Inner),
    }

    #[derive(Debug, thiserror::Error)]
    #[error("cannot read {name}")]
    struct Inner {
        name: &'static str,
        source: std::num::ParseIntError,
    }

    #[test]
    fn every_cause_is_said_once_from_the_outermost_in() {
        let inner = || Inner { name: "x", source: "?".parse::<u8>().unwrap_err() };
        let named = with_causes(&Outer::Named { source: inner() });
        assert_eq!(named, "cannot start: cannot read x: invalid digit found in string");
        assert_eq!(
            with_causes(&Outer::from(inner())),
            "cannot read x: invalid digit found in string",
            "a transparent error adds no words"
        );
    }
}
