//! Calls that take long: without the interpreter's lock, ended by Ctrl-C, with a line that tells how far they are.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// How often signals are looked for.
const LOOK: Duration = Duration::from_millis(50);
/// Work that is done by then needs no line.
const PATIENCE: Duration = Duration::from_millis(500);
const REDRAW: Duration = Duration::from_millis(200);

/// Does the work on a thread of its own while this one looks for signals. `stop` is called once one of them raised
/// something, again and again until the work ends; `line` says how far it is.
pub fn attended<T: Send>(
    py: Python<'_>,
    stop: impl Fn() + Sync,
    line: impl Fn() -> Option<String> + Sync,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    if !is_main_thread(py)? {
        // Python raises for signals in its main thread alone. And a run may fork, after which the stacks of all other
        // threads are free for new ones: what the work uses must not lie on one.
        return Ok(py.detach(work));
    }
    let mut raised = None;
    let done = py.detach(|| {
        thread::scope(|scope| {
            let (tell, told) = channel();
            let worker = scope.spawn(move || {
                let done = work();
                // The other side waits for exactly this.
                let _ = tell.send(());
                done
            });
            let mut drawn = Instant::now() + PATIENCE - REDRAW;
            let mut shown = false;
            while told.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if raised.is_none() {
                    raised = Python::attach(|py| py.check_signals()).err();
                }
                if raised.is_some() {
                    stop();
                }
                if drawn.elapsed() >= REDRAW
                    && let Some(text) = line()
                {
                    shown |= show(&text);
                    drawn = Instant::now();
                }
            }
            if shown {
                show("");
            }
            worker.join()
        })
    });
    match (done, raised) {
        (_, Some(error)) => Err(error),
        (Ok(done), None) => Ok(done),
        (Err(panic), None) => std::panic::resume_unwind(panic),
    }
}

/// Whether Python's main thread makes this call: the one that the system numbers like the process.
fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let number: u32 = py.import("threading")?.getattr("get_native_id")?.call0()?.extract()?;
    Ok(number == std::process::id())
}

/// Draws the line; an empty text takes it away. A line that cannot be drawn is no reason to fail.
fn show(text: &str) -> bool {
    Python::attach(|py| -> PyResult<bool> {
        py.import("argus._progress")?.getattr("show")?.call1((text,))?.extract()
    })
    .unwrap_or(false)
}
