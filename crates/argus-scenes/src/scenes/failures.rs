//! Runs that end badly on purpose, one case for each way: for trying out what the tool says, and for the
//! tests that hold it to that.

use argus_abi::{ArgDirection, CoreType, DType, FatalCode, FuncId, RuntimeKind};
use argus_runtime::{
    Abg, Arg, EntryArgs, Fatal, Hbg, HostArgs, KernelTable, Orchestration, Program, RunConfig, ScopeMode,
    TensorCreateInfo, Trb,
};
use std::sync::Arc;
use std::time::Duration;

use crate::kernels::failures as kernels;
use argus_scene::arguments::tensor;
use argus_scene::compare::Tolerance;
use argus_scene::{Case, Prepared, Scene};

const NOTHING: FuncId = FuncId(0);
const SLOW: FuncId = FuncId(1);
const ENDLESS: FuncId = FuncId(2);
const ENDLESS_AND_DEAF: FuncId = FuncId(3);
const CRASHING: FuncId = FuncId(4);
const FAULTING: FuncId = FuncId(5);

/// How a case ends.
pub struct Failure {
    pub case: &'static str,
    pub code: Option<FatalCode>,
    /// What the message must say.
    pub says: &'static [&'static str],
}

/// What every case of the scene must end with.
pub const FAILURES: &[Failure] = &[
    failure("scope_deadlock", Some(FatalCode::ScopeDeadlock), &["holds 3 tasks", "window 4"]),
    failure("heap_ring_deadlock", Some(FatalCode::HeapRingDeadlock), &["heap of 4096 bytes"]),
    failure("flow_control_deadlock", Some(FatalCode::FlowControlDeadlock), &["ring 3", "3 task slots"]),
    failure("dep_pool_overflow", Some(FatalCode::DepPoolOverflow), &["4 dependency edges"]),
    failure("invalid_args", Some(FatalCode::InvalidArgs), &["tensors must be added before scalars"]),
    failure("dependency_overflow", Some(FatalCode::DependencyOverflow), &["depends on 5 others"]),
    failure("sync_start_too_large", Some(FatalCode::RequireSyncStartInvalid), &["1000 blocks"]),
    failure("tensor_wait_timeout", Some(FatalCode::TensorWaitTimeout), &["get_tensor_data waited"]),
    failure("explicit_fatal", Some(FatalCode::ExplicitOrchFatal), &["the author gave up"]),
    failure("scope_tasks_overflow", Some(FatalCode::ScopeTasksOverflow), &["at most 8 tasks"]),
    failure("tensormap_overflow", Some(FatalCode::TensormapOverflow), &["at most 4 views"]),
    failure(
        "stuck_kernel",
        Some(FatalCode::SchedulerTimeout),
        &["kernel 'endless' of task 0x0000000000000000", "aiv core", "TEXPANDS", "failures.rs"],
    ),
    failure(
        "stuck_kernel_that_hears_nothing",
        Some(FatalCode::SchedulerTimeout),
        &["kernel 'endless_and_deaf'", "before its first tile instruction", "given up"],
    ),
    failure(
        "crashing_kernel",
        None,
        &["kernel 'crashing' of task 0x", "panicked after 1 tile instruction,", "TEXPANDS", "index 7 out of"],
    ),
    failure("faulting_kernel", None, &["kernel 'faulting' of task 0x", "TLOAD", "aiv core"]),
    failure("dependency_deadlock", Some(FatalCode::SchedulerTimeout), &["2 of 2 tasks wait for each other"]),
];

const fn failure(case: &'static str, code: Option<FatalCode>, says: &'static [&'static str]) -> Failure {
    Failure { case, code, says }
}

const TRB: &[RuntimeKind] = &[RuntimeKind::Trb];
const ALL: &[RuntimeKind] = &[RuntimeKind::Trb, RuntimeKind::Abg, RuntimeKind::Hbg];

pub fn scene() -> Scene {
    Scene::new("failures", "runs that end badly on purpose, one case for each way")
        .with_case(case("scope_deadlock", TRB, |_| {
            prepare(trb(scope_deadlock), |config| small_rings(config, 4))
        }))
        .with_case(case("heap_ring_deadlock", TRB, |_| {
            prepare(trb(heap_ring_deadlock), |config| {
                config.rings.iter_mut().for_each(|ring| ring.heap = 4096)
            })
        }))
        .with_case(case("flow_control_deadlock", TRB, |_| {
            prepare(trb(flow_control_deadlock), |config| small_rings(config, 4))
        }))
        .with_case(case("dep_pool_overflow", TRB, |_| prepare(trb(dep_pool_overflow), small_dep_pool)))
        .with_case(case("invalid_args", TRB, |_| prepare(trb(invalid_args), |_| ())))
        .with_case(case("dependency_overflow", TRB, |_| prepare(trb(dependency_overflow), small_dep_pool)))
        .with_case(case("sync_start_too_large", TRB, |_| prepare(trb(sync_start_too_large), |_| ())))
        .with_case(case("tensor_wait_timeout", TRB, |_| {
            prepare(trb(tensor_wait_timeout), |config| config.tensor_timeout = Duration::from_millis(50))
        }))
        .with_case(case("explicit_fatal", TRB, |_| prepare(trb(explicit_fatal), |_| ())))
        .with_case(case("scope_tasks_overflow", TRB, |_| {
            prepare(trb(scope_tasks_overflow), |config| config.scope_tasks = 8)
        }))
        .with_case(case("tensormap_overflow", TRB, |_| {
            prepare(trb(tensormap_overflow), |config| config.tensormap_entries = 4)
        }))
        .with_case(case("stuck_kernel", ALL, |runtime| prepare(one_task(runtime, ENDLESS), impatient)))
        .with_case(case("stuck_kernel_that_hears_nothing", ALL, |runtime| {
            prepare(one_task(runtime, ENDLESS_AND_DEAF), impatient)
        }))
        .with_case(case("crashing_kernel", ALL, |runtime| prepare(one_task(runtime, CRASHING), |_| ())))
        .with_case(case("faulting_kernel", ALL, |runtime| prepare(one_task(runtime, FAULTING), |_| ())))
        .with_case(case("dependency_deadlock", &[RuntimeKind::Hbg, RuntimeKind::Abg], |runtime| {
            prepare(dependency_deadlock(runtime), |_| ())
        }))
}

fn case(name: &str, runtimes: &[RuntimeKind], prepare: fn(RuntimeKind) -> Prepared) -> Case {
    Case::new(name, runtimes, prepare).machine(3, 3)
}

fn small_rings(config: &mut RunConfig, window: u32) {
    config.rings.iter_mut().for_each(|ring| ring.window = window);
}

fn small_dep_pool(config: &mut RunConfig) {
    config.rings.iter_mut().for_each(|ring| ring.dep_pool = 4);
}

fn impatient(config: &mut RunConfig) {
    config.progress_timeout = Duration::from_millis(200);
}

fn prepare(orchestration: Orchestration, configure: fn(&mut RunConfig)) -> Prepared {
    let kernels = [
        kernels::nothing(NOTHING),
        kernels::slow(SLOW),
        kernels::endless(ENDLESS),
        kernels::endless_and_deaf(ENDLESS_AND_DEAF),
        kernels::crashing(CRASHING),
        kernels::faulting(FAULTING),
    ];
    let cells = tensor("cells", ArgDirection::Inout, DType::F32, &[16], &[0.0f32; 16]);
    Prepared {
        program: Program {
            orchestration,
            kernels: KernelTable::new(kernels).expect("six different func_ids"),
        },
        args: HostArgs { tensors: vec![cells], scalars: Vec::new() },
        tolerance: Tolerance::EXACT,
        golden: None,
        configure: Box::new(configure),
        origin: None,
    }
}

fn trb(entry: fn(&mut Trb, &EntryArgs) -> Result<(), Fatal>) -> Orchestration {
    Orchestration::TensormapAndRingbuffer(Arc::new(entry))
}

fn scope_deadlock(trb: &mut Trb, _: &EntryArgs) -> Result<(), Fatal> {
    for _ in 0..4 {
        trb.submit_aiv(NOTHING, Arg::new())?;
    }
    Ok(())
}

fn heap_ring_deadlock(trb: &mut Trb, _: &EntryArgs) -> Result<(), Fatal> {
    let buffer = TensorCreateInfo::new(&[256], DType::F32)?;
    for _ in 0..5 {
        trb.submit_aiv(NOTHING, Arg::new().create(&buffer))?;
    }
    Ok(())
}

/// Scopes at depth 3 and 4 share a ring: neither holds too many tasks, together they do.
fn flow_control_deadlock(trb: &mut Trb, _: &EntryArgs) -> Result<(), Fatal> {
    for _ in 0..3 {
        trb.scope_begin(ScopeMode::Auto)?;
    }
    for _ in 0..2 {
        trb.submit_aiv(NOTHING, Arg::new())?;
    }
    trb.scope_begin(ScopeMode::Auto)?;
    for _ in 0..2 {
        trb.submit_aiv(NOTHING, Arg::new())?;
    }
    Ok(())
}

fn dep_pool_overflow(trb: &mut Trb, _: &EntryArgs) -> Result<(), Fatal> {
    let mut before = trb.submit_aiv(NOTHING, Arg::new())?.task_id();
    for _ in 0..5 {
        before = trb.submit_aiv(NOTHING, Arg::new().after(&[before]))?.task_id();
    }
    Ok(())
}

fn invalid_args(trb: &mut Trb, args: &EntryArgs) -> Result<(), Fatal> {
    trb.submit_aiv(NOTHING, Arg::new().scalar(1).input(args.tensor(0)?)).map(|_| ())
}

fn dependency_overflow(trb: &mut Trb, _: &EntryArgs) -> Result<(), Fatal> {
    let mut tasks = Vec::new();
    for _ in 0..5 {
        tasks.push(trb.submit_aiv(NOTHING, Arg::new())?.task_id());
    }
    trb.submit_aiv(NOTHING, Arg::new().after(&tasks)).map(|_| ())
}

fn sync_start_too_large(trb: &mut Trb, _: &EntryArgs) -> Result<(), Fatal> {
    trb.submit_aiv(NOTHING, Arg::new().blocks(1000).sync_start()).map(|_| ())
}

fn tensor_wait_timeout(trb: &mut Trb, args: &EntryArgs) -> Result<(), Fatal> {
    let cells = args.tensor(0)?;
    trb.submit_aiv(SLOW, Arg::new().inout(cells))?;
    trb.get_tensor_data::<f32>(cells, &[0]).map(|_| ())
}

fn explicit_fatal(trb: &mut Trb, _: &EntryArgs) -> Result<(), Fatal> {
    let gave_up = trb.report_fatal(FatalCode::ExplicitOrchFatal, "the author gave up");
    // Whatever follows has no effect and repeats the reason.
    let later = trb.submit_aiv(NOTHING, Arg::new()).map(|_| ());
    debug_assert_eq!(later, Err(gave_up));
    later
}

fn scope_tasks_overflow(trb: &mut Trb, _: &EntryArgs) -> Result<(), Fatal> {
    for _ in 0..9 {
        trb.submit_aiv(NOTHING, Arg::new())?;
    }
    Ok(())
}

fn tensormap_overflow(trb: &mut Trb, args: &EntryArgs) -> Result<(), Fatal> {
    let cells = args.tensor(0)?;
    let arg = (0..5).try_fold(Arg::new(), |arg, at| {
        let view = cells.view(&[1], &[at]).map_err(|error| Fatal::invalid(error.to_string()))?;
        Ok::<_, Fatal>(arg.input(&view))
    })?;
    trb.submit_aiv(NOTHING, arg).map(|_| ())
}

fn one_task(runtime: RuntimeKind, func: FuncId) -> Orchestration {
    match runtime {
        RuntimeKind::Trb => Orchestration::TensormapAndRingbuffer(Arc::new(move |trb: &mut Trb, args| {
            trb.submit_aiv(func, Arg::new().inout(args.tensor(0)?)).map(|_| ())
        })),
        RuntimeKind::Abg => Orchestration::AicpuBuildGraph(Arc::new(move |abg: &mut Abg, args| {
            abg.submit_aiv(func, Arg::new().inout(args.tensor(0)?)).map(|_| ())
        })),
        RuntimeKind::Hbg => Orchestration::HostBuildGraph(Arc::new(move |hbg: &mut Hbg, _| {
            let cells = hbg.upload(0)?;
            hbg.add_task(&[cells], func, CoreType::Aiv).map(|_| ())
        })),
    }
}

/// Two tasks that wait for each other.
fn dependency_deadlock(runtime: RuntimeKind) -> Orchestration {
    if runtime == RuntimeKind::Abg {
        return Orchestration::AicpuBuildGraph(Arc::new(|abg: &mut Abg, _| {
            let a = abg.submit_aiv(NOTHING, Arg::new())?.task_id();
            let b = abg.submit_aiv(NOTHING, Arg::new())?.task_id();
            abg.add_dependency(a, b)?;
            abg.add_dependency(b, a)
        }));
    }
    Orchestration::HostBuildGraph(Arc::new(|hbg: &mut Hbg, _| {
        let a = hbg.add_task(&[], NOTHING, CoreType::Aiv)?;
        let b = hbg.add_task(&[], NOTHING, CoreType::Aiv)?;
        hbg.add_successor(a, b)?;
        hbg.add_successor(b, a)
    }))
}
