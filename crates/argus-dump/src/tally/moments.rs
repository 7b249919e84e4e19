//! Mean and deviation of values that come in batches.

/// Count, sum, and the sum of the squared distances from the mean.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    pub(super) count: u64,
    pub(super) sum: f64,
    pub(super) squares: f64,
}

impl Moments {
    /// Of a batch, from the sums of the distances from `origin` and of their squares.
    ///
    /// With an element of the batch as the origin no more than as many bits cancel as its count has.
    pub(super) fn around(origin: f64, count: u64, distances: f64, squares: f64) -> Moments {
        if count == 0 {
            return Moments::default();
        }
        let squares = (squares - distances * distances / count as f64).max(0.0);
        Moments { count, sum: origin * count as f64 + distances, squares }
    }

    pub(super) fn merge(&mut self, other: &Moments) {
        if self.count == 0 || other.count == 0 {
            *self = if self.count == 0 { *other } else { *self };
            return;
        }
        let apart = other.sum / other.count as f64 - self.sum / self.count as f64;
        self.squares += other.squares + between(self.count, other.count, apart);
        self.sum += other.sum;
        self.count += other.count;
    }

    pub(super) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

/// What two groups add to the squares because their means are `apart`.
pub(super) fn between(left: u64, right: u64, apart: f64) -> f64 {
    let (left, right) = (left as f64, right as f64);
    apart * apart * (left * (right / (left + right)))
}

/// The deviation that belongs to a sum of squares.
pub(super) fn deviation(squares: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| (squares / count as f64).sqrt())
}
