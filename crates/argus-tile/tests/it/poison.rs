use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use argus_abi::{CoreType, DType, Member};
use argus_chip::A2A3SIM;
use argus_gm::{Fill, GlobalMemory};
use argus_tile::{ClusterPipes, Core, CoreConfig, CoreStatus, Opcode, Pipe, Space, Tile};

fn core(fill: Fill) -> Core {
    let config = CoreConfig { sizes: A2A3SIM.core_sizes, core_type: CoreType::Aiv, fill };
    let status = Arc::new(CoreStatus::new(Arc::new(AtomicBool::new(false))));
    Core::new(config, Arc::new(GlobalMemory::new()), Arc::new(ClusterPipes::new()), status)
}

#[test]
fn a_kernel_sees_nothing_of_the_one_before() {
    for (fill, byte) in [(Fill::Poison, 0xFF), (Fill::Zero, 0)] {
        let mut core = core(fill);
        core.begin_kernel(Member::Aiv0);
        assert!(core.peek(Space::Vec, 0..0x10000).unwrap().iter().all(|&b| b == byte));
        let (low, high) = (Tile::vec(DType::F32, 1, 8).at(0x20), Tile::vec(DType::I8, 16, 64).at(0x8000));
        core.texpands(&low, 1.0f32).unwrap();
        core.texpands(&high, 7).unwrap();
        assert_eq!(core.get_value::<f32>(&low, 3).unwrap(), 1.0);
        core.begin_kernel(Member::Aiv0);
        assert!(core.peek(Space::Vec, 0..0x10000).unwrap().iter().all(|&b| b == byte));
        assert_eq!(core.get_value::<i8>(&high, 100).unwrap(), byte as i8);
    }
}

#[test]
fn poison_shows_in_results() {
    let mut core = core(Fill::Poison);
    core.begin_kernel(Member::Aiv1);
    assert_eq!(core.sub_block_id(), 1);
    let (a, b, c) = (
        Tile::vec(DType::F32, 1, 8).at(0),
        Tile::vec(DType::F32, 1, 8).at(0x20),
        Tile::vec(DType::F32, 1, 8).at(0x40),
    );
    core.texpands(&a, 1.0f32).unwrap();
    core.tadd(&c, &a, &b).unwrap();
    assert!(core.get_value::<f32>(&c, 0).unwrap().is_nan());
}

#[test]
fn counters_and_flags_start_anew() {
    let mut core = core(Fill::Zero);
    core.begin_kernel(Member::Aiv0);
    assert_eq!((core.status().instructions(), core.status().last_opcode()), (0, None));
    core.set_flag(Pipe::Mte2, Pipe::V, 3).unwrap();
    core.dsb().unwrap();
    assert_eq!((core.status().instructions(), core.status().last_opcode()), (2, Some(Opcode::Dsb)));
    let left: Vec<_> = core.unbalanced_flags().collect();
    assert_eq!(left.len(), 1);
    assert_eq!((left[0].0.src, left[0].0.dst, left[0].0.id, left[0].1), (Pipe::Mte2, Pipe::V, 3, 1));
    core.begin_kernel(Member::Aiv0);
    assert_eq!(core.unbalanced_flags().count(), 0);
    assert_eq!(core.status().instructions(), 0);
}
