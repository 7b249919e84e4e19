//! Who is refused, and what clients cannot do.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use argus_web::{Ended, Options, Place};

use crate::client::{ask, connect, parse, raw};
use crate::setup::{Run, Server};

#[test]
fn only_the_token_opens_and_refusals_tell_nothing() {
    let run = Run::of("vector_example", "default");
    let server = Server::of(&[run.path()]);
    let wrong = "0".repeat(32);
    for path in [
        "/",
        "/api/session",
        &format!("/{wrong}/api/session"),
        &format!("/{}", server.token),
        &format!("/{}x/api/session", server.token),
        &format!("/{}/", server.token.to_uppercase() + "0"),
        &format!("//{}/api/session", server.token),
    ] {
        let answer = ask(server.port, "GET", path, &[("Host", "localhost")]);
        assert_eq!((answer.status, answer.body.len()), (404, 0), "{path}");
        assert!(answer.header("content-security-policy").is_some(), "{path}");
    }
    assert_eq!(server.get("api/session").status, 200);
}

#[test]
fn foreign_hosts_origins_and_other_methods_are_refused() {
    let run = Run::of("vector_example", "default");
    let server = Server::of(&[run.path()]);
    let path = server.path("api/session");
    for (headers, status) in [
        (vec![("Host", "127.0.0.1:1")], 200),
        (vec![("Host", "evil.example")], 403),
        (vec![("Host", "localhost:80"), ("Origin", "http://localhost:80")], 200),
        (vec![("Host", "localhost:80"), ("Origin", "http://evil.example")], 403),
        (vec![("Host", "localhost:80"), ("Origin", "null")], 403),
        (vec![("Host", "localhost"), ("Sec-Fetch-Site", "cross-site")], 403),
    ] {
        let answer = ask(server.port, "GET", &path, &headers);
        assert_eq!(answer.status, status, "{headers:?}");
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"] {
        let answer = ask(server.port, method, &path, &[("Host", "localhost"), ("Content-Length", "0")]);
        assert_eq!((answer.status, answer.header("allow")), (405, Some("get, head")), "{method}");
    }
    let head = ask(server.port, "HEAD", &path, &[("Host", "localhost")]);
    assert_eq!((head.status, head.body.len()), (200, 0));
}

#[test]
fn every_answer_forbids_what_the_page_does_not_need() {
    let run = Run::of("vector_example", "default");
    let server = Server::of(&[run.path()]);
    for rest in ["", "app.js", "api/session", "api/0/tasks", "api/0/task/99999", "nowhere"] {
        let answer = server.get(rest);
        assert_eq!(
            answer.header("content-security-policy"),
            Some(
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                 base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            )
        );
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{rest}");
        }
    }
}

#[test]
fn no_path_from_a_client_reaches_a_file() {
    let run = Run::of("vector_example", "default");
    std::fs::write(run.path().join("secret"), "secret").unwrap();
    let server = Server::of(&[run.path()]);
    for rest in [
        "../secret",
        "..%2fsecret",
        "%2e%2e/secret",
        "./app.js",
        "app.js/",
        "app.js%00",
        "api/../app.js",
        "api/-1/tasks",
        "api/+0/tasks",
        "api/0x0/tasks",
        "api/00000000000000000000000000/overview/x",
        "api/18446744073709551616/tasks",
        "api/0/task/..",
        "api/0/record/1e3",
        "api/0/record/0/tile/../../../../secret",
        "static/secret",
        "api",
        "api/0",
        "api/0/",
        "api//tasks",
    ] {
        let answer = server.get(rest);
        assert!(matches!(answer.status, 400 | 404), "{rest}: {}", answer.status);
        assert!(!String::from_utf8_lossy(&answer.body).contains("secret"), "{rest}");
    }
}

#[test]
fn malformed_and_oversized_requests_cost_the_client_alone() {
    let run = Run::of("vector_example", "default");
    let server = Server::of(&[run.path()]);
    let long = "a".repeat(1 << 20);
    let many: String = (0..1000).map(|at| format!("X-{at}: y\r\n")).collect();
    for request in [
        "\r\n\r\n\r\n\r\n".to_owned(),
        "GET\r\n\r\n".to_owned(),
        "\0\0\0\0\r\n\r\n".to_owned(),
        format!("GET /{long} HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {long}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n"),
    ] {
        let answer = raw(server.port, request.as_bytes());
        let refused = answer.is_empty() || parse(&answer).status >= 400;
        assert!(refused, "{:?}", String::from_utf8_lossy(&answer[..answer.len().min(200)]));
    }
    for query in [
        "plane=0&level=0&row=18446744073709551615&col=18446744073709551615",
        "plane=18446744073709551615",
        "level=4294967295",
        "level=63&row=1",
        "row=-1",
        "level=99999999999999999999",
        "of=everything",
    ] {
        let answer = server.get(&format!("api/0/record/0/tile?{query}"));
        assert!(matches!(answer.status, 400 | 404), "{query}: {}", answer.status);
        assert_eq!(answer.json()["schema"], "argus-error-1");
    }
    let far = server.get("api/0/record/0/next?what=nan&from=18446744073709551615");
    assert_eq!(far.json()["element"], serde_json::Value::Null);
    assert_eq!(server.get("api/session").status, 200);
}

#[test]
fn two_hundred_connections_at_a_time_all_get_the_same() {
    let run = Run::of("paged_attention", "CaseSmall1");
    let server = Server::of(&[run.path()]);
    let expected = server.get("api/0/graph").body;
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        server.path("api/0/graph")
    );
    let mut streams: Vec<_> = (0..200).map(|_| connect(server.port)).collect();
    for stream in &mut streams {
        stream.write_all(request.as_bytes()).unwrap();
    }
    for mut stream in streams {
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        assert!(parse(&answer).body == expected);
    }
}

#[test]
fn a_client_that_sends_or_takes_nothing_is_let_go_and_others_are_served() {
    let run = Run::of("vector_example", "default");
    let options = Options { patience: Duration::from_secs(3), ..Options::default() };
    let server = Server::with(&[run.path()], options);
    // One sends half a header, one nothing at all.
    let mut slow = connect(server.port);
    slow.write_all(b"GET / HTTP/1.1\r\nHost: loc").unwrap();
    let mut silent = connect(server.port);
    // One asks for far more than the system keeps for it, and takes nothing.
    let mut greedy = connect(server.port);
    let request = format!("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", server.path("app.js"));
    let pipelined = request.repeat(200);
    let _ = greedy.write_all(pipelined.as_bytes());
    assert_eq!(server.get("api/session").status, 200);
    let mut rest = Vec::new();
    // Closed by the server, whether with an answer or without.
    let _ = slow.read_to_end(&mut rest);
    let _ = silent.read_to_end(&mut rest);
    assert!(rest.len() < 1000);
    // Its sender is told that the connection is gone as soon as the server gave up on it.
    while greedy.write_all(request.as_bytes()).is_ok() {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(server.get("api/session").status, 200);
}

#[test]
fn a_socket_is_for_its_owner_and_goes_with_the_server() {
    let run = Run::of("vector_example", "default");
    let path = run.path().join("argus.sock");
    let options = Options { place: Place::Socket(path.clone()), ..Options::default() };
    let server = Server::with(&[&run.dump()], options.clone());
    assert_eq!(std::fs::symlink_metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let mut stream = UnixStream::connect(&path).unwrap();
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        server.path("api/session")
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert_eq!(parse(&answer).status, 200);
    assert_eq!(server.end(), Ended::Stopped);
    assert!(!path.exists());
}

#[test]
fn a_server_that_nobody_asks_ends() {
    let run = Run::of("vector_example", "default");
    let options = Options { idle: Some(Duration::from_millis(200)), ..Options::default() };
    assert_eq!(Server::with(&[run.path()], options).join(), Ended::Idle);
}
