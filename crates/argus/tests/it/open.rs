//! `argus open` as a command: what it prints, which dump it takes, how it ends. What it serves is tested in `argus-web`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use assert_cmd::cargo::cargo_bin;
use rustix::process::{Pid, Signal, kill_process};

use crate::tool::argus_in;

/// A server, and the address that it printed.
struct Opened {
    child: Child,
    port: u16,
    path: String,
}

impl Drop for Opened {
    fn drop(&mut self) {
        // It has ended already unless a check failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Opened {
    fn start(directory: &Path, line: &str, browser: &Path) -> Opened {
        let mut child = Command::new(cargo_bin!("argus"))
            .args(line.split_whitespace())
            .current_dir(directory)
            .env("BROWSER", browser)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let rest =
            address.trim_end().strip_prefix("http://127.0.0.1:").unwrap_or_else(|| panic!("{address}"));
        let (port, path) = rest.split_at(rest.find('/').unwrap());
        Opened { port: port.parse().unwrap(), path: path.to_owned(), child }
    }

    fn get(&self, rest: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let request =
            format!("GET {}{rest} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", self.path);
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Sends a signal: exit code, and what stood on stderr.
    fn end(mut self, signal: Signal) -> (Option<i32>, String) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

#[test]
fn the_newest_dump_is_served_until_ctrl_c() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(argus_in(home.path(), "run vector_example --dump-tensor").code, 0);
    let opened = Opened::start(home.path(), "open --no-browser", Path::new("false"));
    let session = opened.get("api/session");
    assert!(
        session.starts_with("HTTP/1.1 200") && session.contains(r#""scene":"vector_example""#),
        "{session}"
    );
    let (port, path) = (opened.port, opened.path.clone());
    let (code, said) = opened.end(Signal::INT);
    assert_eq!(code, Some(130));
    assert!(said.contains(&format!("ssh -L {port}:127.0.0.1:{port} ")), "{said}");
    assert!(!said.contains(&path[1..33]), "the secret is on stdout alone: {said}");
}

#[test]
fn a_browser_is_given_a_private_file_and_not_the_secret() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    assert_eq!(argus_in(home.path(), "run vector_example --dump-tensor").code, 0);
    let browser = home.path().join("browser");
    let seen = home.path().join("seen");
    // What a browser would be called with, and where that leads.
    let script = "#!/bin/sh\necho \"$@\" > arguments; stat -c %a \"$(dirname \"$1\")\" > mode; cat \"$1\" > page; mkdir seen\n";
    std::fs::write(&browser, script).unwrap();
    std::fs::set_permissions(&browser, PermissionsExt::from_mode(0o755)).unwrap();
    let opened = Opened::start(home.path(), "open", &browser);
    while !seen.exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let read = |name: &str| std::fs::read_to_string(home.path().join(name)).unwrap();
    let secret = opened.path[1..33].to_owned();
    assert!(!read("arguments").contains(&secret));
    assert_eq!(read("mode").trim(), "700");
    assert!(read("page").contains(&format!("http://127.0.0.1:{}/{secret}/", opened.port)));
    let page = read("arguments").trim().to_owned();
    assert_eq!(opened.end(Signal::INT).0, Some(130));
    assert!(!Path::new(&page).exists(), "it goes with the server");
}

#[test]
fn what_cannot_be_served_is_said() {
    let home = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    assert_eq!(argus_in(home.path(), "run vector_example --dump-tensor").code, 0);
    std::fs::write(home.path().join("file"), "").unwrap();
    for (line, message) in [
        ("open nowhere --no-browser".to_owned(), "cannot read nowhere".to_owned()),
        ("open --no-browser --idle 0".to_owned(), "--idle 0 is no time to wait".to_owned()),
        ("open --no-browser --idle -3".to_owned(), "--idle -3 is no time to wait".to_owned()),
        (format!("open --no-browser --port {port}"), format!("cannot listen on port {port}")),
        ("open --no-browser --socket file".to_owned(), "file exists".to_owned()),
        ("open --no-browser --port 1 --socket file".to_owned(), "cannot be used with".to_owned()),
    ] {
        let ended = argus_in(home.path(), &line);
        assert_eq!(ended.code, 2, "{line}");
        assert!(ended.stderr.contains(&message), "{line}: {}", ended.stderr);
        assert_eq!(ended.stdout, "", "{line}");
    }
}

#[test]
fn nobody_asks_and_it_ends() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(argus_in(home.path(), "run vector_example --dump-tensor").code, 0);
    assert_eq!(argus_in(home.path(), "open --no-browser --idle 0.002").code, 0);
}
