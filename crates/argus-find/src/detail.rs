//! Where in a tensor it is wrong.

use argus_facts::number::{Number, element};
use serde::Serialize;

use crate::metrics::{Element, Pair, Tolerance};

/// Elements that are named.
const WORST: usize = 5;
/// A map has at most so many rows and columns.
const ROWS: u64 = 32;
const COLUMNS: u64 = 64;

/// The worst elements and a map of all of them.
#[derive(Clone, Debug, Serialize)]
pub struct Detail {
    /// Largest error first; NaN and infinities before any number.
    pub worst: Vec<Element>,
    pub map: ErrorMap,
}

/// Errors by place: the tensor as a matrix of its last dimension, in cells of equal size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ErrorMap {
    /// Rows and columns of the tensor, and of the map.
    pub tensor: [u64; 2],
    pub rows: u64,
    pub columns: u64,
    /// Elements beyond the tolerance of each cell, row by row.
    pub beyond: Vec<u64>,
    /// Largest error of each cell; JSON null where it is not finite.
    pub largest: Vec<f64>,
    /// Elements of a cell, at most.
    pub cell: u64,
}

/// Looks at every element.
pub fn look(pair: &Pair<'_>, tolerance: &Tolerance) -> Detail {
    let columns = pair.shape().last().map_or(1, |&extent| u64::from(extent)).max(1);
    let rows = pair.elements().div_ceil(columns);
    let mut map = ErrorMap::new(rows, columns);
    let mut worst: Vec<(f64, u64)> = Vec::new();
    for index in 0..pair.elements() {
        let of = |payload| element(pair.dtype(), payload, index);
        let (Some(actual), Some(expected)) = (of(pair.actual()), of(pair.expected())) else { break };
        let error = error(actual, expected);
        if error == 0.0 {
            continue;
        }
        // An expected infinity would allow everything.
        let allowed = tolerance.atol() + tolerance.rtol() * expected.as_f64().abs();
        let beyond = error > allowed || error == f64::INFINITY;
        map.add(index / columns, index % columns, error, beyond);
        if beyond && (worst.len() < WORST || worst.last().is_some_and(|&(least, _)| error > least)) {
            let place = worst.partition_point(|&(larger, _)| larger >= error);
            worst.insert(place, (error, index));
            worst.truncate(WORST);
        }
    }
    Detail { worst: worst.iter().filter_map(|&(_, index)| pair.element(index)).collect(), map }
}

/// Infinite where one side is NaN or infinite and the other is not the same.
fn error(actual: Number, expected: Number) -> f64 {
    let exact = match (actual, expected) {
        (Number::Signed(a), Number::Signed(b)) => a.abs_diff(b) as f64,
        (Number::Unsigned(a), Number::Unsigned(b)) => a.abs_diff(b) as f64,
        (a, b) => {
            let (a, b) = (a.as_f64(), b.as_f64());
            if a == b || a.is_nan() && b.is_nan() { 0.0 } else { (a - b).abs() }
        }
    };
    if exact.is_nan() { f64::INFINITY } else { exact }
}

impl ErrorMap {
    fn new(tensor_rows: u64, tensor_columns: u64) -> ErrorMap {
        let (rows, columns) = (tensor_rows.clamp(1, ROWS), tensor_columns.clamp(1, COLUMNS));
        let cells = (rows * columns) as usize;
        let cell = tensor_rows.div_ceil(rows) * tensor_columns.div_ceil(columns);
        ErrorMap {
            tensor: [tensor_rows, tensor_columns],
            rows,
            columns,
            beyond: vec![0; cells],
            largest: vec![0.0; cells],
            cell,
        }
    }

    fn add(&mut self, row: u64, column: u64, error: f64, beyond: bool) {
        let scale =
            |at: u64, of: u64, to: u64| (u128::from(at) * u128::from(to) / u128::from(of.max(1))) as u64;
        let row = scale(row, self.tensor[0], self.rows);
        let column = scale(column, self.tensor[1], self.columns);
        let at = (row * self.columns + column) as usize;
        self.beyond[at] += u64::from(beyond);
        self.largest[at] = self.largest[at].max(error);
    }

    /// Lines of blocks: the fuller a cell, the darker.
    pub fn lines(&self) -> Vec<String> {
        let shade = |&count: &u64| match count as f64 / self.cell.max(1) as f64 {
            0.0 => '·',
            share if share < 0.25 => '░',
            share if share < 0.5 => '▒',
            share if share < 0.75 => '▓',
            _ => '█',
        };
        self.beyond.chunks(self.columns as usize).map(|row| row.iter().map(shade).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use argus_abi::DType;

    use super::*;

    #[test]
    fn the_map_shows_where_and_the_list_shows_what() {
        let bytes = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        let expected = bytes(&[1.0; 8]);
        let actual = bytes(&[1.0, 1.0, 1.0, 1.0, 0.0, f32::NAN, 1.0, 3.0]);
        let pair = Pair::new(DType::F32, 8, &actual, &expected).unwrap().shaped(&[2, 4]).unwrap();
        let detail = look(&pair, &Tolerance::EXACT);
        assert_eq!(detail.map.lines(), ["····", "██·█"]);
        assert_eq!(detail.worst.iter().map(|element| element.index).collect::<Vec<_>>(), [5, 7, 4]);
        assert_eq!(detail.map.largest, [0.0, 0.0, 0.0, 0.0, 1.0, f64::INFINITY, 0.0, 2.0]);
    }

    #[test]
    fn large_tensors_are_mapped_in_cells() {
        let expected = vec![0u8; 64 * 128];
        let mut actual = expected.clone();
        // The last two columns of every row.
        (0..64).for_each(|row| actual[row * 128 + 126..row * 128 + 128].fill(1));
        let pair = Pair::new(DType::U8, 64 * 128, &actual, &expected).unwrap().shaped(&[64, 128]).unwrap();
        let map = look(&pair, &Tolerance::EXACT).map;
        assert_eq!((map.rows, map.columns, map.cell), (32, 64, 4));
        assert!(map.lines().iter().all(|line| *line == format!("{}█", "·".repeat(63))));
    }
}
