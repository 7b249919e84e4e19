//! Objects that were made before.
//!
//! Two steps lead to an object. The *request* is what is known before the compiler runs: compiler, arguments, source.
//! Under it lies the list of headers that the last compilation read, with their checksums. If all of them are
//! unchanged, and none has appeared at a place where the compiler would have found it first, the list names the object.
//! Otherwise the compiler runs, and the list is written anew. Objects are never changed; their names are checksums of
//! everything they were made from.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// Changes when the meaning of a file in the cache does.
const VERSION: u32 = 1;

const OBJECT: &str = "object.so";
const SAID: &str = "stderr";
const COMMAND: &str = "command";

pub(crate) struct Cache {
    root: PathBuf,
}

/// A header that a compilation read. Below the scene's directory it is known by its name there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    path: PathBuf,
    checksum: String,
}

/// What a compilation gave.
pub(crate) struct Made<'a> {
    pub object: &'a Path,
    pub headers: &'a [PathBuf],
    /// Where the compiler looked for them, in order.
    pub search_path: &'a [PathBuf],
    pub said: &'a str,
    pub command: &'a str,
}

#[derive(Serialize, Deserialize)]
struct List {
    version: u32,
    object: String,
    headers: Vec<Header>,
    /// Places where none of the headers was. One there would be read instead.
    absent: Vec<PathBuf>,
}

/// An object and what is known of its making.
#[derive(Debug)]
pub(crate) struct Entry {
    pub object: PathBuf,
    /// With their full paths.
    pub headers: Vec<PathBuf>,
    pub said: String,
    pub command: String,
}

impl Cache {
    pub fn open(root: PathBuf) -> io::Result<Cache> {
        for part in ["requests", "objects"] {
            fs::create_dir_all(root.join(part))?;
        }
        Ok(Cache { root })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The object for a request, if it still stands.
    pub fn find(&self, request: u128, root: Option<&Path>, seen: &Seen) -> Option<Entry> {
        let list: List = serde_json::from_slice(&fs::read(self.request(request)).ok()?).ok()?;
        let headers: Vec<PathBuf> = list.headers.iter().map(|header| full(root, &header.path)).collect();
        let unchanged = |(header, path): (&Header, &PathBuf)| {
            seen.checksum(path).is_some_and(|now| now == header.checksum)
        };
        let appeared = |path: &PathBuf| full(root, path).exists();
        if list.version != VERSION || list.absent.iter().any(appeared) {
            return None;
        }
        if !list.headers.iter().zip(&headers).all(unchanged) {
            return None;
        }
        self.entry(&list.object, headers)
    }

    fn entry(&self, name: &str, headers: Vec<PathBuf>) -> Option<Entry> {
        let directory = self.root.join("objects").join(name);
        let object = directory.join(OBJECT);
        let said = fs::read_to_string(directory.join(SAID)).ok()?;
        let command = fs::read_to_string(directory.join(COMMAND)).ok()?;
        object.is_file().then_some(Entry { object, headers, said, command })
    }

    /// Keeps an object that was just made, and returns its entry.
    pub fn keep(&self, request: u128, made: &Made<'_>, root: Option<&Path>) -> io::Result<Entry> {
        let known = |path: &PathBuf| Ok(Header { path: below(root, path).into(), checksum: checksum(path)? });
        let headers = made.headers.iter().map(known).collect::<io::Result<Vec<_>>>()?;
        let name = name(request, &headers);
        let objects = self.root.join("objects");
        let target = objects.join(&name);
        let stage = argus_files::Stage::inside(&objects)?;
        let entry = stage.path().join("entry");
        fs::create_dir(&entry)?;
        fs::copy(made.object, entry.join(OBJECT))?;
        fs::write(entry.join(SAID), made.said)?;
        fs::write(entry.join(COMMAND), made.command)?;
        match stage.publish("entry", &target) {
            Ok(()) => {}
            // Another process was first: its object was made from the same bytes.
            Err(_) if target.join(OBJECT).is_file() => {}
            Err(error) => return Err(error),
        }
        let absent = absent(made.headers, made.search_path);
        let absent = absent.iter().map(|path| below(root, path).into()).collect();
        let list = List { version: VERSION, object: name.clone(), headers, absent };
        argus_files::write(&self.request(request), &serde_json::to_vec(&list)?, false)?;
        self.entry(&name, made.headers.to_vec()).ok_or_else(|| io::Error::other("the object vanished"))
    }

    fn request(&self, request: u128) -> PathBuf {
        self.root.join("requests").join(format!("{request:032x}.json"))
    }
}

/// Where each header could have been found before it was. A directory of the search path may lie in another one, so a
/// header can have several names; each counts.
fn absent(headers: &[PathBuf], search_path: &[PathBuf]) -> Vec<PathBuf> {
    let mut absent = Vec::new();
    for header in headers {
        for (place, directory) in search_path.iter().enumerate() {
            if let Ok(name) = header.strip_prefix(directory) {
                let before = search_path[..place].iter().map(|directory| directory.join(name));
                absent.extend(before.filter(|path| !path.exists()));
            }
        }
    }
    absent.sort();
    absent.dedup();
    absent
}

/// Everything that an object was made from.
fn name(request: u128, headers: &[Header]) -> String {
    let mut hash = Xxh3::new();
    hash.update(&request.to_le_bytes());
    for header in headers {
        hash.update(header.path.as_os_str().as_encoded_bytes());
        hash.update(header.checksum.as_bytes());
    }
    format!("{:032x}", hash.digest128())
}

/// The name of a file below the scene's directory, or all of its path.
pub(crate) fn below<'a>(root: Option<&Path>, path: &'a Path) -> &'a Path {
    root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path)
}

/// The other way round.
fn full(root: Option<&Path>, name: &Path) -> PathBuf {
    root.map_or_else(|| name.into(), |root| root.join(name))
}

fn checksum(path: &Path) -> io::Result<String> {
    Ok(format!("{:032x}", xxh3_128(&fs::read(path)?)))
}

/// Files that were looked at while some units are looked for: units of one scene share most headers, and each is read
/// once. For objects that are there only: one that is made reads its headers itself, later.
#[derive(Default)]
pub(crate) struct Seen(Mutex<HashMap<PathBuf, String>>);

impl Seen {
    fn checksum(&self, path: &Path) -> Option<String> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(path) {
            return Some(known.clone());
        }
        let checksum = checksum(path).ok()?;
        lock().insert(path.to_owned(), checksum.clone());
        Some(checksum)
    }
}

/// What is known of an object before the compiler runs.
pub(crate) fn request(parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(&VERSION.to_le_bytes());
    for part in parts {
        let part = part.as_ref();
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.digest128()
}
