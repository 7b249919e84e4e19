//! What can be asked for: the only place that knows addresses.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{RawPathParams, Request, State};
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use axum::routing::get;
use bytes::Bytes;
use tokio::sync::Semaphore;

use crate::answer::{Answer, Content, Problem, bare, response};
use crate::pyramid::{Of, Place};
use crate::record::Wanted;
use crate::session::Session;
use crate::shown::Shown;
use crate::{bundle, compare, graph, live, overview, record, task, timeline, trace};

/// Threads that answer.
pub const THREADS: usize = 8;
/// Answers that are being made or sent at a time.
const ANSWERS: usize = 64;

#[derive(Clone)]
struct Server {
    session: Arc<Session>,
    answers: Arc<Semaphore>,
}

/// A question about one dump.
struct Asked {
    session: Arc<Session>,
    shown: Arc<Shown>,
    /// The number behind the name of what is asked for.
    item: usize,
    query: Query,
}

type Handler = fn(&Asked) -> Answer;

pub fn router(session: Arc<Session>) -> Router {
    let server = Server { session, answers: Arc::new(Semaphore::new(ANSWERS)) };
    let mut router = Router::new()
        .route("/", get(file))
        .route("/app.js", get(file))
        .route("/app.css", get(file))
        .route("/icon.svg", get(file))
        .route("/api/session", get(session_object))
        .route("/api/compare", get(compared))
        .route("/api/{dump}/live", get(news));
    let handlers: [(&str, Handler); 9] = [
        ("/api/{dump}/overview", |asked| overview::overview(&asked.session, &asked.shown)),
        ("/api/{dump}/tasks", |asked| {
            let verdicts = asked.shown.judging.verdicts();
            Ok(Content::Columns(asked.shown.tasks.columns(asked.shown.dump(), &verdicts)))
        }),
        ("/api/{dump}/graph", |asked| {
            let made = asked
                .shown
                .graph
                .get_or_init(|| Bytes::from(graph::columns(asked.shown.dump(), &asked.shown.tasks)));
            Ok(Content::Shared(made.clone()))
        }),
        ("/api/{dump}/task/{item}", |asked| task::task(&asked.session, &asked.shown, asked.item)),
        ("/api/{dump}/record/{item}", |asked| record::record(&asked.shown, asked.item)),
        ("/api/{dump}/record/{item}/tile", tile),
        ("/api/{dump}/record/{item}/next", next),
        ("/api/{dump}/timeline", |asked| {
            let made = asked.shown.timeline.get_or_init(|| timeline::columns(&asked.shown).map(Bytes::from));
            made.clone().map(Content::Shared)
        }),
        ("/api/{dump}/trace/{item}", |asked| {
            trace::columns(&asked.session, &asked.shown, asked.item).map(Content::Columns)
        }),
    ];
    for (route, handler) in handlers {
        let answer = move |State(server): State<Server>, params: RawPathParams, uri: Uri| {
            about_dump(server, numbers(&params), uri, handler)
        };
        router = router.route(route, get(answer));
    }
    router.fallback(nowhere).with_state(server)
}

async fn nowhere() -> Response {
    bare(StatusCode::NOT_FOUND)
}

async fn file(request: Request) -> Response {
    let name = request.uri().path().trim_start_matches('/');
    bundle::file(name).unwrap_or_else(|| bare(StatusCode::NOT_FOUND))
}

async fn session_object(State(server): State<Server>) -> Response {
    let session = Arc::clone(&server.session);
    in_background(&server, move || Ok(Content::Json(session.object()))).await
}

async fn compared(State(server): State<Server>, uri: Uri) -> Response {
    let (session, query) = (Arc::clone(&server.session), Query::of(&uri));
    in_background(&server, move || {
        compare::compare(&session, query.number("a", usize::MAX)?, query.number("b", usize::MAX)?)
    })
    .await
}

async fn news(State(server): State<Server>, params: RawPathParams, uri: Uri) -> Response {
    let Some([dump, _]) = numbers(&params) else { return bare(StatusCode::NOT_FOUND) };
    let from = Query::of(&uri).number("from", 0);
    let answer = match from {
        Ok(from) => live::news(&server.session, dump, from).await,
        Err(problem) => Err(problem),
    };
    in_background(&server, move || answer).await
}

/// The numbers in a path, the second one 0 if there is none. `None` if one of them is no number.
fn numbers(params: &RawPathParams) -> Option<[usize; 2]> {
    let mut numbers = [0; 2];
    for (place, (_, text)) in numbers.iter_mut().zip(params) {
        let digits = text.bytes().all(|letter| letter.is_ascii_digit());
        *place = text.parse().ok().filter(|_| digits)?;
    }
    Some(numbers)
}

fn about_dump(
    server: Server,
    numbers: Option<[usize; 2]>,
    uri: Uri,
    handler: Handler,
) -> Pin<Box<dyn Future<Output = Response> + Send>> {
    Box::pin(async move {
        let Some([dump, item]) = numbers else { return bare(StatusCode::NOT_FOUND) };
        let session = Arc::clone(&server.session);
        let query = Query::of(&uri);
        in_background(&server, move || {
            let shown = session.shown(dump)?;
            handler(&Asked { session, shown, item, query })
        })
        .await
    })
}

/// Makes an answer on a thread of its own: looking at files and values takes its time.
async fn in_background(server: &Server, work: impl FnOnce() -> Answer + Send + 'static) -> Response {
    let Ok(permit) = Arc::clone(&server.answers).acquire_owned().await else {
        return bare(StatusCode::SERVICE_UNAVAILABLE);
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(answer) => response(answer, permit),
        Err(_) => bare(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

fn tile(asked: &Asked) -> Answer {
    let query = &asked.query;
    let of = match query.text("of").unwrap_or("value") {
        "value" => Of::Value,
        "reference" => Of::Reference,
        "difference" => Of::Difference,
        _ => return Err(Problem::wrong("`of` is one of value, reference, difference")),
    };
    let place = Place {
        plane: query.number("plane", 0)?,
        level: query.number("level", 0)?,
        row: query.number("row", 0)?,
        col: query.number("col", 0)?,
    };
    record::tile(&asked.session, &asked.shown, asked.item, place, of)
}

fn next(asked: &Asked) -> Answer {
    let wanted = match asked.query.text("what") {
        Some("nan") => Wanted::Nan,
        Some("inf") => Wanted::Inf,
        Some("wrong") => Wanted::Wrong,
        Some("unwritten") => Wanted::Unwritten,
        _ => return Err(Problem::wrong("`what` is one of nan, inf, wrong, unwritten")),
    };
    record::next(&asked.session, &asked.shown, asked.item, asked.query.number("from", 0)?, wanted)
}

/// What stands behind the question mark. Values are numbers and words: nothing in them is escaped.
struct Query(HashMap<String, String>);

impl Query {
    fn of(uri: &Uri) -> Query {
        let pairs = uri.query().unwrap_or("").split('&').filter_map(|pair| pair.split_once('='));
        Query(pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    fn number<T: FromStr>(&self, key: &str, default: T) -> Result<T, Problem> {
        match self.text(key) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| Problem::wrong(format!("`{key}` is not a number here"))),
        }
    }
}
