//! Whether a task runs: a comparison of one element in device memory.

use argus_gm::Window;

/// How an element is compared with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterOrEqual,
    LessOrEqual,
}

/// A condition whose element was found when its task was submitted.
#[derive(Clone, Debug)]
pub struct Condition {
    /// Exactly the bytes of the element.
    pub element: Window,
    pub comparison: Comparison,
    pub target: i64,
}

impl Condition {
    /// Looks at the element as it is now.
    pub fn holds(&self) -> bool {
        let mut bytes = [0u8; 8];
        let width = (self.element.end() - self.element.start()).min(8) as usize;
        if self.element.read(self.element.start(), &mut bytes[..width]).is_err() {
            return false;
        }
        let unused = 64 - 8 * width.max(1) as u32;
        let value = i64::from_le_bytes(bytes) << unused >> unused;
        match self.comparison {
            Comparison::Equal => value == self.target,
            Comparison::NotEqual => value != self.target,
            Comparison::Greater => value > self.target,
            Comparison::Less => value < self.target,
            Comparison::GreaterOrEqual => value >= self.target,
            Comparison::LessOrEqual => value <= self.target,
        }
    }
}
