//! A full-screen browser of dumps.
//!
//! What goes in: an open dump and keys. What goes out: frames, and how it ended. The state is a function of
//! the actions, frames are a function of the state, and whatever could take long is asked for as a wish and
//! answered in the background; so a key never waits, and all of it but `terminal` runs in tests without a
//! terminal. Nothing is ever written to the dump.
//!
//! ```no_run
//! let dump = argus_dump::read::Dump::open("outputs".as_ref())?;
//! // Takes the terminal until the user leaves.
//! argus_tui::browse(dump)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | subject |
//! |---|---|
//! | `source` | where records come from |
//! | `verdicts` | what a search said of each task |
//! | `index` | tasks, and which records are theirs |
//! | `tensor` | the numbers of a record, whatever is wrong with them |
//! | `grid` | values in rows and columns |
//! | `heat` | a plane as pixels |
//! | `colours` | pixels in the colours that the terminal has |
//! | `work` | wishes and findings |
//! | `nonfinite` | the next NaN or infinity |
//! | `background` | threads that answer wishes |
//! | `keys` | from keys to actions |
//! | `layout` | where the panes are |
//! | `state` | what is shown, and what actions make of it |
//! | `view` | draws the state |
//! | `terminal` | raw mode, alternate screen, and back |

mod background;
mod colours;
mod grid;
mod heat;
mod index;
mod keys;
mod layout;
mod nonfinite;
mod source;
mod state;
mod tensor;
mod terminal;
#[cfg(test)]
mod tests;
mod verdicts;
mod view;
mod work;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use argus_dump::read::Dump;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;
use thiserror::Error;

use background::Background;
use colours::Colours;
use index::Index;
use nonfinite::Hunted;
use source::Source;
use state::{Effect, State};
use terminal::Screen;
use work::{Finding, Wish};

/// How often a hunt shows how far it is.
const PROGRESS: Duration = Duration::from_millis(100);

/// How browsing ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By a key.
    Left,
    /// By SIGINT, SIGTERM or SIGHUP.
    Signal,
}

/// Why browsing could not start or go on.
#[derive(Debug, Error)]
pub enum BrowseError {
    #[error("cannot use the terminal")]
    Terminal(#[source] io::Error),
    #[error("cannot watch for signals")]
    Signals(#[source] ctrlc::Error),
    #[error("a thread of the browser panicked")]
    Panicked,
}

/// What the browser waits for.
enum Event {
    Key(KeyEvent),
    Resize(u16, u16),
    Found(Wish, Finding),
    Hunted(Hunted),
    Signal,
    /// There will be no more keys.
    Deaf(io::Error),
    /// A thread of the background panicked.
    Lost,
}

/// Takes the terminal of this process, shows the dump until its user leaves, and gives the terminal back.
pub fn browse(dump: Dump) -> Result<Ended, BrowseError> {
    let source: Arc<dyn Source> = Arc::new(dump);
    let index = Arc::new(Index::new(&*source));
    let colours = Colours::of_environment(|name| std::env::var(name).ok());
    let (sender, events) = channel();
    let mut screen = Screen::open().map_err(BrowseError::Terminal)?;
    terminal::listen(&sender).map_err(BrowseError::Signals)?;
    let area = screen.area().map_err(BrowseError::Terminal)?;
    let mut state = State::new(Arc::clone(&source), Arc::clone(&index), colours, area);
    let background = Background::start(source, index, sender);
    let ended = follow(&mut state, &mut screen, &background, &events);
    // The terminal is whole again before the reason is printed.
    drop(screen);
    ended
}

/// Acts on events and draws, until one of them ends it.
fn follow(
    state: &mut State,
    screen: &mut Screen,
    background: &Background,
    events: &Receiver<Event>,
) -> Result<Ended, BrowseError> {
    while !state.over {
        background.wish(state.wishes());
        screen.draw(state).map_err(BrowseError::Terminal)?;
        let mut event = wait(state, events);
        // Whatever else has come by now goes into the same frame: held keys must not pile up.
        while let Some(next) = event {
            match next {
                Event::Key(key) => {
                    let action = keys::action(key, state.prompt.is_some());
                    if let Some(Effect::Hunt { from, hunt }) = action.and_then(|action| state.update(action))
                    {
                        background.hunt(from, hunt);
                    }
                }
                Event::Resize(width, height) => state.resize(Rect::new(0, 0, width, height)),
                Event::Found(wish, finding) => state.learn(wish, finding),
                Event::Hunted(hunted) => state.hunted(hunted),
                Event::Signal => return Ok(Ended::Signal),
                Event::Deaf(error) => return Err(BrowseError::Terminal(error)),
                Event::Lost => return Err(BrowseError::Panicked),
            }
            event = events.try_recv().ok();
        }
    }
    Ok(Ended::Left)
}

/// The next event; `None` if only the progress of a hunt is to be shown.
fn wait(state: &State, events: &Receiver<Event>) -> Option<Event> {
    if state.hunting().is_none() {
        return events.recv().ok();
    }
    events.recv_timeout(PROGRESS).ok()
}
