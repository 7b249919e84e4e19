//! Symbols of a shared object that the host's compiler made.

use std::fs;

use argus_workspace::symbols::{SymbolError, exported, kernel_symbol, require};

use crate::compiled::{compile, compiler};
use crate::said;

const SOURCE: &str = "
namespace ns { struct Box {}; }
extern \"C\" void launch_replay() {}
extern \"C\" int plain(int value) { return value; }
void add_tiles(float *, float *, int) {}
void add_tiles_helper(float *) {}
void twice(int) {}
void twice(ns::Box &) {}
namespace ns { void add_tiles(int) {} }
template <typename T> T shaped(T value) { return value; }
template double shaped<double>(double);
static void hidden(int) {}
void uses() { hidden(1); }
extern void elsewhere(int);
void calls() { elsewhere(2); }
";

fn library() -> Option<Vec<u8>> {
    let compiler = compiler()?;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("k.cpp"), SOURCE).unwrap();
    compile(compiler, folder.path(), &["-O0", "-shared", "-fPIC", "k.cpp", "-o", "libk.so"]);
    Some(fs::read(folder.path().join("libk.so")).unwrap())
}

#[test]
fn a_mangled_kernel_is_found_by_its_base_name() {
    let Some(elf) = library() else { return };
    assert_eq!(kernel_symbol(&elf, "add_tiles").unwrap(), "_Z9add_tilesPfS_i");
    assert_eq!(kernel_symbol(&elf, "add_tiles_helper").unwrap(), "_Z16add_tiles_helperPf");
    assert_eq!(kernel_symbol(&elf, "shaped<double>").unwrap(), "_Z6shapedIdET_S0_");
    assert_eq!(kernel_symbol(&elf, "plain").unwrap(), "plain");
}

#[test]
fn readable_names_are_those_of_cpp() {
    let Some(elf) = library() else { return };
    let symbols = exported(&elf).unwrap();
    let readable =
        |name: &str| symbols.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.demangled.clone());
    assert_eq!(readable("_Z9add_tilesPfS_i").as_deref(), Some("add_tiles(float*, float*, int)"));
    assert_eq!(readable("_Z5twiceRN2ns3BoxE").as_deref(), Some("twice(ns::Box&)"));
    assert_eq!(readable("launch_replay").as_deref(), Some("launch_replay"));
    // What is not defined here, or not exported, is not a kernel.
    assert!(
        symbols.iter().all(|symbol| !symbol.name.contains("elsewhere") && !symbol.name.contains("hidden"))
    );
}

#[test]
fn missing_and_ambiguous_symbols_are_named() {
    let Some(elf) = library() else { return };
    assert_eq!(require(&elf, &["launch_replay", "plain"]), Ok(()));
    let error = require(&elf, &["launch_replay", "replay_entry"]).unwrap_err();
    assert!(
        error.to_string().starts_with("no symbol `replay_entry`: the build lacks it; exported are _Z"),
        "{error}"
    );
    let SymbolError::Missing { wanted, found } = kernel_symbol(&elf, "add_tile").unwrap_err() else {
        panic!()
    };
    assert_eq!(wanted, "add_tile");
    assert!(found.contains("_Z9add_tilesPfS_i") && found.ends_with(" more"), "{found}");
    let error = kernel_symbol(&elf, "twice").unwrap_err();
    assert_eq!(error.to_string(), "several symbols demangle to twice(...): _Z5twiceRN2ns3BoxE, _Z5twicei");
}

#[test]
fn a_damaged_library_is_an_error() {
    let reason = |bytes: &[u8]| said(exported(bytes).unwrap_err());
    assert!(reason(b"not an object").starts_with("not a readable ELF file: "));
    let Some(elf) = library() else { return };
    // Cut or overwritten anywhere: an answer or an error, never a panic.
    for at in (0..elf.len()).step_by(elf.len() / 97) {
        let _ = kernel_symbol(&elf[..at], "add_tiles");
        let mut broken = elf.clone();
        broken[at..].iter_mut().take(16).for_each(|byte| *byte ^= 0xFF);
        let _ = kernel_symbol(&broken, "add_tiles");
    }
}
