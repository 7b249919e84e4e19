//! Operand texts, as the simulator of the vendor spells them: comma separated, without blanks.

use argus_abi::DType;
use argus_tile::{LogEntry, LogOperand, OperandPlace, Pipe, ScalarValue};

use crate::lower::Channel;
use crate::machine::{Instr, Mnemonic, Role, Track, flag_pipe_name};
use crate::text::{push_hex, push_u64};
use crate::timeline::{Timeline, memory_name};

/// Appends the operand text of an instruction.
pub(crate) fn push_detail(out: &mut Vec<u8>, timeline: &Timeline<'_>, core: usize, instr: &Instr) {
    let entry = &timeline.task.cores[core].log.entries[instr.entry as usize];
    match instr.role {
        Role::Set(flag) | Role::Wait(flag) => {
            push_pipes(out, flag_pipe_name(flag.src), flag_pipe_name(flag.dst));
            out.extend_from_slice(b"FLAGID:");
            push_u64(out, flag.id.into());
            out.push(b',');
        }
        Role::Signal(number) | Role::Await(number) => {
            let channel = &timeline.channels[usize::from(number)];
            let (set, wait) = channel_pipes(timeline, instr, channel);
            push_pipes(out, flag_pipe_name(set), flag_pipe_name(wait));
            out.extend_from_slice(b"sync_id:");
            push_u64(out, channel.sync_id().into());
            out.push(b',');
        }
        Role::Barrier => {
            out.extend_from_slice(b"PIPE:");
            out.extend_from_slice(flag_pipe_name(instr.pipe).as_bytes());
        }
        Role::Work | Role::Body => push_operands(out, timeline, entry, instr),
    }
}

/// What an instruction looks like in the table of instructions: no values that change from call to call.
pub(crate) fn source_text(timeline: &Timeline<'_>, core: usize, instr: &Instr) -> String {
    match instr.role {
        // A flag names the pipe at its other end.
        Role::Set(flag) => format!("{} {} ID:{}", instr.mnemonic.name(), flag.dst, flag.id),
        Role::Wait(flag) => format!("{} {} ID:{}", instr.mnemonic.name(), flag.src, flag.id),
        Role::Signal(number) | Role::Await(number) => {
            let channel = &timeline.channels[usize::from(number)];
            let (set, wait) = channel_pipes(timeline, instr, channel);
            let partner = if instr.role.sets() { wait } else { set };
            format!("{} {} ID:{}", instr.mnemonic.name(), partner, channel.sync_id())
        }
        _ => {
            let mut detail = Vec::new();
            push_detail(&mut detail, timeline, core, instr);
            let detail = String::from_utf8_lossy(&detail).into_owned();
            let parts: Vec<&str> = detail
                .split(',')
                .map(|part| {
                    let cut = part.find("=0x").or_else(|| part.find(":0x"));
                    cut.map_or(part, |at| &part[..at])
                })
                .collect();
            format!("{} {}", instr.mnemonic.name(), parts.join(",")).trim_end().to_owned()
        }
    }
}

fn push_pipes(out: &mut Vec<u8>, set: &str, wait: &str) {
    out.extend_from_slice(b"PIPE:");
    out.extend_from_slice(set.as_bytes());
    out.extend_from_slice(b",TRIGGERPIPE:");
    out.extend_from_slice(wait.as_bytes());
    out.push(b',');
}

/// The pipes at both ends of a channel. Set and wait must agree, so a pair is asked for both; a set that
/// nothing waits for names the pipe that would.
pub(crate) fn channel_pipes(timeline: &Timeline<'_>, instr: &Instr, channel: &Channel) -> (Pipe, Pipe) {
    if let Some(number) = instr.pair() {
        let pair = timeline.pairs[number as usize];
        let pipe = |at| timeline.instr(at).pipe;
        return (pipe(pair.set), pipe(pair.wait));
    }
    let sender = if channel.to_vector { Pipe::Fix } else { Pipe::Mte3 };
    (instr.pipe, if channel.free { sender } else { Pipe::Mte2 })
}

fn push_operands(out: &mut Vec<u8>, timeline: &Timeline<'_>, entry: &LogEntry, instr: &Instr) {
    match instr.mnemonic {
        Mnemonic::MoveMask => {
            // The upper half comes first; a count stands in the lower one.
            let mask = match (instr.repeats, instr.part) {
                (0, _) => u64::MAX,
                (_, 0) => 0,
                (count, _) => count.into(),
            };
            out.extend_from_slice(b"XN:X0=");
            push_hex(out, mask);
            out.extend_from_slice(if instr.part == 0 { b",Pos:1" } else { b",Pos:0" });
            return;
        }
        Mnemonic::MovSprXn => {
            out.extend_from_slice(b"SPR:CTRL,XN:X1=");
            push_hex(out, 1 - u64::from(instr.part.min(1)));
            return;
        }
        Mnemonic::Dcci | Mnemonic::Dsb => return,
        Mnemonic::Vf => {
            out.extend_from_slice(b"LOOP:X0=");
            push_hex(out, instr.repeats.into());
            return;
        }
        _ => {}
    }
    if let Some(path) = instr.path {
        let (src, dst) = path.ends();
        out.extend_from_slice(b"Src:");
        out.extend_from_slice(src.as_bytes());
        out.extend_from_slice(b",Dst:");
        out.extend_from_slice(dst.as_bytes());
        out.push(b',');
    }
    let registers = [&b"XD:X0="[..], b"XN:X1=", b"XM:X2=", b"XA:X3="];
    let used = entry.operands.iter().filter(|operand| operand.name != "tmp");
    for (register, operand) in registers.iter().zip(used) {
        out.extend_from_slice(register);
        push_hex(out, address(timeline, operand));
        out.push(b',');
    }
    if let Some(ScalarValue::I32(value)) = entry.scalars.first() {
        out.extend_from_slice(b"XS:X5=");
        push_hex(out, *value as u32 as u64);
        out.push(b',');
    }
    out.extend_from_slice(b"XT:X4=");
    push_hex(out, configuration(entry, instr));
    out.extend_from_slice(b",Dtype:");
    let computes = matches!(instr.track, Track::Vector | Track::Cube | Track::RvecEx);
    // Products are named by what they multiply.
    let typed = entry.operands.iter().find(|operand| operand.name == "left").or(entry.operands.first());
    let dtype = typed.map_or(DType::U8, |operand| match operand.place {
        OperandPlace::Tile { dtype, .. } | OperandPlace::Global { dtype, .. } => dtype,
    });
    out.extend_from_slice(type_name(dtype, computes).as_bytes());
    if let Some(operand) = entry.operands.first()
        && let OperandPlace::Tile { space, .. } = operand.place
        && instr.path.is_none()
    {
        out.extend_from_slice(b",Dst:");
        out.extend_from_slice(memory_name(space).as_bytes());
    }
}

fn address(timeline: &Timeline<'_>, operand: &LogOperand) -> u64 {
    match operand.place {
        OperandPlace::Tile { addr, .. } => addr.into(),
        OperandPlace::Global { addr, .. } => timeline.addresses.shown(addr),
    }
}

/// The configuration word: bytes for transfers, sizes for products, else repeats and strides.
fn configuration(entry: &LogEntry, instr: &Instr) -> u64 {
    if instr.path.is_some() || matches!(instr.track, Track::Scalar | Track::ScalarLdSt | Track::Mte2) {
        return instr.bytes;
    }
    if let argus_tile::Work::Product { m, k, n } = entry.work {
        return u64::from(m) | u64::from(k) << 12 | u64::from(n) << 24;
    }
    let repeats = u64::from(instr.repeats.min(255)) << 56;
    let sources = entry.operands.iter().filter(|operand| !operand.written && operand.name != "tmp").count();
    match sources {
        2.. => repeats | 0x0000_0808_0801_0101,
        _ => repeats | 0x0000_0808_0001_0001,
    }
}

fn type_name(dtype: DType, computes: bool) -> &'static str {
    if computes {
        match dtype {
            DType::F32 => return "F32",
            DType::F16 => return "F16",
            DType::Bf16 => return "BF16",
            DType::I32 => return "S32",
            DType::I16 => return "S16",
            DType::I8 => return "S8",
            _ => {}
        }
    }
    match dtype.size() {
        1 => "B8",
        2 => "B16",
        4 => "B32",
        _ => "B64",
    }
}
