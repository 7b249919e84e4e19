//! The C types of `include/argus/orchestration_abi.h`, field by field. A test compares sizes and offsets with what the
//! compiler makes of the header.

use std::ffi::{c_char, c_void};

use argus_abi::Tensor;

pub const ABI: u32 = 1;
pub const SYMBOL: &str = "argus_orchestration";

pub const GENERATION_AUGUST: u32 = 8;

pub const RUNTIME_TRB: u32 = 1;
pub const RUNTIME_HBG_RAW: u32 = 2;
pub const RUNTIME_HBG_TENSOR: u32 = 3;
pub const RUNTIME_ABG: u32 = 4;

pub const CALL_DONE: i32 = 0;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CreateInfo {
    pub initial_value: u64,
    pub has_initial_value: u8,
    pub reserved: [u8; 15],
    pub start_offset: u64,
    pub version: i32,
    pub ndims: u32,
    pub dtype: u8,
    pub manual_dep: u8,
    pub is_contiguous: u8,
    pub padding: u8,
    pub shapes: [u32; 5],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Predicate {
    pub tensor: *const Tensor,
    pub target: i64,
    pub op: u32,
    pub ndims: u32,
    pub indices: [u32; 5],
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TaskArgs {
    pub tensors: *const *const c_void,
    pub tensor_kinds: *const u8,
    pub scalars: *const u64,
    pub scalar_dtypes: *const u8,
    pub dependencies: *const u64,
    pub predicate: *const Predicate,
    pub error: *const c_char,
    pub marks: u64,
    pub tensor_count: u32,
    pub scalar_count: u32,
    pub dependency_count: u32,
    pub blocks: i32,
    pub sync_start: u8,
    /// Hints and slots of the vendor's tools; nothing here depends on them.
    pub early_resolve: u8,
    pub timing_slot: i8,
    pub reserved: [u8; 5],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Kernels {
    pub aic: i32,
    pub aiv0: i32,
    pub aiv1: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Outputs {
    pub task_id: u64,
    pub tensors: *const Tensor,
    pub count: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TensorInfo {
    pub dtype: u8,
    pub ndims: u8,
    pub reserved: u16,
    pub shapes: [u32; 5],
    pub raw_shapes: [u32; 5],
    pub offsets: [u32; 5],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EntryArgs {
    pub tensors: *const Tensor,
    pub scalars: *const u64,
    pub tensor_count: u32,
    pub scalar_count: u32,
}

type Host = *mut c_void;
type Submit = unsafe extern "C" fn(Host, *const TaskArgs, *mut Outputs);

#[repr(C)]
pub struct Table {
    pub size: u32,
    pub abi: u32,
    pub host: Host,
    pub submit: unsafe extern "C" fn(Host, *const Kernels, *const TaskArgs, *mut Outputs),
    pub submit_dummy: Submit,
    pub alloc_tensors: Submit,
    pub scope_begin: unsafe extern "C" fn(Host, i32, *const c_char, i32),
    pub scope_end: unsafe extern "C" fn(Host),
    pub is_fatal: unsafe extern "C" fn(Host) -> i32,
    pub report_fatal: unsafe extern "C" fn(Host, i32, *const c_char, *const c_char),
    pub log: unsafe extern "C" fn(Host, u32, *const c_char, *const c_char),
    pub get_tensor_data: unsafe extern "C" fn(Host, *const Tensor, u32, *const u32) -> u64,
    pub set_tensor_data: unsafe extern "C" fn(Host, *const Tensor, u32, *const u32, u64),
    pub cluster_count: unsafe extern "C" fn(Host) -> i32,
    pub aiv_count: unsafe extern "C" fn(Host) -> i32,
    pub dump_marked_only: unsafe extern "C" fn(Host),
    pub graph_begin: Submit,
    pub graph_end: unsafe extern "C" fn(Host),
    pub add_dependency: unsafe extern "C" fn(Host, u64, u64),
    pub device_malloc: unsafe extern "C" fn(Host, usize) -> *mut c_void,
    pub device_free: unsafe extern "C" fn(Host, *mut c_void),
    pub copy_to_device: unsafe extern "C" fn(Host, *mut c_void, *const c_void, usize) -> i32,
    pub record_tensor_pair: unsafe extern "C" fn(Host, *mut c_void, *mut c_void, usize),
    pub add_task: unsafe extern "C" fn(Host, *const u64, i32, i32, i32) -> i32,
    pub add_successor: unsafe extern "C" fn(Host, i32, i32),
    pub set_tensor_info: unsafe extern "C" fn(Host, i32, *const TensorInfo, i32) -> i32,
    pub task_count: unsafe extern "C" fn(Host) -> i32,
}

pub type CallEntry = unsafe extern "C" fn(*mut c_void, *const EntryArgs, *mut i32, *mut c_char, usize) -> i32;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ObjectFacts {
    pub size: u32,
    pub abi: u32,
    pub generation: u32,
    pub runtime: u32,
    pub bind: unsafe extern "C" fn(*const Table),
    pub call: CallEntry,
    /// Like `call`, with the number of expected arguments in place of what the function returned.
    pub configure: CallEntry,
}

pub type Describe = unsafe extern "C" fn() -> *const ObjectFacts;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
mod tests {
    use std::io::Write;
    use std::mem::offset_of;
    use std::path::Path;
    use std::process::{Command, Stdio};

    use super::*;

    /// Rust's sizes and offsets, and a C++ source that prints the header's in the same words.
    macro_rules! layouts {
        ($($rust:ident as $c:literal { $($field:ident),* })*) => {{
            let mut ours = String::new();
            let mut source = String::from("#include <stdio.h>\n#include \"argus/orchestration_abi.h\"\nint main() {\n");
            $(
                ours += &format!("{} {}\n", $c, size_of::<$rust>());
                source += &format!("printf(\"{0} %zu\\n\", sizeof({0}));\n", $c);
                $(
                    ours += &format!("{}.{} {}\n", $c, stringify!($field), offset_of!($rust, $field));
                    source += &format!("printf(\"{0}.{1} %zu\\n\", offsetof({0}, {1}));\n", $c, stringify!($field));
                )*
            )*
            (ours, source + "}\n")
        }};
    }

    #[test]
    fn every_type_has_the_layout_that_the_header_gives_it() {
        let (ours, source) = layouts! {
            Tensor as "ArgusTensor" {
                addr, size, owner_task_id, start_offset, version, ndims, dtype, manual_dep, is_contiguous,
                address_space, shapes, extent, strides, reserved
            }
            CreateInfo as "ArgusCreateInfo" {
                initial_value, has_initial_value, start_offset, version, ndims, dtype, manual_dep, is_contiguous, shapes
            }
            Predicate as "ArgusPredicate" { tensor, target, op, ndims, indices }
            TaskArgs as "ArgusTaskArgs" {
                tensors, tensor_kinds, scalars, scalar_dtypes, dependencies, predicate, error, marks, tensor_count,
                scalar_count, dependency_count, blocks, sync_start, early_resolve, timing_slot
            }
            Kernels as "ArgusKernels" { aic, aiv0, aiv1 }
            Outputs as "ArgusOutputs" { task_id, tensors, count }
            TensorInfo as "ArgusTensorInfo" { dtype, ndims, shapes, raw_shapes, offsets }
            EntryArgs as "ArgusEntryArgs" { tensors, scalars, tensor_count, scalar_count }
            Table as "ArgusOrchestrationTable" {
                size, abi, host, submit, submit_dummy, alloc_tensors, scope_begin, scope_end, is_fatal, report_fatal,
                log, get_tensor_data, set_tensor_data, cluster_count, aiv_count, dump_marked_only, graph_begin,
                graph_end, add_dependency, device_malloc, device_free, copy_to_device, record_tensor_pair, add_task,
                add_successor, set_tensor_info, task_count
            }
            ObjectFacts as "ArgusOrchestrationObject" { size, abi, generation, runtime, bind, call, configure }
        };
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("layouts");
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
        let mut compiler = Command::new("g++")
            .args(["-std=c++20", "-x", "c++", "-", "-I"])
            .arg(include)
            .arg("-o")
            .arg(&program)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        compiler.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
        assert!(compiler.wait().unwrap().success());
        let theirs = Command::new(&program).output().unwrap();
        assert_eq!(ours, String::from_utf8(theirs.stdout).unwrap());
    }
}
