//! The tests' own device: buffers, views walked element by element, and tasks that run references.
//!
//! It shares nothing with the runtime, the tile engine or the capture: what it expects of a dump follows from
//! the inputs, the order of the tasks and the references alone.

use std::collections::BTreeMap;

use argus_abi::{DType, Kind, Role, Stage};
use argus_runtime::HostArgs;

use crate::dump::{Dump, Key, Record};

/// What memory holds that nothing has written.
const POISON: u8 = 0xFF;

/// Some elements of a buffer.
#[derive(Clone, Debug)]
pub struct View {
    buffer: usize,
    dtype: DType,
    /// Elements before the address that the task was given; a raw address says nothing of them.
    hidden: u64,
    start: u64,
    pub shape: Vec<u32>,
    strides: Vec<u32>,
}

impl View {
    /// `count` entries of the first dimension from `first` on.
    pub fn rows(&self, first: usize, count: usize) -> View {
        let mut view = self.clone();
        view.start += first as u64 * u64::from(self.strides[0]);
        view.shape[0] = count as u32;
        view
    }

    /// Every `step`-th element of a vector.
    pub fn slice(&self, first: usize, count: usize, step: usize) -> View {
        let mut view = self.rows(first, count);
        // From a single element there is no step to the next.
        view.strides[0] *= if count > 1 { step as u32 } else { 1 };
        view
    }

    /// Rows become columns.
    pub fn transpose(&self) -> View {
        let mut view = self.clone();
        view.shape.reverse();
        view.strides.reverse();
        view
    }

    /// The first columns of a matrix: rows stay as far apart as they were.
    pub fn columns(&self, count: usize) -> View {
        let mut view = self.clone();
        view.shape[1] = count as u32;
        view
    }

    /// The same elements in another shape.
    pub fn reshape(&self, shape: &[u32]) -> View {
        assert!(self.contiguous());
        View { shape: shape.into(), strides: row_major(shape), ..self.clone() }
    }

    /// What a task sees that is given the address of the first element and nothing else.
    pub fn as_address(&self, shape: &[u32]) -> View {
        let hidden = self.hidden + self.start;
        View { hidden, start: 0, shape: shape.into(), strides: row_major(shape), ..self.clone() }
    }

    fn contiguous(&self) -> bool {
        self.strides == row_major(&self.shape)
    }

    /// Where each element starts in the buffer's bytes, in logical order.
    fn places(&self) -> Vec<usize> {
        let mut places = Vec::new();
        let mut index = vec![0u32; self.shape.len()];
        if self.shape.contains(&0) {
            return places;
        }
        loop {
            let steps =
                index.iter().zip(&self.strides).map(|(&at, &stride)| u64::from(at) * u64::from(stride));
            let element = self.hidden + self.start + steps.sum::<u64>();
            places.push(element as usize * self.dtype.size());
            let Some(dim) = (0..index.len()).rev().find(|&dim| index[dim] + 1 < self.shape[dim]) else {
                return places;
            };
            index[dim] += 1;
            index[dim + 1..].fill(0);
        }
    }
}

fn row_major(shape: &[u32]) -> Vec<u32> {
    (0..shape.len()).map(|dim| shape[dim + 1..].iter().product()).collect()
}

/// An argument of a task.
#[derive(Clone, Debug)]
pub enum A {
    In(View),
    Out(View),
    Inout(View),
    Scalar(DType, u64),
}

/// A scalar without a type.
pub fn number(value: u64) -> A {
    A::Scalar(DType::U64, value)
}

/// An f32 as a scalar of its own type.
pub fn float(value: f32) -> A {
    A::Scalar(DType::F32, value.to_bits().into())
}

/// What a record must say.
#[derive(Clone, Debug)]
pub struct Expected {
    pub role: Role,
    pub dtype: DType,
    pub view: Option<View>,
    /// Payload of a tensor.
    pub bytes: Vec<u8>,
    /// Bits of a scalar.
    pub bits: Option<u64>,
    pub funcs: Vec<i64>,
    pub blocks: u64,
}

/// Buffers, and what the tasks that ran on them leave in a dump.
#[derive(Default)]
pub struct Model {
    buffers: Vec<Vec<u8>>,
    pub expected: BTreeMap<Key, Expected>,
}

/// Which task runs.
#[derive(Clone, Copy)]
pub struct Id<'a> {
    pub task: u64,
    pub funcs: &'a [i64],
    pub blocks: u64,
}

/// A task of one kernel and one block.
pub fn task(task: u64, func: &[i64; 1]) -> Id<'_> {
    Id { task, funcs: func, blocks: 1 }
}

impl Model {
    /// A buffer that nothing has written.
    pub fn fresh(&mut self, dtype: DType, shape: &[u32]) -> View {
        let elements: u32 = shape.iter().product();
        self.buffer(dtype, shape, vec![POISON; elements as usize * dtype.size()])
    }

    pub fn buffer(&mut self, dtype: DType, shape: &[u32], bytes: Vec<u8>) -> View {
        self.buffers.push(bytes);
        let (buffer, strides) = (self.buffers.len() - 1, row_major(shape));
        View { buffer, dtype, hidden: 0, start: 0, shape: shape.into(), strides }
    }

    /// The arguments of a run, each in a buffer of its own.
    pub fn arguments(&mut self, args: &HostArgs) -> Vec<View> {
        args.tensors
            .iter()
            .map(|tensor| self.buffer(tensor.dtype, &tensor.shape, tensor.bytes.clone()))
            .collect()
    }

    pub fn read(&self, view: &View) -> Vec<u8> {
        let (bytes, width) = (&self.buffers[view.buffer], view.dtype.size());
        view.places().into_iter().flat_map(|at| &bytes[at..at + width]).copied().collect()
    }

    fn write(&mut self, view: &View, values: &[u8]) {
        let width = view.dtype.size();
        let places = view.places();
        assert_eq!(places.len() * width, values.len(), "a reference gave another size than {view:?} has");
        for (at, value) in places.into_iter().zip(values.chunks_exact(width)) {
            self.buffers[view.buffer][at..at + width].copy_from_slice(value);
        }
    }

    /// Runs a task. `compute` gets the bytes of every tensor and returns those of every tensor that the task
    /// writes, both in the order of the arguments.
    pub fn run(&mut self, id: Id<'_>, args: &[A], compute: impl FnOnce(&[Vec<u8>]) -> Vec<Vec<u8>>) {
        let mut before = Vec::new();
        for (index, arg) in args.iter().enumerate() {
            let key = (id.task, Stage::BeforeDispatch, index as u16);
            match arg {
                A::Scalar(dtype, bits) => {
                    self.expect(key, id, Role::Input, *dtype, None, Vec::new(), Some(*bits))
                }
                A::In(view) | A::Out(view) | A::Inout(view) => {
                    let bytes = self.read(view);
                    before.push(bytes.clone());
                    let role = match arg {
                        A::In(_) => Role::Input,
                        A::Inout(_) => Role::Inout,
                        _ => continue,
                    };
                    self.expect(key, id, role, view.dtype, Some(view), bytes, None);
                }
            }
        }
        let written = compute(&before);
        let mut values = written.iter();
        for (index, arg) in args.iter().enumerate() {
            let (view, role) = match arg {
                A::Out(view) => (view, Role::Output),
                A::Inout(view) => (view, Role::Inout),
                A::In(_) | A::Scalar(..) => continue,
            };
            let bytes = values.next().expect("a reference gives every output");
            self.write(view, bytes);
            let key = (id.task, Stage::AfterCompletion, index as u16);
            self.expect(key, id, role, view.dtype, Some(view), bytes.clone(), None);
        }
        assert!(values.next().is_none(), "a reference gives nothing but outputs");
    }

    #[expect(clippy::too_many_arguments, reason = "one line per fact of a record")]
    fn expect(
        &mut self,
        key: Key,
        id: Id<'_>,
        role: Role,
        dtype: DType,
        view: Option<&View>,
        bytes: Vec<u8>,
        bits: Option<u64>,
    ) {
        let (funcs, blocks) = (id.funcs.to_vec(), id.blocks);
        let view = view.cloned();
        let expected = Expected { role, dtype, view, bytes, bits, funcs, blocks };
        assert!(self.expected.insert(key, expected).is_none(), "the model runs task {key:?} twice");
    }

    /// Bytes of all expected payloads, equal ones counted each time.
    pub fn payload_bytes(&self) -> u64 {
        self.expected.values().map(|expected| expected.bytes.len() as u64).sum()
    }

    /// The dump holds exactly what the model expects: no record more, none less, and every byte.
    pub fn assert_dump(&self, dump: &Dump, about: &str) {
        self.assert_facts(dump, about);
        for record in &dump.records {
            self.assert_payload(record, about);
        }
        assert_eq!(dump.manifest["payload_bytes"], self.payload_bytes(), "{about}");
    }

    /// Everything but the payloads.
    pub fn assert_facts(&self, dump: &Dump, about: &str) {
        let found = dump.by_key();
        let (found_keys, expected_keys): (Vec<_>, Vec<_>) =
            (found.keys().copied().collect(), self.expected.keys().copied().collect());
        assert_eq!(found_keys, expected_keys, "{about}: records");
        for (key, record) in found {
            self.assert_record(record, &format!("{about}: record {key:x?}"));
        }
    }

    /// What the record says of its argument, apart from the payload.
    pub fn assert_record(&self, record: &Record, about: &str) {
        let expected = &self.expected[&record.key()];
        assert_eq!((record.role, record.dtype), (expected.role, expected.dtype), "{about}");
        assert_eq!(record.bits, expected.bits, "{about}");
        assert_eq!((&record.funcs, record.blocks), (&expected.funcs, expected.blocks), "{about}");
        assert!(!record.partial, "{about}");
        match &expected.view {
            None => {
                assert_eq!((record.kind, record.contiguous), (Kind::Scalar, true), "{about}");
                assert_eq!(
                    (&record.shape[..], &record.strides[..], record.start_offset),
                    (&[][..], &[][..], 0),
                    "{about}"
                );
            }
            Some(view) => {
                assert_eq!(record.kind, Kind::Tensor, "{about}");
                assert_eq!((&record.shape, &record.strides), (&view.shape, &view.strides), "{about}");
                assert_eq!(record.start_offset, view.start, "{about}");
                assert_eq!(record.contiguous, view.contiguous(), "{about}");
            }
        }
    }

    pub fn assert_payload(&self, record: &Record, about: &str) {
        let expected = &self.expected[&record.key()];
        if expected.bits.is_some() {
            return;
        }
        let payload = record.payload.as_ref().unwrap_or_else(|| panic!("{about}: no payload of {record:?}"));
        assert_eq!(payload.len(), expected.bytes.len(), "{about}: {:x?}", record.key());
        if let Some(at) = payload.iter().zip(&expected.bytes).position(|(found, expected)| found != expected)
        {
            let (found, wanted) = (payload[at], expected.bytes[at]);
            panic!(
                "{about}: byte {at} of record {:x?} is {found:#04x} and must be {wanted:#04x}",
                record.key()
            );
        }
    }
}

pub fn f32s(bytes: &[u8]) -> Vec<f32> {
    plain(bytes)
}

pub fn u16s(bytes: &[u8]) -> Vec<u16> {
    plain(bytes)
}

pub fn i32s(bytes: &[u8]) -> Vec<i32> {
    plain(bytes)
}

fn plain<T: bytemuck::AnyBitPattern>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

pub fn bytes<T: bytemuck::NoUninit>(values: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(values).to_vec()
}
