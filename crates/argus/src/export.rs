//! `argus export` and `argus convert`: a dump for other tools.

use std::fmt::Write;
use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;

use argus_dump::read::Dump;
use argus_export::{ExportError, Format, Group, Options, Report, Target};
use argus_runs::RunTree;
use argus_runs::capture::Wanted;
use serde_json::{Value, json};

use crate::bar::bar;
use crate::cli::{ConvertArgs, ExportArgs, ExportFormat, Layout};
use crate::failure::{FAILED, Failure};
use crate::input::Unreadable;
use crate::marks::{BAD, NOTE};
use crate::output::counted;
use crate::{input, output, ranks, schema};

/// Records that are named in a remark.
const LISTED: usize = 10;

pub fn export(args: &ExportArgs) -> Result<ExitCode, Failure> {
    let format = match args.format {
        ExportFormat::Txt => Format::Txt,
        ExportFormat::Npy => Format::Npy,
        ExportFormat::Npz => Format::Npz,
        ExportFormat::Safetensors => Format::Safetensors,
        ExportFormat::Parquet => Format::Parquet,
        ExportFormat::Csv => Format::Csv,
    };
    if args.payload && format != Format::Parquet {
        let error = anyhow::anyhow!(
            "--payload puts payloads into Parquet; {} holds them anyway, or never",
            format.name()
        );
        return Err(Failure::usage(error));
    }
    match input::target(args.dump.as_deref(), args.ranks.rank.as_deref(), Wanted::Graph)? {
        input::Target::One(capture) => {
            let bar = bar("exporting", 0, args.json);
            let report = export_one(args, &capture.dump, format, &args.output, &|done, total| {
                bar.set_length(total);
                bar.set_position(done);
            })?;
            bar.finish_and_clear();
            tell(&report, schema::EXPORT, args.json)
        }
        input::Target::Tree { tree, chosen } => export_ranks(args, &tree, &chosen, format),
    }
}

fn export_one(
    args: &ExportArgs,
    dump: &Dump,
    format: Format,
    output: &Path,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<Report, Failure> {
    let selected = input::select(dump, &args.filter)?;
    whole(dump, &selected)?;
    let options = Options { force: args.force, payload: args.payload };
    argus_export::export(dump, &selected, format, output, options, progress).map_err(blame)
}

/// Each rank into a directory of its own, under the names that the run has.
fn export_ranks(
    args: &ExportArgs,
    tree: &RunTree,
    chosen: &[usize],
    format: Format,
) -> Result<ExitCode, Failure> {
    let told = ranks::each(tree, chosen, ("exporting", args.json), |capture| {
        let directory = &capture.artefacts.directory;
        let below = directory.strip_prefix(&tree.directory).unwrap_or(directory);
        let output = args.output.join(below.strip_prefix("dfx_outputs").unwrap_or(below));
        export_one(args, &capture.dump, format, &output, &|_, _| {})
    });
    let failed = told.iter().filter(|rank| rank.told.is_err()).count();
    if args.json {
        let captures = told.iter().map(|rank| {
            let mut value = match &rank.told {
                Ok(report) => object(report, schema::EXPORT),
                Err(failure) => json!({ "error": failure.message() }),
            };
            value["capture"] = rank.label.clone().into();
            value
        });
        let captures: Vec<Value> = captures.collect();
        output::print_json(&json!({ "schema": schema::EXPORT_RANKS, "captures": captures }))?;
    } else {
        let mut told_text = String::new();
        for rank in &told {
            _ = match &rank.told {
                Ok(report) => write!(told_text, "{}: {}", rank.label, text(report)),
                Err(failure) => {
                    writeln!(told_text, "{}: {BAD}not written:{BAD:#} {}", rank.label, failure.message())
                }
            };
        }
        output::print(&told_text)?;
    }
    Ok(if failed > 0 { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

pub fn convert(args: &ConvertArgs) -> Result<ExitCode, Failure> {
    let target = match args.to {
        Layout::Argus => Target::Argus,
        Layout::June => Target::June,
        Layout::August => Target::August,
    };
    let dump = input::open(args.dump.as_deref())?;
    whole(&dump, &(0..dump.len()).collect::<Vec<_>>())?;
    let bar = bar("converting", 0, args.json);
    let converted = argus_export::convert(&dump, target, &args.output, args.force, &|done, total| {
        bar.set_length(total);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    tell(&converted.map_err(blame)?, schema::CONVERT, args.json)
}

/// A copy without payloads that the dump promises would pass for one whose run never captured them.
fn whole(dump: &Dump, selected: &[usize]) -> Result<(), Failure> {
    Unreadable::among(dump, selected).map_or(Ok(()), |unreadable| Err(unreadable.failure()))
}

/// What exists, or cannot be a directory, is a matter of the command line.
fn blame(error: ExportError) -> Failure {
    match &error {
        ExportError::Exists { .. } => Failure::usage(error).hint(output::REPLACE_DIRECTORY.to_owned()),
        ExportError::Create { source, .. }
            if matches!(
                source.kind(),
                ErrorKind::NotADirectory | ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            Failure::usage(error).hint("-o names another directory".to_owned())
        }
        _ => Failure::failed(error),
    }
}

fn tell(report: &Report, schema: &'static str, json: bool) -> Result<ExitCode, Failure> {
    if json {
        output::print_json(&object(report, schema))?;
    } else {
        output::print(&text(report))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn text(report: &Report) -> String {
    let mut text = String::new();
    _ = writeln!(
        text,
        "{} in {}, {} bytes: {}",
        counted(report.records, "record"),
        counted(report.files, "file"),
        report.bytes,
        report.directory.display()
    );
    if let Some(time) = report.file_system {
        _ = writeln!(
            text,
            "{NOTE}note:{NOTE:#} creating and naming {} takes at least {:.1} s here, whatever is in them (measured with \
             empty ones)",
            counted(report.files, "file"),
            time.as_secs_f64()
        );
    }
    for group in report.without_payload.iter().chain(&report.remarks) {
        _ = writeln!(text, "{NOTE}note:{NOTE:#} {}{}", group.reason, listed(&group.records));
    }
    text
}

fn listed(records: &[usize]) -> String {
    if records.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = records.iter().take(LISTED).map(ToString::to_string).collect();
    let more = records.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let noun = if records.len() == 1 { "record" } else { "records" };
    format!(": {noun} {}{more}", shown.join(", "))
}

fn object(report: &Report, schema: &str) -> Value {
    let groups = |groups: &[Group]| -> Vec<Value> {
        groups.iter().map(|group| json!({ "reason": group.reason, "records": group.records })).collect()
    };
    json!({
        "schema": schema,
        "directory": report.directory.display().to_string(),
        "files": report.files,
        "bytes": report.bytes,
        "records": report.records,
        "file_system_seconds": report.file_system.map(|time| time.as_secs_f64()),
        "without_payload": groups(&report.without_payload),
        "remarks": groups(&report.remarks),
    })
}
