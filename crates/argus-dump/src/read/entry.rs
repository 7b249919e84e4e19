//! One entry of a manifest, of any format version: its keys and the types of their values.
//!
//! | file | subject |
//! |---|---|
//! | `meaning` | what the values mean together |

mod meaning;

use std::borrow::Cow;
use std::fmt;

use argus_abi::{DType, Kind, MAX_DIMS, Role, Stage};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Unexpected, Visitor};

use super::json::{
    Checksum, Dims, Flag, Funcs, Hex, Key, Member, SeenKeys, Skip, Small, State, Token, Whole, Word,
};
use super::row::{Extra, NO_DTYPE, Rows, flag};
use super::statistics::{RawStatistics, StatisticsSeed};

pub(crate) use meaning::is_row_major;

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
    HostDiscarded,
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

/// In an order that nearly fits every format version.
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
    ("host_discarded", Field::HostDiscarded),
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
        let mut seen = SeenKeys::default();
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
        let (row, extra) = draft.meaning(rows.list).map_err(|(field, wrong)| {
            state.field = field;
            state.stop(wrong)
        })?;
        rows.push(row, extra, draft.kernel.as_deref());
        Ok(())
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
            Field::Overwritten | Field::HostDiscarded => return mark(flag::OVERWRITTEN),
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
}

/// A name in any case, or a number that is assigned. A name that is not known is not an error: the reference writes
/// one, and later versions may have more.
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
