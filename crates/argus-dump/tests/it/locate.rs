//! What a user may type, and what the answer is when it is no dump.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use argus_dump::read::{Dump, Holds, OpenError};
use argus_dump::{DumpOptions, RunDirectory, RunEnd};
use argus_facts::with_causes;

use crate::common::{deliver, info, tensor};
use crate::foreign::data;

fn small(directory: &Path, task: u64) {
    let mut writer = argus_dump::DumpWriter::create(directory, DumpOptions::default(), info()).unwrap();
    deliver(&mut writer, &tensor(task, 0, 1), b"x", 1).unwrap();
    writer.finish(RunEnd::default()).unwrap();
}

fn message(path: &Path) -> String {
    match Dump::open(path) {
        Ok(dump) => panic!("{} opened with {} records", path.display(), dump.len()),
        Err(error) => with_causes(&error),
    }
}

#[test]
fn directory_parent_and_every_file_mean_the_dump() {
    let outputs = tempfile::tempdir().unwrap();
    let run = RunDirectory::create(outputs.path(), "S", "c").unwrap();
    let dump = run.dump().unwrap();
    small(&dump, 5);
    let files = ["tensor_dump.json", "tensor_dump.journal", "tensor_dump.bin", "graph.json", "run.json"];
    for path in [run.path().to_path_buf(), dump.clone()].into_iter().chain(files.map(|file| dump.join(file)))
    {
        let opened = Dump::open(&path).unwrap();
        assert_eq!((opened.record(0).task_id.raw(), opened.directory()), (5, &*dump), "{}", path.display());
    }
    let text = message(outputs.path());
    assert!(
        text.contains("holds no dump: neither tensor_dump.journal, tensor_dump.json, args_dump.json nor")
    );
    assert!(text.ends_with(&format!("the newest dump below it is {}", dump.display())), "{text}");
    for (path, records) in [("april/tensor_dump_20260415_093000", 6), ("june", 5), ("august", 16)] {
        assert_eq!(Dump::open(&data(path)).unwrap().len(), records);
    }
}

#[test]
fn rounds_are_listed() {
    let outputs = tempfile::tempdir().unwrap();
    let run = RunDirectory::create(outputs.path(), "S", "c").unwrap();
    for round in 1..=12 {
        small(&run.round(round).unwrap(), round.into());
    }
    let text = message(run.path());
    assert!(text.contains("holds 12 rounds; name one of them: "), "{text}");
    assert!(text.contains("round_0001/tensor_dump, ") && text.ends_with("round_0010/tensor_dump and 2 more"));
    assert_eq!(Dump::open(&run.path().join("round_0003")).unwrap().record(0).task_id.raw(), 3);
}

#[test]
fn the_newest_is_the_one_written_last() {
    let outputs = tempfile::tempdir().unwrap();
    let none = with_causes(&Dump::newest(outputs.path(), Holds::Records).unwrap_err());
    assert!(none.contains("none of the directories in it has one"), "{none}");
    for (name, task) in [("a", 1), ("b", 2), ("c", 3)] {
        let run = RunDirectory::at(&outputs.path().join(name)).unwrap();
        small(&run.dump().unwrap(), task);
    }
    fs::create_dir(outputs.path().join("d")).unwrap();
    // Nothing is as new as the future.
    let late = std::time::SystemTime::now() + std::time::Duration::from_secs(1000);
    let file = outputs.path().join("b/tensor_dump/tensor_dump.json");
    fs::File::options().write(true).open(file).unwrap().set_modified(late).unwrap();
    assert_eq!(Dump::newest(outputs.path(), Holds::Records).unwrap(), outputs.path().join("b/tensor_dump"));
}

#[test]
fn what_is_no_dump_is_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    assert!(message(&path("nothing")).contains("No such file"));
    fs::write(path("notes.txt"), "hello").unwrap();
    assert!(
        message(&path("notes.txt"))
            .ends_with("it is neither a journal nor a manifest, and there is none beside it")
    );
    fs::write(path("other.json"), "{}").unwrap();
    let text = message(&path("other.json"));
    assert!(text.contains("neither \"args\" nor \"tensors\" is in it, so this is not a manifest"), "{text}");
    symlink(path("loop"), path("loop")).unwrap();
    assert!(message(&path("loop")).contains("symbolic links"));
    fs::create_dir(path("tensor_dump")).unwrap();
    symlink("tensor_dump.json", path("tensor_dump/tensor_dump.json")).unwrap();
    assert!(message(directory.path()).contains("symbolic links"));
    fs::remove_file(path("tensor_dump/tensor_dump.json")).unwrap();
    fs::create_dir(path("tensor_dump/tensor_dump.json")).unwrap();
    assert!(message(directory.path()).contains("it is not a regular file"));
    fs::remove_dir(path("tensor_dump/tensor_dump.json")).unwrap();
    fs::write(path("tensor_dump/tensor_dump.journal"), "short").unwrap();
    assert!(message(directory.path()).contains("5 bytes are too few for a journal's header"));
    fs::write(path("tensor_dump/tensor_dump.journal"), "not a journal at all").unwrap();
    assert!(message(directory.path()).contains("the first bytes are not ARGUSJNL"));
}

#[test]
fn two_dumps_in_one_directory_are_not_guessed_between() {
    let directory = tempfile::tempdir().unwrap();
    small(&RunDirectory::at(directory.path()).unwrap().dump().unwrap(), 1);
    fs::create_dir(directory.path().join("args_dump")).unwrap();
    fs::copy(data("august/args_dump/args_dump.json"), directory.path().join("args_dump/args_dump.json"))
        .unwrap();
    assert!(
        matches!(Dump::open(directory.path()), Err(OpenError::Several { dumps, .. }) if dumps.len() == 2)
    );
}

#[test]
fn a_file_that_may_not_be_read_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("args_dump.json");
    fs::copy(data("august/args_dump/args_dump.json"), &path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&path).is_ok() {
        // Root reads everything.
        return;
    }
    let text = message(&path);
    assert!(text.contains("args_dump.json") && text.contains("Permission denied"), "{text}");
}
