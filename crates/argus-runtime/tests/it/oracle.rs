//! What a program must compute: its tasks one after the other, on plain vectors.

use std::collections::BTreeSet;

use argus_abi::{Tensor, TensorArgType};

use crate::generate::{Operand, ProgramSpec, TaskSpec};

/// Byte offset from the buffer's start and width of each element of a view, in logical order.
pub fn elements(view: &Tensor) -> (Vec<usize>, usize) {
    let width = view.dtype().unwrap().size();
    let mut offsets = vec![view.start_offset];
    for (&dim, &stride) in view.shape().iter().zip(view.stride()) {
        offsets = offsets
            .iter()
            .flat_map(|&base| (0..u64::from(dim)).map(move |index| base + index * u64::from(stride)))
            .collect();
    }
    (offsets.iter().map(|&at| view.addr as usize + at as usize * width).collect(), width)
}

fn bytes(operand: &Operand) -> BTreeSet<usize> {
    let (offsets, width) = elements(&operand.view);
    offsets.iter().flat_map(|&at| at..at + width).collect()
}

/// Whether two operands have a byte in common.
pub fn touches(a: &Operand, b: &Operand) -> bool {
    a.buffer == b.buffer && !bytes(a).is_disjoint(&bytes(b))
}

/// Whether the later of two tasks must wait for the earlier.
pub fn depends(earlier: &TaskSpec, later: &TaskSpec) -> bool {
    let writes = |operand: &Operand| operand.kind != TensorArgType::Input;
    earlier.operands.iter().any(|before| {
        later.operands.iter().any(|after| (writes(before) || writes(after)) && touches(before, after))
    })
}

/// Folds what a task reads into one number.
pub fn fold(sum: u64, value: u64) -> u64 {
    (sum.rotate_left(5) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// What a task writes to its `index`-th output element.
pub fn produce(sum: u64, index: usize, old: u64) -> u64 {
    fold(fold(sum, index as u64), old) >> 16
}

/// Runs the program in submission order and returns every buffer's bytes.
pub fn run(spec: &ProgramSpec) -> Vec<Vec<u8>> {
    let mut memory: Vec<Vec<u8>> = (spec.buffers.iter())
        .map(|buffer| vec![if buffer.external { 0x11 } else { 0xFF }; buffer.bytes()])
        .collect();
    for (number, task) in spec.tasks.iter().enumerate() {
        let read = |memory: &[Vec<u8>], buffer: usize, at: usize, width: usize| {
            let mut raw = [0u8; 8];
            raw[..width].copy_from_slice(&memory[buffer][at..at + width]);
            u64::from_le_bytes(raw)
        };
        let mut sum = number as u64;
        for input in task.operands.iter().filter(|operand| operand.kind == TensorArgType::Input) {
            let (offsets, width) = elements(&input.view);
            for at in offsets {
                sum = fold(sum, read(&memory, input.buffer, at, width));
            }
        }
        for output in task.operands.iter().filter(|operand| operand.kind != TensorArgType::Input) {
            let (offsets, width) = elements(&output.view);
            for (index, at) in offsets.into_iter().enumerate() {
                let inout = output.kind == TensorArgType::Inout;
                let old = if inout { read(&memory, output.buffer, at, width) } else { 0 };
                let value = produce(sum, index, old).to_le_bytes();
                memory[output.buffer][at..at + width].copy_from_slice(&value[..width]);
            }
        }
    }
    memory
}
