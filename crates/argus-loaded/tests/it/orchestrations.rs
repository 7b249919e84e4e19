//! Every construct of the orchestration interfaces, from sources of our own and with kernels in Rust.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use argus_abi::{ArgDirection, CoreType, DType, FuncId, KernelArgs, RuntimeKind, Tensor};
use argus_chip::{CHIPS, Chip};
use argus_compile::{CompileError, Compiler, Generation, Object, Role, Toolchain, Unit};
use argus_loaded::{Level, LoadedOrchestration};
use argus_runtime::{Device, HostArgs, HostTensor, KernelEntry, KernelTable, Program, RunConfig, RunError};
use argus_tile::{Core, Fault, GlobalShape, KernelResult};

pub fn compile(
    source: &Path,
    generation: Generation,
    runtime: RuntimeKind,
    chip: &'static Chip,
) -> Result<Object, CompileError> {
    let toolchain = Toolchain::find(None).unwrap();
    let compiler = Compiler::with_cache(toolchain, Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    let unit = Unit {
        source: source.into(),
        role: Role::Orchestration,
        generation,
        chip,
        runtime,
        include_dirs: Vec::new(),
        defines: Vec::new(),
        root: None,
        debug: false,
    };
    compiler.compile(&[unit]).map(|objects| objects.into_iter().next().unwrap())
}

pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/orchestrations").join(name)
}

/// The first element of a tensor.
fn first(core: &mut Core, tensor: &Tensor) -> Result<i32, Fault> {
    let global = core.global(tensor, GlobalShape::nd(1, 1))?;
    core.load_scalar(&global, 0)
}

fn set_first(core: &mut Core, tensor: &Tensor, value: i32) -> KernelResult {
    let global = core.global(tensor, GlobalShape::nd(1, 1))?;
    core.store_scalar(&global, 0, value)
}

fn scalars(args: &KernelArgs<'_>) -> Result<i32, Fault> {
    let slots = args.tensor_count()..args.tensor_count() + args.scalar_count();
    let sum = slots
        .map(|slot| args.scalar(slot))
        .try_fold(0u64, |sum, bits| bits.map(|bits| sum.wrapping_add(bits)));
    Ok(sum? as i32)
}

/// `last = first + scalars`, or just the scalars if there is one tensor.
fn sum(core: &mut Core, args: &KernelArgs<'_>) -> KernelResult {
    let last = args.tensor_count() - 1;
    let from = if last == 0 { 0 } else { first(core, args.tensor(0)?)? };
    set_first(core, args.tensor(last)?, from.wrapping_add(scalars(args)?))
}

/// `first += scalars`.
fn bump(core: &mut Core, args: &KernelArgs<'_>) -> KernelResult {
    let value = first(core, args.tensor(0)?)?.wrapping_add(scalars(args)?);
    set_first(core, args.tensor(0)?, value)
}

/// `last = scalars`.
fn fill(core: &mut Core, args: &KernelArgs<'_>) -> KernelResult {
    set_first(core, args.tensor(args.tensor_count() - 1)?, scalars(args)?)
}

/// Four words at the address in slot 2 are those at the address in slot 0 plus the number in slot 1.
fn raw(core: &mut Core, args: &KernelArgs<'_>) -> KernelResult {
    let from = core.global_raw(args.scalar(0)?, DType::I32, GlobalShape::nd(1, 4))?;
    let to = core.global_raw(args.scalar(2)?, DType::I32, GlobalShape::nd(1, 4))?;
    for at in 0..4 {
        let value: i32 = core.load_scalar(&from, at)?;
        core.store_scalar(&to, at, value + args.scalar(1)? as i32)?;
    }
    Ok(())
}

/// Says with the first word that it runs, waits for the second, and leaves 7 in the first.
fn hold(core: &mut Core, args: &KernelArgs<'_>) -> KernelResult {
    let words = core.global(args.tensor(0)?, GlobalShape::nd(1, 2))?;
    core.store_scalar(&words, 0, 1i32)?;
    while core.load_scalar::<i32>(&words, 1)? == 0 {
        std::thread::yield_now();
    }
    core.store_scalar(&words, 0, 7i32)
}

fn kernels() -> KernelTable {
    type Body = fn(&mut Core, &KernelArgs<'_>) -> KernelResult;
    let entry =
        |(number, (core_type, kernel, signature)): (u32, (CoreType, Body, &[ArgDirection]))| KernelEntry {
            func_id: FuncId(number),
            name: format!("kernel {number}").into(),
            core_type,
            signature: signature.into(),
            sources: [].into(),
            kernel: Arc::new(move |core: &mut Core, args: &KernelArgs<'_>| kernel(core, args)),
        };
    let bodies: [(CoreType, Body, &[ArgDirection]); 6] = [
        (CoreType::Aiv, sum, &[]),
        (CoreType::Aiv, bump, &[]),
        (CoreType::Aic, sum, &[]),
        (CoreType::Aiv, fill, &[]),
        (CoreType::Aiv, raw, &[ArgDirection::In, ArgDirection::Out]),
        (CoreType::Aiv, hold, &[]),
    ];
    KernelTable::new((0..).zip(bodies).map(entry)).unwrap()
}

/// What a run left: its results, its messages.
struct Ran {
    result: Result<(), RunError>,
    args: HostArgs,
    said: Vec<(Level, String)>,
}

impl Ran {
    fn values(&self) -> Vec<i32> {
        self.result.as_ref().unwrap_or_else(|error| panic!("{error}"));
        let words = self.args.tensors[1].bytes.chunks_exact(4);
        words.map(|word| i32::from_le_bytes(word.try_into().unwrap())).collect()
    }

    fn refusal(&self) -> String {
        self.result.as_ref().expect_err("the run must fail").to_string()
    }
}

/// Runs an entry of a source with two tensors of `i32` and scalars.
fn run(
    (name, generation, runtime): (&str, Generation, RuntimeKind),
    chip: &'static Chip,
    entry: &str,
    tensors: [(&[u32], &[i32]); 2],
    scalars: &[u64],
) -> Ran {
    let object =
        compile(&source(name), generation, runtime, chip).unwrap_or_else(|error| panic!("{error:?}"));
    let said = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&said);
    let log =
        Arc::new(move |level, _: &str, text: &str| heard.lock().unwrap().push((level, text.to_owned())));
    let loaded = LoadedOrchestration::open(&object.path, Some(entry), None, log).unwrap();
    assert_eq!(loaded.runtime(), runtime);
    let program = Program { orchestration: loaded.into_orchestration(), kernels: kernels() };
    let tensors = tensors.into_iter().zip(["first", "results"]).map(|((shape, values), name)| HostTensor {
        name: name.into(),
        direction: ArgDirection::Inout,
        dtype: DType::I32,
        shape: shape.into(),
        bytes: values.iter().flat_map(|value| value.to_le_bytes()).collect(),
    });
    let mut args = HostArgs { tensors: tensors.collect(), scalars: scalars.into() };
    let config = RunConfig { block_dim: Some(4), ..RunConfig::default() };
    let result = Device::new(chip).run(&program, &mut args, &config).map(drop);
    let said = std::mem::take(&mut *said.lock().unwrap());
    Ran { result, args, said }
}

const JUNE: (&str, Generation, RuntimeKind) = ("june.cpp", Generation::June, RuntimeKind::Trb);

fn june(chip: &'static Chip, entry: &str, scalars: &[u64]) -> Ran {
    let matrix: Vec<i32> = (0..24).collect();
    run(JUNE, chip, entry, [(&[4, 6], &matrix), (&[16], &[0; 16])], scalars)
}

#[test]
fn every_construct_of_june_means_what_it_says() {
    for chip in CHIPS {
        let ran = june(chip, "aicpu_orchestration_entry", &[1.5f32.to_bits().into(), u64::MAX]);
        let widths = [u64::from(u32::MAX), 0xFFFE, 3, 1, u64::MAX, 0x3F00_0000, 11, 12, 0xFFFF_FFFD];
        let sum = widths.into_iter().fold(0u64, u64::wrapping_add) as i32;
        assert_eq!(ran.values(), [18, sum, 3, 13, 10, 10, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let said: Vec<_> = ran.said.iter().map(|(level, text)| (*level, &text[..])).collect();
        let no_buffer = (Level::Error, "the tensor has no buffer");
        let expected = [
            no_buffer,
            no_buffer,
            (Level::Error, "error 1"),
            (Level::Warn, "warn"),
            (Level::Debug, "debug"),
            (Level::Info, "v0 3  0.25 4"),
        ];
        assert_eq!(said[..6], expected);
        assert!(
            said[6..]
                .iter()
                .map(|(_, text)| *text)
                .eq(["v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9"])
        );
    }
}

#[test]
fn every_mistake_of_june_has_its_code_and_its_words() {
    const ASSERTED: &str = "fatal 9 (EXPLICIT_ORCH_FATAL): mistakes threw an exception: ";
    const REFUSED: &str = "fatal 5 (INVALID_ARGS): ";
    let expected = [
        (REFUSED, "tensors must be added before scalars"),
        (REFUSED, "too many tensors for one task"),
        (REFUSED, "too many scalars for one task"),
        (REFUSED, "dump marks a tensor that was not added"),
        (REFUSED, "copy_scalars_from: the source has fewer scalars"),
        (REFUSED, "add_dep: more dependencies than the type has room for"),
        (REFUSED, "alloc_tensors needs at least one tensor"),
        (REFUSED, "alloc_tensors takes create-infos and nothing else"),
        (ASSERTED, "assertion failed: args.tensor_count() == 3"),
        (ASSERTED, "assertion failed: index >= 0 && index < tensor_count_"),
        (ASSERTED, "assertion failed: static_cast<uint64_t>(offsets[i]) + shape[i] <= shapes[i]"),
        (ASSERTED, "assertion failed: index < outputs_.count"),
        (REFUSED, "an automatic scope cannot open inside a manual one"),
        (REFUSED, "every scope that is begun must be ended, and no other"),
        (REFUSED, "every scope that is begun must be ended, and no other"),
        ("fatal 9 (EXPLICIT_ORCH_FATAL): ", "an error of its own (code 4242)"),
        (ASSERTED, "an exception that is not a std::exception"),
        (REFUSED, "there is no element type 99"),
        (REFUSED, "a tensor has 1 to 5 dimensions, not 6"),
        (
            REFUSED,
            "no kernel is registered as func_id 77; registered: 0 (kernel 0), 1 (kernel 1), 2 (kernel 2), 3 (kernel 3), 4 (kernel 4), 5 (kernel 5)",
        ),
        (REFUSED, "a task needs at least one kernel"),
    ];
    for (which, (start, end)) in (0..).zip(expected) {
        let text = june(CHIPS[0], "mistakes", &[which, 0]).refusal();
        assert!(text.starts_with(start) && text.ends_with(end), "{which}: {text}");
    }
    june(CHIPS[0], "mistakes", &[u64::MAX, 0]).values();
}

#[test]
fn a_run_with_fewer_arguments_than_the_configuration_expects_is_refused() {
    let text = june(CHIPS[0], "mistakes", &[]).refusal();
    assert_eq!(text, "fatal 5 (INVALID_ARGS): the orchestration expects 4 arguments and was given 2");
}

fn august(runtime: RuntimeKind, chip: &'static Chip, entry: &str, scalar: u64) -> Ran {
    let source = ("august.cpp", Generation::August, runtime);
    run(source, chip, entry, [(&[1], &[1]), (&[8], &[0; 8])], &[scalar])
}

#[test]
fn every_construct_of_august_means_what_it_says_on_both_runtimes() {
    for runtime in [RuntimeKind::Trb, RuntimeKind::Hbg] {
        for chip in CHIPS {
            let ran = august(runtime, chip, "surface", 5);
            assert_eq!(ran.values(), [11, 10, 10, 10, 11, 11, 0, 121], "{runtime}");
            let said: Vec<_> = ran.said.iter().map(|(level, text)| (*level, &text[..])).collect();
            assert_eq!(said, [(Level::Timing, "timing"), (Level::Info, "info 2")]);
        }
        let expected = [
            "set_task_timing_slot: a slot is 0 to 15",
            "dump marks a scalar that was not added",
            "too many tensors for one task",
            "too many scalars for one task",
            "element [8] of [8]: ",
            "a tensor names task 0x000000000000004d as its creator, which does not exist",
            "assertion failed: index >= 0 && static_cast<uint32_t>(index) < tensor_count_",
        ];
        for (which, words) in (0..).zip(expected) {
            let text = august(runtime, CHIPS[0], "mistakes", which).refusal();
            assert!(text.contains(words), "{which}: {text}");
        }
    }
}

#[test]
fn graphs_are_submitted_in_every_form_of_the_call() {
    let graphs = ("graphs.cpp", Generation::August, RuntimeKind::Hbg);
    for chip in CHIPS {
        let tensors: [(&[u32], &[i32]); 2] = [(&[1], &[0]), (&[2], &[0; 2])];
        assert_eq!(run(graphs, chip, "build", tensors, &[0]).values(), [36, 0]);
        let text = run(graphs, chip, "build", tensors, &[1]).refusal();
        assert!(
            text.starts_with("fatal 5 (INVALID_ARGS): get_tensor_data asks for bytes that task"),
            "{text}"
        );
    }
}

#[test]
fn graphs_by_hand_use_every_call_of_the_legacy_interface() {
    for generation in [Generation::June, Generation::April] {
        let legacy = ("legacy.cpp", generation, RuntimeKind::Hbg);
        let build =
            |which| run(legacy, CHIPS[0], "build_graph", [(&[4], &[1, 2, 3, 4]), (&[4], &[0; 4])], &[which]);
        let ran = build(0);
        assert_eq!(ran.values(), [7, 8, 9, 10]);
        assert_eq!(ran.said, [(Level::Info, "the graph has 2 tasks".to_owned())]);
        assert_eq!(build(5).values(), [7, 8, 9, 10], "no memory is the orchestration's to handle");
        let expected = [
            "fatal 9 (EXPLICIT_ORCH_FATAL): build_graph returned -7",
            "fatal 5 (INVALID_ARGS): there is no edge 0 -> 9 in a graph of 2 tasks",
            "fatal 5 (INVALID_ARGS): record_tensor_pair names host memory that is no argument of the run",
            "fatal 5 (INVALID_ARGS): a task has at most 16 arguments, not 17",
        ];
        for (which, words) in (1..).zip(expected) {
            assert_eq!(build(which).refusal(), words);
        }
    }
}

#[test]
fn april_declares_edges_and_spells_its_prefix_out() {
    let tensors: [(&[u32], &[i32]); 2] = [(&[1], &[0]), (&[2], &[0; 2])];
    let abg = ("april_abg.cpp", Generation::April, RuntimeKind::Abg);
    let ran = run(abg, CHIPS[0], "build", tensors, &[0]);
    assert_eq!(ran.values(), [22, 100]);
    assert_eq!(ran.said[0], (Level::Info, "tensors 2".to_owned()));
    let ran = run(abg, CHIPS[0], "build", tensors, &[1]);
    assert_eq!(ran.refusal(), "fatal 9 (EXPLICIT_ORCH_FATAL): asked for: 1");
    assert_eq!(ran.said.last(), Some(&(Level::Error, "inert: 1".to_owned())));
    let trb = ("april_trb.cpp", Generation::April, RuntimeKind::Trb);
    let ran = run(trb, CHIPS[0], "build", tensors, &[0]);
    assert_eq!(ran.values(), [8, 0]);
    assert_eq!(ran.said.last(), Some(&(Level::Info, "INT32 [1] at element 0 of 8 bytes".to_owned())));
}

#[test]
fn an_orchestration_waits_for_a_kernel_that_waits_for_it() {
    for chip in CHIPS {
        let live = ("live.cpp", Generation::August, RuntimeKind::Trb);
        let ran = run(live, chip, "aicpu_orchestration_entry", [(&[2], &[0, 0]), (&[1], &[0])], &[]);
        assert_eq!(ran.values(), [42]);
    }
}
