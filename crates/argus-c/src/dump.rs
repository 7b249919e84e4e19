//! A dump and its records.

use std::ffi::{CString, c_char};
use std::path::Path;

use argus_abi::{Kind, MAX_DIMS, Role, Stage};
use argus_dump::read;
use argus_dump::read::Scalar;

use crate::memory::{end, give, object, sized, text};
use crate::numbers::{ARGUS_IN, ARGUS_INOUT, ARGUS_OUT, dtype_number};
use crate::status::{ARGUS_ERROR_DUMP, Failure, call};

/// Before the task was dispatched.
pub const ARGUS_STAGE_BEFORE: i32 = 0;
/// After it was complete.
pub const ARGUS_STAGE_AFTER: i32 = 1;

/// Most dimensions a tensor has.
pub const ARGUS_MAX_DIMS: usize = 5;
const _: () = assert!(ARGUS_MAX_DIMS == MAX_DIMS);

/// An open dump.
pub struct Dump {
    dump: read::Dump,
    /// The kernels of each record by name; records of one task share a text.
    names: Vec<CString>,
    name_of: Vec<u32>,
}

/// One argument of one task at one stage.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Record {
    /// sizeof(argus_record), set by the caller
    pub size: usize,
    pub task_id: u64,
    /// The kernels of the task, joined by "+"; empty where the dump does not know. It lives as long as the dump.
    pub kernel: *const c_char,
    /// The argument's slot.
    pub argument: u32,
    /// ARGUS_STAGE_BEFORE or ARGUS_STAGE_AFTER
    pub stage: i32,
    /// ARGUS_IN, ARGUS_OUT or ARGUS_INOUT
    pub role: i32,
    /// 1: a scalar, whose bits are in `scalar` if `scalar_known` is 1
    pub is_scalar: i32,
    pub scalar_known: i32,
    /// ARGUS_F32 to ARGUS_FP4_E2M1; -1: unknown
    pub dtype: i32,
    pub scalar: u64,
    pub rank: u32,
    /// 1: the task had not completed
    pub partial: i32,
    /// Extents and strides of the view, in elements.
    pub shape: [u64; ARGUS_MAX_DIMS],
    pub strides: [u64; ARGUS_MAX_DIMS],
    /// Bytes of its payload; 0: none was kept.
    pub payload_bytes: u64,
}

/// Opens the dump at a path: its directory, or the directory of a run with one dump.
///
/// # Safety
/// The text ends with a zero byte; the place for the result may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argus_dump_open(path: *const c_char, dump: *mut *mut Dump) -> i32 {
    call("argus_dump_open", || {
        // SAFETY: the caller promises a text.
        let path = Path::new(unsafe { text(path, "path") }?);
        let opened = read::Dump::open(path).map_err(|error| Failure::error(ARGUS_ERROR_DUMP, &error))?;
        // SAFETY: the caller promises a place.
        unsafe { give(dump, Dump::new(opened)) }
    })
}

/// How many records a dump has. 0 for null.
///
/// # Safety
/// The dump lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argus_dump_records(dump: *const Dump) -> u64 {
    // SAFETY: the caller promises a dump, or null.
    unsafe { dump.as_ref() }.map_or(0, |dump| dump.dump.len() as u64)
}

/// Tells what a record is. Several threads may ask at the same time.
///
/// # Safety
/// The dump lives; the record may be written, and is as large as its first field says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argus_dump_record(dump: *const Dump, index: u64, record: *mut Record) -> i32 {
    call("argus_dump_record", || {
        // SAFETY: the caller promises a dump and a structure.
        let (dump, place) = unsafe { (object(dump, "dump")?, sized(record.cast_const(), "record")?) };
        let told = dump.tell(dump.at(index)?, place.size);
        // SAFETY: `sized` refused sizes that this library does not know, and the caller promises that many bytes.
        unsafe {
            std::ptr::copy_nonoverlapping((&raw const told).cast::<u8>(), record.cast::<u8>(), place.size)
        };
        Ok(())
    })
}

/// Gives the payload of a record: the bytes of its tensor in logical order, in the mapped file, after their checksum was
/// compared. They stay until the dump is ended. Several threads may ask at the same time.
///
/// # Safety
/// The dump lives; both places may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argus_dump_payload(
    dump: *const Dump,
    index: u64,
    data: *mut *const u8,
    bytes: *mut usize,
) -> i32 {
    call("argus_dump_payload", || {
        if data.is_null() || bytes.is_null() {
            return Err(Failure::usage("the place for the result is null"));
        }
        // SAFETY: the caller promises a dump.
        let dump = unsafe { object(dump, "dump") }?;
        let payload = dump.dump.payload(&dump.at(index)?);
        let payload = payload.map_err(|error| Failure::error(ARGUS_ERROR_DUMP, &error))?;
        // SAFETY: neither is null, and the caller promises that they may be written.
        unsafe {
            data.write(payload.as_ptr());
            bytes.write(payload.len());
        }
        Ok(())
    })
}

/// Closes a dump. Null is fine.
///
/// # Safety
/// Neither the dump nor a name or payload of it is used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argus_dump_free(dump: *mut Dump) {
    // SAFETY: it came from argus_dump_open, and this is its last use.
    unsafe { end(dump) }
}

impl Dump {
    fn new(dump: read::Dump) -> Dump {
        let (mut names, mut name_of) = (Vec::<CString>::new(), Vec::with_capacity(dump.len()));
        let mut known = std::collections::HashMap::new();
        for record in dump.records() {
            let place = *known.entry(record.func_ids).or_insert_with(|| {
                let name = dump.kernel_names(&record).replace('\0', "\\0");
                names.push(CString::new(name).unwrap_or_default());
                names.len() as u32 - 1
            });
            name_of.push(place);
        }
        Dump { dump, names, name_of }
    }

    fn at(&self, index: u64) -> Result<read::Record, Failure> {
        let len = self.dump.len();
        let known = usize::try_from(index).ok().filter(|&index| index < len);
        let index =
            known.ok_or_else(|| Failure::usage(format!("there are {len} records, and no number {index}")))?;
        Ok(self.dump.record(index))
    }

    fn tell(&self, record: read::Record, size: usize) -> Record {
        let kernel = self.name_of.get(record.index).and_then(|&place| self.names.get(place as usize));
        let scalar = match record.scalar {
            Some(Scalar::Bits(bits)) => Some(bits),
            _ => None,
        };
        Record {
            size,
            task_id: record.task_id.raw(),
            kernel: kernel.map_or(c"".as_ptr(), |name| name.as_ptr()),
            argument: record.arg_index,
            stage: match record.stage {
                Stage::BeforeDispatch => ARGUS_STAGE_BEFORE,
                Stage::AfterCompletion => ARGUS_STAGE_AFTER,
            },
            role: match record.role {
                Role::Input => ARGUS_IN,
                Role::Output => ARGUS_OUT,
                Role::Inout => ARGUS_INOUT,
            },
            is_scalar: i32::from(record.kind == Kind::Scalar),
            scalar_known: i32::from(scalar.is_some()),
            dtype: dtype_number(record.dtype),
            scalar: scalar.unwrap_or(0),
            rank: record.ndims.into(),
            partial: i32::from(record.partial),
            shape: record.shape,
            strides: record.strides,
            payload_bytes: record.bin_size,
        }
    }
}
