//! The first few different values of a payload.

use std::ops::BitXor;

use multiversion::multiversion;

use crate::summary::{DISTINCT_LIMIT, Distinct};

/// Elements that are compared with all known values at a time.
const STEP: usize = 256;

/// Bits of the values that came; gives up at one more than [`DISTINCT_LIMIT`].
#[derive(Clone, Copy, Debug)]
pub(super) struct DistinctValues {
    values: [u64; DISTINCT_LIMIT],
    len: usize,
    many: bool,
}

impl DistinctValues {
    /// With `wanted` false it does not look and says "many".
    pub(super) fn new(wanted: bool) -> DistinctValues {
        DistinctValues { values: [0; DISTINCT_LIMIT], len: 0, many: !wanted }
    }

    fn known(&self) -> &[u64] {
        &self.values[..self.len]
    }

    fn add(&mut self, value: u64) {
        if self.many || self.known().contains(&value) {
            return;
        }
        match self.values.get_mut(self.len) {
            Some(place) => {
                *place = value;
                self.len += 1;
            }
            None => self.many = true,
        }
    }

    /// Looks at elements of 2, 4 or 8 bytes.
    pub(super) fn take(&mut self, whole: &[u8], width: usize) {
        match width {
            2 => self.steps(whole, u16::from_le_bytes, |value| value as u16),
            4 => self.steps(whole, u32::from_le_bytes, |value| value as u32),
            _ => self.steps(whole, u64::from_le_bytes, |value| value),
        }
    }

    fn steps<const WIDTH: usize, T>(
        &mut self,
        whole: &[u8],
        read: impl Fn([u8; WIDTH]) -> T + Copy,
        narrow: impl Fn(u64) -> T,
    ) where
        T: Copy + Ord + Default + BitXor<Output = T> + Into<u64>,
    {
        for step in whole.as_chunks::<WIDTH>().0.chunks(STEP) {
            if self.many {
                return;
            }
            let mut known = [T::default(); DISTINCT_LIMIT];
            for (place, &value) in known.iter_mut().zip(self.known()) {
                *place = narrow(value);
            }
            if self.len == 0 || has_unknown(step, &known[..self.len], read) {
                step.iter().for_each(|&raw| self.add(read(raw).into()));
            }
        }
    }

    pub(super) fn merge(&mut self, other: &DistinctValues) {
        self.many |= other.many;
        other.known().iter().for_each(|&value| self.add(value));
    }

    pub(super) fn distinct(&self) -> Distinct {
        if self.many { Distinct::Many } else { Distinct::Few(self.len as u8) }
    }
}

/// Whether some element differs from every known value.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn has_unknown<const WIDTH: usize, T, F>(step: &[[u8; WIDTH]], known: &[T], read: F) -> bool
where
    T: Copy + Ord + Default + BitXor<Output = T>,
    F: Fn([u8; WIDTH]) -> T,
{
    let mut values = [T::default(); STEP];
    let values = &mut values[..step.len()];
    for (value, &raw) in values.iter_mut().zip(step) {
        *value = read(raw);
    }
    // Zero wherever the element is one of the known.
    let mut apart = [T::default(); STEP];
    let apart = &mut apart[..step.len()];
    for (index, &known) in known.iter().enumerate() {
        for (apart, &value) in apart.iter_mut().zip(&*values) {
            let bits = value ^ known;
            *apart = if index == 0 { bits } else { bits.min(*apart) };
        }
    }
    apart.iter().fold(T::default(), |most, &bits| most.max(bits)) != T::default()
}
