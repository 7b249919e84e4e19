//! The browser in a real terminal: keys go in, a screen comes out, and the terminal is as it was.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::tool::{argus, argus_in};

/// Nothing here takes so long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(60);
const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";
/// Ends every frame.
const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";

/// The browser in a terminal of its own.
struct Session {
    child: Child,
    terminal: File,
    keyboard: File,
    written: Arc<(Mutex<Vec<u8>>, Condvar)>,
    size: (u16, u16),
}

impl Session {
    /// Starts `argus tui run` in `directory`.
    fn start(directory: &Path, term: &str, columns: u16, rows: u16) -> (Session, Termios) {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let path = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let terminal = File::options().read(true).write(true).open(path).unwrap();
        resize(&terminal, columns, rows);
        let before = tcgetattr(&terminal).unwrap();
        let keyboard = File::from(master);
        let mut reader = keyboard.try_clone().unwrap();
        let written = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let collected = Arc::clone(&written);
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut piece) {
                collected.0.lock().unwrap().extend_from_slice(&piece[..count]);
                collected.1.notify_all();
            }
        });
        let side = || Stdio::from(OwnedFd::from(terminal.try_clone().unwrap()));
        let child = Command::new(cargo_bin!("argus"))
            .args(["tui", "run"])
            .current_dir(directory)
            .env("TERM", term)
            .env_remove("COLORTERM")
            .env_remove("NO_COLOR")
            .stdin(side())
            .stdout(side())
            .stderr(side())
            .spawn()
            .unwrap();
        (Session { child, terminal, keyboard, written, size: (columns, rows) }, before)
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits until a whole frame satisfies a condition, and gives it.
    fn until(&self, what: &str, holds: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + PATIENCE;
        let mut bytes = self.written.0.lock().unwrap();
        loop {
            let screen = screen(&bytes, self.size);
            if bytes.ends_with(HIDE_CURSOR.as_bytes()) && holds(&screen) {
                return screen;
            }
            let rest = deadline.saturating_duration_since(Instant::now());
            assert!(!rest.is_zero(), "no {what}: {screen}\n{:?}", String::from_utf8_lossy(&bytes));
            bytes = self.written.1.wait_timeout(bytes, rest).unwrap().0;
        }
    }

    /// Waits for the end: the exit code, all that was written, and how the terminal was left.
    fn end(mut self) -> (Option<i32>, String, Termios) {
        let code = self.child.wait().unwrap().code();
        let left = tcgetattr(&self.terminal).unwrap();
        // What is written before this mark has all come when the mark has.
        write!(self.terminal, "the end").unwrap();
        let deadline = Instant::now() + PATIENCE;
        let mut bytes = self.written.0.lock().unwrap();
        while !bytes.ends_with(b"the end") {
            assert!(Instant::now() < deadline);
            bytes = self.written.1.wait_timeout(bytes, PATIENCE).unwrap().0;
        }
        (code, String::from_utf8(bytes.clone()).unwrap(), left)
    }
}

fn resize(terminal: &File, columns: u16, rows: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal, size).unwrap();
}

/// What a terminal of a size shows after these bytes: the browser moves the cursor, clears, colours and writes.
fn screen(bytes: &[u8], (columns, rows): (u16, u16)) -> String {
    let (columns, rows) = (usize::from(columns), usize::from(rows));
    let mut cells = vec![vec![' '; columns]; rows];
    let (mut row, mut column) = (0, 0);
    let text = String::from_utf8_lossy(bytes);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\x1b' => {
                assert_eq!(letters.next().unwrap_or('['), '[', "only control sequences are sent");
                let mut parameters = String::new();
                match letters.by_ref().find(|&letter| {
                    parameters.push(letter);
                    letter.is_ascii_alphabetic()
                }) {
                    Some('H') => {
                        let mut numbers =
                            parameters.trim_end_matches('H').split(';').map(|n| n.parse().unwrap_or(1));
                        row = numbers.next().unwrap_or(1) - 1;
                        column = numbers.next().unwrap_or(1) - 1;
                    }
                    Some('J') => cells = vec![vec![' '; columns]; rows],
                    // Colours and modes; the last one may not have come whole.
                    Some('m' | 'h' | 'l') | None => {}
                    Some(other) => panic!("an unknown control sequence {parameters:?} {other}"),
                }
            }
            '\r' => column = 0,
            '\n' => row += 1,
            letter => {
                if let Some(cell) = cells.get_mut(row).and_then(|line| line.get_mut(column)) {
                    *cell = letter;
                }
                column += 1;
            }
        }
    }
    cells.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned() + "\n").collect()
}

/// A directory with the dump of a run in `run`.
fn recorded(scene: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let ended = argus_in(home.path(), &format!("run {scene} --dump-tensor -o run"));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    home
}

fn assert_same(before: &Termios, after: &Termios) {
    assert_eq!(format!("{before:?}"), format!("{after:?}"));
    assert!(after.local_modes.contains(LocalModes::ICANON | LocalModes::ECHO));
}

#[test]
fn a_dump_is_browsed_with_keys_and_the_terminal_is_whole_afterwards() {
    let home = recorded("vector_example");
    let (mut session, before) = Session::start(home.path(), "xterm-256color", 110, 30);
    let first =
        session.until("tasks", |screen| screen.contains("done add_scalar") && screen.contains("all 2."));
    assert!(first.starts_with("argus tui  run: pass  run/tensor_dump  vector_example"), "{first}");
    // The scene computes (a + b + 1)(a + b + 2) + (a + b) with a = 2 and b = 3: 47, last by the last task.
    session.press("G\tG");
    session.until("the output", |screen| screen.contains("[0] = 47.0"));
    session.press("\tm");
    session.until("a heat map", |screen| screen.contains("▀▀▀▀") && screen.contains("[heat map]"));
    resize(&session.terminal, 60, 20);
    session.signal(Signal::WINCH);
    session.size = (60, 20);
    session.until("the new size", |screen| screen.lines().nth(17).is_some_and(|line| line.starts_with('┗')));
    session.press("q");
    let (code, written, after) = session.end();
    assert_eq!(code, Some(0));
    assert_same(&before, &after);
    assert!(written.starts_with(ENTER), "{written:?}");
    let (_, end) = written.rsplit_once(LEAVE).unwrap();
    assert!(end.starts_with(SHOW_CURSOR), "{end:?}");
    assert_eq!(end.replace(SHOW_CURSOR, ""), "the end", "nothing else is written to the ordinary screen");
    assert!(written.contains("\x1b[38;5;"), "256 colours, because more is not promised");
}

#[test]
fn a_signal_ends_the_browser_and_the_terminal_is_whole_afterwards() {
    let home = recorded("vector_example");
    let (session, before) = Session::start(home.path(), "xterm", 100, 30);
    session.until("tasks", |screen| screen.contains("done add_scalar"));
    assert!(
        !tcgetattr(&session.terminal).unwrap().local_modes.contains(LocalModes::ECHO),
        "keys are not echoed"
    );
    session.signal(Signal::TERM);
    let (code, written, after) = session.end();
    assert_eq!(code, Some(143));
    assert_same(&before, &after);
    assert!(written.contains(LEAVE) && written.contains(SHOW_CURSOR), "{written:?}");
}

#[test]
fn a_terminal_of_any_size_will_do_and_a_larger_one_is_used() {
    let home = recorded("vector_example");
    let (mut session, before) = Session::start(home.path(), "xterm", 20, 5);
    let small = session.until("two tasks", |screen| screen.contains(" 0x0000000100000000"));
    assert_eq!(
        small,
        "argus tui  run: pass\n>0x0000000000000000\n 0x0000000100000000\n\n? help  q quit  Tab\n"
    );
    for (columns, rows) in [(10, 3), (1, 1), (200, 50), (3, 2), (90, 24)] {
        resize(&session.terminal, columns, rows);
        session.signal(Signal::WINCH);
    }
    session.size = (90, 24);
    session.until("the last size", |screen| {
        screen.lines().nth(1).is_some_and(|line| line.starts_with("┏ Tasks ") && line.ends_with('┐'))
            && screen.lines().nth(21).is_some_and(|line| line.starts_with('┗') && line.ends_with('┘'))
    });
    session.press("q");
    let (code, _, after) = session.end();
    assert_eq!(code, Some(0));
    assert_same(&before, &after);
}

#[test]
fn a_search_in_vain_says_so_and_a_hunt_ends_at_the_first_nan() {
    let home = recorded("paged_attention --case CaseSmall1");
    let (mut session, _) = Session::start(home.path(), "xterm", 100, 30);
    session.until("tasks", |screen| screen.contains(" unwr┃"));
    session.press("/nowhere\r");
    session.until("an answer", |screen| screen.contains("no task has 'nowhere' in its id or kernels"));
    session.press("f");
    // The first update reads an accumulator that nothing wrote yet: the fill of fresh memory, which is a NaN.
    session.until("a NaN", |screen| {
        screen.contains("not finite: task 0x0000000200000003, argument 3 before, [0]")
            && screen.contains("[0] = unwritten")
    });
    session.press("q");
    assert_eq!(session.end().0, Some(0));
}

#[test]
fn a_dump_without_records_answers_every_key() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("run")).unwrap();
    let manifest =
        r#"{"bin_format": {"type": "logical_contiguous", "byte_order": "little_endian"}, "tensors": []}"#;
    std::fs::write(home.path().join("run/tensor_dump.json"), manifest).unwrap();
    let (mut session, _) = Session::start(home.path(), "xterm", 80, 24);
    session.until("a word", |screen| screen.contains("this dump has no records"));
    session.press("jkhlgGmmmmmbfF[]nN\t\t\r/x\r&x\r&\r");
    session.press("?");
    session.until("help", |screen| screen.contains("┏ Keys ") && screen.contains("find the next NaN"));
    session.press("q");
    assert_eq!(session.end().0, Some(0));
}

#[test]
fn the_picture_in_the_documentation_is_what_the_browser_shows() {
    let home = recorded("paged_attention --case CaseSmall1");
    let (mut session, _) = Session::start(home.path(), "vt100", 120, 30);
    session.until("marks", |screen| screen.contains(" unwr┃"));
    session.press("/UP\r\t\x1b[B\x1b[B\t");
    let values = session
        .until("values", |screen| screen.contains("┏ before input 2") && screen.contains("unwritten 256"));
    session.press("m");
    let heat = session.until("a heat map", |screen| screen.contains("[heat map]") && screen.contains('▒'));
    session.press("q");
    assert_eq!(session.end().0, Some(0));
    let home = recorded("paged_attention --case CaseSmall1 --skip-golden --inject PV:0:nan");
    assert_eq!(argus_in(home.path(), "find run").code, 1);
    let (mut session, _) = Session::start(home.path(), "vt100", 120, 30);
    session.until("verdicts", |screen| screen.contains("introduced PV"));
    session.press("w\t\x1b[B\x1b[B\t");
    let judged = session.until("the wrong tensor", |screen| {
        screen.contains("┏ after output 2") && screen.contains("looks like NaN") && screen.contains("NaN 1")
    });
    session.press("q");
    assert_eq!(session.end().0, Some(0));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tui.txt");
    let documented = std::fs::read_to_string(&path).unwrap_or_default();
    let shown = format!("{values}\n{heat}\n{judged}");
    assert!(documented == shown, "{} should be:\n{shown}", path.display());
}

#[test]
fn without_a_terminal_there_is_no_browser() {
    let ended = argus("tui");
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
    assert_eq!(
        ended.stderr,
        "error: argus tui needs a terminal, stdout is not one\n\n\
         hint: `argus view` prints records as text, JSON or CSV into any file or pipe\n"
    );
}
