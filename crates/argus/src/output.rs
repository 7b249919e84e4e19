//! The only place that writes to stdout and stderr.
//!
//! stdout is for results, stderr for errors. A reader that goes away (`argus list | head -1`) is not an error:
//! the rest is dropped and the exit code stays what the command found.

use std::ffi::OsStr;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use argus_dump::LastVerdict;
use serde::Serialize;

use crate::failure::{Failure, Site, USAGE, stall_object};
use crate::marks::{BAD, NOTE, painted};
use crate::schema;
use crate::settings::settings;

/// Said of a directory that is taken.
pub const REPLACE_DIRECTORY: &str = "--force replaces it; -o names another directory";

/// The object that replaces the result of a command that failed.
#[derive(Serialize)]
struct ErrorObject<'a> {
    schema: &'static str,
    verdict: &'static str,
    message: String,
    hint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'a str>,
    fatal_code: Option<i32>,
    fatal_name: Option<&'static str>,
    /// Why a run stood still.
    #[serde(skip_serializing_if = "Option::is_none")]
    stall: Option<serde_json::Value>,
    /// Where a kernel failed; all of it null elsewhere.
    #[serde(flatten)]
    site: Site,
    exit_code: u8,
}

/// Writes a result. Colours are left out unless stdout is a terminal that wants them.
pub fn print(text: &str) -> Result<(), Failure> {
    print_as_it_is(&painted(text))
}

/// Refuses an output before the work for it is done: a name that cannot be written, or that is taken and may not be
/// replaced.
pub fn check_file(path: &Path, force: bool) -> Result<(), Failure> {
    argus_files::check_output(path, force).map_err(|error| {
        let exists = error.kind() == ErrorKind::AlreadyExists;
        let about = match exists {
            true => anyhow::anyhow!("{} exists", path.display()),
            false => anyhow::Error::new(error).context(format!("cannot write {}", path.display())),
        };
        Failure::usage(about).hint(exists.then(|| "--force replaces it; or name another file".to_owned()))
    })
}

fn print_as_it_is(text: &str) -> Result<(), Failure> {
    unless_reader_left(|| {
        let mut stdout = anstream::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()
    })
    .map_err(|error| Failure::failed(anyhow::Error::new(error).context("cannot write the result")))
}

/// Lets `write` write a result of any length; it is told whether colours are wanted.
pub fn stream(write: impl FnOnce(&mut dyn Write, bool) -> io::Result<()>) -> Result<(), Failure> {
    let stdout = io::stdout();
    let colour = anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never;
    unless_reader_left(|| {
        let mut out = io::BufWriter::with_capacity(1 << 18, stdout.lock());
        write(&mut out, colour)?;
        out.flush()
    })
    .map_err(|error| Failure::failed(anyhow::Error::new(error).context("cannot write the result")))
}

/// Says on stderr which file was written beside the result.
pub fn wrote(path: &Path) {
    _ = to_stderr(&format!("{NOTE}wrote{NOTE:#} {}\n", path.display()));
}

/// Characters in a line of the terminal that stdout is; `None` in a pipe or file.
pub fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|&columns| columns > 0)
}

/// A path or name as a word of a command that is to be copied into a shell.
pub fn shell_word(word: &(impl AsRef<OsStr> + ?Sized)) -> String {
    let word = word.as_ref().to_string_lossy();
    let is_plain = |letter: char| letter.is_alphanumeric() || "_./:=@%+,-".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// `1 record`, `2 records`.
pub fn counted(count: u64, noun: &str) -> String {
    let ending = match noun.ends_with('s') {
        _ if count == 1 => "",
        true => "es",
        false => "s",
    };
    format!("{count} {noun}{ending}")
}

/// Says something about a result that is not the result: on stderr, so that pipes get the result alone.
///
/// Nothing is said when only the result is wanted.
pub fn remark(text: &str) -> Result<(), Failure> {
    if settings().quiet {
        return Ok(());
    }
    to_stderr(text).map_err(|error| Failure::failed(anyhow::Error::new(error)))
}

/// Says which files and defaults are used, to users who want to know.
pub fn detail(text: &str) {
    if settings().verbose {
        // A remark that cannot be written does not make the command fail.
        to_stderr(&format!("{NOTE}note:{NOTE:#} {text}\n")).ok();
    }
}

/// Keeps a verdict beside a dump. A dump on a disk that cannot be written is judged all the same.
pub fn keep_verdict(verdict: &LastVerdict, dump: &Path) {
    if let Err(error) = verdict.write(dump) {
        detail(&format!("the verdict is not kept beside {}: {error}", dump.display()));
    }
}

/// Writes a result as one JSON object.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(Failure::failed)?;
    print_as_it_is(&format!("{text}\n"))
}

/// Tells why a command failed, and gives its exit code.
pub fn failed(failure: &Failure, json: bool) -> ExitCode {
    if json {
        let code = failure.fatal_code();
        let object = ErrorObject {
            schema: schema::ERROR,
            verdict: "error",
            message: failure.message(),
            hint: failure.hint.as_deref(),
            next: failure.next.as_deref(),
            fatal_code: code.map(|code| code.raw()),
            fatal_name: code.map(|code| code.name()),
            stall: failure.stall().map(stall_object),
            site: failure.site(),
            exit_code: failure.exit_code,
        };
        // If stdout cannot take the object, the reason still belongs on stderr.
        if let Err(unwritten) = print_json(&object) {
            explain(&unwritten);
        }
    } else {
        explain(failure);
    }
    ExitCode::from(failure.exit_code)
}

/// Answers a command line that did not parse; `--help` and `--version` arrive here too.
pub fn not_understood(error: &clap::Error) -> ExitCode {
    let wants_json = std::env::args_os().any(|arg| arg == "--json");
    if error.use_stderr() && wants_json {
        let rendered = error.render().to_string();
        let reason = rendered.split("\n\n").next().unwrap_or_default();
        let message = reason.strip_prefix("error: ").unwrap_or(reason).trim_end().to_owned();
        return failed(&Failure::usage(anyhow::Error::msg(message)), true);
    }
    // There is no other place to say that this cannot be written.
    error.print().ok();
    if error.use_stderr() { ExitCode::from(USAGE) } else { ExitCode::SUCCESS }
}

fn explain(failure: &Failure) {
    let mut text = format!("{BAD}error:{BAD:#} {}\n", failure.message());
    for function in failure.site().stack {
        text += &format!("    {function}\n");
    }
    if let Some(stall) = failure.stall() {
        let (class, meaning) = (stall.class, stall.class.meaning());
        text += &format!("\n{NOTE}stall:{NOTE:#} {class}: {meaning}; {}\n", stall.counts());
    }
    if let Some(hint) = &failure.hint {
        text += &format!("\n{NOTE}hint:{NOTE:#} {hint}\n");
    }
    if let Some(command) = &failure.next {
        text += &format!("{NOTE}next:{NOTE:#} {command}\n");
    }
    // There is no other place to say that this cannot be written.
    to_stderr(&text).ok();
}

fn to_stderr(text: &str) -> io::Result<()> {
    anstream::stderr().lock().write_all(painted(text).as_bytes())
}

fn unless_reader_left(write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    match write() {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        ended => ended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_signs_of_the_shell_are_quoted() {
        assert_eq!(shell_word("outputs/run_1/tensor_dump"), "outputs/run_1/tensor_dump");
        assert_eq!(shell_word("my run"), "'my run'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word(""), "''");
    }
}
