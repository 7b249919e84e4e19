//! What `argus replay` tells, for programs.

use argus_abi::DType;
use argus_dump_scene::From;
use argus_facts::number::{self, Number};
use argus_facts::with_causes;
use argus_replay::compare::{Change, Sample};
use argus_replay::task::place_name;
use argus_replay::{Argument, Content, Judgement, Observation, Sighting, Verdict, What};
use serde_json::{Value, json};

use super::Report;
use crate::schema;

pub fn object(report: &Report<'_>) -> Value {
    let (task, proof) = (&report.source.task, report.proof);
    let identity = &task.identity;
    let (kind, from) = match &report.source.from {
        From::Dump(path) => ("dump", path),
        From::Capsule(path) => ("capsule", path),
        From::Scene(scene) => ("scene", scene),
    };
    json!({
        "schema": schema::REPLAY,
        "verdict": match (&proof.outcome.result, proof.passed(), proof.compared()) {
            (Err(_), ..) => "failed",
            (Ok(_), ..) if !proof.flaky.is_empty() => "flaky",
            (Ok(_), false, _) => "not_reproduced",
            (Ok(_), true, true) => "reproduced",
            (Ok(_), true, false) => "not_compared",
        },
        "elements": proof.elements().1,
        "elements_compared": proof.elements().0,
        "from": { "kind": kind, "name": from },
        "task_id": task.id.to_string(),
        "kernel": identity.kernel_names(),
        "members": identity.members.iter().map(|member| json!({
            "place": place_name(member.member),
            "func_id": member.func_id.0,
            "name": member.name,
        })).collect::<Vec<_>>(),
        "blocks": task.blocks,
        "scene": identity.scene,
        "case": identity.case,
        "runtime": identity.runtime,
        "platform": report.source.chip.name,
        "arguments": task.arguments.iter().map(argument).collect::<Vec<_>>(),
        "outputs": proof.verdicts.iter().map(output).collect::<Vec<_>>(),
        "error": proof.outcome.result.as_ref().err().map(|error| with_causes(error)),
        "times": proof.times,
        "flaky": proof.flaky.iter().map(|flaky| match &flaky.change {
            Change::Output { slot, element } => json!({ "run": flaky.run, "arg_index": slot, "index": element }),
            Change::Failed(error) => json!({ "run": flaky.run, "error": error }),
        }).collect::<Vec<_>>(),
        "fails_with_other_unknown_bytes": proof.fails_otherwise,
        "stray_writes": proof.outcome.stray.map(|stray| json!({
            "bytes": stray.bytes, "arg_index": stray.slot, "offset": stray.offset,
        })),
        "sightings": proof.outcome.sightings.iter().map(sighting).collect::<Vec<_>>(),
        "more_sightings": proof.outcome.more_sightings,
        "notes": task.notes,
        "capsule": report.capsule.map(|path| path.display().to_string()),
    })
}

pub fn argument(argument: &Argument) -> Value {
    let mut object = json!({ "arg_index": argument.slot, "name": argument.name, "source": argument.source });
    match &argument.what {
        What::Tensor(tensor) => {
            object["kind"] = "tensor".into();
            object["role"] = tensor.role.name().into();
            object["dtype"] = tensor.dtype.name().into();
            object["shape"] = json!(tensor.shape);
            object["strides"] = json!(tensor.strides);
            object["start_offset"] = json!(tensor.start_offset);
            object["before"] = content(&tensor.before).into();
            object["after"] = content(&tensor.after).into();
        }
        What::Scalar { dtype, bits } => {
            object["kind"] = "scalar".into();
            object["dtype"] = dtype.name().into();
            object["value"] = value(*dtype, *bits);
            object["value_bits"] = format!("{bits:#x}").into();
        }
        What::Missing { why } => {
            object["kind"] = "missing".into();
            object["why"] = why.clone().into();
        }
    }
    object
}

fn output(verdict: &Verdict) -> Value {
    let mut object = json!({
        "arg_index": verdict.slot,
        "role": verdict.role.name(),
        "dtype": verdict.dtype.name(),
        "shape": verdict.shape,
        "elements": verdict.elements,
        "compared": verdict.compared,
        "unwritten": verdict.unwritten,
        "depend_on_unknown_bytes": verdict.dependent,
    });
    match &verdict.judgement {
        Judgement::BitEqual => object["verdict"] = "bit-equal".into(),
        Judgement::Unchecked(why) => {
            object["verdict"] = "unchecked".into();
            object["why"] = why.clone().into();
        }
        Judgement::Differs(difference) => {
            object["verdict"] = "differs".into();
            object["differing"] = difference.count.into();
            object["both_nan"] = difference.both_nan.into();
            object["first"] = sample(verdict.dtype, &difference.first);
            object["worst"] = sample(verdict.dtype, &difference.worst);
        }
    }
    object
}

fn sample(dtype: DType, sample: &Sample) -> Value {
    json!({
        "index": sample.index,
        "got": value(dtype, sample.got),
        "expected": value(dtype, sample.expected),
        "got_bits": format!("{:#x}", sample.got),
        "expected_bits": format!("{:#x}", sample.expected),
        "error": float(sample.error),
    })
}

fn sighting(sighting: &Sighting) -> Value {
    let mut object = json!({
        "kernel": sighting.kernel,
        "place": place_name(sighting.member),
        "block": sighting.block,
        "instruction": sighting.instruction,
        "opcode": sighting.opcode.name(),
        "location": sighting.location,
    });
    match &sighting.seen {
        Observation::Changed { watch, dtype, from, to } => {
            object["watch"] = json!({ "arg_index": watch.slot, "index": watch.index });
            object["from"] = value(*dtype, *from);
            object["to"] = value(*dtype, *to);
        }
        Observation::Operand { name, place, dtype, rows, cols, bytes } => {
            let elements = u64::from(*rows) * u64::from(*cols);
            let values = (0..elements).filter_map(|index| number::element(*dtype, bytes, index)).map(number);
            object["operand"] = (*name).into();
            object["where"] = place.clone().into();
            object["dtype"] = dtype.name().into();
            object["shape"] = json!([rows, cols]);
            object["values"] = values.collect();
        }
    }
    object
}

/// What is known of a view at one stage.
fn content(content: &Content) -> &'static str {
    match content {
        Content::Bytes(_) => "captured",
        Content::Unneeded => "unneeded",
        Content::Missing(_) => "missing",
    }
}

fn value(dtype: DType, bits: u64) -> Value {
    number(number::number(dtype, bits))
}

/// Numbers that JSON does not have become strings.
fn number(number: Number) -> Value {
    match number {
        Number::Float(value) => float(value),
        Number::Signed(value) => value.into(),
        Number::Unsigned(value) => value.into(),
        Number::Bool(value) => value.into(),
    }
}

fn float(value: f64) -> Value {
    if value.is_finite() { value.into() } else { value.to_string().into() }
}
