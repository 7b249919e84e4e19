//! What is shown. What actions make of it is in `act`.
//!
//! The state knows the size of the screen and nothing else about terminals. A million records are no burden:
//! actions cost what they show, except for a search, which looks at ids and names in the index.

mod act;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use argus_abi::{Kind, Stage, TaskState};
use argus_dump::read::Record;
use argus_dump::stats::Statistics;
use ratatui::layout::Rect;
use rustc_hash::FxHashMap;

use crate::colours::Colours;
use crate::grid::Grid;
use crate::heat::Heat;
use crate::index::Index;
use crate::layout::{Layout, Pane};
use crate::nonfinite::{Hunt, Spot};
use crate::source::{About, Source};
use crate::tensor::{Subject, Tensor};
use crate::verdicts::Verdict;
use crate::work::{Finding, Marks, Wish};

/// Findings that are remembered; then all are forgotten and found again as they are needed.
const REMEMBERED: usize = 1 << 16;
/// Bars of the histogram that goes with the statistics.
pub const BARS: usize = 32;

/// How the tensor pane shows numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Values,
    Heat,
    Histogram,
    Statistics,
}

impl Mode {
    pub const ALL: [Mode; 4] = [Mode::Values, Mode::Heat, Mode::Histogram, Mode::Statistics];

    pub const fn word(self) -> &'static str {
        match self {
            Mode::Values => "values",
            Mode::Heat => "heat map",
            Mode::Histogram => "histogram",
            Mode::Statistics => "statistics",
        }
    }

    fn next(self) -> Mode {
        Mode::ALL[(self as usize + 1) % Mode::ALL.len()]
    }
}

/// What an in/out argument is shown as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compare {
    /// As it was selected.
    Off,
    /// The record of the other stage.
    Other(usize),
    Difference(usize),
}

/// A position in a list, and the first one that is visible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    pub at: usize,
    pub top: usize,
}

impl Cursor {
    fn step(&mut self, by: i64, count: usize) {
        let at = self.at.saturating_add_signed(isize::try_from(by).unwrap_or(0));
        self.at = at.min(count.saturating_sub(1));
    }

    /// Scrolls so that the position is visible.
    fn fit(&mut self, count: usize, visible: usize) {
        self.at = self.at.min(count.saturating_sub(1));
        let visible = visible.max(1);
        self.top = self.top.clamp((self.at + 1).saturating_sub(visible), self.at);
        self.top = self.top.min(count.saturating_sub(visible));
    }
}

/// Where in a tensor we are, and which corner of it is visible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sheet {
    pub plane: u64,
    pub row: u64,
    pub column: u64,
    pub top: u64,
    pub left: u64,
}

/// A text that is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// For a filter, else for a search.
    pub filter: bool,
    pub text: String,
}

/// Something that the state cannot do itself.
#[derive(Debug)]
pub enum Effect {
    Hunt { from: Spot, hunt: Arc<Hunt> },
}

/// Everything that is shown.
pub struct State {
    pub source: Arc<dyn Source>,
    pub index: Arc<Index>,
    pub about: About,
    pub colours: Colours,
    area: Rect,
    pub focus: Pane,
    pub zoomed: bool,
    /// First visible line of the help.
    pub help: Option<u16>,
    pub over: bool,
    pub tasks: Cursor,
    /// Text and the tasks that match it.
    filter: Option<(String, Vec<usize>)>,
    pub arguments: Cursor,
    pub mode: Mode,
    compare: Compare,
    pub sheet: Sheet,
    search: String,
    pub prompt: Option<Prompt>,
    pub message: String,
    hunt: Option<Arc<Hunt>>,
    /// Where the last hunt ended.
    hunted: Option<Spot>,
    found: FxHashMap<Wish, Finding>,
    heat: Option<(Wish, Heat)>,
    /// Whether the dump says what became of tasks; `None` until that is known.
    pub states: Option<bool>,
}

impl State {
    pub fn new(source: Arc<dyn Source>, index: Arc<Index>, colours: Colours, area: Rect) -> State {
        let about = source.about();
        let mut state = State {
            source,
            index,
            about,
            colours,
            area,
            focus: Pane::Tasks,
            zoomed: false,
            help: None,
            over: false,
            tasks: Cursor::default(),
            filter: None,
            arguments: Cursor::default(),
            mode: Mode::Values,
            compare: Compare::Off,
            sheet: Sheet::default(),
            search: String::new(),
            prompt: None,
            message: String::new(),
            hunt: None,
            hunted: None,
            found: FxHashMap::default(),
            heat: None,
            states: None,
        };
        state.fit();
        state
    }

    pub fn resize(&mut self, area: Rect) {
        self.area = area;
        self.fit();
    }

    pub fn layout(&self) -> Layout {
        Layout::new(self.area, self.focus, self.zoomed)
    }

    /// Number of tasks in the list.
    pub fn task_count(&self) -> usize {
        self.filter.as_ref().map_or(self.index.tasks(), |filter| filter.1.len())
    }

    /// The task in a row of the list.
    pub fn task_in(&self, row: usize) -> usize {
        self.filter.as_ref().map_or(row, |filter| filter.1.get(row).copied().unwrap_or(usize::MAX))
    }

    /// The text of the filter, if there is one.
    pub fn filter(&self) -> Option<&str> {
        self.filter.as_ref().map(|filter| filter.0.as_str())
    }

    /// The selected task.
    pub fn task(&self) -> usize {
        self.task_in(self.tasks.at)
    }

    /// Number of records of the selected task.
    pub fn argument_count(&self) -> usize {
        self.index.places_of(self.task()).len()
    }

    /// The record in a row of the list of arguments.
    pub fn argument_in(&self, row: usize) -> Option<Record> {
        let place = self.index.places_of(self.task()).nth(row)?;
        Some(self.source.record(self.index.record(place)))
    }

    /// What the tensor pane is about.
    pub fn subject(&self) -> Option<Subject> {
        let place = self.index.places_of(self.task()).nth(self.arguments.at)?;
        let record = self.index.record(place);
        Some(match self.compare {
            Compare::Off => Subject::Record(record),
            Compare::Other(other) => Subject::Record(other),
            Compare::Difference(other) => {
                let (before, after) = match self.source.record(record).stage {
                    Stage::BeforeDispatch => (record, other),
                    Stage::AfterCompletion => (other, record),
                };
                Subject::Difference { before, after }
            }
        })
    }

    pub fn state_of(&self, task: usize) -> Option<TaskState> {
        if self.states == Some(true) { self.source.state(self.index.id(task)) } else { None }
    }

    /// What a search said of a task; `None` if there was none.
    pub fn verdict(&self, task: usize) -> Option<Verdict> {
        self.about.verdicts.as_ref().map(|verdicts| verdicts.of(self.index.id(task)))
    }

    /// What there is to say of the selected task.
    pub fn verdict_sentence(&self) -> Option<String> {
        self.about.verdicts.as_ref()?.sentence(self.index.id(self.task()))
    }

    pub fn marks(&self, task: usize) -> Marks {
        match self.found.get(&Wish::Marks(task)) {
            Some(Finding::Marks(marks)) => *marks,
            _ => Marks::default(),
        }
    }

    /// Statistics of a record; `None` if there are none, or not yet.
    pub fn glance(&self, record: &Record) -> Option<Statistics> {
        record.statistics.or_else(|| match self.found.get(&Wish::Glance(record.index)) {
            Some(Finding::Glance(statistics)) => Some(*statistics),
            _ => None,
        })
    }

    pub fn finding(&self, wish: &Wish) -> Option<&Finding> {
        self.found.get(wish)
    }

    /// The picture, if it is that of what is selected.
    pub fn heat(&self) -> Option<&Heat> {
        let wish = self.heat_wish()?;
        self.heat.as_ref().filter(|heat| heat.0 == wish).map(|heat| &heat.1)
    }

    /// How many places the hunt has looked at, while there is one.
    pub fn hunting(&self) -> Option<u64> {
        self.hunt.as_ref().map(|hunt| hunt.looked_at.load(Ordering::Relaxed))
    }

    /// Everything the screen would like to know and does not; the most urgent first.
    pub fn wishes(&self) -> Vec<Wish> {
        let mut wishes = Vec::new();
        let layout = self.layout();
        if let Some(subject) = self.subject().filter(|_| layout.sheet().height > 0) {
            match self.mode {
                Mode::Values => {}
                Mode::Heat => wishes.extend(self.heat_wish().filter(|_| self.heat().is_none())),
                Mode::Histogram => wishes.push(Wish::Histogram(subject, self.bins())),
                Mode::Statistics => {
                    wishes.extend([Wish::Summary(subject), Wish::Histogram(subject, BARS)]);
                }
            }
        }
        if self.states.is_none() && self.index.tasks() > 0 {
            wishes.push(Wish::States);
        }
        for row in self.arguments.top..self.argument_count().min(self.arguments.top + layout.argument_rows())
        {
            let record = self.argument_in(row);
            let unknown = record.filter(|record| record.kind == Kind::Tensor && record.statistics.is_none());
            wishes.extend(unknown.map(|record| Wish::Glance(record.index)));
        }
        let visible = self.tasks.top..self.task_count().min(self.tasks.top + layout.task_rows());
        wishes.extend(visible.map(|row| Wish::Marks(self.task_in(row))));
        wishes.retain(|wish| !self.found.contains_key(wish));
        wishes
    }

    /// Takes an answer.
    pub fn learn(&mut self, wish: Wish, finding: Finding) {
        match finding {
            Finding::States { known } => self.states = Some(known),
            // Pictures are large; one is enough.
            Finding::Heat(heat) => self.heat = Some((wish, heat)),
            finding => {
                if self.found.len() >= REMEMBERED {
                    self.found.clear();
                }
                self.found.insert(wish, finding);
            }
        }
    }

    /// The picture that would fill the pane.
    pub fn heat_wish(&self) -> Option<Wish> {
        let sheet = self.layout().sheet();
        let height = u64::from(sheet.height.saturating_sub(1)) * self.colours.rows_per_cell();
        let (plane, width) = (self.sheet.plane, u64::from(sheet.width));
        self.subject().map(|subject| Wish::Heat { subject, plane, width, height })
    }

    /// Bars that fit into the pane.
    pub fn bins(&self) -> usize {
        usize::from(self.layout().sheet().height).clamp(1, BARS)
    }

    /// Brings everything that changed into its limits, and into view.
    fn fit(&mut self) {
        let layout = self.layout();
        self.tasks.fit(self.task_count(), layout.task_rows());
        self.arguments.fit(self.argument_count(), layout.argument_rows());
        let mut sheet = self.sheet;
        let Some(Ok(tensor)) = self.subject().map(|subject| Tensor::open(&*self.source, subject)) else {
            return;
        };
        let plane = tensor.plane;
        sheet.plane = sheet.plane.min(plane.count.saturating_sub(1));
        sheet.row = sheet.row.min(plane.rows.saturating_sub(1));
        sheet.column = sheet.column.min(plane.columns.saturating_sub(1));
        if tensor.number(sheet.plane, sheet.row, sheet.column).is_none() {
            // Behind the end of a folded vector.
            sheet.column = tensor.position(plane.elements.saturating_sub(1)).2;
        }
        let grid = Grid::new(&tensor, layout.sheet());
        sheet.top = scrolled(sheet.top, sheet.row, plane.rows, grid.rows);
        sheet.left = scrolled(sheet.left, sheet.column, plane.columns, grid.columns);
        self.sheet = sheet;
    }
}

/// The first visible of `count` things, so that `at` is among the visible ones.
fn scrolled(top: u64, at: u64, count: u64, visible: u64) -> u64 {
    let visible = visible.max(1);
    top.clamp((at + 1).saturating_sub(visible), at).min(count.saturating_sub(visible))
}
