//! Goldens per kernel in Python: what a function says that a task's outputs should hold.
//!
//! What goes in: a task as a search sees it. What a function gets is made in Python (`argus._goldens`); here are the bytes
//! on the way there and back. Inputs are views of the mapped dump wherever they lie in it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use argus_dump::read;
use argus_facts::{Argument, Call, Expected, NoReference, References};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::record::Payload;

/// References that are a function in Python.
pub struct Goldens {
    dump: Arc<read::Dump>,
    function: Py<PyAny>,
    /// Set with the first exception: no other task need be looked at.
    pub failed: AtomicBool,
    error: Mutex<Option<PyErr>>,
}

/// An output as Python gives it: slot, elements in logical order.
type Output = (u32, Vec<u8>);

impl Goldens {
    pub fn new(dump: &Arc<read::Dump>, function: Py<PyAny>) -> Goldens {
        Goldens { dump: Arc::clone(dump), function, failed: AtomicBool::new(false), error: Mutex::new(None) }
    }

    /// The first exception that the function raised.
    pub fn raised(&self) -> Option<PyErr> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn argument<'py>(&self, py: Python<'py>, argument: &Argument<'_>) -> PyResult<Bound<'py, PyAny>> {
        let bytes: Option<Bound<'py, PyAny>> = match argument.before {
            None => None,
            Some(bytes) => Some(match Payload::of(&self.dump, bytes) {
                Some(payload) => Bound::new(py, payload)?.into_any(),
                // What a search makes up to try out a suspicion is gone when the call returns.
                None => PyBytes::new(py, bytes).into_any(),
            }),
        };
        let Argument { slot, role, dtype, shape, scalar_bits, .. } = argument;
        let facts = (*slot, role.name(), dtype.name(), shape.clone(), bytes, *scalar_bits);
        Ok(facts.into_pyobject(py)?.into_any())
    }

    fn call(&self, py: Python<'_>, call: &Call<'_>) -> PyResult<Option<Vec<Output>>> {
        let arguments = PyList::empty(py);
        for argument in call.arguments {
            arguments.append(self.argument(py, argument)?)?;
        }
        let facts =
            (call.task.to_string(), call.kernels.to_vec(), call.func_ids.to_vec(), call.blocks, arguments);
        let function = py.import("argus._goldens")?.getattr("expected")?;
        function.call1((&self.function, facts))?.extract()
    }
}

impl References for Goldens {
    fn expected(&self, call: &Call<'_>) -> Result<Vec<Expected>, NoReference> {
        let kernels = || call.kernels.join("+");
        if self.failed.load(Ordering::Relaxed) {
            return Err(NoReference::Golden { kernels: kernels() });
        }
        let outputs = Python::attach(|py| self.call(py, call));
        match outputs {
            Ok(Some(outputs)) => Ok(outputs
                .into_iter()
                .map(|(slot, bytes)| Expected { slot, bytes, unchecked: None, reduction: None, exact: false })
                .collect()),
            Ok(None) => Err(NoReference::Golden { kernels: kernels() }),
            Err(error) => {
                let mut first = self.error.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert(error);
                self.failed.store(true, Ordering::Relaxed);
                Err(NoReference::Golden { kernels: kernels() })
            }
        }
    }
}
