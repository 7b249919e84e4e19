//! The reference's own files, where `ARGUS_SAMPLES` says that there are some.

use std::fs;
use std::path::{Path, PathBuf};

use argus_artefacts::Artefacts;
use argus_artefacts::counters::Counters;
use argus_artefacts::deps::Deps;
use argus_artefacts::names::Names;
use argus_artefacts::ranks::RankTree;
use argus_artefacts::scopes::ScopeStats;
use argus_artefacts::times::{Times, TimesForm};
use argus_facts::StallClass;

fn samples() -> Option<PathBuf> {
    let samples = PathBuf::from(std::env::var_os("ARGUS_SAMPLES")?).join("artefacts");
    samples.is_dir().then_some(samples)
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// What is written is what was read, byte for byte where the reference wrote today's form.
#[test]
fn files_of_the_reference_are_written_again_as_they_were() {
    let Some(samples) = samples() else { return };
    let mut paths = Vec::new();
    files(&samples, &mut paths);
    let mut seen = [0; 5];
    for path in &paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = fs::read(path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        let same = |ours: String| assert_eq!(ours.trim_end(), text.trim_end(), "{}", path.display());
        if name == "deps.json" {
            same(Deps::parse(&bytes).unwrap().text());
            seen[0] += 1;
        } else if name.starts_with("name_map") {
            // The reference has its kernels in the order of the scene.
            let names = Names::parse(&bytes).unwrap();
            assert_eq!(Names::parse(names.text().as_bytes()).unwrap(), names);
            assert_eq!(names.text().len(), text.trim_end().len(), "{}", path.display());
            seen[1] += 1;
        } else if name == "pmu.csv" {
            same(Counters::parse(&bytes).unwrap().text());
            seen[2] += 1;
        } else if name == "scope_stats.jsonl" {
            let stats = ScopeStats::parse(&bytes).unwrap();
            if stats.version.is_some() {
                same(stats.text());
            }
            seen[3] += 1;
        } else if name.ends_with("swimlane_records.json") {
            let times = Times::parse(&bytes).unwrap();
            if times.form != TimesForm::Objects {
                let again = Times::parse(times.text().as_bytes()).unwrap();
                assert_eq!(
                    Times { host: None, host_orchestrated: false, ..times },
                    again,
                    "{}",
                    path.display()
                );
            }
            seen[4] += 1;
        }
    }
    assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
}

#[test]
fn no_sample_has_a_problem_or_a_contradiction() {
    let Some(samples) = samples() else { return };
    let mut paths = Vec::new();
    files(&samples, &mut paths);
    let mut captures: Vec<&Path> = paths
        .iter()
        .filter(|path| path.ends_with("args.bin"))
        .map(|path| path.ancestors().nth(2).unwrap())
        .collect();
    captures.dedup();
    assert!(captures.len() >= 12);
    for capture in captures {
        let read = Artefacts::read(capture);
        assert!(read.problems.is_empty() && read.contradictions.is_empty(), "{read:#?}");
    }
}

#[test]
fn a_stalled_run_is_read_with_its_class() {
    let Some(samples) = samples() else { return };
    let read = Artefacts::read(&samples.join("august-a2a3sim-trb-hang"));
    let log = read.log.unwrap();
    let report = log.stall.unwrap();
    let stall = report.stall.unwrap();
    assert_eq!(stall.class, StallClass::RunningStalled);
    assert_eq!((stall.completed, stall.submitted), (3, 5));
    assert_eq!(stall.task.unwrap().to_string(), "0x0000000100000002");
    assert_eq!((stall.core, report.thread, report.idle_iterations), (Some(8), Some(0), Some(38556)));
    let failure = log.failure.unwrap();
    assert_eq!((failure.scheduler_code, failure.status), (100, -100));
    assert!(failure.detail.unwrap().starts_with("sched_error_code=100 SCHEDULER_TIMEOUT"));
}

#[test]
fn trees_of_ranks_are_found_with_their_programs() {
    let Some(samples) = samples() else { return };
    let labels = |name: &str| {
        let tree = RankTree::read(&samples.join(name)).unwrap();
        tree.captures
            .iter()
            .map(|capture| {
                (capture.label(), capture.program.clone(), capture.identity.clone().map(|id| id.group()))
            })
            .collect::<Vec<_>>()
    };
    let program = |name: &str| Some(name.to_owned());
    assert_eq!(
        labels("made-pypto-two_ranks"),
        [
            ("rank0/d0".to_owned(), program("attention"), None),
            ("rank1/d0".to_owned(), program("attention"), None),
            ("rank1/d1".to_owned(), program("gather"), None),
        ]
    );
    let group = Some((3, 0));
    let september = [("rank0/d0".to_owned(), None, group), ("rank1/d0".to_owned(), None, group)];
    assert_eq!(labels("made-september-two_ranks"), september);
    assert_eq!(RankTree::read(&samples.join("august-a2a3sim-trb-hang")), None);
}
