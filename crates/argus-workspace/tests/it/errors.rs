//! Every way in which a workspace is refused, with its words. docs/replay-errors.md maps them.

use std::fs;
use std::path::{Path, PathBuf};

use argus_abi::{DType, Member, Role};
use argus_workspace::{
    Arg, Backend, Blocks, Buffer, Hint, KernelSpec, Request, Setting, Shape, TensorArg, WorkspaceError,
    assign_sources, render,
};
use tempfile::TempDir;

use crate::cases::{self, kernel, scalar, tensor};
use crate::said;

const ENTRY: &str = "void kernel_entry(int64_t *args)";

/// A folder with one kernel source.
fn source(path: &str, text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    (folder, path)
}

/// A request for this source; nothing says where it runs.
fn request_for(path: &Path) -> Request {
    let mut request = cases::single();
    request.task.kernels =
        vec![KernelSpec { name: "K".to_owned(), func_id: None, place: None, source: path.to_owned() }];
    request
}

fn shape(path: &str, text: &str, place: Option<Member>) -> Result<Shape, String> {
    let (_folder, path) = source(path, text);
    let mut request = request_for(&path);
    request.task.kernels[0].place = place;
    let place = path.display().to_string();
    render(&request).map(|project| project.shape).map_err(|error| said(error).replace(&place, "K"))
}

fn failure(request: &Request) -> String {
    said(render(request).unwrap_err())
}

/// The single-core request after a change.
fn changed(change: impl FnOnce(&mut Request)) -> String {
    let mut request = cases::single();
    change(&mut request);
    failure(&request)
}

#[test]
fn a_kernel_that_asks_for_its_block_is_a_mix_wherever_it_lies() {
    let contexts = [
        "{ get_block_idx(args); }",
        "{ get_sub_block_id( args ); }",
        "{ get_block_num(args); }",
        "{ use(SPMD_LOCAL_CONTEXT_INDEX); }",
        "{ use(SPMD_GLOBAL_CONTEXT_INDEX); }",
        "{ use(args[48]); }",
        "{ use(args[0x31u]); }",
    ];
    for body in contexts {
        let text = format!("{ENTRY} {body}");
        for place in [None, Some(Member::Aiv0)] {
            assert_eq!(shape("kernels/aic/k.cpp", &text, place), Ok(Shape::SpmdMix), "{body}");
        }
    }
    assert_eq!(shape("kernels/mix/k.cpp", &format!("{ENTRY} {{}}"), Some(Member::Aic)), Ok(Shape::SpmdMix));
}

#[test]
fn what_only_a_comment_or_a_text_says_does_not_count() {
    let bodies = [
        "{ /* get_block_idx(args) */ }",
        "{ } // args[48]",
        "{ log(\"args[49] SPMD_LOCAL_CONTEXT_INDEX\"); }",
        "{ get_block_idx(); other.get_block_num(argv); }",
        "{ use(kargs[48]); }",
    ];
    for body in bodies {
        assert_eq!(
            shape("kernels/aiv/k.cpp", &format!("{ENTRY} {body}"), None),
            Ok(Shape::AivOnly),
            "{body}"
        );
    }
}

#[test]
fn the_given_core_type_wins_over_the_folder() {
    let text = format!("{ENTRY} {{}}");
    assert_eq!(shape("kernels/aic/k.cpp", &text, Some(Member::Aiv0)), Ok(Shape::AivOnly));
    assert_eq!(shape("kernels/aiv/k.cpp", &text, Some(Member::Aic)), Ok(Shape::AicOnly));
    assert_eq!(shape("kernels/aic/deep/k.cpp", &text, None), Ok(Shape::AicOnly));
    assert_eq!(shape("src/k.cpp", &text, Some(Member::Aic)), Ok(Shape::AicOnly));
}

#[test]
fn a_kernel_without_core_type_is_refused() {
    let text = format!("{ENTRY} {{}}");
    for path in ["src/k.cpp", "aic/k.cpp", "kernels/k.cpp", "kernels/src/aic/k.cpp", "kernels/aic.cpp"] {
        assert_eq!(
            shape(path, &text, None).unwrap_err(),
            "cannot classify the core type of K: no core type is given, and the file is not below kernels/aic, kernels/aiv \
             or kernels/mix",
            "{path}"
        );
    }
}

#[test]
fn a_source_that_is_no_kernel_is_refused() {
    let no_entry =
        "K does not look like kernel_entry(int64_t *args): the name kernel_entry does not occur in its code";
    let no_args = "K does not look like kernel_entry(int64_t *args): no parameter is an int64_t *args";
    for text in [
        "",
        "// void kernel_entry(int64_t *args)",
        "void my_kernel_entry(int64_t *args) {}",
        "\u{fffd}\0\x01",
    ] {
        assert_eq!(shape("kernels/aic/k.cpp", text, None).unwrap_err(), no_entry, "{text}");
    }
    for text in [
        "void kernel_entry(int64_t args)",
        "void kernel_entry(int32_t *args)",
        "void kernel_entry(int64_t *a)",
    ] {
        assert_eq!(shape("kernels/aic/k.cpp", text, None).unwrap_err(), no_args, "{text}");
    }
    for text in
        ["void kernel_entry(__gm__ int64_t* args) {}", "void kernel_entry(std::int64_t *__restrict args) {}"]
    {
        assert_eq!(shape("kernels/aic/k.cpp", text, None), Ok(Shape::AicOnly), "{text}");
    }
}

#[test]
fn slots_that_are_not_provided_are_listed() {
    let error =
        shape("kernels/aic/k.cpp", &format!("{ENTRY} {{ use(args[0], args[9], args[30], args[3]); }}"), None);
    assert_eq!(error.unwrap_err(), "the arguments do not cover what K reads: args 3, 9, 30 have no value");
    let error = shape("kernels/aic/k.cpp", &format!("{ENTRY} {{ use(args[50]); }}"), None);
    assert_eq!(error.unwrap_err(), "K reads args[50], but a kernel has 50 slots");
}

#[test]
fn a_source_that_cannot_be_read_is_named() {
    let error = failure(&request_for(Path::new("no/such.cpp")));
    assert!(error.starts_with("cannot read the kernel source no/such.cpp: No such file"), "{error}");
}

#[test]
fn a_slot_beyond_the_last_is_refused() {
    assert_eq!(
        changed(|request| request.task.args.push(scalar(50, "far", 1))),
        "argument `far`: slot 50 exceeds max slots (50); slots are numbered from 0"
    );
    assert!(
        changed(|request| request.task.args.push(scalar(usize::MAX, "far", 1)))
            .contains("exceeds max slots (50)")
    );
}

#[test]
fn a_context_slot_is_refused() {
    for slot in [48, 49] {
        assert_eq!(
            changed(|request| request.task.args.push(scalar(slot, "mine", 1))),
            format!(
                "argument `mine`: slot {slot} is reserved for a context; slots 48 and 49 are filled in by the launch"
            )
        );
    }
}

#[test]
fn a_slot_given_twice_is_refused() {
    assert_eq!(
        changed(|request| request.task.args.push(scalar(1, "again", 1))),
        "slot 1 is given twice: by `b` and by `again`"
    );
}

#[test]
fn views_that_cannot_be_are_refused() {
    let view = |change: fn(&mut TensorArg)| {
        changed(|request| {
            let mut view = tensor(9, "v", Role::Input, 0, &[2, 3], &[3, 1]);
            change(&mut view);
            request.task.args.push(Arg::Tensor(view));
        })
    };
    let start = "tensor `v` in slot 9: ";
    type Change = fn(&mut TensorArg);
    let cases: [(Change, &str); 9] = [
        (|view| view.shape = vec![], "it has 0 dimensions, not 1 to 5"),
        (|view| view.shape = vec![1; 6], "it has 6 dimensions, not 1 to 5"),
        (|view| view.strides = vec![1], "it has 2 dimensions but 1 strides"),
        (|view| view.buffer = 7, "its buffer 7 does not exist: the task has 2"),
        (
            |view| view.start_offset = 15,
            "base 0, offset 15, shape [2, 3] and strides [3, 1] of INT32 reach beyond its buffer of 80 bytes",
        ),
        (
            |view| view.start_offset = u64::MAX,
            "base 0, offset 18446744073709551615, shape [2, 3] and strides [3, 1] of INT32 reach beyond its buffer of 80 bytes",
        ),
        (
            |view| view.base = 60,
            "base 60, offset 0, shape [2, 3] and strides [3, 1] of INT32 reach beyond its buffer of 80 bytes",
        ),
        (
            |view| (view.base, view.shape) = (81, vec![0, 3]),
            "base 81, offset 0, shape [0, 3] and strides [3, 1] of INT32 reach beyond its buffer of 80 bytes",
        ),
        (
            |view| (view.shape, view.strides) = (vec![u32::MAX; 2], vec![u32::MAX; 2]),
            "its extent does not fit 64 bits",
        ),
    ];
    for (change, reason) in cases {
        assert_eq!(view(change), format!("{start}{reason}"));
    }
    // The last element may be the buffer's last, and an empty view touches nothing.
    for (offset, shape) in [(14, [2, 3]), (20, [0, 3])] {
        let mut request = cases::single();
        let mut view = tensor(9, "v", Role::Input, 0, &shape, &[3, 1]);
        view.start_offset = offset;
        request.task.args.push(Arg::Tensor(view));
        render(&request).unwrap();
    }
}

#[test]
fn blocks_outside_the_task_are_refused() {
    let blocks =
        |first, count, total| changed(|request| request.task.blocks = Blocks { first, count, total });
    let tail = "at least one block must be launched, inside the task's blocks, of which there may be 65535";
    assert_eq!(blocks(0, 0, 4), format!("blocks 0 to 0+0 of 4: {tail}"));
    assert_eq!(blocks(3, 2, 4), format!("blocks 3 to 3+2 of 4: {tail}"));
    assert_eq!(
        blocks(u32::MAX, 2, u32::MAX),
        format!("blocks 4294967295 to 4294967295+2 of 4294967295: {tail}")
    );
    assert_eq!(blocks(0, 1, 65_536), format!("blocks 0 to 0+1 of 65536: {tail}"));
}

#[test]
fn kernels_without_place_or_with_the_same_are_refused() {
    assert_eq!(changed(|request| request.task.kernels.clear()), "the task has no kernel");
    let more = |place| {
        changed(|request| request.task.kernels.push(kernel("MORE", 8, place, "kernels/aic/weigh.cpp")))
    };
    assert_eq!(more(None), "kernel MORE is one of several, and nothing says on which core it runs");
    assert_eq!(more(Some(Member::Aic)), "two kernels for aic: a cluster has one aic, one aiv0 and one aiv1");
}

#[test]
fn sources_are_one_for_all_or_one_each() {
    let mut kernels = cases::mix().task.kernels;
    kernels.reverse();
    let files: Vec<PathBuf> = ["c.cpp", "v0.cpp", "v1.cpp"].map(PathBuf::from).into();
    assign_sources(&mut kernels, &files).unwrap();
    let given: Vec<_> =
        kernels.iter().map(|kernel| (kernel.place.unwrap(), kernel.source.to_str().unwrap())).collect();
    assert_eq!(given, [(Member::Aic, "c.cpp"), (Member::Aiv0, "v0.cpp"), (Member::Aiv1, "v1.cpp")]);
    assign_sources(&mut kernels, &files[..1]).unwrap();
    assert!(kernels.iter().all(|kernel| kernel.source == files[0]));
    for count in [0, 2] {
        assert_eq!(
            assign_sources(&mut kernels, &files[..count]).unwrap_err().to_string(),
            format!(
                "{count} kernel sources for 3 kernels (PRODUCE, CONSUME, CONSUME): give one for all, or one each in the \
                 order aic, aiv0, aiv1"
            )
        );
    }
}

#[test]
fn unknown_backends_name_the_known_ones() {
    assert_eq!("ptoas".parse::<Backend>().unwrap(), Backend::Ptoas);
    let error = "cuda".parse::<Backend>().unwrap_err();
    assert_eq!(error.to_string(), "unknown backend `cuda`: there are simpler and ptoas");
}

#[test]
fn options_that_msprof_or_a_script_would_refuse_are_refused_first() {
    for minutes in [0, 2881] {
        assert_eq!(
            changed(|request| request.launch.msprof_minutes = minutes),
            format!("the time limit of msprof is {minutes}, but must be 1 to 2880 minutes")
        );
    }
    assert_eq!(
        changed(|request| request.launch.launch_count = 0),
        "the number of launches is 0, but must be 1 to 5000"
    );
    assert_eq!(
        changed(|request| request.launch.device = u32::MAX),
        "the device is 4294967295, but must be a device number"
    );
    assert_eq!(
        changed(|request| request.launch.soc_version = Some("B1; rm -rf".to_owned())),
        "the simulated chip is `B1; rm -rf`, but must be a name of letters, digits, _ and -"
    );
    assert_eq!(
        changed(|request| request.launch.runtime.clear()),
        "the runtime is ``, but must be a name of letters, digits, _ and -"
    );
}

#[test]
fn absolute_includes_and_odd_names_are_refused() {
    let text = format!("#include <cstdint>\n#include \"/usr/share/x.h\"\n{ENTRY} {{}}");
    assert_eq!(
        shape("kernels/aic/k.cpp", &text, None).unwrap_err(),
        "K:2: includes `/usr/share/x.h` by an absolute path, so the workspace could not be moved; include it relatively"
    );
    let (_folder, path) = source("kernels/aic/k\"q.cpp", &format!("{ENTRY} {{}}"));
    assert_eq!(
        failure(&request_for(&path)),
        "the path k\"q.cpp cannot be written into an include line: rename what has quotes, backslashes or control \
         characters"
    );
}

#[test]
fn a_kernel_with_too_many_files_is_refused() {
    let (folder, path) = source("kernels/aic/k.cpp", &format!("#include \"h0.h\"\n{ENTRY} {{}}"));
    let above = folder.path().join("kernels/aic");
    for index in 0..1000 {
        fs::write(above.join(format!("h{index}.h")), format!("#include \"h{}.h\"\n", index + 1)).unwrap();
    }
    let error = failure(&request_for(&path));
    assert_eq!(error, format!("the kernel source {} includes more than 1000 local files", path.display()));
    // Files that include each other are no chain without end.
    fs::write(above.join("h5.h"), "#include \"h0.h\"\n").unwrap();
    render(&request_for(&path)).unwrap();
}

#[test]
fn hostile_names_stay_inside_their_comment() {
    let mut request = cases::single();
    request.task.name = "k\nint main() { return 1; }\\".to_owned();
    let project = render(&request).unwrap();
    let host = project.files.iter().find(|file| file.path == "replay_host.cpp").unwrap();
    let text = String::from_utf8_lossy(&host.bytes);
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("// ") && first.contains("k int main() { return 1; } "), "{first}");
}

#[test]
fn wrong_templates_are_named_with_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let failure = |request: fn() -> Request| {
        let mut request = request();
        request.templates = Some(folder.path().to_owned());
        render(&request).unwrap_err().to_string()
    };
    put("replay_launch.cpp.jinja", "// fine\n{{ misspelt }}\n");
    let error = failure(cases::mix);
    assert!(error.starts_with("the template replay_launch.cpp.jinja:2 is wrong: undefined value"), "{error}");
    put("replay_launch.cpp.jinja", "{% if mix %}\n");
    assert!(failure(cases::mix).starts_with("the template replay_launch.cpp.jinja:"));
    put("replay_launch.cpp.jinja", "");
    put("launch.cpp.jinja", "");
    let error = failure(cases::mix);
    let start = format!(
        "{} overrides no template; the templates are CMakeLists.txt.jinja, ",
        folder.path().join("launch.cpp.jinja").display()
    );
    assert!(error.starts_with(&start), "{error}");
    let mut request = cases::mix();
    request.templates = Some(PathBuf::from("no/templates"));
    assert!(matches!(render(&request), Err(WorkspaceError::ReadTemplate { .. })));
}

#[test]
fn kernels_that_ptoas_cannot_replay_are_refused() {
    let with = |text: &str, name: &str| {
        let (_folder, path) = source("kernels/aiv/k.cpp", text);
        let mut request = cases::ptoas();
        request.task.kernels[0].source = path.clone();
        request.task.kernels[0].name = name.to_owned();
        failure(&request).replace(&path.display().to_string(), "K")
    };
    let three = "__gm__ float *a, __gm__ float *b, __gm__ float *c";
    assert_eq!(
        with(&format!("{ENTRY} {{}}"), "k"),
        "K has no function marked __global__, which the ptoas backend launches"
    );
    let two = format!("__global__ void f({three}) {{}} __global__ void g({three}) {{}}");
    assert_eq!(with(&two, ""), "K has several functions marked __global__ (f, g)");
    assert_eq!(with(&two, "h"), "K has no function `h` marked __global__; it has f, g");
    assert_eq!(
        with("__global__ void f(__gm__ float *a) {}", "f"),
        "f takes 1 pointers, but the task has 3 tensors"
    );
    assert_eq!(
        with(&format!("__global__ void f({three}, int32_t rows, float scale) {{}}"), "f"),
        "f takes scalars (rows, scale), which the test case generator of PTOAS chooses by itself: their captured values \
         would be lost"
    );
    // The only function is meant, whatever the dump calls the kernel.
    assert_eq!(
        with("__global__ void f(__gm__ float *a) {}", "ADD"),
        "f takes 1 pointers, but the task has 3 tensors"
    );
    let mut request = cases::mix();
    request.backend = Backend::Ptoas;
    assert_eq!(failure(&request), "the ptoas backend replays one kernel, but the task is a mix of 3");
    let mut request = cases::ptoas();
    let Arg::Tensor(tensor) = &mut request.task.args[0] else { panic!() };
    (tensor.shape, tensor.strides) = (vec![1 << 31], vec![0]);
    assert_eq!(
        failure(&request),
        "tensor `a` in slot 0: its elements take 8589934592 bytes, more than 4294967296"
    );
}

#[test]
fn every_refusal_says_what_would_help() {
    let hint = |request: &Request| render(request).unwrap_err().hint();
    let changed = |change: fn(&mut Request)| {
        let mut request = cases::single();
        change(&mut request);
        hint(&request)
    };
    assert_eq!(changed(|request| request.task.kernels.clear()), Some(Hint::GiveSource));
    assert_eq!(changed(|request| request.launch.launch_count = 0), Some(Hint::Change(Setting::LaunchCount)));
    assert_eq!(changed(|request| request.task.args.clear()), Some(Hint::DescribeArguments));
    assert_eq!(changed(|request| request.task.blocks.count = 0), None);
    let of_source = |path: &str, text: &str, backend| {
        let (_folder, path) = source(path, text);
        hint(&Request { backend, ..request_for(&path) })
    };
    let simpler = Some(Hint::UseBackend(Backend::Simpler));
    assert_eq!(of_source("k.cpp", &format!("{ENTRY} {{}}"), Backend::Simpler), Some(Hint::SortSource));
    assert_eq!(of_source("kernels/aiv/k.cpp", &format!("{ENTRY} {{}}"), Backend::Ptoas), simpler);
    assert_eq!(of_source("kernels/aiv/k.cpp", "__global__ void f(int n) {}", Backend::Ptoas), simpler);
    let two = "__global__ void f(float *a) {} __global__ void g(float *a) {}";
    assert_eq!(of_source("kernels/aiv/k.cpp", two, Backend::Ptoas), Some(Hint::LeaveOneFunction));
    assert_eq!(hint(&Request { backend: Backend::Ptoas, ..cases::mix() }), simpler);
}

#[test]
fn packed_inputs_are_the_elements_in_order() {
    let packed = |dtype, shape: &[u32], strides: &[u32], start_offset: u64, bytes: &[u8]| {
        let mut request = cases::ptoas();
        let Arg::Tensor(tensor) = &mut request.task.args[0] else { panic!() };
        (tensor.dtype, tensor.shape, tensor.strides) = (dtype, shape.to_vec(), strides.to_vec());
        (tensor.base, tensor.start_offset) = (1, start_offset);
        request.task.buffers[0] = Buffer::Bytes([&[0xEE], bytes].concat());
        let project = render(&request).unwrap();
        project.files.iter().find(|file| file.path == "inputs/v1.bin").unwrap().bytes.to_vec()
    };
    let bytes: Vec<u8> = (0..24).collect();
    assert_eq!(packed(DType::U8, &[2, 3], &[10, 2], 1, &bytes), [1, 3, 5, 11, 13, 15]);
    // Columns first, and a row that repeats.
    assert_eq!(packed(DType::U16, &[2, 2], &[1, 4], 0, &bytes), [0, 1, 8, 9, 2, 3, 10, 11]);
    assert_eq!(packed(DType::U8, &[2, 2], &[0, 1], 4, &bytes), [4, 5, 4, 5]);
    // Four-bit elements, the even one in the low half of its byte.
    assert_eq!(packed(DType::Fp4E2M1, &[3], &[2], 1, &[0x21, 0x43, 0x65]), [0x42, 0x06]);
    assert!(packed(DType::U8, &[0], &[1], 0, &bytes).is_empty());
}

#[test]
fn the_page_of_errors_names_tests_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("../../docs/replay-errors.md")).unwrap();
    let named: Vec<(&str, &str)> = page.split('`').filter_map(|text| text.split_once("::")).collect();
    assert!(named.len() > 40, "{named:?}");
    for (module, test) in named {
        let text = fs::read_to_string(root.join("tests/it").join(format!("{module}.rs"))).unwrap();
        assert!(text.contains(&format!("fn {test}()")), "{module}::{test}");
    }
}
