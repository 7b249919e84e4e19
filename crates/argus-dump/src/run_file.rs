//! run.json: who ran what, with which settings, and how it ended.

use std::io;
use std::path::Path;

use argus_facts::{Ledger, RingLedger};
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_128;

use crate::atomic::Published;
use crate::info::{DumpInfo, DumpOptions, DumpSummary, OrchestrationArg, RunEnd};
use crate::text::put_number;
use argus_facts::number;

use crate::RUN_FILE;

/// The key that ends the file: xxh3_128 of all bytes before the comma in front of it.
pub(crate) const CHECKSUM_KEY: &str = ",\n  \"checksum\": \"xxh3_128:";
/// Files of this schema have a checksum.
pub(crate) const SCHEMA: &str = "argus-run-2";
/// Files of this schema have none.
pub(crate) const OLD_SCHEMA: &str = "argus-run-1";

/// How a run ended, as far as there is something to say.
pub(crate) struct Ended<'a> {
    pub(crate) end: &'a RunEnd,
    /// Missing from a dump that could not be finished: its journal has to be counted.
    pub(crate) finished: Option<(&'a DumpSummary, &'a [Published])>,
}

/// Written when the run starts, without an end, and again when it is over.
pub(crate) fn write(
    directory: &Path,
    info: &DumpInfo,
    options: &DumpOptions,
    started: &str,
    end: Option<&Ended<'_>>,
) -> io::Result<()> {
    let mut text = serde_json::to_string_pretty(&describe(info, options, started, end))?;
    let open = text.trim_end_matches('}').trim_end().len();
    text.truncate(open);
    let checksum = xxh3_128(text.as_bytes());
    text.push_str(&format!("{CHECKSUM_KEY}{checksum:032x}\"\n}}\n"));
    argus_files::write(&directory.join(RUN_FILE), text.as_bytes(), options.sync && end.is_some())
}

/// Whether a file's checksum is that of its content; `None` if it has none.
pub(crate) fn is_intact(text: &[u8]) -> Option<bool> {
    let text = std::str::from_utf8(text).ok()?;
    let (content, rest) = text.rsplit_once(CHECKSUM_KEY)?;
    Some(rest == format!("{:032x}\"\n}}\n", xxh3_128(content.as_bytes())))
}

fn describe(info: &DumpInfo, options: &DumpOptions, started: &str, end: Option<&Ended<'_>>) -> Value {
    let mut versions = info.versions.clone();
    versions.insert("argus-dump".to_owned(), env!("CARGO_PKG_VERSION").into());
    let mut run = json!({
        "schema": SCHEMA,
        "run_id": format!("{:032x}", info.run_id),
        "scene": info.scene,
        "case": info.case,
        "platform": info.platform,
        "runtime": info.runtime,
        "level": info.level,
        "started": started,
        "status": "running",
        "configuration": info.config,
        "versions": versions,
        "dump": {
            "dedupe": options.dedupe,
            "statistics": options.stats.name(),
            "sync": options.sync,
        },
        "orchestration_args": info.orchestration_args.iter().map(argument).collect::<Vec<_>>(),
    });
    if let Some(Ended { end, finished }) = end {
        run["status"] = end.status.name().into();
        run["error"] = json!(end.error);
        run["ended"] = jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string().into();
        run["ledger"] = ledger(&end.ledger);
        if !end.injections.is_empty() {
            run["injections"] = json!(end.injections);
        }
        let Some((summary, files)) = finished else { return run };
        run["files"] = files.iter().map(|file| (file.name.clone(), digest(file))).collect();
        run["records"] = json!({
            "total": summary.records,
            "tensors": summary.tensors,
            "scalars": summary.scalars,
            "partial": summary.partial,
            "skipped": summary.skipped,
            "shared": summary.shared,
            "payload_bytes": summary.payload_bytes,
            "stored_bytes": summary.stored_bytes,
        });
    }
    run
}

fn digest(file: &Published) -> Value {
    json!({ "bytes": file.bytes, "xxh3_128": format!("{:032x}", file.checksum) })
}

fn ledger(ledger: &Ledger) -> Value {
    let total = ledger.total();
    let ring = |ring: &RingLedger| {
        json!({
            "entries": ring.entries,
            "arguments": ring.arguments,
            "payload_bytes": ring.payload_bytes,
            "lost_entries": ring.lost_entries,
            "lost_bytes": ring.lost_bytes,
            "waits": ring.waits,
            "wait_ns": ring.wait_ns,
        })
    };
    json!({
        "lost_entries": total.lost_entries,
        "lost_bytes": total.lost_bytes,
        "rings": ledger.rings.iter().map(ring).collect::<Vec<_>>(),
    })
}

/// One argument of the orchestration function.
pub(crate) fn argument(argument: &OrchestrationArg) -> Value {
    let mut value = json!({
        "name": argument.name,
        "kind": argument.kind.name(),
        "dtype": argument.dtype.name(),
        "shape": argument.shape,
    });
    match argument.kind {
        argus_abi::Kind::Tensor => value["address"] = format!("0x{:016x}", argument.address).into(),
        argus_abi::Kind::Scalar => {
            let mut text = Vec::new();
            put_number(&mut text, number::number(argument.dtype, argument.bits));
            value["value"] = serde_json::from_slice(&text).unwrap_or(Value::Null);
            value["value_bits"] = format!("0x{:016x}", argument.bits).into();
        }
    }
    value
}
