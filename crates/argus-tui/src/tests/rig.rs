//! A dump in memory, a browser on it, and a screen to look at.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use argus_abi::{DType, Kind, MAX_DIMS, Role, Stage, TaskId, TaskState};
use argus_dump::LastVerdict;
use argus_dump::read::{PayloadError, Record, Scalar};
use argus_facts::FuncIds;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;

use crate::colours::Colours;
use crate::index::Index;
use crate::keys;
use crate::nonfinite;
use crate::source::{About, Source};
use crate::state::{Effect, State};
use crate::verdicts::Verdicts;
use crate::view;
use crate::work::grant;

/// Records and payloads in memory.
#[derive(Default)]
pub struct Memory {
    pub records: Vec<Record>,
    pub payloads: Vec<Vec<u8>>,
    pub names: Vec<&'static str>,
    pub notes: Vec<String>,
    pub verdict: Option<LastVerdict>,
    /// Questions for a record.
    pub asked: AtomicUsize,
}

/// A contiguous input tensor of f32 before dispatch.
pub fn record(task_id: u64, arg_index: u32, shape: &[u64]) -> Record {
    let mut extents = [0; MAX_DIMS];
    extents[..shape.len()].copy_from_slice(shape);
    Record {
        index: 0,
        task_id: TaskId::from_raw(task_id),
        func_ids: FuncIds::from_iter([0]),
        subtask: None,
        arg_index,
        ambiguous_index: false,
        stage: Stage::BeforeDispatch,
        role: Role::Input,
        kind: Kind::Tensor,
        dtype: Some(DType::F32),
        ndims: shape.len() as u8,
        shape: extents,
        strides: [1; MAX_DIMS],
        start_offset: 0,
        contiguous: true,
        scalar: None,
        bin_offset: 0,
        bin_size: 0,
        logical_bytes: shape.iter().try_fold(4u64, |bytes, &extent| bytes.checked_mul(extent)),
        truncated: false,
        overwritten: false,
        partial: false,
        created: false,
        shared: false,
        address: None,
        time_ns: None,
        checksum: None,
        statistics: None,
    }
}

pub fn scalar(task_id: u64, arg_index: u32, dtype: DType, bits: u64) -> Record {
    Record {
        kind: Kind::Scalar,
        dtype: Some(dtype),
        scalar: Some(Scalar::Bits(bits)),
        ..record(task_id, arg_index, &[])
    }
}

pub fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

impl Memory {
    /// Kernels by their number.
    pub fn with(names: &[&'static str]) -> Memory {
        Memory { names: names.to_vec(), ..Memory::default() }
    }

    pub fn add(&mut self, mut record: Record, payload: Vec<u8>) -> &mut Record {
        record.index = self.records.len();
        record.bin_size = payload.len() as u64;
        self.payloads.push(payload);
        self.records.push(record);
        self.records.last_mut().unwrap()
    }
}

impl Source for Memory {
    fn len(&self) -> usize {
        self.records.len()
    }

    fn record(&self, index: usize) -> Record {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.records[index]
    }

    fn payload(&self, record: &Record) -> Result<&[u8], PayloadError> {
        match record {
            _ if record.overwritten => Err(PayloadError::Overwritten { record: record.index }),
            _ if record.bin_size == 0 && record.logical_bytes != Some(0) => {
                Err(PayloadError::NotKept { record: record.index })
            }
            _ => Ok(&self.payloads[record.index]),
        }
    }

    fn kernels(&self, record: &Record) -> String {
        record.func_ids.iter().map(|&id| self.names[id as usize]).collect::<Vec<_>>().join("+")
    }

    fn state(&self, _: TaskId) -> Option<TaskState> {
        Some(TaskState::Completed)
    }

    fn about(&self) -> About {
        About {
            title: "memory".to_owned(),
            ending: "complete",
            verdict: self.verdict.as_ref().map(ToString::to_string),
            verdicts: self.verdict.as_ref().and_then(Verdicts::new),
            notes: self.notes.clone(),
        }
    }
}

/// A browser.
pub struct Rig {
    pub state: State,
    terminal: Terminal<TestBackend>,
}

impl Rig {
    pub fn new(source: impl Source + 'static, width: u16, height: u16) -> Rig {
        Rig::coloured(source, width, height, Colours::True)
    }

    pub fn coloured(source: impl Source + 'static, width: u16, height: u16, colours: Colours) -> Rig {
        let index = Arc::new(Index::new(&source));
        let state = State::new(Arc::new(source), index, colours, Rect::new(0, 0, width, height));
        Rig { state, terminal: Terminal::new(TestBackend::new(width, height)).unwrap() }
    }

    pub fn resize(&mut self, width: u16, height: u16) {
        self.terminal.backend_mut().resize(width, height);
        self.state.resize(Rect::new(0, 0, width, height));
    }

    /// Presses keys: letters as they are, `\n` for Enter, `\t` for Tab, `\x1b` for Esc.
    pub fn press(&mut self, keys: &str) {
        for letter in keys.chars() {
            self.press_code(match letter {
                '\n' => KeyCode::Enter,
                '\t' => KeyCode::Tab,
                '\x1b' => KeyCode::Esc,
                letter => KeyCode::Char(letter),
            });
        }
    }

    pub fn press_code(&mut self, code: KeyCode) {
        // Pictures tell how far a key moves, so they must be there as they would be.
        self.settle();
        let action = keys::action(KeyEvent::new(code, KeyModifiers::NONE), self.state.prompt.is_some());
        if let Some(Effect::Hunt { from, hunt }) = self.state.update(action.unwrap()) {
            let hunted = nonfinite::next(&*self.state.source, &self.state.index, from, &hunt);
            self.state.hunted(hunted);
        }
    }

    /// Answers all wishes.
    pub fn settle(&mut self) {
        for wish in self.state.wishes() {
            let finding = grant(&*self.state.source, &self.state.index, wish, &|| true).unwrap();
            self.state.learn(wish, finding);
        }
        assert_eq!(self.state.wishes(), [], "answered wishes are not wished for again");
    }

    pub fn buffer(&mut self) -> Buffer {
        self.settle();
        self.terminal.draw(|frame| view::draw(&self.state, frame)).unwrap();
        self.terminal.backend().buffer().clone()
    }

    /// The screen as text, lines without spaces at their end.
    pub fn text(&mut self) -> String {
        let buffer = self.buffer();
        let area = buffer.area;
        let line = |y: u16| {
            let line: String = (0..area.width).map(|x| buffer[(x, y)].symbol()).collect();
            line.trim_end().to_owned() + "\n"
        };
        (0..area.height).map(line).collect()
    }

    /// The line of a pane that starts with a text.
    pub fn line(&mut self, start: &str) -> String {
        let text = self.text();
        let mut pieces = text.lines().flat_map(|line| line.split(['│', '┃'])).map(str::trim);
        pieces.find(|piece| piece.starts_with(start)).unwrap_or_else(|| panic!("{start}: {text}")).to_owned()
    }
}
