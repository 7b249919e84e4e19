//! Task ids as the reference lays them out and shows them.
//!
//! One number has three meanings, and no field of an August file says which. Who wrote a capture is told by its files
//! ([`crate::directory`]); here is what an id means then.

use argus_abi::TaskId;

/// How the bits of a task id are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdLayout {
    /// Ring in bits 39..32, number within the ring below.
    Rings,
    /// Host-built graphs of August: ring 1 holds the inner tasks of a Graph, 1024 numbers for each outer task.
    InnerRing,
    /// Host-built graphs since September: bits 63..62 say what it is, bits 51..32 name the outer task.
    Spaces,
}

/// Inner tasks that an outer one may have in the layout of August.
const INNER_PER_OUTER: u32 = 1024;
const SPACE_SHIFT: u32 = 62;
const OUTER_MASK: u64 = (1 << 20) - 1;

/// What a task id says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Task {
        ring: u8,
        number: u32,
    },
    /// Task `node` inside the Graph that is task `outer`.
    Inner {
        outer: u32,
        node: u32,
    },
    Parameter {
        number: u32,
    },
}

impl IdLayout {
    pub fn place(self, id: TaskId) -> Place {
        let raw = id.raw();
        match self {
            IdLayout::InnerRing if id.ring() == 1 => {
                Place::Inner { outer: id.local() / INNER_PER_OUTER, node: id.local() % INNER_PER_OUTER }
            }
            IdLayout::Spaces if raw >> SPACE_SHIFT == 1 => {
                Place::Inner { outer: (raw >> 32 & OUTER_MASK) as u32, node: id.local() }
            }
            IdLayout::Spaces if raw >> SPACE_SHIFT == 2 => Place::Parameter { number: id.local() },
            _ => Place::Task { ring: id.ring(), number: id.local() },
        }
    }

    /// The outer task of an inner one.
    pub fn outer(self, id: TaskId) -> Option<TaskId> {
        match self.place(id) {
            Place::Inner { outer, .. } => Some(TaskId::new(0, outer)),
            _ => None,
        }
    }

    /// As the reference shows it: `r2t5`, `t5`, inner tasks `g3t5`.
    pub fn shown(self, id: TaskId) -> String {
        match self.place(id) {
            Place::Task { ring, number } if self == IdLayout::Rings => format!("r{ring}t{number}"),
            Place::Task { ring: 0, number } => format!("t{number}"),
            Place::Task { ring, number } => format!("r{ring}t{number}"),
            Place::Inner { outer, node } => format!("g{outer}t{node}"),
            Place::Parameter { number } => format!("p{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_number_means_what_its_layout_says() {
        let id = TaskId::from_raw(0x0000_0001_0000_0403);
        assert_eq!(IdLayout::Rings.place(id), Place::Task { ring: 1, number: 1027 });
        assert_eq!(IdLayout::InnerRing.place(id), Place::Inner { outer: 1, node: 3 });
        assert_eq!(IdLayout::InnerRing.outer(id), Some(TaskId::new(0, 1)));
        let september = TaskId::from_raw(4_611_686_027_017_322_498);
        assert_eq!(IdLayout::Spaces.place(september), Place::Inner { outer: 2, node: 2 });
        let shown = [IdLayout::Rings, IdLayout::InnerRing, IdLayout::Spaces].map(|layout| layout.shown(id));
        assert_eq!(shown, ["r1t1027", "g1t3", "r1t1027"]);
        assert_eq!(IdLayout::Spaces.shown(TaskId::from_raw(2 << 62 | 5)), "p5");
        assert_eq!(IdLayout::Spaces.shown(TaskId::new(0, 5)), "t5");
    }
}
