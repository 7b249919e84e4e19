//! What `argus replay` tells, for people.

use std::fmt::Write;

use argus_abi::DType;
use argus_dump_scene::{From, Source};
use argus_facts::number::{self, Number};
use argus_facts::with_causes;
use argus_replay::compare::{Change, Sample};
use argus_replay::task::place_name;
use argus_replay::{Argument, Judgement, Observation, Sighting, Verdict, What};
use argus_text::UNWRITTEN;
use argus_text::record::scalar_bits;
use comfy_table::CellAlignment;

use super::Report;
use crate::marks::{BAD, GOOD, NOTE};
use crate::output::shell_word;
use crate::table;

/// Rows and columns of a probed tile that are shown.
const CORNER: u32 = 8;

pub fn text(report: &Report<'_>) -> String {
    let mut text = facts(report.source);
    text += &format!("\n{}", table::lines(&arguments(&report.source.task.arguments)));
    for note in &report.source.task.notes {
        _ = writeln!(text, "{NOTE}note:{NOTE:#} {note}");
    }
    sightings(&mut text, report);
    if !report.proof.verdicts.is_empty() {
        text += &format!("\n{}", table::lines(&outputs(&report.proof.verdicts)));
    }
    findings(&mut text, report);
    text += "\n";
    text += &verdict(report);
    if let Some(path) = report.capsule {
        _ = writeln!(text, "{NOTE}capsule:{NOTE:#} {}", path.display());
    }
    text += &next(report);
    text
}

/// Which task of which program.
pub fn facts(source: &Source) -> String {
    let task = &source.task;
    let identity = &task.identity;
    let mut text = String::new();
    let mut row = |name: &str, value: String| _ = writeln!(text, "{name:<10}{value}");
    let members: Vec<String> = identity
        .members
        .iter()
        .map(|member| format!("{} (func_id {}, {})", member.name, member.func_id, place_name(member.member)))
        .collect();
    row("task", task.id.to_string());
    row("kernel", members.join(" + "));
    row("blocks", task.blocks.to_string());
    row("program", format!("{}, case {}, {}", identity.scene, identity.case, identity.runtime));
    row("platform", source.chip.name.to_owned());
    let (name, from) = match &source.from {
        From::Dump(path) => ("dump", path),
        From::Capsule(path) => ("capsule", path),
        From::Scene(scene) => ("captured", scene),
    };
    row(name, from.clone());
    text
}

pub fn arguments(arguments: &[Argument]) -> comfy_table::Table {
    let mut table = table::plain(&["SLOT", "ROLE", "DTYPE", "SHAPE OR VALUE", "OFFSET", "STRIDES", "SOURCE"]);
    for argument in arguments {
        let (role, dtype, what, offset, strides) = match &argument.what {
            What::Tensor(tensor) => (
                tensor.role.name().to_owned(),
                tensor.dtype.name(),
                list(&tensor.shape),
                tensor.start_offset.to_string(),
                list(&tensor.strides),
            ),
            What::Scalar { dtype, bits } => (
                "scalar".into(),
                dtype.name(),
                format!("{bits:#x} = {}", scalar_bits(*dtype, *bits)),
                "-".into(),
                "-".into(),
            ),
            What::Missing { .. } => ("?".into(), "?", "?".into(), "-".into(), "-".into()),
        };
        let slot = argument.slot.to_string();
        table.add_row([slot, role, dtype.into(), what, offset, strides, argument.source.clone()]);
    }
    table
}

fn outputs(verdicts: &[Verdict]) -> comfy_table::Table {
    let mut table = table::plain(&["OUTPUT", "VERDICT", "ELEMENTS", "DIFFER", "UNWRITTEN", "FIRST", "WORST"]);
    for verdict in verdicts {
        let (judgement, differ, first, worst) = match &verdict.judgement {
            Judgement::BitEqual => ("bit-equal".to_owned(), "0".to_owned(), "-".into(), "-".into()),
            Judgement::Differs(difference) => (
                "DIFFERS".into(),
                difference.count.to_string(),
                sample(verdict, &difference.first),
                sample(verdict, &difference.worst),
            ),
            Judgement::Unchecked(why) => (format!("unchecked: {why}"), "-".into(), "-".into(), "-".into()),
        };
        table.add_row([
            format!("slot {}", verdict.slot),
            judgement,
            verdict.elements.to_string(),
            differ,
            verdict.unwritten.to_string(),
            first,
            worst,
        ]);
    }
    for column in table.column_iter_mut().skip(2).take(3) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// `[3, 5]: 1.25, was 1.5`.
fn sample(verdict: &Verdict, sample: &Sample) -> String {
    let (got, was) = (value(verdict.dtype, sample.got), value(verdict.dtype, sample.expected));
    format!("[{}]: {got}, was {was}", position(&verdict.shape, sample.index))
}

/// An index in logical order as one number per dimension.
pub fn position(shape: &[u32], index: u64) -> String {
    let mut left = index;
    let mut places = Vec::new();
    for &extent in shape.iter().rev() {
        let extent = u64::from(extent.max(1));
        places.push((left % extent).to_string());
        left /= extent;
    }
    places.reverse();
    places.join(", ")
}

fn sightings(text: &mut String, report: &Report<'_>) {
    let outcome = &report.proof.outcome;
    if outcome.sightings.is_empty() && outcome.more_sightings == 0 {
        return;
    }
    text.push('\n');
    for sighting in &outcome.sightings {
        show(text, sighting);
    }
    if outcome.more_sightings > 0 {
        _ = writeln!(text, "and {} more", outcome.more_sightings);
    }
}

fn show(text: &mut String, sighting: &Sighting) {
    let Sighting { kernel, member, block, instruction, opcode, location, seen } = sighting;
    let place = place_name(*member);
    let at = format!("{kernel} on {place}, block {block}, instruction {instruction} {opcode} ({location})");
    match seen {
        Observation::Changed { watch, dtype, from, to } => {
            let index: Vec<String> = watch.index.iter().map(u32::to_string).collect();
            let (from, to) = (value(*dtype, *from), value(*dtype, *to));
            _ = writeln!(text, "{at}: slot {}[{}] {from} -> {to}", watch.slot, index.join(","));
        }
        Observation::Operand { name, place, dtype, rows, cols, bytes } => {
            _ = writeln!(text, "{at}: {name}, {place}");
            for row in 0..(*rows).min(CORNER) {
                let mut line = String::from(" ");
                for col in 0..(*cols).min(CORNER) {
                    let index = u64::from(row) * u64::from(*cols) + u64::from(col);
                    let shown = number::element(*dtype, bytes, index);
                    let shown = shown.map_or_else(|| "?".into(), |value| self::shown(*dtype, value));
                    _ = write!(line, " {shown:>12}");
                }
                let more = if *cols > CORNER { " ..." } else { "" };
                _ = writeln!(text, "{line}{more}");
            }
            if *rows > CORNER {
                _ = writeln!(text, "  ... {rows} rows of {cols}; --json has all of them");
            }
        }
    }
}

/// What is wrong beside the verdicts.
fn findings(text: &mut String, report: &Report<'_>) {
    let proof = report.proof;
    for verdict in proof.verdicts.iter().filter(|verdict| verdict.dependent > 0) {
        let (count, slot) = (verdict.dependent, verdict.slot);
        _ = writeln!(
            text,
            "{NOTE}note:{NOTE:#} {count} elements of slot {slot} depend on bytes that were not captured"
        );
    }
    if let Some(error) = &proof.fails_otherwise {
        _ = writeln!(
            text,
            "{NOTE}note:{NOTE:#} the task needs bytes that were not captured: when they are others, it fails: {error}"
        );
    }
    if let Some(stray) = proof.outcome.stray {
        let (bytes, slot, offset) = (stray.bytes, stray.slot, stray.offset);
        _ = writeln!(
            text,
            "{NOTE}note:{NOTE:#} the task wrote {bytes} bytes outside of its arguments, the first {offset} bytes into \
             the buffer of slot {slot}"
        );
    }
    for flaky in &proof.flaky {
        let run = flaky.run;
        _ = match &flaky.change {
            Change::Output { slot, element } => {
                writeln!(text, "{BAD}flaky:{BAD:#} run {run} gave another element {element} of slot {slot}")
            }
            Change::Failed(error) => writeln!(text, "{BAD}flaky:{BAD:#} run {run} failed: {error}"),
        };
    }
}

fn verdict(report: &Report<'_>) -> String {
    let proof = report.proof;
    let (compared, elements) = proof.elements();
    let compared = format!("{compared} of {elements} elements compared");
    let repeated = match proof.times {
        1 => String::new(),
        times => format!(", {times} times"),
    };
    if let Err(error) = &proof.outcome.result {
        return format!("{BAD}FAIL{BAD:#}  {}\n", with_causes(error));
    }
    if !proof.flaky.is_empty() {
        let (flaky, times) = (proof.flaky.len(), proof.times);
        return format!("{BAD}FLAKY{BAD:#}  {flaky} of {times} runs gave other bytes than the first\n");
    }
    if !proof.passed() {
        return format!("{BAD}NOT REPRODUCED{BAD:#}  results differ from what was captured; {compared}\n");
    }
    if !proof.compared() {
        let wrote_nothing =
            elements > 0 && proof.verdicts.iter().all(|output| output.unwritten == output.elements);
        let why = match wrote_nothing {
            true => {
                format!("it wrote none of the {elements} elements of its outputs, so nothing was compared")
            }
            false => "there is nothing to compare its results with".to_owned(),
        };
        return format!("{NOTE}DONE{NOTE:#}  the task ran{repeated}; {why}\n");
    }
    format!("{GOOD}REPRODUCED{GOOD:#}  {compared}, all bit-equal{repeated}\n")
}

/// The next command, ready to be copied.
fn next(report: &Report<'_>) -> String {
    let id = report.source.task.id;
    let subject = match &report.source.from {
        From::Dump(path) => format!("{} --task {id}", shell_word(path)),
        From::Capsule(path) => shell_word(path),
        From::Scene(scene) => {
            let identity = &report.source.task.identity;
            format!("{scene} --case {} --kernel {}", identity.case, identity.kernel_names())
        }
    };
    // Where a NaN came out that should not have, the instruction that made it is worth more than the timeline.
    let nan = report.proof.verdicts.iter().any(|verdict| match &verdict.judgement {
        Judgement::Differs(difference) => {
            let is_nan = |bits| number::number(verdict.dtype, bits).as_f64().is_nan();
            is_nan(difference.worst.got) && !is_nan(difference.worst.expected)
        }
        Judgement::BitEqual | Judgement::Unchecked(_) => false,
    });
    let repeat = report.repeat;
    let command = if nan {
        format!("argus replay {subject}{repeat} --break-on nan")
    } else {
        format!("argus trace {subject}{repeat}")
    };
    format!("{NOTE}next:{NOTE:#} {command}\n")
}

fn list(numbers: &[u32]) -> String {
    let shown: Vec<String> = numbers.iter().map(u32::to_string).collect();
    format!("[{}]", shown.join(", "))
}

fn value(dtype: DType, bits: u64) -> String {
    shown(dtype, number::number(dtype, bits))
}

fn shown(dtype: DType, value: Number) -> String {
    if number::is_unwritten(dtype, value) { UNWRITTEN.to_owned() } else { number(value) }
}

/// The shortest text that stands for this value alone; most floats are f32, which need fewer digits.
fn number(number: Number) -> String {
    match number {
        Number::Float(value) if f64::from(value as f32) == value => (value as f32).to_string(),
        Number::Float(value) => value.to_string(),
        Number::Signed(value) => value.to_string(),
        Number::Unsigned(value) => value.to_string(),
        Number::Bool(value) => value.to_string(),
    }
}
