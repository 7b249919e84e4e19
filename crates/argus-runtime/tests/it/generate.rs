//! Random programs: tasks over overlapping views of a few buffers, in nested scopes.

use argus_abi::{DType, Tensor, TensorArgType};

use crate::oracle::touches;

/// SplitMix64: the same programs for the same seed on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// A buffer of `bytes` bytes, from outside or created by a task.
#[derive(Clone, Debug)]
pub struct BufferSpec {
    pub shape: Vec<u32>,
    pub external: bool,
}

impl BufferSpec {
    pub fn bytes(&self) -> usize {
        self.shape.iter().product::<u32>() as usize * 4
    }
}

/// A view of a buffer; `view.addr` counts from the start of the buffer.
#[derive(Clone, Debug)]
pub struct Operand {
    pub buffer: usize,
    pub view: Tensor,
    pub kind: TensorArgType,
}

#[derive(Clone, Debug)]
pub struct TaskSpec {
    pub operands: Vec<Operand>,
    /// Which of matrix, first and second vector core take part.
    pub members: [bool; 3],
    pub blocks: u32,
    pub sync_start: bool,
}

impl TaskSpec {
    pub fn parts(&self) -> u32 {
        self.blocks * self.members.iter().filter(|&&member| member).count() as u32
    }
}

#[derive(Clone, Debug)]
pub enum Item {
    Task(usize),
    Scope(Vec<Item>),
}

/// A program over its own buffers.
#[derive(Clone, Debug)]
pub struct ProgramSpec {
    pub buffers: Vec<BufferSpec>,
    pub tasks: Vec<TaskSpec>,
    pub items: Vec<Item>,
    pub window: u32,
    pub clusters: u32,
}

/// How programs may look.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Scopes inside scopes and tasks between them. Without it: a row of scopes with tasks.
    pub nested: bool,
    pub mixes: bool,
}

/// Makes the program of a seed.
pub fn program(seed: u64, style: Style) -> ProgramSpec {
    let mut random = Random::new(seed);
    let mut spec = ProgramSpec {
        buffers: Vec::new(),
        tasks: Vec::new(),
        items: Vec::new(),
        window: [4, 8, 16, 64][random.below(4)],
        clusters: 1 + random.below(4) as u32,
    };
    for _ in 0..1 + random.below(3) {
        let shape = (0..1 + random.below(3)).map(|_| 1 + random.below(6) as u32).collect();
        spec.buffers.push(BufferSpec { shape, external: true });
    }
    // Where the content of every created buffer is kept.
    spec.buffers.push(BufferSpec { shape: vec![64], external: true });
    let mut maker = Maker { random, spec, style, open: Vec::new(), kept: 0 };
    let items = maker.scope(0, style.nested);
    let Maker { mut spec, .. } = maker;
    spec.items = items;
    spec
}

struct Maker {
    random: Random,
    spec: ProgramSpec,
    style: Style,
    /// Buffers that may be used now: those from outside, and those created in open scopes.
    open: Vec<usize>,
    kept: u32,
}

const DEEPEST: usize = 3;
const KEPT: u32 = 64;

impl Maker {
    /// The items of one scope. A scope holds fewer tasks than its ring has room for.
    fn scope(&mut self, depth: usize, with_tasks: bool) -> Vec<Item> {
        let open_before = self.open.len();
        let mut room = self.spec.window as usize - 1;
        let mut created = Vec::new();
        let mut items = Vec::new();
        for _ in 0..2 + self.random.below(8) {
            let deeper = depth < DEEPEST && (self.style.nested || depth == 0);
            if deeper && (!with_tasks || self.random.chance(25)) {
                items.push(Item::Scope(self.scope(depth + 1, true)));
            } else if with_tasks && room > created.len() + 2 {
                let (task, new) = self.task();
                created.extend(new);
                room -= 1;
                items.push(Item::Task(task));
            }
        }
        // Before the scope ends, what its tasks created is copied to where it can be compared.
        for buffer in created {
            items.push(Item::Task(self.keep(buffer)));
        }
        self.open.truncate(open_before);
        items
    }

    fn task(&mut self) -> (usize, Option<usize>) {
        let mut operands = Vec::new();
        for _ in 0..self.random.below(4) {
            operands.push(self.operand(TensorArgType::Input));
        }
        if self.random.chance(80) {
            let kind =
                if self.random.chance(50) { TensorArgType::Inout } else { TensorArgType::OutputExisting };
            operands.push(self.operand(kind));
        }
        let created = self.random.chance(30).then(|| {
            let shape: Vec<u32> =
                (0..1 + self.random.below(2)).map(|_| 1 + self.random.below(6) as u32).collect();
            let view = Tensor::contiguous(0, DType::I32, &shape).unwrap();
            self.spec.buffers.push(BufferSpec { shape, external: false });
            let buffer = self.spec.buffers.len() - 1;
            operands.push(Operand { buffer, view, kind: TensorArgType::Output });
            buffer
        });
        let mut task = TaskSpec {
            operands,
            members: [[false, true, false], [true, false, false]][self.random.below(2)],
            blocks: 1,
            sync_start: false,
        };
        if self.style.mixes && task.parts_are_independent() {
            self.widen(&mut task);
        }
        self.open.extend(created);
        self.spec.tasks.push(task);
        (self.spec.tasks.len() - 1, created)
    }

    /// Turns a task into a mix, into blocks, or both.
    fn widen(&mut self, task: &mut TaskSpec) {
        if self.random.chance(30) {
            let sets = [[true, true, true], [true, true, false], [false, true, true], [true, false, true]];
            task.members = sets[self.random.below(sets.len())];
        }
        if self.random.chance(30) {
            task.blocks = 1 + self.random.below(7) as u32;
            task.sync_start = task.blocks <= self.spec.clusters && self.random.chance(30);
        }
    }

    /// A task that folds a whole buffer into one kept element.
    fn keep(&mut self, buffer: usize) -> usize {
        let whole = Tensor::contiguous(0, DType::I32, &self.spec.buffers[buffer].shape).unwrap();
        let kept = Tensor::contiguous(0, DType::I32, &[KEPT]).unwrap();
        let element = kept.view(&[1], &[self.kept % KEPT]).unwrap();
        self.kept += 1;
        let store = self.spec.buffers.iter().rposition(|buffer| buffer.external).unwrap();
        self.spec.tasks.push(TaskSpec {
            operands: vec![
                Operand { buffer, view: whole, kind: TensorArgType::Input },
                Operand { buffer: store, view: element, kind: TensorArgType::Inout },
            ],
            members: [false, true, false],
            blocks: 1,
            sync_start: false,
        });
        self.spec.tasks.len() - 1
    }

    fn operand(&mut self, kind: TensorArgType) -> Operand {
        let externals = self.spec.buffers.iter().filter(|buffer| buffer.external).count() - 1;
        let pick = self.random.below(externals + self.open.len());
        let buffer = if pick < externals { pick } else { self.open[pick - externals] };
        let spec = &self.spec.buffers[buffer];
        let elements: u32 = spec.shape.iter().product();
        let mut view = match self.random.below(if spec.external { 4 } else { 2 }) {
            // The same bytes under another type, or from another base address.
            2 => Tensor::contiguous(0, DType::I16, &[elements, 2]).unwrap(),
            3 => {
                let skip = self.random.below(elements as usize) as u32;
                Tensor::contiguous(u64::from(skip) * 4, DType::I32, &[elements - skip]).unwrap()
            }
            _ => Tensor::contiguous(0, DType::I32, &spec.shape).unwrap(),
        };
        for _ in 0..self.random.below(3) {
            view = self.narrow(&view);
        }
        Operand { buffer, view, kind }
    }

    fn narrow(&mut self, view: &Tensor) -> Tensor {
        let dim = self.random.below(view.rank());
        let len = view.shapes[dim];
        match self.random.below(3) {
            0 => {
                let other = self.random.below(view.rank());
                view.transpose(dim, other).unwrap()
            }
            1 if len > 1 => {
                let start = self.random.below(len as usize) as u32;
                view.slice(dim, start, len, 1 + self.random.below(2) as u32).unwrap()
            }
            _ => {
                let mut shape = view.shape().to_vec();
                let mut offsets = vec![0; view.rank()];
                shape[dim] = 1 + self.random.below(len as usize) as u32;
                offsets[dim] = self.random.below((len - shape[dim] + 1) as usize) as u32;
                view.view(&shape, &offsets).unwrap()
            }
        }
    }
}

impl TaskSpec {
    /// Whether several cores may run parts of the task at once: none reads what another writes.
    fn parts_are_independent(&self) -> bool {
        let written = self.operands.iter().filter(|operand| operand.kind != TensorArgType::Input);
        written.clone().all(|out| {
            self.operands
                .iter()
                .filter(|operand| operand.kind == TensorArgType::Input)
                .all(|input| !touches(input, out))
        })
    }
}
