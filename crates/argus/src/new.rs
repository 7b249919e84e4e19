//! `argus new`: a small project to start from.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::anyhow;
use argus_files::Stage;

use crate::cli::NewArgs;
use crate::failure::Failure;
use crate::output;

/// Name below the project, and text. `@NAME@` stands for the project's name.
const CPP: &[(&str, &str)] = &[
    ("README.md", include_str!("new/cpp/README.md")),
    ("scene.toml", include_str!("new/cpp/scene.toml")),
    ("kernels/aiv/add.cpp", include_str!("new/cpp/kernels/aiv/add.cpp")),
    ("kernels/aiv/block.h", include_str!("new/cpp/kernels/aiv/block.h")),
    ("kernels/aiv/scale.cpp", include_str!("new/cpp/kernels/aiv/scale.cpp")),
    ("kernels/orchestration/orch.cpp", include_str!("new/cpp/kernels/orchestration/orch.cpp")),
];

/// `@ARGUS@` stands for the crate that the project depends on. The scene is an example of that crate, so that it is
/// compiled and run with every change.
const RUST: &[(&str, &str)] = &[
    ("README.md", include_str!("new/rust/README.md")),
    ("Cargo.toml", include_str!("new/rust/Cargo.toml.txt")),
    (".gitignore", "/target\n/outputs\n/good\n/bad\n/trace\n"),
    ("src/main.rs", include_str!("../examples/own_scene.rs")),
];

/// What a project is made of, and what to say of it.
struct Kind {
    files: Vec<(&'static str, Vec<u8>)>,
    about: &'static str,
    next: &'static str,
}

pub fn new(args: &NewArgs) -> Result<ExitCode, Failure> {
    check(&args.name, args.rust)?;
    let target = Path::new(&args.name);
    if target.symlink_metadata().is_ok() {
        return Err(Failure::usage(anyhow!("'{}' exists already", args.name))
            .hint("choose another name: nothing is overwritten".to_owned()));
    }
    let kind = if args.rust { rust(args)? } else { cpp(&args.name) };
    write(&kind, target)
        .map_err(|error| Failure::failed(anyhow!(error).context(format!("cannot make '{}'", args.name))))?;
    output::print(&format!("made {0}: {1}\nnext: cd {0} && {2}\n", args.name, kind.about, kind.next))?;
    Ok(ExitCode::SUCCESS)
}

fn cpp(name: &str) -> Kind {
    let texts = CPP.iter().map(|(file, text)| (*file, text.replace("@NAME@", name).into_bytes()));
    Kind {
        files: texts.chain([("golden/out.npy", golden())]).collect(),
        about: "a scene with two kernels, an orchestration and a planted bug",
        next: "argus run . --dump-tensor -o good",
    }
}

fn rust(args: &NewArgs) -> Result<Kind, Failure> {
    let known = args.argus.clone().unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let known = fs::canonicalize(&known).unwrap_or(known);
    let own = known.join("crates/argus");
    if !own.join("Cargo.toml").is_file() {
        let message = anyhow!("{} does not hold the sources of Argus", known.display());
        return Err(Failure::usage(message)
            .hint("--argus DIR names a checkout, the directory with crates/argus in it".to_owned()));
    }
    let path = own.display().to_string();
    let fill = |text: &str| {
        let text = text.replace("@NAME@", &args.name).replace("@ARGUS@", &path);
        text.replace("own_scene.rs", "main.rs").replace("own_scene", &args.name)
    };
    Ok(Kind {
        files: RUST.iter().map(|(file, text)| (*file, fill(text).into_bytes())).collect(),
        about: "a crate with a scene of two kernels, an orchestration and a planted bug",
        next: "cargo run -q -- list",
    })
}

/// A name is a plain word: it becomes a directory and the name of a scene.
/// A crate begins with a letter, or cargo refuses it.
fn check(name: &str, rust: bool) -> Result<(), Failure> {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || sign == '_' || sign == '-';
    let begins = |sign: char| sign != '-' && !(rust && sign.is_ascii_digit());
    if name.chars().all(plain) && name.starts_with(begins) {
        return Ok(());
    }
    let first = if rust { ", and a letter first" } else { "" };
    Err(Failure::usage(anyhow!("'{name}' cannot be the name of a project"))
        .hint(format!("use letters, digits, '_' and '-'{first}")))
}

/// All files appear at once, or none.
fn write(kind: &Kind, target: &Path) -> std::io::Result<()> {
    let stage = Stage::beside(target)?;
    let home = stage.path().join("project");
    let put = |file: &str, content: &[u8]| {
        let path = home.join(file);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, content)
    };
    for (file, content) in &kind.files {
        put(file, content)?;
    }
    stage.publish("project", target)
}

/// 3 (a + b) for a = 0, 0.25, 0.5, ... and b = 1, as NumPy saves 64 x 64 floats.
fn golden() -> Vec<u8> {
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (64, 64), }";
    // NumPy pads its header so that the numbers begin at a multiple of 64 bytes.
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    file.extend(header.as_bytes());
    file.resize(127, b' ');
    file.push(b'\n');
    for index in 0..64 * 64 {
        let a = 0.25 * index as f32;
        file.extend((3.0 * (a + 1.0)).to_le_bytes());
    }
    file
}
