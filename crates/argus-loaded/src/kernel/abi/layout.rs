//! The C header and the types beside it, compared by the compiler of each.

use std::mem::{offset_of, size_of};
use std::path::Path;
use std::process::Command;

use argus_tile::Opcode;

use super::{Core, Global, Instruction, Object, Pipe, Table, Tile};

/// Lines `name value` of everything that both sides must agree on.
macro_rules! facts {
    ($($type:ident as $c:literal { $($field:ident),* })*) => {{
        let mut c = String::new();
        let mut rust = String::new();
        $(
            c += &format!("    printf(\"{0} %zu\\n\", sizeof({0}));\n", $c);
            rust += &format!("{} {}\n", $c, size_of::<$type>());
            $(
                let field = stringify!($field);
                c += &format!("    printf(\"{0}.{field} %zu\\n\", offsetof({0}, {field}));\n", $c);
                rust += &format!("{}.{field} {}\n", $c, offset_of!($type, $field));
            )*
        )*
        (c, rust)
    }};
}

#[test]
fn sizes_offsets_and_numbers_are_those_of_the_c_header() {
    let (mut c, mut rust) = facts! {
        Tile as "ArgusTile" {
            addr, rows, cols, valid_rows, valid_cols, space, dtype, block, inner, fractal, assigned, reserved, pad,
            pad_bits
        }
        Global as "ArgusGlobal" { addr, shape, stride, dtype, layout, reserved }
        Pipe as "ArgusPipe" {
            slot_size, slot_num, local_slot_num, flag_id, direction, no_split, reserved, slots_addr
        }
        Instruction as "ArgusInstruction" {
            opcode, tile_count, global_count, scalar_count, scalar_types, reserved, line, file, file_length, reserved2,
            scalars, tiles, globals, pipe, result
        }
        Core as "ArgusCore" { sub_block_id, reserved }
        Table as "ArgusKernelTable" { size, abi, issue, clock, show_tile, show_tensor, complete_when }
        Object as "ArgusKernelObject" { size, abi, call }
    };
    for (name, value) in [
        ("ARGUS_KERNEL_ABI", super::ABI as usize),
        ("ARGUS_MAX_TILES", super::MAX_TILES),
        ("ARGUS_MAX_GLOBALS", super::MAX_GLOBALS),
        ("ARGUS_MAX_SCALARS", super::MAX_SCALARS),
        ("ARGUS_DONE", super::DONE as usize),
        ("ARGUS_HALTED", super::HALTED as usize),
        ("ARGUS_EXCEPTION", super::EXCEPTION as usize),
    ] {
        c += &format!("    printf(\"{name} %zu\\n\", (size_t){name});\n");
        rust += &format!("{name} {value}\n");
    }
    // Scalar accesses to global memory are plain C++ in an object, but keep their numbers.
    for &opcode in Opcode::ALL {
        c += &format!("    printf(\"{0} %zu\\n\", (size_t)ARGUS_OP_{0});\n", opcode.name());
        rust += &format!("{} {}\n", opcode.name(), opcode as u8);
    }

    let dir = tempfile::tempdir().unwrap();
    let (source, program) = (dir.path().join("layout.c"), dir.path().join("layout"));
    let includes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let text = format!(
        "#include <stdio.h>\n#include \"argus/kernel_abi.h\"\nint main(void) {{\n{c}    return 0;\n}}\n"
    );
    std::fs::write(&source, text).unwrap();
    let mut compiler = Command::new("g++");
    compiler
        .args(["-x", "c", "-std=c11", "-Wall", "-Werror"])
        .arg("-I")
        .arg(includes)
        .arg(&source)
        .arg("-o")
        .arg(&program);
    assert!(compiler.status().unwrap().success());
    let output = Command::new(&program).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), rust);
}
