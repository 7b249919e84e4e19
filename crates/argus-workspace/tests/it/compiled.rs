//! Generated C++, compiled by the host's compiler and run.
//!
//! Device memory is host memory, and the launcher is replaced by one that first writes down every byte a kernel
//! would see and then runs the kernel for each core. Expected bytes are written out here by hand.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use argus_abi::args::KernelAbi;
use argus_abi::{DType, Member, Role};
use argus_chip::A2A3SIM;
use argus_workspace::{Arg, Blocks, Buffer, KernelSpec, Request, Shape, TaskSpec, TensorArg, generate};
use tempfile::TempDir;

use crate::cases::{self, file, i32_bytes, kernel, request, scalar, tensor};

/// A workspace whose host program is built.
struct Built {
    _folder: TempDir,
    workspace: PathBuf,
}

/// What `launch.cpp` must know of the workspace: rows of each kind, slots with descriptors.
struct Seen {
    mix: bool,
    aic_rows: usize,
    aiv_rows: usize,
    tensors: &'static [usize],
}

/// The compiler, or `None` with a message where there is none.
pub fn compiler() -> Option<&'static str> {
    let found = ["g++", "c++", "clang++"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok());
    if found.is_none() {
        eprintln!("skipped: no C++ compiler (g++, c++, clang++) on the PATH");
    }
    found
}

pub fn compile(compiler: &str, folder: &Path, arguments: &[&str]) {
    let output = Command::new(compiler).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
}

fn build(request: &Request, seen: &Seen) -> Option<Built> {
    let compiler = compiler()?;
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join("made");
    let project = generate(request, &workspace, false).unwrap();
    assert_eq!(project.shape == Shape::SpmdMix, seen.mix);
    // The project may be moved before it is built.
    let moved = folder.path().join("moved");
    fs::rename(workspace, &moved).unwrap();

    let stub = file("stub");
    let stub = stub.to_str().unwrap();
    let include = format!("-I{stub}");
    let device = format!("{stub}/device.h");
    let warnings = ["-std=c++17", "-Wall", "-Wextra", "-Werror"];
    for (side, core) in [("cube", "-D__DAV_CUBE__"), ("vec", "-D__DAV_VEC__")] {
        let entry = format!("-Dreplay_entry=replay_entry_{side}");
        let object = format!("{side}.o");
        let device_pass = [
            "-include",
            &device,
            core,
            &entry,
            &include,
            "-I.",
            "-Wno-attributes",
            "-c",
            "replay_kernel.cpp",
            "-o",
            &object,
        ];
        compile(compiler, &moved, &[&warnings[..], &device_pass].concat());
    }
    let launch = format!("{stub}/launch.cpp");
    let slots: String = seen.tensors.iter().map(|slot| format!("{slot},")).collect();
    let defines = [
        format!("-DSEEN_TENSORS={slots}"),
        format!("-DAIC_ROWS={}", seen.aic_rows),
        format!("-DAIV_ROWS={}", seen.aiv_rows),
    ];
    let mut arguments =
        [&warnings[..], &[&include, "replay_host.cpp", &launch, "cube.o", "vec.o", "-o", "host"]].concat();
    arguments.extend(defines.iter().map(String::as_str));
    if seen.mix {
        arguments.push("-DMIX");
    }
    compile(compiler, &moved, &arguments);
    Some(Built { _folder: folder, workspace: moved })
}

impl Built {
    fn run(&self) -> Vec<u8> {
        let output = Command::new("./host").current_dir(&self.workspace).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::read(self.workspace.join("seen.bin")).unwrap()
    }

    fn output(&self, buffer: usize) -> Vec<u8> {
        fs::read(self.workspace.join(format!("output/buffer_{buffer:02}.bin"))).unwrap()
    }
}

/// Cuts the front off.
fn take<'a>(bytes: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (front, back) = bytes.split_at(length);
    *bytes = back;
    front
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
}

/// A descriptor as the layout says it, by offset.
struct Expected {
    size: u64,
    start_offset: u64,
    dtype: u8,
    contiguous: u8,
    shape: [u32; 5],
    extent: u64,
    strides: [u32; 5],
    ndims: u32,
}

impl Expected {
    fn bytes(&self, addr: u64) -> Vec<u8> {
        let mut bytes = vec![0u8; 128];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &addr.to_le_bytes());
        put(8, &self.size.to_le_bytes());
        put(16, &[0xFF; 8]);
        put(24, &self.start_offset.to_le_bytes());
        put(36, &self.ndims.to_le_bytes());
        put(40, &[self.dtype, 0, self.contiguous, 0]);
        for (index, (dim, stride)) in self.shape.iter().zip(self.strides).enumerate() {
            put(44 + 4 * index, &dim.to_le_bytes());
            put(72 + 4 * index, &stride.to_le_bytes());
        }
        put(64, &self.extent.to_le_bytes());
        bytes
    }
}

/// Checks a descriptor and returns the address in it and the bytes of its buffer.
fn descriptor<'a>(seen: &mut &'a [u8], expected: &Expected) -> (u64, &'a [u8]) {
    let bytes = take(seen, 128);
    let addr = words(&bytes[..8])[0];
    assert_eq!(bytes, expected.bytes(addr));
    (addr, take(seen, expected.size as usize))
}

#[test]
fn a_kernel_sees_the_given_slots_descriptors_and_payload_byte_for_byte() {
    let given = cases::single();
    let Some(built) = build(&given, &Seen { mix: false, aic_rows: 1, aiv_rows: 0, tensors: &[0, 1, 2] })
    else {
        return;
    };
    let seen = built.run();
    let mut seen = seen.as_slice();

    let slots = words(take(&mut seen, 400));
    let local = take(&mut seen, 48);
    let global = take(&mut seen, 4);
    assert_eq!(slots[4], 0xffff_ffff_ffff_fffd);
    assert_eq!(slots[5], 0x8000_0000_0000_00ff);
    assert!([0, 1, 2, 48, 49].iter().all(|slot| slots[*slot] != 0));
    let unused: Vec<u64> = [&slots[3..4], &slots[6..48]].concat();
    assert_eq!(unused, [0; 43]);
    assert_eq!([slots[1] - slots[0], slots[2] - slots[1]], [128, 128]);
    assert_eq!(local, [&0u32.to_le_bytes()[..], &1u32.to_le_bytes(), &[0; 40]].concat());
    assert_eq!(global, [0; 4]);

    let first = i32_bytes((0..20).map(|value| 1000 - value));
    let second = i32_bytes((0..16).map(|value| value * value));
    let view = |size, start_offset, contiguous, extent, strides| Expected {
        size,
        start_offset,
        dtype: 2,
        contiguous,
        shape: [2, 4, 0, 0, 0],
        extent,
        strides,
        ndims: 2,
    };
    let (a, bytes) = descriptor(&mut seen, &view(80, 3, 0, 17, [10, 2, 0, 0, 0]));
    assert_eq!(bytes, first);
    let (b, bytes) = descriptor(&mut seen, &view(64, 0, 1, 8, [4, 1, 0, 0, 0]));
    assert_eq!(bytes, second);
    // Its descriptor begins 20 bytes into the buffer, three elements before the view.
    let (out, bytes) = descriptor(&mut seen, &view(44, 3, 1, 8, [4, 1, 0, 0, 0]));
    assert_eq!(bytes, &second[20..]);
    assert!(seen.is_empty());
    // Two views of one buffer share its memory.
    assert_eq!(b + 20, out);
    assert_ne!(a, b);

    // a[r][c] is element 3 + 10r + 2c of 1000, 999, ...; weight -3; the marker's top bit adds one.
    let sums = [0, 1].into_iter().flat_map(|r| {
        (0..4).map(move |c| {
            let b = 4 * r + c;
            -3 * (1000 - (3 + 10 * r + 2 * c)) + b * b + 1
        })
    });
    assert_eq!(built.output(1), [&second[..32], &i32_bytes(sums)].concat());
    assert!(!built.workspace.join("output/buffer_00.bin").exists());
}

#[test]
fn every_core_of_a_mix_has_its_own_row_and_contexts() {
    let given = cases::mix();
    let Some(built) = build(&given, &Seen { mix: true, aic_rows: 2, aiv_rows: 4, tensors: &[0] }) else {
        return;
    };
    let seen = built.run();
    let mut seen = seen.as_slice();

    let contexts = [(1, 0), (2, 0), (1, 0), (1, 1), (2, 0), (2, 1)];
    let mut places = Vec::new();
    for (block_idx, sub_block_id) in contexts {
        let slots = words(take(&mut seen, 400));
        assert_eq!(slots[1], 42);
        assert_eq!(slots[2..48], [0; 46]);
        places.extend([slots[48], slots[49]]);
        let local = take(&mut seen, 48);
        assert_eq!(local, [&i32::to_le_bytes(block_idx)[..], &4i32.to_le_bytes(), &[0; 40]].concat());
        assert_eq!(take(&mut seen, 4), i32::to_le_bytes(sub_block_id));
    }
    places.sort_unstable();
    assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= 64), "contexts share a cache line");
    let expected = Expected {
        size: 144,
        start_offset: 0,
        dtype: 2,
        contiguous: 1,
        shape: [12, 3, 0, 0, 0],
        extent: 36,
        strides: [3, 1, 0, 0, 0],
        ndims: 2,
    };
    assert_eq!(descriptor(&mut seen, &expected).1, [0xFF; 144]);
    assert!(seen.is_empty());

    // Three lines per block, those of blocks 1 and 2 written by one core each.
    let written = [[101, 4, 42], [201, 4, 0], [201, 4, 1], [102, 4, 42], [202, 4, 0], [202, 4, 1]];
    let lines = [[-1; 9], [-1; 9]];
    let all = [&lines[0][..], written.as_flattened(), &lines[1][..]].concat();
    assert_eq!(built.output(0), i32_bytes(all));
}

#[test]
fn three_kernels_of_a_cluster_run_each_on_its_core() {
    let folder = tempfile::tempdir().unwrap();
    let source = |name: &str, number: i32| {
        let text = format!(
            "#include <cstdint>\n#include \"tensor.h\"\nextern \"C\" __aicore__ void kernel_entry(__gm__ int64_t *args)\n\
             {{\n    element(reinterpret_cast<Tensor *>(args[0]), {name}, 0) += {number};\n}}\n"
        );
        let path = folder.path().join(format!("part{name}.cpp"));
        fs::write(&path, text).unwrap();
        path
    };
    let places = [(Member::Aic, "0", 10), (Member::Aiv0, "1", 20), (Member::Aiv1, "2", 30)];
    let kernels = places.map(|(place, name, number)| KernelSpec {
        name: name.to_owned(),
        func_id: None,
        place: Some(place),
        source: source(name, number),
    });
    let given = task(kernels.into(), Blocks::all(1), Buffer::Fill { byte: 0, size: 12 }, &[3]);
    let Some(built) = build(&given, &Seen { mix: true, aic_rows: 1, aiv_rows: 2, tensors: &[] }) else {
        return;
    };
    built.run();
    assert_eq!(built.output(0), i32_bytes([10, 20, 30]));
}

#[test]
fn a_task_of_vector_cores_alone_puts_one_block_on_each() {
    let kernels = vec![kernel("ALONE", 0, Some(Member::Aiv0), "kernels/mix/alone.cpp")];
    let given = task(kernels, Blocks::all(3), Buffer::Fill { byte: 0, size: 16 }, &[4]);
    // Three blocks need two clusters; the fourth vector core has no row.
    let Some(built) = build(&given, &Seen { mix: true, aic_rows: 0, aiv_rows: 3, tensors: &[] }) else {
        return;
    };
    built.run();
    assert_eq!(built.output(0), i32_bytes([300, 301, 302, 0]));
}

#[test]
fn one_source_without_a_place_runs_on_every_core_of_the_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("every.cpp");
    let text = "#include <cstdint>\n#include \"tensor.h\"\n#include \"intrinsic.h\"\n\
                extern \"C\" void kernel_entry(int64_t *args)\n{\n\
                #if defined(__DAV_CUBE__)\n    const uint32_t line = 0;\n\
                #else\n    const uint32_t line = 1 + get_sub_block_id(args);\n#endif\n\
                    element(reinterpret_cast<Tensor *>(args[0]), line, 0) += 7;\n}\n";
    fs::write(&path, text).unwrap();
    let kernels = vec![KernelSpec { name: "EVERY".to_owned(), func_id: None, place: None, source: path }];
    let given = task(kernels, Blocks::all(1), Buffer::Fill { byte: 0, size: 12 }, &[3]);
    let Some(built) = build(&given, &Seen { mix: true, aic_rows: 1, aiv_rows: 2, tensors: &[] }) else {
        return;
    };
    built.run();
    assert_eq!(built.output(0), i32_bytes([7, 7, 7]));
}

#[test]
fn a_raw_kernel_gets_addresses_and_no_contexts() {
    let view = |slot, role, buffer, base| TensorArg {
        dtype: DType::U16,
        base,
        ..tensor(slot, "raw", role, buffer, &[3], &[1])
    };
    let u16_bytes = |values: &[u16]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let mut given = task(
        vec![kernel("RAW", 0, Some(Member::Aiv0), "kernels/aiv/raw.cpp")],
        Blocks::all(1),
        Buffer::Bytes(u16_bytes(&[1, 2, 3, 4, 5])),
        &[3],
    );
    given.task.abi = KernelAbi::Raw;
    given.task.buffers.push(Buffer::Bytes(u16_bytes(&[10, 20, 30])));
    given.task.args = vec![
        Arg::Tensor(view(0, Role::Input, 0, 4)),
        scalar(1, "count", 3),
        Arg::Tensor(view(2, Role::Inout, 1, 0)),
    ];
    let Some(built) = build(&given, &Seen { mix: false, aic_rows: 0, aiv_rows: 1, tensors: &[] }) else {
        return;
    };
    let slots = words(&built.run());
    assert_eq!(slots.len(), 50);
    assert_eq!(slots[1], 3);
    assert_eq!(slots[3..], [0; 47]);
    // The first view begins four bytes into memory that is aligned to 512 bytes.
    assert_eq!([slots[0] % 512, slots[2] % 512], [4, 0]);
    // Added once: the second vector core of the launched cluster does nothing.
    assert_eq!(built.output(1), u16_bytes(&[13, 24, 35]));
}

#[test]
fn the_host_program_says_which_payload_is_missing_or_cut() {
    let Some(built) = build(&cases::single(), &Seen { mix: false, aic_rows: 1, aiv_rows: 0, tensors: &[] })
    else {
        return;
    };
    let complaint = || {
        let output = Command::new("./host").current_dir(&built.workspace).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    fs::write(built.workspace.join("payload/buffer_01.bin"), [0; 63]).unwrap();
    assert_eq!(complaint(), "replay_host: payload/buffer_01.bin does not have 64 bytes\n");
    fs::remove_file(built.workspace.join("payload/buffer_01.bin")).unwrap();
    assert_eq!(
        complaint(),
        "replay_host: cannot open payload/buffer_01.bin; run the program in the workspace\n"
    );
}

/// A task with one output in slot 0.
fn task(kernels: Vec<KernelSpec>, blocks: Blocks, buffer: Buffer, shape: &[u32]) -> Request {
    let task = TaskSpec {
        name: "task".to_owned(),
        origin: Default::default(),
        kernels,
        abi: KernelAbi::Tensors,
        blocks,
        buffers: vec![buffer],
        args: vec![Arg::Tensor(tensor(0, "out", Role::Inout, 0, shape, &[1]))],
    };
    request(task, &A2A3SIM)
}
