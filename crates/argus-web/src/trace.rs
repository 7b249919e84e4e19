//! The instructions of one task: replayed here, with times by the model.

use argus_dump::origin_file;
use argus_dump_scene::{Lookup, MAX_INSTRUCTIONS, Named, Traced, What, open};
use argus_facts::TaskSelector;
use argus_replay::{Options, TaskChoice};
use argus_trace::{Params, Timeline};
use rustc_hash::FxHashMap;

use crate::answer::Problem;
use crate::session::{Session, Verb};
use crate::shown::Shown;
use crate::timeline::{Drawing, Slice, Track};

/// No task: instructions all belong to the one that is traced.
const NONE: u32 = u32::MAX;

pub fn columns(session: &Session, shown: &Shown, task: usize) -> Result<Vec<u8>, Problem> {
    let task = shown.check_task(task)?;
    let (dump, id) = (shown.dump(), shown.tasks.ids[task]);
    let command = (session.commands)(Verb::Trace, dump.directory(), Some(id));
    // Compiled kernels can take down the process that runs them, and this one serves others.
    if origin_file::read(dump.directory()).ok().flatten().is_some() {
        return Err(Problem::nothing("kernels in C++ are not run inside the server").hint(command));
    }
    let failed = |error: &dyn std::error::Error| Problem::failed(error).hint(command.clone());
    let lookup = Lookup { registry: &session.registry, changed: &|_| {} };
    let choice = TaskChoice { task: TaskSelector::parse(&id.to_string()), ..TaskChoice::default() };
    let named = Named { choice, ..Named::default() };
    let source = open(What::Dump(dump), &named, &lookup).map_err(|error| failed(&error))?;
    let params = Params::for_chip(source.chip).map_err(|error| failed(&error))?;
    let traced =
        Traced::run(&source, &Options::default(), MAX_INSTRUCTIONS).map_err(|error| failed(&error))?;
    let timeline = traced.timeline(&params).map_err(|error| failed(&error))?;
    Ok(draw(&timeline, params.mhz()).columns())
}

fn draw(timeline: &Timeline<'_>, mhz: f64) -> Drawing {
    let mut drawing = Drawing::default();
    let us = |cycle: u64| cycle as f64 / mhz;
    // Where each instruction is among the slices.
    let mut places: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    for (number, core) in timeline.cores.iter().enumerate() {
        for track in argus_trace::Track::ALL {
            let instructions = || core.instrs.iter().enumerate().filter(|(_, instr)| instr.track == track);
            if instructions().next().is_none() {
                continue;
            }
            let row = drawing.tracks.len() as u32;
            drawing.tracks.push(Track { name: format!("{} {}", core.name, track.name()), kind: "core" });
            for (at, instr) in instructions() {
                let label = drawing.label(&format!("{} {}", instr.mnemonic.name(), timeline.source(instr)));
                places.insert((number as u32, at as u32), drawing.slices.len() as u32);
                let (begin, end) = (us(instr.start), us(instr.end));
                drawing.slices.push(Slice { begin, end, track: row, task: NONE, label });
            }
        }
    }
    let place = |at: argus_trace::At| places.get(&(at.core, at.index)).copied();
    let arrows = timeline.pairs.iter().filter_map(|pair| Some((place(pair.set)?, place(pair.wait)?)));
    drawing.arrows = arrows.collect();
    drawing
}
