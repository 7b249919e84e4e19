//! A dump put together from its files, whatever is wrong with some of them.
//!
//! A journal counts before a manifest, unless it has no end and the manifest of its run has as many records or more.
//! Files beside them may be missing; those that cannot be read are noted.

use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::Arc;

use argus_facts::with_causes;

use super::{Dump, Ending, FormatVersion, Losses, Payloads, Records, Supplied};
use crate::journal::{Journal, Tail};
use crate::map::Bytes;
use crate::read::checked::Checksums;
use crate::read::error::{Lack, OpenError};
use crate::read::from_journal::Table;
use crate::read::from_manifest::Listed;
use crate::read::graph_file;
use crate::read::locate::DumpFiles;
use crate::read::run_facts::RunFacts;
use crate::{GRAPH_FILE, JOURNAL_FILE, PAYLOAD_FILE, RUN_FILE};

/// How the files of a dump are come by.
type Fetch<'a> = &'a dyn Fn(&str) -> io::Result<Bytes>;

impl Dump {
    pub(super) fn assemble(place: &DumpFiles, fetch: Fetch<'_>) -> Result<Dump, OpenError> {
        let mut damage = Vec::new();
        let run = beside(place, RUN_FILE, fetch, &mut damage, |text| RunFacts::parse(text));
        let mut dump = match (&place.journal, &place.manifest) {
            (Some(journal), None) => Dump::from_journal(place, journal, fetch)?,
            (None, Some(manifest)) => Dump::from_manifest(place, manifest, fetch)?,
            (Some(journal), Some(manifest)) => match Dump::from_journal(place, journal, fetch) {
                Ok(dump) if dump.is_ended() => dump,
                read => {
                    let listed = Dump::from_manifest(place, manifest, fetch);
                    better(read, listed, manifest, &mut damage)?
                }
            },
            (None, None) => {
                return Err(OpenError::NotADump { path: place.directory.clone(), lack: Lack::Records });
            }
        };
        dump.has_run_file = run.is_some();
        dump.run = run.or(dump.run);
        dump.damage.append(&mut damage);
        dump.refine_ending();
        dump.take_notes();
        Ok(dump)
    }

    /// A dump without records, for a directory that has other files of a run and no dump.
    pub fn of_nothing(directory: &Path) -> Dump {
        Dump {
            directory: directory.to_path_buf(),
            version: FormatVersion::August,
            payloads: Payloads::None,
            checksums: Checksums::default(),
            ending: Ending::Unknown,
            losses: Losses::default(),
            run: None,
            has_run_file: false,
            records: Records::Manifest { listed: Arc::new(Listed::empty()), graph: None },
            notes: Vec::new(),
            damage: Vec::new(),
            supplied: Supplied::default(),
            manifest: None,
        }
    }

    fn from_journal(place: &DumpFiles, name: &str, fetch: Fetch<'_>) -> Result<Dump, OpenError> {
        let path = place.directory.join(name);
        let bytes = fetch(name).map_err(|source| OpenError::io(&path, source))?;
        let journal =
            Journal::check(bytes).map_err(|source| OpenError::Journal { path: path.clone(), source })?;
        let (table, told) = Table::new(&path, journal)?;
        Ok(Dump {
            directory: place.directory.clone(),
            version: FormatVersion::Argus,
            records: Records::Journal(Box::new(table)),
            // Only now: an entry never names bytes that were not there before it.
            payloads: Payloads::open(&place.directory, PAYLOAD_FILE, fetch),
            checksums: Checksums::default(),
            ending: told.ending,
            losses: told.losses,
            run: None,
            has_run_file: false,
            notes: Vec::new(),
            damage: Vec::new(),
            supplied: Supplied::default(),
            manifest: None,
        })
    }

    /// A dump of the reference whose manifest is that of another, byte for byte.
    pub(super) fn with_list_of(like: &Dump, place: &DumpFiles, fetch: Fetch<'_>) -> Option<Dump> {
        let (Records::Manifest { listed, graph: None }, Some(known)) = (&like.records, &like.manifest) else {
            return None;
        };
        let name = place.manifest.as_ref().filter(|_| place.journal.is_none())?;
        if listed.version == FormatVersion::Argus || place.directory.join(GRAPH_FILE).exists() {
            return None;
        }
        let (ours, theirs) = (Bytes::open_dense(known).ok()?, fetch(name).ok()?);
        if ours[..] != theirs[..] {
            return None;
        }
        let mut dump = Dump {
            directory: place.directory.clone(),
            version: listed.version,
            payloads: payloads(place, name, listed, fetch),
            checksums: Checksums::default(),
            ending: listed.ending(),
            losses: listed.losses(),
            run: None,
            has_run_file: false,
            records: Records::Manifest { listed: Arc::clone(listed), graph: None },
            notes: Vec::new(),
            damage: Vec::new(),
            supplied: Supplied::default(),
            manifest: Some(place.directory.join(name)),
        };
        dump.take_notes();
        Some(dump)
    }

    fn from_manifest(place: &DumpFiles, name: &str, fetch: Fetch<'_>) -> Result<Dump, OpenError> {
        let path = place.directory.join(name);
        let text = fetch(name).map_err(|source| OpenError::io(&path, source))?;
        let mut listed = Listed::parse(&path, &text)?;
        let mut damage = listed.self_doubt();
        let graph = beside(place, GRAPH_FILE, fetch, &mut damage, graph_file::parse).map(Box::new);
        let payloads = payloads(place, name, &listed, fetch);
        Ok(Dump {
            directory: place.directory.clone(),
            version: listed.version,
            payloads,
            checksums: Checksums::default(),
            ending: listed.ending(),
            losses: listed.losses(),
            run: (listed.version == FormatVersion::Argus).then(|| std::mem::take(&mut listed.head.run)),
            has_run_file: false,
            records: Records::Manifest { listed: Arc::new(listed), graph },
            notes: Vec::new(),
            damage,
            supplied: Supplied::default(),
            manifest: Some(path),
        })
    }

    /// Whether the records come from a journal that has its end.
    fn is_ended(&self) -> bool {
        match &self.records {
            Records::Journal(table) => table.journal().tail() == Tail::Ended,
            Records::Manifest { .. } => false,
        }
    }

    /// run.json knows the whole error, and that of a run whose journal could not be ended.
    fn refine_ending(&mut self) {
        let error = self.run.as_ref().filter(|run| run.status == "failed").and_then(|run| run.error.clone());
        match (&mut self.ending, error) {
            (Ending::Failed { error }, Some(whole)) if whole.starts_with(error.as_str()) => *error = whole,
            (ending @ Ending::Unfinished { .. }, Some(error)) => *ending = Ending::Failed { error },
            _ => {}
        }
    }

    fn take_notes(&mut self) {
        let mut notes = self.damage.clone();
        match &self.ending {
            Ending::Failed { error } => notes.push(format!("the run failed: {error}")),
            Ending::Unfinished { why } => notes.push(why.clone()),
            Ending::Complete | Ending::Unknown => {}
        }
        let mut count = |count: u64, one: &str, many: &str| match count {
            0 => {}
            1 => notes.push(format!("1 {one}")),
            _ => notes.push(format!("{count} {many}")),
        };
        let losses = &self.losses;
        count(
            losses.dropped_records,
            "record was dropped during the run",
            "records were dropped during the run",
        );
        count(
            losses.overwritten,
            "payload was lost before it was collected",
            "payloads were lost before they were collected",
        );
        count(losses.truncated, "payload is truncated", "payloads are truncated");
        count(
            losses.skipped.len() as u64,
            "argument or task was skipped",
            "arguments and tasks were skipped",
        );
        if let Payloads::Missing { path, error } = &self.payloads {
            notes.push(format!("{} cannot be read, so there are no payloads: {error}", path.display()));
        }
        if let Records::Manifest { listed, .. } = &self.records
            && listed.head.level == Some(3)
        {
            let without = listed.without_payload();
            notes.push(format!("captured at level 3: {without} tensors have no payload, as was asked for"));
        }
        self.notes = notes;
    }
}

/// Of a journal without an end and the manifest beside it, the one that has more; `damage` learns which, and why.
///
/// A manifest is written when the run is over, so it has all records of its run. A journal that lacks some was cut
/// or damaged later, or the run was killed just before it could end the journal.
fn better(
    journal: Result<Dump, OpenError>,
    manifest: Result<Dump, OpenError>,
    name: &str,
    damage: &mut Vec<String>,
) -> Result<Dump, OpenError> {
    let (journal, manifest) = match (journal, manifest) {
        (Ok(journal), Ok(manifest)) => (journal, manifest),
        (Ok(journal), Err(error)) => {
            damage.push(format!("{}; read from {JOURNAL_FILE}", with_causes(&error)));
            return Ok(journal);
        }
        (Err(error), Ok(manifest)) => {
            damage.push(format!("{}; read from {name} instead", with_causes(&error)));
            return Ok(manifest);
        }
        (Err(error), Err(_)) => return Err(error),
    };
    let why = match &journal.ending {
        Ending::Unfinished { why } => why.as_str(),
        _ => "",
    };
    let same_run = manifest.run.as_ref().is_some_and(|run| match &journal.records {
        Records::Journal(table) => run.run_id == format!("{:032x}", table.journal().run_id()),
        Records::Manifest { .. } => false,
    });
    if !same_run {
        damage.push(format!("{name} is about another run; read from {JOURNAL_FILE}"));
        Ok(journal)
    } else if manifest.len() < journal.len() {
        let (few, many) = (manifest.len(), journal.len());
        damage.push(format!("{name} has {few} records, {JOURNAL_FILE} {many}; read from {JOURNAL_FILE}"));
        Ok(journal)
    } else {
        damage.push(format!("{why}; read from {name} instead"));
        Ok(manifest)
    }
}

/// A file that a dump may do without.
fn beside<T, E: Error>(
    place: &DumpFiles,
    name: &str,
    fetch: Fetch<'_>,
    damage: &mut Vec<String>,
    parse: impl Fn(&Bytes) -> Result<T, E>,
) -> Option<T> {
    let why = match fetch(name) {
        Ok(text) => match parse(&text) {
            Ok(parsed) => return Some(parsed),
            Err(error) => with_causes(&error),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => with_causes(&error),
    };
    damage.push(format!("{} cannot be read: {why}", place.directory.join(name).display()));
    None
}

/// The payload file that a manifest means.
fn payloads(place: &DumpFiles, name: &str, listed: &Listed, fetch: Fetch<'_>) -> Payloads {
    match &listed.head.bin_file {
        Some(Some(file)) => Payloads::open(&place.directory, file, fetch),
        Some(None) => Payloads::None,
        None if listed.version == FormatVersion::August => {
            Payloads::open(&place.directory, "args.bin", fetch)
        }
        None => {
            let stem = name.strip_suffix(".json").unwrap_or(name);
            Payloads::open(&place.directory, &format!("{stem}.bin"), fetch)
        }
    }
}

impl Payloads {
    fn open(directory: &Path, name: &str, fetch: Fetch<'_>) -> Payloads {
        let path = directory.join(name);
        match fetch(name) {
            Ok(bytes) => Payloads::Here { path, bytes },
            Err(error) => Payloads::Missing { path, error: Arc::new(error) },
        }
    }
}
