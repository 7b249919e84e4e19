//! Both sides of a comparison once more, for a closer look.

use argus_abi::DType;

use super::Expectation;
use super::task::{expected, place};
use crate::align::Side;
use crate::golden::Values;

/// What was compared.
pub struct Again {
    pub dtype: DType,
    /// What the values should be.
    pub wanted: Vec<u8>,
    /// The actual values, where they were widened to compare.
    pub widened: Option<Vec<u8>>,
}

/// Fetches both sides of a comparison of the task at `at` again: `record`, and the record of the other dump that it was
/// compared with, if there was one. `None` if one of them cannot be had.
pub fn again(
    subject: Side<'_>,
    expectation: &Expectation<'_>,
    at: usize,
    record: usize,
    expected_record: Option<usize>,
) -> Option<Again> {
    let record = subject.dump.record(record);
    let dtype = record.dtype?;
    let own = |wanted: Vec<u8>| Some(Again { dtype, wanted, widened: None });
    match expectation {
        Expectation::Against(other) => {
            let expected = other.dump.record(expected_record?);
            own(other.dump.payload(&expected).ok()?.to_vec())
        }
        Expectation::Golden(folder) => match folder.values(place(&record), dtype, record.numel()?)?.ok()?.1 {
            Values::Own(bytes) => own(bytes),
            Values::F32(wanted) => {
                let widened =
                    Some(crate::compare::widen(dtype, subject.dump.payload(&record).ok()?, record.numel()?)?);
                Some(Again { dtype: DType::F32, wanted, widened })
            }
        },
        Expectation::Isolated(references) => {
            let expected = expected(subject, subject.tasks.get(at), *references).ok()?;
            let expected = expected.into_iter().find(|expected| expected.slot == record.arg_index)?;
            let mut wanted = expected.bytes;
            if let (Some(mask), Ok(actual)) = (expected.unchecked, subject.dump.payload(&record)) {
                crate::compare::take_over(dtype, &mask, actual, &mut wanted);
            }
            own(wanted)
        }
    }
}
