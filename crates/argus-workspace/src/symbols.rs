//! Names that a built shared object exports, as the compiler wrote them and as people read them.
//!
//! In: the bytes of an ELF file. Out: the defined functions of its dynamic symbol table, demangled in this
//! process. No other program is run. A damaged file is an error.

use cpp_demangle::{DemangleOptions, Symbol as Mangled};
use object::{Object, ObjectSymbol};

/// An exported name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedSymbol {
    /// As it is in the file.
    pub name: String,
    /// As C++ would write it; the same as `name` for C functions.
    pub demangled: String,
}

/// Why a symbol cannot be named.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SymbolError {
    #[error("not a readable ELF file")]
    NotElf(#[from] object::Error),
    #[error("no symbol `{wanted}`: the build lacks it; exported are {found}")]
    Missing { wanted: String, found: String },
    #[error("several symbols demangle to {wanted}(...): {found}")]
    Ambiguous { wanted: String, found: String },
}

/// Names listed in a message.
const LISTED: usize = 8;

/// The functions and objects that a shared object defines for others, sorted by name.
pub fn exported(elf: &[u8]) -> Result<Vec<ExportedSymbol>, SymbolError> {
    let file = object::File::parse(elf)?;
    let mut symbols = Vec::new();
    for symbol in file.dynamic_symbols().filter(|symbol| symbol.is_definition() && symbol.is_global()) {
        let name = symbol.name()?.to_owned();
        let demangled = demangle(&name).unwrap_or_else(|| name.clone());
        symbols.push(ExportedSymbol { name, demangled });
    }
    symbols.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(symbols)
}

/// Checks that every one of these names is exported exactly as written.
pub fn require(elf: &[u8], names: &[&str]) -> Result<(), SymbolError> {
    let symbols = exported(elf)?;
    match names.iter().find(|name| !symbols.iter().any(|symbol| symbol.name == **name)) {
        Some(missing) => Err(SymbolError::Missing { wanted: (*missing).to_owned(), found: listed(&symbols) }),
        None => Ok(()),
    }
}

/// The exported name of the function whose readable form is `base_name(...)`.
pub fn kernel_symbol(elf: &[u8], base_name: &str) -> Result<String, SymbolError> {
    let symbols = exported(elf)?;
    let call = format!("{base_name}(");
    let matching: Vec<_> = symbols.iter().filter(|symbol| symbol.demangled.starts_with(&call)).collect();
    match matching.as_slice() {
        [one] => Ok(one.name.clone()),
        // A C function has no parameters in its name.
        [] if symbols.iter().any(|symbol| symbol.name == base_name) => Ok(base_name.to_owned()),
        [] => Err(SymbolError::Missing { wanted: base_name.to_owned(), found: listed(&symbols) }),
        several => {
            let several: Vec<_> = several.iter().map(|symbol| (*symbol).clone()).collect();
            Err(SymbolError::Ambiguous { wanted: base_name.to_owned(), found: listed(&several) })
        }
    }
}

/// The readable form of a mangled name. Return types are left out, so that it begins with the function.
fn demangle(name: &str) -> Option<String> {
    Mangled::new(name).ok()?.demangle_with_options(&DemangleOptions::new().no_return_type()).ok()
}

fn listed(symbols: &[ExportedSymbol]) -> String {
    if symbols.is_empty() {
        return "none".to_owned();
    }
    let mut names: Vec<_> = symbols.iter().take(LISTED).map(|symbol| symbol.name.as_str()).collect();
    let more = format!("{} more", symbols.len().saturating_sub(LISTED));
    if symbols.len() > LISTED {
        names.push(&more);
    }
    names.join(", ")
}
