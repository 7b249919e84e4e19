//! The code that a task runs: kernels, and how they take their arguments.

use argus_abi::args::KernelAbi;
use argus_abi::{CoreType, Member};
use argus_dump::read::Dump;
use argus_facts::kernel_info::is_called;
use argus_runtime::{KernelTable, Program};

use crate::choose::SelectError;
use crate::task::MemberKernel;

/// The kernels of a program, and how they take their arguments.
#[derive(Clone, Debug)]
pub struct Code {
    pub kernels: KernelTable,
    pub abi: KernelAbi,
}

impl Code {
    pub fn from_program(program: &Program) -> Code {
        Code { kernels: program.kernels.clone(), abi: program.orchestration.kernel_abi() }
    }

    /// No kernel at all, for a task whose code is not known: its arguments can still be read. How it takes them
    /// is what the dump says, else `otherwise`.
    pub fn unknown(dump: &Dump, otherwise: KernelAbi) -> Code {
        let recorded = dump.own_graph().and_then(|graph| graph.kernels.first());
        Code { kernels: KernelTable::default(), abi: recorded.map_or(otherwise, |kernel| kernel.abi) }
    }

    pub(crate) fn is_unknown(&self) -> bool {
        self.kernels.iter().next().is_none()
    }

    /// A kernel at the place where it would run alone.
    pub fn kernel(&self, name: &str) -> Result<MemberKernel, SelectError> {
        let entry = self
            .kernels
            .iter()
            .find(|entry| is_called(&entry.name, name))
            .ok_or_else(|| SelectError::NoKernel { name: name.into(), known: self.known() })?;
        let member = match entry.core_type {
            CoreType::Aic => Member::Aic,
            CoreType::Aiv => Member::Aiv0,
        };
        Ok(MemberKernel { member, func_id: entry.func_id, name: entry.name.to_string() })
    }

    /// The kernels there are, for messages.
    pub fn known(&self) -> String {
        let named = self.kernels.iter().map(|entry| format!("{} ({})", entry.name, entry.func_id));
        named.collect::<Vec<_>>().join(", ")
    }
}
