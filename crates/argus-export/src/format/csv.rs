//! One row per record as text: RFC 4180, lines ended by CR LF.

use std::fmt::Display;
use std::io::{self, Write};

use argus_dump::read::Dump;
use argus_facts::number::Number;
use rayon::prelude::*;

use super::Job;
use crate::error::ExportError;
use crate::output::{Output, finish};
use crate::report::{Remarks, Report};
use crate::row::{Row, dtype_name};

const FILE: &str = "records.csv";
/// Rows that are put together at a time.
const STEP: usize = 1024;

const HEAD: &str = "index,task_id,kernel,func_ids,subtask_id,stage,role,arg_index,kind,dtype,shape,strides,\
                    start_offset,numel,logical_bytes,payload_bytes,flags,address,time_ns,checksum,scalar_value,\
                    scalar_bits,count,min,max,abs_max,mean,std,zero,nan,inf,positive_inf,negative_inf,subnormal,\
                    distinct,missing\r\n";

/// Writes the rows of `records` to `out`, head first.
pub fn write(dump: &Dump, records: &[usize], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(HEAD.as_bytes())?;
    for step in records.chunks(STEP) {
        let lines: Vec<String> =
            step.par_iter().map(|&index| line(&Row::with_statistics(dump, index))).collect();
        lines.iter().try_for_each(|line| out.write_all(line.as_bytes()))?;
    }
    Ok(())
}

pub(crate) fn export(job: &Job<'_>, output: Output) -> Result<Report, ExportError> {
    output.check_free([FILE.to_owned()])?;
    let (mut without, mut remarks) = (Remarks::default(), Remarks::default());
    output.create(FILE)?.fill(|file| {
        file.write_all(HEAD.as_bytes())?;
        for step in job.records.chunks(STEP) {
            let rows: Vec<Row> = step
                .par_iter()
                .map(|&index| {
                    let row = Row::with_statistics(job.dump, index);
                    job.progress.add(&row.record);
                    row
                })
                .collect();
            let lines: Vec<String> = rows.par_iter().map(line).collect();
            lines.iter().try_for_each(|line| file.write_all(line.as_bytes()))?;
            for row in rows {
                remarks.take(row.record.index, row.remark);
                without.take(row.record.index, row.missing);
            }
        }
        Ok(())
    })?;
    finish(output, job.records.len(), without.groups(), remarks.groups())
}

fn line(row: &Row) -> String {
    let record = &row.record;
    let figures = &row.figures;
    let mut fields = Fields(String::new());
    fields.put(record.index);
    fields.put(record.task_id);
    fields.put(&row.kernel);
    fields.put(list(&record.func_ids));
    fields.maybe(record.subtask);
    fields.put(record.stage);
    fields.put(record.role);
    fields.put(record.arg_index);
    fields.put(record.kind);
    fields.put(dtype_name(record));
    fields.put(list(record.shape()));
    fields.put(list(record.strides()));
    fields.put(record.start_offset);
    fields.maybe(record.numel());
    fields.maybe(record.logical_bytes);
    fields.put(record.bin_size);
    fields.put(row.flags());
    fields.maybe(record.address.map(|address| format!("0x{address:016x}")));
    fields.maybe(record.time_ns);
    fields.maybe(record.checksum.map(|checksum| format!("{checksum:032x}")));
    fields.maybe(row.scalar_number().map(exact));
    fields.maybe(row.scalar_bits().map(|bits| format!("0x{bits:016x}")));
    fields.maybe(figures.count);
    for extreme in [figures.min, figures.max, figures.abs_max] {
        fields.maybe(extreme.map(exact));
    }
    for value in [figures.mean, figures.std] {
        fields.maybe(value.map(|value| exact(Number::Float(value))));
    }
    for count in [
        figures.zero,
        figures.nan,
        figures.inf,
        figures.positive_inf,
        figures.negative_inf,
        figures.subnormal,
    ] {
        fields.maybe(count);
    }
    fields.maybe(figures.distinct.as_deref());
    fields.maybe(row.missing.as_deref());
    fields.0.push_str("\r\n");
    fields.0
}

/// All digits of a number.
fn exact(value: Number) -> String {
    match value {
        Number::Float(value) => format!("{value:?}"),
        Number::Signed(value) => value.to_string(),
        Number::Unsigned(value) => value.to_string(),
        Number::Bool(value) => u8::from(value).to_string(),
    }
}

fn list<T: Display>(items: &[T]) -> String {
    format!("[{}]", items.iter().map(T::to_string).collect::<Vec<_>>().join(", "))
}

/// Fields of a line, quoted where they must be.
struct Fields(String);

impl Fields {
    fn put(&mut self, field: impl Display) {
        if !self.0.is_empty() {
            self.0.push(',');
        }
        let text = field.to_string();
        if text.contains(|sign: char| matches!(sign, ',' | '"') || sign.is_control()) {
            self.0.push('"');
            self.0.push_str(&text.replace('"', "\"\""));
            self.0.push('"');
        } else {
            self.0.push_str(&text);
        }
    }

    /// Empty if there is nothing to say.
    fn maybe(&mut self, field: Option<impl Display>) {
        match field {
            Some(field) => self.put(field),
            None => self.put(""),
        }
    }
}
