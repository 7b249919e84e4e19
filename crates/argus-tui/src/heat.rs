//! A plane of a tensor as pixels.
//!
//! What goes in: numbers and the room there is. What goes out: for each pixel the smallest and the largest
//! value of the elements it stands for and whether some are not finite, so that a single outlier among a
//! million still shows. At most [`BUDGET`] elements are looked at; how many is told.

use crate::tensor::{Plane, Tensor};

/// Elements looked at for one picture.
pub const BUDGET: u64 = 1 << 20;
/// Pixels between two questions whether the picture is still wanted.
const PATIENCE: u64 = 256;

/// What a pixel stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pixel {
    /// Of finite values; `min > max` if there is none.
    pub min: f64,
    pub max: f64,
    pub nan: bool,
    pub inf: bool,
}

impl Pixel {
    const EMPTY: Pixel = Pixel { min: f64::INFINITY, max: f64::NEG_INFINITY, nan: false, inf: false };

    fn add(&mut self, value: f64) {
        if value.is_finite() {
            self.min = self.min.min(value);
            self.max = self.max.max(value);
        } else if value.is_nan() {
            self.nan = true;
        } else {
            self.inf = true;
        }
    }
}

/// A picture.
#[derive(Clone, Debug)]
pub struct Heat {
    pub width: u64,
    pub height: u64,
    /// Row by row.
    pixels: Vec<Pixel>,
    /// Extremes of what was looked at; `low > high` if nothing is finite.
    pub low: f64,
    pub high: f64,
    pub looked_at: u64,
    /// Whether there are pixels of NaN, of infinities, and of nothing.
    pub nan: bool,
    pub inf: bool,
    pub missing: bool,
    plane: Plane,
}

/// What is drawn for a pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dot {
    /// From 0 for the coldest to 1 for the hottest.
    Value(f64),
    Nan,
    Inf,
    /// The payload does not have these elements.
    Missing,
}

impl Heat {
    /// A picture of at most `width` by `height` pixels; `None` if it is no longer wanted.
    pub fn new(
        tensor: &Tensor<'_>,
        plane: u64,
        width: u64,
        height: u64,
        wanted: &dyn Fn() -> bool,
    ) -> Option<Heat> {
        let shape = tensor.plane;
        let (width, height) = (width.min(shape.columns), height.min(shape.rows));
        let mut heat = Heat {
            width,
            height,
            pixels: Vec::new(),
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            looked_at: 0,
            nan: false,
            inf: false,
            missing: false,
            plane: shape,
        };
        let share = (BUDGET / (width * height).max(1)).max(1);
        for y in 0..height {
            for x in 0..width {
                if (y * width + x) % PATIENCE == 0 && !wanted() {
                    return None;
                }
                let pixel = heat.look(tensor, plane, x, y, share);
                heat.low = heat.low.min(pixel.min);
                heat.high = heat.high.max(pixel.max);
                heat.nan |= pixel.nan;
                heat.inf |= pixel.inf;
                heat.missing |= pixel == Pixel::EMPTY;
                heat.pixels.push(pixel);
            }
        }
        Some(heat)
    }

    /// Looks at some elements of a pixel, all if `share` allows.
    fn look(&mut self, tensor: &Tensor<'_>, plane: u64, x: u64, y: u64, share: u64) -> Pixel {
        let (rows, columns) = (self.rows_of(y), self.columns_of(x));
        let (height, width) = (rows.end - rows.start, columns.end - columns.start);
        let elements = height.saturating_mul(width);
        let step = elements.div_ceil(share).max(1);
        let mut pixel = Pixel::EMPTY;
        for turn in 0..elements.div_ceil(step) {
            // Steps of one length would see the same column again and again.
            let shift = (turn.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % step;
            let at = (turn * step).saturating_add(shift).min(elements - 1);
            let number = tensor.number(plane, rows.start + at / width, columns.start + at % width);
            if let Some(value) = number.and_then(|number| tensor.get(number)) {
                pixel.add(value.as_f64());
                self.looked_at += 1;
            }
        }
        pixel
    }

    /// Rows of the plane that a row of pixels stands for.
    pub fn rows_of(&self, y: u64) -> std::ops::Range<u64> {
        part(self.plane.rows, self.height, y)
    }

    pub fn columns_of(&self, x: u64) -> std::ops::Range<u64> {
        part(self.plane.columns, self.width, x)
    }

    /// The pixel that stands for an element, as x and y.
    pub fn pixel_of(&self, row: u64, column: u64) -> (u64, u64) {
        (inverse(self.plane.columns, self.width, column), inverse(self.plane.rows, self.height, row))
    }

    /// Row and column so many pixels on: the first ones that the pixel there stands for.
    pub fn moved(&self, row: u64, column: u64, down: i64, right: i64) -> (u64, u64) {
        let (x, y) = self.pixel_of(row, column);
        let to = |at: u64, by: i64, count: u64| at.saturating_add_signed(by).min(count.saturating_sub(1));
        let row = if down == 0 { row } else { self.rows_of(to(y, down, self.height)).start };
        let column = if right == 0 { column } else { self.columns_of(to(x, right, self.width)).start };
        (row, column)
    }

    /// Elements of the plane.
    pub fn elements(&self) -> u64 {
        self.plane.elements
    }

    pub fn pixel(&self, x: u64, y: u64) -> Option<&Pixel> {
        if x >= self.width {
            return None;
        }
        self.pixels.get(usize::try_from(y * self.width + x).ok()?)
    }

    /// Whether there are values on both sides of zero: then zero is the middle of the colours.
    pub fn is_signed(&self) -> bool {
        self.low < 0.0 && self.high > 0.0
    }

    /// The values at both ends of the colours.
    pub fn ends(&self) -> (f64, f64) {
        if self.is_signed() {
            let far = self.high.max(-self.low);
            (-far, far)
        } else {
            (self.low, self.high)
        }
    }

    /// What to draw. Of a pixel's values the one that is farther from the middle counts.
    pub fn dot(&self, x: u64, y: u64) -> Dot {
        let Some(pixel) = self.pixel(x, y) else { return Dot::Missing };
        if pixel.nan {
            return Dot::Nan;
        }
        if pixel.inf {
            return Dot::Inf;
        }
        if pixel.min > pixel.max {
            return Dot::Missing;
        }
        let (low, high) = (self.warmth(pixel.min), self.warmth(pixel.max));
        Dot::Value(if 0.5 - low > high - 0.5 { low } else { high })
    }

    /// Where a value lies between both ends.
    fn warmth(&self, value: f64) -> f64 {
        let (low, high) = self.ends();
        // The difference of two finite numbers may overflow; halves never do.
        let share = (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
        if share.is_nan() { 0.5 } else { share.clamp(0.0, 1.0) }
    }
}

/// Part `index` of `extent` things in `parts` almost equal parts.
fn part(extent: u64, parts: u64, index: u64) -> std::ops::Range<u64> {
    let border = |index: u64| {
        let border = u128::from(extent) * u128::from(index) / u128::from(parts.max(1));
        u64::try_from(border).unwrap_or(u64::MAX)
    };
    border(index)..border(index + 1)
}

/// The part that has thing `at`: the last one that begins at or before it.
fn inverse(extent: u64, parts: u64, at: u64) -> u64 {
    let last = parts.saturating_sub(1);
    let part = (u128::from(at) * u128::from(parts) + u128::from(last)) / u128::from(extent.max(1));
    u64::try_from(part).unwrap_or(last).min(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thing_is_in_exactly_one_part() {
        for extent in 1..40 {
            for parts in 1..=extent {
                for index in 0..parts {
                    for at in part(extent, parts, index) {
                        assert_eq!(inverse(extent, parts, at), index, "{at} of {extent} in {parts}");
                    }
                }
                assert_eq!(part(extent, parts, parts - 1).end, extent);
            }
        }
    }
}
