//! Attacks: files changed, cut and shortened while they are read, limits of the system, signals. No command ends with a
//! signal or a panic, and no dump that was touched is called sound.
//!
//! `ARGUS_LONG=1` asks for thousands of each; otherwise there is enough of each to see that it works.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helpers too")]

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use argus_dump::journal::{ENTRY_BYTES, HEADER_BYTES};
use assert_cmd::cargo::cargo_bin;

const FILES: [&str; 6] =
    ["tensor_dump.json", "tensor_dump.bin", "tensor_dump.journal", "graph.json", "run.json", "timeline.json"];

/// Every command that reads a dump; the last word of an output is a name that is free.
const READERS: [&str; 28] = [
    "view D",
    "view D --show",
    "view D --json",
    "view D --csv",
    "view D --graph",
    "stats D",
    "stats D --by-kernel",
    "stats D --json",
    "stats D --times",
    "verify D",
    "verify D --json",
    "find D",
    "find D --json",
    "find D --against D",
    "find --runs D D",
    "diff D D",
    "export D --format txt -o out",
    "export D --format npy -o out",
    "export D --format npz -o out",
    "export D --format safetensors -o out",
    "export D --format parquet --payload -o out",
    "export D --format csv -o out",
    "convert D --to june -o out",
    "convert D --to august -o out",
    "convert D --to argus -o out",
    "replay D --task 0",
    "trace D -o out.json",
    "trace D --task 0 -o out",
];

fn times(short: usize, long: usize) -> usize {
    if std::env::var_os("ARGUS_LONG").is_some_and(|value| value == "1") { long } else { short }
}

/// Numbers, the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

/// A directory with a dump in `D/tensor_dump`.
fn captured(scene: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let line = format!("run {scene} --dump-tensor --dump-stats -o D");
    let ended = argus(home.path(), &line).output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    home
}

fn argus(home: &Path, line: &str) -> Command {
    let mut command = Command::new(cargo_bin!("argus"));
    command.args(line.split(' ')).current_dir(home).stdin(Stdio::null());
    command
}

/// Neither a signal nor a panic, and an explanation for each failure.
fn decent(about: &str, ended: &Output) {
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.signal(), None, "{about}: {stderr}");
    assert!(!stderr.contains("panicked at"), "{about}: {stderr}");
    let code = ended.status.code().unwrap();
    assert!(code <= 2 || code == 130, "{about}: exit code {code}: {stderr}");
    if code != 0 && !about.contains("verify") && !about.contains("find") && !about.contains("diff") {
        assert!(stderr.contains("error: ") || !ended.stdout.is_empty(), "{about}: nothing was said");
    }
}

fn tidy(home: &Path) {
    fs::remove_dir_all(home.join("out")).ok();
    fs::remove_file(home.join("out.json")).ok();
}

#[test]
fn changed_bytes_are_survived_and_found() {
    let home = captured("vector_example");
    let mut random = Random(0xa7905);
    let dump = home.path().join("D/tensor_dump");
    assert!(argus(home.path(), "verify D").status().unwrap().success());
    for round in 0..times(40, 6000) {
        let path = dump.join(FILES[round % FILES.len()]);
        let whole = fs::read(&path).unwrap();
        let mut changed = whole.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(changed.len());
            match random.below(4) {
                0 => changed[at] ^= 1 << random.below(8),
                1 => changed[at] = random.below(256) as u8,
                2 => changed.truncate(at),
                _ => drop(changed.splice(at..at, [random.below(256) as u8])),
            }
            if changed.is_empty() {
                break;
            }
        }
        if changed == whole {
            continue;
        }
        fs::write(&path, &changed).unwrap();
        let about = format!("change {round} of {}", path.display());
        let ended = argus(home.path(), "verify D").output().unwrap();
        decent(&about, &ended);
        assert_ne!(ended.status.code(), Some(0), "{about}: {}", String::from_utf8_lossy(&ended.stdout));
        // In turn, so that each command meets each file.
        let each = times(1, 4);
        for turn in 0..each {
            let reader = READERS[(each * round + round / FILES.len() + turn) % READERS.len()];
            decent(&format!("{about}, {reader}"), &argus(home.path(), reader).output().unwrap());
            tidy(home.path());
        }
        fs::write(&path, &whole).unwrap();
    }
}

#[test]
fn journals_cut_at_every_entry_are_read_and_not_sound() {
    let home = captured("vector_example");
    let path = home.path().join("D/tensor_dump/tensor_dump.journal");
    let whole = fs::read(&path).unwrap();
    let starts: Vec<usize> = (HEADER_BYTES..whole.len()).step_by(ENTRY_BYTES).collect();
    let step = starts.len().div_ceil(times(12, usize::MAX)).max(1);
    for at in starts.into_iter().step_by(step) {
        let mut zeroed = whole.clone();
        zeroed[at..].fill(0);
        for journal in [&whole[..at], &zeroed] {
            fs::write(&path, journal).unwrap();
            let ended = argus(home.path(), "verify D").output().unwrap();
            decent("verify of a cut journal", &ended);
            assert_eq!(ended.status.code(), Some(1), "cut at {at}");
            let said = String::from_utf8_lossy(&ended.stdout);
            assert!(said.contains("read from tensor_dump.json instead"), "{said}");
        }
    }
}

/// A file that becomes shorter while a command reads it.
#[test]
fn files_that_shrink_under_a_reader_are_an_error() {
    let home = captured("paged_attention --case CaseSmall2 --skip-golden");
    let dump = home.path().join("D/tensor_dump");
    let mut random = Random(0x5eed);
    for round in 0..times(12, 150) {
        let path = dump.join(["tensor_dump.bin", "tensor_dump.journal", "tensor_dump.json"][round % 3]);
        let copy = home.path().join("copy");
        fs::copy(&path, &copy).unwrap();
        let reader = READERS[round % READERS.len()];
        let mut command = argus(home.path(), reader);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random.below(40_000) as u64));
        let len = fs::metadata(&path).unwrap().len();
        File::options().write(true).open(&path).unwrap().set_len(random.below(len as usize) as u64).unwrap();
        decent(&format!("{reader} while {} shrinks", path.display()), &child.wait_with_output().unwrap());
        tidy(home.path());
        fs::rename(&copy, &path).unwrap();
    }
}

/// The tool where every user may run it, because limits of processes do not hold for the superuser.
fn for_every_user(home: &Path) -> PathBuf {
    let tool = home.join("argus");
    fs::copy(cargo_bin!("argus"), &tool).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(home, fs::Permissions::from_mode(0o777)).unwrap();
    tool
}

#[test]
fn limits_of_the_system_are_met_with_a_message() {
    let home = captured("vector_example");
    let tool = for_every_user(home.path());
    let limited = |limit: &str, line: &str| {
        let script = format!("{limit}; cd {} && exec {} {line}", home.path().display(), tool.display());
        let mut command = Command::new("bash");
        if limit.contains("-u") {
            command = Command::new("setpriv");
            command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "bash"]);
        }
        let ended = command.args(["-c", &script]).stdin(Stdio::null()).output().unwrap();
        decent(&format!("{limit}, {line}"), &ended);
        tidy(home.path());
        fs::remove_dir_all(home.path().join("new")).ok();
        ended
    };
    let run = "run vector_example --dump-tensor -o new";
    for limit in
        ["ulimit -u 1", "ulimit -f 2", "ulimit -n 8", "ulimit -n 5", "ulimit -v 400000", "ulimit -v 150000"]
    {
        for line in READERS.iter().chain(&[run]) {
            limited(limit, line);
        }
    }
    // Reading needs no second thread.
    for line in ["view D", "verify D", "stats D", "find D"] {
        let ended = limited("ulimit -u 1", line);
        assert_eq!(ended.status.code(), Some(0), "{line}: {}", String::from_utf8_lossy(&ended.stderr));
    }
    let ended = limited("ulimit -u 1", run);
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(ended.status.code() == Some(1) && said.starts_with("error: "), "{said}");
}

/// What `nohup` and Ctrl-C ask for.
#[test]
fn an_inherited_ignore_is_kept_and_an_interrupt_is_130() {
    // A kernel that does not end by itself: the signal ends the run, or the run gives up after a while.
    for (trap, signal, timeout, code) in [("", "INT", 60, 130), ("trap '' HUP; ", "HUP", 3, 1)] {
        let home = tempfile::tempdir().unwrap();
        let script = format!(
            "{trap}exec {} run failures --case stuck_kernel --timeout {timeout} --dump-tensor -o run",
            cargo_bin!("argus").display()
        );
        let mut command = Command::new("bash");
        command.args(["-c", &script]).current_dir(home.path()).stdin(Stdio::null());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let journal = home.path().join("run/tensor_dump/tensor_dump.journal");
        while !journal.exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(300));
        assert!(
            Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap().success()
        );
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(code), "{signal}: {}", String::from_utf8_lossy(&ended.stderr));
    }
}

/// Outputs and inputs that are not files.
#[test]
fn devices_and_pipes_are_neither_read_nor_replaced() {
    let home = captured("vector_example");
    assert!(Command::new("mkfifo").arg(home.path().join("pipe")).status().unwrap().success());
    for (line, code) in [
        ("find D --html /dev/full", 2),
        ("find D --html pipe", 2),
        ("find D --html none/page.html", 2),
        ("replay D --task 0 --capsule /dev/full", 2),
        ("replay D --arg-spec pipe --kernel add", 2),
        ("replay pipe", 2),
        ("view /dev/zero", 2),
    ] {
        let ended = argus(home.path(), line).output().unwrap();
        decent(line, &ended);
        assert_eq!(ended.status.code(), Some(code), "{line}: {}", String::from_utf8_lossy(&ended.stderr));
    }
    use std::os::unix::fs::FileTypeExt;
    assert!(fs::metadata("/dev/full").unwrap().file_type().is_char_device());
    assert!(fs::metadata(home.path().join("pipe")).unwrap().file_type().is_fifo());
    // One rule for what exists.
    fs::write(home.path().join("page.html"), "mine").unwrap();
    assert_eq!(argus(home.path(), "find D --html page.html").status().unwrap().code(), Some(2));
    assert_eq!(fs::read(home.path().join("page.html")).unwrap(), b"mine");
    assert_eq!(argus(home.path(), "find D --html page.html --force").status().unwrap().code(), Some(0));
}

/// Files that say they are larger, deeper or longer than they are. Each is met with one message, in little memory.
#[test]
fn sizes_that_files_state_are_not_believed() {
    let home = captured("vector_example");
    let at = |name: &str| home.path().join(name);
    let header = |major: u8, length: &[u8], text: &[u8]| {
        let start: &[u8] = &[b"\x93NUMPY", &[major, 0][..], length].concat();
        [start, text].concat()
    };
    fs::write(at("long.npy"), header(2, &u32::MAX.to_le_bytes(), b"{")).unwrap();
    let nested = [b"{'descr': ".to_vec(), vec![b'('; 9000], vec![b')'; 900]].concat();
    fs::write(at("nested.npy"), header(1, &(nested.len() as u16).to_le_bytes(), &nested)).unwrap();
    let wide = b"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967295, 4294967295, 4294967295), }\n";
    fs::write(at("wide.npy"), header(1, &(wide.len() as u16).to_le_bytes(), wide)).unwrap();
    // A terabyte that takes no room on the disk.
    for name in ["sparse.npy", "sparse.safetensors", "sparse.npz"] {
        File::create(at(name)).unwrap().set_len(1 << 40).unwrap();
    }
    fs::create_dir(at("golden")).unwrap();
    let limited = |line: &str| {
        let script = format!("ulimit -v 700000; exec {} {line}", cargo_bin!("argus").display());
        let mut command = Command::new("bash");
        let ended =
            command.args(["-c", &script]).current_dir(home.path()).stdin(Stdio::null()).output().unwrap();
        decent(line, &ended);
        assert_ne!(ended.status.code(), Some(0), "{line}: {}", String::from_utf8_lossy(&ended.stdout));
        assert!(ended.stderr.len() < 2000, "{line}: {}", String::from_utf8_lossy(&ended.stderr));
    };
    for file in ["long.npy", "nested.npy", "wide.npy", "sparse.npy", "sparse.npz", "sparse.safetensors"] {
        let extension = file.rsplit('.').next().unwrap();
        let golden = at("golden").join(format!("0x0_2.{extension}"));
        fs::rename(at(file), &golden).unwrap();
        limited("find D --golden golden");
        fs::rename(&golden, at(file)).unwrap();
        limited(&format!("replay D --task 0 --set-arg 0={file}"));
    }
    for name in FILES {
        let path = at("D/tensor_dump").join(name);
        let whole = fs::read(&path).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
        for line in ["verify D", "view D", "find D", "replay D --task 0"] {
            let script = format!("ulimit -v 700000; exec {} {line}", cargo_bin!("argus").display());
            let mut command = Command::new("bash");
            let ended =
                command.args(["-c", &script]).current_dir(home.path()).stdin(Stdio::null()).output().unwrap();
            decent(&format!("{line} with a sparse {name}"), &ended);
        }
        fs::write(&path, &whole).unwrap();
    }
}
