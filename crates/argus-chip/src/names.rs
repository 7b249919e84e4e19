//! Finding a chip by what a user typed.

use thiserror::Error;

use crate::{CHIPS, Chip};

/// A name that stands for no chip that can be run here.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ChipError {
    #[error(
        "platform '{name}' is real hardware and needs its vendor's toolkit; run on its simulated twin '{twin}'"
    )]
    Hardware { name: String, twin: &'static str },
    #[error("there is no platform '{name}'; there are {}", listed("and"))]
    Unknown { name: String },
}

impl Chip {
    /// The chip with this name.
    pub fn by_name(name: &str) -> Result<&'static Chip, ChipError> {
        if let Some(chip) = CHIPS.into_iter().find(|chip| chip.name == name) {
            return Ok(chip);
        }
        match CHIPS.into_iter().find(|chip| chip.hardware == name) {
            Some(twin) => Err(ChipError::Hardware { name: name.into(), twin: twin.name }),
            None => Err(ChipError::Unknown { name: name.into() }),
        }
    }
}

/// The names of all chips in a sentence, with `word` before the last one.
pub fn listed(word: &str) -> String {
    let names = CHIPS.map(|chip| chip.name);
    match names.split_last() {
        Some((last, [])) => (*last).into(),
        Some((last, others)) => format!("{} {word} {last}", others.join(", ")),
        None => String::new(),
    }
}
