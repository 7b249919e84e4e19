//! Watches, probes and breaks show what happens inside, and change nothing.

use argus_abi::{Kind, Member, RuntimeKind};
use argus_chip::A2A3SIM;
use argus_facts::with_causes;
use argus_replay::{Observation, Options, Probe, Substitute, Watch, replay};

use crate::setup::Recorded;

fn look(recorded: &Recorded, kernel: &str, options: &Options) -> argus_replay::Proof {
    let task = recorded.task(kernel, 0);
    replay(&task, &recorded.code.kernels, recorded.platform, options, 1).unwrap()
}

fn options(watches: &[&str], probes: &[&str]) -> Options {
    Options {
        watches: watches.iter().map(|text| Watch::parse(text).unwrap()).collect(),
        probes: probes.iter().map(|text| Probe::parse(text).unwrap()).collect(),
        ..Options::default()
    }
}

#[test]
fn a_watched_element_goes_from_poison_to_the_captured_value() {
    let recorded = Recorded::named("paged_attention", "CaseSmall1", RuntimeKind::Trb, &A2A3SIM);
    let dump = recorded.dump();
    let task = recorded.task("QK", 0);
    let record = dump
        .records()
        .find(|record| record.task_id == task.id && record.arg_index == 2 && record.kind == Kind::Tensor)
        .unwrap();
    let payload = dump.payload(&record).unwrap();
    let at = (3 * 16 + 5) * 4;
    let expected = u64::from(u32::from_le_bytes(payload[at..at + 4].try_into().unwrap()));
    // Both ways to name element (3, 5) of 16 x 16.
    for text in ["2[3,5]", "2[53]"] {
        let proof = look(&recorded, "QK", &options(&[text], &[]));
        assert!(proof.passed());
        let [sighting] = &proof.outcome.sightings[..] else { panic!("{:?}", proof.outcome.sightings) };
        assert_eq!((sighting.kernel.as_str(), sighting.member, sighting.block), ("QK", Member::Aic, 0));
        assert_eq!(sighting.opcode.name(), "TSTORE");
        assert!(sighting.location.contains(".rs:"), "{}", sighting.location);
        let Observation::Changed { from, to, .. } = sighting.seen else { panic!() };
        assert_eq!((from, to), (0xffff_ffff, expected), "{text}");
    }
    let error = |text: &str| {
        with_causes(&replay(&task, &recorded.code.kernels, &A2A3SIM, &options(&[text], &[]), 1).unwrap_err())
    };
    assert!(error("2[16,0]").contains("shape [16, 16]"), "{}", error("2[16,0]"));
    assert!(error("2[256]").contains("shape [16, 16]"), "{}", error("2[256]"));
    assert!(error("9[0]").contains("tensors are in slots 0, 1, 2"), "{}", error("9[0]"));
}

#[test]
fn a_probe_shows_the_tile_that_the_store_will_write() {
    let recorded = Recorded::named("paged_attention", "CaseSmall1", RuntimeKind::Trb, &A2A3SIM);
    let proof = look(&recorded, "QK", &options(&[], &["src@TSTORE", "dst@TMATMUL#1", "dst@TMATMUL#2"]));
    assert!(proof.passed());
    let output = &proof.outcome.outputs[0].bytes;
    let names: Vec<&str> = proof.outcome.sightings.iter().map(|sighting| sighting.opcode.name()).collect();
    assert_eq!(names, ["TMATMUL", "TSTORE"], "there is no second TMATMUL");
    for sighting in &proof.outcome.sightings {
        let Observation::Operand { rows, cols, bytes, place, .. } = &sighting.seen else { panic!() };
        assert_eq!((*rows, *cols), (16, 16), "{place}");
        // The accumulator lies in boxes; what is shown is in rows, as in the output.
        assert_eq!(bytes, output, "{place}");
    }
}

#[test]
fn a_break_stops_at_the_instruction_that_first_writes_a_nan() {
    let recorded = Recorded::named("paged_attention", "CaseSmall1", RuntimeKind::Trb, &A2A3SIM);
    let stop = Options { break_on_nan: true, ..Options::default() };
    assert!(look(&recorded, "QK", &stop).passed(), "no NaN, no break");
    let mut task = recorded.task("QK", 0);
    task.substitute(&[Substitute::parse("1=0x7fc0").unwrap()]).unwrap();
    let proof = replay(&task, &recorded.code.kernels, &A2A3SIM, &stop, 1).unwrap();
    let error = with_causes(&proof.outcome.result.unwrap_err());
    assert!(error.contains("kernel 'QK'") && error.contains("TLOAD (instruction "), "{error}");
    assert!(error.contains("it wrote a NaN to dst[0, 0], Mat tile"), "{error}");
}

#[test]
fn logs_have_every_instruction_of_every_core_and_block() {
    let recorded = Recorded::named("pipe_mix", "default", RuntimeKind::Trb, &A2A3SIM);
    let logs = Options { log_limit: Some(1_000_000), ..Options::default() };
    let outcome = look(&recorded, "matmul_push", &logs).outcome;
    let cores: Vec<(u32, Member)> = outcome.logs.iter().map(|log| (log.block, log.member)).collect();
    assert_eq!(cores, [(0, Member::Aic), (0, Member::Aiv0), (0, Member::Aiv1)]);
    let count = |log: usize, name: &str| {
        outcome.logs[log].log.entries.iter().filter(|entry| entry.opcode.name() == name).count()
    };
    // Eight column tiles go through the pipe.
    assert_eq!((count(0, "TPUSH"), count(1, "TPOP"), count(2, "TPOP")), (8, 8, 8));
    assert_eq!((count(0, "TMATMUL"), count(1, "TADD"), count(2, "TSTORE")), (8, 8, 8));

    let recorded = Recorded::named("spmd_multiblock_aiv", "Case1", RuntimeKind::Trb, &A2A3SIM);
    let outcome = look(&recorded, "write_block", &logs).outcome;
    let blocks: Vec<u32> = outcome.logs.iter().map(|log| log.block).collect();
    assert_eq!(blocks, [0, 1, 2, 3]);
}
