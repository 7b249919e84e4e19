//! Overlap compared with the sets of bytes that two views touch.

use std::collections::BTreeSet;

use argus_abi::{DType, Overlap, Tensor};
use proptest::prelude::*;

use crate::views::{Op, apply, offsets, op};

fn bytes(tensor: &Tensor) -> BTreeSet<u64> {
    let width = u64::from(tensor.dtype().unwrap().bits() / 8);
    offsets(tensor).iter().flat_map(|&at| tensor.addr + at * width..tensor.addr + (at + 1) * width).collect()
}

fn view_of(shape: &[u32], dtype: DType, addr: u64, ops: &[Op]) -> Tensor {
    let start = Tensor::contiguous(addr, dtype, shape).unwrap();
    ops.iter().fold(start, |tensor, op| apply(&tensor, op).map_or(tensor, |(view, _)| view))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn overlap_never_misses_a_shared_byte_and_never_claims_cover_wrongly(
        shape in proptest::collection::vec(1u32..6, 2..=3),
        other in proptest::option::of(proptest::collection::vec(1u32..6, 2..=3)),
        ops_a in proptest::collection::vec(op(), 0..4),
        ops_b in proptest::collection::vec(op(), 0..4),
        same_type: bool,
        shift in 0u64..5,
    ) {
        let a = view_of(&shape, DType::F32, 4096, &ops_a);
        let dtype = if same_type { DType::F32 } else { DType::I16 };
        let b = view_of(other.as_ref().unwrap_or(&shape), dtype, 4096 + 4 * shift, &ops_b);
        let (bytes_a, bytes_b) = (bytes(&a), bytes(&b));
        match a.overlap(&b) {
            Overlap::None => prop_assert!(bytes_a.is_disjoint(&bytes_b)),
            Overlap::Partial => {}
            Overlap::Covers => prop_assert!(bytes_a.is_superset(&bytes_b)),
        }
        // Boxes of one tensor get the exact answer.
        let boxes = ops_a.iter().chain(&ops_b).all(|op| matches!(op, Op::View(_)));
        if boxes && other.is_none() && same_type && shift == 0 {
            let exact = if bytes_a.is_disjoint(&bytes_b) {
                Overlap::None
            } else if bytes_a.is_superset(&bytes_b) {
                Overlap::Covers
            } else {
                Overlap::Partial
            };
            prop_assert_eq!(a.overlap(&b), exact);
        }
    }
}

#[test]
fn neighbouring_columns_do_not_overlap() {
    let t = Tensor::contiguous(0, DType::F32, &[8, 8]).unwrap();
    let left = t.view(&[8, 4], &[0, 0]).unwrap();
    let right = t.view(&[8, 4], &[0, 4]).unwrap();
    assert_eq!(left.overlap(&right), Overlap::None);
    assert_eq!(t.overlap(&right), Overlap::Covers);
    assert_eq!(left.overlap(&t), Overlap::Partial);
    let even = t.slice(1, 0, 8, 2).unwrap();
    let odd = t.slice(1, 1, 8, 2).unwrap();
    assert_eq!(even.overlap(&odd), Overlap::None);
}

#[test]
fn types_of_different_width_are_compared_in_bytes() {
    let words = Tensor::contiguous(4096, DType::F32, &[16]).unwrap();
    let halves = Tensor::contiguous(4096, DType::Bf16, &[32]).unwrap();
    let late = words.view(&[4], &[8]).unwrap();
    let by_halves = halves.view(&[4], &[16]).unwrap();
    assert_ne!(late.overlap(&by_halves), Overlap::None, "element 8 of f32 is element 16 of bf16");
    let early = halves.view(&[4], &[8]).unwrap();
    assert_eq!(late.overlap(&early), Overlap::None, "equal element numbers, different bytes");
}
