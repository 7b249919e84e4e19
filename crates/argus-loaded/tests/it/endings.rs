//! How a kernel in an object may end, and what is known of it then.

use argus_tile::{FaultKind, Overrun};

use crate::compile::compile_text;
use crate::rig::Rig;

const HEAD: &str = "#include <cstdint>\n#include <stdexcept>\n#include <pto/pto-inst.hpp>\nusing namespace pto;\nextern \"C\" __aicore__ void kernel_entry(__gm__ int64_t *args) {\n";

fn ends_with(body: &str, before: impl FnOnce(&mut Rig)) -> (Rig, argus_tile::KernelResult) {
    let dir = tempfile::tempdir().unwrap();
    let object = compile_text(dir.path(), &format!("{HEAD}{body}}}\n")).unwrap();
    let mut rig = Rig::new();
    before(&mut rig);
    let out = rig.buffer(4096);
    let result = rig.run(&object, &[out]);
    (rig, result)
}

#[test]
fn a_fault_names_instruction_file_and_line() {
    let body = "    Tile<TileType::Vec, float, 8, 8> a, b;\n    TASSIGN(a, 0);\n    TASSIGN(b, 16);\n    TADD(a, a, b);\n    *reinterpret_cast<int *>(args[0]) = 1;\n";
    let (_, result) = ends_with(body, |_| ());
    let fault = result.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Misaligned);
    let site = fault.location.unwrap();
    assert!(site.file().ends_with("kernel.cpp"), "{}", site.file());
    assert_eq!((site.line(), fault.index), (9, 3));
    assert!(fault.to_string().starts_with("TADD (instruction 3, "), "{fault}");
}

/// A tile has room for 32 bits of an address. The others are not cut off silently.
#[test]
fn an_address_beyond_every_memory_is_told_whole() {
    let body =
        "    Tile<TileType::Vec, float, 8, 8> a;\n    TASSIGN(a, 0x700000020ull);\n    TADDS(a, a, 1.0f);\n";
    let text = ends_with(body, |_| ()).1.unwrap_err().to_string();
    assert!(text.ends_with("TASSIGN: address 0x700000020 is beyond every memory of a core"), "{text}");
}

#[test]
fn nothing_of_the_kernel_runs_after_a_fault() {
    let body = "    Tile<TileType::Vec, float, 8, 8> a;\n    TADDS(a, a, 1.0f);\n    *reinterpret_cast<int *>(args[0]) = 1;\n";
    let dir = tempfile::tempdir().unwrap();
    let object = compile_text(dir.path(), &format!("{HEAD}{body}}}\n")).unwrap();
    let mut rig = Rig::new();
    let out = rig.buffer(64);
    assert_eq!(rig.run(&object, &[out]).unwrap_err().kind, FaultKind::Unassigned);
    assert_eq!(rig.words(out, 1), [0]);
}

#[test]
fn a_fault_stays_one_even_if_the_kernel_catches_everything() {
    let body = "    Tile<TileType::Vec, float, 8, 8> a;\n    try {\n        TADDS(a, a, 1.0f);\n    } catch (...) {\n    }\n";
    assert_eq!(ends_with(body, |_| ()).1.unwrap_err().kind, FaultKind::Unassigned);
}

#[test]
fn a_stopped_run_ends_the_kernel_at_its_next_instruction() {
    let body = "    for (;;) pipe_barrier(PIPE_ALL);\n";
    let (_, result) = ends_with(body, |rig| rig.stop());
    assert!(result.unwrap_err().is_stop());
}

#[test]
fn a_wait_for_a_signal_that_never_comes_ends_with_the_run() {
    let body = "    pto::comm::Signal s(reinterpret_cast<int32_t *>(args[0]));\n    pto::comm::TWAIT(s, 1, pto::comm::WaitCmp::GE);\n";
    let dir = tempfile::tempdir().unwrap();
    let object = compile_text(dir.path(), &format!("{HEAD}{body}}}\n")).unwrap();
    let mut rig = Rig::new();
    let out = rig.buffer(64);
    let stopper = rig.stopper();
    let result = std::thread::scope(|scope| {
        scope.spawn(stopper);
        rig.run(&object, &[out])
    });
    assert!(result.unwrap_err().is_stop());
}

#[test]
fn exceptions_are_told_with_their_text() {
    let (_, result) = ends_with("    throw std::runtime_error(\"no such expert\");\n", |_| ());
    let text = result.unwrap_err().to_string();
    assert!(text.ends_with("the kernel threw an exception: no such expert"), "{text}");
    let (_, result) = ends_with("    throw 5;\n", |_| ());
    let text = result.unwrap_err().to_string();
    assert!(text.ends_with("the kernel threw something that is not a std::exception"), "{text}");
}

#[test]
fn ub_beyond_the_chips_end_is_reported_and_not_refused() {
    let body = "    Tile<TileType::Vec, float, 8, 8> a;\n    TASSIGN(a, 0x3ff00);\n    TEXPANDS(a, 1.0f);\n";
    let (rig, result) = ends_with(body, |_| ());
    result.unwrap();
    assert_eq!(rig.core.ub_overrun(), Some(Overrun { used: 0x40000, size: 0x30000 }));
    let body =
        "    Tile<TileType::Vec, float, 8, 8> a;\n    TASSIGN(a, 0x7fff0 + 16);\n    TEXPANDS(a, 1.0f);\n";
    assert_eq!(ends_with(body, |_| ()).1.unwrap_err().kind, FaultKind::OutOfRange);
}

#[test]
fn kernels_without_any_header_are_bound_too() {
    let dir = tempfile::tempdir().unwrap();
    let text =
        "extern \"C\" __aicore__ void kernel_entry(long *args) { *reinterpret_cast<int *>(args[0]) = 7; }\n";
    let object = compile_text(dir.path(), text).unwrap();
    let mut rig = Rig::new();
    let out = rig.buffer(64);
    rig.run(&object, &[out]).unwrap();
    assert_eq!(rig.words(out, 1), [7]);
}

#[test]
fn logs_carry_lines_of_the_cpp_source() {
    let body = "    Tile<TileType::Vec, float, 8, 8> a;\n    TASSIGN(a, 0);\n\n    TEXPANDS(a,\n             1.0f);\n";
    let (mut rig, result) = ends_with(body, |rig| rig.core.start_log());
    result.unwrap();
    let log = rig.core.take_log().unwrap();
    let lines: Vec<u32> = log.entries.iter().map(|entry| entry.location.line()).collect();
    assert_eq!(lines, [7, 9]);
    assert!(log.entries.iter().all(|entry| entry.location.file().ends_with("kernel.cpp")));
}
