use argus_runtime::*;
use argus_scenes::registry::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
struct Timed(Arc<dyn argus_tile::Kernel>, Arc<AtomicU64>, Arc<AtomicU64>);
impl argus_tile::Kernel for Timed {
    fn run(&self, core: &mut argus_tile::Core, args: &argus_abi::KernelArgs<'_>) -> argus_tile::KernelResult {
        let t = Instant::now();
        let r = self.0.run(core, args);
        self.1.fetch_add(t.elapsed().as_nanos() as u64, Ordering::Relaxed);
        self.2.fetch_add(1, Ordering::Relaxed);
        r
    }
}
fn main() {
    let name = std::env::args().nth(1).unwrap_or("paged_attention".into());
    let casen = std::env::args().nth(2).unwrap_or("large".into());
    let threads: Option<usize> = std::env::args().nth(3).map(|t| t.parse().unwrap());
    for rt in [RuntimeKind::Trb, RuntimeKind::Abg] {
        let Ok((case, rt)) = scene(&name).unwrap().case(Some(&casen), Some(rt)) else { continue };
        for timed in [false, true] {
            let p = (case.prepare)(rt);
            let mut program = p.program.clone();
            let mut counters = vec![];
            if timed {
                program.kernels = KernelTable::new(p.program.kernels.iter().map(|e| {
                    let c = Arc::new(AtomicU64::new(0));
                    let n = Arc::new(AtomicU64::new(0));
                    counters.push((e.name, c.clone(), n.clone()));
                    KernelEntry { kernel: Arc::new(Timed(e.kernel.clone(), c, n)), ..e.clone() }
                }))
                .unwrap();
            }
            let config = RunConfig {
                block_dim: case.block_dim,
                control_threads: case.control_threads,
                host_threads: threads,
                ..Default::default()
            };
            let mut best = u128::MAX;
            let mut all = vec![];
            for _ in 0..7 {
                for (_, c, n) in &counters {
                    c.store(0, Ordering::Relaxed);
                    n.store(0, Ordering::Relaxed);
                }
                let mut dev = Device::new(&A2A3SIM);
                let mut args = p.args.clone();
                let t = Instant::now();
                let r = dev.run(&program, &mut args, &config).unwrap();
                all.push((r.elapsed.as_micros(), t.elapsed().as_micros()));
                best = best.min(r.elapsed.as_micros());
            }
            eprintln!("{name} {casen} {rt} timed={timed} best {best} us; (elapsed, total): {all:?}");
            for (n, c, k) in &counters {
                let (c, k) = (c.load(Ordering::Relaxed), k.load(Ordering::Relaxed));
                eprintln!("  {n}: {k} calls, {} ns each", c / k.max(1));
            }
        }
    }
}
