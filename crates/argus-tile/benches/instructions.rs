//! Instructions against plain loops over contiguous slices, compiled for the same targets.

// A benchmark that cannot run has nothing better to do than to panic.
#![allow(clippy::unwrap_used)]

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use argus_abi::{CoreType, DType, Tensor};
use argus_chip::A2A3SIM;
use argus_gm::{Fill, GlobalMemory};
use argus_tile::{ClusterPipes, Core, CoreConfig, CoreStatus, GlobalShape, RoundMode, Saturation, Tile};
use criterion::{Criterion, criterion_group, criterion_main};
use multiversion::multiversion;

const SIDE: usize = 128;
const AREA: usize = SIDE * SIDE;

fn core(core_type: CoreType) -> (Core, Arc<GlobalMemory>) {
    let memory = Arc::new(GlobalMemory::new());
    let status = Arc::new(CoreStatus::new(Arc::new(AtomicBool::new(false))));
    let config = CoreConfig { sizes: A2A3SIM.core_sizes, core_type, fill: Fill::Zero };
    (Core::new(config, memory.clone(), Arc::new(ClusterPipes::new()), status), memory)
}

fn square(addr: u32) -> Tile {
    Tile::vec(DType::F32, SIDE as u32, SIDE as u32).at(addr)
}

#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn plain_add(dst: &mut [f32], a: &[f32], b: &[f32]) {
    for ((d, a), b) in dst.iter_mut().zip(a).zip(b) {
        *d = a + b;
    }
}

#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn plain_matmul(dst: &mut [f32], a: &[f32], b: &[f32], m: usize, k: usize, n: usize) {
    dst.fill(0.0);
    for i in 0..m {
        let dst = &mut dst[i * n..][..n];
        for step in 0..k {
            let left = a[i * k + step];
            for (d, b) in dst.iter_mut().zip(&b[step * n..][..n]) {
                *d = left.mul_add(*b, *d);
            }
        }
    }
}

#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn plain_rows(dst: &mut [f32], a: &[f32], maximum: bool) {
    for (d, row) in dst.iter_mut().zip(a.chunks_exact(SIDE)) {
        *d = match maximum {
            true => row.iter().fold(row[0], |best, &x| if best < x { x } else { best }),
            false => row.iter().fold(0.0, |sum, &x| sum + x),
        };
    }
}

fn plain_exp(dst: &mut [f32], a: &[f32]) {
    for (d, &a) in dst.iter_mut().zip(a) {
        *d = libm::exp(f64::from(a)) as f32;
    }
}

#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn plain_bf16(dst: &mut [u16], a: &[f32]) {
    for (d, a) in dst.iter_mut().zip(a) {
        let bits = a.to_bits();
        let rounded = bits.wrapping_add(0x7FFF + ((bits >> 16) & 1)) >> 16;
        *d = if a.is_nan() { (bits >> 16) | 0x40 } else { rounded } as u16;
    }
}

fn vector(c: &mut Criterion) {
    let (mut core, memory) = core(CoreType::Aiv);
    let (mut d, a, b) = (vec![0f32; AREA], vec![1.5f32; AREA], vec![2.5f32; AREA]);
    let (x, y, z) = (square(0), square(0x10000), square(0x20000));
    core.texpands(&x, 1.5f32).unwrap();
    core.texpands(&y, 2.5f32).unwrap();

    let mut group = c.benchmark_group("tadd_f32_128x128");
    group.bench_function("instruction", |bench| bench.iter(|| core.tadd(&z, &x, &y)));
    group.bench_function("in_place", |bench| bench.iter(|| core.tadd(&x, &x, &y)));
    group.bench_function("plain", |bench| {
        bench.iter(|| plain_add(black_box(&mut d), black_box(&a), black_box(&b)))
    });
    group.finish();

    core.texpands(&x, 1.5f32).unwrap();
    let column = Tile::vec(DType::F32, SIDE as u32, 1).dn().at(0x20000);
    let tmp = Tile::vec(DType::F32, 8, 8).at(0x28000);
    let mut sums = vec![0f32; SIDE];
    for (name, maximum) in [("trowmax_f32_128x128", true), ("trowsum_f32_128x128", false)] {
        let mut group = c.benchmark_group(name);
        group.bench_function("instruction", |bench| {
            bench.iter(|| match maximum {
                true => core.trowmax(&column, &x, &tmp),
                false => core.trowsum(&column, &x, &tmp),
            })
        });
        group.bench_function("plain", |bench| {
            bench.iter(|| plain_rows(black_box(&mut sums), black_box(&a), maximum))
        });
        group.finish();
    }

    let mut group = c.benchmark_group("texp_f32_128x128");
    group.bench_function("instruction", |bench| bench.iter(|| core.texp(&y, &x)));
    group.bench_function("plain", |bench| bench.iter(|| plain_exp(black_box(&mut d), black_box(&a))));
    group.finish();

    let half = Tile::vec(DType::Bf16, SIDE as u32, SIDE as u32).at(0x20000);
    let mut small = vec![0u16; AREA];
    let mut group = c.benchmark_group("tcvt_f32_bf16_128x128");
    group.bench_function("instruction", |bench| {
        bench.iter(|| core.tcvt(&half, &x, RoundMode::Rint, Saturation::Off))
    });
    group.bench_function("plain", |bench| bench.iter(|| plain_bf16(black_box(&mut small), black_box(&a))));
    group.finish();

    let buffer = memory.allocate(AREA as u64 * 4, Fill::Zero).unwrap();
    let tensor = Tensor::contiguous(buffer.addr, DType::F32, &[SIDE as u32, SIDE as u32]).unwrap();
    let global = core.global(&tensor, GlobalShape::nd(SIDE as u32, SIDE as u32)).unwrap();
    let mut group = c.benchmark_group("tload_f32_128x128");
    group.bench_function("instruction", |bench| bench.iter(|| core.tload(&x, &global)));
    group.bench_function("plain", |bench| {
        bench.iter(|| memory.read(buffer.addr, bytemuck::cast_slice_mut(black_box(&mut d))))
    });
    group.bench_function("memcpy", |bench| bench.iter(|| black_box(&mut d).copy_from_slice(black_box(&a))));
    group.finish();
    let mut group = c.benchmark_group("tstore_f32_128x128");
    group.bench_function("instruction", |bench| bench.iter(|| core.tstore(&global, &x)));
    group.bench_function("plain", |bench| {
        bench.iter(|| memory.write(buffer.addr, bytemuck::cast_slice(black_box(&a))))
    });
    group.finish();

    let small = |addr| Tile::vec(DType::F32, 8, 8).at(addr);
    let mut group = c.benchmark_group("tadd_f32_8x8");
    group
        .bench_function("log_off", |bench| bench.iter(|| core.tadd(&small(0), &small(0x100), &small(0x200))));
    group.bench_function("log_on", |bench| {
        core.start_log();
        bench.iter(|| core.tadd(&small(0), &small(0x100), &small(0x200)));
        core.take_log();
    });
    group.bench_function("plain", |bench| {
        bench.iter(|| plain_add(black_box(&mut d[..64]), black_box(&a[..64]), black_box(&b[..64])))
    });
    group.finish();
}

fn matrix(c: &mut Criterion) {
    let (mut core, memory) = core(CoreType::Aic);
    for (dtype, side) in [(DType::F32, 16u32), (DType::F32, 128), (DType::Bf16, 128)] {
        let elements = (side * side) as usize;
        let buffer = memory.allocate(elements as u64 * 4, Fill::Zero).unwrap();
        let tensor = Tensor::contiguous(buffer.addr, dtype, &[side, side]).unwrap();
        let global = core.global(&tensor, GlobalShape::nd(side, side)).unwrap();
        let from = Tile::mat_nz(dtype, side, side).at(0);
        let (left, right) = (Tile::left(dtype, side, side).at(0), Tile::right(dtype, side, side).at(0));
        let acc = Tile::acc(DType::F32, side, side).at(0);
        core.tload(&from, &global).unwrap();
        core.tmov(&left, &from).unwrap();
        core.tmov(&right, &from).unwrap();
        let (a, b) = (vec![1.5f32; elements], vec![2.5f32; elements]);
        let mut d = vec![0f32; elements];
        let mut group = c.benchmark_group(format!("tmatmul_{dtype}_{side}"));
        group.bench_function("instruction", |bench| bench.iter(|| core.tmatmul(&acc, &left, &right)));
        let n = side as usize;
        group.bench_function("plain", |bench| {
            bench.iter(|| plain_matmul(black_box(&mut d), black_box(&a), black_box(&b), n, n, n))
        });
        group.finish();
        let mut group = c.benchmark_group(format!("tmov_{dtype}_{side}"));
        group.bench_function("left", |bench| bench.iter(|| core.tmov(&left, &from)));
        group.bench_function("right", |bench| bench.iter(|| core.tmov(&right, &from)));
        group.bench_function("memcpy", |bench| {
            bench.iter(|| black_box(&mut d[..]).copy_from_slice(black_box(&a)))
        });
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(150))
        .measurement_time(Duration::from_millis(400));
    targets = vector, matrix
}
criterion_main!(benches);
