//! `argus stats`: what the values of a dump have in common, by record or by kernel; and what its times add up to.
//!
//! | file | subject |
//! |---|---|
//! | this one | values |
//! | `times` | times, the critical path, what to shorten first |

mod times;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use argus_abi::Kind;
use argus_dump::read::{Dump, Record};
use argus_dump::summary::Summary;
use argus_facts::number::Number;
use argus_runs::RunTree;
use argus_runs::capture::Wanted;
use argus_text::object::{self, summary};
use argus_text::record;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::bar::bar;
use crate::cli::StatsArgs;
use crate::failure::{FAILED, Failure};
use crate::input::{Target, Unreadable};
use crate::long_table::{LongTable, Row};
use crate::marks::printable;
use crate::output::counted;
use crate::{input, output, ranks, schema, table};

pub fn stats(args: &StatsArgs) -> Result<ExitCode, Failure> {
    let wanted = if args.times { Wanted::WithoutDump } else { Wanted::Graph };
    match input::target(args.dump.as_deref(), args.ranks.rank.as_deref(), wanted)? {
        Target::One(capture) if args.times => times::show(&capture, args.json),
        Target::One(capture) => of_dump(args, &capture.dump),
        Target::Tree { .. } if args.times || args.parquet.is_some() => {
            let error =
                anyhow::anyhow!("clocks and files of several ranks are not joined: choose one of them");
            Err(Failure::usage(error).hint("--rank N chooses it".to_owned()))
        }
        Target::Tree { tree, chosen } => of_ranks(args, &tree, &chosen),
    }
}

/// Kernels and arguments over all ranks, and how many values of each rank are alarming.
fn of_ranks(args: &StatsArgs, tree: &RunTree, chosen: &[usize]) -> Result<ExitCode, Failure> {
    let told = ranks::each(tree, chosen, ("statistics", args.json), |capture| {
        let dump = &capture.dump;
        let selected = input::select(dump, &args.filter)?;
        let mut groups: BTreeMap<Key, Group> = BTreeMap::new();
        for index in selected {
            let record = dump.record(index);
            if record.kind == Kind::Tensor
                && let Some(summary) = summary(dump, &record)
            {
                let key = key(dump, &record);
                groups.entry(key.clone()).or_insert_with(|| Group::new(key)).add(&summary);
            }
        }
        Ok(groups)
    });
    let mut all: BTreeMap<Key, Group> = BTreeMap::new();
    let mut rows = table::plain(&["CAPTURE", "TENSORS", "ELEMENTS", "UNWRITTEN", "NAN", "INF", ""]);
    let mut objects = Vec::new();
    let mut failed = false;
    for rank in &told {
        let groups = match &rank.told {
            Ok(groups) => groups,
            Err(failure) => {
                failed = true;
                let why = failure.message();
                objects.push(json!({ "capture": rank.label, "error": why }));
                rows.add_row([&rank.label, "", "", "", "", "", &why]);
                continue;
            }
        };
        let sum = |of: fn(&Group) -> u64| groups.values().map(of).sum::<u64>();
        let numbers = [
            sum(|g| g.records as u64),
            sum(|g| g.elements),
            sum(|g| g.unwritten),
            sum(|g| g.nan),
            sum(|g| g.inf),
        ];
        let [records, elements, unwritten, nan, inf] = numbers;
        objects.push(json!({
            "capture": rank.label, "tensors": records, "elements": elements, "unwritten": unwritten, "nan": nan, "inf": inf,
        }));
        let mut cells = vec![rank.label.clone()];
        cells.extend(numbers.iter().map(u64::to_string));
        cells.push(String::new());
        rows.add_row(cells);
        for (key, group) in groups {
            all.entry(key.clone()).or_insert_with(|| Group::new(key.clone())).join(group);
        }
    }
    let groups: Vec<Group> = all.into_values().collect();
    if args.json {
        output::print_json(&json!({
            "schema": schema::STATS_RANKS,
            "run": tree.directory.display().to_string(),
            "captures": objects,
            "kernels": groups.iter().map(Group::object).collect::<Vec<_>>(),
        }))?;
    } else {
        output::print(&format!("{}\n{}", table::lines(&rows), group_table(&groups)))?;
    }
    Ok(if failed { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

fn of_dump(args: &StatsArgs, dump: &Dump) -> Result<ExitCode, Failure> {
    let selected = input::select(dump, &args.filter)?;
    let unreadable = Unreadable::among(dump, &selected);
    if let Some(path) = &args.parquet {
        if let Some(unreadable) = unreadable {
            return Err(unreadable.failure());
        }
        return parquet(dump, &selected, path, args);
    }
    if args.json {
        output::stream(|out, _| write_object(out, dump, &selected, args, unreadable.as_ref()))?;
        return Ok(if unreadable.is_some() { ExitCode::from(FAILED) } else { ExitCode::SUCCESS });
    }
    let (totals, widths) = looked_through(dump, &selected);
    output::stream(|out, colour| {
        if !totals.groups.is_empty() {
            if !args.by_kernel {
                RECORDS.write(out, &selected, widths, (colour, output::columns()), |index| {
                    let record = dump.record(index);
                    let summary = summary(dump, &record)?;
                    Some(Row { cells: cells(dump, &record, &summary), alarming: false })
                })?;
                out.write_all(b"\n")?;
            }
            let groups: Vec<Group> = totals.groups.into_values().collect();
            out.write_all(printable(&group_table(&groups)).as_bytes())?;
        }
        if totals.without > 0 {
            let tensors = counted(totals.without as u64, "tensor");
            let before = if totals.without < totals.tensors { "\n" } else { "" };
            writeln!(out, "{before}{tensors} without values in the dump, and without statistics here")?;
        }
        if dump.is_empty() {
            writeln!(out, "the dump has no records")?;
        } else if totals.tensors == 0 {
            writeln!(out, "only scalars are selected; statistics are those of tensors")?;
        }
        Ok(())
    })?;
    match unreadable {
        Some(unreadable) => Err(unreadable.failure()),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Records whose statistics are in memory at a time.
const PIECE: usize = 4096;

/// What the records add up to.
#[derive(Default)]
struct Totals {
    tensors: usize,
    /// Tensors without values.
    without: usize,
    groups: BTreeMap<Key, Group>,
}

impl Totals {
    fn add(&mut self, dump: &Dump, record: &Record, summary: Option<&Summary>) {
        self.tensors += 1;
        let Some(summary) = summary else {
            self.without += 1;
            return;
        };
        let key = key(dump, record);
        self.groups.entry(key.clone()).or_insert_with(|| Group::new(key)).add(summary);
    }
}

/// The tensors among the selected records in their order, some at a time, each with what `make` makes of it.
fn for_each_tensor<T: Send>(
    dump: &Dump,
    selected: &[usize],
    (what, json): (&'static str, bool),
    make: impl Fn(&Record, Option<&Summary>) -> T + Sync,
    mut take: impl FnMut(&Record, Option<&Summary>, T) -> io::Result<()>,
) -> io::Result<()> {
    let bar = bar(what, selected.len() as u64, json);
    for piece in selected.chunks(PIECE) {
        let made: Vec<(Record, Option<Summary>, T)> = piece
            .par_iter()
            .filter_map(|&index| {
                let record = dump.record(index);
                let tensor = record.kind == Kind::Tensor;
                let summary = if tensor { summary(dump, &record) } else { None };
                tensor.then(|| (record, summary, make(&record, summary.as_ref())))
            })
            .collect();
        made.into_iter().try_for_each(|(record, summary, made)| take(&record, summary.as_ref(), made))?;
        bar.inc(piece.len() as u64);
    }
    bar.finish_and_clear();
    Ok(())
}

/// The whole object, a record on each line.
fn write_object(
    out: &mut dyn Write,
    dump: &Dump,
    selected: &[usize],
    args: &StatsArgs,
    unreadable: Option<&Unreadable>,
) -> io::Result<()> {
    let head = json!({ "schema": schema::STATS, "dump": dump.directory().display().to_string() }).to_string();
    write!(out, "{},\n\"records\": [", head.strip_suffix('}').unwrap_or(&head))?;
    let mut totals = Totals::default();
    let text = |record: &Record, summary: Option<&Summary>| {
        (!args.by_kernel).then(|| record_object(dump, record, summary).to_string())
    };
    for_each_tensor(dump, selected, ("statistics", true), text, |record, summary, text| {
        if let Some(text) = text {
            write!(out, "{}\n{text}", if totals.tensors == 0 { "" } else { "," })?;
        }
        totals.add(dump, record, summary);
        Ok(())
    })?;
    let groups: Vec<Value> = totals.groups.values().map(Group::object).collect();
    let tail = json!({
        "kernels": groups,
        "without_payload": totals.without,
        "unreadable": unreadable.map(Unreadable::object),
    });
    let tail = tail.to_string();
    writeln!(out, "\n],\n{}", tail.strip_prefix('{').unwrap_or(&tail))
}

/// What the records add up to, and how wide their cells are.
fn looked_through(dump: &Dump, selected: &[usize]) -> (Totals, [usize; COLUMNS.len()]) {
    let mut totals = Totals::default();
    let mut widths = COLUMNS.map(str::len);
    let own = |record: &Record, summary: Option<&Summary>| {
        summary.map(|summary| cells(dump, record, summary).map(|cell| cell.chars().count()))
    };
    let looked = for_each_tensor(dump, selected, ("statistics", false), own, |record, summary, own| {
        for (width, own) in widths.iter_mut().zip(own.into_iter().flatten()) {
            *width = own.max(*width);
        }
        totals.add(dump, record, summary);
        Ok(())
    });
    looked.expect("nothing is written");
    (totals, widths)
}

/// One file under the name that was asked for; the exporter names its own.
fn parquet(dump: &Dump, selected: &[usize], path: &Path, args: &StatsArgs) -> Result<ExitCode, Failure> {
    output::check_file(path, args.force)?;
    let cannot = |error: std::io::Error| {
        Failure::failed(anyhow::Error::new(error).context(format!("cannot write {}", path.display())))
    };
    let stage = argus_files::Stage::beside(path).map_err(cannot)?;
    let bar = bar("statistics", 0, args.json);
    let exported = argus_export::export(
        dump,
        selected,
        argus_export::Format::Parquet,
        stage.path(),
        argus_export::Options::default(),
        &|done, total| {
            bar.set_length(total);
            bar.set_position(done);
        },
    );
    bar.finish_and_clear();
    let report = exported.map_err(Failure::failed)?;
    stage.publish(argus_export::PARQUET_FILE, path).map_err(cannot)?;
    let records = counted(report.records, "record");
    output::print(&format!("{records}, {} bytes: {}\n", report.bytes, path.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn record_object(dump: &Dump, record: &Record, summary: Option<&Summary>) -> Value {
    json!({
        "index": record.index,
        "task_id": record.task_id.to_string(),
        "kernel": dump.kernel_names(record),
        "stage": record.stage.name(),
        "role": record.role.name(),
        "arg_index": record.arg_index,
        "dtype": record::dtype(record),
        "shape": record.shape(),
        "statistics": summary.map(object::statistics),
    })
}

const COLUMNS: [&str; 15] = [
    "INDEX",
    "TASK",
    "KERNEL",
    "STAGE",
    "ARG",
    "DTYPE",
    "MIN",
    "MAX",
    "MEAN",
    "STD",
    "ZERO",
    "UNWRITTEN",
    "NAN",
    "INF",
    "DISTINCT",
];

/// Mean and standard deviation go first on a narrow terminal, then what is there twice.
const RECORDS: LongTable<{ COLUMNS.len() }> = LongTable {
    columns: COLUMNS,
    right: [true, false, false, false, true, false, true, true, true, true, true, true, true, true, false],
    spared: &[9, 8, 5],
};

fn cells(dump: &Dump, record: &Record, summary: &Summary) -> [String; COLUMNS.len()] {
    let number = |value: Option<Number>| {
        value.map_or(String::new(), |value| {
            argus_text::number(record.dtype.unwrap_or(argus_abi::DType::F32), value)
        })
    };
    let float = |value: Option<f64>| value.map_or(String::new(), |value| argus_text::float(value, 6));
    [
        record.index.to_string(),
        record.task_id.to_string(),
        printable(&dump.kernel_names(record)).into_owned(),
        record::stage(record.stage).to_owned(),
        record.arg_index.to_string(),
        record::dtype(record).to_owned(),
        number(summary.min),
        number(summary.max),
        float(summary.mean),
        float(summary.std),
        summary.zero.to_string(),
        summary.unwritten.to_string(),
        summary.written_nan().to_string(),
        summary.inf().to_string(),
        summary.distinct.to_string(),
    ]
}

/// All records of one argument of one kernel at one stage.
struct Group {
    kernel: String,
    arg: u32,
    stage: &'static str,
    dtype: &'static str,
    records: usize,
    elements: u64,
    min: f64,
    max: f64,
    /// Sum over finite values, and how many they are.
    sum: f64,
    finite: u64,
    zero: u64,
    unwritten: u64,
    nan: u64,
    inf: u64,
    subnormal: u64,
}

/// Kernel, stage, argument and dtype.
type Key = (String, &'static str, u32, &'static str);

fn key(dump: &Dump, record: &Record) -> Key {
    (dump.kernel_names(record), record::stage(record.stage), record.arg_index, record::dtype(record))
}

impl Group {
    fn new((kernel, stage, arg, dtype): Key) -> Group {
        Group {
            kernel,
            arg,
            stage,
            dtype,
            records: 0,
            elements: 0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            sum: 0.0,
            finite: 0,
            zero: 0,
            unwritten: 0,
            nan: 0,
            inf: 0,
            subnormal: 0,
        }
    }

    fn join(&mut self, other: &Group) {
        self.records += other.records;
        self.elements += other.elements;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
        self.finite += other.finite;
        self.zero += other.zero;
        self.unwritten += other.unwritten;
        self.nan += other.nan;
        self.inf += other.inf;
        self.subnormal += other.subnormal;
    }

    fn add(&mut self, summary: &Summary) {
        let finite = summary.count - summary.nan - summary.inf();
        self.records += 1;
        self.elements += summary.count;
        self.min = summary.min.map_or(self.min, |min| self.min.min(min.as_f64()));
        self.max = summary.max.map_or(self.max, |max| self.max.max(max.as_f64()));
        self.sum += summary.mean.unwrap_or(0.0) * finite as f64;
        self.finite += finite;
        self.zero += summary.zero;
        self.unwritten += summary.unwritten;
        self.nan += summary.written_nan();
        self.inf += summary.inf();
        self.subnormal += summary.subnormal;
    }

    fn mean(&self) -> Option<f64> {
        (self.finite > 0).then(|| self.sum / self.finite as f64)
    }

    fn extremes(&self) -> Option<(f64, f64)> {
        (self.min <= self.max).then_some((self.min, self.max))
    }

    fn object(&self) -> Value {
        let finite = |value: f64| if value.is_finite() { json!(value) } else { json!(value.to_string()) };
        json!({
            "kernel": self.kernel,
            "arg_index": self.arg,
            "stage": self.stage,
            "dtype": self.dtype,
            "records": self.records,
            "elements": self.elements,
            "min": self.extremes().map(|(min, _)| finite(min)),
            "max": self.extremes().map(|(_, max)| finite(max)),
            "mean": self.mean(),
            "zero": self.zero,
            "unwritten": self.unwritten,
            "nan": self.nan,
            "inf": self.inf,
            "subnormal": self.subnormal,
        })
    }
}

fn group_table(groups: &[Group]) -> String {
    let mut rows = table::plain(&[
        "KERNEL",
        "STAGE",
        "ARG",
        "DTYPE",
        "RECORDS",
        "ELEMENTS",
        "MIN",
        "MAX",
        "MEAN",
        "ZERO",
        "UNWRITTEN",
        "NAN",
        "INF",
        "SUBNORMAL",
    ]);
    for group in groups {
        let float = |value: Option<f64>| value.map_or(String::new(), |value| argus_text::float(value, 6));
        rows.add_row([
            group.kernel.clone(),
            group.stage.to_owned(),
            group.arg.to_string(),
            group.dtype.to_owned(),
            group.records.to_string(),
            group.elements.to_string(),
            float(group.extremes().map(|(min, _)| min)),
            float(group.extremes().map(|(_, max)| max)),
            float(group.mean()),
            group.zero.to_string(),
            group.unwritten.to_string(),
            group.nan.to_string(),
            group.inf.to_string(),
            group.subnormal.to_string(),
        ]);
    }
    table::lines(&rows)
}
