//! From a task to its neighbours, in two flat lists.

pub struct Neighbours {
    starts: Vec<u32>,
    targets: Vec<u32>,
}

impl Neighbours {
    /// From edges in any order, all of them between tasks that exist. The neighbours of a task keep the order of its edges.
    pub fn new(tasks: usize, edges: impl Iterator<Item = (u32, u32)> + Clone) -> Neighbours {
        let mut starts = vec![0u32; tasks + 1];
        for (from, _) in edges.clone() {
            starts[from as usize + 1] += 1;
        }
        for at in 0..tasks {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut targets = vec![0; starts[tasks] as usize];
        for (from, to) in edges {
            let place = &mut next[from as usize];
            targets[*place as usize] = to;
            *place += 1;
        }
        Neighbours { starts, targets }
    }

    pub fn of(&self, task: u32) -> &[u32] {
        let task = task as usize;
        &self.targets[self.starts[task] as usize..self.starts[task + 1] as usize]
    }

    pub fn tasks(&self) -> usize {
        self.starts.len() - 1
    }
}
