//! `argus list`: the scenes there are.

use std::process::ExitCode;
use std::sync::Arc;

use argus_abi::RuntimeKind;
use argus_scene::{Case, Registry, Scene};
use comfy_table::{ColumnConstraint, Table};
use serde_json::{Value, json};

use crate::cli::ListArgs;
use crate::failure::Failure;
use crate::run::no_scene;
use crate::{output, schema, table};

pub fn list(args: &ListArgs, registry: &Registry) -> Result<ExitCode, Failure> {
    let behind = match &args.path {
        Some(name) if registry.names().any(|known| known == name) => {
            Some(vec![registry.scene(name).map_err(|error| no_scene(registry, name, error))?])
        }
        Some(path) => Some(registry.behind(path).map_err(|error| no_scene(registry, path, error))?),
        None => None,
    };
    let scenes = behind.as_deref().unwrap_or_else(|| registry.scenes());
    if args.json {
        let scenes: Vec<Value> = scenes.iter().map(|scene| scene_object(scene)).collect();
        output::print_json(&json!({ "schema": schema::LIST, "scenes": scenes }))?;
    } else {
        output::print(&text(scenes))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Characters of a line that descriptions need to be readable beside the cases.
const ROOM: usize = 24;

fn text(scenes: &[Arc<Scene>]) -> String {
    let names = scenes.iter().map(|scene| scene.name.chars().count()).max().unwrap_or_default();
    let (mut cases, mut runtimes) = (0, 0);
    for case in scenes.iter().flat_map(|scene| &scene.cases) {
        cases = cases.max(with_aliases(case).chars().count());
        runtimes = runtimes.max(short_names(case).chars().count());
    }
    // Two spaces between columns.
    let needed = names + cases + runtimes + 6 + ROOM;
    match output::columns() {
        Some(columns) if columns < needed => scenes.iter().map(|scene| paragraph(scene, cases)).collect(),
        _ => table::lines(&scene_table(scenes)),
    }
}

/// A scene on a narrow terminal: its cases below its description.
fn paragraph(scene: &Scene, width: usize) -> String {
    let mut about = table::without_header();
    about.add_row([format!("{}: {}", scene.name, scene.about)]);
    let mut text = table::lines(&about);
    for case in &scene.cases {
        text += &format!("  {:width$}  {}\n", with_aliases(case), short_names(case));
    }
    text
}

/// One row per case; what belongs to the scene stands in the row of its first.
fn scene_table(scenes: &[Arc<Scene>]) -> Table {
    let mut table = table::plain(&["SCENE", "CASE (ALIASES)", "RUNTIMES", "ABOUT"]);
    for scene in scenes {
        for (number, case) in scene.cases.iter().enumerate() {
            let (name, about) = if number == 0 { (&scene.name[..], &scene.about[..]) } else { ("", "") };
            table.add_row([name, &with_aliases(case), &short_names(case), about]);
        }
    }
    // Names are there to be copied: on a narrow terminal only the last column wraps.
    for column in table.column_iter_mut().take(3) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    table
}

fn short_names(case: &Case) -> String {
    names(&case.runtimes, RuntimeKind::short).join(", ")
}

fn with_aliases(case: &Case) -> String {
    match &case.aliases[..] {
        [] => case.name.clone(),
        aliases => format!("{} ({})", case.name, aliases.join(", ")),
    }
}

fn names(runtimes: &[RuntimeKind], name: fn(RuntimeKind) -> &'static str) -> Vec<&'static str> {
    runtimes.iter().map(|&runtime| name(runtime)).collect()
}

fn scene_object(scene: &Scene) -> Value {
    let cases: Vec<Value> = scene
        .cases
        .iter()
        .map(|case| {
            json!({
                "name": case.name,
                "aliases": case.aliases,
                "runtimes": names(&case.runtimes, RuntimeKind::name),
                "block_dim": case.block_dim,
                "control_threads": case.control_threads,
            })
        })
        .collect();
    json!({ "name": scene.name, "about": scene.about, "cases": cases })
}
