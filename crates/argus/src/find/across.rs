//! `argus find RUN --across`: captures that belong together, and the first rank and task that leave the pack.

use std::fmt::Write;
use std::process::ExitCode;

use argus_find::across::{Across, Departure, Frame, Member, Observation, Shard, judge};
use argus_find::align::Side;
use argus_find::tasks::Tasks;
use argus_runs::RunTree;
use argus_runs::tree::Group;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::impossible;
use crate::bar::byte_bar;
use crate::cli::FindArgs;
use crate::failure::{FAILED, Failure, USAGE};
use crate::marks::{BAD, GOOD, NOTE};
use crate::output::counted;
use crate::{input, output, ranks, schema, table};

/// The whole report. Groups hold what was seen, so that reports of shards can be joined and judged again.
#[derive(Debug, Serialize, Deserialize)]
pub struct AcrossReport {
    pub schema: String,
    pub run: String,
    pub shard: ShardOf,
    pub missing_ranks: Vec<String>,
    pub groups: Vec<GroupReport>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardOf {
    pub index: usize,
    pub count: usize,
}

/// Captures that belong together.
#[derive(Debug, Serialize, Deserialize)]
pub struct GroupReport {
    pub name: String,
    /// Identities say that they belong together; otherwise the same program and number of dispatch do.
    pub by_identity: bool,
    pub captures: Vec<String>,
    pub directories: Vec<String>,
    /// Captures that cannot be read, and why.
    pub unreadable: Vec<(String, String)>,
    pub records: u64,
    /// Tasks with records.
    pub tasks: u64,
    pub has_edges: bool,
    /// Records of each capture that the first one does not have.
    pub extra_records: Vec<u64>,
    pub observations: Vec<Observation>,
    pub result: Across,
}

pub fn across(args: &FindArgs, tree: &RunTree, chosen: &[usize]) -> Result<ExitCode, Failure> {
    let shard = ranks::shard(args.shard.shard.as_deref())?;
    let groups: Vec<Group> =
        tree.groups(chosen).into_iter().filter(|group| group.captures.len() > 1).collect();
    if groups.is_empty() {
        let error =
            "no two captures of this run belong together: each is of another program or group".to_owned();
        return Err(
            impossible(error).hint("`argus view RUN` shows the captures with their programs".to_owned())
        );
    }
    let bytes =
        chosen.iter().map(|&at| argus_dump::read::Glance::at(&tree.capture(at).directory).payload_bytes);
    let bar = byte_bar("comparing", bytes.sum::<u64>() / shard.count as u64, args.json);
    let done = |bytes: u64| bar.inc(bytes);
    let reports =
        groups.iter().map(|group| compare(tree, group, shard, &done)).collect::<Result<Vec<_>, _>>()?;
    bar.finish_and_clear();
    let report = AcrossReport {
        schema: schema::ACROSS.to_owned(),
        run: tree.directory.display().to_string(),
        shard: ShardOf { index: shard.index + 1, count: shard.count },
        missing_ranks: tree.ranks.missing.clone(),
        groups: reports,
    };
    tell(&report, args.json)
}

fn compare(
    tree: &RunTree,
    group: &Group,
    shard: Shard,
    done: &(dyn Fn(u64) + Sync),
) -> Result<GroupReport, Failure> {
    let first = tree.capture(group.captures[0]);
    let dump = input::open(Some(&first.directory))?;
    let tasks = Tasks::new(&dump, None);
    let frame = Frame::new(Side { dump: &dump, tasks: &tasks }, shard);
    let read: Vec<(String, String, Result<Member, Failure>)> = group
        .captures
        .par_iter()
        .map(|&at| {
            let capture = tree.capture(at);
            let label = capture.label();
            let member = match at == group.captures[0] {
                true => Ok(frame.read(label.clone(), &dump, done)),
                // Names and edges are those of the frame: the dump alone is enough.
                false => argus_dump::read::Dump::open_like(&capture.directory, &dump)
                    .map(|dump| frame.read(label.clone(), &dump, done))
                    .map_err(Failure::usage),
            };
            (label, capture.directory.display().to_string(), member)
        })
        .collect();
    let (mut members, mut directories, mut unreadable) = (Vec::new(), Vec::new(), Vec::new());
    for (label, directory, member) in read {
        match member {
            Ok(member) => {
                members.push(member);
                directories.push(directory);
            }
            Err(failure) => unreadable.push((label, failure.message())),
        }
    }
    let observations = frame.compare(&members);
    Ok(GroupReport {
        name: group.name.clone(),
        by_identity: group.by_identity,
        captures: members.iter().map(|member| member.label.clone()).collect(),
        directories,
        unreadable,
        records: dump.len() as u64,
        tasks: tasks.iter().filter(|task| !task.inputs.is_empty() || !task.outputs.is_empty()).count() as u64,
        has_edges: tasks.has_edges(),
        extra_records: members.iter().map(|member| member.extra).collect(),
        result: judge(observations.clone(), members.len()),
        observations,
    })
}

/// Prints a report, of one process or merged out of shards.
pub fn tell(report: &AcrossReport, json: bool) -> Result<ExitCode, Failure> {
    if json {
        output::print_json(report)?;
    } else {
        output::print(&text(report))?;
    }
    let departed = report.groups.iter().any(|group| !group.result.departures.is_empty());
    let unreadable = report
        .groups
        .iter()
        .any(|group| !group.unreadable.is_empty() || group.extra_records.iter().any(|&n| n > 0));
    let compared = |group: &GroupReport| group.result.no_pack == 0 && unknown(group) == 0;
    Ok(if departed || unreadable {
        ExitCode::from(FAILED)
    } else if report.groups.iter().all(compared) && report.missing_ranks.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(USAGE)
    })
}

/// Tasks that could not be compared, of all members.
fn unknown(group: &GroupReport) -> u64 {
    group.result.members.iter().map(|member| member.unknown).sum()
}

fn comparisons(group: &GroupReport) -> u64 {
    group.tasks * group.result.members.len() as u64
}

fn text(report: &AcrossReport) -> String {
    let mut text = String::new();
    let mut first: Option<(&GroupReport, &Departure)> = None;
    for group in &report.groups {
        let why =
            if group.by_identity { "their identities say so" } else { "same program and number of dispatch" };
        let (captures, tasks) =
            (counted(group.captures.len() as u64, "capture"), counted(group.tasks, "task"));
        _ = writeln!(
            text,
            "{}: {captures} that belong together ({why}), {tasks}, {} records each",
            group.name, group.records
        );
        if !group.result.departures.is_empty() {
            let mut rows =
                table::plain(&["CAPTURE", "TASK", "KERNEL", "ARGUMENTS", "HOW", "OWN", "INHERITED"]);
            for departure in &group.result.departures {
                let member = &group.result.members[departure.member as usize];
                rows.add_row([
                    group.captures[departure.member as usize].clone(),
                    departure.task_id.clone(),
                    departure.kernel.clone(),
                    departure.arguments.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
                    departure.how.sentence().to_owned(),
                    member.departures.to_string(),
                    member.inherited.to_string(),
                ]);
            }
            text += &table::lines(&rows);
        }
        if first.is_none() {
            first = group.result.departures.first().map(|departure| (group, departure));
        }
        remarks(&mut text, group);
        text.push('\n');
    }
    if !report.missing_ranks.is_empty() {
        _ = writeln!(text, "{BAD}missing:{BAD:#} {}", report.missing_ranks.join(", "));
    }
    match first {
        Some((group, departure)) => {
            let member = departure.member as usize;
            let kernel =
                if departure.kernel.is_empty() { String::new() } else { format!(" ({})", departure.kernel) };
            let (id, directory) = (&departure.task_id, &group.directories[member]);
            _ = writeln!(text, "{NOTE}next:{NOTE:#} argus view {directory} --task {id} --show");
            _ = writeln!(
                text,
                "{BAD}DIFFER{BAD:#}  {} leaves the pack first, at task {id}{kernel}: it {}",
                group.captures[member],
                departure.how.sentence()
            );
        }
        None if report.groups.iter().any(|group| group.result.no_pack > 0) => {
            let sum = |of: fn(&GroupReport) -> u64| report.groups.iter().map(of).sum::<u64>();
            let (open, all) = (sum(|group| group.result.no_pack), sum(|group| group.tasks));
            _ = writeln!(
                text,
                "{NOTE}NOT JUDGED{NOTE:#}  no rank is known to leave the pack; in {open} of {all} tasks the ranks work on \
                 different data"
            );
        }
        None if report.groups.iter().any(|group| unknown(group) > 0) => {
            let (open, all) = (report.groups.iter().map(unknown), report.groups.iter().map(comparisons));
            _ = writeln!(
                text,
                "{NOTE}NOT JUDGED{NOTE:#}  no rank is known to leave the pack; in {} of {} comparisons a payload was not \
                 captured",
                open.sum::<u64>(),
                all.sum::<u64>()
            );
        }
        None => _ = writeln!(text, "{GOOD}AGREE{GOOD:#}  no rank leaves the pack"),
    }
    text
}

fn remarks(text: &mut String, group: &GroupReport) {
    let mut note = |told: String| _ = writeln!(text, "{NOTE}note:{NOTE:#} {told}");
    for (label, why) in &group.unreadable {
        note(format!("{label} cannot be read: {why}"));
    }
    for (label, extra) in group.captures.iter().zip(&group.extra_records).filter(|(_, extra)| **extra > 0) {
        let first = group.captures.first().map_or("", String::as_str);
        note(format!("{label} has {} that {first} does not have", counted(*extra, "record")));
    }
    if group.result.no_pack > 0 {
        let tasks = counted(group.result.no_pack, "task");
        note(format!(
            "{tasks}: no inputs are those of a majority, so the ranks work on different data there"
        ));
    }
    if !group.has_edges {
        note("there is no graph: what a rank inherits from its own earlier tasks counts as given".to_owned());
    }
}

/// Joins the reports of all shards.
pub fn merge(reports: Vec<Value>) -> Result<AcrossReport, Failure> {
    let mut parts: Vec<AcrossReport> = Vec::new();
    for report in reports {
        parts.push(serde_json::from_value(report).map_err(Failure::usage)?);
    }
    parts.sort_by_key(|part| part.shard.index);
    let mut parts = parts.into_iter();
    let mut whole = parts.next().ok_or_else(|| impossible("there is nothing to merge".to_owned()))?;
    for part in parts {
        let names = |report: &AcrossReport| {
            report
                .groups
                .iter()
                .map(|group| (group.name.clone(), group.captures.clone(), group.records))
                .collect::<Vec<_>>()
        };
        if names(&whole) != names(&part) || whole.run != part.run {
            return Err(impossible("the reports are of different runs, ranks or captures".to_owned()));
        }
        for (group, more) in whole.groups.iter_mut().zip(part.groups) {
            group.observations.extend(more.observations);
        }
    }
    for group in &mut whole.groups {
        group.observations.sort_by_key(|observation| observation.position);
        group.result = judge(group.observations.clone(), group.captures.len());
    }
    whole.shard = ShardOf { index: 1, count: 1 };
    Ok(whole)
}
