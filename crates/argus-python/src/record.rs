//! One record: its facts, its statistics, its bytes as an array.

use std::sync::Arc;

use argus_abi::Kind;
use argus_dump::read::{self, Scalar};
use argus_dump::summary::{Summary, summarise};
use argus_facts::number::{Number, number};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::dump::Dump;
use crate::errors::{self, Class};

/// One argument of one task at one stage.
#[pyclass(frozen, module = "argus")]
pub struct Record {
    dump: Arc<read::Dump>,
    record: read::Record,
}

impl Record {
    pub fn new(dump: &Arc<read::Dump>, index: usize) -> Record {
        Record { dump: Arc::clone(dump), record: dump.record(index) }
    }

    /// The elements as `argus._arrays` makes them: by this function of a tensor, by that of a scalar.
    fn elements<'py>(
        &self,
        py: Python<'py>,
        of_tensor: &str,
        of_scalar: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let arrays = py.import("argus._arrays")?;
        let Some(dtype) = self.record.dtype else {
            let message = format!("record {} has an element type that is not known", self.record.index);
            let hint = "record.payload() gives its bytes";
            return Err(errors::raise_text(py, Class::Payload, &message, Some(hint)));
        };
        if self.record.kind == Kind::Scalar {
            let Some(Scalar::Bits(bits)) = self.record.scalar else {
                let message = format!(
                    "record {} is a scalar whose exact bits the dump does not have",
                    self.record.index
                );
                return Err(errors::raise_text(
                    py,
                    Class::Payload,
                    &message,
                    Some("record.value gives what it has"),
                ));
            };
            return arrays.getattr(of_scalar)?.call1((bits, dtype.name()));
        }
        let payload = self.payload(py)?;
        if self.record.logical_bytes.is_some_and(|needed| needed != payload.len as u64) {
            let message = format!(
                "record {} has {} of its {} bytes",
                self.record.index,
                payload.len,
                self.record.logical_bytes.unwrap_or_default()
            );
            let hint = "record.payload() gives the bytes that are there";
            return Err(errors::raise_text(py, Class::Payload, &message, Some(hint)));
        }
        arrays.getattr(of_tensor)?.call1((payload, dtype.name(), self.shape(py)?))
    }
}

#[pymethods]
impl Record {
    /// Position in the dump, counted from 0.
    #[getter]
    fn index(&self) -> usize {
        self.record.index
    }

    /// The id of the task, such as ``0x200000001``.
    #[getter]
    fn task_id(&self) -> String {
        self.record.task_id.to_string()
    }

    /// The kernels of the task by name, joined by ``+``; empty where the dump does not know.
    #[getter]
    fn kernel(&self) -> String {
        self.dump.kernel_names(&self.record)
    }

    /// The dump that it is a record of.
    #[getter]
    fn dump(&self) -> Dump {
        Dump::new(Arc::clone(&self.dump))
    }

    /// The number of the argument.
    #[getter]
    fn arg(&self) -> u32 {
        self.record.arg_index
    }

    /// ``before`` dispatch or ``after`` completion.
    #[getter]
    fn stage(&self) -> &'static str {
        match self.record.stage {
            argus_abi::Stage::BeforeDispatch => "before",
            argus_abi::Stage::AfterCompletion => "after",
        }
    }

    /// ``input``, ``output`` or ``inout``.
    #[getter]
    fn role(&self) -> &'static str {
        self.record.role.name()
    }

    /// ``tensor`` or ``scalar``.
    #[getter]
    fn kind(&self) -> &'static str {
        self.record.kind.name()
    }

    /// The element type as dumps write it, such as ``FLOAT32``; ``None`` if it is not known.
    #[getter]
    fn dtype(&self) -> Option<&'static str> {
        self.record.dtype.map(|dtype| dtype.name())
    }

    /// Extents of the view; empty for a scalar.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.record.shape())
    }

    /// Steps of the view in its buffer on the device, in elements. The payload in the dump has no gaps.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.record.strides())
    }

    /// Where the tensor's buffer began on the device; ``None`` where the dump does not say.
    #[getter]
    fn address(&self) -> Option<u64> {
        self.record.address
    }

    /// Bytes of the payload in the dump; 0 if none was kept.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.record.bin_size
    }

    /// The value of a scalar; ``None`` for a tensor, and where the dump has no value.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(scalar) = self.record.scalar.filter(|_| self.record.kind == Kind::Scalar) else {
            return Ok(None);
        };
        let number = match (scalar, self.record.dtype) {
            (Scalar::Bits(bits), Some(dtype)) => number(dtype, bits),
            (Scalar::Bits(bits), None) => Number::Unsigned(bits),
            (Scalar::Rounded(value), _) => Number::Float(value),
        };
        to_python(py, number).map(Some)
    }

    /// What its elements have in common; ``None`` for a scalar and where there is no payload.
    ///
    /// >>> import argus
    /// >>> record = argus.open("my_run").filter(kernel="mul", role="output")[0]
    /// >>> record.statistics.min, record.statistics.nan
    /// (42.0, 0)
    #[getter]
    fn statistics(&self, py: Python<'_>) -> Option<Statistics> {
        py.detach(|| Statistics::of(&self.dump, &self.record))
    }

    /// The bytes of a tensor in the mapped file, in logical order; of a truncated one as many as there are.
    ///
    /// NumPy takes them without a copy: ``numpy.asarray(record.payload())``.
    fn payload(&self, py: Python<'_>) -> PyResult<Payload> {
        let bytes =
            py.detach(|| self.dump.payload(&self.record).map(|bytes| (bytes.as_ptr() as usize, bytes.len())));
        let (address, len) = bytes.map_err(|error| errors::payload(py, &error))?;
        Ok(Payload { address, len, _dump: Arc::clone(&self.dump) })
    }

    /// The tensor as a NumPy array: read-only, in its shape, without a copy. Its memory is the mapped file, which stays
    /// mapped as long as the array lives.
    ///
    /// BF16 and FP8 have the types of ml_dtypes. Two FP4 share a byte in a dump and have one each in NumPy, so these
    /// alone are unpacked into memory of their own. A scalar gives an array without dimensions.
    ///
    /// >>> import argus
    /// >>> record = argus.open("my_run").filter(kernel="mul", role="output")[0]
    /// >>> array = record.numpy()
    /// >>> array.shape, array.dtype.name, array.flags.writeable, float(array.min())
    /// ((16384,), 'float32', False, 42.0)
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.elements(py, "array", "scalar")
    }

    /// The tensor as a torch tensor of its own memory: torch has no read-only tensors, and a write into a mapped file
    /// would end the process. Needs torch.
    fn torch<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.elements(py, "torch_tensor", "torch_scalar")
    }

    fn __repr__(&self) -> String {
        let record = &self.record;
        format!(
            "<argus.Record {}: {} {} arg {} {} {} {} {:?}>",
            record.index,
            record.task_id,
            self.kernel(),
            record.arg_index,
            record.role.name(),
            self.stage(),
            self.dtype().unwrap_or("of unknown type"),
            record.shape(),
        )
    }

    fn _repr_html_<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("argus._html")?.getattr("record")?.call1((slf,))
    }
}

/// A number as Python has it.
pub fn to_python(py: Python<'_>, number: Number) -> PyResult<Bound<'_, PyAny>> {
    Ok(match number {
        Number::Float(value) => value.into_pyobject(py)?.into_any(),
        Number::Signed(value) => value.into_pyobject(py)?.into_any(),
        Number::Unsigned(value) => value.into_pyobject(py)?.into_any(),
        Number::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
    })
}

/// What the elements of a tensor have in common, as `argus stats` tells it.
#[pyclass(frozen, module = "argus")]
#[derive(Clone)]
pub struct Statistics {
    summary: Summary,
}

impl Statistics {
    /// Of a payload that is there.
    pub fn of(dump: &read::Dump, record: &read::Record) -> Option<Statistics> {
        let payload = dump.payload(record).ok().filter(|_| record.has_payload())?;
        Some(Statistics { summary: summarise(record.dtype?, record.numel()?, payload) })
    }
}

#[pymethods]
impl Statistics {
    /// Elements that were there.
    #[getter]
    fn count(&self) -> u64 {
        self.summary.count
    }

    /// The least element but NaN; ``None`` if there is none.
    #[getter]
    fn min<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.summary.min.map(|number| to_python(py, number)).transpose()
    }

    /// The largest element but NaN; ``None`` if there is none.
    #[getter]
    fn max<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.summary.max.map(|number| to_python(py, number)).transpose()
    }

    /// The largest absolute value but NaN; ``None`` if there is none.
    #[getter]
    fn abs_max<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.summary.abs_max.map(|number| to_python(py, number)).transpose()
    }

    /// The mean of finite elements; ``None`` if there is none.
    #[getter]
    fn mean(&self) -> Option<f64> {
        self.summary.mean
    }

    /// The standard deviation of finite elements; ``None`` if there is none.
    #[getter]
    fn std(&self) -> Option<f64> {
        self.summary.std
    }

    /// Elements that are 0.
    #[getter]
    fn zero(&self) -> u64 {
        self.summary.zero
    }

    /// NaN that an instruction wrote.
    #[getter]
    fn nan(&self) -> u64 {
        self.summary.written_nan()
    }

    /// Elements that hold the pattern of fresh memory: nothing has written them.
    #[getter]
    fn unwritten(&self) -> u64 {
        self.summary.unwritten
    }

    /// Infinities of either sign.
    #[getter]
    fn inf(&self) -> u64 {
        self.summary.inf()
    }

    /// Floats that lack precision because they are too small.
    #[getter]
    fn subnormal(&self) -> u64 {
        self.summary.subnormal
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let text = |number: Option<Number>| -> PyResult<String> {
            Ok(match number {
                Some(number) => to_python(py, number)?.repr()?.to_string(),
                None => "None".to_owned(),
            })
        };
        let Summary { count, min, max, mean, .. } = self.summary;
        let mean = text(mean.map(Number::Float))?;
        let (nan, inf) = (self.nan(), self.inf());
        let (min, max) = (text(min)?, text(max)?);
        Ok(format!(
            "<argus.Statistics of {count}: min {min}, max {max}, mean {mean}, {nan} NaN, {inf} infinite>"
        ))
    }
}

/// Bytes in a mapped file of a dump, read-only. They stay mapped as long as this object, or an array over it, lives.
#[pyclass(frozen, module = "argus")]
pub struct Payload {
    address: usize,
    len: usize,
    /// Holds the map.
    _dump: Arc<read::Dump>,
}

impl Payload {
    /// These bytes, if they lie in the dump's file and stay there.
    pub fn of(dump: &Arc<read::Dump>, bytes: &[u8]) -> Option<Payload> {
        let held = dump.holds(bytes);
        held.then(|| Payload { address: bytes.as_ptr() as usize, len: bytes.len(), _dump: Arc::clone(dump) })
    }
}

#[pymethods]
impl Payload {
    /// The bytes as NumPy takes them without copying.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", (self.len,))?;
        interface.set_item("typestr", "|u1")?;
        interface.set_item("data", (self.address, true))?;
        Ok(interface)
    }

    fn __len__(&self) -> usize {
        self.len
    }
}
