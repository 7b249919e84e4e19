//! Arrays of numbers as bytes: little-endian, each at a multiple of the size of its elements.

/// Bytes that are put together column by column.
#[derive(Default)]
pub struct Columns {
    bytes: Vec<u8>,
}

impl Columns {
    /// Begins with four letters and a version.
    pub fn new(magic: &[u8; 4], version: u32) -> Columns {
        let mut columns = Columns { bytes: magic.to_vec() };
        columns.u32s([version]);
        columns
    }

    pub fn align(&mut self, to: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(to), 0);
    }

    pub fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.align(8);
    }

    pub fn u8s(&mut self, values: impl IntoIterator<Item = u8>) {
        self.bytes.extend(values);
    }

    pub fn u32s(&mut self, values: impl IntoIterator<Item = u32>) {
        self.align(4);
        values.into_iter().for_each(|value| self.bytes.extend_from_slice(&value.to_le_bytes()));
    }

    pub fn u64s(&mut self, values: impl IntoIterator<Item = u64>) {
        self.align(8);
        values.into_iter().for_each(|value| self.bytes.extend_from_slice(&value.to_le_bytes()));
    }

    pub fn f32s(&mut self, values: impl IntoIterator<Item = f32>) {
        self.u32s(values.into_iter().map(f32::to_bits));
    }

    pub fn f64s(&mut self, values: impl IntoIterator<Item = f64>) {
        self.u64s(values.into_iter().map(f64::to_bits));
    }

    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}
