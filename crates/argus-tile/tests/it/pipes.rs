//! Cross-core pipes between real threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use argus_abi::{DType, Member};
use argus_chip::A5SIM;
use argus_gm::{Fill, GlobalMemory};
use argus_tile::{ClusterPipes, Core, CoreConfig, CoreStatus, Direction, FaultKind, Split, TPipe, Tile};

struct Cluster {
    pipes: Arc<ClusterPipes>,
    stop: Arc<AtomicBool>,
}

impl Cluster {
    fn new() -> Cluster {
        Cluster { pipes: Arc::new(ClusterPipes::new()), stop: Arc::new(AtomicBool::new(false)) }
    }

    fn core(&self, member: Member) -> Core {
        let config =
            CoreConfig { sizes: A5SIM.core_sizes, core_type: member.core_type(), fill: Fill::Poison };
        let status = Arc::new(CoreStatus::new(self.stop.clone()));
        let mut core = Core::new(config, Arc::new(GlobalMemory::new()), self.pipes.clone(), status);
        core.begin_kernel(member);
        core
    }
}

/// The value of element (r, c) of the n-th tile.
fn value(n: usize, r: usize, c: usize) -> f32 {
    (n * 10_000 + r * 100 + c) as f32
}

fn put(core: &mut Core, tile: &Tile, f: impl Fn(usize, usize) -> f32) {
    for r in 0..tile.rows {
        for c in 0..tile.cols {
            let at = tile.addr as usize + tile.element_offset(r, c).unwrap() * 4;
            core.poke(tile.space, at, &f(r as usize, c as usize).to_le_bytes()).unwrap();
        }
    }
}

fn get(core: &mut Core, tile: &Tile, r: usize, c: usize) -> f32 {
    let at = tile.addr as usize + tile.element_offset(r as u32, c as u32).unwrap() * 4;
    f32::from_le_bytes(core.peek(tile.space, at..at + 4).unwrap().try_into().unwrap())
}

const TILES: usize = 20;

#[test]
fn from_the_matrix_core_to_the_vector_cores() {
    for split in [Split::NoSplit, Split::UpDown, Split::LeftRight] {
        let cluster = Cluster::new();
        let pipe = TPipe::new(0, Direction::C2V, 32 * 32 * 4, 2);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut core = cluster.core(Member::Aic);
                let acc = Tile::acc(DType::F32, 32, 32).at(0x400);
                for n in 0..TILES {
                    put(&mut core, &acc, |r, c| value(n, r, c));
                    core.tpush(&pipe, &acc, split).unwrap();
                }
            });
            for (lane, member) in [Member::Aiv0, Member::Aiv1].into_iter().enumerate() {
                let (cluster, pipe) = (&cluster, &pipe);
                scope.spawn(move || {
                    let mut core = cluster.core(member);
                    let (rows, cols, r0, c0) = match split {
                        Split::NoSplit => (32, 32, 0, 0),
                        Split::UpDown => (16, 32, 16 * lane, 0),
                        Split::LeftRight => (32, 16, 0, 16 * lane),
                    };
                    let tile = Tile::vec(DType::F32, rows, cols).at(0x40).valid(rows - 1, cols - 2);
                    for n in 0..TILES {
                        core.tpop(pipe, &tile, split).unwrap();
                        for r in 0..rows as usize - 1 {
                            for c in 0..cols as usize - 2 {
                                let zero = split == Split::NoSplit && lane == 1;
                                let want = if zero { 0.0 } else { value(n, r + r0, c + c0) };
                                assert_eq!(get(&mut core, &tile, r, c), want, "{split:?} {lane} {n} {r} {c}");
                            }
                        }
                        // Outside the valid region nothing arrives, except the zeros of an idle lane.
                        let corner = get(&mut core, &tile, rows as usize - 1, 0);
                        assert!(corner.is_nan() || (split == Split::NoSplit && lane == 1));
                        core.tfree(pipe, split).unwrap();
                    }
                });
            }
        });
    }
}

#[test]
fn from_the_vector_cores_to_the_matrix_core() {
    for split in [Split::NoSplit, Split::UpDown, Split::LeftRight] {
        let cluster = Cluster::new();
        let pipe = TPipe::new(2, Direction::V2C, 32 * 32 * 4, 3);
        thread::scope(|scope| {
            for (lane, member) in [Member::Aiv0, Member::Aiv1].into_iter().enumerate() {
                let (cluster, pipe) = (&cluster, &pipe);
                scope.spawn(move || {
                    let mut core = cluster.core(member);
                    let (rows, cols, r0, c0) = match split {
                        Split::NoSplit => (32, 32, 0, 0),
                        Split::UpDown => (16, 32, 16 * lane, 0),
                        Split::LeftRight => (32, 16, 0, 16 * lane),
                    };
                    let tile = Tile::vec(DType::F32, rows, cols).at(0x40).valid(rows - 1, cols - 1);
                    for n in 0..TILES {
                        put(&mut core, &tile, |r, c| value(n, r + r0, c + c0));
                        core.tpush(pipe, &tile, split).unwrap();
                    }
                });
            }
            scope.spawn(|| {
                let mut core = cluster.core(Member::Aic);
                let tile = Tile::mat_nz(DType::F32, 32, 32).at(0x200);
                for n in 0..TILES {
                    core.tpop(&pipe, &tile, split).unwrap();
                    for r in 0..32 {
                        for c in 0..32 {
                            // Outside the producers' valid regions the slot holds zeros.
                            let outside = match split {
                                Split::NoSplit => r == 31 || c == 31,
                                Split::UpDown => r % 16 == 15 || c == 31,
                                Split::LeftRight => r == 31 || c % 16 == 15,
                            };
                            let want = if outside { 0.0 } else { value(n, r, c) };
                            assert_eq!(get(&mut core, &tile, r, c), want, "{split:?} {n} {r} {c}");
                        }
                    }
                    core.tfree(&pipe, split).unwrap();
                }
            });
        });
    }
}

#[test]
fn both_ways_through_one_ring() {
    let cluster = Cluster::new();
    let pipe = TPipe { no_split: true, ..TPipe::new(0, Direction::Both, 16 * 16 * 4, 4) };
    let split = Split::NoSplit;
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut core = cluster.core(Member::Aic);
            let (out, back) = (Tile::acc(DType::F32, 16, 16).at(0), Tile::mat_nz(DType::F32, 16, 16).at(0));
            for n in 0..TILES {
                put(&mut core, &out, |r, c| value(n, r, c));
                core.tpush(&pipe, &out, split).unwrap();
                core.tpop(&pipe, &back, split).unwrap();
                assert_eq!(get(&mut core, &back, 3, 4), value(n, 3, 4) + 1.0);
                core.tfree(&pipe, split).unwrap();
            }
        });
        scope.spawn(|| {
            let mut core = cluster.core(Member::Aiv0);
            let tile = Tile::vec(DType::F32, 16, 16).at(0);
            for _ in 0..TILES {
                core.tpop(&pipe, &tile, split).unwrap();
                core.tfree(&pipe, split).unwrap();
                core.tadds(&tile, &tile, 1.0f32).unwrap();
                core.tpush(&pipe, &tile, split).unwrap();
            }
        });
    });
}

#[test]
fn a_full_pipe_blocks_until_a_slot_is_freed() {
    let cluster = Cluster::new();
    let pipe = TPipe::new(0, Direction::C2V, 16 * 16 * 4, 2);
    let pushed = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut core = cluster.core(Member::Aic);
            for _ in 0..3 {
                core.tpush(&pipe, &Tile::acc(DType::F32, 16, 16).at(0), Split::NoSplit).unwrap();
                pushed.fetch_add(1, Ordering::SeqCst);
            }
        });
        while pushed.load(Ordering::SeqCst) < 2 {
            thread::yield_now();
        }
        let mut core = cluster.core(Member::Aiv0);
        core.tpop(&pipe, &Tile::vec(DType::F32, 16, 16).at(0), Split::NoSplit).unwrap();
        thread::sleep(Duration::from_millis(30));
        // Popped is not freed: the third push still waits.
        assert_eq!(pushed.load(Ordering::SeqCst), 2);
        core.tfree(&pipe, Split::NoSplit).unwrap();
        while pushed.load(Ordering::SeqCst) < 3 {
            thread::yield_now();
        }
    });
}

#[test]
fn the_stop_flag_wakes_who_waits() {
    let cluster = Cluster::new();
    let pipe = TPipe::new(0, Direction::Both, 16 * 16 * 4, 1);
    thread::scope(|scope| {
        let popper = scope.spawn(|| {
            let mut core = cluster.core(Member::Aiv0);
            core.tpop(&pipe, &Tile::vec(DType::F32, 16, 16).at(0), Split::UpDown).unwrap_err()
        });
        let pusher = scope.spawn(|| {
            let mut core = cluster.core(Member::Aiv1);
            let tile = Tile::vec(DType::F32, 8, 16).at(0);
            core.tpush(&pipe, &tile, Split::UpDown).unwrap();
            core.tpush(&pipe, &tile, Split::UpDown).unwrap_err()
        });
        thread::sleep(Duration::from_millis(20));
        cluster.stop.store(true, Ordering::Relaxed);
        let fault = popper.join().unwrap();
        assert!(fault.is_stop());
        assert!(fault.to_string().starts_with("TPOP (instruction 1, "), "{fault}");
        assert!(pusher.join().unwrap().is_stop());
    });
}

#[test]
fn misuse_is_a_fault() {
    let cluster = Cluster::new();
    let mut aic = cluster.core(Member::Aic);
    let mut aiv = cluster.core(Member::Aiv0);
    let acc = Tile::acc(DType::F32, 16, 16).at(0);
    let tile = Tile::vec(DType::F32, 16, 16).at(0);
    let pipe = TPipe::new(0, Direction::C2V, 1024, 2);
    let narrow = TPipe::new(0, Direction::C2V, 1000, 2);
    let fault = aic.tpush(&narrow, &acc, Split::NoSplit).unwrap_err();
    assert_eq!((&fault.kind, fault.operand), (&FaultKind::OutOfRange, Some("src")));
    assert!(fault.to_string().contains("1024 bytes do not fit a slot of 1000"), "{fault}");
    assert_eq!(aiv.tpush(&pipe, &tile, Split::NoSplit).unwrap_err().kind, FaultKind::Protocol);
    assert_eq!(aic.tfree(&pipe, Split::NoSplit).unwrap_err().kind, FaultKind::Protocol);
    assert_eq!(aiv.tfree(&pipe, Split::NoSplit).unwrap_err().kind, FaultKind::Protocol);
    aic.tpush(&pipe, &acc, Split::NoSplit).unwrap();
    assert_eq!(aiv.tpop(&pipe, &tile, Split::UpDown).unwrap_err().kind, FaultKind::Protocol);
    let other = Tile::vec(DType::F32, 8, 32).at(0);
    assert_eq!(aiv.tpop(&pipe, &other, Split::NoSplit).unwrap_err().kind, FaultKind::WrongShape);
    aiv.tpop(&pipe, &tile, Split::NoSplit).unwrap();
    aiv.tfree(&pipe, Split::NoSplit).unwrap();
    assert_eq!(aiv.tfree(&pipe, Split::NoSplit).unwrap_err().kind, FaultKind::Protocol);
}
