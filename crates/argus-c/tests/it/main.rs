//! The interface as C and C++ programs see it: the header is what the crate says, the example compiles, runs and gives
//! the right numbers, and every wrong call has its status and its words.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helpers too")]
#![allow(unsafe_code, reason = "the functions are called as C would call them")]

use std::ffi::{CStr, CString, c_char};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::ptr::{null, null_mut};
use std::{env, fs};

use argus_c::*;

fn crate_directory() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn include() -> PathBuf {
    crate_directory().join("../../include")
}

#[test]
fn the_header_is_what_the_crate_says() {
    let made = cbindgen::generate(crate_directory()).unwrap();
    let mut text = Vec::new();
    made.write(&mut text);
    let text = String::from_utf8(text).unwrap();
    let path = include().join("argus.h");
    if env::var_os("ARGUS_BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == text,
        "include/argus.h is out of date: ARGUS_BLESS=1 cargo nextest run -p argus-c writes it"
    );
}

const KERNEL: &str = r#"#include <cstdint>
#include <pto/pto-inst.hpp>
#include "tensor.h"
using namespace pto;
#ifndef __gm__
#define __gm__
#endif
#ifndef __aicore__
#define __aicore__ [aicore]
#endif
extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args)
{
    __gm__ Tensor* a = reinterpret_cast<__gm__ Tensor*>(args[0]);
    __gm__ Tensor* b = reinterpret_cast<__gm__ Tensor*>(args[1]);
    __gm__ Tensor* c = reinterpret_cast<__gm__ Tensor*>(args[2]);
    __gm__ float* x = reinterpret_cast<__gm__ float*>(a->buffer.addr) + a->start_offset;
    __gm__ float* y = reinterpret_cast<__gm__ float*>(b->buffer.addr) + b->start_offset;
    __gm__ float* z = reinterpret_cast<__gm__ float*>(c->buffer.addr) + c->start_offset;
    for (int i = 0; i < 4096; ++i) z[i] = x[i] + y[i];
}
"#;

const ORCHESTRATION: &str = r#"#include <cstddef>
#include <cstdint>
#include "pto_orchestration_api.h"
extern "C" {
__attribute__((visibility("default"))) PTO2OrchestrationConfig aicpu_orchestration_config(const ChipStorageTaskArgs& orch_args)
{
    (void)orch_args;
    return PTO2OrchestrationConfig{ .expected_arg_count = 3 };
}
__attribute__((visibility("default"))) void aicpu_orchestration_entry(const ChipStorageTaskArgs& orch_args)
{
    Tensor x = from_tensor_arg(orch_args.tensor(0));
    Tensor y = from_tensor_arg(orch_args.tensor(1));
    Tensor out = from_tensor_arg(orch_args.tensor(2));
    Arg args;
    args.add_input(x);
    args.add_input(y);
    args.add_output(out);
    rt_submit_aiv_task(0, args);
}
}
"#;

/// Kernel and orchestration in a directory.
fn sources(directory: &Path) -> (PathBuf, PathBuf) {
    let (kernel, orchestration) = (directory.join("sum.cpp"), directory.join("orchestration.cpp"));
    fs::write(&kernel, KERNEL).unwrap();
    fs::write(&orchestration, ORCHESTRATION).unwrap();
    (kernel, orchestration)
}

/// The directory in which cargo put the library that the example links with.
fn library() -> PathBuf {
    let this = env::current_exe().unwrap();
    this.ancestors()
        .find(|place| place.join("libargus_c.so").exists())
        .expect("cargo builds it first")
        .to_owned()
}

fn compile(compiler: &str, source: &Path, to: &Path, flags: &[&str]) {
    let mut command = Command::new(compiler);
    command.args(flags).args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-I"]).arg(include()).arg(source);
    let library = library();
    command.arg("-o").arg(to).arg("-L").arg(&library).arg("-largus_c");
    command.arg(format!("-Wl,-rpath,{}", library.display()));
    let said = command.output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
}

fn run(program: &Path, arguments: &[&Path]) -> Output {
    Command::new(program).args(arguments).output().unwrap()
}

#[test]
fn the_example_compiles_and_gives_the_right_numbers() {
    let home = tempfile::tempdir().unwrap();
    let (kernel, orchestration) = sources(home.path());
    let program = home.path().join("captured_sum");
    compile("g++", &crate_directory().join("example/captured_sum.cpp"), &program, &["-std=c++17"]);
    let out = home.path().join("run");
    let ended = run(&program, &[&kernel, &orchestration, &out]);
    let expected = "1 task, 3 records\n\
                    sum before argument 0: 16384 bytes, last 1023.75\n\
                    sum before argument 1: 16384 bytes, last -4094\n\
                    sum after argument 2: 16384 bytes, last -3070.25\n\
                    out[4095] = -3070.25\n";
    assert_eq!(
        String::from_utf8_lossy(&ended.stdout),
        expected,
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    assert!(ended.status.success());
    // The reference's files beside the dump, as the options ask for.
    for (file, part) in
        [("deps.json", "\"edges\""), ("chip_swimlane_records.json", "\"chip_swimlane_level\"")]
    {
        let text = fs::read_to_string(out.join(file)).unwrap();
        assert!(text.contains(part), "{file}: {text}");
    }
    assert!(out.join("name_map_captured_sum_.json").is_file());
    // A second run into the same directory is refused, and the first dump stays.
    let again = run(&program, &[&kernel, &orchestration, &out]);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).starts_with("status 5: argus_device_run: "));
    // A source that does not compile: what the compiler said.
    fs::write(&kernel, "int main(").unwrap();
    let refused = run(&program, &[&kernel, &orchestration, &home.path().join("other")]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.starts_with("status 2: argus_program_load: ") && said.contains("sum.cpp"), "{said}");
}

#[test]
fn the_header_is_plain_c() {
    let home = tempfile::tempdir().unwrap();
    let source = home.path().join("version.c");
    let text =
        "#include <argus.h>\nint main(void) { return argus_api_version() == ARGUS_API_VERSION ? 0 : 1; }\n";
    fs::write(&source, text).unwrap();
    let program = home.path().join("version");
    compile("gcc", &source, &program, &["-std=c99"]);
    assert!(run(&program, &[]).status.success());
}

fn last() -> String {
    // SAFETY: the text stays until the next call of this thread.
    unsafe { CStr::from_ptr(argus_last_error()) }.to_str().unwrap().to_owned()
}

fn c(text: &str) -> CString {
    CString::new(text).unwrap()
}

/// A program for the first chip.
fn program() -> *mut Program {
    let mut program = null_mut();
    // SAFETY: texts and a place, as asked for.
    let status = unsafe { argus_program_create(c("a2a3sim").as_ptr(), c("trb").as_ptr(), &raw mut program) };
    assert_eq!(status, ARGUS_OK, "{}", last());
    program
}

#[test]
fn calls_that_make_no_sense_say_why() {
    let mut made = null_mut();
    let place = &raw mut made;
    let (a2a3, trb, bad) = (c("a2a3sim"), c("trb"), c("a9sim"));
    let create = |platform: *const c_char, runtime: *const c_char| {
        // SAFETY: texts or null, and a place.
        (unsafe { argus_program_create(platform, runtime, place) }, last())
    };
    let usage = |text: &str| (ARGUS_ERROR_USAGE, text.to_owned());
    assert_eq!(create(null(), trb.as_ptr()), usage("argus_program_create: platform is null"));
    assert_eq!(
        create(bad.as_ptr(), trb.as_ptr()),
        usage("argus_program_create: there is no platform 'a9sim'; there are a2a3sim and a5sim")
    );
    assert_eq!(
        create(a2a3.as_ptr(), bad.as_ptr()),
        usage("argus_program_create: there is no runtime 'a9sim'; there are trb, hbg and abg")
    );
    assert_eq!(
        create(c("a5").as_ptr(), trb.as_ptr()),
        usage(
            "argus_program_create: platform 'a5' is real hardware and needs its vendor's toolkit; run on its simulated \
             twin 'a5sim'"
        )
    );
    let not_text = CString::new([0xff_u8]).unwrap();
    assert_eq!(create(not_text.as_ptr(), trb.as_ptr()), usage("argus_program_create: platform is not UTF-8"));

    let program = program();
    let (name, source) = (c("k"), c("k.cpp"));
    let kernel = KernelSource {
        size: size_of::<KernelSource>(),
        func_id: 0,
        core: 7,
        name: name.as_ptr(),
        source: source.as_ptr(),
        signature: null(),
        signature_length: 0,
    };
    let add = |kernel: &KernelSource| {
        // SAFETY: the program lives, and the structure is as large as it says.
        (unsafe { argus_program_add_kernel(program, kernel) }, last())
    };
    assert_eq!(
        add(&kernel),
        usage("argus_program_add_kernel: core 7 is neither ARGUS_CORE_AIC nor ARGUS_CORE_AIV")
    );
    let newer = KernelSource { size: 4096, ..kernel };
    assert!(add(&newer).1.contains("kernel has size 4096, this library knows"), "{}", last());
    let short = KernelSource { signature_length: 2, ..kernel };
    assert_eq!(add(&short), usage("argus_program_add_kernel: signature is null, but 2 are promised"));
    let signature = [9];
    let endless = KernelSource { signature: signature.as_ptr(), signature_length: usize::MAX, ..kernel };
    assert!(add(&endless).1.contains("signature cannot have 18446744073709551615 elements"), "{}", last());
    let between = signature.as_ptr().wrapping_byte_add(1);
    let odd = KernelSource { signature: between, signature_length: 1, ..kernel };
    assert!(add(&odd).1.contains("which is not a multiple of 4"), "{}", last());
    let odd =
        KernelSource { signature: signature.as_ptr(), signature_length: 1, core: ARGUS_CORE_AIV, ..kernel };
    assert!(add(&odd).1.contains("direction 9 is not ARGUS_SCALAR"), "{}", last());

    // SAFETY: the program lives.
    assert_eq!(unsafe { argus_program_load(program) }, ARGUS_ERROR_USAGE);
    assert!(last().contains("the program has no orchestration"), "{}", last());
    let mut device = null_mut();
    // SAFETY: a text and a place.
    assert_eq!(unsafe { argus_device_create(a2a3.as_ptr(), &raw mut device) }, ARGUS_OK);
    // SAFETY: all zeros is a value of it.
    let mut options: RunOptions = unsafe { std::mem::zeroed() };
    options.size = size_of::<RunOptions>();
    // SAFETY: device and program live; there are no arguments.
    let status =
        unsafe { argus_device_run(device, program, null(), 0, null(), 0, &raw const options, null_mut()) };
    assert_eq!(status, ARGUS_ERROR_USAGE);
    assert!(last().contains("the program is not loaded"), "{}", last());
    let mut report = RunReport::default();
    let place = &raw mut report;
    // SAFETY: as above, and a report that does not say its size.
    let status =
        unsafe { argus_device_run(device, program, null(), 0, null(), 0, &raw const options, place) };
    assert_eq!(status, ARGUS_ERROR_USAGE);
    assert!(last().contains("report has size 0, this library knows"), "{}", last());
    // SAFETY: neither is used again.
    unsafe {
        argus_program_free(program);
        argus_device_free(device);
        argus_dump_free(null_mut());
    }
    let nowhere = c("/nowhere/at/all");
    let mut dump = null_mut();
    // SAFETY: a text and a place.
    assert_eq!(unsafe { argus_dump_open(nowhere.as_ptr(), &raw mut dump) }, ARGUS_ERROR_DUMP);
    assert!(dump.is_null() && last().contains("/nowhere/at/all"), "{}", last());
}

#[test]
fn files_beside_a_dump_need_a_dump() {
    let home = tempfile::tempdir().unwrap();
    let (kernel, orchestration) = sources(home.path());
    let (kernel, orchestration) = (c(kernel.to_str().unwrap()), c(orchestration.to_str().unwrap()));
    let (name, a2a3) = (c("sum"), c("a2a3sim"));
    let program = program();
    let kernel = KernelSource {
        size: size_of::<KernelSource>(),
        func_id: 0,
        core: ARGUS_CORE_AIV,
        name: name.as_ptr(),
        source: kernel.as_ptr(),
        signature: null(),
        signature_length: 0,
    };
    let source = OrchestrationSource {
        size: size_of::<OrchestrationSource>(),
        source: orchestration.as_ptr(),
        entry: null(),
        config: null(),
    };
    let mut device = null_mut();
    // SAFETY: objects live, texts end with a zero byte, structures are as large as they say.
    unsafe {
        assert_eq!(argus_program_add_kernel(program, &raw const kernel), ARGUS_OK, "{}", last());
        assert_eq!(argus_program_set_orchestration(program, &raw const source), ARGUS_OK, "{}", last());
        assert_eq!(argus_program_load(program), ARGUS_OK, "{}", last());
        assert_eq!(argus_device_create(a2a3.as_ptr(), &raw mut device), ARGUS_OK);
    }
    // SAFETY: all zeros is a value of it.
    let mut options: RunOptions = unsafe { std::mem::zeroed() };
    (options.size, options.enable_dep_gen) = (size_of::<RunOptions>(), 1);
    // SAFETY: device and program live; there are no arguments.
    let status =
        unsafe { argus_device_run(device, program, null(), 0, null(), 0, &raw const options, null_mut()) };
    assert_eq!(status, ARGUS_ERROR_USAGE);
    assert!(last().contains("need a capture: set enable_dump_tensor"), "{}", last());
    // SAFETY: neither is used again.
    unsafe {
        argus_program_free(program);
        argus_device_free(device);
    }
}
