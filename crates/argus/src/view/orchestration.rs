//! The arguments of the orchestration itself, which `argus run --dump-args` captures.

use std::process::ExitCode;

use anyhow::anyhow;
use argus_dump::read::Dump;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::{output, schema, table};

pub fn show(dump: &Dump, json: bool) -> Result<ExitCode, Failure> {
    let arguments = dump.run().map_or(&[][..], |run| &run.orchestration_args);
    if arguments.is_empty() {
        let place = dump.directory().display();
        return Err(Failure::usage(anyhow!("{place} does not hold the arguments of the orchestration"))
            .hint("`argus run SCENE --dump-args` captures them".to_owned()));
    }
    if json {
        output::print_json(&json!({
            "schema": schema::ORCHESTRATION,
            "dump": dump.directory().display().to_string(),
            "arguments": arguments,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows = table::plain(&["ARG", "NAME", "KIND", "DTYPE", "SHAPE", "VALUE OR ADDRESS"]);
    for (index, argument) in arguments.iter().enumerate() {
        let text = |key: &str| match &argument[key] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let value = if argument["kind"] == "scalar" { text("value") } else { text("address") };
        rows.add_row([index.to_string(), text("name"), text("kind"), text("dtype"), text("shape"), value]);
    }
    output::print(&table::lines(&rows))?;
    Ok(ExitCode::SUCCESS)
}
