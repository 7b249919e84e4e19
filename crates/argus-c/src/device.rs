//! A simulated chip, and runs on it.

use std::ffi::{c_char, c_void};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use argus_abi::ArgDirection;
use argus_chip::Chip;
use argus_dump::RunDirectory;
use argus_dump::read::Dump;
use argus_facts::{Level, with_causes};
use argus_record::{Names, RecordRequest, RecordedRun, record};
use argus_runs::write::{Wanted, artefacts};
use argus_runtime::{Hazards, HostArgs, HostTensor, RunConfig};

use crate::memory::{array, end, give, object, optional_text, sized, sized_array, text};
use crate::numbers::{direction, dtype};
use crate::program::{Loaded, Program};
use crate::status::{ARGUS_ERROR_CAPTURE, ARGUS_ERROR_RUN, Failure, call};

/// Nothing is captured.
pub const ARGUS_DUMP_OFF: i32 = 0;
/// Every argument of every task.
pub const ARGUS_DUMP_FULL: i32 = 1;
/// Only arguments that the orchestration marks.
pub const ARGUS_DUMP_PARTIAL: i32 = 2;
/// Metadata of all, payloads of marked ones.
pub const ARGUS_DUMP_HYBRID: i32 = 3;

/// A simulated device: a chip with its memory.
pub struct Device {
    /// Locked by a run, while another thread may set the flag.
    device: Mutex<argus_runtime::Device>,
    interrupt: Arc<AtomicBool>,
}

/// A tensor argument of a run, in the caller's memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Tensor {
    /// sizeof(argus_tensor)
    pub size: usize,
    /// What dumps call it; may be null.
    pub name: *const c_char,
    /// ARGUS_F32 to ARGUS_FP4_E2M1
    pub dtype: i32,
    /// ARGUS_IN, ARGUS_OUT or ARGUS_INOUT: whether `data` is written when the run succeeds.
    pub direction: i32,
    /// Extents, the slowest first.
    pub shape: *const u32,
    pub rank: usize,
    /// The elements, without gaps. They are copied to the device before the run, and back after it.
    pub data: *mut c_void,
    /// As many as dtype and shape say.
    pub bytes: usize,
}

/// How a program is run. All zeros, apart from the size, is a run without capture.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RunOptions {
    /// sizeof(argus_run_options)
    pub size: usize,
    /// The directory of the run; the dump goes to tensor_dump in it. Needed when something is captured. It is made if
    /// it does not exist, and must not hold a dump.
    pub output_prefix: *const c_char,
    /// ARGUS_DUMP_OFF, ARGUS_DUMP_FULL, ARGUS_DUMP_PARTIAL or ARGUS_DUMP_HYBRID
    pub enable_dump_tensor: i32,
    /// Not 0: the orchestration's own arguments are in the manifest.
    pub enable_dump_args: i32,
    /// Capture only what matches "key=value[,key=value]", as --dump-select; null: everything.
    pub dump_select: *const c_char,
    /// What the dump calls the program and its case; may be null.
    pub scene: *const c_char,
    pub case_name: *const c_char,
    /// Clusters to use; 0: as many as the chip has.
    pub block_dim: u32,
    /// Control threads; 0: as many as the chip has.
    pub control_threads: u32,
    /// Longest time without progress, in milliseconds; 0: the default.
    pub timeout_ms: u64,
    /// Not 0: only the edges that the reference tracks, as --deps reference.
    pub reference_edges: i32,
    /// Not 0: the graph goes to deps.json in the directory of the run, in the reference's form. It is made of what was
    /// captured, so something must be.
    pub enable_dep_gen: i32,
    /// Not 0: when each task ran goes to chip_swimlane_records.json, likewise. There is no option for counters of the
    /// chip: no simulated core has any.
    pub enable_chip_swimlane: i32,
}

/// What a run was.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct RunReport {
    /// sizeof(argus_run_report), set by the caller
    pub size: usize,
    /// Tasks of the graph. 0 if the run failed.
    pub tasks: u64,
    /// From the start to the last task's completion. 0 if the run failed.
    pub elapsed_ns: u64,
    /// Records in the dump. They are there for a run that failed, too.
    pub records: u64,
    /// The code of a fatal error, such as 9 for rt_fatal; 0: none.
    pub fatal_code: i32,
}

/// Makes a device of a platform, by the name that `argus run --platform` takes.
///
/// # Safety
/// The text ends with a zero byte; the place for the result may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argus_device_create(platform: *const c_char, device: *mut *mut Device) -> i32 {
    call("argus_device_create", || {
        // SAFETY: the caller promises a text.
        let made = argus_runtime::Device::new(Chip::by_name(unsafe { text(platform, "platform") }?)?);
        let interrupt = made.interrupt_flag();
        // SAFETY: the caller promises a place.
        unsafe { give(device, Device { device: Mutex::new(made), interrupt }) }
    })
}

/// Runs a loaded program, and captures what the options ask for. `scalars` hold raw bits, floats in the low half. The
/// report may be null; it is filled in for runs that fail, too.
///
/// # Safety
/// Device and program live; arrays and structures are as large as is said, and do
/// not change during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argus_device_run(
    device: *const Device,
    program: *const Program,
    tensors: *const Tensor,
    tensor_count: usize,
    scalars: *const u64,
    scalar_count: usize,
    options: *const RunOptions,
    report: *mut RunReport,
) -> i32 {
    call("argus_device_run", || {
        // SAFETY: the caller promises objects, arrays and structures.
        let (device, program, given, scalars, options) = unsafe {
            (
                object(device, "device")?,
                object(program, "program")?,
                sized_array(tensors, tensor_count, "tensors")?,
                array(scalars, scalar_count, "scalars")?,
                sized(options, "options")?,
            )
        };
        // A report that cannot be written is refused before the run, not after it.
        if !report.is_null() {
            // SAFETY: the caller's structure is as large as it says.
            unsafe { sized(report.cast_const(), "report") }?;
        }
        let loaded = program.loaded.as_ref().ok_or_else(|| {
            Failure::usage("the program is not loaded; argus_program_load compiles and loads it")
        })?;
        let mut simulated = device.device.lock().unwrap_or_else(PoisonError::into_inner);
        if loaded.chip.name != simulated.chip().name {
            let (made_for, is) = (loaded.chip.name, simulated.chip().name);
            return Err(Failure::usage(format!("the program is for {made_for}, the device is {is}")));
        }
        let held = given.iter().enumerate().map(|(index, tensor)| tensor.held(index));
        let mut args = HostArgs { tensors: held.collect::<Result<_, _>>()?, scalars: scalars.to_vec() };
        device.interrupt.store(false, Ordering::Relaxed);
        let run = options.run(&mut simulated, loaded, &mut args)?;
        let mut known = RunReport { size: 0, ..RunReport::default() };
        if let Ok(report) = &run.result {
            known.tasks = report.tasks;
            known.elapsed_ns = u64::try_from(report.elapsed.as_nanos()).unwrap_or(u64::MAX);
        }
        let code = run.result.as_ref().err().and_then(|error| error.fatal_code());
        known.fatal_code = code.map_or(0, |code| code.raw());
        known.records = run.dump.as_ref().map_or(0, |dump| dump.records);
        // SAFETY: the caller promises that the report may be written, if it is not null.
        unsafe { known.put(report) }?;
        run.result.map_err(|error| Failure::error(ARGUS_ERROR_RUN, &error))?;
        for (tensor, after) in given.iter().zip(&args.tensors) {
            if after.direction != ArgDirection::In {
                // SAFETY: `held` checked that it is not null, and the caller promises as many bytes.
                unsafe {
                    std::ptr::copy_nonoverlapping(after.bytes.as_ptr(), tensor.data.cast(), after.bytes.len())
                };
            }
        }
        match (run.problems.first(), &run.dump) {
            (Some(problem), _) => Err(Failure::text(ARGUS_ERROR_CAPTURE, with_causes(problem))),
            (None, Some(dump)) => options.beside(&dump.directory),
            (None, None) => Ok(()),
        }
    })
}

/// Ends the run that another thread has started on this device. It may be called from any thread and from a signal
/// handler.
///
/// # Safety
/// The device lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argus_device_interrupt(device: *const Device) {
    // SAFETY: the caller promises a device, or null; a run holds no exclusive reference to it either.
    if let Some(device) = unsafe { device.as_ref() } {
        device.interrupt.store(true, Ordering::Relaxed);
    }
}

/// Ends a device. Null is fine.
///
/// # Safety
/// The device is not used again, and no run is active on it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argus_device_free(device: *mut Device) {
    // SAFETY: it came from argus_device_create, and this is its last use.
    unsafe { end(device) }
}

impl Tensor {
    /// The tensor as a run holds it: a copy.
    fn held(&self, index: usize) -> Result<HostTensor, Failure> {
        // SAFETY: the caller of the interface promises what the structure points to.
        let (name, shape, bytes) = unsafe {
            (
                optional_text(self.name, "the name of a tensor")?,
                array(self.shape, self.rank, "the shape of a tensor")?,
                array(self.data.cast::<u8>().cast_const(), self.bytes, "the data of a tensor")?,
            )
        };
        let direction = direction(self.direction)?;
        if direction == ArgDirection::Scalar {
            return Err(Failure::usage(format!("tensor {index} has the direction of a scalar")));
        }
        Ok(HostTensor {
            name: name.map_or_else(|| format!("tensor{index}"), str::to_owned),
            direction,
            dtype: dtype(self.dtype)?,
            shape: shape.to_vec(),
            bytes: bytes.to_vec(),
        })
    }
}

impl RunOptions {
    fn run(
        &self,
        device: &mut argus_runtime::Device,
        loaded: &Loaded,
        args: &mut HostArgs,
    ) -> Result<RecordedRun, Failure> {
        let level = match self.enable_dump_tensor {
            ARGUS_DUMP_OFF => None,
            ARGUS_DUMP_FULL => Some(Level::Full),
            ARGUS_DUMP_PARTIAL => Some(Level::Partial),
            ARGUS_DUMP_HYBRID => Some(Level::Hybrid),
            other => {
                return Err(Failure::usage(format!(
                    "enable_dump_tensor is {other}, not one of ARGUS_DUMP_*"
                )));
            }
        };
        // SAFETY: the caller of the interface promises texts.
        let (prefix, select, scene, case) = unsafe {
            (
                optional_text(self.output_prefix, "output_prefix")?,
                optional_text(self.dump_select, "dump_select")?,
                optional_text(self.scene, "scene")?,
                optional_text(self.case_name, "case_name")?,
            )
        };
        let config = self.config();
        let wanted = self.wanted();
        if level.is_none() && (wanted.deps || wanted.swimlane) {
            return Err(Failure::usage(
                "enable_dep_gen and enable_chip_swimlane need a capture: set enable_dump_tensor",
            ));
        }
        if level.is_none() && self.enable_dump_args == 0 {
            let result = device.run(&loaded.program, args, &config);
            return Ok(RecordedRun { result, dump: None, waits: (0, 0), problems: Vec::new() });
        }
        let prefix = prefix.ok_or_else(|| Failure::usage("a capture needs output_prefix"))?;
        let directory = RunDirectory::at(Path::new(prefix)).and_then(|run| run.dump());
        let directory = directory.map_err(|error| Failure::error(ARGUS_ERROR_CAPTURE, &error))?;
        let request = RecordRequest {
            level,
            selectors: select.map(str::to_owned).into_iter().collect(),
            orchestration_args: self.enable_dump_args != 0,
            ..RecordRequest::default()
        };
        let names = Names {
            scene: scene.unwrap_or_default().to_owned(),
            case: case.unwrap_or_default().to_owned(),
            runtime: loaded.runtime.name().to_owned(),
            origin: Some(Arc::clone(&loaded.origin)),
        };
        Ok(record(device, &loaded.program, args, &config, &request, &names, &directory))
    }

    fn wanted(&self) -> Wanted {
        Wanted { deps: self.enable_dep_gen != 0, swimlane: self.enable_chip_swimlane != 0 }
    }

    /// Writes the reference's files beside a dump, if they are wanted.
    fn beside(&self, dump: &Path) -> Result<(), Failure> {
        let wanted = self.wanted();
        if wanted.deps || wanted.swimlane {
            let dump = Dump::open(dump).map_err(|error| Failure::error(ARGUS_ERROR_CAPTURE, &error))?;
            artefacts(&dump, wanted).map_err(|error| Failure::error(ARGUS_ERROR_CAPTURE, &error))?;
        }
        Ok(())
    }

    fn config(&self) -> RunConfig {
        let mut config = RunConfig {
            block_dim: (self.block_dim != 0).then_some(self.block_dim),
            control_threads: (self.control_threads != 0).then_some(self.control_threads),
            isolated: true,
            ..RunConfig::default()
        };
        if self.timeout_ms != 0 {
            config.progress_timeout = Duration::from_millis(self.timeout_ms);
        }
        if self.reference_edges != 0 {
            config.hazards = Hazards::Reference;
        }
        config
    }
}

impl RunReport {
    /// Writes as much of the report as the caller's header knows.
    ///
    /// # Safety
    /// Unless it is null, as many bytes may be written as its first field says.
    unsafe fn put(mut self, place: *mut RunReport) -> Result<(), Failure> {
        if place.is_null() {
            return Ok(());
        }
        // SAFETY: the caller's structure is as large as it says.
        self.size = unsafe { sized(place.cast_const(), "report") }?.size;
        // SAFETY: as above; `sized` refused sizes that this library does not know.
        unsafe {
            std::ptr::copy_nonoverlapping((&raw const self).cast::<u8>(), place.cast::<u8>(), self.size)
        };
        Ok(())
    }
}
