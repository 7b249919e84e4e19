//! Which task of a layer is above which: each near the middle of its neighbours.
//!
//! Layers are swept to and fro a fixed number of times. A layer that is much higher than the picture is wide is folded
//! into several columns, so that a hundred thousand independent tasks are a square and not a line.

use crate::neighbours::Neighbours;

/// Times that all layers are gone through, to the right and back. Later sweeps change little.
const SWEEPS: usize = 6;
/// Rows of a column that are never too many.
const FEW: usize = 32;

pub struct Rows {
    /// Tasks of each layer, from above.
    layers: Vec<Vec<u32>>,
    /// Of each task, as it would be drawn now.
    y: Vec<f32>,
    /// Rows of the highest column.
    height: usize,
}

impl Rows {
    /// Tasks in the order of their numbers.
    pub fn new(layer: &[u32]) -> Rows {
        let count = layer.iter().max().map_or(0, |&last| last as usize + 1);
        let mut layers = vec![Vec::new(); count];
        for (task, &layer) in layer.iter().enumerate() {
            layers[layer as usize].push(task as u32);
        }
        let height = FEW.max((layer.len() as f64).sqrt().ceil() as usize);
        let mut rows = Rows { layers, y: vec![0.0; layer.len()], height };
        for layer in 0..count {
            rows.settle(layer);
        }
        rows
    }

    pub fn layers(&self) -> usize {
        self.layers.len()
    }

    /// Moves tasks to their neighbours, alternately to those before and to those behind.
    pub fn untangle(&mut self, before: &Neighbours, behind: &Neighbours) {
        for sweep in 0..SWEEPS {
            if sweep % 2 == 0 {
                (0..self.layers.len()).for_each(|layer| self.sort(layer, before));
            } else {
                (0..self.layers.len()).rev().for_each(|layer| self.sort(layer, behind));
            }
        }
    }

    /// Sorts a layer by the middle of each task's neighbours. A task without any stays where it is.
    fn sort(&mut self, layer: usize, neighbours: &Neighbours) {
        let mut tasks = std::mem::take(&mut self.layers[layer]);
        let mut keyed: Vec<(f64, u32)> = tasks
            .iter()
            .map(|&task| {
                let around = neighbours.of(task);
                let sum: f64 = around.iter().map(|&other| f64::from(self.y[other as usize])).sum();
                let middle = match around.len() {
                    0 => f64::from(self.y[task as usize]),
                    count => sum / count as f64,
                };
                (middle, task)
            })
            .collect();
        // Stable: what has the same middle keeps its order.
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        tasks.clear();
        tasks.extend(keyed.into_iter().map(|(_, task)| task));
        self.layers[layer] = tasks;
        self.settle(layer);
    }

    /// Columns of a layer.
    fn columns(&self, layer: usize) -> usize {
        self.layers[layer].len().div_ceil(self.height).max(1)
    }

    /// Takes down how high each task of a layer is.
    fn settle(&mut self, layer: usize) {
        let columns = self.columns(layer);
        let tasks = &self.layers[layer];
        let middle = (tasks.len().div_ceil(columns).max(1) - 1) as f32 / 2.0;
        for (place, &task) in tasks.iter().enumerate() {
            self.y[task as usize] = (place / columns) as f32 - middle;
        }
    }

    /// Where each task is drawn: x and y.
    pub fn places(&self) -> (Vec<f32>, Vec<f32>) {
        let mut x = vec![0.0; self.y.len()];
        let mut first = 0;
        for (layer, tasks) in self.layers.iter().enumerate() {
            let columns = self.columns(layer);
            for (place, &task) in tasks.iter().enumerate() {
                x[task as usize] = (first + place % columns) as f32;
            }
            first += columns;
        }
        (x, self.y.clone())
    }
}
