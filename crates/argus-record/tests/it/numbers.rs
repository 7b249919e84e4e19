//! Numbers that readers with 53 bits would round are strings.

use argus_abi::{ArgDirection, DType, RuntimeKind};
use argus_chip::A2A3SIM;
use argus_record::RecordRequest;
use argus_runtime::Arg;
use serde_json::{Value, json};

use crate::dump::word;
use crate::programs::{OWN, arguments, kernel, program, trb};
use crate::setup::Subject;

/// Scalars as raw bits of a type, and how each must be written.
fn scalars() -> Vec<(DType, u64, Value)> {
    vec![
        (DType::U64, u64::MAX, json!("18446744073709551615")),
        (DType::U64, (1 << 53) + 1, json!("9007199254740993")),
        (DType::U64, 1 << 53, json!(9_007_199_254_740_992u64)),
        (DType::I64, i64::MIN as u64, json!("-9223372036854775808")),
        (DType::I64, -1i64 as u64, json!(-1)),
        (DType::I32, 0xFFFF_FFFF, json!(-1)),
        (DType::F32, 0x7FC0_0000, json!("NaN")),
        (DType::F32, 0xFF80_0000, json!("-Infinity")),
        (DType::F32, 0x3DCC_CCCD, json!(0.1)),
        (DType::Bool, 1, json!(true)),
    ]
}

fn with_scalars() -> Subject {
    let quiet = kernel(OWN, "quiet", &[ArgDirection::In], |_, _| Ok(()));
    let orchestration = trb(|trb, args| {
        let arg = scalars()
            .into_iter()
            .fold(Arg::new().input(args.tensor(0)?), |arg, (dtype, bits, _)| arg.scalar_of(dtype, bits));
        trb.submit_aiv(OWN, arg).map(drop)
    });
    let mut args = arguments(&[&[1, 2]]);
    args.scalars = vec![u64::MAX, 7];
    Subject::new(program(vec![quiet], orchestration), args)
}

#[test]
fn scalars_keep_every_bit() {
    let dump = with_scalars().record(&A2A3SIM, &RecordRequest::default()).complete("scalars");
    let found: Vec<_> = dump.records.iter().filter(|record| record.bits.is_some()).collect();
    assert_eq!(found.len(), scalars().len());
    for (record, (dtype, bits, value)) in found.into_iter().zip(scalars()) {
        assert_eq!((record.dtype, record.bits), (dtype, Some(bits)));
        assert_eq!(record.json["value"], value, "{dtype} {bits:#x}");
        assert_eq!(record.json["value_bits"], format!("{bits:#018x}"));
    }
}

#[test]
fn arguments_of_the_orchestration_keep_every_bit() {
    let request = RecordRequest { orchestration_args: true, ..RecordRequest::default() };
    let dump = with_scalars().record(&A2A3SIM, &request).complete("arguments");
    for place in [&dump.manifest, &dump.run] {
        let args = place["orchestration_args"].as_array().unwrap();
        assert_eq!(args.len(), 3);
        assert_eq!(args[0]["name"], "argument 0");
        assert_eq!(args[0]["shape"], json!([2]));
        // The one task reads the argument where the orchestration was told that it is.
        assert_eq!(args[0]["address"], dump.records[0].json["address"]);
        assert_ne!(word(&args[0]["address"]), 0);
        assert_eq!(args[1]["value"], "18446744073709551615");
        assert_eq!(word(&args[1]["value_bits"]), u64::MAX);
        assert_eq!(args[2]["value"], 7);
    }
    let without = with_scalars().record(&A2A3SIM, &RecordRequest::default()).complete("no arguments");
    assert_eq!(without.manifest["orchestration_args"], json!([]));
}

fn assert_exact(value: &Value, path: &str) {
    match value {
        Value::Number(number) => {
            let size = number.as_u64().or(number.as_i64().map(i64::unsigned_abs));
            assert!(size.is_none_or(|size| size <= 1 << 53), "{path} is {number}");
        }
        Value::Array(items) => items.iter().for_each(|item| assert_exact(item, path)),
        Value::Object(items) => {
            items.iter().for_each(|(name, item)| assert_exact(item, &format!("{path}.{name}")));
        }
        _ => {}
    }
}

#[test]
fn no_number_of_a_dump_is_too_large_for_readers_that_keep_floats() {
    let attention = Subject::scene("paged_attention", "CaseSmall1", RuntimeKind::Trb);
    for subject in [with_scalars(), attention] {
        let request = RecordRequest { orchestration_args: true, ..RecordRequest::default() };
        let dump = subject.record(&A2A3SIM, &request).complete("sizes");
        for (name, file) in [("manifest", &dump.manifest), ("graph", &dump.graph), ("run", &dump.run)] {
            assert_exact(file, name);
        }
        // Addresses and ids are strings whatever their size.
        for record in &dump.records {
            word(&record.json["task_id"]);
            if record.bits.is_none() {
                assert_ne!(word(&record.json["address"]), 0);
            }
        }
    }
}
