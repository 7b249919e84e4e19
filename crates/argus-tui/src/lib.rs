//! `argus tui`: a full-screen browser of dumps.
//!
//! What goes in: an open dump and keys. What goes out: frames, and the exit code. The state is a function of
//! the actions, frames are a function of the state, and whatever could take long is asked for as a wish and
//! answered in the background; so a key never waits, and all of it but [`terminal`] runs in tests without a
//! terminal. Nothing is ever written to the dump.
//!
//! | module | subject |
//! |---|---|
//! | [`source`] | where records come from |
//! | [`index`] | tasks, and which records are theirs |
//! | [`tensor`] | the numbers of a record, whatever is wrong with them |
//! | [`grid`] | values in rows and columns |
//! | [`heat`] | a plane as pixels |
//! | [`colours`] | pixels in the colours that the terminal has |
//! | [`work`] | wishes and findings |
//! | [`nonfinite`] | the next NaN or infinity |
//! | [`background`] | threads that answer wishes |
//! | [`keys`] | from keys to actions |
//! | [`layout`] | where the panes are |
//! | [`state`] | what is shown, and what actions make of it |
//! | [`view`] | draws the state |
//! | [`terminal`] | raw mode, alternate screen, and back |

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
mod view;
mod work;

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::anyhow;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;

use crate::cli::TuiArgs;
use crate::dumps;
use crate::failure::Failure;
use background::Background;
use colours::Colours;
use index::Index;
use nonfinite::Hunted;
use source::Source;
use state::{Effect, State};
use terminal::Screen;
use work::{Finding, Wish};

/// Somebody sent a signal: 128 and the number of SIGTERM.
const ENDED_BY_SIGNAL: u8 = 143;
/// How often a hunt shows how far it is.
const PROGRESS: Duration = Duration::from_millis(100);

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

pub fn tui(args: &TuiArgs) -> Result<ExitCode, Failure> {
    if !io::stdout().is_terminal() {
        let hint = "`argus view` prints records as text, JSON or CSV into any file or pipe".to_owned();
        return Err(Failure::usage(anyhow!("argus tui needs a terminal, stdout is none")).hint(hint));
    }
    let source: Arc<dyn Source> = Arc::new(dumps::open(args.dump.as_deref())?);
    let index = Arc::new(Index::new(&*source));
    let colours = Colours::of_environment(|name| std::env::var(name).ok());
    let (sender, events) = channel();
    let mut screen = Screen::open().map_err(cannot_use)?;
    terminal::listen(&sender).map_err(|error| Failure::failed(anyhow!(error)))?;
    let area = screen.area().map_err(cannot_use)?;
    let mut state = State::new(Arc::clone(&source), Arc::clone(&index), colours, area);
    let background = Background::start(source, index, sender);
    let ended = browse(&mut state, &mut screen, &background, &events);
    // The terminal is whole again before anybody says why it ended.
    drop(screen);
    ended
}

fn browse(
    state: &mut State,
    screen: &mut Screen,
    background: &Background,
    events: &Receiver<Event>,
) -> Result<ExitCode, Failure> {
    while !state.over {
        background.wish(state.wishes());
        screen.draw(state).map_err(cannot_use)?;
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
                Event::Signal => return Ok(ExitCode::from(ENDED_BY_SIGNAL)),
                Event::Deaf(error) => return Err(cannot_use(error)),
                Event::Lost => return Err(Failure::failed(anyhow!("a thread of the browser panicked"))),
            }
            event = events.try_recv().ok();
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The next event; `None` if only the progress of a hunt is to be shown.
fn wait(state: &State, events: &Receiver<Event>) -> Option<Event> {
    if state.hunting().is_none() {
        return events.recv().ok();
    }
    events.recv_timeout(PROGRESS).ok()
}

fn cannot_use(error: io::Error) -> Failure {
    Failure::failed(anyhow::Error::new(error).context("cannot use the terminal"))
}
