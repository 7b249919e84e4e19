//! `pmu.csv`: hardware counters by core, block and task.

use argus_abi::{CoreType, TaskId};

use crate::ArtefactError;
use crate::json::wide;

/// Columns that are not counters, in the order in which the reference writes them.
const BEFORE: [&str; 6] = ["thread_id", "core_id", "task_id", "func_id", "core_type", "pmu_total_cycles"];
const EVENT: &str = "event_type";
const EPOCH: &str = "run_epoch";

/// The table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Names of the counters; which there are depends on the event and the chip.
    pub columns: Vec<String>,
    pub rows: Vec<CounterRow>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterRow {
    pub thread: u32,
    pub core: u32,
    pub task: TaskId,
    pub func: i32,
    pub core_type: CoreType,
    pub total_cycles: u64,
    /// One for each of the table's columns.
    pub counters: Vec<u64>,
    pub event: u32,
    pub epoch: Option<u64>,
}

impl Counters {
    pub fn parse(text: &[u8]) -> Result<Counters, ArtefactError> {
        let text = String::from_utf8_lossy(text);
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let (_, head) = lines.next().ok_or(ArtefactError::Empty)?;
        let names: Vec<&str> = head.trim().split(',').collect();
        let lack = |lack| ArtefactError::Kind { expected: "a table of counters", lack };
        let place = |name: &str| names.iter().position(|known| *known == name);
        let mut places = [0; BEFORE.len()];
        for (slot, name) in places.iter_mut().zip(BEFORE) {
            *slot = place(name).ok_or_else(|| lack("its head lacks a column that every such table has"))?;
        }
        let event = place(EVENT).ok_or_else(|| lack("its head lacks the column event_type"))?;
        let epoch = place(EPOCH);
        let counters: Vec<usize> = (0..names.len())
            .filter(|at| !places.contains(at) && *at != event && Some(*at) != epoch)
            .collect();
        let mut table =
            Counters { columns: counters.iter().map(|&at| names[at].to_owned()).collect(), rows: Vec::new() };
        for (number, line) in lines {
            let cells: Vec<&str> = line.trim().split(',').collect();
            let row = Cells { line: number + 1, cells: &cells };
            if cells.len() != names.len() {
                let found = format!("{} cells", cells.len());
                return Err(row.wrong("the row", found, "one cell for each column of the head"));
            }
            let [thread, core, task, func, core_type, total] = places;
            table.rows.push(CounterRow {
                thread: row.number("thread_id", thread)?,
                core: row.number("core_id", core)?,
                task: TaskId::from_raw(
                    wide(cells[task])
                        .ok_or_else(|| row.wrong("task_id", cells[task].to_owned(), "a task id"))?,
                ),
                func: row.number("func_id", func)?,
                core_type: match cells[core_type] {
                    "0" => CoreType::Aic,
                    "1" => CoreType::Aiv,
                    other => return Err(row.wrong("core_type", other.to_owned(), "0 or 1")),
                },
                total_cycles: row.number("pmu_total_cycles", total)?,
                counters: counters.iter().map(|&at| row.number("a counter", at)).collect::<Result<_, _>>()?,
                event: row.number(EVENT, event)?,
                epoch: epoch.map(|at| row.number(EPOCH, at)).transpose()?,
            });
        }
        Ok(table)
    }

    /// The rows of a task.
    pub fn of_task(&self, task: TaskId) -> impl Iterator<Item = &CounterRow> {
        self.rows.iter().filter(move |row| row.task == task)
    }

    /// The text of the file, in the form of August, or of September where rows have an epoch.
    pub fn text(&self) -> String {
        let epochs = self.rows.iter().any(|row| row.epoch.is_some());
        let names = BEFORE.iter().copied().chain(self.columns.iter().map(String::as_str)).chain([EVENT]);
        let mut text = names.chain(epochs.then_some(EPOCH)).collect::<Vec<_>>().join(",");
        text.push('\n');
        for row in &self.rows {
            let CounterRow { thread, core, task, func, core_type, total_cycles, .. } = row;
            text += &format!("{thread},{core},{task},{func},{},{total_cycles}", *core_type as u8);
            for counter in &row.counters {
                text += &format!(",{counter}");
            }
            text += &format!(",{}", row.event);
            if epochs {
                text += &format!(",{}", row.epoch.unwrap_or(0));
            }
            text.push('\n');
        }
        text
    }
}

struct Cells<'a> {
    line: usize,
    cells: &'a [&'a str],
}

impl Cells<'_> {
    fn wrong(&self, field: &'static str, found: String, allowed: &'static str) -> ArtefactError {
        ArtefactError::value("line", self.line, field, found, allowed)
    }

    fn number<T: std::str::FromStr>(&self, field: &'static str, at: usize) -> Result<T, ArtefactError> {
        let cell = self.cells[at];
        cell.parse().map_err(|_| self.wrong(field, cell.to_owned(), "a whole number"))
    }
}
