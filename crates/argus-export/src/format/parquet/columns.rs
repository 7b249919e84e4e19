//! The columns: their names, their types and what each holds of a row.
//!
//! Parquet stores a column as its values that are there and, for each place, a *definition level*: how much of the
//! path down to the value exists. A list adds *repetition levels*: 0 begins the list of a new row. Every column
//! can be null, because what one group always has another may lack.

use std::borrow::Cow;
use std::sync::Arc;

use argus_facts::number::Number;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::writer::SerializedColumnWriter;
use parquet::schema::types::{Type, TypePtr};

use crate::row::{Row, dtype_name};

/// Where the bytes of a payload go.
pub(super) const PAYLOAD: &str = "payload";

/// How a column gets its values out of a row.
pub(super) enum Cells {
    U8(fn(&Row) -> Option<u8>),
    U32(fn(&Row) -> Option<u32>),
    U64(fn(&Row) -> Option<u64>),
    F64(fn(&Row) -> Option<f64>),
    Bool(fn(&Row) -> Option<bool>),
    Text(fn(&Row) -> Option<Cow<'_, str>>),
    I32s(fn(&Row) -> &[i32]),
    U64s(fn(&Row) -> &[u64]),
}

/// All columns but the payload, in the order of the file.
pub(super) const COLUMNS: [(&str, Cells); 38] = [
    ("index", Cells::U64(|row| Some(row.record.index as u64))),
    ("task_id", Cells::U64(|row| Some(row.record.task_id.raw()))),
    ("task_id_hex", Cells::Text(|row| Some(row.record.task_id.to_string().into()))),
    ("kernel", Cells::Text(|row| Some(row.kernel.as_str().into()))),
    ("func_ids", Cells::I32s(|row| &row.record.func_ids)),
    ("subtask_id", Cells::U8(|row| row.record.subtask)),
    ("stage", Cells::Text(|row| Some(row.record.stage.name().into()))),
    ("role", Cells::Text(|row| Some(row.record.role.name().into()))),
    ("arg_index", Cells::U32(|row| Some(row.record.arg_index))),
    ("kind", Cells::Text(|row| Some(row.record.kind.name().into()))),
    ("dtype", Cells::Text(|row| Some(dtype_name(&row.record).into()))),
    ("shape", Cells::U64s(|row| row.record.shape())),
    ("strides", Cells::U64s(|row| row.record.strides())),
    ("start_offset", Cells::U64(|row| Some(row.record.start_offset))),
    ("numel", Cells::U64(|row| row.record.numel())),
    ("logical_bytes", Cells::U64(|row| row.record.logical_bytes)),
    ("payload_bytes", Cells::U64(|row| Some(row.record.bin_size))),
    ("flags", Cells::Text(|row| Some(row.flags().into()))),
    ("contiguous", Cells::Bool(|row| Some(row.record.contiguous))),
    ("address", Cells::U64(|row| row.record.address)),
    ("time_ns", Cells::U64(|row| row.record.time_ns)),
    ("checksum", Cells::Text(|row| row.record.checksum.map(|checksum| format!("{checksum:032x}").into()))),
    ("scalar_value", Cells::F64(|row| row.scalar_number().map(Number::as_f64))),
    ("scalar_bits", Cells::U64(Row::scalar_bits)),
    ("count", Cells::U64(|row| row.figures.count)),
    ("min", Cells::F64(|row| row.figures.min.map(Number::as_f64))),
    ("max", Cells::F64(|row| row.figures.max.map(Number::as_f64))),
    ("abs_max", Cells::F64(|row| row.figures.abs_max.map(Number::as_f64))),
    ("mean", Cells::F64(|row| row.figures.mean)),
    ("std", Cells::F64(|row| row.figures.std)),
    ("zero", Cells::U64(|row| row.figures.zero)),
    ("nan", Cells::U64(|row| row.figures.nan)),
    ("inf", Cells::U64(|row| row.figures.inf)),
    ("positive_inf", Cells::U64(|row| row.figures.positive_inf)),
    ("negative_inf", Cells::U64(|row| row.figures.negative_inf)),
    ("subnormal", Cells::U64(|row| row.figures.subnormal)),
    ("distinct", Cells::Text(|row| row.figures.distinct.as_deref().map(Cow::from))),
    ("missing", Cells::Text(|row| row.missing.as_deref().map(Cow::from))),
];

/// The columns as the file declares them.
pub(super) fn schema(payload: bool) -> Result<TypePtr> {
    let mut fields = Vec::with_capacity(COLUMNS.len() + 1);
    for (name, cells) in &COLUMNS {
        fields.push(cells.declare(name)?);
    }
    if payload {
        fields.push(value(PAYLOAD, Physical::BYTE_ARRAY, None)?);
    }
    Ok(Arc::new(Type::group_type_builder("records").with_fields(fields).build()?))
}

impl Cells {
    fn declare(&self, name: &str) -> Result<TypePtr> {
        let unsigned = |width| Some(LogicalType::integer(width, false));
        match self {
            Cells::U8(_) => value(name, Physical::INT32, unsigned(8)),
            Cells::U32(_) => value(name, Physical::INT32, unsigned(32)),
            Cells::U64(_) => value(name, Physical::INT64, unsigned(64)),
            Cells::F64(_) => value(name, Physical::DOUBLE, None),
            Cells::Bool(_) => value(name, Physical::BOOLEAN, None),
            Cells::Text(_) => value(name, Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Cells::I32s(_) => list(name, value("item", Physical::INT32, None)?),
            Cells::U64s(_) => list(name, value("item", Physical::INT64, unsigned(64))?),
        }
    }

    /// Writes the column of some rows.
    pub(super) fn write(&self, rows: &[Row], column: &mut SerializedColumnWriter<'_>) -> Result<()> {
        // Parquet has no unsigned types of its own: it keeps their bits.
        match self {
            Cells::U8(of) => optional::<Int32Type>(column, rows.iter().map(|row| of(row).map(i32::from))),
            Cells::U32(of) => optional::<Int32Type>(column, rows.iter().map(|row| of(row).map(|v| v as i32))),
            Cells::U64(of) => optional::<Int64Type>(column, rows.iter().map(|row| of(row).map(|v| v as i64))),
            Cells::F64(of) => optional::<DoubleType>(column, rows.iter().map(of)),
            Cells::Bool(of) => optional::<BoolType>(column, rows.iter().map(of)),
            Cells::Text(of) => {
                // All texts of the column share one piece of memory.
                let (mut all, mut ends) = (Vec::new(), Vec::with_capacity(rows.len()));
                for text in rows.iter().map(of) {
                    ends.push(text.map(|text| {
                        all.extend_from_slice(text.as_bytes());
                        all.len()
                    }));
                }
                let (all, mut start) = (ByteArray::from(all), 0);
                let texts = ends.into_iter().map(|end| {
                    let end = end?;
                    let begin = std::mem::replace(&mut start, end);
                    Some(all.slice(begin, end - begin))
                });
                optional::<ByteArrayType>(column, texts)
            }
            Cells::I32s(of) => lists::<Int32Type, _>(column, rows.iter().map(of), |&item| item),
            Cells::U64s(of) => lists::<Int64Type, _>(column, rows.iter().map(of), |&item| item as i64),
        }
    }
}

fn value(name: &str, physical: Physical, logical: Option<LogicalType>) -> Result<TypePtr> {
    let builder = Type::primitive_type_builder(name, physical);
    Ok(Arc::new(builder.with_repetition(Repetition::OPTIONAL).with_logical_type(logical).build()?))
}

/// The three layers that Parquet asks of a list.
fn list(name: &str, item: TypePtr) -> Result<TypePtr> {
    let items = Type::group_type_builder("list").with_repetition(Repetition::REPEATED);
    let list = Type::group_type_builder(name)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(Some(LogicalType::List))
        .with_fields(vec![Arc::new(items.with_fields(vec![item]).build()?)]);
    Ok(Arc::new(list.build()?))
}

fn optional<T: DataType>(
    column: &mut SerializedColumnWriter<'_>,
    cells: impl Iterator<Item = Option<T::T>>,
) -> Result<()> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for cell in cells {
        levels.push(i16::from(cell.is_some()));
        values.extend(cell);
    }
    column.typed::<T>().write_batch(&values, Some(&levels), None).map(drop)
}

/// Lists that are all there, though some are empty.
fn lists<'a, T: DataType, I: 'a>(
    column: &mut SerializedColumnWriter<'_>,
    cells: impl Iterator<Item = &'a [I]>,
    stored: impl Fn(&I) -> T::T,
) -> Result<()> {
    /// The list is there, and has no item.
    const EMPTY: i16 = 1;
    /// The list, its place and the item are there.
    const ITEM: i16 = 3;
    let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
    for cell in cells {
        if cell.is_empty() {
            definitions.push(EMPTY);
            repetitions.push(0);
        }
        for (place, item) in cell.iter().enumerate() {
            definitions.push(ITEM);
            repetitions.push(i16::from(place > 0));
            values.push(stored(item));
        }
    }
    column.typed::<T>().write_batch(&values, Some(&definitions), Some(&repetitions)).map(drop)
}
