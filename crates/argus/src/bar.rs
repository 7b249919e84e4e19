//! Progress of work whose amount is known, on a terminal only.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::settings::settings;

/// A bar on stderr with rate and time left, or nothing at all in a pipe and beside JSON.
pub fn bar(what: &'static str, total: u64, json: bool) -> ProgressBar {
    drawn(what, total, json, "{msg} {wide_bar} {human_pos}/{human_len} {per_sec} {eta}")
}

/// The same for bytes.
pub fn byte_bar(what: &'static str, total: u64, json: bool) -> ProgressBar {
    drawn(what, total, json, "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}")
}

fn drawn(what: &'static str, total: u64, json: bool, template: &'static str) -> ProgressBar {
    if json || settings().quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(10));
    let style = ProgressStyle::with_template(template);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(what);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
