//! What the server answers with: objects, columns, files, and why there is nothing.

use argus_facts::with_causes;
use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;

/// What a page is told instead of what it asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub status: StatusCode,
    pub message: String,
    pub hint: Option<String>,
}

impl Problem {
    /// There is no such thing.
    pub fn nothing(message: impl Into<String>) -> Problem {
        Problem { status: StatusCode::NOT_FOUND, message: message.into(), hint: None }
    }

    /// The request is malformed.
    pub fn wrong(message: impl Into<String>) -> Problem {
        Problem { status: StatusCode::BAD_REQUEST, message: message.into(), hint: None }
    }

    /// It exists and cannot be had.
    pub fn failed(error: &dyn std::error::Error) -> Problem {
        Problem { status: StatusCode::UNPROCESSABLE_ENTITY, message: with_causes(error), hint: None }
    }

    pub fn hint(self, hint: impl Into<String>) -> Problem {
        Problem { hint: Some(hint.into()), ..self }
    }
}

/// The bytes of an answer.
pub enum Content {
    Json(Value),
    /// Columns of numbers.
    Columns(Vec<u8>),
    /// The same, made once and shared by all answers.
    Shared(Bytes),
    /// It is being computed; how much of it is done, from 0 to 1.
    Pending(f64),
}

pub type Answer = Result<Content, Problem>;

/// What an answer is made of holds a permit until it was sent, so that slow readers cannot pile up answers.
struct Held {
    bytes: Vec<u8>,
    _permit: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

pub fn response(answer: Answer, permit: OwnedSemaphorePermit) -> Response {
    let held = |bytes| Bytes::from_owner(Held { bytes, _permit: permit });
    match answer {
        Ok(Content::Json(value)) => body(StatusCode::OK, JSON, held(value.to_string().into_bytes())),
        Ok(Content::Columns(bytes)) => body(StatusCode::OK, COLUMNS, held(bytes)),
        Ok(Content::Shared(bytes)) => body(StatusCode::OK, COLUMNS, bytes),
        Ok(Content::Pending(done)) => {
            let object = json!({ "schema": "argus-pending-1", "done": done });
            body(StatusCode::ACCEPTED, JSON, held(object.to_string().into_bytes()))
        }
        Err(problem) => body(problem.status, JSON, held(object(&problem).to_string().into_bytes())),
    }
}

fn object(problem: &Problem) -> Value {
    json!({ "schema": "argus-error-1", "message": problem.message, "hint": problem.hint })
}

const JSON: &str = "application/json";
const COLUMNS: &str = "application/octet-stream";

/// A body of one type.
pub fn body(status: StatusCode, kind: &'static str, bytes: Bytes) -> Response {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    response
}

/// A refusal that tells nothing.
pub fn bare(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}
