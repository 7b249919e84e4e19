//! Each pattern is found where it is, with its numbers, and none where there is only noise.

use argus_abi::DType;
use argus_facts::number::Number;
use argus_find::metrics::{Pair, Tolerance};
use argus_find::pattern::{Candidate, Confidence, Context, Finding, Input, Pattern, recognise};
use proptest::prelude::*;

use crate::data::{Dice, bits_of, pack};

const ROWS: usize = 16;
const COLUMNS: usize = 64;

/// A matrix of bits, expected and actual, of one dtype.
struct Case {
    dtype: DType,
    shape: Vec<u32>,
    expected: Vec<u64>,
    actual: Vec<u64>,
}

impl Case {
    /// Random values between -4 and 4, equal on both sides.
    fn new(dtype: DType, rows: usize, columns: usize) -> Case {
        let mut dice = Dice(42);
        let expected: Vec<u64> = (0..rows * columns).map(|_| bits_of(dtype, dice.unit() * 4.0)).collect();
        Case { dtype, shape: vec![rows as u32, columns as u32], actual: expected.clone(), expected }
    }

    fn f32() -> Case {
        Case::new(DType::F32, ROWS, COLUMNS)
    }

    fn columns(&self) -> usize {
        self.shape[self.shape.len() - 1] as usize
    }

    fn map(mut self, change: impl Fn(usize, usize, u64) -> u64) -> Case {
        let columns = self.columns();
        for (index, bits) in self.actual.iter_mut().enumerate() {
            *bits = change(index / columns, index % columns, *bits);
        }
        self
    }

    fn map_f32(self, change: impl Fn(usize, usize, f32) -> f32) -> Case {
        self.map(|row, column, bits| u64::from(change(row, column, f32::from_bits(bits as u32)).to_bits()))
    }

    fn found(&self) -> Vec<Finding> {
        self.found_with(None, &[], &[])
    }

    fn found_with(
        &self,
        before: Option<&[u8]>,
        stale: &[Candidate<'_>],
        inputs: &[Input<'_>],
    ) -> Vec<Finding> {
        let (actual, expected) = (pack(self.dtype, &self.actual), pack(self.dtype, &self.expected));
        let pair = Pair::new(self.dtype, self.expected.len() as u64, &actual, &expected).unwrap();
        let pair = pair.shaped(&self.shape).unwrap();
        let tolerance = Tolerance::default_for(self.dtype, None);
        recognise(&Context { pair: &pair, tolerance: &tolerance, before, stale, inputs })
    }
}

fn patterns(findings: &[Finding]) -> Vec<&Pattern> {
    findings.iter().map(|finding| &finding.pattern).collect()
}

#[track_caller]
fn assert_first(findings: &[Finding], pattern: Pattern, evidence: &str) {
    assert_eq!(findings[0].pattern, pattern, "{findings:#?}");
    assert_eq!(findings[0].evidence, evidence);
    assert_eq!(findings[0].confidence, Confidence::Strong);
}

#[test]
fn equal_payloads_have_no_pattern() {
    assert_eq!(Case::f32().found(), []);
    let before = pack(DType::F32, &Case::f32().expected);
    assert_eq!(Case::f32().found_with(Some(&before), &[], &[]), []);
    // Zeros that should be zeros are no pattern either.
    let mut zeros = Case::f32();
    zeros.expected.fill(0);
    zeros.actual.fill(0);
    assert_eq!(zeros.found(), []);
}

#[test]
fn all_zeros() {
    let case = Case::f32().map(|_, _, _| 0);
    assert_first(&case.found(), Pattern::AllZeros, "all 1024 elements are 0, 1024 of them should not be");
}

#[test]
fn a_zero_row_is_zeros_in_one_row() {
    let found = Case::f32().map(|row, _, bits| if row == 5 { 0 } else { bits }).found();
    assert_first(&found, Pattern::ZerosWhereWrong, "64 of 64 wrong elements are 0");
    assert_eq!(patterns(&found), [&Pattern::ZerosWhereWrong, &Pattern::Rows { from: 5, to: 5 }]);
    assert_eq!(
        found[1].evidence,
        "all 64 wrong elements lie in row 5 of 16 and columns 0..=63 of 64; 64 of 64 elements there are wrong"
    );
}

#[test]
fn never_written() {
    let before = Case::new(DType::F32, ROWS, COLUMNS).map_f32(|row, column, _| (row * 100 + column) as f32);
    let mut case = Case::f32();
    case.actual.clone_from(&before.actual);
    let found = case.found_with(Some(&pack(DType::F32, &before.actual)), &[], &[]);
    let evidence = "1024 of 1024 wrong elements hold what was there before the task, bit for bit";
    assert_first(&found, Pattern::NeverWritten, evidence);
}

#[test]
fn never_written_over_zeros_is_said_with_care() {
    let found = Case::f32().map(|_, _, _| 0).found_with(Some(&[0; ROWS * COLUMNS * 4]), &[], &[]);
    assert_eq!(patterns(&found), [&Pattern::AllZeros, &Pattern::NeverWritten]);
    assert_eq!(found[1].confidence, Confidence::Likely);
    assert!(found[1].evidence.contains("a task that writes that value would look the same"));
}

#[test]
fn poison_is_never_written() {
    let case = Case::f32().map(|_, column, bits| if column < 8 { 0xffff_ffff } else { bits });
    let evidence = "128 of 128 wrong elements hold 0xFF bytes, the poison of memory that was never written";
    assert_first(&case.found(), Pattern::NeverWritten, evidence);
}

#[test]
fn stale_values() {
    let mut dice = Dice(7);
    let earlier: Vec<u64> = (0..ROWS * COLUMNS).map(|_| bits_of(DType::F32, dice.unit())).collect();
    let other: Vec<u64> = (0..ROWS * COLUMNS).map(|_| bits_of(DType::F32, dice.unit())).collect();
    let case = Case::f32().map(
        |row, column, bits| {
            if column >= 58 { earlier[row * COLUMNS + column] } else { bits }
        },
    );
    let (earlier, other) = (pack(DType::F32, &earlier), pack(DType::F32, &other));
    let candidates =
        [Candidate { label: "task 9", bytes: &other }, Candidate { label: "task 4", bytes: &earlier }];
    let found = case.found_with(None, &candidates, &[]);
    let evidence = "96 of 96 wrong elements hold the value of task 4, bit for bit";
    assert_first(&found, Pattern::Stale { label: "task 4".to_owned() }, evidence);
    assert_eq!(found[1].pattern, Pattern::TailColumns { from: 58 });
    assert_eq!(found.len(), 2);
}

#[test]
fn rows_shifted() {
    let shift = |by: isize, rows: std::ops::Range<usize>| {
        let mut case = Case::f32();
        let expected = case.expected.clone();
        for row in rows {
            let from = row.checked_add_signed(-by).filter(|&from| from < ROWS);
            for column in 0..COLUMNS {
                case.actual[row * COLUMNS + column] =
                    from.map_or(0, |from| expected[from * COLUMNS + column]);
            }
        }
        case.found()
    };
    let evidence = "row 3 of 16 differ; row i equals expected row i-1 in 64 of 64 wrong elements";
    assert_first(&shift(1, 3..4), Pattern::RowsShifted { by: 1 }, evidence);
    let evidence = "rows 0..=15 of 16 differ; row i equals expected row i+2 in 896 of 896 wrong elements; \
                    128 more have no such row";
    assert_first(&shift(-2, 0..ROWS), Pattern::RowsShifted { by: -2 }, evidence);
}

#[test]
fn columns_shifted() {
    let mut case = Case::f32();
    let expected = case.expected.clone();
    for index in (0..ROWS * COLUMNS).filter(|index| index % COLUMNS >= 3) {
        case.actual[index] = expected[index - 3];
    }
    let evidence =
        "columns 3..=63 of 64 differ; column i equals expected column i-3 in 976 of 976 wrong elements";
    assert_first(&case.found(), Pattern::ColumnsShifted { by: 3 }, evidence);
}

#[test]
fn transposed() {
    for (rows, columns) in [(32, 32), (16, 48)] {
        let mut case = Case::new(DType::Bf16, rows, columns);
        for index in 0..rows * columns {
            case.actual[index] = case.expected[index % rows * columns + index / rows];
        }
        let found = case.found();
        assert_eq!(found[0].pattern, Pattern::Transposed, "{found:#?}");
        assert_eq!(found[0].confidence, Confidence::Strong);
    }
    // In every matrix of a stack.
    let mut case = Case::new(DType::F32, 24, 6);
    case.shape = vec![4, 6, 6];
    for index in 0..144 {
        let (start, inside) = (index / 36 * 36, index % 36);
        case.actual[index] = case.expected[start + inside % 6 * 6 + inside / 6];
    }
    assert_eq!(case.found()[0].pattern, Pattern::Transposed);
}

#[test]
fn sign_flipped() {
    let case = Case::f32().map_f32(|row, _, value| if row % 2 == 0 { -value } else { value });
    let evidence = "512 of 512 wrong elements equal the expected value with the other sign";
    assert_first(&case.found(), Pattern::SignFlipped, evidence);
}

#[test]
fn scaled_by_a_factor() {
    let factor = |case: Case| match case.found().first() {
        Some(Finding { pattern: Pattern::Scaled { factor }, .. }) => *factor,
        other => panic!("{other:#?}"),
    };
    assert_eq!(factor(Case::f32().map_f32(|_, _, value| value * 8.0)), 8.0);
    assert_eq!(factor(Case::f32().map_f32(|_, _, value| value / 3.0)), 1.0 / 3.0);
    assert_eq!(factor(Case::f32().map_f32(|_, _, value| value * -2.0)), -2.0);
    let odd = factor(Case::f32().map_f32(|_, _, value| value * 1.01));
    assert!((odd - 1.01).abs() < 1e-6, "{odd}");
    let mut integers = Case::new(DType::I32, ROWS, COLUMNS);
    let mut dice = Dice(3);
    for index in 0..ROWS * COLUMNS {
        let value = dice.below(2000) as i32 - 1000;
        integers.expected[index] = u64::from(value as u32);
        integers.actual[index] = u64::from((value * 16) as u32);
    }
    assert_eq!(factor(integers), 16.0);
}

#[test]
fn one_bit_flipped() {
    let case = Case::f32().map(|row, column, bits| if column == row * 3 { bits ^ 1 << 21 } else { bits });
    let evidence = "16 of 16 wrong elements differ in bit 21 and in no other; \
                    all other elements are equal bit for bit";
    assert_first(&case.found(), Pattern::BitFlipped { bit: 21 }, evidence);
    // A single element, in the top bit of its exponent.
    for (dtype, bit) in [(DType::F32, 30), (DType::Bf16, 14), (DType::F16, 14)] {
        let mut case = Case::new(dtype, ROWS, COLUMNS);
        case.actual[77] ^= 1 << bit;
        assert!(patterns(&case.found()).contains(&&Pattern::BitFlipped { bit }), "{dtype}");
    }
}

#[test]
fn saturation() {
    let mut case = Case::new(DType::F16, ROWS, COLUMNS);
    for index in (0..ROWS * COLUMNS).step_by(10) {
        case.expected[index] = bits_of(DType::F16, f64::INFINITY);
        case.actual[index] = bits_of(DType::F16, 65504.0);
    }
    let evidence = "103 of 103 wrong elements are exactly 65504; 103 of them should be beyond it";
    assert_first(&case.found(), Pattern::Saturated { limit: Number::Float(65504.0) }, evidence);
    // A cast to INT8 on the way to INT32.
    let mut case = Case::new(DType::I32, ROWS, COLUMNS);
    let mut dice = Dice(5);
    for index in 0..ROWS * COLUMNS {
        let value = dice.below(1000) as i32;
        case.expected[index] = u64::from(value as u32);
        case.actual[index] = u64::from(value.min(127) as u32);
    }
    assert_eq!(case.found()[0].pattern, Pattern::Saturated { limit: Number::Signed(127) });
}

#[test]
fn nan_comes_from_an_input_or_is_made_here() {
    let case =
        Case::f32().map_f32(|row, column, value| if row == 2 && column > 60 { f32::NAN } else { value });
    let clean = pack(DType::F32, &[0x3f80_0000; 8]);
    let mut dirty = pack(DType::Bf16, &[0x3f80; 8]);
    dirty[6..8].copy_from_slice(&0xff80u16.to_le_bytes());
    let x = Input { label: "input x", dtype: DType::F32, bytes: &clean };
    let w = Input { label: "input w", dtype: DType::Bf16, bytes: &dirty };
    let of = |inputs: &[Input<'_>]| case.found_with(None, &[], inputs).remove(0);
    let what = "3 NaN and 0 infinities where finite values are expected, the first at [2, 61]";
    let made = of(&[x]);
    assert_eq!((made.pattern, made.evidence), (Pattern::NonFiniteMade, format!("{what}; no input has any")));
    let inherited = of(&[x, w]);
    assert_eq!(inherited.pattern, Pattern::NonFiniteInherited { label: "input w".to_owned() });
    assert_eq!(inherited.evidence, format!("{what}; input w has 1, the first at element 3"));
    assert_eq!(of(&[]).pattern, Pattern::NonFiniteUnknown);
}

#[test]
fn rounding_in_the_last_bits() {
    let mut dice = Dice(9);
    let steps: Vec<i64> = (0..ROWS * COLUMNS).map(|_| dice.below(3) as i64 - 1).collect();
    let moved = |dtype, steps: &dyn Fn(usize) -> i64| {
        Case::new(dtype, ROWS, COLUMNS).map(|row, column, bits| {
            bits.wrapping_add_signed(steps(row * COLUMNS + column)) & (u64::MAX >> (64 - dtype.bits()))
        })
    };
    // Within the tolerance, and still worth saying. Bits grow away from zero, so signs matter.
    let found = moved(DType::Bf16, &|index| steps[index]).found();
    assert_eq!((patterns(&found), found[0].confidence), (vec![&Pattern::LastBits], Confidence::Strong));
    let magnitude_only = moved(DType::F32, &|_| 1).map(|_, _, bits| bits);
    assert_eq!(magnitude_only.found()[0].pattern, Pattern::LastBits);
    let mut upwards = Case::f32();
    upwards.actual = upwards
        .expected
        .iter()
        .map(|&bits| u64::from(f32::from_bits(bits as u32).next_up().to_bits()))
        .collect();
    assert_eq!(upwards.found()[0].pattern, Pattern::LastBitsBiased);
}

#[test]
fn where_it_is_wrong() {
    // What is wrong there is noise, so that only the place can be recognised.
    let place = |wrong: &dyn Fn(usize, usize) -> bool| {
        let mut dice = Dice(1);
        let noise: Vec<f32> = (0..ROWS * COLUMNS).map(|_| dice.unit() as f32 + 2.0).collect();
        let case = Case::f32().map_f32(|row, column, value| {
            if wrong(row, column) { value + noise[row * COLUMNS + column] } else { value }
        });
        let found = case.found();
        assert_eq!(found.len(), 1, "{found:#?}");
        found[0].pattern.clone()
    };
    assert_eq!(place(&|row, _| row == 3), Pattern::Rows { from: 3, to: 3 });
    assert_eq!(place(&|row, _| row >= 14), Pattern::TailRows { from: 14 });
    assert_eq!(place(&|row, _| (4..8).contains(&row)), Pattern::Rows { from: 4, to: 7 });
    assert_eq!(place(&|_, column| column >= 58), Pattern::TailColumns { from: 58 });
    assert_eq!(place(&|_, column| column == 0), Pattern::Columns { from: 0, to: 0 });
    let block = Pattern::Block { rows: (4, 7), columns: (8, 15) };
    assert_eq!(place(&|row, column| (4..8).contains(&row) && (8..16).contains(&column)), block);
    assert_eq!(place(&|_, _| true), Pattern::Unclear);
}

#[test]
fn unclear_says_what_can_be_counted() {
    let mut case = Case::f32();
    for index in [5, 400, 801] {
        case.actual[index] = bits_of(DType::F32, 9.1 + index as f64 * 0.37);
    }
    let found = case.found();
    assert_eq!(patterns(&found), [&Pattern::Unclear]);
    assert_eq!(
        found[0].evidence,
        "3 of 1024 elements are wrong, in 3 of 16 rows and 3 of 64 columns; no known pattern fits"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Independent noise on a random set of elements, with everything at hand that could be mistaken for its
    /// origin.
    #[test]
    fn noise_is_unclear(
        dtype in proptest::sample::select(DType::ALL.as_slice()),
        rows in 1usize..24,
        columns in 1usize..24,
        few_values in any::<bool>(),
        wrong_in in prop_oneof![Just(1u64), Just(3), Just(30)],
        seed in any::<u64>(),
    ) {
        let mut dice = Dice(seed);
        let mask = if dtype == DType::Bool { 1 } else { u64::MAX >> (64 - dtype.bits()) };
        // Values of a mask or a small enumeration, or any between -8 and 8; never NaN or an infinity.
        let draw = |dice: &mut Dice| {
            let value = if few_values { dice.below(3) as f64 } else { dice.unit() * 8.0 };
            bits_of(dtype, value) & mask
        };
        let elements = rows * columns;
        let expected: Vec<u64> = (0..elements).map(|_| draw(&mut dice)).collect();
        let noise: Vec<u64> = (0..elements).map(|_| draw(&mut dice)).collect();
        let before: Vec<u64> = (0..elements).map(|_| draw(&mut dice)).collect();
        let stale: Vec<u64> = (0..elements).map(|_| draw(&mut dice)).collect();
        let actual = (0..elements).map(|index| {
            if dice.below(wrong_in) == 0 { noise[index] } else { expected[index] }
        });
        let case = Case { dtype, shape: vec![rows as u32, columns as u32], actual: actual.collect(), expected };
        let stale = pack(dtype, &stale);
        let candidate = [Candidate { label: "an earlier task", bytes: &stale }];
        let found = case.found_with(Some(&pack(dtype, &before)), &candidate, &[]);
        // A BOOL that is wrong has the one value that is left: noise in it may say no more than where it is.
        for finding in &found {
            prop_assert_eq!(&finding.pattern, &Pattern::Unclear, "{:?}", found);
        }
    }

    /// Errors that depend on the value, but follow none of the patterns.
    #[test]
    fn a_smooth_error_is_unclear(seed in any::<u64>(), size in 0.01f64..0.5) {
        let mut dice = Dice(seed);
        let case = Case::f32();
        let noise: Vec<f32> = case.expected.iter().map(|_| (dice.unit() * size) as f32).collect();
        let case = case.map_f32(|row, column, value| value + noise[row * COLUMNS + column]);
        let found = case.found();
        prop_assert_eq!(patterns(&found), [&Pattern::Unclear], "{:?}", found);
    }
}
