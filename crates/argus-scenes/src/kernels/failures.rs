//! Kernels that fail on purpose.

use argus_abi::{ArgDirection, CoreType, DType, FuncId, KernelArgs};
use argus_runtime::{KernelEntry, SourceFile, source_file};
use argus_tile::{Core, GlobalShape, Kernel, Tile};
use std::sync::Arc;
use std::time::{Duration, Instant};

const SOURCES: &[SourceFile] = &[source_file!("failures.rs"), super::SHARED];

fn entry(func_id: FuncId, name: &'static str, kernel: impl Kernel + 'static) -> KernelEntry {
    const SIGNATURE: &[ArgDirection] = &[];
    let (core_type, kernel) = (CoreType::Aiv, Arc::new(kernel));
    KernelEntry {
        func_id,
        name: name.into(),
        core_type,
        signature: SIGNATURE.into(),
        sources: SOURCES.into(),
        kernel,
    }
}

/// Does nothing.
pub fn nothing(func_id: FuncId) -> KernelEntry {
    entry(func_id, "nothing", |_: &mut Core, _: &KernelArgs<'_>| Ok(()))
}

/// Takes a third of a second.
pub fn slow(func_id: FuncId) -> KernelEntry {
    entry(func_id, "slow", |core: &mut Core, _: &KernelArgs<'_>| {
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(333) {
            core.texpands(&Tile::vec(DType::F32, 8, 8).at(0), 0.0f32)?;
        }
        Ok(())
    })
}

/// Executes tile instructions for ever.
pub fn endless(func_id: FuncId) -> KernelEntry {
    entry(func_id, "endless", |core: &mut Core, _: &KernelArgs<'_>| {
        loop {
            core.texpands(&Tile::vec(DType::F32, 8, 8).at(0), 0.0f32)?;
        }
    })
}

/// Never ends and never executes a tile instruction, so that nothing can stop it.
pub fn endless_and_deaf(func_id: FuncId) -> KernelEntry {
    entry(func_id, "endless_and_deaf", |_: &mut Core, _: &KernelArgs<'_>| {
        loop {
            std::thread::sleep(Duration::from_millis(100));
        }
    })
}

/// Panics, as a kernel with a bug may.
pub fn crashing(func_id: FuncId) -> KernelEntry {
    entry(func_id, "crashing", |core: &mut Core, _: &KernelArgs<'_>| {
        core.texpands(&Tile::vec(DType::F32, 8, 8).at(0), 0.0f32)?;
        panic!("index 7 out of range for a table of 3");
    })
}

/// Reads behind the end of its first argument, a tensor or a raw address.
pub fn faulting(func_id: FuncId) -> KernelEntry {
    entry(func_id, "faulting", |core: &mut Core, args: &KernelArgs<'_>| {
        let shape = GlobalShape::nd(128, 128);
        let global = match args.tensor(0) {
            Ok(tensor) => core.global(tensor, shape)?,
            Err(_) => core.global_raw(args.scalar(0)?, DType::F32, shape)?,
        };
        core.tload(&Tile::vec(DType::F32, 128, 128).at(0), &global)
    })
}
