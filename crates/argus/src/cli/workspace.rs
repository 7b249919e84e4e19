//! Arguments of `argus replay --workspace`. All of them need that one; what only a replay does excludes it.

use std::path::PathBuf;

use clap::Args;

use super::chips;

/// Where to write the task as a C++ project, and how that is built and recorded.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Workspace")]
pub struct WorkspaceArgs {
    /// Write the task as a C++ project for the vendor's toolkit, instead of replaying it
    #[arg(
        long,
        value_name = "DIR",
        requires = "kernel_source",
        conflicts_with_all = ["times", "watch", "probe", "break_on", "capsule"]
    )]
    pub workspace: Option<PathBuf>,

    /// C++ source of the kernel; repeat for a mix, in the order aic, aiv0, aiv1
    #[arg(long, value_name = "FILE", requires = "workspace")]
    pub kernel_source: Vec<PathBuf>,

    /// What provides the host part: simpler, for kernel_entry(int64_t *args), or ptoas, for a __global__ function
    #[arg(long, value_name = "NAME", default_value = "simpler", requires = "workspace")]
    pub backend: String,

    /// Replace an existing workspace or capsule
    #[arg(long, requires = "written")]
    pub force: bool,

    /// Device that the program uses
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true,
        requires = "workspace"
    )]
    pub device: u32,

    /// Launches that msprof records
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        allow_negative_numbers = true,
        requires = "workspace"
    )]
    pub launch_count: u32,

    /// Minutes after which msprof gives up
    #[arg(
        long,
        value_name = "MINUTES",
        default_value_t = 120,
        allow_negative_numbers = true,
        requires = "workspace"
    )]
    pub msprof_timeout: u32,

    #[arg(long, value_name = "NAME", requires = "workspace", help = chips::soc_version())]
    pub soc_version: Option<String>,

    /// Build the project, record it with msprof and check the export; --timeout limits all of it [default: 1800]
    #[arg(long, requires = "workspace")]
    pub collect: bool,

    /// The kernel's exported name, if several match
    #[arg(long, value_name = "NAME", requires = "collect")]
    pub kernel_symbol: Option<String>,
}
