//! One safetensors file.

use std::borrow::Cow;
use std::collections::HashMap;

use argus_abi::DType;
use safetensors::tensor::{Dtype, View};
use serde_json::Value;

use super::Job;
use crate::content::{Array, NoArray, array};
use crate::error::ExportError;
use crate::output::{Output, finish};
use crate::report::{Remarks, Report};
use crate::row::index_item;

const FILE: &str = "tensors.safetensors";
/// The key of the index in the file's metadata. It is the only one: the order of several would be left to chance.
const METADATA: &str = "argus_index";

pub(crate) fn export(job: &Job<'_>, output: Output) -> Result<Report, ExportError> {
    output.check_free([FILE.to_owned()])?;
    let (mut without, mut remarks) = (Remarks::default(), Remarks::default());
    let mut items = Vec::with_capacity(job.records.len());
    let mut tensors = Vec::with_capacity(job.records.len());
    for record in job.records() {
        let name = job.names.stem(&record);
        let tensor = array(job.dump, &record).and_then(|mut array| {
            remarks.take(record.index, array.remark.take());
            Tensor::new(job, record.index, array)
        });
        match tensor {
            Ok(tensor) => {
                items.push(index_item(job.dump, &record, &name, Ok(&tensor.dtype.to_string())));
                tensors.push((name, tensor));
            }
            Err(why) => {
                items.push(index_item(job.dump, &record, &name, Err(&why)));
                without.without(record.index, &why);
                job.progress.add(&record);
            }
        }
    }
    let metadata = HashMap::from([(METADATA.to_owned(), Value::Array(items).to_string())]);
    let path = output.stage(FILE);
    safetensors::serialize_to_file(tensors, Some(metadata), &path)
        .map_err(|error| ExportError::Format { path: FILE.into(), why: error.to_string() })?;
    finish(output, job.records.len(), without.groups(), remarks.groups())
}

/// A record whose bytes are fetched when they are written.
struct Tensor<'a> {
    job: &'a Job<'a>,
    index: usize,
    dtype: Dtype,
    shape: Vec<usize>,
    len: usize,
    array: Array<'a>,
}

impl<'a> Tensor<'a> {
    fn new(job: &'a Job<'a>, index: usize, array: Array<'a>) -> Result<Tensor<'a>, NoArray> {
        let dtype = match array.dtype {
            Some(DType::F32) => Dtype::F32,
            Some(DType::F16) => Dtype::F16,
            Some(DType::Bf16) => Dtype::BF16,
            Some(DType::I32) => Dtype::I32,
            Some(DType::I16) => Dtype::I16,
            Some(DType::I8) => Dtype::I8,
            Some(DType::I64) => Dtype::I64,
            Some(DType::U64) => Dtype::U64,
            Some(DType::U16) => Dtype::U16,
            Some(DType::U32) => Dtype::U32,
            Some(DType::Bool) if array.storage() == "|b1" => Dtype::BOOL,
            // The Python package gives NumPy none of the small floats.
            _ => Dtype::U8,
        };
        let fits = |extent: &u64| usize::try_from(*extent).map_err(|_| NoArray::TooLarge);
        let shape = array.shape.iter().map(fits).collect::<Result<Vec<_>, _>>()?;
        let len = match array.dtype {
            Some(DType::Fp4E2M1) => usize::try_from(array.elements()).map_err(|_| NoArray::TooLarge)?,
            _ => array.bytes.len(),
        };
        Ok(Tensor { job, index, dtype, shape, len, array })
    }
}

impl View for Tensor<'_> {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        self.job.progress.add(&self.job.dump.record(self.index));
        self.array.unpacked()
    }

    fn data_len(&self) -> usize {
        self.len
    }
}
