//! Kernels with the shapes that real ones have.

use argus_abi::{DType, Member, Tensor};
use argus_chip::Chip;
use argus_tile::{Core, Direction, GlobalShape, KernelResult, Pipe, Split, TPipe, Tile};
use argus_trace::TaskLog;

use crate::rig::{Rig, hand_over, nd};

const M: u32 = 64;
const N: u32 = 64;
const K_TILE: u32 = 64;

/// A product whose loads run ahead of its multiplications.
pub fn double_buffered(chip: &'static Chip, steps: u32) -> TaskLog {
    let mut rig = Rig::new(chip);
    let a = rig.tensor("a", DType::F16, M * K_TILE * steps);
    let b = rig.tensor("b", DType::F16, K_TILE * N * steps);
    let c = rig.tensor("c", DType::F32, M * N);
    rig.run(Member::Aic, |core| {
        let bytes = M * K_TILE * 2;
        let tiles = |id: u32| {
            (
                Tile::mat_nz(DType::F16, M, K_TILE).at(id * 2 * bytes),
                Tile::mat_nz(DType::F16, K_TILE, N).at(id * 2 * bytes + bytes),
                Tile::left(DType::F16, M, K_TILE).at(id * bytes),
                Tile::right(DType::F16, K_TILE, N).at(id * bytes),
            )
        };
        let sum = Tile::acc(DType::F32, M, N).at(0);
        let load = |core: &mut Core, step: u32| -> KernelResult {
            let id = step % 2;
            let (a_l1, b_l1, ..) = tiles(id);
            let at = u64::from(step * K_TILE);
            let shape = GlobalShape::nd_strided(M, K_TILE, u64::from(K_TILE * steps));
            let from_a = core.global_at(&a, at, shape)?;
            let from_b = core.global_at(&b, at * u64::from(N), GlobalShape::nd(K_TILE, N))?;
            core.wait_flag(Pipe::Mte1, Pipe::Mte2, id as u8)?;
            core.tload(&a_l1, &from_a)?;
            core.tload(&b_l1, &from_b)?;
            core.set_flag(Pipe::Mte2, Pipe::Mte1, id as u8)
        };
        for id in 0..2 {
            core.set_flag(Pipe::Mte1, Pipe::Mte2, id)?;
            core.set_flag(Pipe::M, Pipe::Mte1, id)?;
        }
        load(core, 0)?;
        for step in 0..steps {
            if step + 1 < steps {
                load(core, step + 1)?;
            }
            let id = (step % 2) as u8;
            let (a_l1, b_l1, left, right) = tiles(step % 2);
            core.wait_flag(Pipe::Mte2, Pipe::Mte1, id)?;
            core.wait_flag(Pipe::M, Pipe::Mte1, id)?;
            core.tmov(&left, &a_l1)?;
            core.tmov(&right, &b_l1)?;
            core.set_flag(Pipe::Mte1, Pipe::Mte2, id)?;
            hand_over(core, Pipe::Mte1, Pipe::M, id)?;
            match step {
                0 => core.tmatmul(&sum, &left, &right)?,
                _ => core.tmatmul_acc(&sum, &sum, &left, &right)?,
            }
            core.set_flag(Pipe::M, Pipe::Mte1, id)?;
        }
        for id in 0..2 {
            core.wait_flag(Pipe::Mte1, Pipe::Mte2, id)?;
            core.wait_flag(Pipe::M, Pipe::Mte1, id)?;
        }
        hand_over(core, Pipe::M, Pipe::Fix, 0)?;
        let to = nd(core, &c, M, N);
        core.tstore(&to, &sum)?;
        core.pipe_sync()
    })
}

/// exp(x - max) over rows, with its sum.
pub fn softmax(chip: &'static Chip) -> TaskLog {
    let mut rig = Rig::new(chip);
    let x = rig.tensor("x", DType::F32, 16 * 64);
    let p = rig.tensor("p", DType::F32, 16 * 64);
    let l = rig.tensor("l", DType::F32, 16);
    rig.run(Member::Aiv0, |core| softmax_body(core, &x, &p, &l))
}

fn softmax_body(core: &mut Core, x: &Tensor, p: &Tensor, l: &Tensor) -> KernelResult {
    let [scores, weights, scratch] = [0, 0x2000, 0x4000].map(|at| Tile::vec(DType::F32, 16, 64).at(at));
    let [max, sum] = [0x6000, 0x6100].map(|at| Tile::vec(DType::F32, 16, 1).dn().at(at));
    let (from, to, to_sum) =
        (nd(core, x, 16, 64), nd(core, p, 16, 64), core.global(l, GlobalShape::dn(16, 1))?);
    core.tload(&scores, &from)?;
    hand_over(core, Pipe::Mte2, Pipe::V, 0)?;
    core.trowmax(&max, &scores, &scratch)?;
    core.pipe_barrier(Pipe::V)?;
    core.trowexpandsub(&weights, &scores, &max)?;
    core.pipe_barrier(Pipe::V)?;
    core.texp(&weights, &weights)?;
    core.pipe_barrier(Pipe::V)?;
    core.trowsum(&sum, &weights, &scratch)?;
    hand_over(core, Pipe::V, Pipe::Mte3, 0)?;
    core.tstore(&to, &weights)?;
    core.tstore(&to_sum, &sum)?;
    core.pipe_sync()
}

/// A matrix core feeds both vector cores through a pipe of two slots.
pub fn mix(chip: &'static Chip, tiles: u32) -> TaskLog {
    const PIPE: TPipe = TPipe::new(0, Direction::C2V, 16 * 64 * 4, 2);
    let mut rig = Rig::new(chip);
    let a = rig.tensor("a", DType::F32, 32 * 32);
    let b = rig.tensor("b", DType::F32, 32 * 64 * tiles);
    let c = rig.tensor("c", DType::F32, 32 * 64 * tiles);
    rig.run_mix(|core, member| {
        if member != Member::Aic {
            let half = Tile::vec(DType::F32, 16, 64);
            let (product, doubled) = (half.at(0), half.at(0x2000));
            for index in 0..tiles {
                let rows = 16 * core.sub_block_id() as u64;
                let part = GlobalShape::nd_strided(16, 64, u64::from(64 * tiles));
                let to = core.global_at(&c, rows * u64::from(64 * tiles) + u64::from(index * 64), part)?;
                core.tpop(&PIPE, &product, Split::UpDown)?;
                hand_over(core, Pipe::Mte2, Pipe::V, 0)?;
                core.tadd(&doubled, &product, &product)?;
                hand_over(core, Pipe::V, Pipe::Mte3, 0)?;
                core.tstore(&to, &doubled)?;
                core.pipe_sync()?;
                core.tfree(&PIPE, Split::UpDown)?;
            }
            return Ok(());
        }
        let a_l1 = Tile::mat_nz(DType::F32, 32, 32).at(0);
        let b_l1 = Tile::mat_nz(DType::F32, 32, 64).at(0x2000);
        let (left, right) = (Tile::left(DType::F32, 32, 32).at(0), Tile::right(DType::F32, 32, 64).at(0));
        let sum = Tile::acc(DType::F32, 32, 64).at(0);
        let from = nd(core, &a, 32, 32);
        core.tload(&a_l1, &from)?;
        hand_over(core, Pipe::Mte2, Pipe::Mte1, 0)?;
        core.tmov(&left, &a_l1)?;
        for index in 0..tiles {
            let shape = GlobalShape::nd_strided(32, 64, u64::from(64 * tiles));
            let from = core.global_at(&b, u64::from(index * 64), shape)?;
            core.tload(&b_l1, &from)?;
            hand_over(core, Pipe::Mte2, Pipe::Mte1, 0)?;
            core.tmov(&right, &b_l1)?;
            hand_over(core, Pipe::Mte1, Pipe::M, 0)?;
            core.tmatmul(&sum, &left, &right)?;
            hand_over(core, Pipe::M, Pipe::Fix, 0)?;
            core.tpush(&PIPE, &sum, Split::UpDown)?;
            core.pipe_sync()?;
        }
        Ok(())
    })
}
