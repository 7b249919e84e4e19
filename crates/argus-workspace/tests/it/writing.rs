//! How a workspace gets to the disk.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use argus_workspace::{Hint, WorkspaceError, generate};

use crate::cases;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_workspace_is_open_to_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("deep/er/w");
    generate(&cases::single(), &target, false).unwrap();
    let mode = |name: &str| fs::metadata(target.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode(""), mode("payload"), mode("kernel/aic")], [0o700; 3]);
    assert_eq!(
        [mode("run_collect.sh"), mode("replay_host.cpp"), mode("payload/buffer_00.bin")],
        [0o700, 0o600, 0o600]
    );
    // Nothing temporary stays behind.
    assert_eq!(names(&folder.path().join("deep/er")), ["w"]);
}

#[test]
fn what_exists_is_kept_without_force() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("w");
    generate(&cases::single(), &target, false).unwrap();
    fs::write(target.join("mine.txt"), "mine").unwrap();
    let error = generate(&cases::mix(), &target, false).unwrap_err();
    assert_eq!(error.to_string(), format!("{} exists and is not empty", target.display()));
    assert_eq!(error.hint(), Some(Hint::ReplaceWorkspace));
    assert_eq!(fs::read(target.join("mine.txt")).unwrap(), b"mine");
    assert_eq!(fs::read(target.join("payload/buffer_00.bin")).unwrap().len(), 80);
    assert_eq!(names(folder.path()), ["w"]);
}

#[test]
fn force_replaces_a_workspace_whole() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("w");
    generate(&cases::single(), &target, false).unwrap();
    generate(&cases::mix(), &target, true).unwrap();
    assert!(!target.join("payload").exists());
    assert!(fs::read_to_string(target.join("replay_kernel.cpp")).unwrap().contains("kernel/mix/produce.cpp"));
    assert_eq!(names(folder.path()), ["w"]);
}

#[test]
fn force_replaces_nothing_that_is_not_a_workspace() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("home");
    fs::create_dir(&target).unwrap();
    fs::write(target.join("thesis.txt"), "years").unwrap();
    let error = generate(&cases::single(), &target, true).unwrap_err();
    assert_eq!(error.to_string(), format!("{} is not a workspace, so it is not replaced", target.display()));
    assert_eq!(error.hint(), Some(Hint::RemoveByHand));
    assert_eq!(fs::read(target.join("thesis.txt")).unwrap(), b"years");
    let file = target.join("thesis.txt");
    assert!(matches!(generate(&cases::single(), &file, false), Err(WorkspaceError::Exists { .. })));
    assert!(matches!(generate(&cases::single(), &file, true), Err(WorkspaceError::NotAWorkspace { .. })));
}

#[test]
fn an_empty_directory_may_become_a_workspace() {
    let folder = tempfile::tempdir().unwrap();
    generate(&cases::single(), folder.path(), false).unwrap();
    assert!(folder.path().join("replay_host.cpp").is_file());
}

#[test]
fn nothing_is_written_when_a_target_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let error = generate(&cases::single(), &folder.path().join("file/w"), false).unwrap_err();
    assert!(error.to_string().starts_with("cannot write "), "{error}");
    assert_eq!(names(folder.path()), ["file"]);
}

#[test]
fn users_replace_single_templates() {
    let folder = tempfile::tempdir().unwrap();
    let templates = folder.path().join("templates");
    fs::create_dir(&templates).unwrap();
    fs::write(templates.join("replay_launch.cpp.jinja"), "// mine{% if mix %}, a mix{% endif %}.\n").unwrap();
    fs::write(templates.join("README.md"), "not a template").unwrap();
    let mut request = cases::mix();
    request.templates = Some(templates);
    let target = folder.path().join("w");
    generate(&request, &target, false).unwrap();
    assert_eq!(fs::read_to_string(target.join("replay_launch.cpp")).unwrap(), "// mine, a mix.\n");
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden/mix/replay_host.cpp");
    assert_eq!(fs::read(target.join("replay_host.cpp")).unwrap(), fs::read(golden).unwrap());
}
