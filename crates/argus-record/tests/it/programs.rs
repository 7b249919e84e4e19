//! Small programs of the tests' own: kernels on `i32`, element by element, and one graph for all runtimes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use argus_abi::{ArgDirection, CoreType, DType, FuncId, KernelArgs, RuntimeKind, Tensor};
use argus_runtime::{
    Abg, Arg, EntryArgs, Fatal, Hbg, HostArgs, HostTensor, KernelEntry, KernelTable, Orchestration, Program,
    ScopeMode, SlotInfo, TaskOutputs, Trb,
};
use argus_scene::generator::Generator;
use argus_tile::{Core, Fault, GlobalShape, KernelResult};

use crate::model::{A, Model, bytes, i32s, number, task};
use crate::setup::Subject;

/// `dst = dst + scalar`.
pub const BUMP: FuncId = FuncId(0);
/// `dst = src + scalar`.
pub const COPY: FuncId = FuncId(1);
/// What a test brings itself.
pub const OWN: FuncId = FuncId(2);

pub fn kernel(
    func_id: FuncId,
    name: &'static str,
    signature: &'static [ArgDirection],
    body: impl Fn(&mut Core, &KernelArgs<'_>) -> KernelResult + Send + Sync + 'static,
) -> KernelEntry {
    KernelEntry::new(func_id, name, CoreType::Aiv, signature, body)
}

/// [`BUMP`] and [`COPY`] on tensor descriptors.
pub fn standard() -> Vec<KernelEntry> {
    use ArgDirection::{In, Inout, Out, Scalar};
    vec![
        kernel(BUMP, "bump", &[Inout, Scalar], |core, args| {
            let more = args.scalar(1)? as i32;
            let values: Vec<i32> =
                read(core, args.tensor(0)?)?.iter().map(|x| x.wrapping_add(more)).collect();
            write(core, args.tensor(0)?, &values)
        }),
        kernel(COPY, "copy", &[In, Out, Scalar], |core, args| {
            let more = args.scalar(2)? as i32;
            let values: Vec<i32> =
                read(core, args.tensor(0)?)?.iter().map(|x| x.wrapping_add(more)).collect();
            write(core, args.tensor(1)?, &values)
        }),
    ]
}

/// The reference of [`BUMP`] and [`COPY`].
pub fn plus(more: i32) -> impl Fn(&[Vec<u8>]) -> Vec<Vec<u8>> {
    move |tensors| vec![bytes(&i32s(&tensors[0]).iter().map(|x| x.wrapping_add(more)).collect::<Vec<_>>())]
}

pub fn program(kernels: Vec<KernelEntry>, orchestration: Orchestration) -> Program {
    Program { orchestration, kernels: KernelTable::new(kernels).unwrap() }
}

pub fn trb(
    entry: impl Fn(&mut Trb, &EntryArgs) -> Result<(), Fatal> + Send + Sync + 'static,
) -> Orchestration {
    Orchestration::TensormapAndRingbuffer(Arc::new(entry))
}

pub fn abg(
    entry: impl Fn(&mut Abg, &EntryArgs) -> Result<(), Fatal> + Send + Sync + 'static,
) -> Orchestration {
    Orchestration::AicpuBuildGraph(Arc::new(entry))
}

pub fn hbg(
    entry: impl Fn(&mut Hbg, &EntryArgs) -> Result<(), Fatal> + Send + Sync + 'static,
) -> Orchestration {
    Orchestration::HostBuildGraph(Arc::new(entry))
}

/// Arguments of `i32`, read and written.
pub fn arguments(tensors: &[&[i32]]) -> HostArgs {
    let tensors = tensors.iter().enumerate().map(|(index, values)| HostTensor {
        name: format!("argument {index}"),
        direction: ArgDirection::Inout,
        dtype: DType::I32,
        shape: vec![values.len() as u32],
        bytes: bytes(values),
    });
    HostArgs { tensors: tensors.collect(), scalars: Vec::new() }
}

/// Where each element of a view lies, counted from its first, in logical order.
fn offsets(tensor: &Tensor) -> Vec<u64> {
    let (shape, strides) = (tensor.shape(), tensor.stride());
    let count: u64 = shape.iter().map(|&dim| u64::from(dim)).product();
    let place = |mut index: u64| {
        let dims = shape.iter().zip(strides).rev();
        dims.map(|(&dim, &stride)| {
            let at = index % u64::from(dim);
            index /= u64::from(dim);
            at * u64::from(stride)
        })
        .sum()
    };
    (0..count).map(place).collect()
}

fn reach(offsets: &[u64]) -> GlobalShape {
    GlobalShape::nd(1, offsets.iter().max().map_or(1, |last| *last as u32 + 1))
}

/// Every element of a view of `i32`.
pub fn read(core: &mut Core, tensor: &Tensor) -> Result<Vec<i32>, Fault> {
    let offsets = offsets(tensor);
    let global = core.global(tensor, reach(&offsets))?;
    offsets.into_iter().map(|at| core.load_scalar(&global, at)).collect()
}

/// Writes the first elements of a view of `i32`.
pub fn write(core: &mut Core, tensor: &Tensor, values: &[i32]) -> KernelResult {
    let offsets = offsets(tensor);
    let global = core.global(tensor, reach(&offsets))?;
    for (at, &value) in offsets.into_iter().zip(values) {
        core.store_scalar(&global, at, value)?;
    }
    Ok(())
}

/// `count` elements of `i32` from a raw address on.
pub fn read_raw(core: &mut Core, addr: u64, count: u64) -> Result<Vec<i32>, Fault> {
    let global = core.global_raw(addr, DType::I32, GlobalShape::nd(1, count as u32))?;
    (0..count).map(|at| core.load_scalar(&global, at)).collect()
}

pub fn write_raw(core: &mut Core, addr: u64, values: &[i32]) -> KernelResult {
    let global = core.global_raw(addr, DType::I32, GlobalShape::nd(1, values.len() as u32))?;
    for (at, &value) in (0..).zip(values) {
        core.store_scalar(&global, at, value)?;
    }
    Ok(())
}

/// `x = 3 x + y` over parts of three vectors, in a random but fixed order: a graph full of overlaps.
pub struct Weave {
    steps: Vec<Step>,
}

/// Each part is a vector, its first element and the step from one element to the next.
#[derive(Clone, Copy)]
struct Step {
    x: (usize, usize, usize),
    y: (usize, usize, usize),
    count: usize,
}

const WEAVE: FuncId = FuncId(7);
const VECTORS: usize = 3;
const LENGTH: usize = 64;

impl Weave {
    pub fn new(seed: &str, tasks: usize, strided: bool) -> Weave {
        let mut random = Generator::new(seed);
        let mut part = |count: usize| {
            let step = if strided { 1 + random.below(2) as usize } else { 1 };
            let first = random.below((LENGTH - (count - 1) * step) as u32) as usize;
            (random.below(VECTORS as u32) as usize, first, step)
        };
        let mut counts = Generator::new(&format!("{seed}/counts"));
        let steps = (0..tasks).map(|_| {
            let count = 1 + counts.below(LENGTH as u32 / 2) as usize;
            Step { x: part(count), y: part(count), count }
        });
        Weave { steps: steps.collect() }
    }

    /// Pairs of tasks, earlier and later, that must not change places: both touch an element and one writes it.
    pub fn conflicts(&self) -> BTreeSet<(u64, u64)> {
        let elements = |(vector, first, by): (usize, usize, usize), count: usize| {
            (0..count).map(|at| (vector, first + at * by)).collect::<BTreeSet<_>>()
        };
        let touched: Vec<_> =
            self.steps.iter().map(|step| [step.x, step.y].map(|part| elements(part, step.count))).collect();
        let mut pairs = BTreeSet::new();
        for (later, [writes, reads]) in touched.iter().enumerate() {
            for (earlier, [wrote, read]) in touched[..later].iter().enumerate() {
                let meet = [(writes, wrote), (writes, read), (reads, wrote)];
                if meet.iter().any(|(a, b)| !a.is_disjoint(b)) {
                    pairs.insert((self.ring_id(earlier), self.ring_id(later)));
                }
            }
        }
        pairs
    }

    /// The id of a task on rings: the second half is in a scope of its own.
    fn ring_id(&self, index: usize) -> u64 {
        let half = self.steps.len() / 2;
        if index < half { index as u64 } else { 0x1_0000_0000 + (index - half) as u64 }
    }

    /// The program for a runtime, and what its dump must hold.
    pub fn subject(self, runtime: RuntimeKind) -> (Subject, Model) {
        let vectors: Vec<Vec<i32>> = (0..VECTORS)
            .map(|index| (0..LENGTH).map(|at| (at * 31 + index * 1009) as i32).collect())
            .collect();
        let args = arguments(&vectors.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let mut model = Model::default();
        let views = model.arguments(&args);
        let half = self.steps.len() / 2;
        for (index, step) in self.steps.iter().enumerate() {
            let part =
                |(vector, first, by): (usize, usize, usize)| views[vector].slice(first, step.count, by);
            let mut args = vec![A::Inout(part(step.x)), A::In(part(step.y))];
            let id = match runtime {
                RuntimeKind::Trb => self.ring_id(index),
                RuntimeKind::Abg | RuntimeKind::Hbg => index as u64,
            };
            if runtime == RuntimeKind::Hbg {
                args.extend([step.x.1, step.y.1, step.count].map(|value| number(value as u64)));
            }
            model.run(task(id, &[WEAVE.0.into()]), &args, |tensors| {
                vec![bytes(&mixed(&i32s(&tensors[0]), &i32s(&tensors[1])))]
            });
        }
        let (orchestration, kernel) = match runtime {
            RuntimeKind::Trb => (trb(move |trb, args| self.infer(trb, args, half)), on_tensors()),
            RuntimeKind::Abg => (abg(move |abg, args| self.declare(abg, args)), on_tensors()),
            RuntimeKind::Hbg => (hbg(move |hbg, _| self.build(hbg)), on_addresses()),
        };
        (Subject::new(program(vec![kernel], orchestration), args), model)
    }

    fn arg(&self, args: &EntryArgs, step: &Step) -> Result<Arg, Fatal> {
        let part = |(vector, first, by): (usize, usize, usize)| {
            let end = first + (step.count - 1) * by + 1;
            let view = args.tensor(vector)?.slice(0, first as u32, end as u32, by as u32);
            view.map_err(|error| Fatal::invalid(error.to_string()))
        };
        Ok(Arg::new().inout(&part(step.x)?).input(&part(step.y)?))
    }

    fn infer(&self, trb: &mut Trb, args: &EntryArgs, half: usize) -> Result<(), Fatal> {
        for step in &self.steps[..half] {
            trb.submit_aiv(WEAVE, self.arg(args, step)?)?;
        }
        trb.scope(ScopeMode::Auto, |trb| {
            self.steps[half..]
                .iter()
                .try_for_each(|step| trb.submit_aiv(WEAVE, self.arg(args, step)?).map(drop))
        })
    }

    /// Vectors change hands from task to task.
    fn declare(&self, abg: &mut Abg, args: &EntryArgs) -> Result<(), Fatal> {
        let mut last: [Option<TaskOutputs>; VECTORS] = Default::default();
        for step in &self.steps {
            let task = abg.submit_aiv(WEAVE, self.arg(args, step)?)?;
            let mut vectors = vec![step.x.0, step.y.0];
            vectors.dedup();
            for vector in vectors {
                if let Some(before) = last[vector].replace(task.clone()) {
                    abg.add_dependency(before.task_id(), task.task_id())?;
                }
            }
        }
        Ok(())
    }

    fn build(&self, hbg: &mut Hbg) -> Result<(), Fatal> {
        let vectors = (0..VECTORS).map(|index| hbg.upload(index)).collect::<Result<Vec<_>, _>>()?;
        for (index, &addr) in vectors.iter().enumerate() {
            hbg.record_tensor_pair(index, addr)?;
        }
        let mut last = [None; VECTORS];
        for step in &self.steps {
            let part = |first: usize| SlotInfo::Tensor {
                dtype: DType::I32,
                shape: vec![step.count as u32],
                raw_shape: vec![LENGTH as u32],
                offsets: vec![first as u32],
            };
            let number = || SlotInfo::Scalar(DType::U64);
            let info = [part(step.x.1), part(step.y.1), number(), number(), number()];
            let args =
                [vectors[step.x.0], vectors[step.y.0], step.x.1 as u64, step.y.1 as u64, step.count as u64];
            let task = hbg.add_task_with_tensor_info(&args, WEAVE, CoreType::Aiv, &info)?;
            let mut used = vec![step.x.0, step.y.0];
            used.dedup();
            for vector in used {
                if let Some(before) = last[vector].replace(task) {
                    hbg.add_successor(before, task)?;
                }
            }
        }
        Ok(())
    }
}

fn mixed(x: &[i32], y: &[i32]) -> Vec<i32> {
    x.iter().zip(y).map(|(x, y)| x.wrapping_mul(3).wrapping_add(*y)).collect()
}

/// Takes a moment that depends on the data, so that tasks overtake each other where nothing orders them.
fn dawdle(values: &[i32]) {
    let sum = values.iter().fold(0u32, |sum, &value| sum.wrapping_mul(31).wrapping_add(value as u32));
    if sum.is_multiple_of(4) {
        std::thread::sleep(Duration::from_micros(u64::from(sum % 97)));
    }
}

fn on_tensors() -> KernelEntry {
    kernel(WEAVE, "weave", &[ArgDirection::Inout, ArgDirection::In], |core, args| {
        let (x, y) = (read(core, args.tensor(0)?)?, read(core, args.tensor(1)?)?);
        dawdle(&x);
        write(core, args.tensor(0)?, &mixed(&x, &y))
    })
}

fn on_addresses() -> KernelEntry {
    use ArgDirection::{In, Inout, Scalar};
    kernel(WEAVE, "weave", &[Inout, In, Scalar, Scalar, Scalar], |core, args| {
        let count = args.scalar(4)?;
        let (x_at, y_at) = (args.scalar(0)? + 4 * args.scalar(2)?, args.scalar(1)? + 4 * args.scalar(3)?);
        let (x, y) = (read_raw(core, x_at, count)?, read_raw(core, y_at, count)?);
        dawdle(&x);
        write_raw(core, x_at, &mixed(&x, &y))
    })
}
