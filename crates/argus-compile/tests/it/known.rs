//! A compiler is asked what it is as often as it takes, and no more: a program that counts its calls stands before the real
//! one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use argus_compile::Toolchain;

/// Counts its calls in a file, names another file as the program behind it, and becomes the machine's compiler.
const FRONT: &str = r#"
#include <cstdio>
#include <cstring>
#include <unistd.h>
int main(int, char **words) {
    if (FILE *calls = fopen(CALLS, "a")) { fputs("called\n", calls); fclose(calls); }
    if (words[1] && !strcmp(words[1], "-print-prog-name=cc1plus")) { puts(INNER); return 0; }
    char name[] = "g++";
    words[0] = name;
    return execvp(name, words);
}
"#;

struct Front {
    directory: tempfile::TempDir,
}

impl Front {
    fn new() -> Front {
        let front = Front { directory: tempfile::tempdir().unwrap() };
        fs::write(front.path("front.cpp"), FRONT).unwrap();
        fs::write(front.path("inner"), "what compiles").unwrap();
        front
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Makes the command, which is another file each time.
    fn build(&self, inner: &str) {
        let text = |path: PathBuf| format!("\"{}\"", path.display());
        let mut compiler = Command::new("g++");
        compiler.arg(self.path("front.cpp")).arg("-o").arg(self.path("fresh"));
        compiler.arg(format!("-DCALLS={}", text(self.path("calls"))));
        compiler.arg(format!("-DINNER={}", text(self.path(inner))));
        assert!(compiler.status().unwrap().success());
        fs::rename(self.path("fresh"), self.path("front")).unwrap();
    }

    /// How often it was called while it was looked for.
    fn calls(&self) -> usize {
        let found =
            Toolchain::find_known(Some(self.path("front").as_os_str()), &self.path("memory")).unwrap();
        assert_eq!(found.compiler, self.path("front"));
        assert_eq!(found.version, Toolchain::find(None).unwrap().version);
        let calls = fs::read_to_string(self.path("calls")).unwrap_or_default().lines().count();
        let _ = fs::remove_file(self.path("calls"));
        calls
    }
}

#[test]
fn a_compiler_is_asked_once_and_again_when_one_of_its_files_changes() {
    let front = Front::new();
    front.build("inner");
    assert!(front.calls() > 0);
    assert_eq!(front.calls(), 0);
    type Change<'a> = &'a dyn Fn();
    let changes: [(&str, Change<'_>); 4] = [
        ("another command under its name", &|| front.build("inner")),
        ("another program behind it", &|| fs::write(front.path("inner"), "what compiles now").unwrap()),
        ("a program of the same size", &|| {
            fs::write(front.path("fresh"), "what COMPILES now").unwrap();
            fs::rename(front.path("fresh"), front.path("inner")).unwrap();
        }),
        ("a memory that is damaged", &|| {
            for entry in fs::read_dir(front.path("memory")).unwrap() {
                fs::write(entry.unwrap().path(), "{").unwrap();
            }
        }),
    ];
    for (what, change) in changes {
        change();
        assert!(front.calls() > 0, "{what}");
        assert_eq!(front.calls(), 0, "{what}");
    }
}

#[test]
fn a_command_that_may_be_anything_is_always_asked() {
    // The program behind it is not there.
    let front = Front::new();
    front.build("nothing");
    assert!(front.calls() > 0);
    assert!(front.calls() > 0);
    // A script.
    let script = format!("#!/bin/sh\necho called >> '{}'\nexec g++ \"$@\"\n", front.path("calls").display());
    fs::write(front.path("front"), script).unwrap();
    fs::set_permissions(front.path("front"), PermissionsExt::from_mode(0o755)).unwrap();
    assert!(front.calls() > 0);
    assert!(front.calls() > 0);
}
