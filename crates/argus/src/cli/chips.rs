//! What help texts say about chips, so that they know every chip there is.

use argus_chip::{CHIPS, DEFAULT_CHIP, listed};

pub fn platform() -> String {
    format!("Simulated chip: {}", listed("or"))
}

pub fn platform_of_run() -> String {
    format!("{} [default: {}]", platform(), DEFAULT_CHIP.name)
}

pub fn platform_of_task() -> String {
    format!("{} [default: the dump's, else {}]", platform(), DEFAULT_CHIP.name)
}

pub fn soc_version() -> String {
    let names = CHIPS.map(|chip| format!("{} for {}", chip.vendor.soc_version, chip.hardware));
    format!("Chip that msprof simulates [default: {}]", names.join(", "))
}

/// Examples in which `{chip}` stands for a chip that is not the default.
pub fn examples(text: &str) -> String {
    text.replace("{chip}", CHIPS[CHIPS.len() - 1].name)
}
