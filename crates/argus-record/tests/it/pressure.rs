//! Streaming loses nothing, however small its rings; capture after the run says exactly what did not fit.

use argus_abi::{ArgDirection, DType, Kind, RuntimeKind, Stage};
use argus_dump::journal::Entry;
use argus_facts::with_causes;
use argus_record::{Hint, RecordProblem, RecordRequest};
use argus_runtime::{Arg, Collect, Fatal, HostArgs, HostTensor, ScopeMode};

use crate::model::{A, Model, bytes, number, task};
use crate::programs::{BUMP, OWN, Weave, arguments, kernel, plus, program, standard, trb};
use crate::setup::{CHIPS, Subject, long};

/// Rings that are full all the time.
const TIGHT: Collect = Collect::Streaming { entries: 64, payload_bytes: 64 << 10 };

fn tight() -> RecordRequest {
    RecordRequest { collect: TIGHT, ..RecordRequest::default() }
}

/// Words of which no two are equal.
fn words(count: usize) -> Vec<u32> {
    (0..count as u32).map(|at| at.wrapping_mul(0x9E37_79B1) ^ 0x5A5A_5A5A).collect()
}

fn host(name: &str, shape: &[u32], bytes: Vec<u8>) -> HostTensor {
    let (name, direction) = (name.into(), ArgDirection::Inout);
    HostTensor { name, direction, dtype: DType::I32, shape: shape.into(), bytes }
}

#[test]
fn a_tensor_a_thousand_times_larger_than_the_ring_arrives_whole() {
    let count: usize = if long() { 1 << 28 } else { 1 << 24 };
    let last = count - 1;
    let orchestration = trb(|trb, args| trb.submit_aiv(OWN, Arg::new().inout(args.tensor(0)?)).map(drop));
    // Only the ends change: the simulation of anything more would be all the time this takes.
    let ends = kernel(OWN, "ends", &[ArgDirection::Inout], move |core, args| {
        let global = core.global(args.tensor(0)?, argus_tile::GlobalShape::nd(1, count as u32))?;
        core.store_scalar(&global, 0, 1i32)?;
        core.store_scalar(&global, last as u64, 2i32)
    });
    let before = bytes(&words(count));
    let args =
        HostArgs { tensors: vec![host("large", &[count as u32], before.clone())], scalars: Vec::new() };
    let subject = Subject::new(program(vec![ends], orchestration), args);
    let platforms = if long() { &CHIPS[..1] } else { &CHIPS[..] };
    for platform in platforms {
        let recorded = subject.record(platform, &tight());
        let dump = recorded.complete(platform.name);
        let payloads = dump.by_key();
        assert_eq!(payloads.len(), 2);
        let payload = |stage| payloads[&(0, stage, 0)].payload.as_deref().unwrap();
        // A message with the bytes would be gigabytes long.
        assert!(payload(Stage::BeforeDispatch) == before, "{}", platform.name);
        let after = payload(Stage::AfterCompletion);
        assert_eq!((&after[..4], &after[4 * last..]), (&1i32.to_le_bytes()[..], &2i32.to_le_bytes()[..]));
        assert!(after[4..4 * last] == before[4..4 * last], "{}", platform.name);
        assert!(recorded.run.waits.0 > 0, "the device must have waited for room");
    }
}

#[test]
fn a_transposed_view_larger_than_the_ring_arrives_in_logical_order() {
    const EDGE: u32 = 512;
    let quiet = kernel(OWN, "quiet", &[ArgDirection::In], |_, _| Ok(()));
    let orchestration = trb(|trb, args| {
        let transposed =
            args.tensor(0)?.transpose(0, 1).map_err(|error| Fatal::invalid(error.to_string()))?;
        trb.submit_aiv(OWN, Arg::new().input(&transposed)).map(drop)
    });
    let content = bytes(&words((EDGE * EDGE) as usize));
    let args = HostArgs { tensors: vec![host("square", &[EDGE, EDGE], content)], scalars: Vec::new() };
    let subject = Subject::new(program(vec![quiet], orchestration), args);
    let mut model = Model::default();
    let square = model.arguments(&subject.args).remove(0);
    model.run(task(0, &[2]), &[A::In(square.transpose())], |_| Vec::new());
    for platform in CHIPS {
        model.assert_dump(&subject.record(platform, &tight()).complete(platform.name), platform.name);
    }
}

#[test]
fn every_record_of_thousands_of_tasks_arrives() {
    let tasks: usize = if long() { 100_000 } else { 2_000 };
    const CELLS: usize = 16;
    const PER_SCOPE: usize = 500;
    let orchestration = trb(move |trb, args| {
        for first in (0..tasks).step_by(PER_SCOPE) {
            trb.scope(ScopeMode::Auto, |trb| {
                for index in first..(first + PER_SCOPE).min(tasks) {
                    let at = (index % CELLS) as u32;
                    let cell = args.tensor(0)?.slice(0, at, at + 1, 1);
                    let cell = cell.map_err(|error| Fatal::invalid(error.to_string()))?;
                    trb.submit_aiv(BUMP, Arg::new().inout(&cell).scalar(index as u64))?;
                }
                Ok(())
            })?;
        }
        Ok(())
    });
    let subject = Subject::new(program(standard(), orchestration), arguments(&[&[7; CELLS]]));
    let mut model = Model::default();
    let cells = model.arguments(&subject.args).remove(0);
    for index in 0..tasks {
        let args = [A::Inout(cells.rows(index % CELLS, 1)), number(index as u64)];
        model.run(task(0x1_0000_0000 + index as u64, &[0]), &args, plus(index as i32));
    }
    for platform in CHIPS {
        let dump = subject.record(platform, &tight()).complete(platform.name);
        model.assert_dump(&dump, platform.name);
        assert_eq!(dump.states().len(), tasks);
        // Each task waits for the one that had its cell before.
        let expected: Vec<_> = (0..tasks - CELLS).map(|index| 0x1_0000_0000 + index as u64).collect();
        let edges = dump.edges();
        assert!(edges.iter().all(|(from, to, _)| to - from == CELLS as u64), "{}", platform.name);
        assert_eq!(
            edges.into_iter().map(|(from, ..)| from).collect::<Vec<_>>(),
            expected,
            "{}",
            platform.name
        );
    }
}

#[test]
fn tight_rings_change_nothing_about_graphs_of_any_runtime() {
    for runtime in RuntimeKind::ALL {
        let weave = Weave::new(&format!("tight/{runtime}"), 200, runtime != RuntimeKind::Hbg);
        let (subject, model) = weave.subject(runtime);
        for platform in CHIPS {
            let roomy = subject.record(platform, &RecordRequest::default()).complete("roomy");
            for payload_bytes in [64, 1024] {
                let collect = Collect::Streaming { entries: 1, payload_bytes };
                let request = RecordRequest { collect, ..RecordRequest::default() };
                let dump = subject.record(platform, &request).complete("one entry");
                model.assert_dump(&dump, runtime.name());
                assert_eq!(dump.edges(), roomy.edges());
            }
        }
    }
}

#[test]
fn what_does_not_fit_after_the_run_is_counted_to_the_last_byte() {
    for runtime in RuntimeKind::ALL {
        let weave = Weave::new(&format!("small/{runtime}"), 100, runtime != RuntimeKind::Hbg);
        let (mut subject, model) = weave.subject(runtime);
        // Everything that a run with enough room takes.
        let enough = RecordRequest {
            collect: Collect::AfterSync { memory_per_ring: 8 << 20 },
            ..RecordRequest::default()
        };
        let whole = subject.record(CHIPS[0], &enough).complete("enough");
        let entries_of = |dump: &crate::dump::Dump| {
            let counted =
                |entry: &Entry| matches!(entry, Entry::Argument(_) | Entry::Task(_) | Entry::Edges(_));
            dump.journal.entries().filter(counted).count() as u64
        };
        for (memory_per_ring, threads) in [(1 << 10, 3), (8 << 10, 3), (24 << 10, 1), (24 << 10, 4)] {
            subject.config.control_threads = Some(threads);
            let collect = Collect::AfterSync { memory_per_ring };
            let request = RecordRequest { collect, ..RecordRequest::default() };
            let recorded = subject.record(CHIPS[0], &request);
            let about = format!("{runtime}, {memory_per_ring} bytes, {threads} threads");
            assert!(recorded.run.result.is_ok(), "{about}: a capture that is too small fails no run");
            let dump = recorded.dump();
            let entries = entries_of(&whole) - entries_of(&dump);
            let bytes = model.payload_bytes() - dump.manifest["payload_bytes"].as_u64().unwrap();
            assert!(entries > 0, "{about} is no test");
            let lost = match &recorded.run.problems[..] {
                [problem @ RecordProblem::Lost { entries, bytes, .. }] => {
                    assert_eq!(problem.hint(), Some(Hint::MoreMemory));
                    (*entries, *bytes)
                }
                other => panic!("{about}: {other:?}"),
            };
            assert_eq!(lost, (entries, bytes), "{about}");
            assert_eq!(dump.manifest["dropped_records"], entries, "{about}");
            assert_eq!(dump.manifest["dropped_bytes"], bytes, "{about}");
            let rings = dump.run["ledger"]["rings"].as_array().unwrap();
            let sum = |name: &str| rings.iter().map(|ring| ring[name].as_u64().unwrap()).sum::<u64>();
            assert_eq!((sum("lost_entries"), sum("lost_bytes")), lost, "{about}");
            // What is there is true.
            for record in dump.records.iter().filter(|record| record.kind == Kind::Tensor) {
                model.assert_payload(record, &about);
            }
        }
    }
}

/// A capture that cannot even start leaves nothing that looks like a dump of a run that is still active.
#[test]
fn memory_that_cannot_be_had_is_refused_and_leaves_no_files() {
    let (subject, _) = Weave::new("no size", 3, true).subject(RuntimeKind::Trb);
    for collect in [
        Collect::Streaming { entries: 0, payload_bytes: 4096 },
        Collect::Streaming { entries: 64, payload_bytes: 0 },
        // More than any machine has.
        Collect::AfterSync { memory_per_ring: 1 << 45 },
        Collect::Streaming { entries: usize::MAX, payload_bytes: usize::MAX },
    ] {
        let request = RecordRequest { collect, ..RecordRequest::default() };
        let recorded = subject.record(CHIPS[0], &request);
        let error = with_causes(recorded.run.result.as_ref().unwrap_err());
        assert!(error.contains("capture cannot start"), "{error}");
        assert_eq!(recorded.files(), [""; 0], "{collect:?}");
        assert_eq!(recorded.run.dump, None);
        assert_eq!(recorded.args, subject.args, "nothing has run");
    }
}

/// 64 KiB through 4 KiB: control threads must wait, and the dump tells when. The spans add up to what the ledger
/// counted, but for what the orchestration waited on its own ring.
#[test]
fn the_timeline_tells_when_a_capture_had_no_room() {
    for platform in CHIPS {
        let subject = Subject::scene("dump_tensor_example", "default", RuntimeKind::Trb);
        let collect = Collect::Streaming { entries: 1, payload_bytes: 4096 };
        let request = RecordRequest { collect, ..RecordRequest::default() };
        let recorded = subject.record(platform, &request);
        let (waits, wait_ns) = recorded.run.waits;
        let times =
            argus_dump::read::Dump::open(recorded.directory.path()).unwrap().times().unwrap().unwrap();
        let spans: Vec<_> = times.control_threads.iter().flatten().collect();
        let spent: u64 = spans.iter().map(|span| span.ended_ns - span.started_ns).sum();
        assert!(!spans.is_empty() && spans.len() as u64 <= waits, "{} of {waits}", spans.len());
        assert!(0 < spent && spent <= wait_ns, "{spent} of {wait_ns}");
        // Each of the two tasks ran once, after its inputs were captured.
        let parts: Vec<_> = times.cores.iter().flat_map(|core| &core.parts).collect();
        assert_eq!(parts.len(), 2);
        for part in parts {
            assert!(part.posted_ns <= part.started_ns && part.started_ns <= part.ended_ns, "{part:?}");
            let before =
                spans.iter().filter(|span| span.task == part.task && span.stage == Stage::BeforeDispatch);
            assert!(before.map(|span| span.ended_ns).all(|ended| ended <= part.started_ns), "{part:?}");
        }
    }
}
