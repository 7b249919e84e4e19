//! Kernels compiled as the tool compiles them, into a cache of the tests' own.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use argus_abi::{CoreType, RuntimeKind};
use argus_chip::{Chip, DEFAULT_CHIP};
use argus_compile::{Compiler, Generation, Role, Toolchain, Unit};

pub fn compiler() -> &'static Compiler {
    static COMPILER: OnceLock<Compiler> = OnceLock::new();
    COMPILER.get_or_init(|| {
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernels");
        Compiler::with_cache(Toolchain::find(None).unwrap(), &cache).unwrap()
    })
}

/// A kernel for the default chip.
pub fn unit(source: &Path, core: CoreType) -> Unit {
    unit_for(source, core, Generation::August, DEFAULT_CHIP)
}

pub fn unit_for(source: &Path, core: CoreType, generation: Generation, chip: &'static Chip) -> Unit {
    Unit {
        source: source.to_owned(),
        role: Role::Kernel(core),
        generation,
        chip,
        runtime: RuntimeKind::Trb,
        include_dirs: Vec::new(),
        defines: Vec::new(),
        root: None,
        debug: false,
    }
}

/// The object of a unit; what the compiler says if it fails.
pub fn compile(unit: Unit) -> Result<PathBuf, String> {
    let made = compiler().compile(&[unit]).map_err(|error| {
        let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        format!("{error}\n{cause}")
    })?;
    Ok(made[0].path.clone())
}

/// A vector kernel from its text. The directory must live as long as the object is to be compiled.
pub fn compile_text(directory: &Path, text: &str) -> Result<PathBuf, String> {
    let source = directory.join("kernel.cpp");
    std::fs::write(&source, text).unwrap();
    compile(unit(&source, CoreType::Aiv))
}
