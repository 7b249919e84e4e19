//! Runs that end badly leave a finished dump: what completed is true, what was running is marked.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use argus_abi::{ArgDirection, CoreType, DType, FatalCode, KernelArgs, RuntimeKind, Stage};
use argus_chip::{A2A3SIM, A5SIM};
use argus_dump::journal::{Entry, status};
use argus_facts::with_causes;
use argus_record::RecordRequest;
use argus_runtime::{Arg, Collect, Device, Fatal, KernelEntry, MixedKernels, Orchestration, SlotInfo};
use argus_scenes::scenes::failures::FAILURES;
use argus_tile::{Core, GlobalShape, KernelResult, Tile};

use crate::dump::Dump;
use crate::model::{A, Model, bytes, i32s, number, task};
use crate::programs::{
    BUMP, OWN, abg, arguments, hbg, kernel, plus, program, read_raw, standard, trb, write, write_raw,
};
use crate::setup::{Recorded, Subject};

const CELLS: [i32; 4] = [1, 2, 3, 4];
/// What the failing kernel leaves in the first cell before it fails.
const HALF_WRITTEN: i32 = 77;

/// A flag that kernels and tests share.
#[derive(Clone, Default)]
struct Flag(Arc<AtomicBool>);

impl Flag {
    fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    fn wait(&self) {
        let start = Instant::now();
        while !self.is_set() {
            assert!(start.elapsed() < Duration::from_secs(20), "the flag was never set");
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

/// How the kernel of the second task fails.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Crash,
    Fault,
    Endless,
    Deaf,
}

fn fail(way: Way, core: &mut Core) -> KernelResult {
    match way {
        Way::Crash => panic!("the table has no row 7"),
        Way::Fault => {
            let nowhere = core.global_raw(8, DType::F32, GlobalShape::nd(8, 8))?;
            core.tload(&Tile::vec(DType::F32, 8, 8).at(0), &nowhere)
        }
        Way::Endless => loop {
            core.texpands(&Tile::vec(DType::F32, 8, 8).at(0), 0.0f32)?;
        },
        Way::Deaf => loop {
            std::thread::sleep(Duration::from_millis(100));
        },
    }
}

/// The kernels of a chain of three: the second writes its first cell and fails.
fn kernels(runtime: RuntimeKind, way: Way, go: Flag, reached: Flag) -> Vec<KernelEntry> {
    use ArgDirection::{Inout, Scalar};
    if runtime == RuntimeKind::Hbg {
        return vec![
            kernel(BUMP, "bump", &[Inout, Scalar], |core, args| {
                let values: Vec<i32> = read_raw(core, args.scalar(0)?, 4)?;
                let more = args.scalar(1)? as i32;
                write_raw(core, args.scalar(0)?, &values.iter().map(|value| value + more).collect::<Vec<_>>())
            }),
            kernel(OWN, "breaking", &[Inout], move |core, args| {
                write_raw(core, args.scalar(0)?, &[HALF_WRITTEN])?;
                reached.set();
                fail(way, core)
            }),
        ];
    }
    let breaking = move |core: &mut Core, args: &KernelArgs<'_>| {
        // The whole graph must be there before it fails.
        go.wait();
        write(core, args.tensor(0)?, &[HALF_WRITTEN])?;
        reached.set();
        fail(way, core)
    };
    let mut kernels = standard();
    kernels.push(kernel(OWN, "breaking", &[Inout], breaking));
    kernels
}

/// Bump, break, bump; each waits for the one before.
fn chain(runtime: RuntimeKind, go: Flag) -> Orchestration {
    match runtime {
        RuntimeKind::Trb => trb(move |trb, args| {
            let cells = args.tensor(0)?;
            trb.submit_aiv(BUMP, Arg::new().inout(cells).scalar(10))?;
            trb.submit_aiv(OWN, Arg::new().inout(cells))?;
            trb.submit_aiv(BUMP, Arg::new().inout(cells).scalar(100))?;
            go.set();
            Ok(())
        }),
        RuntimeKind::Abg => abg(move |abg, args| {
            let cells = args.tensor(0)?;
            let first = abg.submit_aiv(BUMP, Arg::new().inout(cells).scalar(10))?.task_id();
            let second = abg.submit_aiv(OWN, Arg::new().inout(cells).after(&[first]))?.task_id();
            abg.submit_aiv(BUMP, Arg::new().inout(cells).scalar(100).after(&[second]))?;
            go.set();
            Ok(())
        }),
        RuntimeKind::Hbg => hbg(|hbg, _| {
            let cells = hbg.upload(0)?;
            let info = || SlotInfo::tensor(DType::I32, &[4]);
            let with_scalar = [info(), SlotInfo::Scalar(DType::U64)];
            let first = hbg.add_task_with_tensor_info(&[cells, 10], BUMP, CoreType::Aiv, &with_scalar)?;
            let second = hbg.add_task_with_tensor_info(&[cells], OWN, CoreType::Aiv, &[info()])?;
            let third = hbg.add_task_with_tensor_info(&[cells, 100], BUMP, CoreType::Aiv, &with_scalar)?;
            hbg.add_successor(first, second)?;
            hbg.add_successor(second, third)
        }),
    }
}

/// The subject, and a flag that says that the second task is in its kernel.
fn breaking(runtime: RuntimeKind, way: Way) -> (Subject, Flag) {
    let (go, reached) = (Flag::default(), Flag::default());
    let kernels = kernels(runtime, way, go.clone(), reached.clone());
    let mut subject = Subject::new(program(kernels, chain(runtime, go)), arguments(&[&CELLS]));
    // A kernel that waits must not keep the orchestration from its thread.
    subject.config.host_threads = Some(3);
    (subject, reached)
}

/// What the three tasks leave: the first whole, the second up to its failure, the third nothing.
fn model(subject: &Subject) -> Model {
    let mut model = Model::default();
    let cells = model.arguments(&subject.args).remove(0);
    model.run(task(0, &[0]), &[A::Inout(cells.clone()), number(10)], plus(10));
    model.run(task(1, &[2]), &[A::Inout(cells)], |tensors| {
        let mut values = i32s(&tensors[0]);
        values[0] = HALF_WRITTEN;
        vec![bytes(&values)]
    });
    model
}

/// The dump of a failed run, after a look at everything that is the same for all of them.
fn failed(recorded: &Recorded, about: &str) -> (Dump, String) {
    let error = with_causes(recorded.run.result.as_ref().expect_err(about));
    assert!(
        recorded.run.problems.is_empty(),
        "{about}: the capture itself is whole: {:?}",
        recorded.run.problems
    );
    let dump = recorded.dump();
    for place in [&dump.manifest, &dump.run] {
        assert_eq!(place["status"], "failed", "{about}");
        assert_eq!(place["error"], error, "{about}");
    }
    let end = dump.journal.entries().find_map(|entry| match entry {
        Entry::End(end) => Some(end),
        _ => None,
    });
    let end = end.unwrap();
    let said = std::str::from_utf8(&end.error[..usize::from(end.error_len)]).unwrap();
    assert_eq!(end.status, status::FAILED, "{about}");
    assert!(!said.is_empty() && error.starts_with(said), "{about}: {said}");
    (dump, error)
}

fn assert_chain(subject: &Subject, dump: &Dump, about: &str) {
    let model = model(subject);
    let found = dump.by_key();
    let keys: Vec<_> = found.keys().copied().collect();
    assert_eq!(keys, model.expected.keys().copied().collect::<Vec<_>>(), "{about}");
    for (key, record) in found {
        let running = key.0 == 1 && key.1 == Stage::AfterCompletion;
        assert_eq!(record.partial, running, "{about}: {key:?}");
        if !running {
            model.assert_record(record, about);
        }
        model.assert_payload(record, about);
    }
    let states: Vec<_> = dump.states().into_iter().collect();
    let expected = [(0, "completed"), (1, "running"), (2, "waiting")];
    assert_eq!(states, expected.map(|(task, state)| (task, state.to_owned())), "{about}");
    let edges: Vec<_> = dump.edges().into_iter().map(|(from, to, _)| (from, to)).collect();
    for edge in [(0, 1), (1, 2)] {
        assert!(edges.contains(&edge), "{about}: {edges:?}");
    }
}

#[test]
fn a_kernel_that_crashes_or_faults_leaves_a_true_dump() {
    for runtime in RuntimeKind::ALL {
        for (way, says) in
            [(Way::Crash, "the table has no row 7"), (Way::Fault, "belong to no allocation of this device")]
        {
            for collect in [Collect::default(), Collect::AfterSync { memory_per_ring: 1 << 20 }] {
                let about = format!("{way:?} on {runtime}, {collect:?}");
                let (subject, _) = breaking(runtime, way);
                let request = RecordRequest { collect, ..RecordRequest::default() };
                let recorded = subject.record(&A5SIM, &request);
                let (dump, error) = failed(&recorded, &about);
                for word in ["kernel 'breaking' of task 0x0000000000000001", says] {
                    assert!(error.contains(word), "{about}: {error}");
                }
                assert_chain(&subject, &dump, &about);
                assert_eq!(recorded.args, subject.args, "{about}: arguments are as they were");
            }
        }
    }
}

#[test]
fn a_kernel_that_does_not_end_is_named_and_leaves_a_true_dump() {
    for runtime in RuntimeKind::ALL {
        for way in [Way::Endless, Way::Deaf] {
            let about = format!("{way:?} on {runtime}");
            let (mut subject, _) = breaking(runtime, way);
            subject.config.progress_timeout = Duration::from_millis(300);
            let mut device = Device::new(&A2A3SIM);
            let recorded = subject.record_on(&mut device, &RecordRequest::default());
            let (dump, error) = failed(&recorded, &about);
            let how = if way == Way::Deaf { "given up" } else { "TEXPANDS" };
            for word in ["kernel 'breaking' of task 0x0000000000000001", "does not end", how] {
                assert!(error.contains(word), "{about}: {error}");
            }
            assert_chain(&subject, &dump, &about);
            // A thread that never comes back keeps its device.
            let again = breaking(runtime, Way::Crash).0.record_on(&mut device, &RecordRequest::default());
            match way {
                Way::Deaf => assert_eq!((again.files(), again.run.dump), (Vec::new(), None), "{about}"),
                _ => assert!(failed(&again, &about).1.contains("row 7"), "{about}"),
            }
        }
    }
}

#[test]
fn an_interrupted_run_leaves_a_true_dump() {
    for runtime in RuntimeKind::ALL {
        let about = format!("interrupt on {runtime}");
        let (subject, reached) = breaking(runtime, Way::Endless);
        let mut device = Device::new(&A2A3SIM);
        let interrupt = device.interrupt_flag();
        let recorded = std::thread::scope(|scope| {
            scope.spawn(move || {
                reached.wait();
                interrupt.store(true, Ordering::Relaxed);
            });
            subject.record_on(&mut device, &RecordRequest::default())
        });
        let (dump, error) = failed(&recorded, &about);
        assert_eq!(error, "the run was interrupted");
        assert_chain(&subject, &dump, &about);
        // An interrupt ends one run; the device continues.
        let again = breaking(runtime, Way::Crash).0.record_on(&mut device, &RecordRequest::default());
        assert!(failed(&again, &about).1.contains("row 7"), "{about}");
    }
}

#[test]
fn an_orchestration_that_gives_up_leaves_a_true_dump() {
    for panics in [false, true] {
        let reached = Flag::default();
        let seen = reached.clone();
        let orchestration = trb(move |trb, args| {
            let cells = args.tensor(0)?;
            trb.submit_aiv(BUMP, Arg::new().inout(cells).scalar(10))?;
            trb.submit_aiv(OWN, Arg::new().inout(cells))?;
            trb.submit_aiv(BUMP, Arg::new().inout(cells).scalar(100))?;
            seen.wait();
            assert!(!panics, "the author made a mistake");
            Err(trb.report_fatal(FatalCode::ExplicitOrchFatal, "the author gave up"))
        });
        let go = Flag::default();
        go.set();
        let kernels = kernels(RuntimeKind::Trb, Way::Endless, go, reached);
        let mut subject = Subject::new(program(kernels, orchestration), arguments(&[&CELLS]));
        subject.config.host_threads = Some(3);
        let (dump, error) = failed(&subject.record(&A2A3SIM, &RecordRequest::default()), "gives up");
        assert!(
            error.contains(if panics { "the author made a mistake" } else { "the author gave up" }),
            "{error}"
        );
        assert_chain(&subject, &dump, "gives up");
    }
}

/// An instruction that every kind of core has, for ever.
fn wait_for_ever(core: &mut Core) -> KernelResult {
    loop {
        core.dsb()?;
    }
}

/// One task of many blocks; all but those of `quick` never end.
fn stuck_blocks(blocks: u32, mix: bool, quick: fn(i32) -> bool) -> Subject {
    use ArgDirection::{In, Inout};
    let body = move |core: &mut Core, args: &KernelArgs<'_>| {
        if quick(args.block_idx()) {
            return Ok(());
        }
        fail(Way::Endless, core)
    };
    let mut matrix = kernel(BUMP, "matrix", &[Inout, In], body);
    matrix.core_type = CoreType::Aic;
    matrix.kernel = Arc::new(|core: &mut Core, _: &KernelArgs<'_>| wait_for_ever(core));
    let vector = kernel(OWN, "vector", &[Inout, In], body);
    let orchestration = trb(move |trb, args| {
        let members = if mix {
            MixedKernels { aic: Some(BUMP), aiv0: Some(OWN), aiv1: Some(OWN) }
        } else {
            MixedKernels::aiv(OWN)
        };
        trb.submit(members, Arg::new().inout(args.tensor(0)?).input(args.tensor(1)?).blocks(blocks)).map(drop)
    });
    let subject = Subject::new(program(vec![matrix, vector], orchestration), arguments(&[&CELLS, &[9]]));
    let config = argus_runtime::RunConfig {
        block_dim: Some(4),
        control_threads: Some(4),
        host_threads: Some(4),
        progress_timeout: Duration::from_millis(300),
        ..subject.config.clone()
    };
    Subject { config, ..subject }
}

fn assert_one_set(subject: &Subject, funcs: &[i64], blocks: u64) {
    let (dump, error) = failed(&subject.record(&A2A3SIM, &RecordRequest::default()), "stuck blocks");
    assert!(error.contains("does not end"), "{error}");
    let keys: Vec<_> = dump.records.iter().map(|record| (record.key(), record.partial)).collect();
    let expected = [
        ((0, Stage::BeforeDispatch, 0), false),
        ((0, Stage::BeforeDispatch, 1), false),
        ((0, Stage::AfterCompletion, 0), true),
    ];
    assert_eq!(keys, expected, "one set of records, whatever the number of blocks and lanes");
    for record in &dump.records {
        assert_eq!((&record.funcs[..], record.blocks), (funcs, blocks));
    }
    assert_eq!(dump.states().into_values().collect::<Vec<_>>(), ["running"]);
}

#[test]
fn a_stuck_task_of_many_blocks_has_one_set_of_records() {
    assert_one_set(&stuck_blocks(8, false, |_| false), &[2], 8);
    // More blocks than cores: some never start.
    assert_one_set(&stuck_blocks(40, false, |block| block < 20), &[2], 40);
}

#[test]
fn a_stuck_mix_has_one_set_of_records() {
    assert_one_set(&stuck_blocks(1, true, |_| false), &[0, 2, 2], 1);
    assert_one_set(&stuck_blocks(4, true, |_| false), &[0, 2, 2], 4);
}

/// Tasks that were given to a core and wait there behind one that is stuck.
#[test]
fn tasks_behind_a_stuck_kernel_are_in_the_graph() {
    const TASKS: u64 = 24;
    let stuck = kernel(OWN, "stuck", &[ArgDirection::In], |core, _| fail(Way::Endless, core));
    let orchestration = trb(|trb, args| {
        (0..TASKS).try_for_each(|_| trb.submit_aiv(OWN, Arg::new().input(args.tensor(0)?)).map(drop))
    });
    let mut subject = Subject::new(program(vec![stuck], orchestration), arguments(&[&CELLS]));
    subject.config.progress_timeout = Duration::from_millis(300);
    let (dump, _) = failed(&subject.record(&A2A3SIM, &RecordRequest::default()), "behind");
    let states = dump.states();
    assert_eq!(states.keys().copied().collect::<Vec<_>>(), (0..TASKS).collect::<Vec<_>>());
    // An input was recorded exactly for the tasks that left the queue.
    let recorded: Vec<u64> = dump.records.iter().map(|record| record.task).collect();
    let started: Vec<u64> =
        states.into_iter().filter(|(_, state)| state == "running").map(|(task, _)| task).collect();
    assert_eq!(recorded, started);
    assert!(!started.is_empty() && started.len() < TASKS as usize);
}

/// A cohort keeps cores free for itself, so the rest of a task of many blocks waits although it has begun.
#[test]
fn a_task_whose_blocks_are_partly_done_is_in_the_graph() {
    use ArgDirection::{In, Inout};
    let started = Flag::default();
    let (seen, begun) = (started.clone(), started);
    let mut stuck = kernel(BUMP, "stuck", &[In], |core, _| wait_for_ever(core));
    stuck.core_type = CoreType::Aic;
    let slow = kernel(OWN, "slow", &[Inout], move |_, _| {
        begun.set();
        std::thread::sleep(Duration::from_millis(2));
        Ok(())
    });
    let mut cohort = kernel(argus_abi::FuncId(3), "cohort", &[In], |_, _| Ok(()));
    cohort.core_type = CoreType::Aic;
    let orchestration = trb(move |trb, args| {
        let (cells, other) = (args.tensor(0)?, args.tensor(1)?);
        trb.submit_aic(BUMP, Arg::new().input(other))?;
        trb.submit_aiv(OWN, Arg::new().inout(cells).blocks(2000))?;
        seen.wait();
        trb.submit_aic(argus_abi::FuncId(3), Arg::new().input(other).blocks(2).sync_start()).map(drop)
    });
    let kernels = vec![stuck, slow, cohort];
    let mut subject = Subject::new(program(kernels, orchestration), arguments(&[&CELLS, &[9]]));
    subject.config.block_dim = Some(2);
    subject.config.host_threads = Some(4);
    subject.config.progress_timeout = Duration::from_millis(300);
    let (dump, error) = failed(&subject.record(&A2A3SIM, &RecordRequest::default()), "cohort");
    assert!(error.contains("kernel 'stuck'"), "{error}");
    let states: Vec<_> = dump.states().into_iter().collect();
    let expected = [(0, "running"), (1, "running"), (2, "waiting")];
    assert_eq!(states, expected.map(|(task, state)| (task, state.to_owned())));
    let found = dump.by_key();
    let after = found.get(&(1, Stage::AfterCompletion, 0)).expect("the outputs of a task that has begun");
    assert!(after.partial);
    assert_eq!(after.payload, Some(bytes(&CELLS)));
}

#[test]
fn a_dump_that_cannot_be_finished_is_a_problem_that_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let doomed = directory.path().join("doomed");
    std::fs::create_dir(&doomed).unwrap();
    let path = doomed.clone();
    let orchestration = trb(move |trb, args| {
        trb.submit_aiv(BUMP, Arg::new().inout(args.tensor(0)?).scalar(1))?;
        std::fs::remove_dir_all(&path).map_err(|error| Fatal::invalid(error.to_string()))
    });
    let subject = Subject::new(program(standard(), orchestration), arguments(&[&CELLS]));
    let mut args = subject.args.clone();
    let run = subject.record_into(&mut Device::new(&A2A3SIM), &mut args, &RecordRequest::default(), &doomed);
    assert!(run.result.is_ok(), "the run itself is fine");
    assert_eq!(args.tensors[0].bytes, bytes(&CELLS.map(|value| value + 1)), "its results are there");
    assert_eq!(run.dump, None);
    let [argus_record::RecordProblem::Dump(error)] = &run.problems[..] else { panic!("{:?}", run.problems) };
    assert!(error.to_string().contains("doomed"), "{error}");
}

/// The scene of failures as it ships: whatever goes wrong, the dump is there and says the same as the run.
#[test]
fn every_way_to_fail_leaves_a_finished_dump() {
    // Whether these two fail depends on how many tasks have completed by then.
    let certain = |case: &str| !["dependency_overflow", "dep_pool_overflow"].contains(&case);
    for failure in FAILURES.iter().filter(|failure| certain(failure.case)) {
        for runtime in RuntimeKind::ALL {
            let scene = argus_scenes::scene("failures").unwrap();
            if scene.case(Some(failure.case), Some(runtime)).is_err() {
                continue;
            }
            let about = format!("{} on {runtime}", failure.case);
            let subject = Subject::scene("failures", failure.case, runtime);
            let recorded = subject.record(&A2A3SIM, &RecordRequest::default());
            let error = with_causes(recorded.run.result.as_ref().expect_err(&about));
            for word in failure.says {
                assert!(error.contains(word), "{about}: {error}");
            }
            let dump = recorded.dump();
            assert_eq!((&dump.run["status"], &dump.manifest["status"]), (&"failed".into(), &"failed".into()));
            assert_eq!(dump.run["error"], error, "{about}");
            dump.by_key();
            let states = dump.states();
            for (from, to, _) in dump.edges() {
                assert!(states.contains_key(&from) && states.contains_key(&to), "{about}: {from:x} {to:x}");
            }
        }
    }
}

/// An edge to a task that does not exist is the run's error; the graph holds tasks that exist.
#[test]
fn edges_of_a_failed_graph_join_tasks_that_exist() {
    let orchestration = abg(|abg, args| {
        let task = abg.submit_aiv(BUMP, Arg::new().inout(args.tensor(0)?).scalar(1))?.task_id();
        abg.add_dependency(argus_abi::TaskId::new(0, 99), task)?;
        Err(Fatal::invalid("not reached"))
    });
    let subject = Subject::new(program(standard(), orchestration), arguments(&[&CELLS]));
    let (dump, error) = failed(&subject.record(&A2A3SIM, &RecordRequest::default()), "never submitted");
    assert!(error.contains("never submitted"), "{error}");
    let states = dump.states();
    for (from, to, _) in dump.edges() {
        assert!(states.contains_key(&from) && states.contains_key(&to), "{from:x} -> {to:x}");
    }
}

#[test]
fn a_run_that_cannot_start_leaves_no_files() {
    let (mut subject, _) = breaking(RuntimeKind::Trb, Way::Crash);
    subject.config.block_dim = Some(1000);
    let recorded = subject.record(&A2A3SIM, &RecordRequest::default());
    assert!(recorded.run.result.as_ref().unwrap_err().to_string().contains("1000"));
    assert_eq!((recorded.files(), &recorded.run.dump), (Vec::new(), &None));
}
