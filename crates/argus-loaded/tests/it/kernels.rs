//! Kernels written the way existing ones are, each in a file of `tests/kernels`. The first lines of a file say what it is
//! compiled for and what it must leave behind:
//!
//! ```text
//! // core: aiv aic          each of these core types
//! // chip: a5               this chip only; otherwise both
//! // generation: august     this generation only; otherwise June and August
//! // runtime: hbg           the headers of this runtime; otherwise trb
//! // expect: 1 2 3          words at the address in slot 0, after it ran; without this line it is only compiled
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use argus_abi::{CoreType, Member, RuntimeKind};
use argus_chip::{CHIPS, Chip};
use argus_compile::{Generation, Unit};

use crate::compile::{compile, unit_for};
use crate::rig::Rig;

/// What the head of a file says under this word.
fn said<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    text.lines()
        .map_while(|line| line.strip_prefix("// "))
        .find_map(|line| line.strip_prefix(word)?.strip_prefix(": "))
}

/// Every way in which a file is compiled.
fn units(path: &Path, text: &str) -> Vec<Unit> {
    let runtime = said(text, "runtime").map_or(RuntimeKind::Trb, |name| RuntimeKind::by_name(name).unwrap());
    let generations = match said(text, "generation") {
        Some(name) => vec![Generation::by_name(name).unwrap()],
        None => vec![Generation::August, Generation::June],
    };
    let wanted = |chip: &&&'static Chip| said(text, "chip").is_none_or(|name| chip.hardware == name);
    let chips: Vec<&'static Chip> = CHIPS.iter().filter(wanted).copied().collect();
    let cores = said(text, "core").expect("each file names its cores").split(' ').map(|name| match name {
        "aic" => CoreType::Aic,
        "aiv" => CoreType::Aiv,
        other => panic!("no core is called {other}"),
    });
    let mut units = Vec::new();
    for core in cores {
        for (number, chip) in chips.iter().enumerate() {
            // Not every combination: each core, each chip and each generation occurs.
            let generation = generations[number % generations.len()];
            units.push(Unit { runtime, ..unit_for(path, core, generation, chip) });
        }
    }
    units
}

fn check(path: &Path) {
    let text = fs::read_to_string(path).unwrap();
    let expected: Option<Vec<i32>> =
        said(&text, "expect").map(|words| words.split(' ').map(|word| word.parse().unwrap()).collect());
    for unit in units(path, &text) {
        let what =
            format!("{} {:?} {} {}", path.display(), unit.role, unit.chip.hardware, unit.generation.name());
        let core_type = match unit.role {
            argus_compile::Role::Kernel(core_type) => core_type,
            argus_compile::Role::Orchestration => unreachable!("these are kernels"),
        };
        let chip = unit.chip;
        let object = compile(unit).unwrap_or_else(|said| panic!("{what}: {said}"));
        let Some(expected) = &expected else { continue };
        let member = if core_type == CoreType::Aic { Member::Aic } else { Member::Aiv0 };
        let mut rig = Rig::on(chip, member);
        let (out, room) = (rig.buffer(4096), rig.buffer(1 << 16));
        rig.run(&object, &[out, room, u64::from(5f32.to_bits())])
            .unwrap_or_else(|fault| panic!("{what}: {fault}"));
        assert_eq!(&rig.words(out, expected.len()), expected, "{what}");
    }
}

#[test]
fn kernels_in_every_style_compile_and_compute() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    let mut files: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "cpp"));
    files.sort();
    assert!(files.len() >= 8, "{files:?}");
    std::thread::scope(|scope| {
        for files in files.chunks(files.len().div_ceil(2)) {
            scope.spawn(move || files.iter().for_each(|file| check(file)));
        }
    });
}
