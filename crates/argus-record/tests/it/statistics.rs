//! Statistics beside payloads and instead of them, against a loop that has no tricks.

use argus_abi::{DType, Kind, RuntimeKind, Stage};
use argus_chip::A5SIM;
use argus_dump::StatsMode;
use argus_dump::stats::Statistics;
use argus_facts::number::Number;
use argus_record::RecordRequest;
use half::{bf16, f16};
use serde_json::{Value, json};

use crate::dump::Dump;
use crate::model::{f32s, i32s, u16s};
use crate::setup::{COLLECTS, Subject};

/// The elements as f64, which holds every type of these scenes exactly.
fn numbers(dtype: DType, payload: &[u8]) -> Vec<f64> {
    match dtype {
        DType::F32 => f32s(payload).into_iter().map(f64::from).collect(),
        DType::Bf16 => u16s(payload).into_iter().map(|bits| bf16::from_bits(bits).to_f64()).collect(),
        DType::F16 => u16s(payload).into_iter().map(|bits| f16::from_bits(bits).to_f64()).collect(),
        DType::I32 => i32s(payload).into_iter().map(f64::from).collect(),
        other => panic!("no scene has {other}"),
    }
}

fn assert_statistics(found: &Value, values: &[f64], about: &str) {
    let ordered = || values.iter().copied().filter(|value| !value.is_nan());
    let finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let extreme = |value: Option<f64>| match value {
        None => Value::Null,
        Some(value) if value == f64::INFINITY => json!("Infinity"),
        Some(value) if value == f64::NEG_INFINITY => json!("-Infinity"),
        Some(value) => json!(value),
    };
    let same = |name: &str, value: Value| match (found[name].as_f64(), value.as_f64()) {
        // Reading a float back, this JSON library may be one unit of the last place off.
        (Some(found), Some(value)) => {
            assert!((found - value).abs() <= value.abs() * f64::EPSILON, "{about}: {name}: {found} {value}");
        }
        _ => assert_eq!(found[name], value, "{about}: {name}"),
    };
    same("min", extreme(ordered().reduce(f64::min)));
    same("max", extreme(ordered().reduce(f64::max)));
    assert_eq!(found["nan"], values.iter().filter(|value| value.is_nan()).count(), "{about}");
    assert_eq!(found["inf"], values.iter().filter(|value| value.is_infinite()).count(), "{about}");
    assert_eq!(found["zero"], values.iter().filter(|value| **value == 0.0).count(), "{about}");
    if finite.is_empty() {
        assert_eq!(found["mean"], Value::Null, "{about}");
    } else {
        let mean = finite.iter().sum::<f64>() / finite.len() as f64;
        let largest = finite.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
        // The order of additions is not part of the promise.
        let off = (found["mean"].as_f64().unwrap() - mean).abs();
        assert!(off <= 1e-12 * largest, "{about}: {} instead of {mean}", found["mean"]);
    }
}

/// The journal has the bits themselves: these must be exact.
fn assert_extremes(dump: &Dump, of: &Dump) {
    let payloads = of.by_key();
    for entry in dump.journal.arguments().filter(|entry| entry.head.kind == Kind::Tensor as u8) {
        let key = (entry.head.task_id, Stage::from_raw(entry.head.stage).unwrap(), entry.head.arg_index);
        let values = numbers(payloads[&key].dtype, payloads[&key].payload.as_ref().unwrap());
        let found = Statistics::from_record(&entry).unwrap();
        let ordered = || values.iter().copied().filter(|value| !value.is_nan());
        assert_eq!(found.min.map(Number::as_f64), ordered().reduce(f64::min), "{key:?}");
        assert_eq!(found.max.map(Number::as_f64), ordered().reduce(f64::max), "{key:?}");
    }
}

fn cases() -> [Subject; 3] {
    [
        Subject::scene("paged_attention", "CaseSmall1", RuntimeKind::Trb),
        Subject::scene("batch_paged_attention", "CaseVarSeq2", RuntimeKind::Trb),
        Subject::scene("matmul", "default", RuntimeKind::Hbg),
    ]
}

fn record(subject: &Subject, stats: StatsMode, collect: argus_runtime::Collect) -> Dump {
    let request = RecordRequest { stats, collect, ..RecordRequest::default() };
    subject.record(&A5SIM, &request).complete(stats.name())
}

#[test]
fn statistics_beside_payloads_are_those_of_the_payloads() {
    for subject in cases() {
        for collect in COLLECTS {
            let dump = record(&subject, StatsMode::Beside, collect);
            assert_extremes(&dump, &dump);
            for record in &dump.records {
                let about = format!("{:?}", record.key());
                match record.kind {
                    Kind::Scalar => assert_eq!(record.json.get("statistics"), None, "{about}"),
                    Kind::Tensor => {
                        let values = numbers(record.dtype, record.payload.as_ref().unwrap());
                        assert_statistics(&record.json["statistics"], &values, &about);
                    }
                }
            }
        }
    }
}

#[test]
fn statistics_instead_of_payloads_are_the_same_and_store_nothing() {
    for subject in cases() {
        let whole = record(&subject, StatsMode::Off, COLLECTS[0]);
        assert!(whole.records.iter().all(|record| record.json.get("statistics").is_none()));
        for collect in COLLECTS {
            let dump = record(&subject, StatsMode::Instead, collect);
            assert_extremes(&dump, &whole);
            assert_eq!(dump.manifest["stored_bytes"], 0);
            assert_eq!(dump.manifest["payload_bytes"], whole.manifest["payload_bytes"]);
            assert_eq!(dump.records.len(), whole.records.len());
            for (record, with) in dump.records.iter().zip(&whole.records) {
                let about = format!("{:?}", record.key());
                assert_eq!(record.key(), with.key());
                let Some(payload) = &with.payload else { continue };
                assert_eq!(record.payload, None, "{about}");
                assert_eq!(record.json["payload"], "statistics_only", "{about}");
                // The checksum still tells whether two runs saw the same bytes.
                assert_eq!(record.json["checksum"], with.json["checksum"], "{about}");
                assert_statistics(&record.json["statistics"], &numbers(record.dtype, payload), &about);
            }
        }
    }
}
