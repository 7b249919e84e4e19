//! The directory that MindStudio Insight, Perfetto and people open: `DIR/simulator`.
//!
//! Everything is written under a temporary name first; what stands at the final name is always whole. Files
//! have mode 0644 and directories 0755, because MindStudio Insight refuses what others may write.

mod bin;
mod core_trace;
mod csv;
mod details;
mod events;
mod tables;
mod totals;
mod traffic;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use argus_files::{Draft, Stage};

use crate::perfetto::{Depth, Drawing, JsonDrawing, NativeDrawing, draw_task};
use crate::summary::Summary;
use crate::timeline::Timeline;
use crate::write::bin::BlockType;
use crate::write::events::Events;
use crate::write::totals::Totals;

pub(crate) use events::sort_index;

/// A TRACE block holds less than 64 MB; an event is far smaller than what is left.
const TRACE_LIMIT: usize = 60_000_000;
const BUFFER: usize = 1 << 20;
const FILE_MODE: u32 = argus_files::OPEN;
/// What MindStudio Insight shows of a source file.
const MAX_SOURCE_CHARS: usize = 1_000_000;
const MAX_SOURCE_LINES: usize = 10_000;

/// Why files could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error("cannot write {}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} exists and was not written by a trace; remove it or choose another directory", path.display())]
    Foreign { path: PathBuf },
    #[error("`{text}` is not a time stamp: 17 digits are needed, as in 20260822143005123")]
    Stamp { text: String },
}

/// The time in the names of the CSV files: year to millisecond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp(String);

impl Stamp {
    pub fn now() -> Stamp {
        let now = jiff::Zoned::now();
        Stamp(format!("{}{:03}", now.strftime("%Y%m%d%H%M%S"), now.millisecond()))
    }

    pub fn parse(text: &str) -> Result<Stamp, WriteError> {
        if text.len() == 17 && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(Stamp(text.to_owned()));
        }
        Err(WriteError::Stamp { text: text.to_owned() })
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The texts of source files, by the path that a timeline gives them.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    texts: BTreeMap<String, Source>,
}

#[derive(Clone, Debug)]
struct Source {
    text: String,
    lines: usize,
}

impl Sources {
    /// Adds a text. One that is longer than readers show is left out.
    pub fn add(&mut self, path: &str, text: &str) {
        let lines = text.lines().count();
        if text.chars().count() <= MAX_SOURCE_CHARS && lines <= MAX_SOURCE_LINES && !text.is_empty() {
            self.texts.insert(path.to_owned(), Source { text: text.to_owned(), lines });
        }
    }

    pub(crate) fn has_line(&self, path: &str, line: u32) -> bool {
        let lines = self.texts.get(path).map_or(0, |source| source.lines);
        (1..=lines).contains(&(line as usize))
    }
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// `DIR/simulator`.
    pub directory: PathBuf,
    pub slices: u64,
    /// Source files that the timeline names and whose text is not there.
    pub missing_sources: Vec<String>,
}

/// Writes `dir/simulator`, replacing an older one.
pub fn write(
    timeline: &Timeline<'_>,
    dir: &Path,
    sources: &Sources,
    stamp: &Stamp,
) -> Result<Written, WriteError> {
    let target = dir.join("simulator");
    if target.symlink_metadata().is_ok() && !target.join("trace.json").is_file() {
        return Err(WriteError::Foreign { path: target });
    }
    make_dirs(dir)?;
    let stage = Stage::inside(dir).map_err(|source| io_error(dir, source))?;
    let fresh = stage.path().join("new");
    write_all(timeline, &fresh, sources, stamp)?;
    // What was there goes away with the stage.
    stage.exchange("new", &target).map_err(|source| io_error(&target, source))?;
    stage.remove().map_err(|source| io_error(dir, source))?;
    let missing = timeline.files.iter().filter(|file| !sources.texts.contains_key(*file)).cloned().collect();
    let slices = timeline.cores.iter().map(|core| core.instrs.len() as u64).sum();
    Ok(Written { directory: target, slices, missing_sources: missing })
}

fn write_all(
    timeline: &Timeline<'_>,
    dir: &Path,
    sources: &Sources,
    stamp: &Stamp,
) -> Result<(), WriteError> {
    make_dirs(dir)?;
    let summary = Summary::new(timeline);
    let totals = Totals::new(timeline);
    let mut text = serde_json::to_vec_pretty(&summary).map_err(|error| io_error(dir, error.into()))?;
    text.push(b'\n');
    write_file(&dir.join("summary.json"), |file| file.write_all(&text))?;
    for (number, core) in timeline.cores.iter().enumerate() {
        let directory = dir.join(&core.name);
        make_dirs(&directory)?;
        let (name, stamp) = (&core.name, stamp.as_str());
        write_file(&directory.join(format!("{name}_instr_exe_{stamp}.csv")), |file| {
            file.write_all(csv::instr_exe(timeline, &totals, number).as_bytes())
        })?;
        write_file(&directory.join(format!("{name}_code_exe_{stamp}.csv")), |file| {
            file.write_all(csv::code_exe(timeline, number).as_bytes())
        })?;
    }
    // Two halves of about the same size, side by side.
    std::thread::scope(|scope| {
        let insight = scope.spawn(|| write_insight(timeline, dir, sources, &totals, &summary));
        let others = write_others(timeline, dir);
        let insight = match insight.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        insight.and(others)
    })
}

fn write_others(timeline: &Timeline<'_>, dir: &Path) -> Result<(), WriteError> {
    for (number, core) in timeline.cores.iter().enumerate() {
        let path = dir.join(&core.name).join("trace.json");
        write_file(&path, |file| core_trace::write(file, timeline, number))?;
    }
    write_file(&dir.join("perfetto.json"), |file| {
        let mut drawing = JsonDrawing::new(file);
        draw_task(&mut drawing, timeline, Depth::Flat)?;
        drawing.finish()
    })?;
    write_file(&dir.join("perfetto.pftrace"), |file| {
        let mut drawing = NativeDrawing::new(file);
        draw_task(&mut drawing, timeline, Depth::Full)?;
        drawing.finish()
    })
}

/// `trace.json` and `visualize_data.bin`: the same events, made once.
fn write_insight(
    timeline: &Timeline<'_>,
    dir: &Path,
    sources: &Sources,
    totals: &Totals,
    summary: &Summary,
) -> Result<(), WriteError> {
    let (json_path, bin_path) = (dir.join("trace.json"), dir.join("visualize_data.bin"));
    let mut json = create(&json_path)?;
    let mut blocks = BufWriter::with_capacity(BUFFER, create(&bin_path)?);
    let mut split = Split::new(&mut json, &mut blocks, TRACE_LIMIT);
    let (start, end) = events::envelope(2);
    split.keep(|split| split.json.write_all(start.as_bytes()));
    let mut events = Events::new(timeline);
    let mut event = Vec::new();
    events.push_metadata(&mut event, &mut |event| split.event(event));
    for at in events::all_instrs(timeline) {
        events.push_instr(&mut event, at, &mut |event| split.event(event));
    }
    events.push_counters(&mut event, &mut |event| split.event(event));
    split.flush();
    split.keep(|split| split.json.write_all(end.as_bytes()));
    if let Some(error) = split.error {
        return Err(io_error(&json_path, error));
    }
    let mut tables = || -> io::Result<()> {
        for (path, source) in &sources.texts {
            if timeline.files.contains(path) {
                bin::write_source(&mut blocks, path, &source.text)?;
            }
        }
        let files = serde_json::to_vec(&tables::api_file(timeline, totals, sources))?;
        bin::write_block(&mut blocks, BlockType::ApiFile, &[&files])?;
        let instrs = serde_json::to_vec(&tables::api_instr(timeline, totals, sources))?;
        bin::write_block(&mut blocks, BlockType::ApiInstr, &[&instrs])?;
        for (kind, content) in details::blocks(timeline, summary) {
            bin::write_block(&mut blocks, kind, &[&serde_json::to_vec(&content)?])?;
        }
        blocks.flush()
    };
    tables().map_err(|error| io_error(&bin_path, error))
}

/// Events on their way into `trace.json` and into TRACE blocks.
struct Split<'a, J, B> {
    json: &'a mut J,
    bin: &'a mut B,
    /// A block is closed when it holds more than this.
    limit: usize,
    events: Vec<u8>,
    any: bool,
    error: Option<io::Error>,
}

impl<'a, J: Write, B: Write> Split<'a, J, B> {
    fn new(json: &'a mut J, bin: &'a mut B, limit: usize) -> Split<'a, J, B> {
        Split { json, bin, limit, events: Vec::new(), any: false, error: None }
    }

    fn event(&mut self, event: &mut Vec<u8>) {
        if !self.events.is_empty() {
            self.events.push(b',');
        }
        self.events.append(event);
        if self.events.len() > self.limit {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.events.is_empty() {
            return;
        }
        let events = std::mem::take(&mut self.events);
        let comma: &[u8] = if self.any { b"," } else { b"" };
        self.any = true;
        self.keep(|split| {
            split.json.write_all(comma)?;
            split.json.write_all(&events)?;
            let (start, end) = events::envelope(2);
            bin::write_block(split.bin, BlockType::Trace, &[start.as_bytes(), &events, end.as_bytes()])
        });
        self.events = events;
        self.events.clear();
    }

    /// Does something unless something failed before.
    fn keep(&mut self, write: impl FnOnce(&mut Self) -> io::Result<()>) {
        if self.error.is_none()
            && let Err(error) = write(self)
        {
            self.error = Some(error);
        }
    }
}

fn io_error(path: &Path, source: io::Error) -> WriteError {
    WriteError::Io { path: path.to_owned(), source }
}

fn create(path: &Path) -> Result<File, WriteError> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(FILE_MODE)
        .open(path)
        .map_err(|source| io_error(path, source))
}

fn write_file(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), WriteError> {
    let mut file = create(path)?;
    write(&mut file).map_err(|source| io_error(path, source))
}

/// Writes a file, whole or not at all.
pub(crate) fn replace_file(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), WriteError> {
    let replaced = Draft::create(path, FILE_MODE).and_then(|mut draft| {
        write(draft.file())?;
        draft.publish()
    });
    replaced.map_err(|source| io_error(path, source))
}

fn make_dirs(dir: &Path) -> Result<(), WriteError> {
    argus_files::make_directory(dir).map_err(|source| io_error(dir, source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_go_into_one_text_and_into_blocks_of_a_limited_size() {
        let (mut json, mut blocks) = (Vec::new(), Vec::new());
        let mut split = Split::new(&mut json, &mut blocks, 6);
        for event in ["{\"a\":1}", "{}", "{}", "{}", "{}"] {
            let mut event = event.as_bytes().to_vec();
            split.event(&mut event);
            assert!(event.is_empty());
        }
        split.flush();
        split.flush();
        assert!(split.error.is_none());
        assert_eq!(json, br#"{"a":1},{},{},{},{}"#);
        let (start, end) = events::envelope(2);
        let mut expected = Vec::new();
        for events in ["{\"a\":1}", "{},{},{}", "{}"] {
            let text = format!("{start}{events}{end}");
            let padding = text.len().next_multiple_of(4) - text.len();
            expected.extend_from_slice(&((text.len() + padding) as u64).to_le_bytes());
            expected.extend_from_slice(&[2, padding as u8, 0x5A, 0x5A]);
            expected.extend_from_slice(text.as_bytes());
            expected.extend_from_slice(&vec![0; padding]);
        }
        assert_eq!(blocks, expected);
    }
}
