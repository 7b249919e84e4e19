//! Metrics are those of numpy and ml_dtypes, for every dtype, with NaN, infinities, zeros of both signs and
//! subnormals.

use argus_abi::DType;
use argus_facts::number::Number;
use argus_find::metrics::{Metrics, NonFinite, Pair, Tolerance, judge, measure};
use serde_json::Value;

use crate::python;

#[test]
fn every_metric_is_the_one_of_numpy() {
    let directory = tempfile::tempdir().unwrap();
    python::run("metrics.py", &[directory.path()]);
    let read = |name: &str| std::fs::read(directory.path().join(name)).unwrap();
    let cases: Vec<Value> = serde_json::from_slice(&read("cases.json")).unwrap();
    let mut dtypes: Vec<DType> = Vec::new();
    for case in &cases {
        let label = case["label"].as_str().unwrap();
        let dtype = DType::from_name(case["dtype"].as_str().unwrap()).unwrap();
        let (actual, expected) = (read(&format!("{label}.actual")), read(&format!("{label}.expected")));
        let pair = Pair::new(dtype, case["elements"].as_u64().unwrap(), &actual, &expected).unwrap();
        let tolerance = Tolerance::new(float(&case["rtol"]), float(&case["atol"])).unwrap();
        let found = measure(&pair, &tolerance);
        compare(label, &found, &case["metrics"]);
        let judged = judge(&pair, &tolerance);
        assert_eq!((judged.beyond, judged.max_abs), (found.beyond, found.max_abs), "{label}");
        assert_eq!(
            (judged.first, judged.non_finite),
            (found.first.map(|first| first.index), found.non_finite)
        );
        assert_eq!(judged.worst, found.worst.map(|worst| worst.index), "{label}");
        dtypes.push(dtype);
    }
    dtypes.dedup();
    dtypes.sort();
    assert_eq!(dtypes, DType::ALL);
}

/// A float written as text.
fn float(value: &Value) -> f64 {
    value.as_str().unwrap().parse().unwrap()
}

fn compare(label: &str, found: &Metrics, wanted: &Value) {
    let whole = |name: &str| wanted[name].as_u64();
    assert_eq!(Some(found.allclose), wanted["allclose"].as_bool(), "{label}");
    assert_eq!(Some(found.finite), whole("finite"), "{label}");
    assert_eq!(Some(found.beyond), whole("beyond"), "{label}");
    assert_eq!(
        (Some(found.nan_both), Some(found.inf_both)),
        (whole("nan_both"), whole("inf_both")),
        "{label}"
    );
    let kind = |name: &str| wanted["non_finite"][name].as_u64().unwrap_or(0);
    let non_finite = NonFinite {
        nan_actual: kind("nan_actual"),
        nan_expected: kind("nan_expected"),
        inf_actual: kind("inf_actual"),
        inf_expected: kind("inf_expected"),
        inf_opposite: kind("inf_opposite"),
        nan_both: 0,
    };
    assert_eq!(found.non_finite, non_finite, "{label}");
    match found.max_abs {
        Number::Float(max) => assert_eq!(max, float(&wanted["max_abs"]), "{label}"),
        Number::Unsigned(max) => assert_eq!(Some(max), whole("max_abs"), "{label}"),
        other => panic!("{label}: {other:?}"),
    }
    assert_eq!(found.max_rel, Some(float(&wanted["max_rel"])), "{label}");
    assert_eq!(Some(found.max_ulp), whole("max_ulp"), "{label}");
    for (name, value) in [
        ("mean_ulp", found.mean_ulp),
        ("rmse", found.rmse),
        ("relative_l2", found.relative_l2),
        ("cosine", found.cosine),
    ] {
        // Sums in another order.
        let (value, wanted) = (value.unwrap(), float(&wanted[name]));
        assert!((value - wanted).abs() <= 1e-12 * wanted.abs().max(1e-3), "{label} {name}: {value} {wanted}");
    }
    let zeros = wanted["zeros"].as_array().unwrap();
    assert_eq!(zeros, &[found.zeros_actual, found.zeros_expected], "{label}");
    assert_eq!(Some(found.histogram.zero), whole("zero_errors"), "{label}");
    let decades: Vec<(i64, u64)> =
        found.histogram.decades.iter().map(|bin| (i64::from(bin.exponent), bin.count)).collect();
    let wanted_decades = wanted["decades"].as_array().unwrap().iter();
    let wanted_decades: Vec<(i64, u64)> =
        wanted_decades.map(|bin| (bin[0].as_i64().unwrap(), bin[1].as_u64().unwrap())).collect();
    assert_eq!(decades, wanted_decades, "{label}");
    assert_eq!(found.first.as_ref().map(|first| first.index), whole("first"), "{label}");
    assert_eq!(found.worst.as_ref().map(|worst| worst.index), whole("worst"), "{label}");
}
