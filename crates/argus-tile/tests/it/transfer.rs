use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use argus_abi::{CoreType, DType, Tensor};
use argus_chip::A2A3SIM;
use argus_gm::Fill;
use argus_tile::{
    ClusterPipes, Core, CoreConfig, CoreStatus, GlobalLayout, GlobalShape, Layout, Pad, RoundMode,
    Saturation, Space, Tile,
};

use crate::convert::convert;
use crate::model::decode;
use crate::rig::{LAYOUTS, Rig, SIGNED, vec_tile};

/// Element offset of (r, c), straight from the definition.
fn gm_offset(g: &GlobalShape, r: u64, c: u64) -> u64 {
    let [_, s1, s2, s3, s4] = g.shape.map(u64::from);
    let i = match g.layout {
        GlobalLayout::Nd => [r / (s1 * s2 * s3), (r / (s3 * s2)) % s1, (r / s3) % s2, r % s3, c],
        GlobalLayout::Dn => [c / (s1 * s2 * s4), (c / (s4 * s2)) % s1, (c / s4) % s2, r, c % s4],
        GlobalLayout::Nz => [c / s4 / s1, c / s4 % s1, r / s3, r % s3, c % s4],
        GlobalLayout::MxAZz => [0, r / 16, c / 2, r % 16, c % 2],
        GlobalLayout::MxBNn => [0, c / 16, r / 2, c % 16, r % 2],
    };
    (0..5).map(|k| i[k] * g.stride[k]).sum()
}

fn bits_at(bytes: &[u8], dtype: DType, at: usize) -> u64 {
    let mut raw = [0; 8];
    raw[..dtype.size()].copy_from_slice(&bytes[at..at + dtype.size()]);
    u64::from_le_bytes(raw)
}

/// Global memory holds these elements; any NaN equals any other.
fn expect_tensor(dtype: DType, got: &[u8], want: &[u8], what: &str) {
    for at in (0..want.len()).step_by(dtype.size()) {
        let (got, want) = (bits_at(got, dtype, at), bits_at(want, dtype, at));
        let both_nan = decode(dtype, got).is_nan() && decode(dtype, want).is_nan();
        assert!(got == want || both_nan, "{what}: byte {at} holds {got:#x}, not {want:#x}");
    }
}

fn shapes(dtype: DType) -> Vec<GlobalShape> {
    vec![
        GlobalShape::nd(32, 64),
        GlobalShape::nd(20, 37),
        GlobalShape::nd_strided(32, 64, 80),
        GlobalShape::dn(32, 64),
        GlobalShape::dn_strided(32, 64, 40),
        GlobalShape::nz(32, 64, dtype),
        // Rows spread over several dimensions, and junk strides where the size is 1.
        GlobalShape { shape: [2, 2, 2, 4, 64], stride: [1100, 540, 260, 64, 1], layout: GlobalLayout::Nd },
        GlobalShape { shape: [1, 1, 1, 32, 64], stride: [1, 1, 1, 64, 1], layout: GlobalLayout::Nd },
        // Elements apart from each other.
        GlobalShape { shape: [1, 1, 1, 32, 64], stride: [0, 0, 0, 130, 2], layout: GlobalLayout::Nd },
        GlobalShape { shape: [1, 1, 2, 32, 32], stride: [0, 0, 2048, 1, 64], layout: GlobalLayout::Dn },
        GlobalShape { shape: [1, 1, 1, 32, 64], stride: [0, 0, 0, 2, 70], layout: GlobalLayout::Dn },
    ]
}

const REGIONS: [(u32, u32); 4] = [(32, 64), (20, 37), (1, 9), (0, 0)];

#[test]
fn loads_from_any_walk_into_any_layout() {
    for (seed, dtype) in [DType::I8, DType::Bf16, DType::F32, DType::U64].into_iter().enumerate() {
        for core_type in [CoreType::Aiv, CoreType::Aic] {
            let mut rig = Rig::new(core_type, seed as u64 + 500);
            let space = if core_type == CoreType::Aiv { Space::Vec } else { Space::Mat };
            let bytes: Vec<u8> = (0..6000 * dtype.size()).map(|_| rig.rng.next() as u8).collect();
            let buffer = rig.memory.allocate(bytes.len() as u64, Fill::Zero).unwrap();
            rig.memory.write(buffer.addr, &bytes).unwrap();
            let tensor = Tensor::contiguous(buffer.addr, dtype, &[6000]).unwrap();
            for shape in shapes(dtype) {
                for layout in LAYOUTS {
                    for ((vr, vc), pad) in
                        REGIONS.into_iter().zip([Pad::Null, Pad::Min, Pad::Custom(9), Pad::Zero])
                    {
                        let dst =
                            Tile::new(space, dtype, 32, 64, layout, 512).at(0x80).valid(vr, vc).pad(pad);
                        rig.fill_with(&dst, |rng, _, _| rng.next());
                        let global = rig.core.global_at(&tensor, 11, shape).unwrap();
                        rig.core.tload(&dst, &global).unwrap();
                        let pad = match (pad, dtype) {
                            (Pad::Min, DType::F32) => 0xFF80_0000,
                            (Pad::Min, DType::Bf16) => 0xFF80,
                            (Pad::Min, DType::I8) => 0x80,
                            (Pad::Custom(bits), _) => u64::from(bits),
                            _ => 0,
                        };
                        rig.model.compute(&dst, 32, 64, |_, r, c| {
                            if r >= vr as usize || c >= vc as usize {
                                return pad;
                            }
                            let at = (11 + gm_offset(&shape, r as u64, c as u64)) as usize * dtype.size();
                            bits_at(&bytes, dtype, at)
                        });
                        rig.compare(&dst, &format!("{dtype} {shape:?} {layout} {vr}x{vc}"));
                    }
                }
            }
        }
    }
}

#[test]
fn stores_to_any_walk_from_any_layout_and_type() {
    let mut rig = Rig::aiv(520);
    for (from, to) in SIGNED.into_iter().flat_map(|from| SIGNED.map(|to| (from, to))) {
        for shape in shapes(to) {
            for (i, layout) in LAYOUTS.into_iter().enumerate() {
                let (vr, vc) = REGIONS[i % 3];
                let src = vec_tile(from, layout, 32, 64, 0x80).valid(vr, vc);
                rig.fill(&src);
                let (tensor, mut bytes) = rig.tensor(to, 6000);
                let global = rig.core.global(&tensor, shape).unwrap();
                rig.core.tstore(&global, &src).unwrap();
                for r in 0..vr as usize {
                    for c in 0..vc as usize {
                        let value = rig.model.get(&src, r, c);
                        let bits = convert(value, from, to, RoundMode::None, Saturation::Off);
                        let at = gm_offset(&shape, r as u64, c as u64) as usize * to.size();
                        bytes[at..at + to.size()].copy_from_slice(&bits.to_le_bytes()[..to.size()]);
                    }
                }
                let what = format!("{from} {layout} to {to} {shape:?} {vr}x{vc}");
                expect_tensor(to, &rig.read_tensor(&tensor), &bytes, &what);
                rig.compare(&src, "a store changes nothing on the core");
                rig.memory.free(tensor.addr).unwrap();
            }
        }
    }
}

#[test]
fn adding_stores_add_in_the_type_of_the_tensor() {
    let mut rig = Rig::aiv(530);
    for to in SIGNED {
        for shape in [GlobalShape::nd(32, 64), GlobalShape::dn_strided(32, 64, 40)] {
            let src = vec_tile(DType::F32, Layout::Nd, 32, 64, 0).valid(30, 50);
            rig.fill(&src);
            let (tensor, mut bytes) = rig.tensor(to, 6000);
            let global = rig.core.global(&tensor, shape).unwrap();
            rig.core.tstore_atomic_add(&global, &src).unwrap();
            for r in 0..30 {
                for c in 0..50 {
                    let bits =
                        convert(rig.model.get(&src, r, c), DType::F32, to, RoundMode::None, Saturation::Off);
                    let at = gm_offset(&shape, r as u64, c as u64) as usize * to.size();
                    let sum = decode(to, bits_at(&bytes, to, at)).arith('+', decode(to, bits)).bits();
                    bytes[at..at + to.size()].copy_from_slice(&sum.to_le_bytes()[..to.size()]);
                }
            }
            expect_tensor(to, &rig.read_tensor(&tensor), &bytes, &format!("{to} {shape:?}"));
        }
    }
}

#[test]
fn adding_stores_of_many_cores_lose_nothing() {
    let mut rig = Rig::aiv(540);
    let buffer = rig.memory.allocate(4 * 64, Fill::Zero).unwrap();
    let tensor = Tensor::contiguous(buffer.addr, DType::I32, &[64]).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let memory = rig.memory.clone();
            scope.spawn(move || {
                let config =
                    CoreConfig { sizes: A2A3SIM.core_sizes, core_type: CoreType::Aiv, fill: Fill::Zero };
                let status = Arc::new(CoreStatus::new(Arc::new(AtomicBool::new(false))));
                let mut core = Core::new(config, memory, Arc::new(ClusterPipes::new()), status);
                let tile = Tile::vec(DType::I32, 1, 64).at(0);
                core.texpands(&tile, 1).unwrap();
                let global = core.global(&tensor, GlobalShape::nd(1, 64)).unwrap();
                for _ in 0..500 {
                    core.tstore_atomic_add(&global, &tile).unwrap();
                }
            });
        }
    });
    let global = rig.core.global(&tensor, GlobalShape::nd(1, 64)).unwrap();
    for index in 0..64 {
        assert_eq!(rig.core.load_scalar::<i32>(&global, index).unwrap(), 2000);
    }
}

#[test]
fn scalars_are_read_and_written_by_index() {
    let mut rig = Rig::aiv(550);
    let (tensor, bytes) = rig.tensor(DType::I32, 16);
    let view = tensor.view(&[8], &[4]).unwrap();
    let global = rig.core.global(&view, GlobalShape::nd(1, 8)).unwrap();
    let expected = i32::from_le_bytes(bytes[20..24].try_into().unwrap());
    assert_eq!(rig.core.load_scalar::<i32>(&global, 1).unwrap(), expected);
    rig.core.store_scalar(&global, 1, 0x0102_0304u32).unwrap();
    assert_eq!(rig.read_tensor(&tensor)[20..24], [4, 3, 2, 1]);
    let raw = rig.core.global_raw(tensor.addr, DType::I32, GlobalShape::nd(1, 16)).unwrap();
    assert_eq!(rig.core.load_scalar::<i32>(&raw, 5).unwrap(), 0x0102_0304);
}
