//! The kernels of a program, by func_id.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use argus_abi::{ArgDirection, CoreType, FuncId};
use argus_tile::Kernel;
use thiserror::Error;

use crate::error::Fatal;

/// A file that a kernel was compiled from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// As the compiler calls it in the locations of instructions.
    pub path: Cow<'static, str>,
    pub text: Cow<'static, str>,
}

/// The [`SourceFile`] of the file that this is written in, whose name without directories it is given.
#[macro_export]
macro_rules! source_file {
    ($name:literal) => {
        $crate::SourceFile {
            path: ::std::borrow::Cow::Borrowed(file!()),
            text: ::std::borrow::Cow::Borrowed(include_str!($name)),
        }
    };
}

/// A registered kernel and what people need to know about it.
#[derive(Clone)]
pub struct KernelEntry {
    pub func_id: FuncId,
    pub name: Arc<str>,
    pub core_type: CoreType,
    pub signature: Arc<[ArgDirection]>,
    /// The files the kernel was compiled from, for views that show source lines.
    pub sources: Arc<[SourceFile]>,
    pub kernel: Arc<dyn Kernel>,
}

impl KernelEntry {
    /// A kernel whose sources are not known.
    pub fn new(
        func_id: FuncId,
        name: &str,
        core_type: CoreType,
        signature: &[ArgDirection],
        kernel: impl Kernel + 'static,
    ) -> KernelEntry {
        KernelEntry {
            func_id,
            name: name.into(),
            core_type,
            signature: signature.into(),
            sources: Arc::new([]),
            kernel: Arc::new(kernel),
        }
    }

    pub fn with_sources(self, sources: &[SourceFile]) -> KernelEntry {
        KernelEntry { sources: sources.into(), ..self }
    }
}

impl fmt::Debug for KernelEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", self.name, self.func_id, self.core_type)
    }
}

/// Why a kernel cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum KernelTableError {
    #[error("func_id {0} is registered twice")]
    Duplicate(FuncId),
    #[error("func_id {0} is not below {limit}", limit = FuncId::LIMIT)]
    OutOfRange(FuncId),
}

/// Kernels by func_id.
#[derive(Clone, Debug, Default)]
pub struct KernelTable {
    entries: BTreeMap<FuncId, KernelEntry>,
}

impl KernelTable {
    pub fn new(entries: impl IntoIterator<Item = KernelEntry>) -> Result<KernelTable, KernelTableError> {
        let mut table = KernelTable::default();
        for entry in entries {
            let func_id = entry.func_id;
            if func_id.0 >= FuncId::LIMIT {
                return Err(KernelTableError::OutOfRange(func_id));
            }
            if table.entries.insert(func_id, entry).is_some() {
                return Err(KernelTableError::Duplicate(func_id));
            }
        }
        Ok(table)
    }

    pub fn get(&self, func_id: FuncId) -> Option<&KernelEntry> {
        self.entries.get(&func_id)
    }

    /// The kernel, or why a task cannot have it.
    pub fn named(&self, func_id: FuncId) -> Result<&KernelEntry, Fatal> {
        self.get(func_id).ok_or_else(|| {
            let known: Vec<String> =
                self.iter().map(|entry| format!("{} ({})", entry.func_id, entry.name)).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            Fatal::invalid(format!("no kernel is registered as func_id {func_id}; registered: {known}"))
        })
    }

    pub fn iter(&self) -> impl Iterator<Item = &KernelEntry> {
        self.entries.values()
    }
}
