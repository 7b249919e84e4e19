//! The functions that an object calls, over the builder of the run it belongs to.
//!
//! The first error is latched here as it is in the builder; after it every call is inert. No panic crosses: it becomes
//! the run's error.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use argus_abi::{ArgLimits, CoreType, FatalCode, FuncId, TaskId, Tensor};
use argus_runtime::{Abg, Arg, EntryArgs, Fatal, Hbg, ScopeMode, TaskOutputs, Trb};

use super::abi::{self, Kernels, Outputs, Table, TaskArgs, TensorInfo};
use super::decode;
use super::observe::{self, Observer, ScopeEdge, Submitted};
use super::{Level, Log};

pub enum Builder<'a> {
    Trb(&'a mut Trb),
    Abg(&'a mut Abg),
    Hbg(&'a mut Hbg),
}

/// One call of an orchestration: what its code is connected to.
pub struct Bridge<'a> {
    builder: Builder<'a>,
    entry: &'a EntryArgs,
    limits: ArgLimits,
    log: &'a Log,
    observer: Option<&'a dyn Observer>,
    /// Files and lines of the scopes that are open, for the observer.
    sites: Vec<Option<(String, u32)>>,
    fatal: Option<Fatal>,
    /// The arguments of the task that is being submitted.
    arg: Arg,
    /// Tensors that the object holds references to, in pieces that never move. They stay until the run's orchestration
    /// ends, so that a tensor used too late is refused by its scope and not read from memory that is gone.
    outputs: Vec<Vec<Tensor>>,
}

/// Tensors of one piece, unless a task has more.
const PIECE: usize = 128;

impl<'a> Bridge<'a> {
    pub fn new(
        builder: Builder<'a>,
        entry: &'a EntryArgs,
        limits: ArgLimits,
        log: &'a Log,
        observer: Option<&'a dyn Observer>,
    ) -> Bridge<'a> {
        let (sites, fatal, arg, outputs) = (Vec::new(), None, Arg::new(), Vec::new());
        Bridge { builder, entry, limits, log, observer, sites, fatal, arg, outputs }
    }

    /// Tells the observer of a submission that was carried out.
    ///
    /// # Safety
    /// As for [`observe::submission`].
    unsafe fn tell(&mut self, what: Submitted, args: &TaskArgs, outputs: &Outputs) {
        if let (Some(observer), Builder::Trb(trb)) = (self.observer, &mut self.builder) {
            let mode = trb.scope_use().mode;
            // SAFETY: by the caller's promise.
            observer.submitted(&unsafe { observe::submission(what, mode, args, outputs) });
        }
    }

    /// Tells the observer that the innermost scope has begun or is about to end. After an error neither is told.
    pub fn tell_scope(&mut self, begins: bool, site: Option<(String, u32)>) {
        if self.fatal.is_some() {
            return;
        }
        if let (Some(observer), Builder::Trb(trb)) = (self.observer, &mut self.builder) {
            let site = if begins { site } else { self.sites.pop().flatten() };
            let shown = site.as_ref().map(|(file, line)| (&file[..], *line));
            observer.scope(&ScopeEdge { begins, site: shown, at: trb.scope_use() });
            if begins {
                self.sites.push(site);
            }
        }
    }

    /// The error that the object's calls ended with.
    pub fn into_fatal(self) -> Option<Fatal> {
        self.fatal
    }

    /// The table for this call. It must not be used when the bridge is gone.
    pub fn table(&mut self) -> Table {
        Table {
            size: size_of::<Table>() as u32,
            abi: abi::ABI,
            host: std::ptr::from_mut(self).cast(),
            submit,
            submit_dummy,
            alloc_tensors,
            scope_begin,
            scope_end,
            is_fatal,
            report_fatal,
            log,
            get_tensor_data,
            set_tensor_data,
            cluster_count,
            aiv_count,
            dump_marked_only,
            graph_begin,
            graph_end,
            add_dependency,
            device_malloc,
            device_free,
            copy_to_device,
            record_tensor_pair,
            add_task,
            add_successor,
            set_tensor_info,
            task_count,
        }
    }

    /// Latches an error, also in the builder.
    fn fail(&mut self, fatal: Fatal) {
        let fatal = match &mut self.builder {
            Builder::Trb(trb) => trb.report_fatal(fatal.code, fatal.message),
            Builder::Abg(abg) => abg.report_fatal(fatal.code, fatal.message),
            Builder::Hbg(_) => fatal,
        };
        self.fatal.get_or_insert(fatal);
    }

    fn is_fatal(&mut self) -> bool {
        self.fatal.is_some()
            || match &mut self.builder {
                Builder::Trb(trb) => trb.is_fatal(),
                Builder::Abg(abg) => abg.is_fatal(),
                Builder::Hbg(_) => false,
            }
    }

    fn trb(&mut self) -> Result<&mut Trb, Fatal> {
        match &mut self.builder {
            Builder::Trb(trb) => Ok(trb),
            Builder::Abg(_) | Builder::Hbg(_) => Err(other_runtime()),
        }
    }

    fn hbg(&mut self) -> Result<&mut Hbg, Fatal> {
        match &mut self.builder {
            Builder::Hbg(hbg) => Ok(hbg),
            Builder::Abg(_) | Builder::Trb(_) => Err(other_runtime()),
        }
    }

    /// Hands outputs to the object.
    fn give(&mut self, outputs: &TaskOutputs) -> Outputs {
        let task_id = outputs.task_id().raw();
        let count = outputs.tensors().len();
        let fits = |piece: &&mut Vec<Tensor>| piece.capacity() - piece.len() >= count;
        let piece = match self.outputs.last_mut().filter(fits) {
            Some(piece) => piece,
            None => {
                self.outputs.push(Vec::with_capacity(count.max(PIECE)));
                self.outputs.last_mut().expect("a piece was just added")
            }
        };
        let first = piece.len();
        piece.extend_from_slice(outputs.tensors());
        Outputs { task_id, tensors: piece[first..].as_ptr(), count: count as u32, reserved: 0 }
    }
}

/// Our headers offer an object the calls of its own runtime only.
fn other_runtime() -> Fatal {
    Fatal::invalid("the orchestration made a call that its runtime does not have")
}

/// Runs one call of an object: inert after an error, and without a panic leaving.
///
/// # Safety
/// `host` must be the `host` of a [`Table`] whose [`Bridge`] is alive and in use by nothing else.
unsafe fn call<R>(
    host: *mut c_void,
    nothing: R,
    body: impl FnOnce(&mut Bridge<'_>) -> Result<R, Fatal>,
) -> R {
    // SAFETY: by the caller's promise. The thread that runs the orchestration is the only one with this table.
    let bridge = unsafe { &mut *host.cast::<Bridge<'_>>() };
    let result = catch_unwind(AssertUnwindSafe(|| if bridge.is_fatal() { None } else { Some(body(bridge)) }));
    match result {
        Ok(Some(Ok(value))) => value,
        Ok(None) => nothing,
        Ok(Some(Err(fatal))) => {
            bridge.fail(fatal);
            nothing
        }
        Err(_) => {
            bridge.fail(Fatal::new(FatalCode::ExplicitOrchFatal, "a call of the orchestration panicked"));
            nothing
        }
    }
}

// SAFETY of all functions below: only an object calls them, through the table it is bound to and with what
// `orchestration_abi.h` says; the table lives as long as the call of the object does.

unsafe extern "C" fn submit(
    host: *mut c_void,
    kernels: *const Kernels,
    args: *const TaskArgs,
    outputs: *mut Outputs,
) {
    // SAFETY: as said above of all of them.
    unsafe {
        call(host, (), |bridge| {
            decode::task_args(&mut bridge.arg, &*args, bridge.limits);
            let chosen = decode::kernels(*kernels);
            let submitted = match &mut bridge.builder {
                Builder::Trb(trb) => trb.submit(chosen, &bridge.arg)?,
                Builder::Abg(abg) => abg.submit(chosen, &bridge.arg)?,
                Builder::Hbg(_) => return Err(other_runtime()),
            };
            *outputs = bridge.give(&submitted);
            bridge.tell((*kernels).into(), &*args, &*outputs);
            Ok(())
        });
    }
}

unsafe extern "C" fn submit_dummy(host: *mut c_void, args: *const TaskArgs, outputs: *mut Outputs) {
    // SAFETY: as said above of all of them.
    unsafe {
        call(host, (), |bridge| {
            let mut arg = std::mem::take(&mut bridge.arg);
            decode::task_args(&mut arg, &*args, bridge.limits);
            let submitted = bridge.trb()?.submit_dummy(&arg)?;
            bridge.arg = arg;
            *outputs = bridge.give(&submitted);
            bridge.tell(Submitted::Dummy, &*args, &*outputs);
            Ok(())
        });
    }
}

unsafe extern "C" fn alloc_tensors(host: *mut c_void, args: *const TaskArgs, outputs: *mut Outputs) {
    // SAFETY: as said above of all of them.
    unsafe {
        call(host, (), |bridge| {
            let requests = decode::requests(&*args)?;
            let allocated = match &mut bridge.builder {
                Builder::Trb(trb) => trb.alloc_tensors(&requests)?,
                Builder::Abg(abg) => abg.alloc_tensors(&requests)?,
                Builder::Hbg(_) => return Err(other_runtime()),
            };
            *outputs = bridge.give(&allocated);
            bridge.tell(Submitted::Allocation, &*args, &*outputs);
            Ok(())
        });
    }
}

unsafe extern "C" fn scope_begin(host: *mut c_void, manual: i32, file: *const c_char, line: i32) {
    let mode = if manual != 0 { ScopeMode::Manual } else { ScopeMode::Auto };
    // SAFETY: as said above of all of them.
    unsafe {
        call(host, (), |bridge| {
            match &mut bridge.builder {
                Builder::Trb(trb) => trb.scope_begin(mode)?,
                Builder::Abg(abg) => abg.scope_begin()?,
                Builder::Hbg(_) => return Err(other_runtime()),
            }
            if bridge.observer.is_some() {
                let file = decode::text(file).filter(|file| !file.is_empty());
                bridge.tell_scope(true, file.map(|file| (file, u32::try_from(line).unwrap_or(0))));
            }
            Ok(())
        });
    }
}

unsafe extern "C" fn scope_end(host: *mut c_void) {
    // SAFETY: as said above of all of them.
    unsafe {
        call(host, (), |bridge| {
            bridge.tell_scope(false, None);
            match &mut bridge.builder {
                Builder::Trb(trb) => trb.scope_end(),
                Builder::Abg(abg) => abg.scope_end(),
                Builder::Hbg(_) => Err(other_runtime()),
            }
        });
    }
}

unsafe extern "C" fn is_fatal(host: *mut c_void) -> i32 {
    // SAFETY: as said above of all of them.
    unsafe { call(host, 1, |_| Ok(0)) }
}

unsafe extern "C" fn report_fatal(
    host: *mut c_void,
    code: i32,
    function: *const c_char,
    message: *const c_char,
) {
    // SAFETY: as said above of all of them.
    unsafe {
        call(host, (), |bridge| {
            let message = decode::text(message).unwrap_or_default();
            let function = decode::text(function).unwrap_or_default();
            (bridge.log)(Level::Error, &function, &message);
            Err(match FatalCode::from_raw(code) {
                Some(code) => Fatal::new(code, message),
                None => Fatal::new(FatalCode::ExplicitOrchFatal, format!("{message} (code {code})")),
            })
        });
    }
}

unsafe extern "C" fn log(host: *mut c_void, level: u32, function: *const c_char, message: *const c_char) {
    // SAFETY: as for all of them. Messages come through after an error too.
    let bridge = unsafe { &*host.cast::<Bridge<'_>>() };
    // SAFETY: as said above of all of them.
    let (function, message) = unsafe { (decode::text(function), decode::text(message)) };
    let (function, message) = (function.unwrap_or_default(), message.unwrap_or_default());
    // A panic of the code that listens is not the orchestration's.
    _ = catch_unwind(AssertUnwindSafe(|| (bridge.log)(Level::from_raw(level), &function, &message)));
}

unsafe extern "C" fn get_tensor_data(
    host: *mut c_void,
    tensor: *const Tensor,
    ndims: u32,
    indices: *const u32,
) -> u64 {
    // SAFETY: as said above of all of them.
    unsafe {
        call(host, 0, |bridge| {
            let tensor = decode::tensor(tensor).map_err(Fatal::invalid)?;
            if tensor.addr == 0 {
                (bridge.log)(Level::Error, "get_tensor_data", "the tensor has no buffer");
                return Ok(0);
            }
            bridge.trb()?.get_tensor_bits(&tensor, decode::list(indices, ndims as usize))
        })
    }
}

unsafe extern "C" fn set_tensor_data(
    host: *mut c_void,
    tensor: *const Tensor,
    ndims: u32,
    indices: *const u32,
    value: u64,
) {
    // SAFETY: as said above of all of them.
    unsafe {
        call(host, (), |bridge| {
            let tensor = decode::tensor(tensor).map_err(Fatal::invalid)?;
            if tensor.addr == 0 {
                (bridge.log)(Level::Error, "set_tensor_data", "the tensor has no buffer");
                return Ok(());
            }
            bridge.trb()?.set_tensor_bits(&tensor, decode::list(indices, ndims as usize), value)
        });
    }
}

unsafe extern "C" fn cluster_count(host: *mut c_void) -> i32 {
    // SAFETY: as said above of all of them.
    unsafe { call(host, 0, |bridge| Ok(bridge.trb()?.cluster_count() as i32)) }
}

unsafe extern "C" fn aiv_count(host: *mut c_void) -> i32 {
    // SAFETY: as said above of all of them.
    unsafe { call(host, 0, |bridge| Ok(2 * bridge.trb()?.cluster_count() as i32)) }
}

unsafe extern "C" fn dump_marked_only(host: *mut c_void) {
    // SAFETY: as said above of all of them.
    unsafe {
        call(host, (), |bridge| {
            bridge.trb()?.capture_marked_only();
            Ok(())
        });
    }
}

unsafe extern "C" fn graph_begin(host: *mut c_void, args: *const TaskArgs, outputs: *mut Outputs) {
    // SAFETY: as said above of all of them.
    unsafe {
        call(host, (), |bridge| {
            let mut boundary = Arg::new();
            decode::task_args(&mut boundary, &*args, ArgLimits::GRAPH);
            let id = bridge.trb()?.graph_begin(boundary)?;
            *outputs = Outputs { task_id: id.raw(), tensors: std::ptr::null(), count: 0, reserved: 0 };
            bridge.tell(Submitted::Graph, &*args, &*outputs);
            Ok(())
        });
    }
}

unsafe extern "C" fn graph_end(host: *mut c_void) {
    // SAFETY: as said above of all of them.
    unsafe { call(host, (), |bridge| bridge.trb()?.graph_end()) }
}

unsafe extern "C" fn add_dependency(host: *mut c_void, producer: u64, consumer: u64) {
    // SAFETY: as said above of all of them.
    unsafe {
        call(host, (), |bridge| match &mut bridge.builder {
            Builder::Abg(abg) => abg.add_dependency(TaskId::from_raw(producer), TaskId::from_raw(consumer)),
            Builder::Trb(_) | Builder::Hbg(_) => Err(other_runtime()),
        });
    }
}

/// The one failure that is the orchestration's to handle: it is told by a null pointer.
unsafe extern "C" fn device_malloc(host: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: as said above of all of them.
    unsafe {
        call(host, std::ptr::null_mut(), |bridge| {
            let allocated = bridge.hbg()?.device_malloc(size as u64);
            Ok(allocated.map_or_else(
                |fatal| {
                    (bridge.log)(Level::Error, "device_malloc", &fatal.message);
                    std::ptr::null_mut()
                },
                |addr| std::ptr::with_exposed_provenance_mut(addr as usize),
            ))
        })
    }
}

unsafe extern "C" fn device_free(host: *mut c_void, addr: *mut c_void) {
    // SAFETY: as said above of all of them.
    unsafe { call(host, (), |bridge| bridge.hbg()?.device_free(addr.addr() as u64)) }
}

unsafe extern "C" fn copy_to_device(
    host: *mut c_void,
    device: *mut c_void,
    from: *const c_void,
    size: usize,
) -> i32 {
    // SAFETY: as said above of all of them.
    unsafe {
        call(host, -1, |bridge| {
            if from.is_null() && size > 0 {
                return Err(Fatal::invalid("copy_to_device was given no host memory"));
            }
            bridge.hbg()?.copy_to_device(device.addr() as u64, decode::list(from.cast::<u8>(), size))?;
            Ok(0)
        })
    }
}

unsafe extern "C" fn record_tensor_pair(
    host: *mut c_void,
    to: *mut c_void,
    device: *mut c_void,
    size: usize,
) {
    // SAFETY: as said above of all of them.
    unsafe {
        call(host, (), |bridge| {
            let (to, entry) = (to.addr(), bridge.entry);
            let mut arguments = entry.host_tensors().iter().enumerate();
            let place = arguments.find_map(|(index, tensor)| {
                let offset = to.checked_sub(tensor.bytes.as_ptr().addr())?;
                (offset.checked_add(size)? <= tensor.bytes.len()).then_some((index, offset as u64))
            });
            let Some((argument, offset)) = place else {
                let message = "record_tensor_pair names host memory that is no argument of the run";
                return Err(Fatal::invalid(message));
            };
            bridge.hbg()?.record_part(argument, offset, device.addr() as u64, size as u64)
        });
    }
}

unsafe extern "C" fn add_task(
    host: *mut c_void,
    args: *const u64,
    count: i32,
    func_id: i32,
    core_type: i32,
) -> i32 {
    // SAFETY: as said above of all of them.
    unsafe {
        call(host, -1, |bridge| {
            let core_type = match core_type {
                0 => CoreType::Aic,
                1 => CoreType::Aiv,
                other => return Err(Fatal::invalid(format!("there is no core type {other}"))),
            };
            let Ok(func_id) = u32::try_from(func_id) else {
                return Err(Fatal::invalid(format!("no kernel is registered as func_id {func_id}")));
            };
            let slots = decode::list(args, usize::try_from(count).unwrap_or(0));
            Ok(bridge.hbg()?.add_task(slots, FuncId(func_id), core_type)? as i32)
        })
    }
}

unsafe extern "C" fn add_successor(host: *mut c_void, from: i32, to: i32) {
    // SAFETY: as said above of all of them.
    unsafe {
        call(host, (), |bridge| match (usize::try_from(from), usize::try_from(to)) {
            (Ok(from), Ok(to)) => bridge.hbg()?.add_successor(from, to),
            _ => Err(Fatal::invalid(format!("there is no edge {from} -> {to}"))),
        });
    }
}

unsafe extern "C" fn set_tensor_info(
    host: *mut c_void,
    task: i32,
    infos: *const TensorInfo,
    count: i32,
) -> i32 {
    // SAFETY: as said above of all of them.
    unsafe {
        call(host, -1, |bridge| {
            let infos = decode::list(infos, usize::try_from(count).unwrap_or(0));
            let Some(infos) = infos.iter().map(decode::slot_info).collect::<Option<Vec<_>>>() else {
                return Err(Fatal::invalid(format!("the description of task {task} is none of a tensor")));
            };
            let task = usize::try_from(task).unwrap_or(usize::MAX);
            bridge.hbg()?.set_address_info_to_task(task, &infos)?;
            Ok(0)
        })
    }
}

unsafe extern "C" fn task_count(host: *mut c_void) -> i32 {
    // SAFETY: as said above of all of them.
    unsafe { call(host, 0, |bridge| Ok(bridge.hbg()?.task_count() as i32)) }
}
