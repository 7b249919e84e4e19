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
    host_before_ns: u64,
    host_after_ns: u64,
    device_cycles: u64,
    error: Option<serde::de::IgnoredAny>,
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
        let elapsed = device.checked_sub(first.device)?;
        let drift = i128::from(last.host_ns) - i128::from(first.host_ns) - ns(last.device - first.device);
        let correction = if span > 0 { drift * i128::from(elapsed) / span } else { 0 };
        u64::try_from(i128::from(first.host_ns) + ns(elapsed) + correction).ok()
    }
}

impl ClockAnchors {
    pub(super) fn alignment(&self, times: &Times) -> Alignment {
        let best = |position: &str| {
            let good = |sample: &&Sample| {
                sample.position == position
                    && sample.error.is_none()
                    && sample.host_before_ns <= sample.host_after_ns
            };
            let best = self.samples.iter().filter(good).min_by_key(|s| s.host_after_ns - s.host_before_ns)?;
            let round_trip = best.host_after_ns - best.host_before_ns;
            Some((
                Anchor { host_ns: best.host_before_ns + round_trip / 2, device: best.device_cycles },
                round_trip,
            ))
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
