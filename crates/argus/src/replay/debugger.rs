//! `argus replay --gdb`: the same replay, started under a debugger that stops in the kernel.
//!
//! The task is found and its kernels are compiled before the debugger starts, so that whatever is wrong with either is
//! said here. What the debugger runs is this program with the same arguments and `--debug-build`; the objects come out
//! of the cache.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, anyhow};
use argus_compile::{compiler, headers};
use argus_dump_scene::{From, Source};
use argus_scene::Registry;

use crate::cli::{Debugger, ReplayArgs};
use crate::failure::Failure;
use crate::lookup;

/// Becomes the debugger. Comes back only with a reason why it could not.
pub fn start(debugger: Debugger, args: &ReplayArgs, registry: &Registry) -> Result<ExitCode, Failure> {
    let program = debugger.program();
    let there = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if there.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Err(Failure::usage(anyhow!("{program} is not on PATH")).hint(format!(
            "install it (Debian: apt install {program}); or replay with --debug-build under a debugger of your own"
        )));
    }
    let source = lookup::open_for_debugger(args.what.as_deref(), &args.task, registry)?;
    // Beside the headers, which have a place of their own for each version of the tool.
    let ours = headers::materialise(&compiler::cache_directory().join("headers"))
        .context("cannot write the debugger's commands")
        .map_err(Failure::failed)?;
    let script = ours.join("argus/debugger").join(debugger.script());
    let own = env::current_exe().context("cannot find this program's own file").map_err(Failure::failed)?;
    let mut command = Command::new(program);
    command.args(debugger.commands(&script, &source)).arg(&own);
    command.args(again(env::args_os().skip(1), args, &source));
    // Nothing comes back from here but a failure to start.
    Err(Failure::failed(anyhow::Error::new(command.exec()).context(format!("cannot start {program}"))))
}

/// The arguments of the same replay, without the debugger and with the kernels compiled for one.
fn again(typed: impl Iterator<Item = OsString>, args: &ReplayArgs, source: &Source) -> Vec<OsString> {
    let debuggers = [OsStr::new("--gdb"), OsStr::new("--lldb")];
    let mut again: Vec<OsString> = typed.filter(|word| !debuggers.contains(&word.as_os_str())).collect();
    again.push("--debug-build".into());
    // The newest dump may be another one by then.
    if let (None, From::Dump(dump)) = (&args.what, &source.from) {
        again.push(dump.into());
    }
    again
}

impl Debugger {
    fn program(self) -> &'static str {
        match self {
            Debugger::Gdb => "gdb",
            Debugger::Lldb => "lldb",
        }
    }

    fn script(self) -> &'static str {
        match self {
            Debugger::Gdb => "gdb_commands.py",
            Debugger::Lldb => "lldb_commands.txt",
        }
    }

    /// Arguments that load our commands and run to the kernel; the program and its arguments follow.
    fn commands(self, script: &Path, source: &Source) -> Vec<OsString> {
        let script = script.display();
        // Other objects have a kernel_entry too, so the file is named as well.
        let files = source.debugged.iter().map(|path| path.display());
        let (flag, lines, end): (&str, Vec<String>, &str) = match self {
            Debugger::Gdb => {
                let stops = files.map(|file| format!("tbreak -source \"{file}\" -function kernel_entry"));
                let before = ["set breakpoint pending on".into(), format!("source {script}")];
                let lines = before.into_iter().chain(stops).chain(["run".into()]);
                ("-ex", lines.collect(), "--args")
            }
            Debugger::Lldb => {
                let stops = files.map(|file| {
                    format!("breakpoint set --one-shot true --name kernel_entry --file \"{file}\"")
                });
                let lines = [format!("command source -s true \"{script}\"")].into_iter().chain(stops);
                ("-o", lines.chain(["run".into()]).collect(), "--")
            }
        };
        let quiet = (self == Debugger::Gdb).then(|| OsString::from("-q"));
        let lines = lines.into_iter().flat_map(|line| [OsString::from(flag), line.into()]);
        quiet.into_iter().chain(lines).chain([end.into()]).collect()
    }
}
