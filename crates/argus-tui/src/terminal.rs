//! The terminal: the only part of the browser that touches it.
//!
//! Raw mode and the alternate screen are left again however the browser ends: by `q`, by an error, by a panic
//! in any thread, or by a signal.

use std::io::{self, Stdout, stdout};
use std::panic;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::layout::Rect;

use crate::Event;
use crate::state::State;
use crate::view;

/// A terminal that is in our hands.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    pub fn open() -> io::Result<Screen> {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            restore();
            before(info);
        }));
        enable_raw_mode()?;
        // From here on a failure must leave no traces.
        // Cleared, because a terminal without a second screen still shows what was there.
        let opened = execute!(stdout(), EnterAlternateScreen, Clear(ClearType::All))
            .and_then(|()| Terminal::new(CrosstermBackend::new(stdout())));
        match opened {
            Ok(terminal) => Ok(Screen { terminal }),
            Err(error) => {
                restore();
                Err(error)
            }
        }
    }

    pub fn area(&self) -> io::Result<Rect> {
        self.terminal.size().map(|size| Rect::new(0, 0, size.width, size.height))
    }

    pub fn draw(&mut self, state: &State) -> io::Result<()> {
        self.terminal.draw(|frame| view::draw(state, frame)).map(|_| ())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// As it was before; there is no place to say that it cannot be restored.
fn restore() {
    disable_raw_mode().ok();
    execute!(stdout(), LeaveAlternateScreen, Show).ok();
}

/// Sends keys, new sizes and signals.
pub fn listen(events: &Sender<Event>) -> Result<(), ctrlc::Error> {
    let signals = events.clone();
    ctrlc::set_handler(move || {
        // Nothing listens only if the browser is ending already.
        signals.send(Event::Signal).ok();
    })?;
    // Watching begins here and not when the thread gets its turn: a size that changes in between would be missed.
    // What goes wrong is told by the first read.
    event::poll(Duration::ZERO).ok();
    let events = events.clone();
    thread::spawn(move || {
        loop {
            let event = match event::read() {
                Ok(event::Event::Key(key)) => Event::Key(key),
                Ok(event::Event::Resize(width, height)) => Event::Resize(width, height),
                Ok(_) => continue,
                Err(error) => Event::Deaf(error),
            };
            let last = matches!(event, Event::Deaf(_));
            if events.send(event).is_err() || last {
                break;
            }
        }
    });
    Ok(())
}
