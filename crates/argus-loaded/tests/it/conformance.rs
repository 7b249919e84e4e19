//! Every case of `tests/conformance`: unmodified kernels, compiled against our headers, run on a core, compared bit by
//! bit with what was recorded.

mod input;
mod play;
mod suite;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use argus_abi::CoreType;
use argus_chip::{CHIPS, Chip};
use argus_compile::{Generation, Unit};
use suite::{Case, Program, Suite};

use crate::compile::{compile, unit_for};

/// What a case compiles to, one object for each program.
fn objects(suite: &Suite, case: &Case) -> Result<Vec<PathBuf>, String> {
    case.programs.iter().map(|program| object(suite, case, program)).collect()
}

fn object(suite: &Suite, case: &Case, program: &Program) -> Result<PathBuf, String> {
    let generation = if case.headers == "june" { Generation::June } else { Generation::August };
    let core = if program.core == "aic" { CoreType::Aic } else { CoreType::Aiv };
    let unit = unit_for(&suite.root.join(&program.source), core, generation, chip_of(case));
    compile(Unit {
        include_dirs: vec![suite.root.join("kernels")],
        defines: program.defines.iter().map(|(name, value)| format!("{name}={value}")).collect(),
        ..unit
    })
}

fn chip_of(case: &Case) -> &'static Chip {
    CHIPS.iter().find(|chip| chip.hardware == case.arch).unwrap()
}

/// Compiles and runs cases on all CPUs. The names of those that fail, with the reason.
fn failures(suite: &Suite, cases: &[&Case]) -> BTreeMap<String, String> {
    let failed = Mutex::new(BTreeMap::new());
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, |count| count.get());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Relaxed)) {
                    let result = objects(suite, case).and_then(|objects| play::play(suite, case, &objects));
                    if let Err(reason) = result {
                        failed.lock().unwrap().insert(case.id.clone(), reason);
                    }
                }
            });
        }
    });
    failed.into_inner().unwrap()
}

fn check(suite: &Suite, cases: &[&Case]) {
    let failed = failures(suite, cases);
    let texts: Vec<String> = failed.iter().map(|(id, reason)| format!("{id}: {reason}")).collect();
    assert!(failed.is_empty(), "{} of {} cases fail:\n{}", failed.len(), cases.len(), texts.join("\n"));
}

/// What a case covers: its instructions, and each of them with every define that names a form, a type or a mode.
fn features(case: &Case) -> BTreeSet<(String, String, String)> {
    let mut found = BTreeSet::new();
    for instruction in &case.instructions {
        found.insert((instruction.clone(), String::new(), String::new()));
    }
    for program in &case.programs {
        found.insert((program.source.clone(), "core".into(), program.core.clone()));
        for (name, value) in &program.defines {
            let names_a_form = value.chars().next().is_some_and(char::is_alphabetic)
                || [
                    "K_FORM", "K_WHAT", "K_KIND", "K_DIR", "K_OPN", "K_MOVE", "K_LEFT", "K_ALIAS", "K_ATOMIC",
                ]
                .contains(&name.as_str());
            if names_a_form {
                // How tiles are spelled is a matter of the source and not of the instruction.
                let of = if name.contains("SPELL") { &program.source } else { &case.instruction };
                found.insert((of.clone(), name.clone(), value.clone()));
            }
        }
    }
    found
}

/// Few cases that together cover every feature of the suite: always the one that brings most.
fn subset(suite: &Suite) -> Vec<&Case> {
    let mut all: Vec<(&Case, BTreeSet<_>)> = suite.cases.iter().map(|case| (case, features(case))).collect();
    let mut chosen = Vec::new();
    while let Some((case, brought)) = all.iter().max_by_key(|(_, brings)| brings.len()).cloned() {
        if brought.is_empty() {
            break;
        }
        chosen.push(case);
        for (_, brings) in &mut all {
            brings.retain(|feature| !brought.contains(feature));
        }
    }
    chosen
}

#[test]
fn kernels_give_the_recorded_bits_in_every_instruction_form_and_type() {
    let suite = Suite::open();
    check(&suite, &subset(&suite));
}

#[test]
fn every_case_of_the_suite_gives_the_recorded_bits() {
    if std::env::var_os("ARGUS_LONG").is_none() {
        return;
    }
    let suite = Suite::open();
    assert_eq!(suite.cases.len(), 654);
    check(&suite, &suite.cases.iter().collect::<Vec<_>>());
}
