//! Addresses and source lines: each place in a kernel that leads to a machine instruction has one address.
//!
//! Sites are numbered by file, line and column, not by time, so the same kernel has the same addresses on
//! every core and in every run.

use argus_tile::InstrLog;
use rustc_hash::FxHashMap;

use crate::machine::{Mnemonic, Role, Track};
use crate::schedule::Program;

/// The address of the first site; each one is an instruction of four bytes.
const FIRST_ADDRESS: u64 = 0x10d1_0000;
pub(crate) const INSTRUCTION_BYTES: u64 = 4;
/// What MindStudio Insight does not take in a path.
const FORBIDDEN: &[char] = &['|', ';', '&', '$', '>', '<', '`', '!', '"', '\'', '\\', '%', ':'];
/// The longest path that MindStudio Insight takes as a parameter.
const MAX_PATH: usize = 500;

/// One address.
#[derive(Clone, Debug)]
pub struct Site {
    pub addr: u64,
    /// Index into [`crate::Timeline::files`].
    pub file: u32,
    pub line: u32,
    pub mnemonic: Mnemonic,
    pub track: Track,
    /// An instruction at this address, for what all of them share.
    pub(crate) example: (u32, u32),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    /// The address of the file's name stands for the file: equal names may exist twice, which is put right when
    /// sites are sorted.
    location: (usize, u32, u32),
    opcode: u8,
    mnemonic: Mnemonic,
    part: u16,
    track: Track,
    sync: u32,
}

/// Gives every instruction its site. The sites, and the files they lie in.
pub(crate) fn assign(logs: &[&InstrLog], programs: &mut [Program]) -> (Vec<Site>, Vec<String>) {
    let mut numbers: FxHashMap<Key, u32> = FxHashMap::default();
    let mut found = Vec::new();
    for (core, (log, program)) in logs.iter().zip(&mut *programs).enumerate() {
        for (index, instr) in program.instrs.iter_mut().enumerate() {
            let entry = &log.entries[instr.entry as usize];
            let key = Key {
                location: {
                    let at = &entry.location;
                    (at.file().as_ptr() as usize, at.line(), at.column())
                },
                opcode: entry.opcode as u8,
                mnemonic: instr.mnemonic,
                part: instr.part,
                track: instr.track,
                sync: sync_key(instr.role),
            };
            instr.site = *numbers.entry(key).or_insert_with(|| {
                found.push((entry.location, key, (core as u32, index as u32)));
                (found.len() - 1) as u32
            });
        }
    }
    let mut sorted: Vec<u32> = (0..found.len() as u32).collect();
    let place = |number: u32| {
        let (location, key, _) = &found[number as usize];
        let at = (location.file(), location.line(), location.column());
        (at, key.opcode, key.sync, key.part, key.mnemonic, key.track)
    };
    sorted.sort_by(|&a, &b| place(a).cmp(&place(b)));
    let mut files: Vec<String> = Vec::new();
    let mut file_numbers: FxHashMap<&str, u32> = FxHashMap::default();
    let mut sites: Vec<Site> = Vec::new();
    let mut renumbered = vec![0u32; found.len()];
    let mut previous = None;
    for &number in &sorted {
        if previous.is_none_or(|previous| place(previous) != place(number)) {
            let (location, key, example) = &found[number as usize];
            let file = *file_numbers.entry(location.file()).or_insert_with(|| {
                let path = readable_path(location.file());
                // Two spellings of one path are one file.
                files.iter().position(|file| *file == path).unwrap_or_else(|| {
                    files.push(path);
                    files.len() - 1
                }) as u32
            });
            sites.push(Site {
                addr: FIRST_ADDRESS + sites.len() as u64 * INSTRUCTION_BYTES,
                file,
                line: location.line(),
                mnemonic: key.mnemonic,
                track: key.track,
                example: *example,
            });
        }
        renumbered[number as usize] = (sites.len() - 1) as u32;
        previous = Some(number);
    }
    for instr in programs.iter_mut().flat_map(|program| &mut program.instrs) {
        instr.site = renumbered[instr.site as usize];
    }
    (sites, files)
}

fn sync_key(role: Role) -> u32 {
    match role {
        Role::Set(flag) | Role::Wait(flag) => {
            1 << 24 | (flag.src as u32) << 16 | (flag.dst as u32) << 8 | u32::from(flag.id)
        }
        Role::Signal(channel) | Role::Await(channel) => 2 << 24 | u32::from(channel),
        Role::Work | Role::Body | Role::Barrier => 0,
    }
}

/// A path in characters that every reader takes.
pub(crate) fn readable_path(file: &str) -> String {
    let text = file.replace('\\', "/");
    // Outside the repository: from the crate's own directory on.
    let text = match text.strip_prefix('/') {
        Some(inner) => {
            let crate_start =
                inner.find("/src/").map(|at| inner[..at].rfind('/').map_or(0, |slash| slash + 1));
            inner[crate_start.unwrap_or(0)..].to_owned()
        }
        None => text,
    };
    let clean: String =
        text.chars().map(|c| if c.is_control() || FORBIDDEN.contains(&c) { '_' } else { c }).collect();
    let skip = clean.chars().count().saturating_sub(MAX_PATH);
    clean.chars().skip(skip).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_and_readable() {
        assert_eq!(readable_path("crates/a/src/k.rs"), "crates/a/src/k.rs");
        assert_eq!(readable_path("/registry/index/foo-1.2/src/x/y.rs"), "foo-1.2/src/x/y.rs");
        assert_eq!(readable_path("/tmp/k.cpp"), "tmp/k.cpp");
        assert_eq!(readable_path("odd:'name'.rs"), "odd__name_.rs");
        assert_eq!(readable_path(&"x".repeat(600)).len(), 500);
    }
}
