//! Listens, lets in what the gate admits, and ends when it is told to or when no request comes for a while.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::{HeaderValue, Method, Request, StatusCode, header};
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tower_service::Service;

use crate::answer::bare;
use crate::gate::{self, Token};
use crate::patience::Patient;
use crate::routes;
use crate::session::Session;

/// Connections at a time. More wait until one is closed.
const CONNECTIONS: usize = 256;
/// All headers of a request, in bytes and in number.
const HEADER_BYTES: usize = 16 << 10;
const HEADERS: usize = 64;
/// How often the server looks whether it is to end.
const LOOK: Duration = Duration::from_millis(100);

/// Where the server listens.
#[derive(Clone, Debug)]
pub enum Place {
    /// A port of the loopback; 0 takes a free one.
    Port(u16),
    /// A socket that only its owner can use.
    Socket(PathBuf),
}

/// How it serves.
#[derive(Clone, Debug)]
pub struct Options {
    pub place: Place,
    /// Ends after so long without a question.
    pub idle: Option<Duration>,
    /// How long a client may take to send its headers, or to take any byte of an answer.
    pub patience: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options { place: Place::Port(0), idle: None, patience: Duration::from_secs(20) }
    }
}

/// Why there is no server.
#[derive(Debug, Error)]
pub enum ServeError {
    #[error("cannot listen on port {port} of this machine")]
    Port { port: u16, source: io::Error },
    #[error("cannot listen on {}", path.display())]
    Socket { path: PathBuf, source: io::Error },
    #[error("{} exists", path.display())]
    Taken { path: PathBuf },
    #[error("the system has no random numbers")]
    Token(#[source] rustix::io::Errno),
    #[error("cannot start the server")]
    Start(#[source] io::Error),
}

/// How serving ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was told to.
    Stopped,
    /// No request came for the time that was allowed.
    Idle,
}

/// Where it can be reached.
#[derive(Clone, Debug)]
pub struct Address {
    pub token: Token,
    /// `None`: a socket.
    pub port: Option<u16>,
}

impl Address {
    /// The address for a browser on this machine, or at the end of a tunnel to `port`.
    pub fn url(&self, port: u16) -> String {
        format!("http://127.0.0.1:{port}/{}/", self.token.text())
    }
}

enum Listener {
    Port(TcpListener),
    Socket { listener: UnixListener, _file: SocketFile },
}

/// Removed in the end.
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Another process may have removed it first, which is as good.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// What every connection needs.
struct Shared {
    router: Router,
    token: Token,
    asked: Asked,
    patience: Duration,
}

/// When the last question came.
struct Asked {
    start: Instant,
    last_ms: std::sync::atomic::AtomicU64,
    /// Questions that are being answered.
    open: std::sync::atomic::AtomicUsize,
}

impl Asked {
    fn now(&self) {
        self.last_ms.store(self.start.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    fn since(&self) -> Duration {
        if self.open.load(Ordering::Relaxed) > 0 {
            return Duration::ZERO;
        }
        self.start.elapsed().saturating_sub(Duration::from_millis(self.last_ms.load(Ordering::Relaxed)))
    }
}

/// Serves until `stop` is set. `ready` hears where, as soon as connections are accepted.
pub fn serve(
    session: Arc<Session>,
    options: &Options,
    stop: &AtomicBool,
    ready: impl FnOnce(&Address),
) -> Result<Ended, ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(routes::THREADS)
        .build()
        .map_err(ServeError::Start)?;
    let token = Token::new().map_err(ServeError::Token)?;
    let ended = runtime.block_on(async {
        let listener = listen(&options.place).await?;
        let port = match &listener {
            Listener::Port(listener) => Some(listener.local_addr().map_err(ServeError::Start)?.port()),
            Listener::Socket { .. } => None,
        };
        ready(&Address { token: token.clone(), port });
        let shared = Arc::new(Shared {
            router: routes::router(Arc::clone(&session)),
            token,
            asked: Asked { start: Instant::now(), last_ms: 0.into(), open: 0.into() },
            patience: options.patience,
        });
        let watch = tokio::spawn(crate::live::watch(Arc::clone(&session)));
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared)));
        let ended = loop {
            tokio::time::sleep(LOOK).await;
            if stop.load(Ordering::Relaxed) {
                break Ended::Stopped;
            }
            if options.idle.is_some_and(|idle| shared.asked.since() >= idle) {
                break Ended::Idle;
            }
        };
        accepting.abort();
        watch.abort();
        // A task that was aborted lets go of its socket file when it is gone.
        let _ = accepting.await;
        Ok(ended)
    });
    session.stop();
    // Results that no client asks for any more are not waited for.
    runtime.shutdown_background();
    ended
}

async fn listen(place: &Place) -> Result<Listener, ServeError> {
    match place {
        Place::Port(port) => {
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, *port));
            let bound = TcpListener::bind(address).await;
            bound.map(Listener::Port).map_err(|source| ServeError::Port { port: *port, source })
        }
        Place::Socket(path) => socket(path),
    }
}

/// A socket that no other user can reach from its first moment: it is bound in a directory of its own, which is closed to others
/// while it is empty, and gets its name when its mode is 0600.
fn socket(path: &Path) -> Result<Listener, ServeError> {
    let failed = |source: io::Error| ServeError::Socket { path: path.to_path_buf(), source };
    if path.symlink_metadata().is_ok() {
        return Err(ServeError::Taken { path: path.to_path_buf() });
    }
    let stage = argus_files::Stage::beside(path).map_err(failed)?;
    rustix::fs::chmod(stage.path(), rustix::fs::Mode::RWXU).map_err(|error| failed(error.into()))?;
    let inside = stage.path().join("socket");
    let listener = UnixListener::bind(&inside).map_err(failed)?;
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::chmod(&inside, mode).map_err(|error| failed(error.into()))?;
    stage.publish("socket", path).map_err(failed)?;
    Ok(Listener::Socket { listener, _file: SocketFile(path.to_path_buf()) })
}

async fn accept(listener: Listener, shared: Arc<Shared>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let accepted = match &listener {
            Listener::Port(listener) => listener.accept().await.map(|(stream, _)| {
                // Small answers are not worth waiting for more.
                let _ = stream.set_nodelay(true);
                tokio::spawn(connection(stream, permit, Arc::clone(&shared)));
            }),
            Listener::Socket { listener, .. } => listener.accept().await.map(|(stream, _)| {
                tokio::spawn(connection(stream, permit, Arc::clone(&shared)));
            }),
        };
        if accepted.is_err() {
            // Out of descriptors, or the other side left already: others may still come.
            tokio::time::sleep(LOOK).await;
        }
    }
}

async fn connection<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    permit: tokio::sync::OwnedSemaphorePermit,
    shared: Arc<Shared>,
) {
    let stream = TokioIo::new(Patient::new(stream, shared.patience));
    let service = service_fn(|request| answer(Arc::clone(&shared), request));
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(shared.patience)
        .max_buf_size(HEADER_BYTES)
        .max_headers(HEADERS)
        .serve_connection(stream, service)
        .await;
    // Whatever a client did wrong is its own affair.
    drop((served, permit));
}

async fn answer(shared: Arc<Shared>, mut request: Request<Incoming>) -> Result<Response, Infallible> {
    let head = *request.method() == Method::HEAD;
    let mut response = match gate::admit(&shared.token, &request) {
        Ok(rest) => {
            *request.uri_mut() = rest;
            shared.asked.now();
            shared.asked.open.fetch_add(1, Ordering::Relaxed);
            let answered = shared.router.clone().call(request).await;
            shared.asked.open.fetch_sub(1, Ordering::Relaxed);
            shared.asked.now();
            answered.unwrap_or_else(|never| match never {})
        }
        Err(status) => {
            let mut refusal = bare(status);
            if status == StatusCode::METHOD_NOT_ALLOWED {
                refusal.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            }
            refusal
        }
    };
    gate::protect(response.headers_mut());
    if head {
        *response.body_mut() = axum::body::Body::empty();
    }
    Ok(response)
}
