//! What differs between the two chips when a kernel is built and recorded with the vendor's tools.

use std::str::FromStr;

use serde::Serialize;

use crate::error::WorkspaceError;

/// The chip that the workspace is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    A2a3,
    A5,
}

/// A macro that newer headers expect and older compilers lack.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Compatibility {
    pub name: &'static str,
    pub value: &'static str,
}

/// The vendor's names for one chip.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Architecture {
    pub name: &'static str,
    /// Folder of the toolkit's simulator libraries.
    pub simulator_dir: &'static str,
    /// What msprof calls the chip that this folder simulates.
    pub soc_version: &'static str,
    /// Compiler target for both kinds of core at once.
    pub compiler_arch: &'static str,
    /// Macros given to the device compiler.
    pub defines: &'static [&'static str],
    pub compatibility: &'static [Compatibility],
}

impl Platform {
    pub fn architecture(self) -> &'static Architecture {
        match self {
            Platform::A2a3 => &A2A3,
            Platform::A5 => &A5,
        }
    }
}

impl FromStr for Platform {
    type Err = WorkspaceError;

    /// Accepts the chip and its simulated twin.
    fn from_str(name: &str) -> Result<Platform, WorkspaceError> {
        match name {
            "a2a3" | "a2a3sim" => Ok(Platform::A2a3),
            "a5" | "a5sim" => Ok(Platform::A5),
            _ => Err(WorkspaceError::UnknownPlatform { name: name.to_owned() }),
        }
    }
}

static A2A3: Architecture = Architecture {
    name: "a2a3",
    simulator_dir: "dav_2201",
    soc_version: "Ascend910B1",
    compiler_arch: "dav-c220",
    defines: &["__CCE_AICORE__=220", "PTO_NPU_ARCH_A2A3", "MEMORY_BASE"],
    compatibility: &[],
};

static A5: Architecture = Architecture {
    name: "a5",
    simulator_dir: "dav_3510",
    soc_version: "Ascend950PR_9599",
    compiler_arch: "dav-c310",
    defines: &["__CCE_AICORE__=310", "PTO_NPU_ARCH_A5", "MEMORY_BASE"],
    compatibility: &[
        Compatibility { name: "EVENT_ID7", value: "static_cast<event_t>(7)" },
        Compatibility { name: "PIPE_FIX", value: "static_cast<pipe_t>(10)" },
    ],
};
