//! `scope_stats.jsonl`: what each scope of the orchestration took of task slots, heap, edges and the map of views.

use std::fmt::Write;

use serde::Deserialize;

use crate::ArtefactError;
use crate::json;

/// Whether a capture in the background says of itself that it is whole.
pub fn is_whole(verdict: &str) -> bool {
    matches!(verdict, "published" | "published_empty")
}

/// Rings of the reference.
pub const RINGS: usize = 4;

/// The file: limits first, then one line for each scope that was entered or left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScopeStats {
    /// 4, 5 or 6; files since September have none.
    pub version: Option<u32>,
    /// The run latched an error.
    pub fatal: bool,
    /// Lines that the capture lost.
    pub dropped: u64,
    /// Lines that the first one promises.
    pub total: Option<u64>,
    /// How a capture in the background judged itself; since September.
    pub verdict: Option<String>,
    /// It does not know how many lines there should be.
    pub counts_unknown: bool,
    pub limits: Limits,
    pub samples: Vec<Sample>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    pub tasks: [u64; RINGS],
    pub heap: [u64; RINGS],
    /// `None`: the file is older than that.
    pub edges: Option<[u64; RINGS]>,
    pub views: u64,
}

/// One end of a scope. Each pair counts what was released and what was allocated so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// File and line of the orchestration.
    pub site: String,
    pub enters: bool,
    pub depth: u32,
    pub ring: u32,
    pub tasks: [u64; 2],
    pub heap: [u64; 2],
    pub edges: Option<[u64; 2]>,
    pub views: u64,
    /// The number of the run in its process.
    pub epoch: Option<u64>,
}

/// A scope that was entered, and left unless the run ended before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    pub site: String,
    pub depth: u32,
    pub ring: u32,
    /// `None`: the run ended inside it.
    pub taken: Option<Taken>,
}

/// What a scope took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    pub tasks: Use,
    /// `None`: the file is so old that its offsets begin again at 0, and they did inside this scope.
    pub heap: Option<Use>,
    pub edges: Option<Use>,
}

/// Of one resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// Upper bound of what was alive at once.
    pub high_water: u64,
    pub alive_at_exit: u64,
    pub allocated: u64,
}

#[derive(Deserialize)]
struct HeadText {
    version: Option<u32>,
    fatal: bool,
    dropped: u64,
    total: Option<u64>,
    collection_verdict: Option<String>,
    #[serde(default)]
    counts_unknown: bool,
    task_window_max: [u64; RINGS],
    heap_max: [u64; RINGS],
    dep_pool_max: Option<[u64; RINGS]>,
    tensormap_max: u64,
}

#[derive(Deserialize)]
struct LineText {
    site: String,
    phase: String,
    depth: u32,
    ring: u32,
    task_window_start: u64,
    task_window_end: u64,
    heap_start: u64,
    heap_end: u64,
    dep_pool_start: Option<u64>,
    dep_pool_end: Option<u64>,
    tensormap: u64,
    run_epoch: Option<u64>,
}

impl ScopeStats {
    pub fn parse(text: &[u8]) -> Result<ScopeStats, ArtefactError> {
        let mut lines = json::lines(text);
        let (_, head) = lines.next().ok_or(ArtefactError::Empty)?;
        let head: HeadText =
            serde_json::from_slice(head).map_err(|source| ArtefactError::JsonLine { line: 1, source })?;
        let mut samples = Vec::new();
        for (line, text) in lines {
            let text: LineText =
                serde_json::from_slice(text).map_err(|source| ArtefactError::JsonLine { line, source })?;
            samples.push(text.understood(line)?);
        }
        Ok(ScopeStats {
            version: head.version,
            fatal: head.fatal,
            dropped: head.dropped,
            total: head.total,
            verdict: head.collection_verdict,
            counts_unknown: head.counts_unknown,
            limits: Limits {
                tasks: head.task_window_max,
                heap: head.heap_max,
                edges: head.dep_pool_max,
                views: head.tensormap_max,
            },
            samples,
        })
    }

    /// What is wrong with the file as a whole: lines that are not there, and a capture that does not vouch for itself.
    pub fn shortcomings(&self) -> Vec<String> {
        let mut found = Vec::new();
        if self.dropped > 0 {
            found.push(format!("{} of its lines were lost during the run", self.dropped));
        }
        let lines = self.samples.len() as u64;
        if let Some(total) = self.total.filter(|&total| total != lines) {
            found.push(format!("it has {lines} lines of scopes, and its first line says {total}"));
        }
        if let Some(verdict) = self.verdict.as_deref().filter(|verdict| !is_whole(verdict)) {
            found.push(format!("the capture calls itself '{verdict}', which is not whole"));
        }
        if self.counts_unknown {
            found.push("the capture does not know how many lines it should have".to_owned());
        }
        found
    }

    /// Whether some lines are missing, so that an end may stand beside the wrong begin.
    fn is_short(&self) -> bool {
        self.dropped > 0 || self.total.is_some_and(|total| total != self.samples.len() as u64)
    }

    /// Pairs both ends by nesting, in the order in which scopes were entered.
    pub fn scopes(&self) -> Vec<Scope> {
        let mut scopes: Vec<Scope> = Vec::new();
        let mut open: Vec<(usize, &Sample)> = Vec::new();
        for sample in &self.samples {
            if sample.enters {
                open.push((scopes.len(), sample));
                let Sample { site, depth, ring, .. } = sample;
                scopes.push(Scope { site: site.clone(), depth: *depth, ring: *ring, taken: None });
                continue;
            }
            // Lines may be lost: an end belongs to the innermost scope of its depth.
            while let Some((at, begin)) = open.pop() {
                if begin.depth == sample.depth {
                    scopes[at].taken = Some(taken(begin, sample));
                    break;
                }
            }
        }
        scopes
    }

    /// The position in [`ScopeStats::scopes`] of the innermost scope that took this slot of a ring; `None` if none did, or if
    /// lines were lost.
    ///
    /// Scopes deeper than the last ring share it; the one that was entered last counts.
    pub fn scope_of(&self, ring: u8, number: u32) -> Option<usize> {
        let (ring, number) = (u32::from(ring), u64::from(number));
        let mut open: Vec<(usize, &Sample)> = Vec::new();
        let (mut entered, mut found) = (0, None::<usize>);
        for sample in &self.samples {
            if sample.enters {
                open.push((entered, sample));
                entered += 1;
                continue;
            }
            while let Some((at, begin)) = open.pop() {
                if begin.depth == sample.depth {
                    if begin.ring == ring && (begin.tasks[1]..sample.tasks[1]).contains(&number) {
                        found = found.max(Some(at));
                    }
                    break;
                }
            }
        }
        found.filter(|_| !self.is_short())
    }

    /// The text of the file, in the form of August.
    pub fn text(&self) -> String {
        let Limits { tasks, heap, edges, views } = &self.limits;
        let mut text = String::from("{");
        if let Some(version) = self.version {
            _ = write!(text, "\"version\": {version}, ");
        }
        _ = write!(
            text,
            "\"fatal\": {}, \"dropped\": {}, \"total\": {}",
            self.fatal,
            self.dropped,
            self.samples.len()
        );
        _ = write!(text, ", \"task_window_max\": {}, \"heap_max\": {}", spaced(tasks), spaced(heap));
        if let Some(edges) = edges {
            _ = write!(text, ", \"dep_pool_max\": {}", spaced(edges));
        }
        _ = writeln!(text, ", \"tensormap_max\": {views}}}");
        for sample in &self.samples {
            let phase = if sample.enters { "begin" } else { "end" };
            _ = write!(
                text,
                "{{\"site\": {}, \"phase\": \"{phase}\", \"depth\": {}, \"ring\": {}",
                json::quoted(&sample.site),
                sample.depth,
                sample.ring
            );
            for (name, pair) in
                [("task_window", Some(sample.tasks)), ("heap", Some(sample.heap)), ("dep_pool", sample.edges)]
            {
                if let Some([start, end]) = pair {
                    _ = write!(text, ", \"{name}_start\": {start}, \"{name}_end\": {end}");
                }
            }
            _ = write!(text, ", \"tensormap\": {}", sample.views);
            if let Some(epoch) = sample.epoch {
                _ = write!(text, ", \"run_epoch\": {epoch}");
            }
            text.push_str("}\n");
        }
        text
    }
}

fn spaced(numbers: &[u64; RINGS]) -> String {
    json::list(numbers).replace(',', ", ")
}

impl LineText {
    fn understood(self, line: usize) -> Result<Sample, ArtefactError> {
        let wrong = |field, found: String, allowed| ArtefactError::value("line", line, field, found, allowed);
        let enters = match self.phase.as_str() {
            "begin" => true,
            "end" => false,
            other => return Err(wrong("phase", json::quoted(other), "\"begin\" or \"end\"")),
        };
        if self.ring as usize >= RINGS {
            return Err(wrong("ring", self.ring.to_string(), "0 to 3"));
        }
        Ok(Sample {
            site: self.site,
            enters,
            depth: self.depth,
            ring: self.ring,
            tasks: [self.task_window_start, self.task_window_end],
            heap: [self.heap_start, self.heap_end],
            edges: self.dep_pool_start.zip(self.dep_pool_end).map(|(start, end)| [start, end]),
            views: self.tensormap,
            epoch: self.run_epoch,
        })
    }
}

fn taken(begin: &Sample, end: &Sample) -> Taken {
    let used = |begin: [u64; 2], end: [u64; 2]| Use {
        high_water: end[1].saturating_sub(begin[0]),
        alive_at_exit: end[1].saturating_sub(end[0]),
        allocated: end[1].saturating_sub(begin[1]),
    };
    let wrapped = end.heap[1] < begin.heap[0].max(begin.heap[1]).max(end.heap[0]);
    Taken {
        tasks: used(begin.tasks, end.tasks),
        heap: (!wrapped).then(|| used(begin.heap, end.heap)),
        edges: begin.edges.zip(end.edges).map(|(begin, end)| used(begin, end)),
    }
}
