//! `argus open`: dumps in a web browser, served by `argus-web`.
//!
//! | file | subject |
//! |---|---|
//! | `browser` | the user's browser, if there is one |

mod browser;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::anyhow;
use argus_abi::TaskId;
use argus_runs::Capture;
use argus_runs::capture::Wanted;
use argus_scene::Registry;
use argus_web::{Address, Ended, Options, Place, ServeError, Session, Unopened, Verb, serve};

use crate::cli::OpenArgs;
use crate::failure::{Failure, INTERRUPTED};
use crate::input::Target;
use crate::interrupt::Interrupt;
use crate::marks::NOTE;
use crate::output;
use crate::{input, open::browser::Page};

pub fn open(args: &OpenArgs, registry: &Arc<Registry>) -> Result<ExitCode, Failure> {
    let idle = args.idle.map(minutes).transpose()?;
    let dumps = dumps(&args.dumps)?;
    let session =
        Session::new(dumps, Arc::clone(registry), command, env!("CARGO_PKG_VERSION")).map_err(no_server)?;
    let place = match &args.socket {
        Some(path) => Place::Socket(path.clone()),
        None => Place::Port(args.port),
    };
    let stop = Arc::new(AtomicBool::new(false));
    Interrupt::default().sets(Arc::clone(&stop));
    let options = Options { place, idle, ..Options::default() };
    let mut page = None;
    let ended = serve(Arc::new(session), &options, &stop, |address| {
        tell(args, address);
        let browse = address.port.filter(|_| !args.no_browser);
        page = browse.and_then(|port| Page::show(&address.url(port)));
    });
    drop(page);
    match ended.map_err(no_server)? {
        Ended::Stopped => Ok(ExitCode::from(INTERRUPTED)),
        Ended::Idle => Ok(ExitCode::SUCCESS),
    }
}

/// A path, and the capture there or why there is none.
type Named = (PathBuf, Result<Capture, Unopened>);

/// What to type about a dump, or about a task of it.
pub fn command(verb: Verb, dump: &Path, task: Option<TaskId>) -> String {
    let (name, more) = match (verb, task) {
        (Verb::Find, _) => ("find", ""),
        (Verb::Open, _) => ("open", ""),
        (Verb::Replay, _) => ("replay", ""),
        (Verb::Trace, _) => ("trace", " -o DIR"),
        (Verb::Verify, _) => ("verify", ""),
        (Verb::View, Some(_)) => ("view", " --show"),
        (Verb::View, None) => ("view", ""),
    };
    let task = task.map_or(String::new(), |task| format!(" --task {task}"));
    format!("argus {name} {}{task}{more}", dump.display())
}

/// Opens what was named; of a run of many ranks, every capture. Of several dumps some may be broken: the page says so in their
/// place.
fn dumps(named: &[PathBuf]) -> Result<Vec<Named>, Failure> {
    let named = match named {
        [] => vec![input::path_or_newest(None)?],
        named => named.to_vec(),
    };
    let mut opened = Vec::new();
    for path in named {
        match input::target(Some(&path), None, Wanted::Graph) {
            Ok(Target::One(capture)) => opened.push((path, Ok(*capture))),
            Ok(Target::Tree { tree, chosen }) => opened.extend(chosen.into_iter().map(|at| {
                let directory = tree.capture(at).directory.clone();
                let capture = input::capture(Some(&directory), Wanted::Graph);
                (directory, capture)
            })),
            Err(failure) => opened.push((path, Err(failure))),
        }
    }
    let mut first = None;
    let mut dumps = Vec::new();
    for (path, capture) in opened {
        let capture = capture.map_err(|failure| {
            let why = failure.message();
            first.get_or_insert(failure);
            Unopened(why)
        });
        dumps.push((path, capture));
    }
    match first {
        Some(failure) if dumps.iter().all(|(_, opened)| opened.is_err()) => Err(failure),
        _ => Ok(dumps),
    }
}

fn minutes(minutes: f64) -> Result<Duration, Failure> {
    let seconds = Duration::try_from_secs_f64(minutes * 60.0).ok().filter(|duration| !duration.is_zero());
    seconds.ok_or_else(|| {
        Failure::usage(anyhow!("--idle {minutes} is no time to wait: give minutes, such as 30"))
    })
}

/// The address is the result; how to reach it from elsewhere is said beside it. A closed stdout ends nothing.
fn tell(args: &OpenArgs, address: &Address) {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let said = match (address.port, &args.socket) {
        (Some(port), _) => output::print(&format!("{}\n", address.url(port))).and_then(|()| {
            output::remark(&format!(
                "{NOTE}from another machine:{NOTE:#} ssh -L {port}:127.0.0.1:{port} {host}, then open the same address\n"
            ))
        }),
        (None, socket) => {
            let socket = socket.as_deref().map_or(PathBuf::new(), PathBuf::from);
            let socket = std::path::absolute(&socket).unwrap_or(socket);
            output::print(&format!("{}\n", address.url(FORWARDED))).and_then(|()| {
                output::remark(&format!(
                    "{NOTE}to reach the socket:{NOTE:#} ssh -L {FORWARDED}:{} {host}, then open the address\n",
                    socket.display()
                ))
            })
        }
    };
    let _ = said.and_then(|()| output::remark("Ctrl-C ends it\n"));
}

/// The port of a tunnel to a socket; any other will do.
const FORWARDED: u16 = 8765;

fn no_server(error: ServeError) -> Failure {
    let hint = match &error {
        ServeError::Port { port, .. } if *port != 0 => Some("leave --port out to take a free one".to_owned()),
        ServeError::Taken { .. } => Some("name another path, or remove what is there".to_owned()),
        _ => None,
    };
    Failure::usage(error).hint(hint)
}
