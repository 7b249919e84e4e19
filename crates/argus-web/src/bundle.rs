//! The page: built from `web/`, committed there, and part of this program.

use axum::http::StatusCode;
use axum::response::Response;
use bytes::Bytes;

use crate::answer::body;

/// Names, types and contents.
const FILES: [(&str, &str, &[u8]); 4] = [
    ("", "text/html; charset=utf-8", include_bytes!("../../../web/dist/index.html")),
    ("app.js", "text/javascript; charset=utf-8", include_bytes!("../../../web/dist/app.js")),
    ("app.css", "text/css; charset=utf-8", include_bytes!("../../../web/dist/app.css")),
    ("icon.svg", "image/svg+xml", include_bytes!("../../../web/dist/icon.svg")),
];

/// A file of the page; the page itself has no name.
pub fn file(name: &str) -> Option<Response> {
    let (_, kind, content) = FILES.iter().find(|(known, ..)| *known == name)?;
    Some(body(StatusCode::OK, kind, Bytes::from_static(content)))
}
