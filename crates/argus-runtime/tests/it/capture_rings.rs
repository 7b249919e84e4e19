//! Capture rings are not device memory: a kernel cannot reach them.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::yield_now;
use std::time::Duration;

use argus_abi::capture::{ArgumentEntry, EdgesEntry, SkipEntry, TaskEntry};
use argus_abi::{DType, Tensor};
use argus_chip::A2A3SIM;
use argus_facts::{Level, Selection, Sink};
use argus_gm::MemoryError;
use argus_runtime::{Arg, CaptureRequest, Collect, Device, RunConfig, RunError};
use argus_tile::FaultKind;

use crate::programs::{FILL, Kernels, arguments, config, fill, own, write};

/// Each piece of a large argument is progress: gathering one takes longer than the run may go without any.
#[test]
fn capturing_a_large_argument_is_not_a_stuck_run() {
    const SIDE: usize = 4096;
    let zeros = vec![0; SIDE * SIDE];
    let program = Kernels::standard().own(0, |_, _| Ok(())).trb(|trb, args| {
        let flat = *args.tensor(0)?;
        let transposed = flat
            .reshape(&[SIDE as u32, SIDE as u32])
            .and_then(|square| square.transpose(0, 1))
            .map_err(|error| argus_runtime::Fatal::invalid(error.to_string()))?;
        trb.submit_aiv(own(0), Arg::new().input(&transposed)).map(drop)
    });
    let selection = Arc::new(Selection { level: Some(Level::Full), ..Selection::default() });
    for collect in [Collect::default(), Collect::AfterSync { memory_per_ring: 128 << 20 }] {
        let request = CaptureRequest { selection: Arc::clone(&selection), stats_only: false, collect };
        let config = RunConfig { progress_timeout: Duration::from_millis(60), ..config() };
        let mut args = arguments(&[&zeros]);
        let sink = RingAddress::default();
        let run = Device::new(&A2A3SIM).run_captured(&program, &mut args, &config, &request, |_| Ok(sink));
        run.result.unwrap_or_else(|error| panic!("{collect:?}: {error}"));
    }
}

/// Tells where in the ring the first payload was, and takes everything else.
#[derive(Default)]
struct RingAddress(Arc<AtomicU64>);

impl Sink for RingAddress {
    type Error = Infallible;

    fn begin_argument(&mut self, _: &ArgumentEntry) -> Result<(), Infallible> {
        Ok(())
    }

    fn payload(&mut self, piece: &[u8]) -> Result<(), Infallible> {
        let addr = piece.as_ptr() as usize as u64;
        let _later = self.0.compare_exchange(0, addr, Ordering::Relaxed, Ordering::Relaxed);
        Ok(())
    }

    fn end_argument(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn task(&mut self, _: &TaskEntry) -> Result<(), Infallible> {
        Ok(())
    }

    fn edges(&mut self, _: &EdgesEntry) -> Result<(), Infallible> {
        Ok(())
    }

    fn skip(&mut self, _: &SkipEntry) -> Result<(), Infallible> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// On the platform whose rings are read in place the sink sees their addresses. A kernel that is told one of
/// them and stores there faults like with any address that is not the device's.
#[test]
fn a_kernel_that_stores_into_a_ring_faults() {
    let address = Arc::new(AtomicU64::new(0));
    let ring = Arc::clone(&address);
    let kernels = Kernels::standard().own(0, move |core, _| {
        let ring = loop {
            match ring.load(Ordering::Relaxed) {
                0 => yield_now(),
                addr => break addr,
            }
        };
        let tensor = Tensor::contiguous(ring, DType::I32, &[1]).expect("one element");
        write(core, &tensor, &[7])
    });
    let program = kernels.trb(|trb, args| {
        let word = *args.tensor(0)?;
        trb.submit_aiv(FILL, fill(&word, 1, 0))?;
        trb.submit_aiv(own(0), Arg::new().inout(&word))?;
        Ok(())
    });
    let request = CaptureRequest {
        selection: Arc::new(Selection { level: Some(Level::Full), ..Selection::default() }),
        stats_only: false,
        collect: Collect::default(),
    };
    let mut args = arguments(&[&[0]]);
    let sink = RingAddress(Arc::clone(&address));
    let run = Device::new(&A2A3SIM).run_captured(&program, &mut args, &config(), &request, |_| Ok(sink));
    let addr = address.load(Ordering::Relaxed);
    let Err(RunError::KernelFault { fault, .. }) = &run.result else { panic!("{:?}", run.result) };
    let FaultKind::Memory(refused) = &fault.kind else { panic!("{fault:?}") };
    assert!(matches!(refused, MemoryError::NoSuchAddress { addr: at, .. } if *at == addr), "{refused}");
    let captured = run.captured.unwrap();
    assert!(captured.account.failure.is_none(), "{:?}", captured.account);
}
