//! Views compared with a model that lists every element's offset.

use argus_abi::{DType, Tensor, ViewError};
use proptest::prelude::*;

/// Offsets of a view's elements in logical order, straight from the definition.
pub fn offsets(tensor: &Tensor) -> Vec<u64> {
    let mut all = vec![tensor.start_offset];
    for (&dim, &stride) in tensor.shape().iter().zip(tensor.stride()) {
        all = all
            .iter()
            .flat_map(|&base| (0..u64::from(dim)).map(move |i| base + i * u64::from(stride)))
            .collect();
    }
    all
}

/// One operation on a view.
#[derive(Clone, Debug)]
pub enum Op {
    View(Vec<(u32, u32)>),
    Transpose(usize, usize),
    Permute(u64),
    Slice(usize, u32, u32, u32),
    Flatten,
}

pub fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        proptest::collection::vec((0u32..6, 0u32..6), 5).prop_map(Op::View),
        (0usize..5, 0usize..5).prop_map(|(a, b)| Op::Transpose(a, b)),
        any::<u64>().prop_map(Op::Permute),
        (0usize..5, 0u32..6, 0u32..6, 1u32..4).prop_map(|(d, a, b, s)| Op::Slice(d, a, b, s)),
        Just(Op::Flatten),
    ]
}

/// Applies an operation, bent so that it fits; `None` where the operation itself is refused.
pub fn apply(tensor: &Tensor, op: &Op) -> Option<(Tensor, Vec<u64>)> {
    let rank = tensor.rank();
    let before = offsets(tensor);
    let shape: Vec<u32> = tensor.shape().to_vec();
    let pick = |index: &[u64]| {
        let flat = index.iter().zip(&shape).fold(0, |flat, (&i, &dim)| flat * u64::from(dim) + i);
        before[flat as usize]
    };
    let enumerate = |dims: &[u32]| {
        dims.iter().fold(vec![vec![]], |all: Vec<Vec<u64>>, &dim| {
            all.iter()
                .flat_map(|head| {
                    (0..u64::from(dim)).map(move |i| {
                        let mut next = head.clone();
                        next.push(i);
                        next
                    })
                })
                .collect()
        })
    };
    match op {
        Op::View(parts) => {
            let (dims, starts): (Vec<u32>, Vec<u32>) = shape
                .iter()
                .zip(parts)
                .map(|(&dim, &(start, len))| (len.min(dim - start.min(dim)), start.min(dim)))
                .unzip();
            let view = tensor.view(&dims, &starts).ok()?;
            let model = enumerate(&dims)
                .iter()
                .map(|index| {
                    let moved: Vec<u64> =
                        index.iter().zip(&starts).map(|(&i, &s)| i + u64::from(s)).collect();
                    pick(&moved)
                })
                .collect();
            Some((view, model))
        }
        Op::Transpose(a, b) => {
            let (a, b) = (a % rank, b % rank);
            let view = tensor.transpose(a, b).ok()?;
            let mut dims = shape.clone();
            dims.swap(a, b);
            let model = enumerate(&dims)
                .iter()
                .map(|index| {
                    let mut back = index.clone();
                    back.swap(a, b);
                    pick(&back)
                })
                .collect();
            Some((view, model))
        }
        Op::Permute(seed) => {
            let mut order: Vec<usize> = (0..rank).collect();
            let mut seed = *seed;
            for i in (1..rank).rev() {
                order.swap(i, (seed % (i as u64 + 1)) as usize);
                seed /= i as u64 + 1;
            }
            let view = tensor.permute(&order).ok()?;
            let dims: Vec<u32> = order.iter().map(|&from| shape[from]).collect();
            let model = enumerate(&dims)
                .iter()
                .map(|index| {
                    let mut back = vec![0; rank];
                    for (to, &from) in order.iter().enumerate() {
                        back[from] = index[to];
                    }
                    pick(&back)
                })
                .collect();
            Some((view, model))
        }
        Op::Slice(dim, a, b, step) => {
            let dim = dim % rank;
            let (a, b) = ((*a).min(shape[dim]), (*b).min(shape[dim]));
            let (start, end) = (a.min(b), a.max(b));
            let view = tensor.slice(dim, start, end, *step).ok()?;
            let kept: Vec<u64> = (start..end).step_by(*step as usize).map(u64::from).collect();
            let mut dims = shape.clone();
            dims[dim] = kept.len() as u32;
            let model = enumerate(&dims)
                .iter()
                .map(|index| {
                    let mut back = index.clone();
                    back[dim] = kept[index[dim] as usize];
                    pick(&back)
                })
                .collect();
            Some((view, model))
        }
        Op::Flatten => {
            let view = tensor.reshape(&[shape.iter().product()]).ok()?;
            Some((view, before))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn views_name_the_elements_they_say(
        shape in proptest::collection::vec(1u32..6, 1..=5),
        ops in proptest::collection::vec(op(), 0..5),
    ) {
        let mut tensor = Tensor::contiguous(4096, DType::F16, &shape).unwrap();
        for op in &ops {
            let Some((view, model)) = apply(&tensor, op) else { continue };
            let listed = offsets(&view);
            prop_assert_eq!(&listed, &model);
            prop_assert_eq!(view.numel(), model.len() as u64);
            prop_assert!(view.fits_buffer());
            // Extent, byte range, density and runs follow from the elements alone.
            let (first, last) = (listed.iter().min(), listed.iter().max());
            if let (Some(&first), Some(&last)) = (first, last) {
                prop_assert_eq!(view.start_offset, first);
                prop_assert_eq!(view.extent, last - first + 1);
                prop_assert_eq!(view.byte_range().unwrap(), 4096 + 2 * first..4096 + 2 * last + 2);
            } else {
                prop_assert_eq!(view.extent, 0);
                prop_assert!(view.byte_range().unwrap().is_empty());
            }
            let dense = listed.windows(2).all(|pair| pair[1] == pair[0] + 1);
            prop_assert_eq!(view.is_dense(), dense);
            if view.is_contiguous == 1 {
                prop_assert!(dense);
            }
            let runs = view.runs();
            let length = runs.run_len();
            let from_runs: Vec<u64> = runs.flat_map(|at| at..at + length).collect();
            prop_assert_eq!(&from_runs, &listed);
            for (flat, &offset) in listed.iter().enumerate() {
                let mut rest = flat as u64;
                let mut index = vec![0u32; view.rank()];
                for dim in (0..view.rank()).rev() {
                    index[dim] = (rest % u64::from(view.shapes[dim])) as u32;
                    rest /= u64::from(view.shapes[dim]);
                }
                prop_assert_eq!(view.element_offset(&index), Some(offset));
            }
            tensor = view;
        }
    }
}

#[test]
fn a_column_of_a_matrix_is_not_contiguous() {
    let matrix = Tensor::contiguous(0, DType::F32, &[16, 16]).unwrap();
    let column = matrix.view(&[16, 1], &[0, 0]).unwrap();
    assert_eq!((column.shape(), column.stride()), (&[16, 1][..], &[16, 1][..]));
    assert_eq!(column.is_contiguous, 0);
    assert_eq!(column.packed_bytes(), Some(64));
    assert_eq!(column.byte_range(), Some(0..964));
    assert_eq!(column.reshape(&[16]).unwrap_err(), ViewError::NotContiguous);
}

#[test]
fn a_single_row_is_dense_although_its_stride_is_not_row_major() {
    let matrix = Tensor::contiguous(0, DType::F32, &[4, 32]).unwrap();
    let row = matrix.view(&[1, 16], &[2, 8]).unwrap();
    assert_eq!(row.is_contiguous, 0, "the flag is strict, as in the reference");
    assert!(row.is_dense());
    assert_eq!(row.reshape(&[4, 4]).unwrap().start_offset, 72);
}

#[test]
fn empty_views_are_allowed_anywhere() {
    let matrix = Tensor::contiguous(64, DType::F32, &[4, 4]).unwrap();
    let empty = matrix.view(&[0, 4], &[4, 0]).unwrap();
    assert!(empty.is_empty());
    assert_eq!((empty.extent, empty.is_contiguous, empty.packed_bytes()), (0, 1, Some(0)));
    assert_eq!(matrix.slice(0, 4, 4, 1).unwrap().numel(), 0);
    assert_eq!(empty.runs().count(), 0);
}

#[test]
fn views_that_leave_the_tensor_are_refused() {
    let t = Tensor::contiguous(0, DType::F32, &[4, 4]).unwrap();
    assert_eq!(t.view(&[2, 5], &[0, 0]).unwrap_err(), ViewError::OutOfRange { dim: 1, end: 5, limit: 4 });
    let far = t.view(&[2, 2], &[u32::MAX, 0]).unwrap_err();
    assert_eq!(far, ViewError::OutOfRange { dim: 0, end: u64::from(u32::MAX) + 2, limit: 4 });
    assert_eq!(t.view(&[2], &[0, 0]).unwrap_err(), ViewError::RankMismatch { got: 1, expected: 2 });
    assert_eq!(t.transpose(0, 2).unwrap_err(), ViewError::NoSuchDim { dim: 2, ndims: 2 });
    assert_eq!(t.permute(&[1, 1]).unwrap_err(), ViewError::NotAPermutation);
    assert_eq!(t.slice(0, 0, 4, 0).unwrap_err(), ViewError::ZeroStep);
    assert_eq!(t.slice(0, 3, 2, 1).unwrap_err(), ViewError::Reversed { start: 3, end: 2 });
    assert_eq!(t.reshape(&[3, 5]).unwrap_err(), ViewError::NumelMismatch { from: 16, to: 15 });
    assert_eq!(t.reshape(&[]).unwrap_err(), ViewError::Rank { got: 0 });
}

#[test]
fn sizes_beyond_32_bits_do_not_wrap() {
    let big = Tensor::contiguous(0, DType::F32, &[3, 1 << 31]).unwrap();
    assert_eq!(big.numel(), 3 << 31);
    assert_eq!(big.extent, 3 << 31);
    assert_eq!(big.packed_bytes(), Some(3 << 33));
    let row = big.view(&[1, 4], &[2, 0]).unwrap();
    assert_eq!(row.start_offset, 1 << 32);
    let too_long = Tensor::contiguous(0, DType::U8, &[2, 1 << 31, 4]);
    assert_eq!(too_long.unwrap_err(), ViewError::TooLarge, "a stride of 2^33 does not fit");
    assert_eq!(Tensor::contiguous(u64::MAX - 8, DType::F32, &[4]).unwrap_err(), ViewError::TooLarge);
}

#[test]
fn packed_fp4_counts_nibbles() {
    let t = Tensor::contiguous(1000, DType::Fp4E2M1, &[7]).unwrap();
    assert_eq!(t.size, 4);
    let tail = t.view(&[2], &[3]).unwrap();
    assert_eq!(tail.byte_range(), Some(1001..1003), "elements 3 and 4 lie in bytes 1 and 2");
    assert_eq!(tail.packed_bytes(), Some(1));
}
