//! The dumps that are served, in the order in which they were named.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use argus_abi::TaskId;
use argus_dump::read::Ending;
use argus_runs::Capture;
use argus_runs::capture::Wanted;
use argus_scene::Registry;
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde_json::{Map, Value, json};
use thiserror::Error;
use tokio::sync::Notify;

use crate::answer::Problem;
use crate::compare::Compared;
use crate::live;
use crate::server::ServeError;
use crate::shown::Shown;

/// Why a dump could not be opened, in the words of the code that tried.
#[derive(Clone, Debug, Error)]
#[error("{0}")]
pub struct Unopened(pub String);

/// What a user may type about a dump or a task next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Find,
    Open,
    Replay,
    Trace,
    Verify,
    View,
}

/// Spells a command for the dump in a directory, and for one of its tasks. The face that a user types in knows how.
pub type Commands = fn(Verb, &Path, Option<TaskId>) -> String;

/// Everything that is served.
pub struct Session {
    pub version: String,
    pub registry: Arc<Registry>,
    pub commands: Commands,
    dumps: Vec<Served>,
    /// Threads for what a page waits for, for what it asks for again until it is there, and for what may come later: none waits
    /// for the next.
    pub front: ThreadPool,
    pub middle: ThreadPool,
    pub back: ThreadPool,
    pub compared: Compared,
    stopped: AtomicBool,
}

/// One dump, as it is now.
pub struct Served {
    /// What was typed, or found.
    path: PathBuf,
    now: Mutex<State>,
    generation: AtomicU64,
    /// How often it was opened.
    opened: AtomicU64,
    changed: Notify,
}

#[derive(Clone)]
enum State {
    Open(Arc<Shown>),
    Broken(String),
}

impl Session {
    /// Dumps with the paths they were opened by. One that could not be opened says why in its place.
    pub fn new(
        dumps: impl IntoIterator<Item = (PathBuf, Result<Capture, Unopened>)>,
        registry: Arc<Registry>,
        commands: Commands,
        version: &str,
    ) -> Result<Session, ServeError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let pool = |name: &'static str| {
            let named = move |at| format!("{name} {at}");
            let built = ThreadPoolBuilder::new().num_threads(threads).thread_name(named).build();
            built.map_err(|error| ServeError::Start(io::Error::other(error)))
        };
        let (front, middle, back) = (pool("front")?, pool("middle")?, pool("back")?);
        let dumps = dumps.into_iter().map(|(path, opened)| Served::new(path, opened)).collect();
        Ok(Session {
            version: version.to_owned(),
            registry,
            commands,
            dumps,
            front,
            middle,
            back,
            compared: Compared::default(),
            stopped: AtomicBool::new(false),
        })
    }

    pub fn dumps(&self) -> &[Served] {
        &self.dumps
    }

    /// The dump with this number.
    pub fn served(&self, number: usize) -> Result<&Served, Problem> {
        self.dumps.get(number).ok_or_else(|| Problem::nothing(format!("there is no dump {number}")))
    }

    /// The dump with this number, if it could be opened.
    pub fn shown(&self, number: usize) -> Result<Arc<Shown>, Problem> {
        match self.served(number)?.state() {
            State::Open(shown) => Ok(shown),
            State::Broken(why) => {
                Err(Problem { status: axum::http::StatusCode::UNPROCESSABLE_ENTITY, ..Problem::nothing(why) })
            }
        }
    }

    /// Whatever is computed in the background is no longer wanted.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub fn object(&self) -> Value {
        let dumps: Vec<Value> =
            self.dumps.iter().enumerate().map(|(index, served)| served.object(index)).collect();
        json!({ "schema": "argus-open-1", "version": self.version, "dumps": dumps })
    }
}

impl Served {
    fn new(path: PathBuf, opened: Result<Capture, Unopened>) -> Served {
        let state = match opened {
            Ok(capture) => State::Open(Arc::new(Shown::new(capture))),
            Err(Unopened(why)) => State::Broken(why),
        };
        Served {
            path,
            now: Mutex::new(state),
            generation: AtomicU64::new(1),
            opened: AtomicU64::new(1),
            changed: Notify::new(),
        }
    }

    fn state(&self) -> State {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn shown(&self) -> Option<Arc<Shown>> {
        match self.state() {
            State::Open(shown) => Some(shown),
            State::Broken(_) => None,
        }
    }

    /// Reads the dump again: it has grown, or ended.
    pub fn reopen(&self) {
        // A dump that is just being replaced stays as it was.
        if let Ok(capture) = Capture::open(&self.path, Wanted::Graph) {
            let state = State::Open(Arc::new(Shown::new(capture)));
            *self.now.lock().unwrap_or_else(PoisonError::into_inner) = state;
            self.opened.fetch_add(1, Ordering::Relaxed);
            self.tell();
        }
    }

    /// Pages that wait for news get some.
    pub fn tell(&self) {
        self.generation.fetch_add(1, Ordering::Relaxed);
        self.changed.notify_waiters();
    }

    pub fn opened(&self) -> u64 {
        self.opened.load(Ordering::Relaxed)
    }

    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Relaxed)
    }

    /// Waits until something has changed since this generation.
    pub async fn changed_since(&self, generation: u64) {
        loop {
            let changed = self.changed.notified();
            if self.generation() > generation {
                return;
            }
            changed.await;
        }
    }

    fn object(&self, index: usize) -> Value {
        let name = self
            .path
            .file_name()
            .map_or_else(|| self.path.display().to_string(), |name| name.to_string_lossy().into());
        let head = |name: String, directory: &Path| {
            Map::from_iter([
                ("index".to_owned(), json!(index)),
                ("name".to_owned(), json!(name)),
                ("directory".to_owned(), json!(directory.display().to_string())),
            ])
        };
        match self.state() {
            State::Broken(why) => {
                let mut object = head(name, &self.path);
                object.insert("error".into(), why.into());
                object.into()
            }
            State::Open(shown) => {
                let directory = shown.capture.dump.directory();
                let mut object = head(shown.name(), directory);
                object.extend(shown.facts());
                object.insert("live".into(), live::is_live(&shown).into());
                object.into()
            }
        }
    }
}

/// How a run ended, in one word.
pub fn ending(ending: &Ending) -> &'static str {
    match ending {
        Ending::Complete => "complete",
        Ending::Failed { .. } => "failed",
        Ending::Unfinished { .. } => "unfinished",
        Ending::Unknown => "unknown",
    }
}
