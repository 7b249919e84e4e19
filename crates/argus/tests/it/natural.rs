//! Whole kernels of `tests/conformance`, unmodified, as scenes of their own: run with their recorded results as
//! expected outputs, captured, each task replayed bit by bit, traced, and the trace held to every rule.

#[path = "../../../argus-loaded/tests/it/conformance/input.rs"]
mod input;
#[path = "../../../argus-loaded/tests/it/conformance/suite.rs"]
#[allow(dead_code, reason = "the suite's own test reads all of it")]
mod suite;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use argus_chip::{CHIPS, Chip};
use suite::{ArgValue, Buffer, Case, Program, Suite};

use crate::tool::argus_in;

/// Whether its slots hold addresses, as those of a graph that the host builds by hand.
fn by_address(case: &Case) -> bool {
    case.programs
        .iter()
        .flat_map(|program| &program.args)
        .all(|arg| !matches!(arg.value, ArgValue::Tensor { .. }))
}

/// Why a case is not run here; others are.
fn left_out(case: &Case) -> Option<&'static str> {
    let slots = || case.programs.iter().flat_map(|program| &program.args);
    if slots().any(|arg| matches!(arg.value, ArgValue::CommContext { .. })) {
        return Some("it waits for another rank, which a replay does not have");
    }
    if slots().any(|arg| matches!(arg.value, ArgValue::Pointer { .. })) && !by_address(case) {
        return Some("one of its numbers is an address, of which a capture knows nothing");
    }
    if case.id == "nat_leftover" {
        return Some("it reads what another kernel left on the core, which a replay does not have");
    }
    let blocks: i32 = case.programs.iter().map(|program| program.block_num).max().unwrap_or(1);
    let members = case.programs.iter().filter(|program| program.block_idx == 0).count();
    if blocks as usize * members != case.programs.len() && blocks > 1 {
        return Some("the recording has some of its blocks only, and each with inputs of its own");
    }
    if blocks > 1 && case.programs.iter().any(|program| program.sub_block_id != 0) {
        return Some("the recording chose the core of each block");
    }
    if blocks > 1 && case.id.contains("atomic") {
        return Some("its blocks add in the order in which they happen to run");
    }
    None
}

/// The tasks of a case: each a list of programs that run together.
fn tasks(case: &Case) -> Vec<Vec<&Program>> {
    if case.mode == "concurrent" {
        return vec![case.programs.iter().collect()];
    }
    case.programs.iter().filter(|program| program.block_idx == 0).map(|program| vec![program]).collect()
}

/// The arguments of the orchestration: the case's buffers, then every number of every task.
fn scene(case: &Case) -> String {
    let runtime = if by_address(case) { "hbg" } else { "trb" };
    let mut text = format!("name = \"{}\"\nruntime = \"{runtime}\"\n", case.id);
    let generation = if case.headers == "june" || by_address(case) { "june" } else { "august" };
    let _ = writeln!(text, "generation = \"{generation}\"\n[orchestration]\nsource = \"orch.cpp\"");
    for (number, program) in tasks(case).into_iter().flatten().enumerate() {
        let signature: Vec<&str> = program
            .args
            .iter()
            .map(|arg| match &arg.value {
                ArgValue::Tensor { buffer, .. } | ArgValue::Pointer { buffer, .. } => {
                    if is_result(case, buffer) { "inout" } else { "in" }
                }
                _ => "scalar",
            })
            .collect();
        let defines: Vec<String> =
            program.defines.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let name = Path::new(&program.source).file_name().unwrap().to_str().unwrap();
        let _ = writeln!(
            text,
            "[[kernel]]\nfunc_id = {number}\nname = \"k{number}\"\nsource = \"{name}\"\ncore = \"{}\"\n\
             signature = {signature:?}\ndefines = {defines:?}",
            program.core
        );
    }
    for buffer in &case.buffers {
        let (name, way) = (&buffer.name, if buffer.expected.is_some() { "inout" } else { "in" });
        let _ = writeln!(
            text,
            "[[tensor]]\nname = \"{name}\"\ndirection = \"{way}\"\ndtype = \"{}\"\nshape = [{}]\n\
             input = {{ file = \"before.safetensors\", key = \"{name}\" }}",
            buffer.dtype, buffer.count
        );
        if buffer.expected.is_some() {
            let _ = writeln!(text, "expected = {{ file = \"after.safetensors\", key = \"{name}\" }}");
        }
    }
    text
}

fn is_result(case: &Case, name: &str) -> bool {
    case.buffers.iter().any(|buffer| buffer.name == *name && buffer.expected.is_some())
}

/// A graph by hand for a case whose one kernel takes addresses.
fn by_hand(case: &Case) -> String {
    let mut text = "#include \"orchestration_api.h\"\n\
                    extern \"C\" int aicpu_orchestration_entry(OrchestrationRuntime *rt, const ChipStorageTaskArgs &args) {\n"
        .to_owned();
    for (index, buffer) in case.buffers.iter().enumerate() {
        let name = &buffer.name;
        let _ = writeln!(
            text,
            "    void *host_{name} = args.tensor({index}).data_as<void>();\n    \
             void *{name} = device_malloc(rt, args.tensor({index}).nbytes());\n    \
             copy_to_device(rt, {name}, host_{name}, args.tensor({index}).nbytes());"
        );
        if buffer.expected.is_some() {
            let _ = writeln!(
                text,
                "    record_tensor_pair(rt, host_{name}, {name}, args.tensor({index}).nbytes());"
            );
        }
    }
    let [program] = &case.programs[..] else { panic!("{}: one program", case.id) };
    let (mut slots, mut infos) = (Vec::new(), Vec::new());
    for arg in &program.args {
        let ArgValue::Pointer { buffer, byte_offset: 0 } = &arg.value else {
            panic!("{}: whole buffers", case.id)
        };
        let index = case.buffers.iter().position(|other| other.name == *buffer).unwrap();
        slots.push(format!("reinterpret_cast<uint64_t>({buffer})"));
        infos.push(format!("make_tensor_info_from_tensor_arg(args.tensor({index}))"));
    }
    let count = slots.len();
    let _ = writeln!(
        text,
        "    uint64_t slots[] = {{{}}};\n    TensorInfo infos[] = {{{}}};\n    \
         add_task_with_tensor_info(rt, slots, {count}, 0, CoreType::{}, infos, {count});\n    return 0;\n}}",
        slots.join(", "),
        infos.join(", "),
        program.core.to_uppercase()
    );
    text
}

/// An orchestration that submits the tasks of a case, in the words of its generation.
fn orchestration(case: &Case) -> String {
    if by_address(case) {
        return by_hand(case);
    }
    let june = case.headers == "june";
    let (args, arg, tensor) = match june {
        true => ("ChipStorageTaskArgs", "Arg", "Tensor"),
        false => ("ChipTaskArgs", "CoreTaskArgs", "ChipTensor"),
    };
    let mut text = format!(
        "#include <stdint.h>\n#include \"pto_orchestration_api.h\"\n\
         extern \"C\" void aicpu_orchestration_entry(const {args} &args) {{\n"
    );
    let mut func_id = 0;
    for (number, programs) in tasks(case).into_iter().enumerate() {
        let first = programs[0];
        let _ = writeln!(text, "    {arg} task{number};");
        for slot in &first.args {
            match &slot.value {
                ArgValue::Tensor { buffer, shape, start_offset, .. } => {
                    let index = case.buffers.iter().position(|other| other.name == *buffer).unwrap();
                    let whole = match june {
                        true => format!("from_tensor_arg(args.tensor({index}))"),
                        false => format!("args.tensor({index}).ref()"),
                    };
                    let count: u32 = shape.iter().product();
                    let (name, dims) = (format!("t{number}_{}", slot.slot), shape.len());
                    let list = shape.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
                    let add = if is_result(case, buffer) { "add_inout" } else { "add_input" };
                    let _ = writeln!(
                        text,
                        "    uint32_t {name}_count[1] = {{{count}}}, {name}_first[1] = {{{start_offset}}}, \
                         {name}_shape[{dims}] = {{{list}}};\n    {tensor} {name}_all = {whole};\n    \
                         {tensor} {name} = {name}_all.view({name}_count, {name}_first).reshape({name}_shape, {dims});\n    \
                         task{number}.{add}({name});"
                    );
                }
                ArgValue::Int { value } => {
                    let _ = writeln!(text, "    task{number}.add_scalar((uint64_t){value}ll);");
                }
                _ => unreachable!("such cases are left out"),
            }
        }
        if first.block_num > 1 {
            let _ = writeln!(text, "    task{number}.launch_spec.set_block_num({});", first.block_num);
        }
        if programs.len() == 3 {
            let _ = writeln!(
                text,
                "    MixedKernels mixed{number};\n    mixed{number}.aic_kernel_id = {func_id};\n    \
                 mixed{number}.aiv0_kernel_id = {};\n    mixed{number}.aiv1_kernel_id = {};\n    \
                 rt_submit_task(mixed{number}, task{number});",
                func_id + 1,
                func_id + 2
            );
        } else {
            let _ = writeln!(text, "    rt_submit_{}_task({func_id}, task{number});", first.core);
        }
        func_id += programs.len();
    }
    text + "}\n"
}

/// Arrays by name, as the format of their file says: a length, a table, the bytes.
fn safetensors<'a>(arrays: impl Iterator<Item = (&'a Buffer, Vec<u8>)>) -> Vec<u8> {
    let (mut table, mut data) = (Vec::new(), Vec::new());
    for (buffer, bytes) in arrays {
        let dtype = buffer.dtype.to_uppercase();
        table.push(format!(
            "\"{}\":{{\"dtype\":\"{dtype}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
            buffer.name,
            buffer.count,
            data.len(),
            data.len() + bytes.len()
        ));
        data.extend(bytes);
    }
    let mut table = format!("{{{}}}", table.join(",")).into_bytes();
    table.resize(table.len().next_multiple_of(8), b' ');
    [&(table.len() as u64).to_le_bytes()[..], &table, &data].concat()
}

fn check(suite: &Suite, case: &Case) {
    let home = tempfile::tempdir().unwrap();
    let put = |name: &str, content: &[u8]| fs::write(home.path().join(name), content).unwrap();
    put("scene.toml", scene(case).as_bytes());
    put("orch.cpp", orchestration(case).as_bytes());
    for program in &case.programs {
        let source = suite.root.join(&program.source);
        fs::copy(&source, home.path().join(source.file_name().unwrap())).unwrap();
    }
    put("before.safetensors", &safetensors(case.buffers.iter().map(|buffer| (buffer, input::bytes(buffer)))));
    let after = case.buffers.iter().filter_map(|buffer| {
        let expected = buffer.expected.as_ref()?;
        Some((buffer, suite.expected(expected)))
    });
    put("after.safetensors", &safetensors(after));

    let chip: &Chip = CHIPS.iter().find(|chip| chip.hardware == case.arch).unwrap();
    let say = |line: &str| {
        let ended = argus_in(home.path(), line);
        assert_eq!(ended.code, 0, "{}: argus {line}: {}{}", case.id, ended.stdout, ended.stderr);
        ended.stdout
    };
    // A NaN is equal to nothing; the suite's own test compares such results by their bits.
    let nan =
        case.buffers.iter().any(|buffer| buffer.compare.as_ref().is_some_and(|compare| compare.nan_any));
    let judged = if nan { " --skip-golden" } else { "" };
    say(&format!("run . -p {}{judged} --dump-tensor -o run", chip.name));
    say("verify run");
    for task in 0..tasks(case).len() {
        let told = say(&format!("replay run --task {task}"));
        assert!(told.contains("bit-equal"), "{}: {told}", case.id);
        // Some of these kernels lack a flag between two rounds of a loop. Then a trace says so, with both lines.
        let traced = argus_in(home.path(), &format!("trace run --task {task} -o trace{task}"));
        let hazard = traced.stdout.lines().find(|line| line.starts_with("hazard: "));
        let named = hazard.is_none_or(|line| line.matches(".cpp:").count() == 2);
        let told = format!("{}: {}{}", case.id, traced.stdout, traced.stderr);
        assert!(named && traced.code == i32::from(hazard.is_some()), "{told}");
        let name = Path::new(&case.programs[0].source).file_name().unwrap().to_str().unwrap();
        assert!(traced.stdout.contains(&format!("{name}:")), "the lines are those of the kernel: {told}");
        let told = say(&format!("trace --check trace{task}"));
        assert!(told.starts_with("VALID"), "{}: {told}", case.id);
    }
}

/// The cases that are whole kernels, and of those the ones that are scenes here.
fn natural(suite: &Suite) -> Vec<&Case> {
    let all: Vec<&Case> = suite.cases.iter().filter(|case| case.id.starts_with("nat_")).collect();
    assert_eq!(all.len(), 29);
    let out: Vec<&str> =
        all.iter().filter(|case| left_out(case).is_some()).map(|case| &case.id[..]).collect();
    assert_eq!(
        out,
        [
            "nat_scale_bias_block0",
            "nat_scale_bias_block1",
            "nat_spmd_mark",
            "nat_split_k_atomic",
            "nat_leftover",
            "nat_allreduce_pair",
            "nat_async_notify"
        ]
    );
    all.into_iter().filter(|case| left_out(case).is_none()).collect()
}

#[test]
fn some_whole_kernels_are_captured_replayed_and_traced() {
    let suite = Suite::open();
    let some = [
        "nat_softmax_block_valid77",
        "nat_matmul_bias_mix",
        "nat_matmul_kloop",
        "nat_gen_layernorm_50",
        "nat_using_names",
    ];
    for case in natural(&suite).into_iter().filter(|case| some.contains(&&case.id[..])) {
        check(&suite, case);
    }
}

#[test]
fn every_whole_kernel_is_captured_replayed_and_traced() {
    if std::env::var_os("ARGUS_LONG").is_none() {
        return;
    }
    let suite = Suite::open();
    let cases = natural(&suite);
    assert_eq!(cases.len(), 22);
    cases.into_iter().for_each(|case| check(&suite, case));
}
