//! `argus.open`: a dump, its records filtered like `argus view`, and its tasks.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use argus_dump::filter::Filter;
use argus_dump::read::{self, Ending};
use argus_export::{Format, Options, PARQUET_FILE};
use argus_facts::TaskSelector;
use argus_facts::task_selector::TASK_FORMS;
use argus_find::tasks::Tasks;
use argus_replay::{Listing, TaskChoice};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice};
use rayon::prelude::*;

use crate::errors::{self, Class, Refusal};
use crate::long;
use crate::record::{Record, Statistics};
use crate::task::Task;

/// Opens the dump at ``path``: its directory, the directory of a run with one dump, or a file of a dump.
///
/// Nothing is read but the list of records; payloads are mapped, and read when an array of them is looked at.
///
/// >>> import argus
/// >>> dump = argus.open("my_run")
/// >>> len(dump)
/// 18
/// >>> dump.scene, dump.case, dump.ending
/// ('vector_example', 'default', 'complete')
#[pyfunction]
pub fn open(py: Python<'_>, path: PathBuf) -> PyResult<Dump> {
    let opened = py.detach(|| read::Dump::open(&path));
    opened.map(|dump| Dump::new(Arc::new(dump))).map_err(|error| errors::open(py, &error))
}

/// A dump: a sequence of records.
///
/// Open one with :func:`argus.open`.
#[pyclass(frozen, module = "argus", sequence)]
pub struct Dump {
    pub dump: Arc<read::Dump>,
    /// Grouped when a task is asked for first.
    tasks: Arc<OnceLock<Tasks>>,
}

impl Dump {
    pub fn new(dump: Arc<read::Dump>) -> Dump {
        Dump { dump, tasks: Arc::default() }
    }

    fn listed(&self) -> &Tasks {
        self.tasks.get_or_init(|| Tasks::new(&self.dump, None))
    }

    fn task_at(&self, at: usize) -> Task {
        Task::new(&self.dump, self.listed().get(at))
    }
}

#[pymethods]
impl Dump {
    /// Where the dump's files lie.
    #[getter]
    fn directory(&self) -> PathBuf {
        self.dump.directory().to_path_buf()
    }

    /// Who wrote the dump: ``argus``, or the reference at ``april``, ``june`` or ``august``.
    #[getter]
    fn format_version(&self) -> &'static str {
        self.dump.format_version().name()
    }

    /// What a user should know before anything else.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.dump.notes().to_vec()
    }

    /// How the run ended: ``complete``, ``failed``, ``unfinished`` (it was killed, or is still active) or ``unknown``.
    #[getter]
    fn ending(&self) -> &'static str {
        match self.dump.ending() {
            Ending::Complete => "complete",
            Ending::Failed { .. } => "failed",
            Ending::Unfinished { .. } => "unfinished",
            Ending::Unknown => "unknown",
        }
    }

    /// Why the run failed or is not finished; ``None`` if there is nothing to explain.
    #[getter]
    fn why(&self) -> Option<String> {
        match self.dump.ending() {
            Ending::Failed { error } => Some(error.clone()),
            Ending::Unfinished { why } => Some(why.clone()),
            Ending::Complete | Ending::Unknown => None,
        }
    }

    /// The scene that was run; ``None`` where the dump does not say.
    #[getter]
    fn scene(&self) -> Option<String> {
        self.fact(|facts| &facts.scene)
    }

    /// The case that was run; ``None`` where the dump does not say.
    #[getter]
    fn case(&self) -> Option<String> {
        self.fact(|facts| &facts.case)
    }

    /// The platform of the run; ``None`` where the dump does not say.
    #[getter]
    fn platform(&self) -> Option<String> {
        self.fact(|facts| &facts.platform)
    }

    /// The runtime of the run; ``None`` where the dump does not say.
    #[getter]
    fn runtime(&self) -> Option<String> {
        self.fact(|facts| &facts.runtime)
    }

    fn __len__(&self) -> usize {
        self.dump.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        item(py, &self.dump, index, self.dump.len(), |index| index)
    }

    fn __iter__(&self) -> RecordIterator {
        RecordIterator { dump: Arc::clone(&self.dump), selected: None, next: AtomicUsize::new(0) }
    }

    fn __repr__(&self) -> String {
        let records = self.dump.len();
        format!("<argus.Dump {}: {records} records, {}>", self.dump.directory().display(), self.ending())
    }

    /// The records for which all conditions hold, selected as `argus view` does.
    ///
    /// Conditions have the names of the command's options with ``_`` for ``-``, and the same values.
    ///
    /// >>> import argus
    /// >>> dump = argus.open("my_run")
    /// >>> outputs = dump.filter(role="output", stage="after")
    /// >>> [(record.kernel, record.shape) for record in outputs][0]
    /// ('add', (16384,))
    /// >>> len(dump.filter(kernel="mul", dtype="f32"))
    /// 3
    #[pyo3(signature = (**conditions))]
    fn filter(&self, py: Python<'_>, conditions: Option<&Bound<'_, PyDict>>) -> PyResult<Records> {
        let filter = conditions.map_or_else(|| Ok(Filter::default()), |typed| parse(py, typed))?;
        let selected = py.detach(|| filter.select(&self.dump)).map_err(|error| errors::filter(py, &error))?;
        Ok(Records { dump: Arc::clone(&self.dump), selected: Arc::new(selected) })
    }

    /// All records, as a selection.
    fn records(&self) -> Records {
        Records { dump: Arc::clone(&self.dump), selected: Arc::new((0..self.dump.len()).collect()) }
    }

    /// The tasks of the dump, each after those that it waits for.
    ///
    /// >>> import argus
    /// >>> [task.kernel for task in argus.open("my_run").tasks()]
    /// ['add', 'add_scalar', 'add_scalar', 'mul', 'add']
    fn tasks(&self, py: Python<'_>) -> Vec<Task> {
        let tasks = py.detach(|| self.listed());
        tasks.order().iter().map(|&at| self.task_at(at)).collect()
    }

    /// The task that ``task`` names, as on the command line: an id with ``0x``, a number that counts tasks from 0, or the
    /// n-th task of a kernel.
    ///
    /// >>> import argus
    /// >>> argus.open("my_run").task("mul:0").kernel
    /// 'mul'
    fn task(&self, py: Python<'_>, task: &Bound<'_, PyAny>) -> PyResult<Task> {
        let text = task.str()?.to_string();
        let selector = parse_task(py, &text)?;
        let choice = TaskChoice { task: Some(selector), ..TaskChoice::default() };
        let chosen = py.detach(|| {
            let chosen = Listing::from_dump(&self.dump).select(&choice);
            chosen.map(|listed| (listed.task, self.listed().find(listed.task)))
        });
        match chosen {
            Ok((_, Some(at))) => Ok(self.task_at(at)),
            Ok((id, None)) => {
                Err(errors::raise_text(py, Class::Usage, &format!("task {id} has no records"), None))
            }
            Err(error) => Err(errors::raise(py, Class::Usage, &error, None)),
        }
    }

    /// Statistics of every record, computed by all processors; ``None`` for scalars and where there is no payload.
    ///
    /// >>> import argus
    /// >>> statistics = argus.open("my_run").statistics()
    /// >>> statistics[0].count
    /// 16384
    fn statistics(&self, py: Python<'_>) -> PyResult<Vec<Option<Statistics>>> {
        self.records().statistics(py)
    }

    /// The records as an Arrow table, with the columns of `argus export --format parquet`. Needs pyarrow.
    fn to_arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.records().to_arrow(py)
    }

    /// The records as a pandas data frame. Needs pandas and pyarrow.
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.records().to_pandas(py)
    }

    /// The records as a polars data frame. Needs polars.
    fn to_polars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.records().to_polars(py)
    }

    fn _repr_html_<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("argus._html")?.getattr("dump")?.call1((slf,))
    }
}

impl Dump {
    fn fact(&self, of: impl Fn(&read::RunFacts) -> &String) -> Option<String> {
        self.dump.run().map(of).filter(|text| !text.is_empty()).cloned()
    }
}

/// Some records of a dump, in the dump's order.
///
/// :meth:`Dump.filter` makes one.
#[pyclass(frozen, module = "argus", sequence)]
pub struct Records {
    dump: Arc<read::Dump>,
    selected: Arc<Vec<usize>>,
}

#[pymethods]
impl Records {
    fn __len__(&self) -> usize {
        self.selected.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        item(py, &self.dump, index, self.selected.len(), |index| self.selected[index])
    }

    fn __iter__(&self) -> RecordIterator {
        let selected = Some(Arc::clone(&self.selected));
        RecordIterator { dump: Arc::clone(&self.dump), selected, next: AtomicUsize::new(0) }
    }

    fn __repr__(&self) -> String {
        format!("<argus.Records: {} of {}>", self.selected.len(), self.dump.directory().display())
    }

    /// Statistics of each record, computed by all processors; ``None`` for scalars and where there is no payload.
    fn statistics(&self, py: Python<'_>) -> PyResult<Vec<Option<Statistics>>> {
        let (stop, done) = (AtomicBool::new(false), AtomicUsize::new(0));
        let total = self.selected.len();
        let line = || Some(format!("statistics of {} of {total} records", done.load(Relaxed)));
        long::attended(
            py,
            || stop.store(true, Relaxed),
            line,
            || {
                let of = |&index: &usize| {
                    done.fetch_add(1, Relaxed);
                    if stop.load(Relaxed) {
                        None
                    } else {
                        Statistics::of(&self.dump, &self.dump.record(index))
                    }
                };
                self.selected.par_iter().map(of).collect()
            },
        )
    }

    /// The records as an Arrow table, with the columns of `argus export --format parquet`. Needs pyarrow.
    ///
    /// >>> import argus
    /// >>> table = argus.open("my_run").filter(role="output").to_arrow()
    /// >>> table.select(["kernel", "dtype", "count"]).to_pylist()[0]
    /// {'kernel': 'add', 'dtype': 'FLOAT32', 'count': 16384}
    fn to_arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.frame(py, "arrow")
    }

    /// The records as a pandas data frame. Needs pandas and pyarrow.
    ///
    /// >>> import argus
    /// >>> frame = argus.open("my_run").filter(role="output").to_pandas()
    /// >>> int(frame["nan"].sum())
    /// 0
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.frame(py, "pandas")
    }

    /// The records as a polars data frame. Needs polars.
    ///
    /// >>> import argus
    /// >>> frame = argus.open("my_run").filter(role="output").to_polars()
    /// >>> frame["kernel"].n_unique()
    /// 3
    fn to_polars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.frame(py, "polars")
    }
}

/// Goes through records in their order.
#[pyclass(frozen, module = "argus._native")]
pub struct RecordIterator {
    dump: Arc<read::Dump>,
    /// `None`: all of them.
    selected: Option<Arc<Vec<usize>>>,
    next: AtomicUsize,
}

#[pymethods]
impl RecordIterator {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self) -> Option<Record> {
        let at = self.next.fetch_add(1, Relaxed);
        let index = match &self.selected {
            Some(selected) => *selected.get(at)?,
            None => Some(at).filter(|&at| at < self.dump.len())?,
        };
        Some(Record::new(&self.dump, index))
    }
}

impl Records {
    /// What `argus export` writes, read by the library that makes the frame: one definition of the columns.
    fn frame<'py>(&self, py: Python<'py>, kind: &str) -> PyResult<Bound<'py, PyAny>> {
        let frames = py.import("argus._frames")?;
        frames.getattr("check")?.call1((kind,))?;
        let place = tempfile::tempdir()?;
        let written = py.detach(|| {
            let options = Options::default();
            argus_export::export(
                &self.dump,
                &self.selected,
                Format::Parquet,
                place.path(),
                options,
                &|_, _| (),
            )
        });
        written.map_err(|error| errors::raise(py, Class::Dump, &error, None))?;
        frames.getattr("read")?.call1((kind, place.path().join(PARQUET_FILE)))
    }
}

/// A task as it was typed.
pub fn parse_task(py: Python<'_>, text: &str) -> PyResult<TaskSelector> {
    TaskSelector::parse(text).ok_or_else(|| {
        Refusal::text(Class::Usage, format!("'{text}' does not name a task: {TASK_FORMS}")).raise(py)
    })
}

/// The record at a position as Python counts, from the end if it is negative; or the records of a slice.
fn item<'py>(
    py: Python<'py>,
    dump: &Arc<read::Dump>,
    index: &Bound<'py, PyAny>,
    len: usize,
    place: impl Fn(usize) -> usize,
) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(slice) = index.cast::<PySlice>() {
        let range = slice.indices(len as isize)?;
        let places = (0..range.slicelength).map(|number| range.start + number as isize * range.step);
        let selected = places.map(|at| place(at as usize)).collect();
        let records = Records { dump: Arc::clone(dump), selected: Arc::new(selected) };
        return Ok(Bound::new(py, records)?.into_any());
    }
    let index: isize = index.extract()?;
    let from_start = if index < 0 { index + len as isize } else { index };
    match usize::try_from(from_start) {
        Ok(position) if position < len => Ok(Bound::new(py, Record::new(dump, place(position)))?.into_any()),
        _ => Err(PyIndexError::new_err(format!("there are {len} records, and no number {index}"))),
    }
}

/// Conditions as keyword arguments: the filters of `argus view` with `_` for `-`.
fn parse(py: Python<'_>, typed: &Bound<'_, PyDict>) -> PyResult<Filter> {
    let mut filter = Filter::default();
    for (key, value) in typed {
        if value.is_none() {
            continue;
        }
        let key = key.extract::<String>()?.replace('_', "-");
        let value = match value.extract::<bool>() {
            Ok(value) => value.to_string(),
            Err(_) => value.str()?.to_string(),
        };
        filter.add(&key, &value).map_err(|error| errors::filter(py, &error))?;
    }
    Ok(filter)
}
