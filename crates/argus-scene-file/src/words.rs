//! The words that a file may use.

use argus_abi::{ArgDirection, CoreType, DType, RuntimeKind};
use argus_compile::Generation;

use crate::error::SceneFileError;

fn refuse<T>(found: Option<T>, what: &str, word: &str, known: &'static str) -> Result<T, SceneFileError> {
    found.ok_or_else(|| SceneFileError::Word { what: what.into(), found: word.into(), known })
}

pub fn runtime(word: &str) -> Result<RuntimeKind, SceneFileError> {
    refuse(RuntimeKind::by_name(word), "the runtime", word, "hbg, abg or trb, or a long name of one of them")
}

pub fn generation(word: &str) -> Result<Generation, SceneFileError> {
    refuse(Generation::by_name(word), "the generation", word, "april, june or august")
}

pub fn core_type(word: &str, what: &str) -> Result<CoreType, SceneFileError> {
    let found = match word {
        "aic" => Some(CoreType::Aic),
        "aiv" => Some(CoreType::Aiv),
        _ => None,
    };
    refuse(found, what, word, "aic or aiv")
}

pub fn direction(word: &str, what: &str) -> Result<ArgDirection, SceneFileError> {
    let found = match word {
        "in" => Some(ArgDirection::In),
        "out" => Some(ArgDirection::Out),
        "inout" => Some(ArgDirection::Inout),
        "scalar" => Some(ArgDirection::Scalar),
        _ => None,
    };
    refuse(found, what, word, "in, out, inout or scalar")
}

pub fn tensor_direction(word: &str, what: &str) -> Result<ArgDirection, SceneFileError> {
    let found = direction(word, what).ok().filter(|direction| *direction != ArgDirection::Scalar);
    refuse(found, what, word, "in, out or inout")
}

pub fn dtype(word: &str, what: &str) -> Result<DType, SceneFileError> {
    refuse(DType::from_typed(word), what, word, "an element type such as f32, bf16, i32 or FP8E4M3FN")
}
