//! Files in the reference's layouts, out of a dump of ours.

use std::path::PathBuf;

use argus_dump::read::Dump;
use argus_export::{Target, convert};
use pyo3::prelude::*;

use crate::errors::{self, Class};

/// Writes a dump in another layout (`june` or `august`) into a directory.
#[pyfunction]
pub fn convert_dump(py: Python<'_>, dump: PathBuf, layout: &str, out: PathBuf) -> PyResult<()> {
    let target = Target::from_name(layout).ok_or_else(|| {
        errors::raise_text(py, Class::Usage, &format!("there is no layout '{layout}'"), None)
    })?;
    let opened = py.detach(|| Dump::open(&dump)).map_err(|error| errors::open(py, &error))?;
    let converted = py.detach(|| convert(&opened, target, &out, false, &|_, _| ()));
    converted.map(drop).map_err(|error| errors::raise(py, Class::Run, &error, None))
}
