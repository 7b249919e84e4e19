//! Lowering: one tile instruction becomes the machine instructions that a real chip would run for it, with
//! their tracks, repeats, bytes and cycles. No times yet.
//!
//! Chips differ in how their vector unit works, in their moves and in how cores hand tiles over; the
//! descriptor of the chip says which way it is.
//!
//! | module | subject |
//! |---|---|
//! | `operand` | tile operands, and how the vector unit walks them |
//! | `vector` | the vector unit |
//! | `moves` | moves of tiles, and products |
//! | `channel` | flags, and tiles between the cores of a block |

mod channel;
mod moves;
mod operand;
mod vector;

use argus_abi::Member;
use argus_chip::Chip;
use argus_tile::{CoreLog, LogEntry, Opcode, Pipe, TPipe};
use rustc_hash::FxHashMap;

use crate::machine::{Cause, Instr, Mnemonic, NONE, Path, Role, Track, VectorInstr};
use crate::params::Params;
use operand::operand;

pub use channel::Channel;
pub(crate) use channel::Channels;

/// Lowers the log of one core.
pub(crate) fn lower(core: &CoreLog, chip: &Chip, params: &Params, channels: &mut Channels) -> Vec<Instr> {
    let mut lowering = Lowering {
        params,
        chip,
        member: core.member,
        channels,
        out: Vec::with_capacity(core.log.entries.len()),
        entry: 0,
        first: 0,
        mask: None,
        pushes: FxHashMap::default(),
    };
    for (index, entry) in core.log.entries.iter().enumerate() {
        lowering.entry = index as u32;
        lowering.first = lowering.out.len();
        lowering.tile_instruction(entry);
    }
    lowering.out
}

struct Lowering<'a> {
    params: &'a Params,
    chip: &'a Chip,
    member: Member,
    channels: &'a mut Channels,
    out: Vec<Instr>,
    entry: u32,
    /// Where the machine instructions of the current entry start.
    first: usize,
    /// Elements that the vector mask lets through; `None` is all of them.
    mask: Option<u64>,
    pushes: FxHashMap<(TPipe, bool), u64>,
}

impl Lowering<'_> {
    fn tile_instruction(&mut self, entry: &LogEntry) {
        let scalar = self.params.scalar();
        match entry.opcode {
            Opcode::Tassign | Opcode::Treshape => self.scalar(Mnemonic::MovXdImm, Track::Scalar, scalar, 0),
            Opcode::Dcci => self.scalar(Mnemonic::Dcci, Track::Scalar, scalar, 0),
            Opcode::Dsb => self.scalar(Mnemonic::Dsb, Track::Scalar, scalar, 0),
            Opcode::GetValue => self.scalar(Mnemonic::LdXdXnImm, Track::ScalarLdSt, scalar, entry.bytes),
            Opcode::SetValue => self.scalar(Mnemonic::StXdXnImm, Track::ScalarLdSt, scalar, entry.bytes),
            // A signal that is there is one look at global memory; how long it took to come is not modelled.
            Opcode::LoadScalar | Opcode::Twait => {
                let cycles = self.params.scalar_global();
                self.scalar(Mnemonic::LdXdXnImm, Track::ScalarLdSt, cycles, entry.bytes);
            }
            Opcode::StoreScalar | Opcode::Tnotify => {
                self.scalar(Mnemonic::StXdXnImm, Track::ScalarLdSt, scalar, entry.bytes);
            }
            // What the copy engine does takes no time of the core.
            Opcode::TputAsync | Opcode::TprefetchAsync => {
                self.scalar(Mnemonic::StXdXnImm, Track::ScalarLdSt, scalar, 0);
            }
            Opcode::Tput => self.copy_through_ub(entry),
            Opcode::Tci => {
                let count = operand(entry, "dst").map_or(1, |dst| dst.valid[1].max(1));
                self.scalar(Mnemonic::StXdXnImm, Track::ScalarLdSt, scalar.saturating_mul(count), 0);
                self.last().repeats = count;
            }
            Opcode::SetFlag => self.flag(entry, Mnemonic::SetFlag, Role::Set),
            Opcode::WaitFlag => self.flag(entry, Mnemonic::WaitFlag, Role::Wait),
            Opcode::PipeBarrier => self.barrier(entry.pipe),
            Opcode::Tpush => self.push(entry),
            Opcode::Tpop => self.pop(entry),
            Opcode::Tfree => self.free(entry),
            Opcode::Tload => self.load(entry),
            Opcode::Tstore => self.store(entry),
            Opcode::TstoreAtomicAdd => {
                // The control register says what a store does, and is put back afterwards.
                self.scalar(Mnemonic::MovSprXn, Track::Scalar, scalar, 0);
                self.store(entry);
                self.scalar(Mnemonic::MovSprXn, Track::Scalar, scalar, 0);
            }
            Opcode::Tmatmul | Opcode::TmatmulAcc | Opcode::TmatmulMx => self.product(entry),
            Opcode::Tmov | Opcode::Textract => self.on_chip_move(entry),
            // A tile in L1 is filled by the unit that loads it.
            Opcode::Texpands | Opcode::Tfillpad | Opcode::TfillpadInplace if entry.pipe == Pipe::Mte2 => {
                self.fill_l1(entry);
            }
            Opcode::Texpands => self.plain(entry, self.fill()),
            Opcode::Tfillpad | Opcode::TfillpadInplace => self.fill_pad(entry),
            Opcode::Trowsum => self.row_reduce(entry, VectorInstr::Vadd, VectorInstr::Vcadd),
            Opcode::Trowmax => self.row_reduce(entry, VectorInstr::Vmax, VectorInstr::Vcmax),
            Opcode::Trowexpand => self.row_expand(entry),
            Opcode::Trowexpandmul => self.row_combine(entry, VectorInstr::Vmul),
            Opcode::Trowexpandsub => self.row_combine(entry, VectorInstr::Vsub),
            Opcode::Trowexpanddiv => self.row_combine(entry, VectorInstr::Vdiv),
            Opcode::Tcolexpand => self.by_rows(entry, VectorInstr::Vcopy),
            Opcode::Tcolexpandmul => self.by_rows(entry, VectorInstr::Vmul),
            Opcode::Tcolexpandadd => self.by_rows(entry, VectorInstr::Vadd),
            Opcode::Tcolexpandexpdif => self.exp_of_difference(entry),
            Opcode::Tconcat => self.by_rows(entry, VectorInstr::Vcopy),
            // Each row is folded onto the first.
            Opcode::Tcolsum => self.over_source(entry, VectorInstr::Vadd),
            Opcode::Tcolmax => self.over_source(entry, VectorInstr::Vmax),
            Opcode::Tsort32 => self.over_source(entry, VectorInstr::Vbitsort),
            Opcode::Tmrgsort | Opcode::TmrgsortLists => self.plain(entry, VectorInstr::Vmrgsort),
            Opcode::Mscatter => self.over_source(entry, VectorInstr::Vscatter),
            Opcode::Tdivs | Opcode::Trecip => self.divide_by_fill(entry),
            Opcode::Tcvt => self.convert(entry),
            Opcode::Ttrans => self.over_source(entry, VectorInstr::Vnchwconv),
            Opcode::TgatherMask => self.over_source(entry, VectorInstr::Vreducev2),
            Opcode::Tgather => self.gather(entry),
            Opcode::Tadd => self.plain(entry, VectorInstr::Vadd),
            Opcode::Tsub => self.plain(entry, VectorInstr::Vsub),
            Opcode::Tmul => self.plain(entry, VectorInstr::Vmul),
            Opcode::Tdiv => self.plain(entry, VectorInstr::Vdiv),
            Opcode::Tmax => self.plain(entry, VectorInstr::Vmax),
            Opcode::Tmin => self.plain(entry, VectorInstr::Vmin),
            Opcode::Tadds | Opcode::Tsubs => self.plain(entry, VectorInstr::Vadds),
            Opcode::Tmuls | Opcode::Tneg => self.plain(entry, VectorInstr::Vmuls),
            Opcode::Tmaxs => self.plain(entry, VectorInstr::Vmaxs),
            Opcode::Tmins => self.plain(entry, VectorInstr::Vmins),
            Opcode::Texp => self.plain(entry, VectorInstr::Vexp),
            Opcode::Tlog => self.plain(entry, VectorInstr::Vln),
            Opcode::Tsqrt => self.plain(entry, VectorInstr::Vsqrt),
            Opcode::Trsqrt => self.plain(entry, VectorInstr::Vrsqrt),
            Opcode::Tabs => self.plain(entry, VectorInstr::Vabs),
        }
    }

    fn barrier(&mut self, pipe: Pipe) {
        self.emit(Mnemonic::Bar, Track::of_pipe(pipe), pipe, Role::Barrier, self.params.barrier());
    }

    fn scalar(&mut self, mnemonic: Mnemonic, track: Track, cycles: u32, bytes: u64) {
        self.emit(mnemonic, track, Pipe::S, Role::Work, cycles);
        self.last().bytes = bytes;
    }

    fn transfer(&mut self, mnemonic: Mnemonic, pipe: Pipe, path: Path, bytes: u64) {
        let work = self.params.transfer(path, bytes);
        self.emit(mnemonic, Track::of_pipe(pipe), pipe, Role::Work, work);
        let instr = self.last();
        (instr.path, instr.bytes) = (Some(path), bytes);
    }

    fn emit(&mut self, mnemonic: Mnemonic, track: Track, pipe: Pipe, role: Role, work: u32) {
        let alike = self.out[self.first..].iter().filter(|instr| instr.mnemonic == mnemonic).count();
        self.out.push(Instr {
            mnemonic,
            track,
            pipe,
            role,
            path: None,
            entry: self.entry,
            part: alike as u16,
            site: NONE,
            repeats: 1,
            bytes: 0,
            useful: 0,
            capacity: 0,
            start: 0,
            end: 0,
            work,
            head: 0,
            tail: 0,
            pair: NONE,
            cause: Cause::Issue,
        });
    }

    fn last(&mut self) -> &mut Instr {
        self.out.last_mut().expect("something was just emitted")
    }
}
