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
fn every_capture_of_a_run_of_ranks_is_served() {
    let home = tempfile::tempdir().unwrap();
    for rank in 0..2 {
        let line = format!("run vector_example --dump-tensor -o tree/rank{rank}/d0");
        assert_eq!(argus_in(home.path(), &line).code, 0);
    }
    let opened = Opened::start(home.path(), "open tree --no-browser", Path::new("false"));
    let session = opened.get("api/session");
    assert!(
        session.contains(r#""name":"rank0/d0""#) && session.contains(r#""name":"rank1/d0""#),
        "{session}"
    );
    assert_eq!(opened.end(Signal::INT).0, Some(130));
}

#[test]
fn nobody_asks_and_it_ends() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(argus_in(home.path(), "run vector_example --dump-tensor").code, 0);
    assert_eq!(argus_in(home.path(), "open --no-browser --idle 0.002").code, 0);
}

/// What a second user of this machine gets from a program: its output and what it says on stderr.
fn as_another(program: &str, arguments: &[&str], input: &str) -> (String, String) {
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65534;
    // Only root may do this; groups that root is in are let go of as well.
    let mut child = Command::new(program)
        .args(arguments)
        .uid(NOBODY)
        .gid(NOBODY)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let ended = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(ended.stdout), text(ended.stderr))
}

/// Connects to a socket and says how that went.
const CONNECT: &str = r#"use Socket; socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die;
print connect($s, pack_sockaddr_un($ARGV[0])) ? "connected" : "$!";"#;

#[test]
fn a_second_user_of_the_machine_gets_neither_the_secret_nor_the_socket() {
    use std::os::unix::fs::PermissionsExt;
    if !rustix::process::geteuid().is_root() {
        eprintln!("left out: only root can act as a second user");
        return;
    }
    if Command::new("perl").arg("-v").stdout(Stdio::null()).status().is_err() {
        eprintln!("left out: there is no perl to connect to a socket with");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    let open = |path: &Path| std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    // Nothing but what the tool does itself keeps the second user out.
    open(home.path());
    assert_eq!(argus_in(home.path(), "run vector_example --dump-tensor").code, 0);
    std::fs::create_dir(at("temporary")).unwrap();
    open(&at("temporary"));
    let script = format!(
        "#!/bin/sh\necho \"$1\" > {0}/given.new; mv {0}/given.new {0}/given; while [ -e \"$1\" ]; do sleep 0.05; done\n",
        home.path().display()
    );
    std::fs::write(at("browser"), script).unwrap();
    open(&at("browser"));

    let socket = at("socket").display().to_string();
    let mut served = Command::new(cargo_bin!("argus"))
        .args(["open", "--socket", &socket])
        .current_dir(home.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut address = String::new();
    BufReader::new(served.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let own = Command::new("perl").args(["-e", CONNECT, &socket]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&own.stdout), "connected");
    assert_eq!(as_another("perl", &["-e", CONNECT, &socket], "").0, "Permission denied");
    kill_process(Pid::from_child(&served), Signal::INT).unwrap();
    served.wait().unwrap();

    let mut child = Command::new(cargo_bin!("argus"))
        .arg("open")
        .current_dir(home.path())
        .env("BROWSER", at("browser"))
        .env("TMPDIR", at("temporary"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut address = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let secret = address.trim_end().rsplit('/').nth(1).unwrap().to_owned();
    assert_eq!(secret.len(), 32, "{address}");
    while !at("given").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let given = std::fs::read_to_string(at("given")).unwrap().trim().to_owned();
    assert!(std::fs::read_to_string(&given).unwrap().contains(&secret), "it leads its owner on");
    let (read, said) = as_another("cat", &[&given], "");
    assert!(read.is_empty() && said.contains("Permission denied"), "{read}{said}");
    // Arguments of every process, everything below the directories, and the environment of the server.
    let arguments = as_another("sh", &["-c", "cat /proc/[0-9]*/cmdline"], "").0;
    assert!(arguments.contains(&given) && !arguments.contains(&secret), "{given}");
    let place = home.path().display().to_string();
    assert_eq!(as_another("grep", &["-rlF", "-f", "-", &place], &secret).0, "");
    let environment = format!("/proc/{}/environ", child.id());
    assert!(as_another("cat", &[&environment], "").1.contains("Permission denied"));
    // Everyone can reach the port; without the secret it answers no one.
    let port = address.split([':', '/']).nth(4).unwrap();
    let asked = "exec 3<>/dev/tcp/127.0.0.1/$0; printf 'GET /%s/api/session HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' $1 >&3; cat <&3";
    let answer = as_another("bash", &["-c", asked, port, &"0".repeat(32)], "").0;
    assert!(answer.starts_with("HTTP/1.1 404") && answer.ends_with("\r\n\r\n"), "{answer}");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    child.wait().unwrap();
    assert!(!Path::new(&given).exists(), "it goes with the server");
}
