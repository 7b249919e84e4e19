//! One entry of a manifest, of any age.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use argus_abi::{DType, Kind, MAX_DIMS, Role, Stage};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Unexpected, Visitor};

use super::graph::present;
use super::json::{
    Checksum, Dims, Flag, Funcs, Hex, Key, Member, Seen, Skip, Small, State, Token, Whole, Word, Wrong,
};
use super::record::{Record, Scalar};
use super::statistics::{RawStatistics, StatisticsSeed, infinity};
use crate::stats::Statistics;

/// Bits of [`Row::flags`].
pub(crate) mod flag {
    pub const CONTIGUOUS: u16 = 1;
    pub const TRUNCATED: u16 = 2;
    pub const OVERWRITTEN: u16 = 4;
    pub const AMBIGUOUS: u16 = 8;
    pub const PARTIAL: u16 = 0x10;
    pub const SHARED: u16 = 0x20;
    /// [`super::Row::scalar`] holds bits.
    pub const BITS: u16 = 0x40;
    /// [`super::Row::scalar`] holds an f64.
    pub const ROUNDED: u16 = 0x80;
    /// The entry says another number of elements than its shape.
    pub const NUMEL_WRONG: u16 = 0x100;
    /// The entry says that the view is contiguous or is not, its strides say otherwise.
    pub const CONTIGUOUS_WRONG: u16 = 0x200;
    /// The view is given as in April.
    pub const RAW_SHAPE: u16 = 0x400;
    /// The task created the tensor.
    pub const CREATED: u16 = 0x800;
    /// The payload was left out, or only looked at, as was asked for.
    pub const LEFT_OUT: u16 = 0x1000;
}

/// No dtype that anybody knows.
const NO_DTYPE: u8 = u8::MAX;
/// The age does not tell members apart.
const NO_SUBTASK: u8 = u8::MAX;
const NO_EXTRA: u32 = u32::MAX;

/// An entry, kept small: a dump may have a million.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    task_id: u64,
    start_offset: u64,
    bin_offset: u64,
    bin_size: u64,
    scalar: u64,
    shape: [u64; MAX_DIMS],
    strides: [u64; MAX_DIMS],
    funcs: [i32; 3],
    arg_index: u32,
    /// Place in the list of what only our own manifests say.
    extra: u32,
    flags: u16,
    func_count: u8,
    subtask: u8,
    stage: Stage,
    role: Role,
    kind: Kind,
    dtype: u8,
    ndims: u8,
}

/// What only our own manifests say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Extra {
    address: Option<u64>,
    time_ns: Option<u64>,
    checksum: Option<u128>,
    statistics: Option<Statistics>,
}

impl Row {
    pub(crate) fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    pub(super) fn is_tensor(&self) -> bool {
        self.kind == Kind::Tensor
    }

    pub(super) fn share(&mut self) {
        self.flags |= flag::SHARED;
    }

    pub(super) fn range(&self) -> (u64, u64) {
        (self.bin_offset, self.bin_size)
    }

    pub(crate) fn record(&self, index: usize, extras: &[Extra]) -> Record {
        let extra = extras.get(self.extra as usize).copied().unwrap_or_default();
        let mut record = Record {
            index,
            task_id: self.task_id,
            funcs: self.funcs,
            func_count: self.func_count,
            subtask: Some(self.subtask).filter(|&subtask| subtask != NO_SUBTASK),
            arg_index: self.arg_index,
            ambiguous_index: self.has(flag::AMBIGUOUS),
            stage: self.stage,
            role: self.role,
            kind: self.kind,
            dtype: DType::from_raw(self.dtype),
            ndims: self.ndims,
            shape: self.shape,
            strides: self.strides,
            start_offset: self.start_offset,
            contiguous: self.has(flag::CONTIGUOUS),
            scalar: match self.flags & (flag::BITS | flag::ROUNDED) {
                flag::BITS => Some(Scalar::Bits(self.scalar)),
                flag::ROUNDED => Some(Scalar::Rounded(f64::from_bits(self.scalar))),
                _ => None,
            },
            bin_offset: self.bin_offset,
            bin_size: self.bin_size,
            logical_bytes: None,
            truncated: self.has(flag::TRUNCATED),
            overwritten: self.has(flag::OVERWRITTEN),
            partial: self.has(flag::PARTIAL),
            created: self.has(flag::CREATED),
            shared: self.has(flag::SHARED),
            address: extra.address,
            time_ns: extra.time_ns,
            checksum: extra.checksum,
            statistics: extra.statistics,
        };
        record.logical_bytes = record.view_bytes();
        record
    }
}

/// Which of the reference's words for the list of entries the manifest uses; numbers mean other things in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListName {
    /// August.
    Args,
    /// April, June, and ours.
    Tensors,
}

#[derive(Clone, Copy)]
enum Field {
    TaskId,
    Subtask,
    Funcs,
    ArgIndex,
    Role,
    Stage,
    Kind,
    DType,
    Value,
    Contiguous,
    Shape,
    RawShape,
    Offsets,
    Strides,
    StartOffset,
    Numel,
    Ambiguous,
    BinOffset,
    BinSize,
    Truncated,
    Overwritten,
    ValueBits,
    Kernel,
    Time,
    Address,
    Partial,
    Created,
    Payload,
    Checksum,
    Statistics,
}

/// In an order that nearly fits every age.
const FIELDS: &[(&str, Field)] = &[
    ("task_id", Field::TaskId),
    ("subtask_id", Field::Subtask),
    ("func_id", Field::Funcs),
    ("arg_index", Field::ArgIndex),
    ("role", Field::Role),
    ("stage", Field::Stage),
    ("kind", Field::Kind),
    ("dtype", Field::DType),
    ("value", Field::Value),
    ("is_contiguous", Field::Contiguous),
    ("shape", Field::Shape),
    ("raw_shape", Field::RawShape),
    ("offsets", Field::Offsets),
    ("strides", Field::Strides),
    ("start_offset", Field::StartOffset),
    ("numel", Field::Numel),
    ("arg_index_ambiguous", Field::Ambiguous),
    ("bin_offset", Field::BinOffset),
    ("bin_size", Field::BinSize),
    ("truncated", Field::Truncated),
    ("overwritten", Field::Overwritten),
    ("value_bits", Field::ValueBits),
    ("kernel", Field::Kernel),
    ("time_ns", Field::Time),
    ("address", Field::Address),
    ("partial", Field::Partial),
    ("created", Field::Created),
    ("payload", Field::Payload),
    ("checksum", Field::Checksum),
    ("statistics", Field::Statistics),
];

/// The entries read so far.
pub(crate) struct Rows {
    pub(super) list: ListName,
    pub(super) rows: Vec<Row>,
    pub(super) extras: Vec<Extra>,
    /// Kernels that entries name.
    pub(super) names: BTreeMap<i32, String>,
}

impl Rows {
    pub(super) fn new(list: ListName) -> Rows {
        Rows { list, rows: Vec::new(), extras: Vec::new(), names: BTreeMap::new() }
    }

    /// Adds the entries that follow.
    pub(super) fn append(&mut self, other: Rows) {
        let first = self.extras.len() as u32;
        self.extras.extend(other.extras);
        self.rows
            .extend(other.rows.into_iter().map(|row| Row { extra: row.extra.saturating_add(first), ..row }));
        for (id, name) in other.names {
            self.names.entry(id).or_insert(name);
        }
    }

    fn push(&mut self, draft: Draft<'_>) -> Result<(), (&'static str, Wrong)> {
        let mut row = draft.row(self.list)?;
        let extra = draft.extra(row.dtype)?;
        if extra != Extra::default() {
            row.extra = self.extras.len() as u32;
            self.extras.push(extra);
        }
        if let Some(kernel) = &draft.kernel {
            self.name(&row.funcs[..usize::from(row.func_count)], kernel);
        }
        self.rows.push(row);
        Ok(())
    }

    /// Learns which name belongs to which number from the joined names of a task.
    fn name(&mut self, func_ids: &[i32], joined: &str) {
        let mut different: Vec<i32> = Vec::with_capacity(3);
        for &func_id in func_ids {
            if !different.contains(&func_id) {
                different.push(func_id);
            }
        }
        if different.iter().all(|id| self.names.contains_key(id)) {
            return;
        }
        let parts: Vec<&str> = match different.len() {
            1 => vec![joined],
            _ => joined.split('+').collect(),
        };
        if parts.len() == different.len() {
            for (id, name) in different.into_iter().zip(parts) {
                self.names.entry(id).or_insert_with(|| name.to_owned());
            }
        }
    }
}

/// Reads one entry into `rows`.
pub(super) struct EntrySeed<'s> {
    pub(super) state: &'s mut State,
    pub(super) rows: &'s mut Rows,
}

impl<'de> DeserializeSeed<'de> for EntrySeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for EntrySeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an entry in braces")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let EntrySeed { state, rows } = self;
        let mut draft = Draft::default();
        let mut seen = Seen::default();
        let mut next = 0;
        while let Some(key) = map.next_key_seed(Key(FIELDS, next))? {
            let Some((place, field)) = key else {
                map.next_value::<Skip>()?;
                continue;
            };
            next = place + 1;
            state.field = FIELDS[place].0;
            seen.first(place)?;
            draft.take(field, &mut map)?;
            state.field = "";
        }
        rows.push(draft).map_err(|(field, wrong)| {
            state.field = field;
            state.stop(wrong)
        })
    }
}

/// Numbers and how many they are.
type Counted = ([u64; MAX_DIMS], usize);

/// An entry while its keys come in.
#[derive(Default)]
struct Draft<'a> {
    task_id: Option<u64>,
    subtask: Option<u8>,
    funcs: Option<[i32; 3]>,
    arg_index: Option<u32>,
    role: Option<Role>,
    stage: Option<Stage>,
    kind: Option<Kind>,
    dtype: Option<u8>,
    value: Option<Token<'a>>,
    contiguous: Option<bool>,
    shape: Option<Counted>,
    raw_shape: Option<Counted>,
    offsets: Option<Counted>,
    strides: Option<Counted>,
    start_offset: Option<u64>,
    numel: Option<u64>,
    bin_offset: Option<u64>,
    bin_size: Option<u64>,
    value_bits: Option<u64>,
    kernel: Option<Cow<'a, str>>,
    /// Those flags that stand in the entry as they are.
    flags: u16,
    extra: Extra,
    statistics: Option<RawStatistics>,
}

impl<'a> Draft<'a> {
    fn take<A: MapAccess<'a>>(&mut self, field: Field, map: &mut A) -> Result<(), A::Error> {
        let mut mark = |flag| {
            self.flags |= if map.next_value_seed(Flag)? { flag } else { 0 };
            Ok(())
        };
        match field {
            Field::Ambiguous => return mark(flag::AMBIGUOUS),
            Field::Truncated => return mark(flag::TRUNCATED),
            Field::Overwritten => return mark(flag::OVERWRITTEN),
            Field::Partial => return mark(flag::PARTIAL),
            Field::Created => return mark(flag::CREATED),
            Field::TaskId => self.task_id = Some(map.next_value_seed(Hex)?),
            Field::Subtask => self.subtask = Some(map.next_value_seed(Member)?),
            Field::Funcs => self.funcs = Some(map.next_value_seed(Funcs)?),
            Field::ArgIndex => self.arg_index = Some(map.next_value_seed(Small)?),
            Field::Role => {
                let word = Word(Role::from_name, "\"input\", \"output\" or \"inout\"");
                self.role = Some(map.next_value_seed(word)?);
            }
            Field::Stage => {
                let word = Word(Stage::from_name, "\"before_dispatch\" or \"after_completion\"");
                self.stage = Some(map.next_value_seed(word)?);
            }
            Field::Kind => {
                let word = Word(Kind::from_name, "\"tensor\" or \"scalar\"");
                self.kind = Some(map.next_value_seed(word)?);
            }
            Field::DType => self.dtype = Some(map.next_value_seed(DTypeSeed)?),
            Field::Value => self.value = Some(map.next_value()?),
            Field::Contiguous => self.contiguous = Some(map.next_value_seed(Flag)?),
            Field::Shape => self.shape = Some(map.next_value_seed(Dims)?),
            Field::RawShape => self.raw_shape = Some(map.next_value_seed(Dims)?),
            Field::Offsets => self.offsets = Some(map.next_value_seed(Dims)?),
            Field::Strides => self.strides = Some(map.next_value_seed(Dims)?),
            Field::StartOffset => self.start_offset = Some(map.next_value_seed(Whole)?),
            Field::Numel => self.numel = Some(map.next_value_seed(Whole)?),
            Field::BinOffset => self.bin_offset = Some(map.next_value_seed(Whole)?),
            Field::BinSize => self.bin_size = Some(map.next_value_seed(Whole)?),
            Field::ValueBits => self.value_bits = Some(map.next_value_seed(Hex)?),
            Field::Kernel => self.kernel = Some(map.next_value()?),
            Field::Payload => {
                map.next_value::<Cow<'a, str>>()?;
                self.flags |= flag::LEFT_OUT;
            }
            Field::Time => self.extra.time_ns = Some(map.next_value_seed(Whole)?),
            Field::Address => {
                self.extra.address = Some(map.next_value_seed(Hex)?).filter(|&address| address != 0);
            }
            Field::Checksum => self.extra.checksum = Some(map.next_value_seed(Checksum)?),
            Field::Statistics => self.statistics = Some(map.next_value_seed(StatisticsSeed)?),
        }
        Ok(())
    }

    fn row(&self, list: ListName) -> Result<Row, (&'static str, Wrong)> {
        let missing = |field, allowed| (field, Wrong::new("nothing", allowed));
        let kind = self.kind.unwrap_or(Kind::Tensor);
        let (shape, ndims) = self.shape.ok_or_else(|| missing("shape", "a list of extents"))?;
        let (strides, start_offset) = self.layout(ndims)?;
        let dtype = self.dtype.ok_or_else(|| missing("dtype", "a dtype's name"))?;
        let mut flags = self.flags;
        let row_major = is_row_major(&shape[..ndims], &strides[..ndims]);
        flags |= if row_major { flag::CONTIGUOUS } else { 0 };
        let numel = shape[..ndims].iter().try_fold(1u64, |product, &extent| product.checked_mul(extent));
        if self.numel.is_some() && self.numel != numel {
            flags |= flag::NUMEL_WRONG;
        }
        if self.contiguous.is_some_and(|claimed| claimed != row_major) {
            flags |= flag::CONTIGUOUS_WRONG;
        }
        if self.raw_shape.is_some() {
            flags |= flag::RAW_SHAPE;
        }
        let mut scalar = 0;
        if kind == Kind::Scalar {
            match self.scalar(list, DType::from_raw(dtype)).map_err(|wrong| ("value", wrong))? {
                Some(Scalar::Bits(bits)) => (scalar, flags) = (bits, flags | flag::BITS),
                Some(Scalar::Rounded(value)) => (scalar, flags) = (value.to_bits(), flags | flag::ROUNDED),
                None => {}
            }
        }
        let (funcs, func_count) = present(self.funcs.unwrap_or([-1; 3]));
        Ok(Row {
            task_id: self.task_id.ok_or_else(|| missing("task_id", "a task's id"))?,
            start_offset,
            bin_offset: self.bin_offset.ok_or_else(|| missing("bin_offset", "a number of bytes"))?,
            bin_size: self.bin_size.ok_or_else(|| missing("bin_size", "a number of bytes"))?,
            scalar,
            shape,
            strides,
            funcs,
            arg_index: self.arg_index.ok_or_else(|| missing("arg_index", "an argument's number"))?,
            extra: NO_EXTRA,
            flags,
            func_count,
            subtask: self.subtask.unwrap_or(NO_SUBTASK),
            stage: self.stage.ok_or_else(|| missing("stage", "before_dispatch or after_completion"))?,
            role: self.role.ok_or_else(|| missing("role", "input, output or inout"))?,
            kind,
            dtype,
            ndims: ndims as u8,
        })
    }

    /// Strides and start, given as such or by the raw shape that the view is cut from.
    fn layout(&self, ndims: usize) -> Result<([u64; MAX_DIMS], u64), (&'static str, Wrong)> {
        let as_many = |field, (dims, len): Counted| match len == ndims {
            true => Ok(dims),
            false => Err((field, Wrong::new(format!("a list of {len}"), "as many numbers as shape has"))),
        };
        if let Some(strides) = self.strides {
            return Ok((as_many("strides", strides)?, self.start_offset.unwrap_or(0)));
        }
        let (Some(raw_shape), Some(offsets)) = (self.raw_shape, self.offsets) else {
            let allowed = "strides and start_offset, or raw_shape and offsets";
            return Err(("strides", Wrong::new("nothing", allowed)));
        };
        let (raw_shape, offsets) = (as_many("raw_shape", raw_shape)?, as_many("offsets", offsets)?);
        row_major_view(&raw_shape[..ndims], &offsets[..ndims]).ok_or_else(|| {
            (
                "raw_shape",
                Wrong::new("more elements than there are addresses", "a shape that fits into memory"),
            )
        })
    }

    fn scalar(&self, list: ListName, dtype: Option<DType>) -> Result<Option<Scalar>, Wrong> {
        if let Some(bits) = self.value_bits {
            return Ok(Some(Scalar::Bits(bits)));
        }
        let Some(value) = &self.value else { return Ok(None) };
        let refuse = |allowed| Err(Wrong::new(value.shown(), allowed));
        let float = dtype.is_none_or(DType::is_float);
        let bits = match value {
            Token::Float(value) if float => return Ok(Some(Scalar::Rounded(*value))),
            Token::Null if float => return Ok(Some(Scalar::Rounded(f64::NAN))),
            // August types this one dtype among the floats; June gives the bits of each.
            Token::Unsigned(value) if list == ListName::Args && dtype == Some(DType::F32) => {
                return Ok(Some(Scalar::Rounded(*value as f64)));
            }
            Token::Signed(value) if list == ListName::Args && dtype == Some(DType::F32) => {
                return Ok(Some(Scalar::Rounded(*value as f64)));
            }
            Token::Unsigned(value) => *value,
            Token::Signed(value) => match narrow(*value, dtype) {
                Some(bits) => bits,
                None => return refuse("a number that the dtype can hold"),
            },
            Token::Bool(value) => u64::from(*value),
            Token::Text(text) => match (infinity(text), text.parse::<u64>(), text.parse::<i64>()) {
                (Some(value), ..) if float => return Ok(Some(Scalar::Rounded(value))),
                (_, Ok(value), _) => value,
                (_, _, Ok(value)) => value as u64,
                _ => return refuse("a number, \"$Inf\", \"-$Inf\", or null for NaN"),
            },
            _ => return refuse("a number, true, false, \"$Inf\", \"-$Inf\", or null for NaN"),
        };
        Ok(Some(Scalar::Bits(bits)))
    }

    fn extra(&self, dtype: u8) -> Result<Extra, (&'static str, Wrong)> {
        let statistics = match &self.statistics {
            Some(raw) => Some(raw.typed(DType::from_raw(dtype)).map_err(|wrong| ("statistics", wrong))?),
            None => None,
        };
        Ok(Extra { statistics, ..self.extra })
    }
}

/// A name in any case, or a number that is assigned. A name that nobody knows is no error: the reference writes
/// one, and later ages may have more.
struct DTypeSeed;

impl<'de> DeserializeSeed<'de> for DTypeSeed {
    type Value = u8;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u8, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for DTypeSeed {
    type Value = u8;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a dtype's name, or its number from 0 to 14")
    }

    fn visit_str<E>(self, name: &str) -> Result<u8, E> {
        Ok(DType::from_name(name).map_or(NO_DTYPE, |dtype| dtype as u8))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<u8, E> {
        let known = u8::try_from(value).ok().and_then(DType::from_raw);
        known.map(|dtype| dtype as u8).ok_or_else(|| E::invalid_value(Unexpected::Unsigned(value), &self))
    }
}

/// A negative number as the low bits of its type.
fn narrow(value: i64, dtype: Option<DType>) -> Option<u64> {
    match dtype {
        Some(DType::I8) => i8::try_from(value).ok().map(|value| u64::from(value as u8)),
        Some(DType::I16) => i16::try_from(value).ok().map(|value| u64::from(value as u16)),
        Some(DType::I32) => i32::try_from(value).ok().map(|value| u64::from(value as u32)),
        Some(DType::I64) | None => Some(value as u64),
        _ => None,
    }
}

/// Whether the elements lie next to each other in logical order; an empty view counts.
pub(crate) fn is_row_major(shape: &[u64], strides: &[u64]) -> bool {
    if shape.contains(&0) {
        return true;
    }
    let mut expected = Some(1u64);
    for (&extent, &stride) in shape.iter().zip(strides).rev() {
        if expected != Some(stride) {
            return false;
        }
        expected = stride.checked_mul(extent);
    }
    true
}

/// Strides of a row-major buffer, and where in it the view starts.
fn row_major_view(raw_shape: &[u64], offsets: &[u64]) -> Option<([u64; MAX_DIMS], u64)> {
    let mut strides = [0; MAX_DIMS];
    let mut start = 0u64;
    let mut stride = 1u64;
    for dim in (0..raw_shape.len()).rev() {
        strides[dim] = stride;
        start = start.checked_add(offsets[dim].checked_mul(stride)?)?;
        // The outermost extent is no stride of anything.
        if dim > 0 {
            stride = stride.checked_mul(raw_shape[dim])?;
        }
    }
    Some((strides, start))
}
