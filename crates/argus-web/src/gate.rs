//! Who may ask: only someone who knows the token, from this machine's own name, with a GET.
//!
//! Everyone on a shared machine can reach a port on the loopback, and so can every page in a browser on it. The token
//! keeps out the former. Against the latter, which a browser lets ask but not read: a foreign `Host` is a name that
//! was made to point here, and a foreign `Origin` or `Sec-Fetch-Site` is another page.

use std::fmt;

use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri, header};

/// A secret of 128 bits, as the address spells it.
#[derive(Clone)]
pub struct Token([u8; Token::DIGITS]);

/// A secret is not printed by accident.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    const DIGITS: usize = 32;

    /// A random one.
    pub fn new() -> Result<Token, rustix::io::Errno> {
        let mut random = [0; Token::DIGITS / 2];
        let mut filled = 0;
        while filled < random.len() {
            filled += rustix::rand::getrandom(&mut random[filled..], rustix::rand::GetRandomFlags::empty())?;
        }
        let mut digits = [0; Token::DIGITS];
        for (at, byte) in random.iter().enumerate() {
            for (digit, half) in [(2 * at, byte >> 4), (2 * at + 1, byte & 15)] {
                digits[digit] = b"0123456789abcdef"[usize::from(half)];
            }
        }
        Ok(Token(digits))
    }

    pub fn text(&self) -> &str {
        // Hexadecimal digits are text.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Compares in the same time whatever the text is: how long it takes must not tell how much of it is right.
    fn is(&self, text: &[u8]) -> bool {
        let mut different = u8::from(text.len() != self.0.len());
        for (at, digit) in self.0.iter().enumerate() {
            different |= digit ^ text.get(at).copied().unwrap_or(0);
        }
        std::hint::black_box(different) == 0
    }
}

/// Names of this machine as itself. Ports do not count: a tunnel has another one.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Looks at a request. What is left of its path behind the token, or the refusal.
pub fn admit<B>(token: &Token, request: &Request<B>) -> Result<Uri, StatusCode> {
    let path = request.uri().path();
    let (secret, rest) = split(path).ok_or(StatusCode::NOT_FOUND)?;
    if !token.is(secret.as_bytes()) {
        return Err(StatusCode::NOT_FOUND);
    }
    let headers = request.headers();
    if !named_here(headers) || comes_from_elsewhere(headers) {
        return Err(StatusCode::FORBIDDEN);
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Err(StatusCode::METHOD_NOT_ALLOWED);
    }
    let query = request.uri().query().map_or(String::new(), |query| format!("?{query}"));
    format!("{rest}{query}").parse().map_err(|_| StatusCode::NOT_FOUND)
}

/// `/TOKEN/rest` as the token and `/rest`.
fn split(path: &str) -> Option<(&str, &str)> {
    let path = path.strip_prefix('/')?;
    let slash = path.find('/')?;
    Some((&path[..slash], &path[slash..]))
}

/// The name of a host without its port.
fn name(host: &str) -> &str {
    match host.rfind(':') {
        // A colon inside brackets belongs to an address.
        Some(at) if !host.ends_with(']') => &host[..at],
        _ => host,
    }
}

fn is_here(host: &str) -> bool {
    NAMES.iter().any(|here| name(host).eq_ignore_ascii_case(here))
}

fn named_here(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    host.to_str().is_ok_and(is_here)
}

fn comes_from_elsewhere(headers: &HeaderMap) -> bool {
    let foreign = |origin: &HeaderValue| {
        let host = origin.to_str().ok().and_then(|origin| origin.strip_prefix("http://"));
        // Another port of this machine is another page.
        host.is_none_or(|host| {
            !is_here(host) || headers.get(header::HOST).map(HeaderValue::as_bytes) != Some(host.as_bytes())
        })
    };
    let said = |name: &str| headers.get(name).map(HeaderValue::as_bytes);
    let other_site = said("sec-fetch-site").is_some_and(|site| !matches!(site, b"same-origin" | b"none"));
    // Someone who clicks on a link in a mail or a chat comes from another site, and leaves it.
    let follows_link =
        said("sec-fetch-mode") == Some(b"navigate") && said("sec-fetch-dest") == Some(b"document");
    other_site && !follows_link || headers.get_all(header::ORIGIN).iter().any(foreign)
}

/// What every answer says to the browser: nothing from elsewhere, nothing inline, nothing kept.
pub fn protect(headers: &mut HeaderMap) {
    for (name, value) in [
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(path: &str, headers: &[(&str, &str)]) -> Result<Uri, StatusCode> {
        let mut request = Request::builder().uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        admit(&Token(*b"0123456789abcdef0123456789abcdef"), &request.body(()).unwrap())
    }

    const RIGHT: &str = "/0123456789abcdef0123456789abcdef/api/session?a=1";

    #[test]
    fn only_the_whole_token_opens() {
        let host = [("host", "localhost:1234")];
        assert_eq!(asked(RIGHT, &host), Ok("/api/session?a=1".parse().unwrap()));
        for path in [
            "/",
            "//",
            "/api/session",
            "/0123456789abcdef0123456789abcdef",
            "/0123456789abcdef0123456789abcde/",
            "/0123456789abcdef0123456789abcdeF/",
            "/0123456789abcdef0123456789abcdef0/",
            "/1123456789abcdef0123456789abcdef/",
            "/%30123456789abcdef0123456789abcdef/",
        ] {
            assert_eq!(asked(path, &host), Err(StatusCode::NOT_FOUND), "{path}");
        }
    }

    #[test]
    fn hosts_count_by_name_and_origins_by_name_and_port() {
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:9", "[::1]:8080", "[::1]"] {
            assert!(asked(RIGHT, &[("host", host)]).is_ok(), "{host}");
            let origin = format!("http://{host}");
            assert!(asked(RIGHT, &[("host", host), ("origin", &origin)]).is_ok(), "{host}");
        }
        for host in
            ["", "evil.example", "localhost.evil.example:80", "127.0.0.1.evil.example", "0.0.0.0", "::1"]
        {
            assert_eq!(asked(RIGHT, &[("host", host)]), Err(StatusCode::FORBIDDEN), "{host}");
        }
        assert_eq!(asked(RIGHT, &[]), Err(StatusCode::FORBIDDEN));
        assert_eq!(
            asked(RIGHT, &[("host", "localhost"), ("host", "evil.example")]),
            Err(StatusCode::FORBIDDEN)
        );
        for origin in ["null", "http://evil.example", "https://localhost:80", "http://localhost:81", ""] {
            let headers = [("host", "localhost:80"), ("origin", origin)];
            assert_eq!(asked(RIGHT, &headers), Err(StatusCode::FORBIDDEN), "{origin}");
        }
        for (site, admitted) in
            [("same-origin", true), ("none", true), ("cross-site", false), ("same-site", false)]
        {
            let headers = [("host", "localhost"), ("sec-fetch-site", site)];
            assert_eq!(asked(RIGHT, &headers).is_ok(), admitted, "{site}");
            let link = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
            assert!(asked(RIGHT, &[&headers[..], &link].concat()).is_ok(), "{site}");
            let frame = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")];
            assert_eq!(asked(RIGHT, &[&headers[..], &frame].concat()).is_ok(), admitted, "{site}");
        }
    }

    #[test]
    fn tokens_are_32_digits_and_differ() {
        let (one, other) = (Token::new().unwrap(), Token::new().unwrap());
        assert!(one.text().bytes().all(|digit| digit.is_ascii_hexdigit()) && one.text().len() == 32);
        assert_ne!(one.text(), other.text());
    }
}
