//! A core and its model, fed with the same bytes.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use argus_abi::{CoreType, DType, Tensor};
use argus_chip::A5SIM;
use argus_gm::{Fill, GlobalMemory};
use argus_tile::{ClusterPipes, Core, CoreConfig, CoreStatus, Layout, Space, Tile};

use crate::model::{Model, decode};

/// The types that are converted into each other.
pub const SIGNED: [DType; 6] = [DType::F32, DType::F16, DType::Bf16, DType::I32, DType::I16, DType::I8];
/// The types that instructions compute with.
pub const COMPUTE: [DType; 9] = [
    DType::F32,
    DType::F16,
    DType::Bf16,
    DType::I32,
    DType::I16,
    DType::I8,
    DType::U32,
    DType::U16,
    DType::U8,
];
pub const FLOATS: [DType; 3] = [DType::F32, DType::F16, DType::Bf16];
pub const LAYOUTS: [Layout; 6] = [Layout::Nd, Layout::Dn, Layout::Nz, Layout::Zn, Layout::Zz, Layout::Nn];

/// Numbers that look random and are always the same.
pub struct Rng(u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 11) % limit
    }

    /// Bits of an element: ordinary numbers, any bits, and every special value there is.
    pub fn element(&mut self, dtype: DType) -> u64 {
        let raw = self.next() >> 7;
        let special: &[u64] = match dtype {
            DType::F32 => {
                &[0x7FC0_0000, 0xFFFF_FFFF, 0x7F80_0000, 0xFF80_0000, 0x8000_0000, 0, 1, 0x807F_FFFF]
            }
            DType::F16 => &[0x7E00, 0xFFFF, 0x7C00, 0xFC00, 0x8000, 0, 1, 0x83FF],
            DType::Bf16 => &[0x7FC0, 0xFFFF, 0x7F80, 0xFF80, 0x8000, 0, 1, 0x807F],
            _ => &[0, 1, u64::MAX, 0x80, 0x7F, 0x8000, 0x7FFF_FFFF, 0x8000_0000],
        };
        let ordinary = (raw % 8001) as f32 / 64.0 - 62.5;
        let bits = match self.below(8) {
            0 => special[(raw % special.len() as u64) as usize],
            1 => raw,
            _ => match dtype {
                DType::F32 => ordinary.to_bits().into(),
                DType::F16 => half::f16::from_f32_const(ordinary).to_bits().into(),
                DType::Bf16 => half::bf16::from_f32_const(ordinary).to_bits().into(),
                _ => (raw % 201).wrapping_sub(100),
            },
        };
        // Signalling NaNs do not survive arithmetic in any defined way: make them quiet.
        let bits = bits & (u64::MAX >> (64 - 8 * dtype.size()));
        match dtype {
            DType::F32 if f32::from_bits(bits as u32).is_nan() => bits | 0x0040_0000,
            DType::F16 if half::f16::from_bits(bits as u16).is_nan() => bits | 0x0200,
            DType::Bf16 if half::bf16::from_bits(bits as u16).is_nan() => bits | 0x0040,
            _ => bits,
        }
    }
}

pub struct Rig {
    pub core: Core,
    pub model: Model,
    pub rng: Rng,
    pub memory: Arc<GlobalMemory>,
    pub stop: Arc<AtomicBool>,
}

impl Rig {
    pub fn new(core_type: CoreType, seed: u64) -> Rig {
        let memory = Arc::new(GlobalMemory::new());
        let stop = Arc::new(AtomicBool::new(false));
        let config = CoreConfig { sizes: A5SIM.core_sizes, core_type, fill: Fill::Zero };
        let status = Arc::new(CoreStatus::new(stop.clone()));
        let core = Core::new(config, memory.clone(), Arc::new(ClusterPipes::new()), status);
        let spaces = Space::ALL.map(|space| vec![0; space.bytes_of(&A5SIM.core_sizes) as usize]);
        let model = Model { spaces: spaces.into() };
        Rig { core, model, rng: Rng(seed * 0x9E37_79B9 + 0xDEAD_BEEF), memory, stop }
    }

    pub fn aiv(seed: u64) -> Rig {
        Rig::new(CoreType::Aiv, seed)
    }

    pub fn aic(seed: u64) -> Rig {
        Rig::new(CoreType::Aic, seed)
    }

    /// Random elements in a tile's whole storage, in the core and in the model.
    pub fn fill(&mut self, tile: &Tile) {
        for r in 0..tile.rows as usize {
            for c in 0..tile.cols as usize {
                let bits = self.rng.element(tile.dtype);
                self.model.set_bits(tile, r, c, bits);
            }
        }
        self.copy_to_core(tile);
    }

    pub fn fill_with(&mut self, tile: &Tile, mut f: impl FnMut(&mut Rng, usize, usize) -> u64) {
        for r in 0..tile.rows as usize {
            for c in 0..tile.cols as usize {
                let bits = f(&mut self.rng, r, c);
                self.model.set_bits(tile, r, c, bits);
            }
        }
        self.copy_to_core(tile);
    }

    fn copy_to_core(&mut self, tile: &Tile) {
        let start = tile.addr as usize;
        let end = start + tile.storage_bytes() as usize;
        let bytes = self.model.space(tile.space)[start..end].to_vec();
        self.core.poke(tile.space, start, &bytes).expect("tiles lie in their space");
    }

    /// All memories of the core equal the model's. In `dst`'s storage any NaN equals any other: which
    /// payload arithmetic gives is the machine's business.
    pub fn compare(&mut self, dst: &Tile, what: &str) {
        self.compare_within(dst, 0, what);
    }

    /// The same with values of a float destination that many units in the last place apart.
    pub fn compare_within(&mut self, dst: &Tile, ulps: u64, what: &str) {
        let mut actual = self.model.clone();
        for space in Space::ALL {
            let size = actual.spaces[space as usize].len();
            let bytes = self.core.peek(space, 0..size).expect("the space's own size");
            actual.spaces[space as usize].copy_from_slice(bytes);
        }
        for r in 0..dst.rows as usize {
            for c in 0..dst.cols as usize {
                let (got, want) = (actual.bits(dst, r, c), self.model.bits(dst, r, c));
                let both_nan = dst.dtype.is_float()
                    && decode(dst.dtype, got).is_nan()
                    && decode(dst.dtype, want).is_nan();
                if both_nan || (got != want && got.abs_diff(want) <= ulps) {
                    self.model.set_bits(dst, r, c, got);
                    continue;
                }
                assert_eq!(got, want, "{what}: element ({r}, {c}) of {dst:?} is {got:#x}, not {want:#x}");
            }
        }
        for space in Space::ALL {
            let (got, want) = (&actual.spaces[space as usize], self.model.space(space));
            let differs = got.iter().zip(want).position(|(a, b)| a != b);
            assert_eq!(differs, None, "{what}: a byte of {space} outside the region changed");
        }
    }

    /// A tensor in global memory with these bytes.
    pub fn tensor(&mut self, dtype: DType, elements: u32) -> (Tensor, Vec<u8>) {
        let bytes: Vec<u8> = (0..elements)
            .flat_map(|_| self.rng.element(dtype).to_le_bytes()[..dtype.size()].to_vec())
            .collect();
        let buffer = self.memory.allocate(bytes.len() as u64, Fill::Zero).unwrap();
        self.memory.write(buffer.addr, &bytes).unwrap();
        (Tensor::contiguous(buffer.addr, dtype, &[elements]).unwrap(), bytes)
    }

    pub fn read_tensor(&self, tensor: &Tensor) -> Vec<u8> {
        let mut bytes = vec![0; tensor.size as usize];
        self.memory.read(tensor.addr, &mut bytes).unwrap();
        bytes
    }
}

/// A tile of a layout in UB, large enough for boxes of every type.
pub fn vec_tile(dtype: DType, layout: Layout, rows: u32, cols: u32, addr: u32) -> Tile {
    Tile::new(Space::Vec, dtype, rows, cols, layout, 512).at(addr)
}
