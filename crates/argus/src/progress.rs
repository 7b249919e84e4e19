//! Progress of a long run, on a terminal only.
//!
//! A line on stderr that appears once a run has taken half a second and is gone when it is over. In a pipe, and
//! beside a JSON result, there is never a byte of it.

use std::io::IsTerminal;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use argus_runtime::{Device, Look, Watch};
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::settings::settings;

/// Runs that are done by then need no line.
const PATIENCE: Duration = Duration::from_millis(500);
const REDRAW: Duration = Duration::from_millis(100);

/// The line; gone when this is dropped.
pub struct Progress {
    rounds: u32,
    shown: Option<Shown>,
    wanted: bool,
}

struct Shown {
    /// Says which round begins; hanging up ends the line.
    round: Sender<u32>,
    thread: JoinHandle<()>,
}

impl Progress {
    /// A line for a run of this many rounds, if there is a terminal to show it.
    pub fn new(json: bool, rounds: u32) -> Progress {
        Progress {
            rounds,
            shown: None,
            wanted: !json && !settings().quiet && std::io::stderr().is_terminal(),
        }
    }

    /// A round begins on this device. Rounds count from 0.
    pub fn round(&mut self, device: &Device, round: u32) {
        if !self.wanted {
            return;
        }
        let rounds = self.rounds;
        if self.shown.is_none() {
            let (sender, receiver) = channel();
            let watch = device.watch();
            let thread = std::thread::Builder::new().name("argus-progress".to_owned());
            // Without a thread there is no line.
            self.shown = (thread.spawn(move || show(&watch, rounds, &receiver)).ok())
                .map(|thread| Shown { round: sender, thread });
        }
        let Some(shown) = &self.shown else { return };
        // Nothing listens only if the thread is gone, and with it the line.
        shown.round.send(round).ok();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(Shown { round, thread }) = self.shown.take() {
            drop(round);
            // A line that could not be drawn is no reason to fail.
            thread.join().ok();
        }
    }
}

fn show(watch: &Watch, rounds: u32, begun: &Receiver<u32>) {
    let started = Instant::now();
    let mut line: Option<ProgressBar> = None;
    let mut round = 0;
    let mut round_started = started;
    loop {
        let wait = if line.is_some() { REDRAW } else { PATIENCE.saturating_sub(started.elapsed()) };
        match begun.recv_timeout(wait) {
            Ok(next) => (round, round_started) = (next, Instant::now()),
            Err(RecvTimeoutError::Timeout) => {
                let line = line.get_or_insert_with(draw);
                line.set_message(text(watch.look(), round, rounds, round_started.elapsed()));
                line.tick();
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    if let Some(line) = line {
        line.finish_and_clear();
    }
}

fn draw() -> ProgressBar {
    let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    line.set_style(ProgressStyle::with_template("{spinner} {msg}").expect("a template that is right"));
    line
}

fn text(look: Option<Look>, round: u32, rounds: u32, elapsed: Duration) -> String {
    let place = if rounds > 1 { format!("round {} of {rounds}: ", round + 1) } else { String::new() };
    let Some(look) = look else { return format!("{place}finishing the dump or comparing outputs") };
    let (done, so_far) = (HumanCount(look.completed), if look.orchestrated { "" } else { " so far" });
    let mut text = format!("{place}{done} of {} tasks{so_far}", HumanCount(look.submitted));
    if let Some(capture) = look.capture {
        let rate = capture.collected_bytes as f64 / elapsed.as_secs_f64().max(1e-3);
        text += &format!(
            ", {} entries and {} collected, {}/s",
            HumanCount(capture.collected),
            HumanBytes(capture.collected_bytes),
            HumanBytes(rate as u64)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(orchestrated: bool) -> Look {
        let capture = argus_capture::Progress {
            collected: 98_304,
            collected_bytes: 3 << 20,
            ..argus_capture::Progress::default()
        };
        Look { submitted: 16_640, completed: 1_234, orchestrated, capture: Some(capture) }
    }

    #[test]
    fn the_line_says_tasks_entries_bytes_and_rate() {
        let line = text(Some(look(true)), 0, 1, Duration::from_secs(2));
        assert_eq!(line, "1,234 of 16,640 tasks, 98,304 entries and 3.00 MiB collected, 1.50 MiB/s");
    }

    #[test]
    fn rounds_and_unfinished_graphs_are_told() {
        let line = text(Some(Look { capture: None, ..look(false) }), 1, 3, Duration::from_secs(2));
        assert_eq!(line, "round 2 of 3: 1,234 of 16,640 tasks so far");
        assert_eq!(text(None, 1, 3, Duration::ZERO), "round 2 of 3: finishing the dump or comparing outputs");
    }
}
