//! Which dispatch a capture is of: `dispatch_identity.json`, and pypto's `dispatch_program.json`.

use serde::Deserialize;

use crate::ArtefactError;
use crate::json;

/// Members of one group task share `run_id` and `task_slot`; nothing else pairs captures of several ranks for sure.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct DispatchIdentity {
    #[serde(default)]
    pub schema_version: u32,
    pub run_id: u64,
    pub task_slot: u64,
    pub group_index: u32,
    pub group_size: u32,
    pub host_pid: Option<u64>,
    pub chip_rank: u32,
    pub local_capture_index: u64,
    // What follows pairs nothing, and was not there from the beginning.
    pub endpoint_dispatch_id: Option<u64>,
    pub pipeline_slot: Option<u64>,
    pub pipeline_generation: Option<u64>,
    /// Sixty-four hexadecimal digits.
    pub callable_digest: Option<String>,
}

impl DispatchIdentity {
    pub fn parse(text: &[u8]) -> Result<DispatchIdentity, ArtefactError> {
        let identity: DispatchIdentity = json::parse(text)?;
        let wrong =
            |field, found: String, allowed| ArtefactError::value("the file", None, field, found, allowed);
        if identity.group_index >= identity.group_size {
            let found = format!("{} of {}", identity.group_index, identity.group_size);
            return Err(wrong("group_index", found, "less than group_size"));
        }
        let sound =
            |digest: &str| digest.len() == 64 && digest.bytes().all(|digit| digit.is_ascii_hexdigit());
        if let Some(digest) = identity.callable_digest.as_deref().filter(|digest| !sound(digest)) {
            return Err(wrong("callable_digest", json::quoted(digest), "64 hexadecimal digits"));
        }
        Ok(identity)
    }

    /// How it contradicts the names of its directories, `rank{N}/d{N}`.
    pub(crate) fn against(&self, rank: Option<u32>, dispatch: u32) -> Option<String> {
        if let Some(rank) = rank.filter(|&rank| rank != self.chip_rank) {
            return Some(format!("it is of rank {}, and its directory is rank {rank}'s", self.chip_rank));
        }
        let (ours, theirs) = (u64::from(dispatch), self.local_capture_index);
        (ours != theirs)
            .then(|| format!("it is of capture {theirs} of its chip, and its directory is d{ours}"))
    }

    /// What members of one group have in common.
    pub fn group(&self) -> (u64, u64) {
        (self.run_id, self.task_slot)
    }
}

#[derive(Deserialize)]
struct ProgramFile {
    program: String,
}

/// The program of a dispatch. Func ids count from 0 in each program.
pub fn parse_program(text: &[u8]) -> Result<String, ArtefactError> {
    let file: ProgramFile = json::parse(text)?;
    // It becomes part of a path.
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    if file.program.is_empty() || file.program.starts_with('.') || !file.program.chars().all(plain) {
        let found = json::quoted(&file.program);
        let allowed = "letters, digits, '.', '_' and '-'";
        return Err(ArtefactError::value("the file", None, "program", found, allowed));
    }
    Ok(file.program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_a_plain_name() {
        assert_eq!(parse_program(br#"{"program": "attention"}"#).unwrap(), "attention");
        for wrong in [&br#"{"program": "../x"}"#[..], br#"{"program": ""}"#, br#"{"program": 3}"#, b"", b"[]"]
        {
            assert!(parse_program(wrong).is_err(), "{wrong:?}");
        }
    }
}
