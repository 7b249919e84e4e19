use argus_dump::{DumpError, DumpOptions, RunDirectory, RunEnd};

use crate::common::start;

#[test]
fn two_runs_in_one_second_do_not_collide() {
    let outputs = tempfile::tempdir().unwrap();
    let made: Vec<_> =
        (0..8).map(|_| RunDirectory::create(outputs.path(), "My Scene", "case/1").unwrap()).collect();
    for (index, directory) in made.iter().enumerate() {
        let name = directory.path().file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with("My_Scene_case_1_20"), "{name}");
        assert!(made[..index].iter().all(|other| other.path() != directory.path()));
    }
}

#[test]
fn rounds_have_directories_of_their_own() {
    let outputs = tempfile::tempdir().unwrap();
    let run = RunDirectory::create(outputs.path(), "S", "c").unwrap();
    assert_eq!(run.round(1).unwrap(), run.path().join("round_0001/tensor_dump"));
    assert_eq!(run.round(12).unwrap(), run.path().join("round_0012/tensor_dump"));
    assert_eq!(run.dump().unwrap(), run.path().join("tensor_dump"));
}

#[test]
fn a_directory_that_holds_a_dump_is_refused() {
    let given = tempfile::tempdir().unwrap();
    let run = RunDirectory::at(given.path()).unwrap();
    let dump = run.dump().unwrap();
    start(&dump, DumpOptions::default()).finish(RunEnd::default()).unwrap();
    let before = std::fs::read(dump.join("tensor_dump.json")).unwrap();

    let error = RunDirectory::at(given.path()).unwrap_err();
    assert!(matches!(&error, DumpError::Occupied { path } if *path == dump), "{error}");
    assert!(error.to_string().ends_with(" holds a dump"));
    assert!(matches!(RunDirectory::at(&dump).unwrap_err(), DumpError::Occupied { .. }));
    assert!(matches!(run.dump().unwrap_err(), DumpError::Occupied { .. }));
    let again = argus_dump::DumpWriter::create(&dump, DumpOptions::default(), crate::common::info());
    assert!(matches!(again.err().unwrap(), DumpError::Occupied { .. }));
    assert_eq!(std::fs::read(dump.join("tensor_dump.json")).unwrap(), before);
}
