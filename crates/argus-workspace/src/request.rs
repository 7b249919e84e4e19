//! What the user asks for: a task, a chip, a backend and how to launch.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::error::WorkspaceError;
use crate::task::TaskSpec;
use argus_chip::Chip;

/// A workspace to be generated.
#[derive(Clone, Debug)]
pub struct Request {
    pub task: TaskSpec,
    pub chip: &'static Chip,
    pub backend: Backend,
    pub launch: Launch,
    /// Directory with the user's own templates.
    pub templates: Option<PathBuf>,
}

/// Who makes the host part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// The workspace itself; kernels are `kernel_entry(int64_t *args)`.
    Simpler,
    /// The test case generator of PTOAS; kernels are `__global__` functions.
    Ptoas,
}

impl Backend {
    pub const fn name(self) -> &'static str {
        match self {
            Backend::Simpler => "simpler",
            Backend::Ptoas => "ptoas",
        }
    }
}

impl FromStr for Backend {
    type Err = WorkspaceError;

    fn from_str(name: &str) -> Result<Backend, WorkspaceError> {
        let mut known = [Backend::Simpler, Backend::Ptoas].into_iter();
        known
            .find(|backend| backend.name() == name)
            .ok_or_else(|| WorkspaceError::UnknownBackend { name: name.to_owned() })
    }
}

/// How the program is recorded.
#[derive(Clone, Debug)]
pub struct Launch {
    pub device: u32,
    pub launch_count: u32,
    /// Given to msprof, which counts minutes. How long the whole collection may take is another limit, in
    /// seconds, of the collection.
    pub msprof_minutes: u32,
    /// Name of the simulated chip; `None` takes the vendor's name of the chip.
    pub soc_version: Option<String>,
    /// The runtime whose headers are on the include path.
    pub runtime: String,
    /// Compile with line tables, so that viewers map instructions to source lines.
    pub debug_lines: bool,
}

impl Default for Launch {
    fn default() -> Launch {
        Launch {
            device: 0,
            launch_count: 1,
            msprof_minutes: 120,
            soc_version: None,
            runtime: "tensormap_and_ringbuffer".to_owned(),
            debug_lines: false,
        }
    }
}

/// A value of [`Launch`] that can be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    MsprofMinutes,
    LaunchCount,
    Device,
    SocVersion,
    Runtime,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Setting::MsprofMinutes => "the time limit of msprof",
            Setting::LaunchCount => "the number of launches",
            Setting::Device => "the device",
            Setting::SocVersion => "the simulated chip",
            Setting::Runtime => "the runtime",
        })
    }
}

impl Request {
    /// The name that msprof gets.
    pub fn soc_version(&self) -> &str {
        self.launch.soc_version.as_deref().unwrap_or(self.chip.vendor.soc_version)
    }

    /// Refuses values that msprof refuses, or that would not be one word of a script.
    pub fn check(&self) -> Result<(), WorkspaceError> {
        let Launch { device, launch_count, msprof_minutes, runtime, .. } = &self.launch;
        let number = |setting, value: u32, allowed: std::ops::RangeInclusive<u32>, wanted| {
            if allowed.contains(&value) {
                return Ok(());
            }
            Err(WorkspaceError::Refused { setting, value: value.to_string(), wanted })
        };
        number(Setting::MsprofMinutes, *msprof_minutes, 1..=2880, "1 to 2880 minutes")?;
        number(Setting::LaunchCount, *launch_count, 1..=5000, "1 to 5000")?;
        number(Setting::Device, *device, 0..=i32::MAX as u32, "a device number")?;
        for (setting, value) in [(Setting::SocVersion, self.soc_version()), (Setting::Runtime, runtime)] {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            if value.is_empty() || !value.chars().all(plain) {
                let wanted = "a name of letters, digits, _ and -";
                return Err(WorkspaceError::Refused { setting, value: format!("`{value}`"), wanted });
            }
        }
        self.task.check()
    }
}
