//! What the scenes' own test files say in Python: sources, kernels, arguments and configuration of each case.

use argus_abi::RuntimeKind::{self, Hbg, Trb};
use argus_abi::{ArgDirection, DType};
use argus_compile::Generation::{self, August, June};
use argus_runtime::{HostArgs, HostTensor, RunConfig};
use half::bf16;

pub struct Scene {
    /// Its directory.
    pub name: &'static str,
    pub generation: Generation,
    pub runtime: RuntimeKind,
    pub orchestration: &'static str,
    pub entry: Option<&'static str>,
    /// In the order of their numbers: source, name, and a letter for each tensor (in, out, update). The directory of
    /// the source says which core it is for; `mix` is for both, and the name ends with the one that is meant.
    pub kernels: &'static [(&'static str, &'static str, &'static str)],
    pub cases: &'static [&'static str],
    pub args: fn(&str) -> HostArgs,
    pub configure: fn(&str, &mut RunConfig),
}

/// Three clusters, four control threads.
fn small(_: &str, config: &mut RunConfig) {
    (config.block_dim, config.control_threads) = (Some(3), Some(4));
}

fn whole(_: &str, _: &mut RunConfig) {}

const ADD: (&str, &str, &str) = ("aiv/add", "add", "iio");
const SCALE: (&str, &str, &str) = ("aiv/scale", "scale", "io");

pub const SCENES: &[Scene] = &[
    Scene {
        name: "alloc_readback",
        generation: June,
        runtime: Trb,
        orchestration: "readback_orch",
        entry: None,
        kernels: &[ADD],
        cases: &["default"],
        args: |_| {
            let counts = [41, 0, 7, -2];
            Args::new()
                .f32("x", 'i', &[4, 8], 1.0, 32, 0.0)
                .i32("counts", 'u', &counts)
                .zeros("check", 'o', &[8])
                .done()
        },
        configure: small,
    },
    Scene {
        name: "bf16_row_softmax",
        generation: June,
        runtime: Trb,
        orchestration: "softmax_orch",
        entry: None,
        kernels: &[("aiv/weights", "weights", "ioo"), ("aiv/divide", "divide", "iio")],
        cases: &["one_block", "three_blocks", "steep"],
        args: |case| {
            let (rows, scale) = match case {
                "one_block" => (16, 1.0),
                "three_blocks" => (48, 0.5),
                _ => (32, 4.0),
            };
            let args = Args::new().bf16("x", 'i', &[rows, 64], 0.0625, 37, -1.0);
            args.zeros("out", 'o', &[rows, 64]).scalar_f32(scale).done()
        },
        configure: small,
    },
    Scene {
        name: "blocks_and_sync",
        generation: August,
        runtime: Trb,
        orchestration: "blocks_orch",
        entry: None,
        kernels: &[("mix/mark", "mark_aiv", "u"), ("mix/mark", "mark_aic", "u")],
        cases: &["default"],
        args: |_| Args::new().zeros("out", 'u', &[47, 16]).done(),
        configure: whole,
    },
    Scene {
        name: "chain_elementwise",
        generation: June,
        runtime: Trb,
        orchestration: "chain_orch",
        entry: None,
        kernels: &[ADD, SCALE, ("aiv/sub", "sub", "iio")],
        cases: &["twice", "quarter", "negative"],
        args: |case| {
            let k = match case {
                "twice" => 2.0,
                "quarter" => 0.25,
                _ => -3.0,
            };
            let args =
                Args::new().f32("a", 'i', &[16, 32], 0.5, 13, 0.0).f32("b", 'i', &[16, 32], 0.25, 7, 1.0);
            args.zeros("out", 'o', &[16, 32]).scalar_f32(k).done()
        },
        configure: small,
    },
    Scene {
        name: "fanin_barrier",
        generation: June,
        runtime: Trb,
        orchestration: "fanin_orch",
        entry: None,
        kernels: &[("aiv/put_line", "put_line", "u"), ("aiv/sum_lines", "sum_lines", "io")],
        cases: &["n_8", "n_65", "n_150"],
        args: |case| {
            let n: u32 = case[2..].parse().unwrap();
            Args::new().zeros("lines", 'u', &[n, 16]).zeros("out", 'o', &[16]).scalar(n.into()).done()
        },
        configure: |_, config| (config.block_dim, config.control_threads) = (Some(1), Some(2)),
    },
    Scene {
        name: "gate_predicate",
        generation: August,
        runtime: Trb,
        orchestration: "gate_orch",
        entry: None,
        kernels: &[("aiv/fill", "fill", "u"), ("aiv/bump", "bump", "u"), ("aiv/copy", "copy", "io")],
        cases: &["closed", "half_open", "open"],
        args: |case| {
            let gate = ["closed", "half_open", "open"].iter().position(|&name| name == case).unwrap() as u64;
            let args = Args::new().f32("x", 'u', &[4, 16], 1.0, 9, 0.0).zeros("out", 'o', &[4, 16]);
            args.i32("gate", 'u', &[7; 16]).scalar(gate).done()
        },
        configure: whole,
    },
    Scene {
        name: "graph_replay",
        generation: August,
        runtime: Hbg,
        orchestration: "replay_orch",
        entry: None,
        kernels: &[ADD, SCALE],
        cases: &["default"],
        args: |_| {
            let args = Args::new().f32("x", 'i', &[8, 16], 0.5, 9, 0.0).f32("y", 'i', &[8, 16], 0.25, 5, 1.0);
            args.zeros("mid", 'o', &[8, 16]).zeros("out", 'o', &[8, 16]).done()
        },
        configure: whole,
    },
    Scene {
        name: "host_graph",
        generation: August,
        runtime: Hbg,
        orchestration: "host_graph_orch",
        entry: Some("build_layers"),
        kernels: &[("aic/product", "product", "iio"), ADD, ("aiv/relu", "relu", "u")],
        cases: &["one", "three"],
        args: |case| {
            let layers = if case == "one" { 1 } else { 3 };
            let args = Args::new().f32("x", 'i', &[16, 16], 0.25, 7, -0.75).f32(
                "w",
                'i',
                &[16, 16],
                0.125,
                5,
                -0.25,
            );
            args.i32("flags", 'i', &[layers, 0, 0, 0]).zeros("out", 'o', &[16, 16]).done()
        },
        configure: whole,
    },
    Scene {
        name: "inplace_war",
        generation: August,
        runtime: Trb,
        orchestration: "war_orch",
        entry: None,
        kernels: &[("aiv/bump", "bump", "u"), ("aiv/snapshot", "snapshot", "io")],
        cases: &["default", "two_threads"],
        args: |_| Args::new().f32("x", 'u', &[4, 16], 0.5, 11, 0.0).zeros("shots", 'o', &[20, 16]).done(),
        configure: |case, config| config.control_threads = (case == "two_threads").then_some(2),
    },
    Scene {
        name: "lane_pipe",
        generation: August,
        runtime: Trb,
        orchestration: "pipe_orch",
        entry: None,
        kernels: &[
            ("mix/product_bias", "product_bias_aic", "iiio"),
            ("mix/product_bias", "product_bias_aiv", "iiio"),
        ],
        cases: &["default"],
        args: |_| {
            let args = Args::new().f32("a", 'i', &[32, 32], 0.25, 5, -0.5).f32(
                "b",
                'i',
                &[32, 32],
                0.125,
                7,
                -0.375,
            );
            let args = args.f32("bias", 'i', &[1, 32], 1.0, 32, 0.0);
            args.zeros("out1", 'o', &[32, 32]).zeros("out2", 'o', &[32, 32]).done()
        },
        configure: whole,
    },
    Scene {
        name: "legacy_graph",
        generation: June,
        runtime: Hbg,
        orchestration: "ladder_orch",
        entry: Some("build_ladder_graph"),
        kernels: &[ADD, ("aiv/scale_inplace", "scale_inplace", "u")],
        cases: &["default"],
        args: |_| {
            let args =
                Args::new().f32("a", 'i', &[8, 32], 0.5, 15, 0.0).f32("b", 'i', &[8, 32], 0.25, 8, -1.0);
            args.zeros("out", 'o', &[8, 32]).done()
        },
        configure: |_, config| (config.block_dim, config.control_threads) = (Some(3), Some(3)),
    },
    Scene {
        name: "manual_scope_deps",
        generation: June,
        runtime: Trb,
        orchestration: "manual_orch",
        entry: None,
        kernels: &[
            ("aiv/double_it", "double_it", "u"),
            ("aiv/add_to", "add_to", "ui"),
            ("aiv/copy", "copy", "io"),
        ],
        cases: &["default"],
        args: |_| {
            let args =
                Args::new().f32("acc", 'u', &[8, 16], 1.0, 9, 0.0).f32("step", 'i', &[8, 16], 0.5, 4, 1.0);
            args.zeros("early", 'o', &[8, 16]).zeros("late", 'o', &[8, 16]).done()
        },
        configure: small,
    },
    Scene {
        name: "mixed_lanes",
        generation: June,
        runtime: Trb,
        orchestration: "lanes_orch",
        entry: None,
        kernels: &[
            ("aic/product", "product", "iio"),
            ("aiv/add_at3", "add_at3", "iio"),
            ("aiv/mul_at6", "mul_at6", "iio"),
            ("aiv/sub_at0", "sub_at0", "iio"),
        ],
        cases: &["default"],
        args: |_| {
            let args =
                Args::new().f32("a", 'i', &[16, 16], 0.5, 5, -1.0).f32("b", 'i', &[16, 16], 0.25, 7, 0.0);
            ["p", "s", "m", "d", "e", "q", "f"]
                .iter()
                .fold(args, |args, name| args.zeros(name, 'o', &[16, 16]))
                .done()
        },
        configure: small,
    },
    Scene {
        name: "nested_scopes",
        generation: August,
        runtime: Trb,
        orchestration: "nested_orch",
        entry: None,
        kernels: &[("aiv/affine", "affine", "iio")],
        cases: &["default"],
        args: |_| {
            let args = Args::new().f32("x", 'i', &[4, 16], 1.0, 7, 0.0).f32("y", 'i', &[4, 16], 0.5, 5, 1.0);
            args.zeros("out", 'o', &[4, 16]).done()
        },
        configure: whole,
    },
    Scene {
        name: "panels_matmul",
        generation: June,
        runtime: Trb,
        orchestration: "panels_orch",
        entry: None,
        kernels: &[("aic/tile_product", "tile_product", "iio"), ("aiv/accumulate", "accumulate", "ui")],
        cases: &["default"],
        args: |_| {
            let args =
                Args::new().f32("A", 'i', &[32, 64], 0.125, 5, -0.25).f32("B", 'i', &[64, 32], 0.25, 7, -0.5);
            args.f32("C", 'u', &[32, 32], 0.0, 1, 1.5).done()
        },
        configure: |_, config| (config.block_dim, config.control_threads) = (Some(4), Some(4)),
    },
    Scene {
        name: "ring_pressure",
        generation: August,
        runtime: Trb,
        orchestration: "pressure_orch",
        entry: None,
        kernels: &[("aiv/bump", "bump", "io")],
        cases: &["steps_40", "steps_4"],
        args: |case| {
            let steps = case[6..].parse().unwrap();
            let args = Args::new().f32("x", 'i', &[4, 16], 0.5, 9, 0.0).zeros("out", 'u', &[4, 16]);
            args.scalar(steps).done()
        },
        configure: |case, config| {
            if case == "steps_40" {
                config.control_threads = Some(2);
                config.rings.iter_mut().for_each(|ring| {
                    (ring.window, ring.heap, ring.dep_pool) = (16, 16384, 256);
                });
            } else {
                config.rings.iter_mut().zip([4, 8, 4, 4]).for_each(|(ring, window)| ring.window = window);
            }
        },
    },
    Scene {
        name: "rounds_state",
        generation: June,
        runtime: Trb,
        orchestration: "rounds_orch",
        entry: None,
        kernels: &[("aiv/step", "step", "ui")],
        cases: &["default"],
        args: |_| Args::new().f32("x", 'u', &[8, 8], 1.0, 5, 0.0).f32("y", 'i', &[8, 8], 1.0, 3, -1.0).done(),
        configure: small,
    },
    Scene {
        name: "wrong_golden",
        generation: June,
        runtime: Trb,
        orchestration: "add_orch",
        entry: None,
        kernels: &[ADD],
        cases: &["right", "off_by_half"],
        args: |_| {
            let args = Args::new().f32("x", 'i', &[4, 16], 1.0, 10, 0.0).f32("y", 'i', &[4, 16], 2.0, 3, 0.0);
            args.zeros("out", 'o', &[4, 16]).done()
        },
        configure: small,
    },
    Scene {
        name: "wrong_kernel",
        generation: August,
        runtime: Trb,
        orchestration: "mul_orch",
        entry: None,
        kernels: &[("aiv/mul_wrong", "mul_wrong", "iio")],
        cases: &["default"],
        args: |_| {
            let args = Args::new().f32("x", 'i', &[4, 16], 0.5, 6, 1.0).f32("y", 'i', &[4, 16], 1.0, 5, 1.0);
            args.zeros("out", 'o', &[4, 16]).done()
        },
        configure: whole,
    },
    Scene {
        name: "dump_marks/august",
        generation: August,
        runtime: Trb,
        orchestration: "marks_orch",
        entry: None,
        kernels: &[ADD, SCALE],
        cases: &["default--dump-args-1", "default--dump-args-3"],
        args: |_| marks(),
        configure: whole,
    },
    Scene {
        name: "dump_marks/june",
        generation: June,
        runtime: Trb,
        orchestration: "marks_orch",
        entry: None,
        kernels: &[ADD, SCALE],
        cases: &["default"],
        args: |_| marks(),
        configure: small,
    },
    // No dump was recorded of these; what they end with is.
    Scene {
        name: "error_codes",
        generation: August,
        runtime: Trb,
        orchestration: "errors_orch",
        entry: None,
        kernels: &[("aiv/nothing", "nothing", "o")],
        cases: &[],
        args: |case| Args::new().scalar(case.parse().unwrap()).done(),
        configure: |case, config| {
            config.control_threads = Some(2);
            if case == "4" {
                config.rings.iter_mut().for_each(|ring| ring.window = 4);
            }
        },
    },
    Scene {
        name: "fatal_stop/august",
        generation: August,
        runtime: Trb,
        orchestration: "fatal_orch",
        entry: None,
        kernels: &[],
        cases: &[],
        args: |_| Args::new().done(),
        configure: whole,
    },
    Scene {
        name: "fatal_stop/june",
        generation: June,
        runtime: Trb,
        orchestration: "fatal_orch",
        entry: None,
        kernels: &[],
        cases: &[],
        args: |_| Args::new().done(),
        configure: whole,
    },
    Scene {
        name: "worker_direct/august",
        generation: August,
        runtime: Trb,
        orchestration: "blend_orch",
        entry: Some("blend_entry"),
        kernels: &[("aiv/blend", "blend", "iio")],
        cases: &[],
        args: |k| blend(k.parse().unwrap()),
        configure: whole,
    },
    Scene {
        name: "worker_direct/june",
        generation: June,
        runtime: Trb,
        orchestration: "blend_orch",
        entry: Some("blend_entry"),
        kernels: &[("aiv/blend", "blend", "iio")],
        cases: &[],
        args: |k| blend(k.parse().unwrap()),
        configure: whole,
    },
];

pub fn scene(name: &str) -> &'static Scene {
    SCENES.iter().find(|scene| scene.name == name).unwrap()
}

fn marks() -> HostArgs {
    let args = Args::new().f32("a", 'i', &[4, 16], 1.0, 6, 0.0).f32("b", 'i', &[4, 16], 0.5, 9, 2.0);
    args.zeros("out", 'o', &[4, 16]).done()
}

fn blend(k: f32) -> HostArgs {
    let table = |value: fn(u32, u32) -> u32| {
        (0..8).flat_map(|row| (0..16).map(move |column| value(row, column) as f32)).collect::<Vec<_>>()
    };
    let args = Args::new().f32s("x", 'i', &[8, 16], &table(|row, column| row + column));
    let args = args.f32s("y", 'i', &[8, 16], &table(|row, column| row * column % 5));
    args.zeros("out", 'o', &[8, 16]).scalar_f32(k).done()
}

/// The arguments of a run, as the test files make them: small exact numbers.
struct Args(HostArgs);

impl Args {
    fn new() -> Args {
        Args(HostArgs::default())
    }

    fn done(self) -> HostArgs {
        self.0
    }

    fn tensor(mut self, name: &str, direction: char, dtype: DType, shape: &[u32], bytes: Vec<u8>) -> Args {
        let (name, shape, direction) = (name.into(), shape.into(), direction_of(direction));
        self.0.tensors.push(HostTensor { name, direction, dtype, shape, bytes });
        self
    }

    /// `start + step * (i % period)`.
    fn f32(self, name: &str, direction: char, shape: &[u32], step: f32, period: u32, start: f32) -> Args {
        self.f32s(name, direction, shape, &table(shape, step, period, start))
    }

    fn f32s(self, name: &str, direction: char, shape: &[u32], values: &[f32]) -> Args {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.tensor(name, direction, DType::F32, shape, bytes)
    }

    fn bf16(self, name: &str, direction: char, shape: &[u32], step: f32, period: u32, start: f32) -> Args {
        let values = table(shape, step, period, start);
        let bytes = values.iter().flat_map(|&value| bf16::from_f32(value).to_le_bytes()).collect();
        self.tensor(name, direction, DType::Bf16, shape, bytes)
    }

    fn i32(self, name: &str, direction: char, values: &[i32]) -> Args {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.tensor(name, direction, DType::I32, &[values.len() as u32], bytes)
    }

    fn zeros(self, name: &str, direction: char, shape: &[u32]) -> Args {
        self.f32(name, direction, shape, 0.0, 1, 0.0)
    }

    fn scalar(mut self, bits: u64) -> Args {
        self.0.scalars.push(bits);
        self
    }

    fn scalar_f32(self, value: f32) -> Args {
        self.scalar(value.to_bits().into())
    }
}

fn table(shape: &[u32], step: f32, period: u32, start: f32) -> Vec<f32> {
    (0..shape.iter().product()).map(|i| start + step * (i % period) as f32).collect()
}

pub fn direction_of(letter: char) -> ArgDirection {
    match letter {
        'i' => ArgDirection::In,
        'o' => ArgDirection::Out,
        _ => ArgDirection::Inout,
    }
}
