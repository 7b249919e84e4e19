//! The sink: takes what the collector drains and makes a dump of it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use argus_abi::capture::{ArgumentEntry, EdgesEntry, SkipEntry, TaskEntry, TaskFields, argument_flags};
use argus_abi::{DType, Kind, MAX_DIMS, Stage};
use argus_facts::{RunTimes, Sink, with_causes};
use zerocopy::FromZeros;

use crate::atomic::{self, Draft};
use crate::directory::holds_dump;
use crate::error::{DumpError, Saved};
use crate::graph_file::{self, Stopped};
use crate::info::{DumpInfo, DumpOptions, DumpSummary, RunEnd, StatsMode};
use crate::journal::{
    ArgumentHead, ArgumentRecord, EdgesRecord, Hold, Journal, JournalFile, LossRecord, SkipRecord,
    StatisticsRecord, TaskRecord, kind, marks,
};
use crate::kept::KeptRecords;
use crate::manifest::{self, Contents, last_tasks};
use crate::map::Bytes;
use crate::origin_file;
use crate::payload::PayloadFile;
use crate::run_file::{self, Ended};
use crate::sorted::{EdgeBytes, Sorted, last_of_each};
use crate::spool::{Failure, Spool, Target};
use crate::stats::Accumulator;
use crate::stream::Stream;
use crate::timeline_file;
use crate::{GRAPH_FILE, JOURNAL_FILE, MANIFEST_FILE, PAYLOAD_FILE, RUN_FILE, TIMELINE_FILE};

/// Writes one dump.
///
/// Nothing but memory is touched in the calls of [`Sink`]: a thread of its own writes. They wait for it only
/// when it is a few blocks of 2 MiB behind. An error is that of an earlier write, then; after the first, every
/// call reports it again and `finish` leaves the journal as it is, together with a run.json that tells.
pub struct DumpWriter {
    directory: PathBuf,
    options: DumpOptions,
    info: DumpInfo,
    started: String,
    files: Files,
    /// The argument that is on its way, and the statistics of what came of it.
    record: ArgumentRecord,
    statistics: Option<Box<Accumulator>>,
    open: bool,
    /// Counts of what came so far.
    summary: DumpSummary,
    /// Counts of records by role: input, output, in and out.
    roles: [u64; 3],
    records: KeptRecords,
    tasks: Sorted<TaskFields>,
    edges: Sorted<EdgeBytes>,
    skipped: Sorted<SkipRecord>,
    /// Readers can tell that the run is going on.
    _hold: Hold,
}

/// The two files that grow during the run.
struct Files {
    payload: PayloadFile,
    journal: JournalFile,
    spool: Spool,
}

impl Files {
    /// Appends an entry that names nothing beyond what the payload file has been given.
    fn append<T>(&mut self, kind: u8, body: &T) -> Result<(), Failure>
    where
        T: zerocopy::IntoBytes + zerocopy::Immutable,
    {
        self.spool.check()?;
        if self.journal.nearly_full() {
            self.payload.stream().hand_over(&mut self.spool)?;
        }
        self.journal.append(&mut self.spool, kind, body)
    }

    /// Whether everything is handed over already.
    fn clean(&mut self) -> bool {
        self.payload.stream().clean() && self.journal.stream().clean()
    }

    /// Hands over everything: first the payload, then the entries that name it.
    fn hand_over(&mut self) -> Result<(), Failure> {
        self.spool.check()?;
        self.payload.stream().hand_over(&mut self.spool)?;
        self.journal.stream().hand_over(&mut self.spool)
    }
}

impl Drop for Files {
    /// A run that panics or gives up leaves what it had, like one that is killed, only later.
    fn drop(&mut self) {
        let _ = self.hand_over();
    }
}

impl DumpWriter {
    /// Starts a dump in `directory`, which exists and holds none; see [`crate::RunDirectory`].
    pub fn create(directory: &Path, options: DumpOptions, info: DumpInfo) -> Result<DumpWriter, DumpError> {
        if holds_dump(directory) {
            return Err(DumpError::Occupied { path: directory.to_path_buf() });
        }
        let create = |name: &str| {
            let path = directory.join(name);
            Target::create(&path, options.direct)
                .map(Stream::new)
                .map_err(|source| DumpError::Create { path, source })
        };
        let journal = JournalFile::new(create(JOURNAL_FILE)?);
        let hold = Hold::take(directory);
        let payload = PayloadFile::new(create(PAYLOAD_FILE)?, options.dedupe);
        let spool =
            Spool::start().map_err(|source| DumpError::Create { path: directory.to_path_buf(), source })?;
        let now = jiff::Zoned::now();
        let mut writer = DumpWriter {
            directory: directory.to_path_buf(),
            options,
            info,
            started: now.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string(),
            files: Files { payload, journal, spool },
            record: ArgumentRecord::new_zeroed(),
            statistics: None,
            open: false,
            summary: DumpSummary { directory: directory.to_path_buf(), ..DumpSummary::default() },
            roles: [0; 3],
            records: KeptRecords::new(directory),
            tasks: Sorted::new(directory),
            edges: Sorted::new(directory),
            skipped: Sorted::new(directory),
            _hold: hold,
        };
        run_file::write(directory, &writer.info, &options, &writer.started, None)
            .map_err(|source| DumpError::Create { path: directory.join(RUN_FILE), source })?;
        if let Some(origin) = &writer.info.origin {
            origin_file::write(directory, origin).map_err(|source| DumpError::Create {
                path: directory.join(origin_file::SCENE_DIRECTORY),
                source,
            })?;
        }
        let started_unix_ns = u64::try_from(now.timestamp().as_nanosecond()).unwrap_or(0);
        writer.begin_journal(started_unix_ns).map_err(|failure| writer.report(&failure))?;
        Ok(writer)
    }

    fn begin_journal(&mut self, started_unix_ns: u64) -> Result<(), Failure> {
        let Files { journal, spool, .. } = &mut self.files;
        journal.header(spool, self.info.run_id, started_unix_ns, &self.options)?;
        for kernel in &self.info.kernels {
            journal.kernel(spool, kernel)?;
        }
        // A reader that finds the journal finds its header and the kernels in it.
        self.files.hand_over()?;
        self.files.spool.wait()
    }

    /// Where the dump is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Like [`Sink::flush`], but returns when what came so far is readable by others.
    pub fn settle(&mut self) -> Result<(), DumpError> {
        let settled = self.files.hand_over().and_then(|()| self.files.spool.wait());
        settled.map_err(|failure| self.report(&failure))
    }

    /// The run itself narrowed what is captured; the finished dump says so.
    pub fn set_level(&mut self, level: &str) {
        self.info.level = level.into();
    }

    /// Ends the dump: the rest of payload and journal, then manifest, graph.json and run.json.
    ///
    /// `end` is about the run. A run that failed has its dump finished just the same.
    pub fn finish(mut self, end: RunEnd) -> Result<DumpSummary, DumpError> {
        if std::mem::take(&mut self.open) {
            // The collector gave up inside an argument.
            self.files.payload.abandon();
        }
        match self.write_end(&end) {
            Ok(()) => Ok(self.summary),
            Err(failure) => {
                let error = self.report(&failure);
                // The disk may have room for a few lines still; the error itself is reported anyway.
                let told = RunEnd {
                    status: crate::RunStatus::Failed,
                    error: Some(match &end.error {
                        Some(first) => format!("{first}; {}", with_causes(&error)),
                        None => with_causes(&error),
                    }),
                    ledger: end.ledger,
                    injections: end.injections,
                    times: Arc::default(),
                };
                let ended = Ended { end: &told, finished: None };
                let _ =
                    run_file::write(&self.directory, &self.info, &self.options, &self.started, Some(&ended));
                Err(error)
            }
        }
    }

    fn write_end(&mut self, end: &RunEnd) -> Result<(), Failure> {
        for (lane, ledger) in (0..).zip(&end.ledger.rings) {
            let record = LossRecord {
                lane,
                reserved: 0,
                lost_entries: ledger.lost_entries,
                lost_bytes: ledger.lost_bytes,
                waits: ledger.waits,
                wait_ns: ledger.wait_ns,
                reserved_end: [0; 136],
            };
            self.files.append(kind::LOSS, &record)?;
        }
        // The writing thread syncs what is whole while the manifest is being put together.
        let sync = self.options.sync;
        let Files { payload, journal, spool } = &mut self.files;
        spool.check()?;
        payload.stream().seal(spool, sync)?;
        journal.stream().seal(spool, sync)?;
        self.tasks.seal();
        self.edges.seal();
        self.skipped.seal();
        let mut graph = Draft::create(&self.directory, GRAPH_FILE, self.options.direct)?;
        let edges = last_of_each(self.edges.iter(), |edge, other| edge == other);
        // The manifest needs the records in order, the graph does not.
        let counts = beside(
            || self.records.seal(),
            || {
                graph_file::write(&self.info.kernels, last_tasks(&self.tasks), edges, |piece| {
                    graph.stream.write(spool, piece)
                })
            },
        );
        let counts = counts.map_err(|stopped| match stopped {
            Stopped::Sink(failure) => failure,
            Stopped::Source(error) => Failure::early(&self.directory.join(GRAPH_FILE), &error),
        })?;
        graph.stream.seal(spool, sync)?;
        let lost = end.ledger.total();
        self.summary = DumpSummary {
            records: self.records.len(),
            tasks: counts.tasks,
            edges: counts.edges,
            stored_bytes: payload.stored_bytes(),
            skipped: self.skipped.len(),
            lost_entries: lost.lost_entries,
            lost_bytes: lost.lost_bytes,
            ..std::mem::take(&mut self.summary)
        };
        let summary = &self.summary;
        // A dump that was made out of another one has no times of its own.
        let mut timeline = None;
        if *end.times != RunTimes::default() {
            let draft = timeline.insert(Draft::create(&self.directory, TIMELINE_FILE, self.options.direct)?);
            timeline_file::write(&end.times, |piece| draft.stream.write(spool, piece))?;
            draft.stream.seal(spool, sync)?;
        }
        let contents = Contents {
            info: &self.info,
            end,
            summary,
            records: &self.records,
            tasks: &self.tasks,
            skipped: &self.skipped,
            roles: self.roles,
        };
        let mut manifest = Draft::create(&self.directory, MANIFEST_FILE, self.options.direct)?;
        manifest::write(&contents, &mut manifest.stream, spool)?;
        manifest.stream.seal(spool, sync)?;
        spool.wait()?;
        let mut published = vec![graph.publish()?];
        if let Some(timeline) = timeline {
            published.push(timeline.publish()?);
        }
        published.push(manifest.publish()?);
        // Only now: a journal that says "ended" has both beside it.
        journal.end(spool, end, |record| {
            record.records = summary.records;
            record.tasks = summary.tasks;
            record.edges = summary.edges;
            record.skipped = summary.skipped;
            record.stored_bytes = summary.stored_bytes;
        })?;
        journal.stream().seal(spool, sync)?;
        spool.wait()?;
        let ended = Ended { end, finished: Some((summary, &published)) };
        run_file::write(&self.directory, &self.info, &self.options, &self.started, Some(&ended))
            .and_then(|()| if sync { atomic::sync_names(&self.directory) } else { Ok(()) })
            .map_err(|error| Failure::early(&self.directory.join(RUN_FILE), &error))
    }

    /// Counts a record and keeps it for the manifest.
    fn keep(&mut self) -> Result<(), Failure> {
        let (summary, record) = (&mut self.summary, &self.record.head);
        summary.tensors += u64::from(record.kind == Kind::Tensor as u8);
        summary.scalars += u64::from(record.kind == Kind::Scalar as u8);
        summary.before_dispatch += u64::from(record.stage == Stage::BeforeDispatch as u8);
        summary.after_completion += u64::from(record.stage == Stage::AfterCompletion as u8);
        summary.partial += u64::from(record.has(argument_flags::PARTIAL));
        summary.shared += u64::from(record.has(marks::SHARED));
        summary.payload_bytes += record.payload_bytes;
        if let Some(count) = self.roles.get_mut(usize::from(record.role)) {
            *count += 1;
        }
        let kept = self.records.push(&self.record);
        kept.map_err(|error| self.unsorted(&error))
    }

    /// What is kept until the end did not fit into memory, and not on the disk either.
    fn unsorted(&self, error: &std::io::Error) -> Failure {
        Failure::early(&self.directory.join("(a file without a name)"), error)
    }

    /// The error for a failure, with what the files hold.
    fn report(&mut self, failure: &Failure) -> DumpError {
        // What was captured before still goes to the files, unless it was one of them that failed.
        let _ = self.files.hand_over().and_then(|()| self.files.spool.wait());
        self.files.spool.fail(failure.clone());
        let content = self.files.journal.stream().content().ok();
        failure.report(content.map_or_else(Saved::default, saved))
    }
}

/// Does both, `aside` on a thread of its own if there can be one.
fn beside<R>(aside: impl FnOnce() + Send, here: impl FnOnce() -> R) -> R {
    let aside = Mutex::new(Some(aside));
    let run = || {
        if let Some(aside) = aside.lock().unwrap_or_else(PoisonError::into_inner).take() {
            aside();
        }
    };
    std::thread::scope(|scope| {
        let spawned = std::thread::Builder::new().name("argus-sort".to_owned()).spawn_scoped(scope, run);
        let result = here();
        if spawned.is_err() {
            run();
        }
        result
    })
}

/// Counts what can be read of a journal.
fn saved(content: Bytes) -> Saved {
    let Ok(journal) = Journal::check(content) else {
        return Saved::default();
    };
    let mut saved = Saved::default();
    for record in journal.arguments() {
        saved.records += 1;
        saved.payload_bytes += record.head.bin_size;
    }
    saved
}

impl Sink for DumpWriter {
    type Error = DumpError;

    fn begin_argument(&mut self, entry: &ArgumentEntry) -> Result<(), DumpError> {
        if self.open {
            return Err(DumpError::Order("an argument begins inside another"));
        }
        self.record = ArgumentRecord { head: head_of(entry), statistics: StatisticsRecord::default() };
        let record = &self.record.head;
        let dtype = DType::from_raw(entry.dtype);
        let stats_only = record.has(argument_flags::STATS_ONLY) || self.options.stats == StatsMode::Instead;
        let wanted = stats_only || self.options.stats == StatsMode::Beside;
        self.statistics = dtype
            .filter(|_| wanted && entry.payload_bytes > 0)
            .map(|dtype| Box::new(Accumulator::new(dtype, record.numel().unwrap_or(u64::MAX))));
        self.files.payload.begin(entry.payload_bytes, !stats_only);
        self.open = true;
        Ok(())
    }

    fn payload(&mut self, piece: &[u8]) -> Result<(), DumpError> {
        if !self.open {
            return Err(DumpError::Order("payload outside an argument"));
        }
        if piece.len() as u64 > self.files.payload.missing() {
            return Err(DumpError::Order("more payload than the argument announced"));
        }
        if let Some(statistics) = &mut self.statistics {
            statistics.update(piece);
        }
        let Files { payload, spool, .. } = &mut self.files;
        let stored = spool.check().and_then(|()| payload.piece(spool, piece));
        stored.map_err(|failure| self.report(&failure))
    }

    fn end_argument(&mut self) -> Result<(), DumpError> {
        if !std::mem::take(&mut self.open) {
            return Err(DumpError::Order("an argument ends that did not begin"));
        }
        if self.files.payload.missing() > 0 {
            return Err(DumpError::Order("less payload than the argument announced"));
        }
        // A scalar has no payload, and a tensor may be left without one: their records have no checksum.
        let head = &mut self.record.head;
        if head.kind == Kind::Tensor as u8 && !head.has(argument_flags::NO_PAYLOAD) {
            let placed = self.files.payload.end();
            head.bin_offset = placed.offset;
            head.bin_size = placed.size;
            head.checksum = placed.checksum.to_be_bytes();
            head.flags |= marks::CHECKSUM;
            head.flags |= if placed.shared { marks::SHARED } else { 0 };
        }
        if let Some(statistics) = self.statistics.take() {
            statistics.finish().put(&mut self.record);
        }
        let appended = self.files.append(kind::ARGUMENT, &self.record).and_then(|()| self.keep());
        appended.map_err(|failure| self.report(&failure))
    }

    fn task(&mut self, entry: &TaskEntry) -> Result<(), DumpError> {
        let appended = self.files.append(kind::TASK, &TaskRecord::from(entry));
        let kept =
            appended.and_then(|()| self.tasks.push(&entry.task).map_err(|error| self.unsorted(&error)));
        kept.map_err(|failure| self.report(&failure))
    }

    fn edges(&mut self, entry: &EdgesEntry) -> Result<(), DumpError> {
        let record = EdgesRecord::from(entry);
        let edges = record.edges().map_err(|_| DumpError::Order("an edge has an unknown reason"))?;
        let mut kept = self.files.append(kind::EDGES, &record);
        for edge in edges {
            let edge = EdgeBytes { from: edge.from.raw(), to: edge.to.raw(), reason: edge.reason as u64 };
            kept = kept.and_then(|()| self.edges.push(&edge).map_err(|error| self.unsorted(&error)));
        }
        kept.map_err(|failure| self.report(&failure))
    }

    fn skip(&mut self, entry: &SkipEntry) -> Result<(), DumpError> {
        let record = SkipRecord::from(entry);
        let appended = self.files.append(kind::SKIP, &record);
        let kept = appended.and_then(|()| self.skipped.push(&record).map_err(|error| self.unsorted(&error)));
        kept.map_err(|failure| self.report(&failure))
    }

    /// Hands everything to the writing thread and does not wait for it, see [`DumpWriter::settle`]. While an
    /// earlier flush is on its way this one does nothing: the next call, 50 ms later at most, makes up for it.
    fn flush(&mut self) -> Result<(), DumpError> {
        let files = &mut self.files;
        let flushed = files.spool.check().and_then(|()| {
            if !files.spool.reached() || files.clean() {
                return Ok(());
            }
            files.hand_over()?;
            files.spool.mark()
        });
        flushed.map_err(|failure| self.report(&failure))
    }
}

/// What is known of an argument before its payload comes.
fn head_of(entry: &ArgumentEntry) -> ArgumentHead {
    let ndims = usize::from(entry.ndims).min(MAX_DIMS);
    // Entries beyond the dimensions mean nothing; zeros make equal views equal in the journal, too.
    let used = |values: [u32; MAX_DIMS]| {
        let mut used = [0; MAX_DIMS];
        used[..ndims].copy_from_slice(&values[..ndims]);
        used
    };
    ArgumentHead {
        task_id: entry.task_id,
        time_ns: entry.time_ns,
        address: entry.address,
        start_offset: entry.start_offset,
        scalar_bits: entry.scalar_bits,
        bin_offset: 0,
        bin_size: 0,
        payload_bytes: entry.payload_bytes,
        checksum: [0; 16],
        shapes: used(entry.shapes),
        strides: used(entry.strides),
        arg_index: entry.arg_index,
        stage: entry.stage,
        role: entry.role,
        kind: entry.kind,
        dtype: entry.dtype,
        ndims: ndims as u8,
        flags: entry.flags & !(marks::CHECKSUM | marks::STATISTICS | marks::SHARED),
    }
}
