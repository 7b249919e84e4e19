//! Scenes in C++: what is said of kernels that only a simulator runs, and a task of one as a project for the vendor's
//! toolkit.

use std::fs;
use std::path::Path;

use crate::tool::argus_in;

/// A small project whose kernel `scale` has this line before its load, and the line's number.
fn project(line: &str) -> (tempfile::TempDir, usize) {
    let home = tempfile::tempdir().unwrap();
    let made = argus_in(home.path(), "new demo");
    assert_eq!(made.code, 0, "{}", made.stderr);
    let path = home.path().join("demo/kernels/aiv/scale.cpp");
    let source = fs::read_to_string(&path).unwrap();
    let source =
        source.replace("#include \"block.h\"", "#include <pto/comm/pto_comm_inst.hpp>\n#include \"block.h\"");
    let load = "    TLOAD(tile, x);";
    assert!(source.contains(load), "{source}");
    let source = source.replace(load, &format!("    {line}\n{load}"));
    let number = source.lines().position(|text| text.trim() == line).unwrap() + 1;
    fs::write(path, source).unwrap();
    (home, number)
}

#[test]
fn ub_beyond_the_chips_end_is_said_once_for_each_kernel() {
    // 64 x 64 floats from here on end at 0x44000; on the other chip UB ends at 0x40000.
    let (home, _) = project("TASSIGN(tile, 0x40000);");
    let ended = argus_in(home.path(), "run demo -p a2a3sim");
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    let reach = 0x40000 + 32 * 64 * 4;
    let words = format!("scale: tiles reach {reach:#x} in UB, which ends at 0x30000 on this chip");
    assert_eq!(ended.stderr.matches(&words).count(), 1, "{}", ended.stderr);
    assert!(!ended.stderr.contains("add:"), "{}", ended.stderr);
}

#[test]
fn a_signal_that_never_comes_ends_the_run_with_its_line_and_its_value() {
    let wait = "pto::comm::Signal s(reinterpret_cast<int32_t *>(out.data())); pto::comm::TWAIT(s, 12345, pto::comm::WaitCmp::GE);";
    let (home, line) = project(wait);
    let ended = argus_in(home.path(), "run demo --timeout 1");
    assert_eq!(ended.code, 1, "{}", ended.stdout);
    let place = format!("kernels/aiv/scale.cpp:{line}");
    for part in
        ["kernel 'scale'", "TWAIT (instruction", &place, "it waited for a signal >= 12345, which is 0"]
    {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
}

#[test]
fn a_task_of_a_cpp_scene_becomes_a_workspace_with_the_source_that_the_dump_carries() {
    let (home, _) = project("pipe_barrier(PIPE_ALL);");
    let ended = argus_in(home.path(), "run demo --dump-tensor -o run");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let carried = "run/tensor_dump/scene/kernels/aiv/scale.cpp";
    let line = format!("replay run --task scale:0 --workspace ws --kernel-source {carried}");
    let ended = argus_in(home.path(), &line);
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    // The kernel is the one that ran, and its input is what it read: 0.25 i + 1.
    let found = files(&home.path().join("ws"));
    let text = fs::read_to_string(home.path().join(carried)).unwrap();
    let holds =
        |needle: &[u8]| found.iter().any(|file| file.windows(needle.len()).any(|part| part == needle));
    assert!(holds(text.as_bytes()), "the source is in the workspace");
    let input: Vec<u8> = (0..64u16).flat_map(|i| (0.25 * f32::from(i) + 1.0).to_le_bytes()).collect();
    assert!(holds(&input), "the captured input is in the workspace");
}

/// What the files below a directory hold.
fn files(directory: &Path) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(fs::read(path).unwrap());
        }
    }
    found
}
