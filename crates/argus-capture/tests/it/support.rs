//! Sinks that remember, sinks that misbehave, and the short way to an entry.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use argus_abi::capture::{ArgumentEntry, EdgesEntry, EntryHeader, SkipEntry, TaskEntry, TaskFields};
use argus_abi::{CoreSet, DType, Tensor};
use argus_capture::{Account, CaptureConfig, Recorder, Session, TransportKind};
use argus_facts::Sink;
use argus_gm::{Fill, GlobalMemory};

pub const TRANSPORTS: [TransportKind; 3] =
    [TransportKind::Mapped, TransportKind::Copied, TransportKind::AfterSync];
/// Those that collect during the run, through rings that may be small.
pub const STREAMING: [TransportKind; 2] = [TransportKind::Mapped, TransportKind::Copied];

/// xorshift: the same numbers each time.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
        bytes
    }
}

/// What a sink got.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    Argument(ArgumentEntry, Vec<u8>),
    Task(TaskEntry),
    Edges(EdgesEntry),
    Skip(SkipEntry),
}

impl Item {
    pub fn header(&self) -> EntryHeader {
        match self {
            Item::Argument(entry, _) => entry.header,
            Item::Task(entry) => entry.header,
            Item::Edges(entry) => entry.header,
            Item::Skip(entry) => entry.header,
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the disk is full")]
pub struct DiskFull;

/// Remembers everything, and checks that calls come in the promised order.
#[derive(Default)]
pub struct Memory {
    pub items: Vec<Item>,
    pub open: Option<(ArgumentEntry, Vec<u8>)>,
    /// Flushes so far, for others to see.
    pub flushes: Arc<AtomicUsize>,
    /// Sleeps this long before each entry.
    pub slow: Option<Duration>,
    /// Panics at this entry.
    pub panic_at: Option<usize>,
    /// Fails at this entry.
    pub fail_at: Option<usize>,
    /// Fails in the second piece of a payload.
    pub fail_in_payload: bool,
    pub failed: bool,
}

impl Memory {
    fn enter(&mut self) -> Result<(), DiskFull> {
        assert!(!self.failed, "nothing is called after an error");
        assert!(self.open.is_none(), "an argument is finished before anything else begins");
        if let Some(slow) = self.slow {
            std::thread::sleep(slow);
        }
        assert_ne!(self.panic_at, Some(self.items.len()), "asked to panic");
        if self.fail_at == Some(self.items.len()) {
            self.failed = true;
            return Err(DiskFull);
        }
        Ok(())
    }
}

impl Sink for Memory {
    type Error = DiskFull;

    fn begin_argument(&mut self, entry: &ArgumentEntry) -> Result<(), DiskFull> {
        self.enter()?;
        self.open = Some((*entry, Vec::new()));
        Ok(())
    }

    fn payload(&mut self, piece: &[u8]) -> Result<(), DiskFull> {
        assert!(!self.failed, "nothing is called after an error");
        assert!(!piece.is_empty());
        let (entry, bytes) = self.open.as_mut().expect("payload belongs to an argument");
        if self.fail_in_payload && !bytes.is_empty() {
            self.failed = true;
            return Err(DiskFull);
        }
        bytes.extend_from_slice(piece);
        assert!(bytes.len() as u64 <= entry.payload_bytes);
        Ok(())
    }

    fn end_argument(&mut self) -> Result<(), DiskFull> {
        let (entry, bytes) = self.open.take().expect("an argument was begun");
        assert_eq!(bytes.len() as u64, entry.payload_bytes);
        self.items.push(Item::Argument(entry, bytes));
        Ok(())
    }

    fn task(&mut self, entry: &TaskEntry) -> Result<(), DiskFull> {
        self.enter()?;
        self.items.push(Item::Task(*entry));
        Ok(())
    }

    fn edges(&mut self, entry: &EdgesEntry) -> Result<(), DiskFull> {
        self.enter()?;
        self.items.push(Item::Edges(*entry));
        Ok(())
    }

    fn skip(&mut self, entry: &SkipEntry) -> Result<(), DiskFull> {
        self.enter()?;
        self.items.push(Item::Skip(*entry));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), DiskFull> {
        assert!(!self.failed, "nothing is called after an error");
        assert!(self.open.is_none(), "an argument is not cut by a flush");
        self.flushes.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// Small rings for those that stream, enough memory for the one that does not.
pub fn config(transport: TransportKind, rings: usize) -> CaptureConfig {
    match transport {
        TransportKind::AfterSync => CaptureConfig::after_sync(rings, 32 << 20),
        _ => CaptureConfig { rings, entries_per_ring: 16, payload_bytes_per_ring: 64 << 10, transport },
    }
}

/// Runs a capture with one ring on this thread.
pub fn capture(
    transport: TransportKind,
    sink: Memory,
    record: impl FnOnce(&mut Recorder, &GlobalMemory),
) -> (Option<Memory>, Account) {
    capture_in(&Arc::new(GlobalMemory::new()), config(transport, 1), sink, record)
}

pub fn capture_in(
    memory: &Arc<GlobalMemory>,
    config: CaptureConfig,
    sink: Memory,
    record: impl FnOnce(&mut Recorder, &GlobalMemory),
) -> (Option<Memory>, Account) {
    let (session, mut recorders) = Session::start(config, sink).unwrap();
    record(&mut recorders[0], memory);
    drop(recorders);
    session.finish()
}

/// An entry for `view`, with nothing that the recorder fills in.
pub fn argument(task_id: u64, view: Option<&Tensor>) -> ArgumentEntry {
    let mut entry = ArgumentEntry {
        header: EntryHeader { magic: 0, version: 0, what: 0xEE, ring: 0xEE, sequence: 0xEE },
        task_id,
        time_ns: 0,
        arg_index: 0,
        stage: 0,
        role: 0,
        kind: 0,
        dtype: 0,
        ndims: 0,
        flags: 0,
        address: 0,
        start_offset: 0,
        payload_bytes: 0xEE,
        scalar_bits: task_id.wrapping_mul(0x9E37_79B9_7F4A_7C15),
        shapes: [0; 5],
        strides: [0; 5],
        reserved: [0; 16],
    };
    if let Some(view) = view {
        entry.dtype = view.dtype;
        entry.ndims = view.ndims as u8;
        entry.shapes = view.shapes;
        entry.strides = view.strides;
        entry.start_offset = view.start_offset;
        entry.address = view.data_addr().unwrap_or(0);
    }
    entry
}

pub fn task(task_id: u64) -> TaskFields {
    TaskFields {
        task_id,
        func_ids: [7, -1, -1],
        blocks: 1,
        dispatch_order: task_id,
        dispatched_ns: 1,
        finished_ns: 2,
        cores: CoreSet::from_iter([0]),
        scope_depth: 0,
        tensors: 1,
        scalars: 0,
        state: 0,
        reserved: [0; 7],
    }
}

/// A buffer of bytes on the device and a flat view of it.
pub fn buffer(memory: &GlobalMemory, content: &[u8]) -> Tensor {
    let buffer = memory.allocate(content.len() as u64, Fill::Zero).unwrap();
    memory.write(buffer.addr, content).unwrap();
    Tensor::contiguous(buffer.addr, DType::U8, &[content.len() as u32]).unwrap()
}
