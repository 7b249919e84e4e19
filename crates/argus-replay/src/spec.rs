//! Arguments from a JSON list, for a kernel without a dump.
//!
//! What goes in: an object with the key `args`, or the bare list of its items.
//!
//! | kind | required | optional |
//! |---|---|---|
//! | `"tensor"` | `index`, `name`, `dtype`, `shape` | `role` (`input`, `output`, `inout`; default `input`), `fill` (what [`Value::parse`] takes; default `zero`) |
//! | `"scalar"` | `index`, `name`, `dtype`, `value` | `pack_mode` (`value` or `bits`; default `value`) |
//!
//! A scalar's `pack_mode` `bits` stores the IEEE-754 binary32 pattern of its value; the dtype `FLOAT32_BITS`
//! means the same. With `value` a float is cast to an integer, as the reference does, unless its dtype is a
//! float type, whose bits are stored then.
//!
//! What goes out: the arguments by slot. Each mistake is one error that names the place in the JSON text, before
//! anything runs.

use argus_abi::args::{GLOBAL_CONTEXT_SLOT, LOCAL_CONTEXT_SLOT, SLOTS};
use argus_abi::{DType, MAX_DIMS, Role};
use serde_json::{Map, Value as Json};
use thiserror::Error;

use crate::substitute::{SubstituteError, Value, bits_of};
use crate::task::{Argument, Content, TensorArgument, What};

/// What is wrong with an argument list.
#[derive(Debug, Error)]
pub enum SpecError {
    #[error("the argument spec is not JSON")]
    Json(#[source] serde_json::Error),
    #[error(
        "{path}: an argument spec is a list of arguments, or an object with the key 'args' that holds one"
    )]
    NotAList { path: String },
    #[error("{path}: an argument is an object, not {found}")]
    NotAnObject { path: String, found: &'static str },
    #[error("{path}: the key '{key}' is missing; a {kind} needs {needed}")]
    MissingKey { path: String, key: &'static str, kind: &'static str, needed: &'static str },
    #[error("{path}: there is no key '{key}' for a {kind}; it has {known}")]
    UnknownKey { path: String, key: String, kind: &'static str, known: &'static str },
    #[error("{path}: unknown kind '{kind}'; there are tensor and scalar")]
    Kind { path: String, kind: String },
    #[error("{path}: {found} is not a {wanted}")]
    Type { path: String, found: String, wanted: &'static str },
    #[error("{path}: index {index} is negative; slots are 0 to {}", LOCAL_CONTEXT_SLOT - 1)]
    Negative { path: String, index: i64 },
    #[error("{path}: index {index} exceeds max slots ({SLOTS})")]
    OutOfRange { path: String, index: u64 },
    #[error(
        "{path}: index {index} is reserved: slots {LOCAL_CONTEXT_SLOT} and {GLOBAL_CONTEXT_SLOT} hold the contexts"
    )]
    Reserved { path: String, index: u64 },
    #[error("{path}: index {index} is already taken by {other}")]
    Duplicate { path: String, index: u64, other: String },
    #[error("{path}: unknown dtype '{dtype}'; there are {known}")]
    DType { path: String, dtype: String, known: String },
    #[error("{path}: '{found}' is not a {what}; there are {known}")]
    Word { path: String, found: String, what: &'static str, known: &'static str },
    #[error("{path}: {value} does not fit {dtype}")]
    Value { path: String, value: String, dtype: String },
    #[error("{path}")]
    Fill { path: String, source: SubstituteError },
    #[error("{path}: a tensor has 1 to {MAX_DIMS} dimensions of 1 to {}, not {found}", u32::MAX)]
    Shape { path: String, found: String },
}

/// The dtype of a scalar that is kept as the bits of a float.
const FLOAT32_BITS: &str = "FLOAT32_BITS";
const TENSOR_KEYS: &str = "kind, index, name, dtype, shape, role, fill";
const SCALAR_KEYS: &str = "kind, index, name, dtype, value, pack_mode";

/// The arguments, by slot.
pub fn parse(text: &[u8]) -> Result<Vec<Argument>, SpecError> {
    let json: Json = serde_json::from_slice(text).map_err(SpecError::Json)?;
    let (path, list) = match &json {
        Json::Array(list) => ("$".to_owned(), list),
        Json::Object(object) => match object.get("args") {
            Some(Json::Array(list)) => ("$.args".to_owned(), list),
            Some(_) => return Err(SpecError::NotAList { path: "$.args".into() }),
            None => return Err(SpecError::NotAList { path: "$".into() }),
        },
        _ => return Err(SpecError::NotAList { path: "$".into() }),
    };
    let mut arguments: Vec<(Argument, String)> = Vec::new();
    for (number, item) in list.iter().enumerate() {
        let path = format!("{path}[{number}]");
        let Json::Object(item) = item else {
            return Err(SpecError::NotAnObject { path, found: type_name(item) });
        };
        let argument = Item { path: &path, item }.argument()?;
        if let Some((_, other)) = arguments.iter().find(|(other, _)| other.slot == argument.slot) {
            let (index, other) = (argument.slot as u64, other.clone());
            return Err(SpecError::Duplicate { path: format!("{path}.index"), index, other });
        }
        arguments.push((argument, path));
    }
    let mut arguments: Vec<Argument> = arguments.into_iter().map(|(argument, _)| argument).collect();
    arguments.sort_by_key(|argument| argument.slot);
    Ok(arguments)
}

/// One item of the list.
struct Item<'a> {
    path: &'a str,
    item: &'a Map<String, Json>,
}

impl Item<'_> {
    fn argument(&self) -> Result<Argument, SpecError> {
        let kind = self.text("kind", "argument", "kind: tensor or scalar")?;
        match kind {
            "tensor" => self.tensor(),
            "scalar" => self.scalar(),
            other => Err(SpecError::Kind { path: self.at("kind"), kind: other.into() }),
        }
    }

    fn tensor(&self) -> Result<Argument, SpecError> {
        const NEEDED: &str = "index, name, dtype and shape";
        self.known("tensor", TENSOR_KEYS)?;
        let slot = self.index("tensor", NEEDED)?;
        let name = self.text("name", "tensor", NEEDED)?;
        let dtype = self.dtype("tensor", NEEDED)?;
        if dtype == FLOAT32_BITS {
            return Err(self.no_dtype(dtype, false));
        }
        let dtype = named(dtype).ok_or_else(|| self.no_dtype(dtype, false))?;
        let shape = self.shape()?;
        let role = match self.optional("role")? {
            None => Role::Input,
            Some(role) => Role::from_name(role).ok_or_else(|| SpecError::Word {
                path: self.at("role"),
                found: role.into(),
                what: "role",
                known: "input, output and inout",
            })?,
        };
        let fill = self.fill()?;
        let mut tensor = TensorArgument::contiguous(dtype, role, &shape);
        let source = match (role, &fill) {
            (Role::Output, None) => "an output of the spec: starts as a pattern".to_owned(),
            (_, None) => "spec: zero".into(),
            (_, Some((text, _))) => format!("spec: {text}"),
        };
        if role != Role::Output || fill.is_some() {
            let value = fill.map_or(Value::Zero, |(_, value)| value);
            let bytes = value
                .fill(slot, &tensor)
                .map_err(|source| SpecError::Fill { path: self.at("fill"), source })?;
            tensor.before = Content::Bytes(bytes);
        }
        if role != Role::Input {
            tensor.after = Content::Missing("an argument spec has no results to compare with".into());
        }
        Ok(Argument { slot, name: name.into(), what: What::Tensor(tensor), source })
    }

    fn scalar(&self) -> Result<Argument, SpecError> {
        const NEEDED: &str = "index, name, dtype and value";
        self.known("scalar", SCALAR_KEYS)?;
        let slot = self.index("scalar", NEEDED)?;
        let name = self.text("name", "scalar", NEEDED)?;
        let dtype_name = self.dtype("scalar", NEEDED)?;
        let dtype = match dtype_name {
            FLOAT32_BITS => DType::F32,
            name => named(name).ok_or_else(|| self.no_dtype(name, true))?,
        };
        let bits = match self.optional("pack_mode")? {
            None => dtype_name == FLOAT32_BITS,
            Some("value") => dtype_name == FLOAT32_BITS,
            Some("bits") => true,
            Some(other) => {
                return Err(SpecError::Word {
                    path: self.at("pack_mode"),
                    found: other.into(),
                    what: "pack_mode",
                    known: "value and bits",
                });
            }
        };
        let text = match self.need("value", "scalar", NEEDED)? {
            Json::Number(number) => number.to_string(),
            Json::Bool(value) => u8::from(*value).to_string(),
            // Values that JSON has no number for, and raw bits.
            Json::String(text) => text.clone(),
            other => {
                let found = type_name(other).into();
                return Err(SpecError::Type { path: self.at("value"), found, wanted: "number" });
            }
        };
        let as_type = if bits { DType::F32 } else { dtype };
        let bits = bits_of(&text, Some(as_type)).map_err(|_| SpecError::Value {
            path: self.at("value"),
            value: text.clone(),
            dtype: if bits { FLOAT32_BITS.into() } else { dtype.name().to_owned() },
        })?;
        let (dtype, source) = (as_type, format!("spec: {text}"));
        Ok(Argument { slot, name: name.into(), what: What::Scalar { dtype, bits }, source })
    }

    fn at(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    fn need(&self, key: &'static str, kind: &'static str, needed: &'static str) -> Result<&Json, SpecError> {
        let missing = || SpecError::MissingKey { path: self.path.into(), key, kind, needed };
        self.item.get(key).ok_or_else(missing)
    }

    fn text(&self, key: &'static str, kind: &'static str, needed: &'static str) -> Result<&str, SpecError> {
        let value = self.need(key, kind, needed)?;
        value.as_str().ok_or_else(|| self.wrong(key, value, "string"))
    }

    fn optional(&self, key: &str) -> Result<Option<&str>, SpecError> {
        match self.item.get(key) {
            None => Ok(None),
            Some(value) => value.as_str().map(Some).ok_or_else(|| self.wrong(key, value, "string")),
        }
    }

    fn wrong(&self, key: &str, value: &Json, wanted: &'static str) -> SpecError {
        SpecError::Type { path: self.at(key), found: value.to_string(), wanted }
    }

    fn known(&self, kind: &'static str, known: &'static str) -> Result<(), SpecError> {
        let unknown = self.item.keys().find(|key| !known.split(", ").any(|name| name == key.as_str()));
        match unknown {
            None => Ok(()),
            Some(key) => Err(SpecError::UnknownKey { path: self.path.into(), key: key.clone(), kind, known }),
        }
    }

    fn index(&self, kind: &'static str, needed: &'static str) -> Result<usize, SpecError> {
        let value = self.need("index", kind, needed)?;
        let path = self.at("index");
        if let Some(index) = value.as_i64().filter(|&index| index < 0) {
            return Err(SpecError::Negative { path, index });
        }
        let index = value.as_u64().ok_or_else(|| self.wrong("index", value, "slot number"))?;
        if index >= SLOTS as u64 {
            return Err(SpecError::OutOfRange { path, index });
        }
        if index >= LOCAL_CONTEXT_SLOT as u64 {
            return Err(SpecError::Reserved { path, index });
        }
        Ok(index as usize)
    }

    fn dtype(&self, kind: &'static str, needed: &'static str) -> Result<&str, SpecError> {
        self.text("dtype", kind, needed)
    }

    fn no_dtype(&self, dtype: &str, scalar: bool) -> SpecError {
        let mut known: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
        if scalar {
            known.push(FLOAT32_BITS);
        }
        SpecError::DType { path: self.at("dtype"), dtype: dtype.into(), known: known.join(", ") }
    }

    fn shape(&self) -> Result<Vec<u32>, SpecError> {
        let value = self.need("shape", "tensor", "index, name, dtype and shape")?;
        let wrong = || SpecError::Shape { path: self.at("shape"), found: value.to_string() };
        let list = value.as_array().filter(|list| (1..=MAX_DIMS).contains(&list.len())).ok_or_else(wrong)?;
        let extent = |value: &Json| value.as_u64().and_then(|extent| u32::try_from(extent).ok());
        let shape: Option<Vec<u32>> = list.iter().map(extent).collect();
        shape.filter(|shape| !shape.contains(&0)).ok_or_else(wrong)
    }

    /// What the tensor is filled with, as written and as understood.
    fn fill(&self) -> Result<Option<(String, Value)>, SpecError> {
        let text = match self.item.get("fill") {
            None => return Ok(None),
            Some(Json::Number(number)) => number.to_string(),
            Some(value) => {
                value.as_str().ok_or_else(|| self.wrong("fill", value, "string or number"))?.into()
            }
        };
        match Value::parse(&text) {
            Some(value) => Ok(Some((text, value))),
            None => Err(SpecError::Word {
                path: self.at("fill"),
                found: text,
                what: "fill",
                known: "zero, random, random:SEED, a number and FILE.npy",
            }),
        }
    }
}

/// The dtype with exactly this name.
fn named(name: &str) -> Option<DType> {
    DType::ALL.into_iter().find(|dtype| dtype.name() == name)
}

fn type_name(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a truth value",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}
