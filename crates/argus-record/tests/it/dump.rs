//! A dump as others read it: through its JSON and through its journal, which must agree.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use argus_abi::capture::argument_flags;
use argus_abi::{DType, Kind, Role, Stage};
use argus_dump::journal::{ArgumentRecord, Entry, Tail, marks};
use argus_dump::{GRAPH_FILE, JOURNAL_FILE, Journal, MANIFEST_FILE, PAYLOAD_FILE, RUN_FILE};
use serde_json::Value;

/// Which record: of which task, when, and of which argument.
pub type Key = (u64, Stage, u16);

/// One record of the manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub task: u64,
    pub stage: Stage,
    pub arg: u16,
    pub role: Role,
    pub kind: Kind,
    pub dtype: DType,
    pub contiguous: bool,
    pub shape: Vec<u32>,
    pub strides: Vec<u32>,
    pub start_offset: u64,
    /// Raw bits of a scalar.
    pub bits: Option<u64>,
    /// `None`: the payload is not stored, on purpose.
    pub payload: Option<Vec<u8>>,
    pub partial: bool,
    pub funcs: Vec<i64>,
    pub blocks: u64,
    /// Everything, for what is not above.
    pub json: Value,
}

impl Record {
    pub fn key(&self) -> Key {
        (self.task, self.stage, self.arg)
    }
}

/// An edge of graph.json.
pub type Edge = (u64, u64, String);

/// A finished dump.
pub struct Dump {
    pub manifest: Value,
    pub graph: Value,
    pub run: Value,
    pub journal: Journal,
    pub records: Vec<Record>,
}

impl Dump {
    /// Reads a finished dump and holds its files against each other.
    pub fn read(directory: &Path) -> Dump {
        let json = |name: &str| -> Value {
            let text = fs::read(directory.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
            serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
        };
        let (manifest, graph, run) = (json(MANIFEST_FILE), json(GRAPH_FILE), json(RUN_FILE));
        let bin = fs::read(directory.join(PAYLOAD_FILE)).unwrap();
        let journal = Journal::open(&directory.join(JOURNAL_FILE)).unwrap();
        assert_eq!(journal.tail(), Tail::Ended, "the journal of a finished dump has its end");
        assert_eq!(manifest["stored_bytes"], bin.len(), "nothing but payloads is in the payload file");
        let mut records: Vec<Record> =
            manifest["tensors"].as_array().unwrap().iter().map(|item| record(item, &bin)).collect();
        let tasks = graph["tasks"].as_array().unwrap().iter();
        let blocks: BTreeMap<u64, u64> =
            tasks.filter_map(|task| Some((word(&task["task_id"]), task["blocks"].as_u64()?))).collect();
        for record in &mut records {
            record.blocks = blocks.get(&record.task).copied().unwrap_or(0);
        }
        let dump = Dump { manifest, graph, run, journal, records };
        dump.check_journal(&bin);
        dump.check_counts();
        dump
    }

    /// Record by key; a key that appears twice is an error.
    pub fn by_key(&self) -> BTreeMap<Key, &Record> {
        let mut found = BTreeMap::new();
        for record in &self.records {
            assert!(found.insert(record.key(), record).is_none(), "{:?} is recorded twice", record.key());
        }
        found
    }

    pub fn edges(&self) -> Vec<Edge> {
        let edges = self.graph["edges"].as_array().unwrap().iter();
        edges
            .map(|edge| (word(&edge["from"]), word(&edge["to"]), edge["reason"].as_str().unwrap().into()))
            .collect()
    }

    /// State of every task of graph.json.
    pub fn states(&self) -> BTreeMap<u64, String> {
        let tasks = self.graph["tasks"].as_array().unwrap().iter();
        let states: Vec<_> =
            tasks.map(|task| (word(&task["task_id"]), task["state"].as_str().unwrap().to_owned())).collect();
        let by_task: BTreeMap<_, _> = states.iter().cloned().collect();
        assert_eq!(by_task.len(), states.len(), "graph.json lists every task once");
        by_task
    }

    pub fn skipped(&self) -> &Vec<Value> {
        self.manifest["skipped"].as_array().unwrap()
    }

    /// The code that reads the journal must learn the same as the code that reads the manifest.
    fn check_journal(&self, bin: &[u8]) {
        let mut entries: Vec<ArgumentRecord> = self.journal.arguments().collect();
        entries.sort_by_key(|entry| {
            (entry.head.task_id, entry.head.stage, entry.head.arg_index, entry.head.role)
        });
        assert_eq!(entries.len(), self.records.len());
        for (entry, record) in entries.iter().zip(&self.records) {
            let ndims = entry.head.ndims();
            assert_eq!((entry.head.task_id, entry.head.arg_index), (record.task, record.arg));
            assert_eq!(Stage::from_raw(entry.head.stage), Some(record.stage));
            assert_eq!(Role::from_raw(entry.head.role), Some(record.role));
            assert_eq!(Kind::from_raw(entry.head.kind), Some(record.kind));
            assert_eq!(DType::from_raw(entry.head.dtype), Some(record.dtype));
            assert_eq!(entry.head.has(argument_flags::CONTIGUOUS), record.contiguous, "{record:?}");
            assert_eq!(entry.head.has(argument_flags::PARTIAL), record.partial, "{record:?}");
            assert_eq!(
                (&entry.head.shapes[..ndims], &entry.head.strides[..ndims]),
                (&record.shape[..], &record.strides[..])
            );
            assert_eq!(entry.head.start_offset, record.start_offset);
            assert_eq!(entry.head.time_ns, record.json["time_ns"]);
            match record.bits {
                Some(bits) => assert_eq!(entry.head.scalar_bits, bits),
                None => assert_eq!(entry.head.address, word(&record.json["address"])),
            }
            if let Some(payload) = &record.payload {
                let at = entry.head.bin_offset as usize;
                assert_eq!(&bin[at..at + entry.head.bin_size as usize], &payload[..], "{record:?}");
                assert_eq!(entry.head.bin_size, entry.head.payload_bytes);
                let checksum = u128::from_be_bytes(entry.head.checksum);
                assert!(entry.head.has(marks::CHECKSUM));
                assert_eq!(record.json["checksum"], format!("xxh3_128:{checksum:032x}"));
            }
        }
        let ends = self.journal.entries().filter_map(|entry| match entry {
            Entry::End(end) => Some(end),
            _ => None,
        });
        let ends: Vec<_> = ends.collect();
        assert_eq!(ends.len(), 1);
        assert_eq!(ends[0].records, self.records.len() as u64);
        assert_eq!(ends[0].tasks, self.graph["tasks"].as_array().unwrap().len() as u64);
        assert_eq!(ends[0].edges, self.graph["edges"].as_array().unwrap().len() as u64);
        assert_eq!(ends[0].skipped, self.skipped().len() as u64);
    }

    /// The sums in manifest and run.json are those of the records.
    fn check_counts(&self) {
        let keys: Vec<_> = self.records.iter().map(|record| (record.key(), record.role)).collect();
        assert!(keys.is_sorted(), "records are in the order of task, stage and argument");
        let count = |wanted: &dyn Fn(&Record) -> bool| {
            self.records.iter().filter(|record| wanted(record)).count() as u64
        };
        for (name, value) in [
            ("total_tensors", count(&|_| true)),
            ("total_scalars", count(&|record| record.kind == Kind::Scalar)),
            ("before_dispatch", count(&|record| record.stage == Stage::BeforeDispatch)),
            ("after_completion", count(&|record| record.stage == Stage::AfterCompletion)),
            ("input_tensors", count(&|record| record.role == Role::Input)),
            ("output_tensors", count(&|record| record.role == Role::Output)),
            ("inout_tensors", count(&|record| record.role == Role::Inout)),
            ("partial_records", count(&|record| record.partial)),
        ] {
            assert_eq!(self.manifest[name], value, "{name}");
        }
        assert_eq!(self.run["records"]["total"], self.manifest["total_tensors"]);
        assert_eq!(self.run["records"]["payload_bytes"], self.manifest["payload_bytes"]);
        assert_eq!(self.run["status"], self.manifest["status"]);
        assert_eq!(self.run["run_id"], self.manifest["run_id"]);
    }
}

/// A number that is written as `"0x…"`.
pub fn word(value: &Value) -> u64 {
    let text = value.as_str().unwrap_or_else(|| panic!("{value} is no string"));
    let digits = text.strip_prefix("0x").unwrap();
    assert_eq!(digits.len(), 16, "{text}");
    u64::from_str_radix(digits, 16).unwrap()
}

fn record(item: &Value, bin: &[u8]) -> Record {
    let text = |name: &str| item[name].as_str().unwrap_or_else(|| panic!("{name} of {item}"));
    let number = |name: &str| item[name].as_u64().unwrap_or_else(|| panic!("{name} of {item}"));
    let list = |name: &str| -> Vec<u32> {
        item[name].as_array().unwrap().iter().map(|value| value.as_u64().unwrap() as u32).collect()
    };
    let kind = Kind::from_name(text("kind")).unwrap();
    let stored = kind == Kind::Tensor && item.get("payload").is_none();
    let (offset, size) = (number("bin_offset") as usize, number("bin_size") as usize);
    let shape = list("shape");
    let numel: u64 = shape.iter().map(|&dim| u64::from(dim)).product();
    assert_eq!(number("numel"), numel, "{item}");
    let dtype = DType::from_name(text("dtype")).unwrap();
    if stored {
        assert_eq!(size as u64, dtype.packed_bytes(numel).unwrap(), "a payload is stored whole: {item}");
    } else {
        assert_eq!((offset, size), (0, 0), "{item}");
    }
    let funcs = item["func_id"].as_array().map(|ids| ids.iter().map(|id| id.as_i64().unwrap()).collect());
    Record {
        task: word(&item["task_id"]),
        stage: Stage::from_name(text("stage")).unwrap(),
        arg: number("arg_index") as u16,
        role: Role::from_name(text("role")).unwrap(),
        kind,
        dtype,
        contiguous: item["is_contiguous"].as_bool().unwrap(),
        shape,
        strides: list("strides"),
        start_offset: number("start_offset"),
        bits: (kind == Kind::Scalar).then(|| word(&item["value_bits"])),
        payload: stored.then(|| bin[offset..offset + size].to_vec()),
        partial: item["partial"] == true,
        funcs: funcs.unwrap_or_default(),
        // graph.json tells, see `Dump::read`.
        blocks: 0,
        json: item.clone(),
    }
}
