//! run.json: who ran what, with which settings, and how it ended.

use std::io;
use std::path::Path;

use argus_facts::{Ledger, RingLedger};
use serde_json::{Value, json};

use crate::info::{DumpInfo, DumpOptions, DumpSummary, OrchestrationArg, RunEnd};
use crate::text::put_number;
use argus_facts::number;

use crate::RUN_FILE;

/// Written when the run starts, without an end, and again when it is over.
pub(crate) fn write(
    directory: &Path,
    info: &DumpInfo,
    options: &DumpOptions,
    started: &str,
    end: Option<(&RunEnd, &DumpSummary)>,
) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(&describe(info, options, started, end))?;
    text.push(b'\n');
    argus_files::write(&directory.join(RUN_FILE), &text, options.sync && end.is_some())
}

fn describe(
    info: &DumpInfo,
    options: &DumpOptions,
    started: &str,
    end: Option<(&RunEnd, &DumpSummary)>,
) -> Value {
    let mut versions = info.versions.clone();
    versions.insert("argus-dump".to_owned(), env!("CARGO_PKG_VERSION").into());
    let mut run = json!({
        "schema": "argus-run-1",
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
    if let Some((end, summary)) = end {
        run["status"] = end.status.name().into();
        run["error"] = json!(end.error);
        run["ended"] = jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string().into();
        run["ledger"] = ledger(&end.ledger);
        if !end.injections.is_empty() {
            run["injections"] = json!(end.injections);
        }
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
