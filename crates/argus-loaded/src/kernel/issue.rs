//! From an opcode and its operands to the engine's instruction.

use argus_tile::{
    Core, Float8, KernelResult, MaskPattern, NotifyOp, Opcode, Pipe, RoundMode, Saturation, Scaled,
    ScatterBounds, ScatterBy, ScatterOp, WaitFor,
};

use super::abi;
use super::decode::{Operands, file_of};

const ROUND_MODES: &[RoundMode] = &[
    RoundMode::None,
    RoundMode::Rint,
    RoundMode::Round,
    RoundMode::Floor,
    RoundMode::Ceil,
    RoundMode::Trunc,
    RoundMode::Odd,
];
const MASKS: &[Option<MaskPattern>] = &[
    None,
    Some(MaskPattern::P0101),
    Some(MaskPattern::P1010),
    Some(MaskPattern::P0001),
    Some(MaskPattern::P0010),
    Some(MaskPattern::P0100),
    Some(MaskPattern::P1000),
    Some(MaskPattern::P1111),
];

const SCATTER_OPS: &[ScatterOp] = &[ScatterOp::Replace, ScatterOp::Add, ScatterOp::Max, ScatterOp::Min];
const SCATTER_BOUNDS: &[ScatterBounds] =
    &[ScatterBounds::Unchecked, ScatterBounds::Skip, ScatterBounds::Clamp, ScatterBounds::Wrap];
const COMPARISONS: &[WaitFor] = &[
    WaitFor::Equal,
    WaitFor::NotEqual,
    WaitFor::Greater,
    WaitFor::GreaterOrEqual,
    WaitFor::Less,
    WaitFor::LessOrEqual,
];

/// Runs one instruction of a kernel object.
pub(super) fn run(core: &mut Core, raw: &abi::Instruction) -> KernelResult {
    core.issue_from(file_of(raw), raw.line);
    let given = Operands::new(core, raw)?;
    macro_rules! two {
        ($method:ident) => {{
            let (a, b) = (given.tile(core, 0)?, given.tile(core, 1)?);
            core.$method(a, b)
        }};
    }
    macro_rules! three {
        ($method:ident) => {{
            let (a, b, c) = (given.tile(core, 0)?, given.tile(core, 1)?, given.tile(core, 2)?);
            core.$method(a, b, c)
        }};
    }
    macro_rules! four {
        ($method:ident) => {{
            let (a, b) = (given.tile(core, 0)?, given.tile(core, 1)?);
            let (c, d) = (given.tile(core, 2)?, given.tile(core, 3)?);
            core.$method(a, b, c, d)
        }};
    }
    macro_rules! scalar {
        ($method:ident) => {{
            let (dst, src) = (given.tile(core, 0)?, given.tile(core, 1)?);
            core.$method(dst, src, given.scalar(core, 0)?)
        }};
    }
    match given.opcode {
        Opcode::Tassign => {
            let (mut tile, addr) = (*given.tile(core, 0)?, given.address(core)?);
            core.tassign(&mut tile, addr)
        }
        Opcode::Tload => {
            let (dst, src) = (given.tile(core, 0)?, given.global(core, 0)?);
            let done = core.tload(dst, &src);
            core.give_back(src);
            done
        }
        Opcode::Tstore => {
            let (src, dst) = (given.tile(core, 0)?, given.global(core, 0)?);
            let done = core.tstore(&dst, src);
            core.give_back(dst);
            done
        }
        Opcode::TstoreAtomicAdd => {
            let (src, dst) = (given.tile(core, 0)?, given.global(core, 0)?);
            let done = core.tstore_atomic_add(&dst, src);
            core.give_back(dst);
            done
        }
        Opcode::Tadd => three!(tadd),
        Opcode::Tsub => three!(tsub),
        Opcode::Tmul => three!(tmul),
        Opcode::Tdiv => three!(tdiv),
        Opcode::Tmax => three!(tmax),
        Opcode::Tmin => three!(tmin),
        Opcode::Trowsum => three!(trowsum),
        Opcode::Trowmax => three!(trowmax),
        Opcode::Ttrans => three!(ttrans),
        Opcode::Trowexpandmul => three!(trowexpandmul),
        Opcode::Trowexpandsub => three!(trowexpandsub),
        Opcode::Trowexpanddiv => three!(trowexpanddiv),
        Opcode::Tcolexpandmul => three!(tcolexpandmul),
        Opcode::Tcolexpandadd => three!(tcolexpandadd),
        Opcode::Tcolexpandexpdif => three!(tcolexpandexpdif),
        Opcode::Tconcat => three!(tconcat),
        Opcode::Tsort32 => three!(tsort32),
        Opcode::Tmatmul => three!(tmatmul),
        Opcode::Tadds => scalar!(tadds),
        Opcode::Tsubs => scalar!(tsubs),
        Opcode::Tmuls => scalar!(tmuls),
        Opcode::Tdivs => scalar!(tdivs),
        Opcode::Tmaxs => scalar!(tmaxs),
        Opcode::Tmins => scalar!(tmins),
        Opcode::Texpands => {
            let dst = given.tile(core, 0)?;
            core.texpands(dst, given.scalar(core, 0)?)
        }
        Opcode::Tcolsum => two!(tcolsum),
        Opcode::Tcolmax => two!(tcolmax),
        Opcode::Texp => two!(texp),
        Opcode::Tlog => two!(tlog),
        Opcode::Tsqrt => two!(tsqrt),
        Opcode::Trsqrt => two!(trsqrt),
        Opcode::Trecip => two!(trecip),
        Opcode::Tneg => two!(tneg),
        Opcode::Tabs => two!(tabs),
        Opcode::Trowexpand => two!(trowexpand),
        Opcode::Tcolexpand => two!(tcolexpand),
        Opcode::Tmov => two!(tmov),
        Opcode::Tfillpad => two!(tfillpad),
        Opcode::TfillpadInplace => two!(tfillpad_inplace),
        Opcode::Tcvt => {
            let (dst, src) = (given.tile(core, 0)?, given.tile(core, 1)?);
            let mode = given.choice(core, 0, ROUND_MODES)?;
            let saturation = given.choice(core, 1, &[Saturation::On, Saturation::Off])?;
            core.tcvt(dst, src, mode, saturation)
        }
        Opcode::TmatmulAcc => four!(tmatmul_acc),
        Opcode::Tgather => four!(tgather),
        Opcode::Textract => {
            let (dst, src) = (given.tile(core, 0)?, given.tile(core, 1)?);
            let (row, col) = (given.option(core, 0)?, given.option(core, 1)?);
            core.textract(dst, src, row as u16, col as u16)
        }
        Opcode::Treshape => {
            let (mut dst, src) = (*given.tile(core, 0)?, given.tile(core, 1)?);
            core.treshape(&mut dst, src)
        }
        Opcode::TgatherMask => {
            let (dst, src) = (given.tile(core, 0)?, given.tile(core, 1)?);
            match given.choice(core, 0, MASKS)? {
                Some(mask) => core.tgather_mask(dst, src, mask),
                None => Err(given.wrong(core, format_args!("no mask pattern has number 0"))),
            }
        }
        Opcode::Tci => {
            let dst = given.tile(core, 0)?;
            let descending = given.choice(core, 1, &[false, true])?;
            core.tci(dst, given.option(core, 0)? as i32, descending)
        }
        Opcode::GetValue => {
            let (src, index) = (given.tile(core, 0)?, given.option(core, 0)? as u32);
            let bits = match src.dtype.size() {
                1 => core.get_value::<u8>(src, index)?.into(),
                2 => core.get_value::<u16>(src, index)?.into(),
                4 => core.get_value::<u32>(src, index)?.into(),
                _ => core.get_value::<u64>(src, index)?,
            };
            given.give(core, &[bits])
        }
        Opcode::SetValue => {
            let (dst, index) = (given.tile(core, 0)?, given.option(core, 0)? as u32);
            let bits = given.option(core, 1)? as u64;
            match dst.dtype.size() {
                1 => core.set_value(dst, index, bits as u8),
                2 => core.set_value(dst, index, bits as u16),
                4 => core.set_value(dst, index, bits as u32),
                _ => core.set_value(dst, index, bits),
            }
        }
        Opcode::SetFlag => {
            let (src, dst) = (given.choice(core, 0, &Pipe::ALL)?, given.choice(core, 1, &Pipe::ALL)?);
            core.set_flag(src, dst, flag_id(given.option(core, 2)?))
        }
        Opcode::WaitFlag => {
            let (src, dst) = (given.choice(core, 0, &Pipe::ALL)?, given.choice(core, 1, &Pipe::ALL)?);
            core.wait_flag(src, dst, flag_id(given.option(core, 2)?))
        }
        Opcode::PipeBarrier => {
            let pipe = given.choice(core, 0, &Pipe::ALL)?;
            core.pipe_barrier(pipe)
        }
        Opcode::Dcci => core.dcci(),
        Opcode::Dsb => core.dsb(),
        Opcode::Tpush => {
            let (pipe, _) = given.pipe(core)?;
            let (src, split) = (given.tile(core, 0)?, given.split(core)?);
            core.tpush(&pipe, src, split)
        }
        Opcode::Tpop => {
            let (pipe, _) = given.pipe(core)?;
            let (dst, split) = (given.tile(core, 0)?, given.split(core)?);
            core.tpop(&pipe, dst, split)
        }
        Opcode::Tfree => {
            let (pipe, _) = given.pipe(core)?;
            let split = given.split(core)?;
            core.tfree(&pipe, split)
        }
        Opcode::Tmrgsort => {
            let (dst, src) = (given.tile(core, 0)?, given.tile(core, 1)?);
            core.tmrgsort(dst, src, given.option(core, 0)? as u32)
        }
        Opcode::TmrgsortLists => {
            let (dst, tmp) = (given.tile(core, 0)?, given.tile(core, 1)?);
            let mut lists = [*dst; abi::MAX_TILES];
            let count = given.tiles().saturating_sub(2);
            for (at, list) in lists.iter_mut().enumerate().take(count) {
                *list = *given.tile(core, at + 2)?;
            }
            let until_exhausted = given.choice(core, 0, &[false, true])?;
            let counts = core.tmrgsort_lists(dst, tmp, &lists[..count], until_exhausted)?;
            given.give(core, &counts)
        }
        Opcode::Mscatter => {
            let (src, idx) = (given.tile(core, 0)?, given.tile(core, 1)?);
            let dst = given.global(core, 0)?;
            let by = given.choice(core, 0, &[ScatterBy::Row, ScatterBy::Element])?;
            let op = given.choice(core, 1, SCATTER_OPS)?;
            let bounds = given.choice(core, 2, SCATTER_BOUNDS)?;
            core.mscatter(&dst, src, idx, by, op, bounds)
        }
        Opcode::TmatmulMx => {
            let dst = given.tile(core, 0)?;
            let (left, left_scale) = (given.tile(core, 1)?, given.tile(core, 2)?);
            let (right, right_scale) = (given.tile(core, 3)?, given.tile(core, 4)?);
            let kinds = [0, 1].map(|at| given.choice(core, at, &[Float8::E4M3, Float8::E5M2]));
            let [left_kind, right_kind] = kinds;
            let left = Scaled { values: left, kind: left_kind?, scales: left_scale };
            let right = Scaled { values: right, kind: right_kind?, scales: right_scale };
            core.tmatmul_mx(dst, left, right)
        }
        Opcode::Tnotify => {
            let signal = given.global(core, 0)?;
            let op = given.choice(core, 1, &[NotifyOp::Add, NotifyOp::Set])?;
            core.tnotify(&signal, given.option(core, 0)? as i32, op)
        }
        Opcode::Twait => {
            let signal = given.global(core, 0)?;
            let wanted = given.choice(core, 1, COMPARISONS)?;
            core.twait(&signal, given.option(core, 0)? as i32, wanted)
        }
        Opcode::Tput => {
            let (stage, add) = (given.tile(core, 0)?, given.choice(core, 0, &[false, true])?);
            let (dst, src) = (given.global(core, 0)?, given.global(core, 1)?);
            core.tput(&dst, &src, stage, add)
        }
        Opcode::TputAsync => {
            let (dst, src) = (given.global(core, 0)?, given.global(core, 1)?);
            core.tput_async(&dst, &src)
        }
        Opcode::TprefetchAsync => {
            let src = given.global(core, 0)?;
            core.tprefetch_async(&src)
        }
        // Kernels in objects reach global memory by plain loads and stores of their own.
        Opcode::LoadScalar | Opcode::StoreScalar => {
            Err(given.wrong(core, format_args!("the instruction does not come from kernel objects")))
        }
    }
}

/// An id beyond a byte is refused by the engine like any other that no flag has.
fn flag_id(id: i64) -> u8 {
    u8::try_from(id).unwrap_or(u8::MAX)
}
