//! Captures in the reference's layout of August, written by hand.
//!
//! A chain of tasks: task n reads 8 floats and writes 8 others, which task n + 1 reads. Every value is a function of
//! the task's number and a seed, so that ranks agree unless a test says otherwise.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

pub const FLOATS: usize = 8;

/// One capture.
#[derive(Clone)]
pub struct Capture {
    pub tasks: usize,
    pub seed: f32,
    /// From this task on its outputs, and what is made of them, differ.
    pub fault: Option<usize>,
    pub graph: bool,
    /// Group, member and size of the group.
    pub identity: Option<(u64, u32, u32)>,
}

impl Default for Capture {
    fn default() -> Capture {
        Capture { tasks: 5, seed: 1.0, fault: None, graph: true, identity: None }
    }
}

/// The id of a task, as the reference lays it out.
pub fn id(task: usize) -> u64 {
    (2 << 32) + task as u64
}

pub fn name(task: usize) -> String {
    format!("0x{:016x}", id(task))
}

impl Capture {
    /// What lies between task `at - 1` and task `at`.
    fn values(&self, at: usize) -> Vec<u8> {
        let wrong = self.fault.is_some_and(|fault| at > fault);
        let value = |lane: usize| self.seed + at as f32 * 16.0 + lane as f32 + if wrong { 0.5 } else { 0.0 };
        (0..FLOATS).flat_map(|lane| value(lane).to_le_bytes()).collect()
    }

    pub fn write(&self, directory: &Path) {
        let dump = directory.join("args_dump");
        fs::create_dir_all(&dump).unwrap();
        let (mut payload, mut records) = (Vec::new(), Vec::new());
        for task in 0..self.tasks {
            for (arg, stage, role, at) in
                [(0, "before_dispatch", "input", task), (1, "after_completion", "output", task + 1)]
            {
                let bytes = self.values(at);
                records.push(format!(
                    "    {{\"task_id\": \"{}\", \"func_id\": [{}], \"arg_index\": {arg}, \"role\": \"{role}\", \"stage\": \
                     \"{stage}\", \"kind\": \"tensor\", \"dtype\": \"FLOAT32\", \"is_contiguous\": true, \"shape\": [{FLOATS}], \
                     \"strides\": [1], \"start_offset\": 0, \"numel\": {FLOATS}, \"bin_offset\": {}, \"bin_size\": {}, \
                     \"truncated\": false, \"overwritten\": false}}",
                    name(task),
                    task % 2,
                    payload.len(),
                    bytes.len()
                ));
                payload.extend(bytes);
            }
        }
        let (total, half) = (records.len(), records.len() / 2);
        let mut manifest = String::from("{\n  \"run_dir\": \"args_dump\",\n");
        _ = write!(
            manifest,
            "  \"bin_format\": {{\"type\": \"logical_contiguous\", \"byte_order\": \"little_endian\"}},\n  \
             \"dump_args_level\": 2,\n  \"total_args\": {total},\n  \"before_dispatch\": {half},\n  \"after_completion\": \
             {half},\n  \"input_args\": {half},\n  \"output_args\": {half},\n  \"inout_args\": 0,\n  \"truncated_args\": 0,\n  \
             \"dropped_records\": 0,\n  \"dropped_overwrite\": 0,\n  \"bin_file\": \"args.bin\",\n  \"args\": [\n{}\n  ]\n}}\n",
            records.join(",\n")
        );
        fs::write(dump.join("args_dump.json"), manifest).unwrap();
        fs::write(dump.join("args.bin"), payload).unwrap();
        let names = "{\n  \"level\": 2,\n  \"orchestrator_name\": \"chain\",\n  \"callable_id_to_name\": {\n    \"0\": \
                     \"EVEN\",\n    \"1\": \"ODD\"\n  }\n}";
        fs::write(directory.join("name_map_made.json"), names).unwrap();
        if self.graph {
            fs::write(directory.join("deps.json"), self.deps()).unwrap();
        }
        if let Some((run, member, size)) = self.identity {
            let identity = format!(
                "{{\"schema_version\": 1, \"run_id\": {run}, \"task_slot\": 0, \"group_index\": {member}, \"group_size\": {size}, \
                 \"host_pid\": 7, \"chip_rank\": {member}, \"local_capture_index\": 0, \"endpoint_dispatch_id\": 1, \
                 \"pipeline_slot\": 0, \"pipeline_generation\": 1, \"callable_digest\": \"{}\"}}",
                "ab".repeat(32)
            );
            fs::write(directory.join("dispatch_identity.json"), identity).unwrap();
        }
    }

    fn deps(&self) -> String {
        let task = |task: usize| {
            let kernel = task % 2;
            format!(
                "{{\"task_id\":\"{}\",\"scope\":\"auto\",\"early_dispatch\":false,\"kernel_ids\":[-1,{kernel},-1],\"block_num\":1,\
                 \"args\":[]}}",
                id(task)
            )
        };
        let edge = |task: usize| {
            let (from, to) = (id(task - 1), id(task));
            format!(
                "{{\"pred\":\"{from}\",\"succ\":\"{to}\",\"arg\":-1,\"source\":\"explicit\",\"flags\":[\"wait\",\"retain\"]}}"
            )
        };
        let tasks: Vec<String> = (0..self.tasks).map(task).collect();
        let edges: Vec<String> = (1..self.tasks).map(edge).collect();
        format!("{{\"tasks\":[{}],\"tensors\":[],\"edges\":[{}]}}", tasks.join(","), edges.join(","))
    }
}

/// A tree of ranks with one capture each; `change` may make one different.
pub fn tree(home: &Path, ranks: u32, change: impl Fn(u32, &mut Capture)) -> PathBuf {
    let run = home.join("run");
    for rank in 0..ranks {
        let mut capture = Capture { identity: Some((3, rank, ranks)), ..Capture::default() };
        change(rank, &mut capture);
        capture.write(&run.join(format!("rank{rank}/d0")));
    }
    run
}
