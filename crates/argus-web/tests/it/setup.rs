//! Dumps of real runs, and a server for them that ends with the test.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use argus_abi::{RuntimeKind, TaskId};
use argus_chip::DEFAULT_CHIP;
use argus_record::{Names, RecordRequest, record};
use argus_runs::Capture;
use argus_runs::capture::Wanted;
use argus_runtime::Device;
use argus_scene::Registry;
use argus_web::{Ended, Options, Session, Unopened, Verb, serve};
use serde_json::Value;
use tempfile::TempDir;

use crate::client::{Answer, ask};

/// A run in a directory of its own: `tensor_dump` is in it.
pub struct Run {
    pub directory: TempDir,
}

impl Run {
    pub fn of(scene: &str, case: &str) -> Run {
        let found = argus_scenes::scene(scene).unwrap();
        let (case, runtime) = found.case(Some(case), Some(RuntimeKind::Trb)).unwrap();
        let prepared = case.prepare(runtime, DEFAULT_CHIP).unwrap();
        let config = case.config(&prepared, DEFAULT_CHIP);
        let names = Names {
            scene: scene.into(),
            case: case.name.clone(),
            runtime: runtime.name().into(),
            ..Names::default()
        };
        let directory = tempfile::tempdir().unwrap();
        let dump = directory.path().join("tensor_dump");
        std::fs::create_dir(&dump).unwrap();
        let mut args = prepared.args;
        let mut device = Device::new(DEFAULT_CHIP);
        record(&mut device, &prepared.program, &mut args, &config, &RecordRequest::default(), &names, &dump);
        Run { directory }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn dump(&self) -> PathBuf {
        self.path().join("tensor_dump")
    }

    /// The manifest, as any program reads it.
    pub fn manifest(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.dump().join("tensor_dump.json")).unwrap()).unwrap()
    }

    pub fn payload(&self) -> Vec<u8> {
        std::fs::read(self.dump().join("tensor_dump.bin")).unwrap()
    }
}

/// A server in this process.
pub struct Server {
    pub port: u16,
    pub token: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Ended>>,
}

impl Server {
    pub fn of(dumps: &[&Path]) -> Server {
        Server::with(dumps, Options::default())
    }

    pub fn with(dumps: &[&Path], options: Options) -> Server {
        let open = |path: &Path| {
            let opened = Capture::open(path, Wanted::Graph).map_err(|error| Unopened(error.to_string()));
            (path.to_path_buf(), opened)
        };
        let dumps: Vec<_> = dumps.iter().map(|path| open(path)).collect();
        let registry = Registry::new(argus_scenes::scenes::all()).unwrap();
        let session = Arc::new(Session::new(dumps, Arc::new(registry), command, "test").unwrap());
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, receiver) = mpsc::channel();
        let told = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            serve(session, &options, &told, |address| {
                sender.send((address.port.unwrap_or(0), address.token.text().to_owned())).unwrap();
            })
            .unwrap()
        });
        let (port, token) = receiver.recv().unwrap();
        Server { port, token, stop, thread: Some(thread) }
    }

    pub fn path(&self, rest: &str) -> String {
        format!("/{}/{rest}", self.token)
    }

    pub fn get(&self, rest: &str) -> Answer {
        ask(self.port, "GET", &self.path(rest), &[("Host", "localhost")])
    }

    /// Asks until the object has this value at a place: something is computed in the background.
    pub fn wait_for(&self, rest: &str, holds: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..3000 {
            let object = self.get(rest).json();
            if holds(&object) {
                return object;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("{rest} never becomes what is waited for");
    }

    pub fn end(mut self) -> Ended {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }

    /// Waits for it to end by itself.
    pub fn join(mut self) -> Ended {
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// As a face of the tool spells commands; tests only look for the parts.
fn command(verb: Verb, dump: &Path, task: Option<TaskId>) -> String {
    let task = task.map_or(String::new(), |task| task.to_string());
    format!("{verb:?} {} {task}", dump.display())
}

/// Numbers out of columns.
pub struct Columns<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
}

impl<'a> Columns<'a> {
    pub fn new(bytes: &'a [u8], magic: &str) -> Columns<'a> {
        assert_eq!((&bytes[..4], &bytes[4..8]), (magic.as_bytes(), &1u32.to_le_bytes()[..]));
        Columns { bytes, at: 8 }
    }

    fn raw<const N: usize>(&mut self, count: usize) -> Vec<[u8; N]> {
        self.at = self.at.next_multiple_of(N);
        let raw = &self.bytes[self.at..self.at + count * N];
        self.at += count * N;
        raw.chunks_exact(N).map(|chunk| chunk.try_into().unwrap()).collect()
    }

    pub fn u32(&mut self) -> usize {
        self.u32s(1)[0] as usize
    }

    pub fn u8s(&mut self, count: usize) -> Vec<u8> {
        self.raw::<1>(count).into_iter().map(|[byte]| byte).collect()
    }

    pub fn u32s(&mut self, count: usize) -> Vec<u32> {
        self.raw(count).into_iter().map(u32::from_le_bytes).collect()
    }

    pub fn f32s(&mut self, count: usize) -> Vec<f32> {
        self.raw(count).into_iter().map(f32::from_le_bytes).collect()
    }

    pub fn u64s(&mut self, count: usize) -> Vec<u64> {
        self.raw(count).into_iter().map(u64::from_le_bytes).collect()
    }

    pub fn f64s(&mut self, count: usize) -> Vec<f64> {
        self.raw(count).into_iter().map(f64::from_le_bytes).collect()
    }

    pub fn json(&mut self, bytes: usize) -> Value {
        let text = &self.bytes[self.at..self.at + bytes];
        self.at = (self.at + bytes).next_multiple_of(8);
        serde_json::from_slice(text).unwrap()
    }

    pub fn end(self) {
        assert_eq!(self.at, self.bytes.len(), "bytes behind the last column");
    }
}
