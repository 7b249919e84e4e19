//! Every file of three workspaces, byte for byte. To accept new texts, run with `ARGUS_BLESS=1` and read the
//! difference.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use argus_workspace::{Request, generate};

use crate::cases;

#[test]
fn a_single_core_kernel_gives_exactly_these_files() {
    same_as_golden("single", &cases::single());
}

#[test]
fn a_mix_gives_exactly_these_files() {
    same_as_golden("mix", &cases::mix());
}

#[test]
fn a_ptoas_kernel_gives_exactly_these_files() {
    same_as_golden("ptoas", &cases::ptoas());
}

#[test]
fn no_file_holds_a_path_of_this_machine() {
    let home = env!("CARGO_MANIFEST_DIR");
    for request in [cases::single(), cases::mix(), cases::ptoas()] {
        let folder = tempfile::tempdir().unwrap();
        generate(&request, &folder.path().join("w"), false).unwrap();
        for (path, bytes) in files(&folder.path().join("w")) {
            let text = String::from_utf8_lossy(&bytes);
            assert!(
                !text.contains(home) && !text.contains(&*folder.path().to_string_lossy()),
                "{}",
                path.display()
            );
        }
    }
}

fn same_as_golden(name: &str, request: &Request) {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden").join(name);
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join("workspace");
    generate(request, &workspace, false).unwrap();
    let made = files(&workspace);
    if std::env::var_os("ARGUS_BLESS").is_some() {
        let _ = fs::remove_dir_all(&golden);
        for (path, bytes) in &made {
            fs::create_dir_all(golden.join(path).parent().unwrap()).unwrap();
            fs::write(golden.join(path), bytes).unwrap();
        }
    }
    let wanted = files(&golden);
    assert_eq!(made.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>());
    for (path, bytes) in &wanted {
        let (made, wanted) = (String::from_utf8_lossy(&made[path]), String::from_utf8_lossy(bytes));
        assert_eq!(made, wanted, "{}", path.display());
    }
    assert_eq!(made, wanted);
}

fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}
