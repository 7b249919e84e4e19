//! How a tensor is seen: as planes of rows and columns.
//!
//! The last two dimensions are rows and columns, the others are counted through. A list is folded into rows of at most
//! [`FOLD`] elements; the last one may be shorter.

/// Columns of a folded list.
pub const FOLD: u64 = 1024;
/// Rows and columns of a tile.
pub const TILE: u64 = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planes {
    pub planes: u64,
    pub rows: u64,
    pub cols: u64,
    /// Of a plane; less than rows times columns if the last row is shorter.
    pub elements: u64,
}

impl Planes {
    /// `None` if the product of the dimensions is no number.
    pub fn of(shape: &[u64]) -> Option<Planes> {
        let planes = |shape: &[u64]| shape.iter().try_fold(1u64, |all, &extent| all.checked_mul(extent));
        let (planes, rows, cols, elements) = match *shape {
            [] => (1, 1, 1, 1),
            [elements] => {
                let cols = elements.clamp(1, FOLD);
                (1, elements.div_ceil(cols), cols, elements)
            }
            [ref outer @ .., rows, cols] => (planes(outer)?, rows, cols, rows.checked_mul(cols)?),
        };
        planes.checked_mul(elements)?;
        Some(Planes { planes, rows, cols, elements })
    }

    /// Levels of the pyramid: the last one is a single tile.
    pub fn levels(&self) -> u32 {
        let longest = self.rows.max(self.cols).max(1);
        let tiles = longest.div_ceil(TILE);
        tiles.next_power_of_two().trailing_zeros() + 1
    }

    /// Rows and columns in cells of a level.
    pub fn cells(&self, level: u32) -> (u64, u64) {
        let shrunk = |extent: u64| extent.div_ceil(1 << level.min(62));
        (shrunk(self.rows), shrunk(self.cols))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_are_planes_of_rows_and_columns() {
        let seen =
            |shape: &[u64]| Planes::of(shape).map(|p| (p.planes, p.rows, p.cols, p.elements, p.levels()));
        assert_eq!(seen(&[]), Some((1, 1, 1, 1, 1)));
        assert_eq!(seen(&[0]), Some((1, 0, 1, 0, 1)));
        assert_eq!(seen(&[10]), Some((1, 1, 10, 10, 1)));
        assert_eq!(seen(&[1025]), Some((1, 2, 1024, 1025, 3)));
        assert_eq!(seen(&[3, 2, 256, 257]), Some((6, 256, 257, 256 * 257, 2)));
        assert_eq!(seen(&[32768, 32768]), Some((1, 32768, 32768, 1 << 30, 8)));
        assert_eq!(seen(&[u64::MAX, 2]), None);
        assert_eq!(Planes::of(&[300, 513]).unwrap().cells(1), (150, 257));
    }
}
