//! `argus tui`: opens a dump in the browser of `argus-tui`.

use std::io::{IsTerminal, stdout};
use std::process::ExitCode;

use anyhow::anyhow;
use argus_tui::{Ended, browse};

use crate::cli::TuiArgs;
use crate::failure::Failure;
use crate::input;

/// A signal came: 128 and the number of SIGTERM.
const ENDED_BY_SIGNAL: u8 = 143;

pub fn tui(args: &TuiArgs) -> Result<ExitCode, Failure> {
    if !stdout().is_terminal() {
        let hint = "`argus view` prints records as text, JSON or CSV into any file or pipe".to_owned();
        return Err(Failure::usage(anyhow!("argus tui needs a terminal, stdout is not one")).hint(hint));
    }
    let dump = input::open(args.dump.as_deref())?;
    match browse(dump).map_err(Failure::failed)? {
        Ended::Left => Ok(ExitCode::SUCCESS),
        Ended::Signal => Ok(ExitCode::from(ENDED_BY_SIGNAL)),
    }
}
