//! The name of each record's file.

use std::sync::OnceLock;

use argus_abi::{Role, Stage, TaskId};
use argus_dump::read::{Dump, FormatVersion, Record};
use rustc_hash::FxHashMap;

use crate::digits::{put_hex, put_number};

/// What the reference takes for a unique key.
type Key = (TaskId, Option<u8>, Stage, Role, u32);

/// Names of all records of a dump. A name does not depend on which records are exported with it.
pub(crate) struct Names<'a> {
    dump: &'a Dump,
    /// Records that are not the first of their key, with their place among its records; found when the first
    /// name is asked for.
    repeated: OnceLock<FxHashMap<usize, u32>>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(dump: &'a Dump) -> Names<'a> {
        Names { dump, repeated: OnceLock::new() }
    }

    /// Only April tells members of a task apart.
    fn member(&self, record: &Record) -> Option<u8> {
        record.subtask.filter(|_| self.dump.format_version() == FormatVersion::April)
    }

    fn find_repeated(&self) -> FxHashMap<usize, u32> {
        let mut counts: FxHashMap<Key, u32> = FxHashMap::default();
        let mut repeated = FxHashMap::default();
        for record in self.dump.records() {
            let key = (record.task_id, self.member(&record), record.stage, record.role, record.arg_index);
            let count = counts.entry(key).or_insert(0);
            *count += 1;
            if *count > 1 {
                repeated.insert(record.index, *count);
            }
        }
        repeated
    }

    /// Without an extension.
    pub(crate) fn stem(&self, record: &Record) -> String {
        let mut stem = Vec::with_capacity(48);
        self.put_stem(&mut stem, record);
        String::from_utf8(stem).expect("it is made of ASCII")
    }

    /// Appends the stem.
    pub(crate) fn put_stem(&self, out: &mut Vec<u8>, record: &Record) {
        let stage = match record.stage {
            Stage::BeforeDispatch => "before",
            Stage::AfterCompletion => "after",
        };
        let role = match record.role {
            Role::Input => "in",
            Role::Output => "out",
            Role::Inout => "inout",
        };
        out.extend_from_slice(b"task_0x");
        put_hex(out, record.task_id.raw().into(), 16);
        if let Some(member) = self.member(record) {
            out.extend_from_slice(b"_s");
            put_number(out, member);
        }
        for word in [stage, role] {
            out.push(b'_');
            out.extend_from_slice(word.as_bytes());
        }
        put_number(out, record.arg_index);
        if let Some(&count) = self.repeated.get_or_init(|| self.find_repeated()).get(&record.index) {
            out.push(b'_');
            put_number(out, count);
        }
    }
}
