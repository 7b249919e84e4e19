//! A dump as its files say: the manifest as JSON, the payload file as bytes, numbers decoded by hand.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Manifest entries and the bytes that they point into.
pub struct Raw {
    pub entries: Vec<Value>,
    payloads: Vec<u8>,
}

impl Raw {
    pub fn read(directory: &Path) -> Raw {
        let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
        let names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        let is_manifest = |name: &&String| name.ends_with(".json") && name.contains("_dump");
        let manifest = names.iter().find(is_manifest).unwrap();
        let text = fs::read_to_string(directory.join(manifest)).unwrap();
        let mut manifest: Value = serde_json::from_str(&text).unwrap();
        let list = if manifest.get("args").is_some() { "args" } else { "tensors" };
        let Value::Array(entries) = manifest[list].take() else { panic!("no list of entries") };
        let payloads = match manifest["bin_file"].as_str() {
            Some(name) => fs::read(directory.join(name)).unwrap(),
            None => Vec::new(),
        };
        Raw { entries, payloads }
    }

    /// The one entry that is meant by a record of `argus view --json`.
    pub fn entry(&self, record: &Value) -> &Value {
        let same = |entry: &&Value| {
            ["task_id", "stage", "role", "arg_index"].iter().all(|key| entry[key] == record[key])
        };
        let mut matching = self.entries.iter().filter(same);
        let entry = matching.next().unwrap_or_else(|| panic!("no entry for {record}"));
        assert!(matching.next().is_none(), "several entries for {record}");
        entry
    }

    /// Bytes of an entry, if it has any that count.
    pub fn payload(&self, entry: &Value) -> Option<&[u8]> {
        let number = |key: &str| usize::try_from(entry[key].as_u64().unwrap()).unwrap();
        if entry["overwritten"] == true || number("bin_size") == 0 {
            return None;
        }
        Some(&self.payloads[number("bin_offset")..number("bin_offset") + number("bin_size")])
    }

    /// Values of an entry, if it has any.
    pub fn values(&self, entry: &Value) -> Option<Vec<f64>> {
        Some(decode(entry["dtype"].as_str().unwrap(), self.payload(entry)?))
    }
}

/// Numbers of a type, from their definitions.
pub fn decode(dtype: &str, bytes: &[u8]) -> Vec<f64> {
    let words = |size: usize| {
        bytes.chunks_exact(size).map(|word| {
            let mut wide = [0; 8];
            wide[..word.len()].copy_from_slice(word);
            u64::from_le_bytes(wide)
        })
    };
    match dtype {
        "FLOAT32" => words(4).map(|bits| f64::from(f32::from_bits(bits as u32))).collect(),
        "BFLOAT16" => words(2).map(|bits| f64::from(f32::from_bits((bits as u32) << 16))).collect(),
        "FLOAT16" => words(2).map(|bits| half(bits as u16)).collect(),
        "INT32" => words(4).map(|bits| f64::from(bits as u32 as i32)).collect(),
        "INT64" => words(8).map(|bits| bits as i64 as f64).collect(),
        "UINT8" => words(1).map(|bits| bits as f64).collect(),
        other => panic!("no test has {other}"),
    }
}

/// Sign, five bits of exponent, ten bits of fraction.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

/// A number as `argus view --json` writes it: what JSON cannot hold is a string.
pub fn number(value: &Value) -> f64 {
    match value {
        Value::String(text) => match text.as_str() {
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            // Fresh memory holds a NaN.
            "unwritten" => f64::NAN,
            other => other.parse().unwrap(),
        },
        other => exact(other.as_f64().unwrap()),
    }
}

/// The parser of JSON may miss the last bit of a double. Fractions come from types that fit into 32 bits.
fn exact(value: f64) -> f64 {
    if value.fract() == 0.0 { value } else { f64::from(value as f32) }
}

/// Nested lists of numbers, one after the other; of missing ones nothing.
pub fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(flat).collect(),
        Value::Null => Vec::new(),
        other => vec![number(other)],
    }
}

/// Equal in every bit but those of NaN.
pub fn assert_same(left: &[f64], right: &[f64], what: &str) {
    let bits = |values: &[f64]| -> Vec<u64> {
        values.iter().map(|value| if value.is_nan() { u64::MAX } else { value.to_bits() }).collect()
    };
    assert_eq!(bits(left), bits(right), "{what}: {left:?} {right:?}");
}

/// What can be said about numbers, computed the plain way.
pub struct Facts {
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub mean: Option<f64>,
    pub zero: u64,
    pub nan: u64,
    pub inf: u64,
}

impl Facts {
    pub fn of(values: &[f64]) -> Facts {
        let numbers: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
        let finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        let count = |holds: fn(&f64) -> bool| values.iter().filter(|value| holds(value)).count() as u64;
        Facts {
            min: numbers.iter().copied().reduce(f64::min),
            max: numbers.iter().copied().reduce(f64::max),
            mean: (!finite.is_empty()).then(|| finite.iter().sum::<f64>() / finite.len() as f64),
            zero: count(|value| *value == 0.0),
            nan: count(|value| value.is_nan()),
            inf: count(|value| value.is_infinite()),
        }
    }

    /// Compares with an object of statistics.
    pub fn assert(&self, statistics: &Value, what: &str) {
        let of = |key: &str| statistics[key].as_u64().unwrap();
        let nan = of("nan") + of("unwritten");
        assert_eq!((of("zero"), nan, of("inf")), (self.zero, self.nan, self.inf), "{what}");
        let extreme = |key: &str| Some(&statistics[key]).filter(|value| !value.is_null()).map(number);
        assert_eq!((extreme("min"), extreme("max")), (self.min, self.max), "{what}");
        close(statistics["mean"].as_f64(), self.mean, what);
    }
}

/// Sums may be rounded in another order.
pub fn close(left: Option<f64>, right: Option<f64>, what: &str) {
    match (left, right) {
        (Some(left), Some(right)) => {
            assert!((left - right).abs() <= 1e-9 * right.abs().max(1.0), "{what}: {left} {right}");
        }
        (left, right) => assert_eq!(left, right, "{what}"),
    }
}
