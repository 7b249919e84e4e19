//! What actions make of the state: moving, searching, comparing, hunting.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use argus_abi::Kind;
use argus_dump::read::Record;
use argus_text::record;

use super::{Compare, Cursor, Effect, Mode, Prompt, Sheet, State};
use crate::keys::Action;
use crate::layout::Pane;
use crate::nonfinite::{Hunt, Hunted, Spot};
use crate::tensor::{Subject, Tensor};

impl State {
    /// Takes the end of a hunt.
    pub fn hunted(&mut self, hunted: Hunted) {
        self.hunt = None;
        match hunted {
            Hunted::Stopped => self.message = "stopped".to_owned(),
            Hunted::Nothing { unseen: 0 } => {
                self.message = "no NaN and no Inf in the whole dump".to_owned();
            }
            Hunted::Nothing { unseen } => {
                self.message =
                    format!("no NaN and no Inf found; tensors without values to look at: {unseen}");
            }
            Hunted::Found { spot, wrapped } => {
                self.hunted = Some(spot);
                self.go_to(spot);
                let from_start = if wrapped { "; continued from the start" } else { "" };
                self.message = format!("{}{from_start}", self.place_text(spot));
            }
        }
        self.fit();
    }

    /// Does what a user asks for.
    pub fn update(&mut self, action: Action) -> Option<Effect> {
        self.message.clear();
        let effect = if action == Action::Quit {
            self.over = true;
            None
        } else if self.prompt.is_some() {
            self.typed(action);
            None
        } else if let Some(line) = self.help {
            self.read_help(action, line);
            None
        } else {
            self.act(action)
        };
        self.fit();
        effect
    }

    fn act(&mut self, action: Action) -> Option<Effect> {
        match action {
            Action::Move { rows, columns } => self.step(rows, columns),
            Action::Page(screens) => self.page(screens),
            Action::First => self.jump(false),
            Action::Last => self.jump(true),
            Action::RowStart => self.row_end(false),
            Action::RowEnd => self.row_end(true),
            Action::NextPane => self.focus = next_pane(self.focus),
            Action::PreviousPane => self.focus = next_pane(next_pane(self.focus)),
            Action::Open => match self.focus {
                Pane::Tensor => self.zoomed = !self.zoomed,
                other => self.focus = next_pane(other),
            },
            Action::Back => self.back(),
            Action::Search => self.prompt = Some(Prompt { filter: false, text: String::new() }),
            Action::Filter => self.prompt = Some(Prompt { filter: true, text: String::new() }),
            Action::NextMatch => self.search(true),
            Action::PreviousMatch => self.search(false),
            Action::Hunt => return self.start_hunt(false),
            Action::HuntBeyond => return self.start_hunt(true),
            Action::Wrong { next } => self.wrong(next),
            Action::Mode => self.mode = self.mode.next(),
            Action::Outer(planes) => {
                self.sheet.plane = self.sheet.plane.saturating_add_signed(planes);
            }
            Action::Compare => self.compare(),
            Action::Help => self.help = Some(0),
            Action::Type(_) | Action::Erase | Action::Quit => {}
        }
        None
    }

    /// To the next wrong task of the list, or the one before, around its end.
    fn wrong(&mut self, next: bool) {
        let Some(verdicts) = &self.about.verdicts else {
            self.message = "the tasks of this dump have not been judged yet".to_owned();
            return;
        };
        let wrong = |row: &usize| verdicts.of(self.index.id(self.task_in(*row))).is_wrong();
        match self.around(next).find(wrong) {
            Some(row) => self.select_task(|cursor, _| cursor.at = row),
            None => self.message = "no task of this dump is known to be wrong".to_owned(),
        }
    }

    fn typed(&mut self, action: Action) {
        let Some(prompt) = &mut self.prompt else { return };
        match action {
            Action::Type(letter) => prompt.text.push(letter),
            Action::Erase => {
                prompt.text.pop();
            }
            Action::Open => {
                let Prompt { filter, text } = prompt.clone();
                self.prompt = None;
                if filter {
                    self.filter_by(text);
                } else if !text.is_empty() {
                    self.search = text;
                    self.search(true);
                }
            }
            _ => self.prompt = None,
        }
    }

    fn read_help(&mut self, action: Action, line: u16) {
        match action {
            Action::Move { rows, .. } => {
                self.help = Some(line.saturating_add_signed(rows.clamp(-1, 1) as i16).min(200));
            }
            Action::Back | Action::Help | Action::Open => self.help = None,
            _ => {}
        }
    }

    fn back(&mut self) {
        if let Some(hunt) = &self.hunt {
            hunt.stop.store(true, Ordering::Relaxed);
        } else if self.zoomed {
            self.zoomed = false;
        } else {
            self.focus = match self.focus {
                Pane::Tensor => Pane::Arguments,
                Pane::Arguments | Pane::Tasks => Pane::Tasks,
            };
        }
    }

    fn step(&mut self, rows: i64, columns: i64) {
        match self.focus {
            Pane::Tasks => self.select_task(|cursor, count| cursor.step(rows, count)),
            Pane::Arguments => self.select_argument(|cursor, count| cursor.step(rows, count)),
            Pane::Tensor => {
                let Sheet { row, column, .. } = self.sheet;
                (self.sheet.row, self.sheet.column) = match (self.mode, self.heat()) {
                    (Mode::Heat, Some(heat)) => heat.moved(row, column, rows, columns),
                    _ => (row.saturating_add_signed(rows), column.saturating_add_signed(columns)),
                };
            }
        }
    }

    fn page(&mut self, screens: i64) {
        let layout = self.layout();
        let rows = match self.focus {
            Pane::Tasks => layout.task_rows(),
            Pane::Arguments => layout.argument_rows(),
            Pane::Tensor if self.mode == Mode::Heat => 8,
            Pane::Tensor => usize::from(layout.sheet().height.saturating_sub(1)),
        };
        self.step(screens.saturating_mul(rows.max(1) as i64), 0);
    }

    fn jump(&mut self, last: bool) {
        let end = |cursor: &mut Cursor, count: usize| {
            cursor.at = if last { count.saturating_sub(1) } else { 0 };
        };
        match self.focus {
            Pane::Tasks => self.select_task(end),
            Pane::Arguments => self.select_argument(end),
            Pane::Tensor => {
                let far = if last { u64::MAX } else { 0 };
                (self.sheet.row, self.sheet.column) = (far, far);
            }
        }
    }

    fn row_end(&mut self, last: bool) {
        match self.focus {
            Pane::Tensor => self.sheet.column = if last { u64::MAX } else { 0 },
            Pane::Tasks | Pane::Arguments => self.jump(last),
        }
    }

    /// Another task: its arguments and tensors are looked at from their start.
    fn select_task(&mut self, choose: impl FnOnce(&mut Cursor, usize)) {
        let (task, count) = (self.task(), self.task_count());
        choose(&mut self.tasks, count);
        if self.task() != task {
            self.arguments = Cursor::default();
            self.sheet = Sheet::default();
            self.compare = Compare::Off;
        }
    }

    /// Another argument: the same element of it.
    fn select_argument(&mut self, choose: impl FnOnce(&mut Cursor, usize)) {
        let (at, count) = (self.arguments.at, self.argument_count());
        choose(&mut self.arguments, count);
        if self.arguments.at != at {
            self.compare = Compare::Off;
        }
    }

    /// To the next task that matches, or the previous one; behind the end from the start.
    /// Every row of the list once, around its end; the selected one last.
    fn around(&self, forward: bool) -> impl Iterator<Item = usize> + use<> {
        let (at, count) = (self.tasks.at, self.task_count());
        (1..=count).map(move |turn| match forward {
            true => (at + turn) % count,
            false => (at + count - turn) % count,
        })
    }

    fn search(&mut self, forward: bool) {
        if self.search.is_empty() {
            self.message = "nothing to search for: type / and a task id or a kernel's name".to_owned();
            return;
        }
        let matcher = self.index.matcher(&self.search);
        let found = self.around(forward).find(|&row| matcher.matches(self.task_in(row)));
        match found {
            Some(row) => self.select_task(|cursor, _| cursor.at = row),
            None => self.message = format!("no task has '{}' in its id or kernels", self.search),
        }
    }

    fn filter_by(&mut self, text: String) {
        let task = self.task();
        if text.is_empty() {
            self.filter = None;
        } else {
            let matcher = self.index.matcher(&text);
            let tasks: Vec<usize> = (0..self.index.tasks()).filter(|&task| matcher.matches(task)).collect();
            if tasks.is_empty() {
                self.message = format!("no task has '{text}' in its id or kernels");
                return;
            }
            self.filter = Some((text, tasks));
        }
        self.tasks = Cursor { at: self.row_of(task), top: 0 };
        if self.task() != task {
            self.arguments = Cursor::default();
            self.sheet = Sheet::default();
            self.compare = Compare::Off;
        }
    }

    /// The row of a task, or of the first one behind it that is in the list.
    fn row_of(&self, task: usize) -> usize {
        match &self.filter {
            None => task,
            Some((_, tasks)) => tasks.partition_point(|&other| other < task).min(tasks.len() - 1),
        }
    }

    fn start_hunt(&mut self, beyond: bool) -> Option<Effect> {
        if self.hunt.is_some() || self.index.places() == 0 {
            return None;
        }
        let mut from = self.spot();
        if beyond {
            from.element = u64::MAX;
        } else if self.hunted == Some(from) {
            from.element = from.element.saturating_add(1);
        }
        let hunt = Arc::<Hunt>::default();
        self.hunt = Some(Arc::clone(&hunt));
        Some(Effect::Hunt { from, hunt })
    }

    /// The element under the cursor.
    fn spot(&self) -> Spot {
        let place = self.index.places_of(self.task()).start + self.arguments.at;
        let Sheet { plane, row, column, .. } = self.sheet;
        let element = self.subject().and_then(|subject| {
            Tensor::open(&*self.source, subject).ok().and_then(|tensor| tensor.number(plane, row, column))
        });
        Spot { place, element: element.unwrap_or(0) }
    }

    fn go_to(&mut self, spot: Spot) {
        let task = self.index.task_at(spot.place);
        if self.filter.as_ref().is_some_and(|filter| filter.1.binary_search(&task).is_err()) {
            self.filter = None;
        }
        self.tasks.at = self.row_of(task);
        self.arguments.at = spot.place - self.index.places_of(task).start;
        self.compare = Compare::Off;
        self.focus = Pane::Tensor;
        let subject = Subject::Record(self.index.record(spot.place));
        if let Ok(tensor) = Tensor::open(&*self.source, subject) {
            let (plane, row, column) = tensor.position(spot.element);
            self.sheet = Sheet { plane, row, column, ..self.sheet };
        }
    }

    /// `task 0x…, argument 2 before, [3, 4]`
    fn place_text(&self, spot: Spot) -> String {
        let record = self.source.record(self.index.record(spot.place));
        let element = match Tensor::open(&*self.source, Subject::Record(record.index)) {
            Ok(tensor) => tensor.index_text(spot.element),
            Err(_) => "a scalar".to_owned(),
        };
        let (task, stage) = (record.task_id.to_string(), record::stage(record.stage));
        format!("not finite: task {task}, argument {} {stage}, {element}", record.arg_index)
    }

    fn compare(&mut self) {
        let Some(record) = self.argument_in(self.arguments.at) else { return };
        self.compare = match self.compare {
            Compare::Off => match self.counterpart(&record) {
                Some(other) => Compare::Other(other.index),
                None => {
                    self.message = "this argument was captured at one stage only".to_owned();
                    Compare::Off
                }
            },
            Compare::Other(other) => {
                let twin = self.source.record(other);
                if twin.dtype == record.dtype && twin.shape() == record.shape() {
                    Compare::Difference(other)
                } else {
                    self.message = "no difference: dtype or shape changed between the stages".to_owned();
                    Compare::Off
                }
            }
            Compare::Difference(_) => Compare::Off,
        };
    }

    /// The same tensor at the other stage.
    fn counterpart(&self, record: &Record) -> Option<Record> {
        let records =
            self.index.places_of(self.task()).map(|place| self.source.record(self.index.record(place)));
        let same = |other: &Record| {
            (other.arg_index, other.subtask, other.kind) == (record.arg_index, record.subtask, Kind::Tensor)
        };
        records.into_iter().find(|other| same(other) && other.stage != record.stage)
    }
}

fn next_pane(pane: Pane) -> Pane {
    match pane {
        Pane::Tasks => Pane::Arguments,
        Pane::Arguments => Pane::Tensor,
        Pane::Tensor => Pane::Tasks,
    }
}
