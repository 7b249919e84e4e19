//! The arguments of a case, and what its outputs must hold.

use std::path::{Path, PathBuf};

use argus_abi::{ArgDirection, DType, MAX_DIMS};
use argus_arrays::{Array, Elements};
use argus_facts::number::nearest;
use argus_runtime::{HostArgs, HostTensor};
use argus_scene::Expected;
use argus_scene::generator::Generator;

use crate::error::SceneFileError;
use crate::file::{ArrayText, CaseText, Extent, InputText, ScalarText, SceneFile, TensorText, Value};
use crate::words;

/// More than the memory of any chip that is simulated.
const LARGEST: u64 = 64 << 30;

/// What a case is run with and judged by.
#[derive(Debug)]
pub struct Arguments {
    pub args: HostArgs,
    pub expected: Vec<Expected>,
}

/// Where the numbers of a case come from.
struct Maker<'a> {
    scene: &'a str,
    case: &'a CaseText,
    directory: &'a Path,
}

/// The arguments of a case. Paths are relative to `directory`.
pub fn arguments(file: &SceneFile, case: &CaseText, directory: &Path) -> Result<Arguments, SceneFileError> {
    let maker = Maker { scene: &file.name, case, directory };
    let tensors = replaced(case, "tensor", &file.tensors, &case.tensors, |tensor| &tensor.name)?;
    let scalars = replaced(case, "scalar", &file.scalars, &case.scalars, |scalar| &scalar.name)?;
    let mut arguments = Arguments { args: HostArgs::default(), expected: Vec::new() };
    for tensor in tensors {
        let (made, expected) = maker.tensor(tensor)?;
        if arguments.args.tensors.iter().any(|other| other.name == made.name) {
            return Err(SceneFileError::Twice(format!("tensor '{}'", made.name)));
        }
        arguments.args.tensors.push(made);
        arguments.expected.extend(expected);
    }
    arguments.args.scalars = scalars.map(|scalar| maker.scalar(scalar)).collect::<Result<_, _>>()?;
    Ok(arguments)
}

/// The scene's own, or the case's where it has one of the same name.
fn replaced<'a, T>(
    case: &CaseText,
    what: &'static str,
    own: &'a [T],
    replacing: &'a [T],
    name: fn(&T) -> &String,
) -> Result<impl Iterator<Item = &'a T>, SceneFileError> {
    if let Some(stray) = replacing.iter().find(|one| !own.iter().any(|other| name(other) == name(one))) {
        let (case, name) = (case.name.clone(), name(stray).clone());
        return Err(SceneFileError::NothingToReplace { case, what, name });
    }
    Ok(own.iter().map(move |one| replacing.iter().find(|other| name(other) == name(one)).unwrap_or(one)))
}

impl Maker<'_> {
    fn parameter(&self, name: &str, user: String) -> Result<f64, SceneFileError> {
        self.case.params.get(name).copied().ok_or_else(|| SceneFileError::NoParameter {
            case: self.case.name.clone(),
            user,
            name: name.into(),
        })
    }

    fn tensor(&self, text: &TensorText) -> Result<(HostTensor, Option<Expected>), SceneFileError> {
        let tensor = || text.name.clone();
        let direction =
            words::tensor_direction(&text.direction, &format!("direction of tensor '{}'", text.name))?;
        let dtype = words::dtype(&text.dtype, &format!("dtype of tensor '{}'", text.name))?;
        let shape =
            text.shape.iter().map(|extent| self.extent(text, extent)).collect::<Result<Vec<u32>, _>>()?;
        if shape.len() > MAX_DIMS {
            return Err(SceneFileError::Rank { tensor: tensor(), extents: shape.len() });
        }
        let elements = shape.iter().try_fold(1u64, |count, &extent| count.checked_mul(extent.into()));
        let bytes = elements.and_then(|count| dtype.packed_bytes(count));
        let (elements, bytes) = match (elements, bytes) {
            (Some(elements), Some(bytes)) if bytes <= LARGEST => (elements, bytes as usize),
            _ => return Err(SceneFileError::TooLarge { tensor: tensor() }),
        };
        let content = match &text.input {
            None => vec![0; bytes],
            Some(input) => self.input(text, input, dtype, &shape, elements)?,
        };
        let expected = match &text.expected {
            None => None,
            Some(_) if direction == ArgDirection::In => {
                return Err(SceneFileError::ExpectedInput { tensor: tensor() });
            }
            Some(array) => {
                let bytes = self.array(text, array, dtype, &shape)?;
                Some(Expected { name: tensor(), dtype, bytes })
            }
        };
        Ok((HostTensor { name: tensor(), direction, dtype, shape, bytes: content }, expected))
    }

    fn extent(&self, text: &TensorText, extent: &Extent) -> Result<u32, SceneFileError> {
        match extent {
            Extent::Number(number) => Ok(*number),
            Extent::Name(name) => {
                let value = self.parameter(name, format!("tensor '{}'", text.name))?;
                let whole = value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value);
                let refused = || SceneFileError::Extent { tensor: text.name.clone(), value };
                whole.then_some(value as u32).ok_or_else(refused)
            }
        }
    }

    fn input(
        &self,
        text: &TensorText,
        input: &InputText,
        dtype: DType,
        shape: &[u32],
        elements: u64,
    ) -> Result<Vec<u8>, SceneFileError> {
        let ambiguous = || SceneFileError::Input { tensor: text.name.clone() };
        let mut generator = Generator::for_argument(self.scene, &self.case.name, &text.name);
        let InputText { fill, uniform, normal, count, below, file, key } = input;
        let values: Box<dyn FnMut(u64) -> f64> = match (fill, uniform, normal, count, below, file) {
            (Some(value), None, None, None, None, None) => {
                let value = *value;
                Box::new(move |_| value)
            }
            (None, Some([low, high]), None, None, None, None) => {
                let (low, high) = (*low as f32, *high as f32);
                Box::new(move |_| f64::from(generator.uniform_f32(low, high)))
            }
            (None, None, Some(scale), None, None, None) => {
                let scale = *scale as f32;
                Box::new(move |_| f64::from(generator.normal_f32() * scale))
            }
            (None, None, None, Some([first, step]), None, None) => {
                let (first, step) = (*first, *step);
                Box::new(move |index| first + step * index as f64)
            }
            (None, None, None, None, Some(limit), None) if *limit > 0 => {
                let limit = *limit;
                Box::new(move |_| f64::from(generator.below(limit)))
            }
            (None, None, None, None, None, Some(file)) => {
                let array = ArrayText { file: file.clone(), key: key.clone() };
                return self.array(text, &array, dtype, shape);
            }
            _ => return Err(ambiguous()),
        };
        if key.is_some() {
            return Err(ambiguous());
        }
        encode(text, dtype, elements, values)
    }

    /// The bytes of an array in a file, which must be of the tensor's type and shape.
    fn array(
        &self,
        text: &TensorText,
        array: &ArrayText,
        dtype: DType,
        shape: &[u32],
    ) -> Result<Vec<u8>, SceneFileError> {
        let path = self.directory.join(&array.file);
        let found = argus_arrays::read(&path, array.key.as_deref()).map_err(|source| {
            SceneFileError::Array { tensor: text.name.clone(), path: path.clone(), source }
        })?;
        let same_shape = found.shape.iter().copied().eq(shape.iter().map(|&extent| u64::from(extent)));
        if same_shape && holds(&found, dtype) {
            return Ok(found.bytes);
        }
        Err(differs(text, path, (dtype, shape), &found))
    }

    fn scalar(&self, text: &ScalarText) -> Result<u64, SceneFileError> {
        let dtype = words::dtype(&text.dtype, &format!("dtype of scalar '{}'", text.name))?;
        let value = match &text.value {
            Value::Number(value) => *value,
            Value::Name(name) => self.parameter(name, format!("scalar '{}'", text.name))?,
        };
        let refused = || SceneFileError::ScalarDoesNotFit { scalar: text.name.clone(), value, dtype };
        nearest(dtype, value).ok_or_else(refused)
    }
}

/// Whether the elements of an array are those of a type. A type that NumPy does not know is kept as raw bits of its
/// width.
fn holds(array: &Array, dtype: DType) -> bool {
    match array.elements {
        Elements::Known(found) => found == dtype || (found == DType::U16 && dtype == DType::Bf16),
        Elements::Raw(width) => width == dtype.size() as u64,
        Elements::F64 => false,
    }
}

fn differs(text: &TensorText, path: PathBuf, wanted: (DType, &[u32]), found: &Array) -> SceneFileError {
    let elements = match found.elements {
        Elements::Known(dtype) => dtype.name().to_owned(),
        Elements::F64 => "FLOAT64".into(),
        Elements::Raw(width) => format!("raw elements of {width} bytes"),
    };
    SceneFileError::ArrayDiffers {
        tensor: text.name.clone(),
        path,
        wanted: format!("{} {:?}", wanted.0, wanted.1),
        found: format!("{elements} {:?}", found.shape),
    }
}

/// Values as elements of a type, packed as in memory.
fn encode(
    text: &TensorText,
    dtype: DType,
    elements: u64,
    mut value: impl FnMut(u64) -> f64,
) -> Result<Vec<u8>, SceneFileError> {
    let mut bytes = Vec::new();
    for index in 0..elements {
        let value = value(index);
        let refused = || SceneFileError::DoesNotFit { tensor: text.name.clone(), value, dtype };
        let bits = nearest(dtype, value).ok_or_else(refused)?;
        match (dtype, bytes.last_mut()) {
            // Two lie in one byte, the first in its low half.
            (DType::Fp4E2M1, Some(last)) if index % 2 == 1 => *last |= (bits as u8) << 4,
            _ => bytes.extend(&bits.to_le_bytes()[..dtype.size()]),
        }
    }
    Ok(bytes)
}
