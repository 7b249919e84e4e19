//! Host and device on one axis, where the file has clock anchors that hold.

use serde::Deserialize;

use super::Times;

#[derive(Deserialize)]
pub(super) struct ClockAnchors {
    raw_device_timestamp_unit: Option<String>,
    #[serde(default)]
    samples: Vec<Sample>,
}

#[derive(Deserialize)]
struct Sample {
    position: String,
    /// A sample that failed may lack what it should have measured.
    host_before_ns: Option<u64>,
    host_after_ns: Option<u64>,
    device_cycles: Option<u64>,
    error: Option<serde::de::IgnoredAny>,
}

impl Sample {
    /// The moment in the middle, and the round trip.
    fn anchor(&self) -> Option<(Anchor, u64)> {
        let (before, after) = self.host_before_ns.zip(self.host_after_ns)?;
        let round_trip = after.checked_sub(before).filter(|_| self.error.is_none())?;
        Some((Anchor { host_ns: before + round_trip / 2, device: self.device_cycles? }, round_trip))
    }
}

/// What the converter of September adds: one anchor and how far it may be off.
#[derive(Deserialize)]
pub(super) struct ClockAlignment {
    status: String,
    device_anchor_cycles: Option<u64>,
    host_anchor_ns: Option<u64>,
    host_anchor_min_ns: Option<u64>,
    host_anchor_max_ns: Option<u64>,
}

impl ClockAlignment {
    pub(super) fn alignment(&self) -> Alignment {
        let anchor = self.device_anchor_cycles.zip(self.host_anchor_ns).filter(|_| self.status == "bounded");
        let Some((device, host_ns)) = anchor else {
            return Alignment::NotAligned { why: "the converter found no alignment of the clocks" };
        };
        let least = self.host_anchor_min_ns.unwrap_or(host_ns);
        let most = self.host_anchor_max_ns.unwrap_or(host_ns);
        if !(least..=most).contains(&host_ns) {
            return Alignment::NotAligned { why: "the anchor of the clocks lies outside its own bounds" };
        }
        let anchor = Anchor { host_ns, device };
        let uncertainty_ns = (host_ns - least).max(most - host_ns);
        Alignment::Aligned { first: anchor, last: anchor, uncertainty_ns }
    }
}

/// One moment on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    pub host_ns: u64,
    pub device: u64,
}

/// How device time becomes host time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alignment {
    Aligned {
        first: Anchor,
        last: Anchor,
        uncertainty_ns: u64,
    },
    /// Host work precedes device work, and nothing else is known.
    NotAligned {
        why: &'static str,
    },
}

impl Alignment {
    /// The host's nanosecond of a device's tick: the clock's rate from the first anchor, corrected evenly so that the last
    /// one is met.
    pub fn host_ns(&self, clock_hz: u64, device: u64) -> Option<u64> {
        let Alignment::Aligned { first, last, .. } = *self else { return None };
        let ns = |ticks: u64| i128::from(ticks) * 1_000_000_000 / i128::from(clock_hz.max(1));
        let span = i128::from(last.device - first.device);
        // One anchor says nothing of drift, and device time may lie on either side of it.
        if span == 0 {
            let ns =
                (i128::from(device) - i128::from(first.device)) * 1_000_000_000 / i128::from(clock_hz.max(1));
            return u64::try_from(i128::from(first.host_ns) + ns).ok();
        }
        let elapsed = device.checked_sub(first.device)?;
        let drift = i128::from(last.host_ns) - i128::from(first.host_ns) - ns(last.device - first.device);
        let correction = drift * i128::from(elapsed) / span;
        u64::try_from(i128::from(first.host_ns) + ns(elapsed) + correction).ok()
    }
}

impl ClockAnchors {
    pub(super) fn alignment(&self, times: &Times) -> Alignment {
        let best = |position: &str| {
            let there = self.samples.iter().filter(|sample| sample.position == position);
            there.filter_map(Sample::anchor).min_by_key(|&(_, round_trip)| round_trip)
        };
        let (Some((first, there)), Some((last, back))) =
            (best("pre_host_orchestration"), best("post_device_execution"))
        else {
            return Alignment::NotAligned { why: "an anchor of the clocks is missing" };
        };
        if last.device <= first.device || last.host_ns <= first.host_ns {
            return Alignment::NotAligned { why: "the anchors of the clocks are in the wrong order" };
        }
        let within = |tick: u64| (first.device..=last.device).contains(&tick);
        let mut parts = times
            .parts
            .iter()
            .flat_map(|part| [Some(part.start), Some(part.end), part.dispatch, part.finish]);
        let mut phases =
            times.streams.iter().flat_map(|s| &s.phases).flat_map(|phase| [phase.start, phase.end]);
        if !parts.all(|tick| tick.is_none_or(within)) || !phases.all(within) {
            return Alignment::NotAligned {
                why: "a time of the device lies outside the anchors of the clocks",
            };
        }
        let coarse = self.raw_device_timestamp_unit.as_deref().is_some_and(|unit| unit.ends_with("_us"));
        let uncertainty_ns = there.max(back) / 2 + if coarse { 1000 } else { 0 };
        Alignment::Aligned { first, last, uncertainty_ns }
    }
}
