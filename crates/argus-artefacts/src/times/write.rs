//! The raw form, written as the reference's converter reads it.

use std::fmt::Write;

use super::{Part, Stream, Times, TimesForm};
use crate::json::{list, quoted};

impl Times {
    /// The text of a `chip_swimlane_records.json`. Host times are not written: this project has no host clock beside
    /// the device's.
    pub fn text(&self) -> String {
        let mut text = format!("{{\"chip_swimlane_level\": {}, \"metadata\": {{", self.level.unwrap_or(4));
        if let Some(runtime) = self.runtime {
            _ = write!(text, "\"runtime\": \"{}\", ", runtime.name());
        }
        let types: Vec<String> = self.core_types.iter().map(|core| quoted(core.name())).collect();
        _ = write!(
            text,
            "\"clock_freq_hz\": {}, \"num_cores\": {}, \"core_types\": [{}]",
            self.clock_hz,
            types.len(),
            types.join(", ")
        );
        if !self.core_threads.is_empty() {
            let threads: Vec<i64> =
                self.core_threads.iter().map(|thread| thread.map_or(-1, i64::from)).collect();
            _ = write!(text, ", \"core_to_thread\": {}", list(&threads));
        }
        text.push_str("}, \"aicore_tasks\": [");
        rows(&mut text, self.parts.iter().map(|part| self.core_row(part)));
        let scheduled = self.parts.iter().filter_map(|part| self.scheduler_row(part));
        if self.form == TimesForm::Epochs {
            text.push_str("], \"scheduler_tasks\": {\"producer\": \"aicpu\", \"records\": [");
            rows(&mut text, scheduled);
            text.push_str("]}, \"scheduler_records\": {\"streams\": [");
            self.streams(&mut text);
            text.push_str("]}");
        } else {
            text.push_str("], \"aicpu_tasks\": [");
            rows(&mut text, scheduled);
            text.push(']');
            if self.level.is_none_or(|level| level >= 3) {
                text.push_str(", \"aicpu_scheduler_phases\": [");
                self.phase_lists(&mut text);
                text.push(']');
            }
        }
        // The lists of a level that was not recorded are absent, not empty.
        if self.level.is_none_or(|level| level >= 4) {
            self.submissions(&mut text);
        }
        text.push_str("}\n");
        text
    }

    fn submissions(&self, text: &mut String) {
        text.push_str(", \"aicpu_orchestrator_phases\": [[");
        for (number, submit) in self.submits.iter().enumerate() {
            let comma = if number > 0 { ", " } else { "" };
            let (index, start, end) = (submit.index, submit.start, submit.end);
            _ = write!(text, "{comma}{{\"submit_idx\": {index}");
            if let Some(task) = submit.task {
                _ = write!(text, ", \"task_id\": {}", task.raw());
            }
            _ = write!(text, ", \"start_cycles\": {start}, \"end_cycles\": {end}");
            if self.form == TimesForm::Epochs {
                _ = write!(text, ", \"run_epoch\": {}", submit.epoch.unwrap_or(1));
            }
            text.push('}');
        }
        text.push_str("]]");
    }

    fn core_row(&self, part: &Part) -> Vec<u64> {
        let receive = part.receive.unwrap_or(part.start).min(part.start);
        let mut row = vec![
            part.core.into(),
            part.task.raw(),
            part.token.unwrap_or(0),
            part.start,
            part.end,
            part.start - receive,
        ];
        row.extend((self.form == TimesForm::Epochs).then(|| part.epoch.unwrap_or(1)));
        row
    }

    fn scheduler_row(&self, part: &Part) -> Option<Vec<u64>> {
        let mut row = vec![part.core.into(), part.token?, part.dispatch?, part.finish?];
        row.extend((self.form == TimesForm::Epochs).then(|| part.epoch.unwrap_or(1)));
        Some(row)
    }

    fn phase_lists(&self, text: &mut String) {
        for (number, stream) in self.streams.iter().enumerate() {
            text.push_str(if number > 0 { ", [" } else { "[" });
            self.phases(text, stream, false);
            text.push(']');
        }
    }

    fn streams(&self, text: &mut String) {
        let recorded = self.streams.iter().filter(|stream| !stream.phases.is_empty());
        for (number, stream) in recorded.enumerate() {
            let (id, comma) = (stream.id, if number > 0 { ", " } else { "" });
            let (committed, dropped) = (stream.phases.len(), stream.dropped);
            _ = write!(
                text,
                "{comma}{{\"producer\": \"aicpu\", \"scheduler_id\": {id}, \"worker_id\": {id}, \"core_type\": \"aicpu\", \
                 \"physical_core_id\": null, \"capture\": {{\"committed\": {committed}, \"dropped\": {dropped}, \
                 \"truncated\": {}}}, \"records\": [",
                stream.truncated
            );
            self.phases(text, stream, true);
            text.push_str("], \"metrics\": []}");
        }
    }

    fn phases(&self, text: &mut String, stream: &Stream, epochs: bool) {
        for (number, phase) in stream.phases.iter().enumerate() {
            let comma = if number > 0 { ", " } else { "" };
            _ = write!(
                text,
                "{comma}{{\"kind\": {}, \"start_cycles\": {}, \"end_cycles\": {}, \"loop_iter\": {}, \"tasks_processed\": {}",
                quoted(self.kind(phase)),
                phase.start,
                phase.end,
                phase.loop_iter,
                phase.tasks
            );
            if let Some(task) = phase.task {
                _ = write!(text, ", \"task_id\": {}", task.raw());
            }
            if let Some([hit, miss]) = phase.pops {
                _ = write!(text, ", \"pop_hit\": {hit}, \"pop_miss\": {miss}");
            }
            if let Some([start, end]) = phase.ready {
                _ = write!(
                    text,
                    ", \"shared_at_start\": {}, \"shared_at_end\": {}",
                    list(&start),
                    list(&end)
                );
            }
            if epochs {
                _ = write!(text, ", \"run_epoch\": {}", phase.epoch.unwrap_or(1));
            }
            text.push('}');
        }
    }
}

fn rows(text: &mut String, rows: impl Iterator<Item = Vec<u64>>) {
    for (number, row) in rows.enumerate() {
        if number > 0 {
            text.push_str(", ");
        }
        text.push_str(&list(&row));
    }
}
