//! An error and its causes joined say nothing twice.

use std::error::Error;
use std::io;
use std::sync::Arc;

use argus_abi::{CoreType, TaskId, ViewError};
use argus_capture::{CaptureError, ConfigError, EntryError, RingError};
use argus_dump::read::{OpenError, PayloadError, TimesError};
use argus_dump::{DumpError, JournalError, Saved, TimelineError};
use argus_export::ExportError;
use argus_facts::{SelectorError, with_causes};
use argus_find::golden::{Folder, GoldenError, ValuesError};
use argus_gm::MemoryError;
use argus_record::RecordProblem;
use argus_replay::capsule::{NotHexadecimal, SlotDamage};
use argus_replay::substitute::NpyError;
use argus_replay::{
    ArgumentError, CapsuleDamage, CapsuleError, LookError, ReplayError, SelectError, SpecError,
    SubstituteError,
};
use argus_runtime::error::KernelSite;
use argus_runtime::{RunError, error::Fatal};
use argus_scene::play::PlayError;
use argus_tile::Fault;
use argus_trace::{Broken, CheckError, FilePlace, ParamsError, WriteError};
use argus_tui::BrowseError;
use argus_web::ServeError;
use argus_workspace::collect::RecordError;
use argus_workspace::{CollectError, LayoutError, SymbolError, WorkspaceError};

type Boxed = Box<dyn Error + Send + Sync>;

/// The innermost cause of all of them.
const DISK: &str = "the disk is on fire";

fn io() -> io::Error {
    io::Error::other(DISK)
}

fn json() -> serde_json::Error {
    serde_json::from_str::<u8>("{").unwrap_err()
}

fn memory() -> MemoryError {
    MemoryError::NoSuchAddress { addr: 16, len: 4 }
}

fn path() -> std::path::PathBuf {
    "some/where".into()
}

/// The words of an error and of each of its causes.
fn parts(error: &(dyn Error + 'static)) -> Vec<String> {
    let mut parts = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        parts.push(error.to_string());
        next = error.source();
    }
    parts
}

#[track_caller]
fn assert_said_once(error: &(dyn Error + 'static)) {
    let parts = parts(error);
    for (at, part) in parts.iter().enumerate() {
        assert!(!part.is_empty() && !part.ends_with(':'), "{error:?}");
        for cause in &parts[at + 1..] {
            assert!(
                !part.contains(cause.as_str()),
                "'{part}' has the words of its cause '{cause}': {error:?}"
            );
        }
    }
    assert_eq!(parts.join(": "), with_causes(error));
}

fn dumps() -> Vec<Boxed> {
    let write = || DumpError::Write { path: path(), written: 7, saved: Saved::default(), source: io() };
    let journal = || JournalError::Open { path: path(), source: io() };
    vec![
        Box::new(DumpError::Create { path: path(), source: io() }),
        Box::new(write()),
        Box::new(journal()),
        Box::new(OpenError::Io { path: path(), source: io() }),
        Box::new(OpenError::Journal { path: path(), source: journal() }),
        Box::new(OpenError::Journal { path: path(), source: JournalError::Magic }),
        Box::new(PayloadError::Missing { record: 3, path: path(), source: Arc::new(io()) }),
        Box::new(TimesError::Io { path: path(), source: io() }),
        Box::new(TimesError::Content { path: path(), source: TimelineError::from(json()) }),
        Box::new(TimesError::Content { path: path(), source: TimelineError::Stage { stage: 9 } }),
        Box::new(ExportError::Create { path: path(), source: io() }),
        Box::new(ExportError::Write { path: path(), source: io() }),
        Box::new(ExportError::from(write())),
        Box::new(GoldenError::Read { path: path(), source: io() }),
        Box::new(GoldenError::Parse { path: path(), kind: "npy", source: ValuesError::from(io()) }),
        Box::new(GoldenError::Parse {
            path: path(),
            kind: "npy",
            source: ValuesError::Count { found: Some(1), wanted: 2 },
        }),
    ]
}

fn runs() -> Vec<Boxed> {
    let site = KernelSite {
        task: TaskId::from_raw(1),
        kernel: "add".into(),
        core: 2,
        core_type: CoreType::Aiv,
        block: 0,
    };
    let sink = || CaptureError::Sink(Box::new(DumpError::Create { path: path(), source: io() }));
    let selector = || SelectorError::NotAPair { selector: "x".into(), part: "x".into() };
    vec![
        Box::new(CaptureError::from(ConfigError::NoRoom)),
        Box::new(CaptureError::from(memory())),
        Box::new(CaptureError::Spawn(io())),
        Box::new(CaptureError::BrokenRing { ring: 1, source: RingError::Magic { found: 7 } }),
        Box::new(CaptureError::BrokenEntry { ring: 1, sequence: 2, source: EntryError::What { found: 9 } }),
        Box::new(sink()),
        Box::new(RunError::from(memory())),
        Box::new(RunError::from(Fatal::invalid("no"))),
        Box::new(RunError::KernelFault { site, fault: Fault::kernel("no such recipe") }),
        Box::new(RunError::Capture(Box::new(sink()))),
        Box::new(PlayError::from(RunError::Capture(Box::new(RecordProblem::from(selector()))))),
        Box::new(RecordProblem::from(selector())),
        Box::new(RecordProblem::Lost { entries: 1, bytes: 2, source: Some(Arc::new(sink())) }),
        Box::new(RecordProblem::Lost { entries: 1, bytes: 2, source: None }),
        Box::new(RecordProblem::Collector(Arc::new(sink()))),
        Box::new(RecordProblem::Dump(Arc::new(DumpError::Create { path: path(), source: io() }))),
    ]
}

fn tasks() -> Vec<Boxed> {
    let npy = || SubstituteError::Npy { slot: 1, path: path(), source: NpyError::from(io()) };
    let number = || NotHexadecimal { text: "x".into() };
    let slot = || CapsuleDamage::Slot { slot: 3, source: SlotDamage::from(number()) };
    let damaged = |source| CapsuleError::Damaged { path: path(), source };
    vec![
        Box::new(npy()),
        Box::new(SpecError::Json(json())),
        Box::new(SpecError::Fill { path: "$[0].fill".into(), source: npy() }),
        Box::new(CapsuleError::Io { path: path(), source: io() }),
        Box::new(damaged(CapsuleDamage::from(json()))),
        Box::new(damaged(CapsuleDamage::from(number()))),
        Box::new(damaged(slot())),
        Box::new(ReplayError::from(damaged(slot()))),
        Box::new(ReplayError::from(SpecError::Fill { path: "$[0].fill".into(), source: npy() })),
        Box::new(ReplayError::from(npy())),
        Box::new(ReplayError::from(SelectError::Empty)),
        Box::new(ReplayError::from(LookError::ProbeForm { text: "x".into() })),
        Box::new(ReplayError::from(memory())),
        Box::new(ReplayError::Argument { slot: 1, source: ArgumentError::from(ViewError::TooLarge) }),
        Box::new(ReplayError::Argument { slot: 1, source: ArgumentError::NoValue }),
        Box::new(ReplayError::Damaged {
            slot: 1,
            source: PayloadError::Damaged {
                record: 3,
                path: path(),
                offset: 8,
                size: 4,
                expected: 1,
                found: 2,
            },
        }),
    ]
}

fn traces() -> Vec<Boxed> {
    let at = |place, source: Broken| Broken::At { place, source: Box::new(source) };
    let deep =
        at(FilePlace::Table("API_INSTR"), at(FilePlace::Address(64), Broken::from("no instruction text")));
    vec![
        Box::new(CheckError::Read { path: path(), source: io() }),
        Box::new(CheckError::Invalid { file: "trace.json".into(), source: deep }),
        Box::new(CheckError::Invalid { file: "trace.json".into(), source: json().into() }),
        Box::new(CheckError::Invalid {
            file: "trace.json".into(),
            source: at(FilePlace::Line(2), io().into()),
        }),
        Box::new(WriteError::Io { path: path(), source: io() }),
        Box::new(ParamsError::Read { path: path(), source: io() }),
        Box::new(ParamsError::Syntax { file: "t.json".into(), source: json() }),
        Box::new(BrowseError::Terminal(io())),
        Box::new(ServeError::Port { port: 80, source: io() }),
        Box::new(ServeError::Socket { path: path(), source: io() }),
        Box::new(ServeError::Start(io())),
    ]
}

fn workspaces() -> Vec<Boxed> {
    let export = || argus_workspace::ExportError::Read { path: path(), source: io() };
    let view = |source| WorkspaceError::View { name: "x".into(), slot: 1, source };
    let symbol = SymbolError::Missing { wanted: "add".into(), found: "mul".into() };
    vec![
        Box::new(view(LayoutError::Extent)),
        Box::new(view(LayoutError::from(ViewError::TooLarge))),
        Box::new(WorkspaceError::ReadSource { path: path(), source: io() }),
        Box::new(WorkspaceError::ReadTemplate { path: path(), source: io() }),
        Box::new(WorkspaceError::Record(json())),
        Box::new(WorkspaceError::from(memory())),
        Box::new(WorkspaceError::Write { path: path(), source: io() }),
        Box::new(export()),
        Box::new(argus_workspace::ExportError::Broken { path: path(), source: json() }),
        Box::new(CollectError::NotAWorkspace { path: path(), source: RecordError::Read(io()) }),
        Box::new(CollectError::NotAWorkspace { path: path(), source: RecordError::Json(json()) }),
        Box::new(CollectError::Start { step: "build", source: io() }),
        Box::new(CollectError::Library { path: path(), source: io() }),
        Box::new(CollectError::Symbol { path: path(), source: symbol }),
        Box::new(CollectError::from(export())),
    ]
}

#[test]
fn an_error_with_causes_says_each_of_them_once() {
    for error in [dumps(), runs(), tasks(), traces(), workspaces()].into_iter().flatten() {
        assert_said_once(&*error);
        let message = with_causes(&*error);
        let ends_in_fire = parts(&*error).last().unwrap() == DISK;
        assert_eq!(message.matches(DISK).count(), usize::from(ends_in_fire), "{message}");
    }
}

/// Errors of libraries that print their causes themselves must not have them printed again.
#[test]
fn broken_archives_say_what_is_wrong_with_them_once() {
    for (name, bytes) in [
        ("0x1_0.npz", &b"no archive"[..]),
        ("0x1_0.safetensors", &[4, 0, 0, 0, 0, 0, 0, 0, b'{', 0xff, 0xff, b'}']),
        ("0x1_0.safetensors", b"\x02\0\0\0\0\0\0\0{]"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(name), bytes).unwrap();
        let error = Folder::open(directory.path()).unwrap_err();
        assert!(matches!(error, GoldenError::Parse { .. }), "{error}");
        assert_said_once(&error);
        assert_eq!(parts(&error).len(), 2, "{}", with_causes(&error));
    }
}
