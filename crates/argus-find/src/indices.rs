//! Records by index, in the order in which a dump has them.

/// Indices of records. Those of a task nearly always follow each other, and then take no list: a dump may have millions
/// of tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Indices(Kept);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kept {
    Run {
        first: usize,
        count: u32,
    },
    #[expect(clippy::box_collection, reason = "a list is rare, and must not make a run larger")]
    List(Box<Vec<usize>>),
}

impl Default for Indices {
    fn default() -> Indices {
        Indices(Kept::Run { first: 0, count: 0 })
    }
}

impl Indices {
    pub(crate) fn push(&mut self, index: usize) {
        match &mut self.0 {
            Kept::Run { first, count } if *count == 0 => (*first, *count) = (index, 1),
            Kept::Run { first, count } if first.checked_add(*count as usize) == Some(index) => *count += 1,
            Kept::Run { .. } => {
                let list = self.iter().chain([index]).collect();
                self.0 = Kept::List(Box::new(list));
            }
            Kept::List(list) => list.push(index),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        let (run, list) = match &self.0 {
            Kept::Run { first, count } => (*first..*first + *count as usize, &[][..]),
            Kept::List(list) => (0..0, list.as_slice()),
        };
        run.chain(list.iter().copied())
    }

    pub fn is_empty(&self) -> bool {
        matches!(self.0, Kept::Run { count: 0, .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_comes_back_in_its_place() {
        for all in [&[][..], &[7], &[3, 4, 5], &[3, 4, 9, 10], &[5, 4], &[2, 2]] {
            let mut indices = Indices::default();
            all.iter().for_each(|&index| indices.push(index));
            assert_eq!(indices.iter().collect::<Vec<_>>(), all);
            assert_eq!(indices.is_empty(), all.is_empty());
        }
        assert_eq!(size_of::<Indices>(), 16);
    }
}
