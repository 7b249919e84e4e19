//! The thread that writes, and the blocks that travel to it and back.
//!
//! Jobs are carried out in the order in which they were handed over. That order is what the journal's
//! promise rests on: payload first, then the entries that name it. The number of blocks bounds how far the
//! thread may lag; a writer that needs a block when all are on their way waits for the disk.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rustix::fs::OFlags;
use rustix::io::Errno;
use xxhash_rust::xxh3::Xxh3;

use crate::block::Block;
use crate::error::{DumpError, Saved};
use crate::map::{Bytes, MappedFile};

/// Blocks in circulation: one being filled per file and enough on their way to keep the disk busy.
const BLOCKS: usize = 6;
/// Places and sizes of direct writes are multiples of this.
const PAGE: usize = 4096;
/// Less than this is copied faster than it is handed to the disk.
const LEAST_DIRECT: usize = 256 << 10;

/// A file that is written in blocks.
///
/// Whole pages go around the page cache where the file system allows it and there are enough of them; what is
/// left at either end goes through it. The two never share a page, because a page of which a part went through the
/// cache goes through it to its end.
pub(crate) struct Target {
    pub(crate) path: PathBuf,
    plain: File,
    direct: Option<File>,
    direct_refused: AtomicBool,
    written: AtomicU64,
    /// Of the bytes written so far, where it will be asked for; such a file is written from its start to its end.
    hasher: Option<Mutex<Box<Xxh3>>>,
}

impl Target {
    /// Creates `path`, which must not exist.
    pub(crate) fn create(path: &Path, direct: bool) -> io::Result<Arc<Target>> {
        // Read as well: after a failure it is counted what is in it.
        let plain = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        Ok(Arc::new(Target::new(plain, path, path, direct)))
    }

    /// A new file that lies at `place` and is called `path` in messages.
    fn new(plain: File, place: &Path, path: &Path, direct: bool) -> Target {
        let direct = direct
            .then(|| OpenOptions::new().write(true).custom_flags(OFlags::DIRECT.bits() as i32).open(place))
            .and_then(Result::ok);
        Target {
            path: path.to_path_buf(),
            plain,
            direct,
            direct_refused: AtomicBool::new(false),
            written: AtomicU64::new(0),
            hasher: None,
        }
    }

    /// The same for a file that is never rewound; [`Target::digest`] tells what went into it.
    pub(crate) fn hashed(plain: File, place: &Path, path: &Path, direct: bool) -> Arc<Target> {
        let hasher = Some(Mutex::new(Box::new(Xxh3::new())));
        Arc::new(Target { hasher, ..Target::new(plain, place, path, direct) })
    }

    /// What is in the file now, wherever its name has gone.
    pub(crate) fn content(&self) -> io::Result<Bytes> {
        MappedFile::of(&self.plain, &self.path).map(Bytes::Mapped)
    }

    /// Length and xxh3_128 of what was written.
    pub(crate) fn digest(&self) -> Option<(u64, u128)> {
        let hasher = self.hasher.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        Some((self.written.load(Ordering::Relaxed), hasher.digest128()))
    }

    fn write(&self, block: &[u8], base: u64, from: usize, to: usize) -> io::Result<()> {
        self.put(block, base, from, to)?;
        if let (Some(hasher), Some(bytes)) = (&self.hasher, block.get(from..to)) {
            hasher.lock().unwrap_or_else(PoisonError::into_inner).update(bytes);
        }
        Ok(())
    }

    fn put(&self, block: &[u8], base: u64, from: usize, to: usize) -> io::Result<()> {
        let Some(bytes) = block.get(from..to) else {
            return Err(io::Error::other("a block shorter than what it holds"));
        };
        // Blocks lie at multiples of their size, so places in them are aligned as those in the file are.
        let whole = from.next_multiple_of(PAGE)..to - to % PAGE;
        if whole.len() < LEAST_DIRECT {
            return self.put_plain(bytes, base + from as u64);
        }
        // From the front to the end: a process that is killed in between leaves no hole.
        self.put_plain(&block[from..whole.start], base + from as u64)?;
        if !self.put_direct(&block[whole.clone()], base + whole.start as u64)? {
            self.put_plain(&block[whole.clone()], base + whole.start as u64)?;
        }
        self.put_plain(&block[whole.end..to], base + whole.end as u64)
    }

    /// Writes whole pages around the page cache; `false` if that is not to be had.
    fn put_direct(&self, bytes: &[u8], at: u64) -> io::Result<bool> {
        let Some(direct) = self.direct.as_ref().filter(|_| !self.direct_refused.load(Ordering::Relaxed))
        else {
            return Ok(false);
        };
        match direct.write_all_at(bytes, at) {
            Ok(()) => {
                self.written.fetch_max(at + bytes.len() as u64, Ordering::Relaxed);
                Ok(true)
            }
            // The file system wants another alignment: it gets plain writes from now on.
            Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => {
                self.direct_refused.store(true, Ordering::Relaxed);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn put_plain(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            match self.plain.write_at(&bytes[done..], at + done as u64) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    done += count;
                    self.written.fetch_max(at + done as u64, Ordering::Relaxed);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Cuts the file to `len` bytes, and waits for the disk if asked to.
    fn seal(&self, len: u64, sync: bool) -> io::Result<()> {
        if self.plain.metadata()?.len() != len {
            self.plain.set_len(len)?;
        }
        if sync { self.plain.sync_data() } else { Ok(()) }
    }

    fn failure(&self, error: &io::Error) -> Failure {
        Failure {
            path: self.path.clone(),
            written: self.written.load(Ordering::Relaxed),
            code: error.raw_os_error(),
            text: error.to_string(),
        }
    }
}

/// The first write that failed; kept so that it can be reported more than once.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) path: PathBuf,
    pub(crate) written: u64,
    code: Option<i32>,
    text: String,
}

impl Failure {
    /// Of a file of which nothing is there.
    pub(crate) fn early(path: &Path, error: &io::Error) -> Failure {
        Failure { path: path.to_path_buf(), written: 0, code: error.raw_os_error(), text: error.to_string() }
    }

    /// The error to report, with what `saved` counted.
    pub(crate) fn report(&self, saved: Saved) -> DumpError {
        DumpError::Write { path: self.path.clone(), written: self.written, saved, source: self.source() }
    }

    fn source(&self) -> io::Error {
        match self.code {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::other(self.text.clone()),
        }
    }
}

enum Job {
    Write {
        target: Arc<Target>,
        block: Block,
        base: u64,
        from: usize,
        to: usize,
    },
    /// Cut the file to its length and, if asked to, wait until the disk has it.
    Seal {
        target: Arc<Target>,
        len: u64,
        sync: bool,
    },
    /// Everything before it is written: say so by number.
    Mark(u64),
    /// Everything before it is written: say so to one who waits.
    Fence(Sender<()>),
}

#[derive(Default)]
struct State {
    failed: AtomicBool,
    failure: Mutex<Option<Failure>>,
    marked: AtomicU64,
}

impl State {
    fn fail(&self, failure: Failure) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
        // SYNC POINT: pairs with the load in `Spool::check`; the thread that sees it finds the failure.
        self.failed.store(true, Ordering::Release);
    }
}

/// The collector's end of the writing thread.
pub(crate) struct Spool {
    jobs: Option<Sender<Job>>,
    free: Receiver<Block>,
    unmade: usize,
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
    marks: u64,
}

impl Spool {
    pub(crate) fn start() -> io::Result<Spool> {
        let (jobs, todo) = channel();
        let (done, free) = channel();
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        let thread = std::thread::Builder::new()
            .name("argus-dump".to_owned())
            .spawn(move || carry_out(&todo, &done, &shared))?;
        Ok(Spool { jobs: Some(jobs), free, unmade: BLOCKS, state, thread: Some(thread), marks: 0 })
    }

    /// An empty block; waits for the disk when all are on their way to it.
    pub(crate) fn take(&mut self) -> Result<Block, Failure> {
        if let Ok(block) = self.free.try_recv() {
            return Ok(block);
        }
        if self.unmade > 0 {
            // No memory for another block is no failure while some are in circulation.
            match Block::new() {
                Ok(block) => {
                    self.unmade -= 1;
                    return Ok(block);
                }
                Err(error) if self.unmade > BLOCKS - 2 => return Err(gone(&error.to_string())),
                Err(_) => self.unmade = 0,
            }
        }
        self.free.recv().map_err(|_| gone("the writing thread has stopped"))
    }

    /// Hands over the bytes `from..to` of a block that lies at `base` in the file.
    pub(crate) fn write(
        &mut self,
        target: &Arc<Target>,
        block: Block,
        base: u64,
        from: usize,
        to: usize,
    ) -> Result<(), Failure> {
        self.send(Job::Write { target: Arc::clone(target), block, base, from, to })
    }

    /// Everything of a file is handed over: it becomes `len` bytes long, on disk if `sync` asks for it.
    pub(crate) fn seal(&mut self, target: &Arc<Target>, len: u64, sync: bool) -> Result<(), Failure> {
        self.send(Job::Seal { target: Arc::clone(target), len, sync })
    }

    /// Marks this moment; [`Spool::reached`] tells when all before it is written.
    pub(crate) fn mark(&mut self) -> Result<(), Failure> {
        self.marks += 1;
        self.send(Job::Mark(self.marks))
    }

    /// Whether everything before the last mark is written.
    pub(crate) fn reached(&self) -> bool {
        self.state.marked.load(Ordering::Acquire) == self.marks
    }

    /// Waits until everything handed over is written.
    pub(crate) fn wait(&mut self) -> Result<(), Failure> {
        let (tell, told) = channel();
        self.send(Job::Fence(tell))?;
        told.recv().map_err(|_| gone("the writing thread has stopped"))?;
        self.check()
    }

    /// The first failure, if there was one.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if !self.state.failed.load(Ordering::Acquire) {
            return Ok(());
        }
        let failure = self.state.failure.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Err(failure.unwrap_or_else(|| gone("a write failed")))
    }

    /// Makes a failure found on this side the first one, unless there is one already.
    pub(crate) fn fail(&self, failure: Failure) {
        self.state.fail(failure);
    }

    fn send(&mut self, job: Job) -> Result<(), Failure> {
        match &self.jobs {
            Some(jobs) if jobs.send(job).is_ok() => Ok(()),
            _ => Err(gone("the writing thread has stopped")),
        }
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn gone(text: &str) -> Failure {
    Failure { path: PathBuf::new(), written: 0, code: None, text: text.to_owned() }
}

fn carry_out(todo: &Receiver<Job>, done: &Sender<Block>, state: &State) {
    for job in todo {
        match job {
            Job::Write { target, block, base, from, to } => {
                // After a failure nothing is written any more: the journal must not outrun the payload.
                if !state.failed.load(Ordering::Relaxed)
                    && let Err(error) = target.write(&block, base, from, to)
                {
                    state.fail(target.failure(&error));
                }
                let _ = done.send(block);
            }
            Job::Seal { target, len, sync } => {
                if !state.failed.load(Ordering::Relaxed)
                    && let Err(error) = target.seal(len, sync)
                {
                    state.fail(target.failure(&error));
                }
            }
            Job::Mark(mark) => state.marked.store(mark, Ordering::Release),
            Job::Fence(tell) => {
                let _ = tell.send(());
            }
        }
    }
}
