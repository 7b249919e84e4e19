//! What an export refuses, and what it leaves behind when it fails.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Mutex;

use argus_abi::DType;
use argus_export::{ExportError, Format, Options, Target, convert, export};

use crate::common::{all, everything, names, tensor, write};

type Tell<'a> = &'a (dyn Fn(u64, u64) + Sync);

fn quietly(_: u64, _: u64) {}

#[test]
fn nothing_is_overwritten_without_force() {
    let home = tempfile::tempdir().unwrap();
    let dump = everything(&home.path().join("tensor_dump"));
    for format in Format::ALL {
        let out = home.path().join(format.name());
        let options = Options::default();
        export(&dump, &all(&dump), format, &out, options, &quietly).unwrap();
        let made = names(&out);
        let victim = out.join(&made[made.len() / 2]);
        for name in &made {
            fs::remove_file(out.join(name)).unwrap();
        }
        fs::write(&victim, "precious").unwrap();
        let error = export(&dump, &all(&dump), format, &out, options, &quietly).unwrap_err();
        assert!(matches!(&error, ExportError::Exists { path } if *path == victim), "{error}");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        assert_eq!(names(&out).len(), 1, "{format:?} left something behind");
        let force = Options { force: true, ..options };
        let report = export(&dump, &all(&dump), format, &out, force, &quietly).unwrap();
        assert_eq!(names(&out), made);
        assert_eq!(report.files as usize, made.len());
        assert_ne!(fs::read(&victim).unwrap(), b"precious");
    }
}

#[test]
fn a_link_that_leads_nowhere_is_something_that_exists() {
    let home = tempfile::tempdir().unwrap();
    let dump = write(&home.path().join("tensor_dump"), &[tensor(1, 0, DType::U8, &[1], vec![1])]);
    let out = home.path().join("out");
    fs::create_dir(&out).unwrap();
    symlink(home.path().join("elsewhere"), out.join("records.csv")).unwrap();
    let error = export(&dump, &[0], Format::Csv, &out, Options::default(), &quietly).unwrap_err();
    assert!(error.to_string().ends_with("records.csv exists"));
    assert!(!home.path().join("elsewhere").exists());
}

#[test]
fn the_dump_itself_is_never_an_output() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("tensor_dump");
    let dump = everything(&directory);
    let before = names(&directory);
    let force = Options { force: true, payload: true };
    for format in Format::ALL {
        let detour = directory.join("..").join("tensor_dump");
        let error = export(&dump, &[0], format, &detour, force, &quietly).unwrap_err();
        assert!(matches!(error, ExportError::InsideDump { .. }), "{error}");
    }
    for target in [Target::Argus, Target::June] {
        let error = convert(&dump, target, home.path(), true, &quietly).unwrap_err();
        assert!(matches!(error, ExportError::InsideDump { .. }), "{error}");
    }
    assert_eq!(names(&directory), before);
    // Beside the dump's own files is another matter: that is where the reference puts its text files.
    export(&dump, &[0], Format::Txt, &directory.join("txt"), Options::default(), &quietly).unwrap();
}

#[test]
fn a_directory_that_cannot_be_written_is_named_and_stays_as_it_is() {
    let home = tempfile::tempdir().unwrap();
    let dump = everything(&home.path().join("tensor_dump"));
    let blocked = home.path().join("file");
    fs::write(&blocked, "not a directory").unwrap();
    for format in Format::ALL {
        let error =
            export(&dump, &[0], format, &blocked.join("deeper"), Options::default(), &quietly).unwrap_err();
        assert!(error.to_string().starts_with("cannot create "), "{error}");
        assert!(error.to_string().contains("file/deeper"), "{error}");
    }
    for target in Target::ALL {
        let error = convert(&dump, target, &blocked.join("deeper"), false, &quietly).unwrap_err();
        assert!(error.to_string().contains("file/deeper"), "{error}");
    }
    assert_eq!(fs::read_to_string(&blocked).unwrap(), "not a directory");
}

#[test]
fn a_failure_takes_away_what_it_made() {
    let home = tempfile::tempdir().unwrap();
    let dump = everything(&home.path().join("tensor_dump"));
    let out = home.path().join("a").join("b");
    // Another process takes the last name while the export is under way, in a directory that was there or was not.
    for (format, there) in Format::ALL.into_iter().flat_map(|format| [(format, false), (format, true)]) {
        if there {
            fs::create_dir_all(&out).unwrap();
        }
        let name = match format {
            Format::Txt => "task_0x0000000000000002_before_in0.txt",
            Format::Npy | Format::Npz => "index.json",
            Format::Safetensors => "tensors.safetensors",
            Format::Parquet => "records.parquet",
            Format::Csv => "records.csv",
        };
        let once = Mutex::new(true);
        let interfere = |done: u64, _| {
            if done > 0 && std::mem::take(&mut *once.lock().unwrap()) {
                fs::create_dir_all(&out).unwrap();
                fs::write(out.join(name), "mine").unwrap();
            }
        };
        let error = export(&dump, &all(&dump), format, &out, Options::default(), &interfere).unwrap_err();
        assert!(matches!(error, ExportError::Exists { .. }), "{error}");
        assert_eq!(names(&out), [name], "{format:?}");
        fs::remove_dir_all(home.path().join("a")).unwrap();
    }
    // A directory stands where a file should go, even with force: nothing of the call stays.
    fs::create_dir_all(out.join("index.json").join("x")).unwrap();
    let force = Options { force: true, payload: false };
    let error = export(&dump, &all(&dump), Format::Npy, &out, force, &quietly).unwrap_err();
    assert!(error.to_string().contains("index.json"), "{error}");
    assert_eq!(names(&out), ["index.json"]);
}

#[test]
fn a_record_that_is_not_there_is_an_error_before_anything_happens() {
    let home = tempfile::tempdir().unwrap();
    let dump = write(&home.path().join("tensor_dump"), &[tensor(1, 0, DType::U8, &[1], vec![1])]);
    let out = home.path().join("out");
    let error = export(&dump, &[0, 1], Format::Npy, &out, Options::default(), &quietly).unwrap_err();
    assert_eq!(error.to_string(), "there is no record 1; the dump has 1");
    assert!(!out.exists());
}

#[test]
fn progress_ends_at_its_total() {
    let home = tempfile::tempdir().unwrap();
    let dump = everything(&home.path().join("tensor_dump"));
    let total: u64 = dump.records().map(|record| record.bin_size.max(1)).sum();
    let check = |run: &dyn Fn(Tell<'_>)| {
        let seen = Mutex::new(Vec::new());
        run(&|done, of| seen.lock().unwrap().push((done, of)));
        let seen = seen.into_inner().unwrap();
        assert!(seen.iter().all(|&(done, of)| of == total && done <= of));
        assert_eq!(seen.iter().map(|&(done, _)| done).max(), Some(total));
    };
    for format in Format::ALL {
        let out = home.path().join(format.name());
        check(&|tell| drop(export(&dump, &all(&dump), format, &out, Options::default(), tell).unwrap()));
    }
    for target in Target::ALL {
        let out = home.path().join("to").join(target.name());
        check(&|tell| drop(convert(&dump, target, &out, false, tell).unwrap()));
    }
}
