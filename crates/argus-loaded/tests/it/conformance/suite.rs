//! The suite's table.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

#[derive(Deserialize)]
pub struct Suite {
    #[serde(skip)]
    pub root: PathBuf,
    pub cases: Vec<Case>,
}

#[derive(Deserialize)]
pub struct Case {
    pub id: String,
    pub instruction: String,
    pub instructions: Vec<String>,
    pub arch: String,
    pub headers: String,
    pub mode: String,
    pub programs: Vec<Program>,
    pub buffers: Vec<Buffer>,
}

#[derive(Deserialize)]
pub struct Program {
    pub source: String,
    pub defines: BTreeMap<String, String>,
    pub core: String,
    pub sub_block_id: i32,
    pub block_idx: i32,
    pub block_num: i32,
    pub args: Vec<Arg>,
}

#[derive(Deserialize)]
pub struct Arg {
    pub slot: usize,
    #[serde(flatten)]
    pub value: ArgValue,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ArgValue {
    Pointer { buffer: String, byte_offset: u64 },
    Int { value: i64 },
    Tensor { buffer: String, dtype: String, shape: Vec<u32>, start_offset: u64 },
    CommContext { rank: u32, windows: Vec<String>, window_bytes: u64 },
}

#[derive(Deserialize)]
pub struct Buffer {
    pub name: String,
    pub dtype: String,
    pub count: usize,
    pub init: Init,
    #[serde(default)]
    pub special: Vec<(usize, String)>,
    pub expected: Option<Expected>,
    pub compare: Option<Compare>,
}

#[derive(Deserialize)]
#[serde(tag = "gen", rename_all = "snake_case")]
pub enum Init {
    Real {
        seed: u64,
        lo: f64,
        hi: f64,
    },
    Grid {
        seed: u64,
        span: i64,
        step: f64,
    },
    Int {
        seed: u64,
        lo: i64,
        hi: i64,
    },
    Bits {
        seed: u64,
    },
    Iota {
        start: f64,
        step: f64,
    },
    Perm {
        seed: u64,
        #[serde(default = "one")]
        scale: f64,
        #[serde(default)]
        start: f64,
    },
    Fill {
        byte: u8,
    },
    Bitlist {
        values: Vec<String>,
    },
    Records {
        seed: u64,
        records: usize,
        levels: i64,
        step: f32,
    },
}

fn one() -> f64 {
    1.0
}

#[derive(Deserialize)]
pub struct Expected {
    pub file: String,
    pub offset: usize,
    pub bytes: usize,
}

#[derive(Deserialize)]
pub struct Compare {
    #[serde(default)]
    pub nan_any: bool,
}

impl Suite {
    pub fn open() -> Suite {
        let root =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance").canonicalize().unwrap();
        let text = std::fs::read(root.join("index.json")).unwrap();
        Suite { root, ..serde_json::from_slice(&text).unwrap() }
    }

    /// The recorded bytes of a buffer.
    pub fn expected(&self, expected: &Expected) -> Vec<u8> {
        let bytes = std::fs::read(self.root.join(&expected.file)).unwrap();
        bytes[expected.offset..][..expected.bytes].to_vec()
    }
}

/// Bytes of an element.
pub fn width(dtype: &str) -> usize {
    match dtype {
        "i8" | "u8" => 1,
        "f16" | "bf16" | "i16" | "u16" => 2,
        "f32" | "i32" | "u32" => 4,
        "i64" | "u64" => 8,
        other => panic!("unknown type {other}"),
    }
}
