//! A report of `argus find` as the page asks for it: by task, and for all of them.

use argus_abi::TaskId;
use argus_dump::read::Record;
use argus_find::report::{FirstWrong, Report, TaskReport};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use crate::table::TaskTable;
use crate::task::closer;

/// First wrong tasks that an overview names.
const FIRSTS: usize = 50;
/// Tasks of which an overview says what there is to say.
const SAID: usize = 1000;

/// What was found.
pub struct Findings {
    /// By the task's number in the table.
    pub verdicts: Vec<u8>,
    /// The first wrong task.
    pub first: Option<TaskId>,
    pub reports: FxHashMap<u32, TaskReport>,
    pub firsts: FxHashMap<u32, FirstWrong>,
    /// The object of the command without its lists of tasks and edges.
    pub object: Value,
    /// What there is to say of tasks that are not clean, by number.
    pub said: Vec<(u32, String)>,
}

impl Findings {
    pub fn new(table: &TaskTable, mut found: Report) -> Findings {
        let index = |id: &str| table.find(parse(id)?);
        let tasks = std::mem::take(&mut found.tasks);
        found.edges.clear();
        let mut object = serde_json::to_value(&found).unwrap_or(Value::Null);
        if let Some(list) = object["first_wrong"].as_array_mut() {
            list.truncate(FIRSTS);
            for (object, first) in list.iter_mut().zip(&found.first_wrong) {
                object["index"] = json!(index(&first.id));
                object["outputs"] = first.outputs.iter().map(closer).collect();
            }
        }
        if let Some(list) = object["races"].as_array_mut() {
            for (object, race) in list.iter_mut().zip(&found.races) {
                let name = |&at: &usize| tasks.get(at).map(|task| format!("{} {}", task.kernel, task.id));
                object["names"] = json!(race.tasks.iter().filter_map(name).collect::<Vec<_>>());
            }
        }
        let first = found.first_wrong.first().and_then(|first| parse(&first.id));
        let firsts = found.first_wrong.into_iter();
        let firsts = firsts.filter_map(|first| Some((index(&first.id)? as u32, first))).collect();
        if let Some(fields) = object.as_object_mut() {
            fields.remove("tasks");
            fields.remove("edges");
        }
        let mut reports = FxHashMap::default();
        let mut verdicts = vec![0; table.len()];
        let mut said = Vec::new();
        for report in tasks {
            let Some(task) = index(&report.id) else { continue };
            verdicts[task] = number(report.verdict);
            let words = words(&report);
            if !words.is_empty() && report.verdict != "clean" {
                said.push((task as u32, words));
            }
            reports.insert(task as u32, report);
        }
        // Tasks where errors begin must not be lost among thousands that have them from there.
        let begins = |task: u32| !matches!(verdicts[task as usize], 2 | 4);
        said.sort_unstable_by_key(|&(task, _)| (begins(task), task));
        said.truncate(SAID);
        Findings { verdicts, first, reports, firsts, object, said }
    }

    /// What a record was compared with.
    pub fn reference(&self, table: &TaskTable, record: &Record) -> Value {
        let compared = || {
            let task = table.find(record.task_id)? as u32;
            let report = self.reports.get(&task)?;
            let output = report.outputs.iter().find(|output| output.record == record.index)?;
            let judged = matches!(output.agreement, "equal" | "within" | "beyond");
            judged.then(|| {
                json!({
                    "kind": "reference",
                    "with": output.with,
                    "agreement": output.agreement,
                    "beyond": output.beyond,
                    "max_abs": output.max_abs,
                })
            })
        };
        compared().unwrap_or(Value::Null)
    }
}

/// What is out of tolerance, and why a task is judged as it is.
fn words(task: &TaskReport) -> String {
    let mut words = Vec::new();
    for (side, list) in [("input", &task.inputs), ("output", &task.outputs)] {
        let wrong = list.iter().filter(|compared| compared.agreement == "beyond");
        words.extend(wrong.map(|c| format!("{side} {}: {} out of tolerance", c.argument, c.beyond)));
    }
    words.extend(task.why.iter().take(2).cloned());
    words.join(", ")
}

/// A verdict as the columns say it.
fn number(verdict: &str) -> u8 {
    match verdict {
        "clean" => 1,
        "introduced" => 2,
        "inherited" => 3,
        "here_or_upstream" => 4,
        "damaged" => 5,
        _ => 0,
    }
}

/// An id as reports spell it.
pub fn parse(id: &str) -> Option<TaskId> {
    let digits = id.strip_prefix("0x")?;
    u64::from_str_radix(digits, 16).ok().map(TaskId::from_raw)
}
