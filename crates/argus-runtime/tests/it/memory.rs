//! The heap rings: what fresh memory holds, reuse, back-pressure, and edges in numbers.

use argus_abi::{DType, Tensor};
use argus_gm::Fill;
use argus_runtime::{Arg, RINGS, RingConfig, RunConfig, ScopeMode, TensorCreateInfo};
use argus_tile::{Fault, GlobalShape};

use crate::programs::{
    BUMP, FILL, Kernels, MOVE, bump, config, fill, fill_new, i32s, own, read, results, shift, write,
};

fn tiny_rings(window: u32, heap: u64) -> RunConfig {
    RunConfig { rings: [RingConfig { window, heap, dep_pool: 16384 }; RINGS], ..config() }
}

/// Fails if the tensor in slot 0 holds anything but the bytes in slot 1, padding included, then soils it.
fn inspecting() -> Kernels {
    Kernels::standard().own(0, |core, args| {
        let tensor = *args.tensor(0)?;
        let words = Tensor::contiguous(tensor.addr, DType::I32, &[tensor.size as u32 / 4]).unwrap();
        let expected = args.scalar(1)? as u32 as i32;
        if let Some(at) = read(core, &words)?.iter().position(|&word| word != expected) {
            return Err(Fault::kernel(format!("word {at} of a fresh buffer is not {expected:#x}")));
        }
        write(core, &words, &vec![0x5A5A_5A5A; words.numel() as usize])
    })
}

#[test]
fn every_fresh_output_is_poison_also_where_an_earlier_task_wrote() {
    let program = inspecting().trb(|trb, _| {
        for _ in 0..200 {
            trb.scope(ScopeMode::Auto, |trb| {
                trb.submit_aiv(own(0), Arg::new().create(&i32s(300)?).scalar(0xFFFF_FFFF)).map(drop)
            })?;
        }
        Ok(())
    });
    results(&program, &[], &tiny_rings(4, 4096));
}

#[test]
fn a_run_that_asks_for_zeros_gets_zeros() {
    let program = inspecting().trb(|trb, _| {
        for _ in 0..20 {
            trb.scope(ScopeMode::Auto, |trb| {
                trb.submit_aiv(own(0), Arg::new().create(&i32s(300)?).scalar(0)).map(drop)
            })?;
        }
        Ok(())
    });
    results(&program, &[], &RunConfig { fill: Fill::Zero, ..tiny_rings(4, 4096) });
}

#[test]
fn initial_values_fill_the_whole_buffer_in_the_width_of_the_element() {
    let program = inspecting().trb(|trb, _| {
        for _ in 0..10 {
            trb.scope(ScopeMode::Auto, |trb| {
                let info = |dtype, bits| Ok(TensorCreateInfo::new(&[7], dtype)?.with_initial_value(bits));
                let made = trb.alloc_tensors(&[
                    info(DType::U8, 0x77AB)?,
                    info(DType::Bf16, 0x9999_3F80)?,
                    info(DType::F32, 0x3F80_0000)?,
                    TensorCreateInfo::new(&[7], DType::F32)?,
                ])?;
                let words = [0xABAB_ABAB, 0x3F80_3F80, 0x3F80_0000, 0xFFFF_FFFF];
                for (index, word) in words.into_iter().enumerate() {
                    trb.submit_aiv(own(0), Arg::new().inout(made.tensor(index)?).scalar(word))?;
                }
                Ok(())
            })?;
        }
        Ok(())
    });
    results(&program, &[], &tiny_rings(8, 8192));
}

#[test]
fn thousands_of_tasks_pass_through_four_slots_and_four_kilobytes() {
    // Each scope: make, move, fold into the sum. Sizes vary so that the heap wraps at odd places.
    let program = Kernels::standard().trb(|trb, args| {
        let sum = args.tensor(0)?;
        for round in 0..1500u32 {
            trb.scope(ScopeMode::Auto, |trb| {
                let count = 1 + round * 37 % 500;
                let made = *trb.submit_aiv(FILL, fill_new(count, round as i32, 0)?)?.tensor(0)?;
                let last = made.view(&[1], &[count - 1]).unwrap();
                trb.submit_aiv(MOVE, shift(&last, &sum.view(&[1], &[round % 8]).unwrap(), 0)).map(drop)
            })?;
        }
        Ok(())
    });
    for host_threads in [1, 3] {
        let config = RunConfig { host_threads: Some(host_threads), ..tiny_rings(4, 4096) };
        let expected: Vec<i32> =
            (0..8).map(|slot| (0..1500).rfind(|round| round % 8 == slot).unwrap() + 1).collect();
        assert_eq!(results(&program, &[&[0; 8]], &config), [expected]);
    }
}

#[test]
fn memory_lives_until_its_last_reader_is_done() {
    // The scope ends while slow readers still run; the next scopes want the same bytes.
    let program = Kernels::standard().trb(|trb, args| {
        for round in 0..6u32 {
            trb.scope(ScopeMode::Auto, |trb| {
                let made = *trb.submit_aiv(FILL, fill_new(500, round as i32, 0)?)?.tensor(0)?;
                let end = made.view(&[1], &[499]).unwrap();
                trb.submit_aiv(MOVE, shift(&end, &args.tensor(0)?.view(&[1], &[round]).unwrap(), 15))
                    .map(drop)
            })?;
        }
        Ok(())
    });
    assert_eq!(results(&program, &[&[0; 6]], &tiny_rings(4, 4096)), [[1, 2, 3, 4, 5, 6]]);
}

#[test]
fn a_chain_through_reused_memory_is_exact() {
    // Every value travels through a hundred scopes by way of a tensor of the outer scope.
    let program = Kernels::standard().trb(|trb, args| {
        let carry = *trb.submit_aiv(FILL, fill_new(8, 0, 0)?)?.tensor(0)?;
        for _ in 0..100 {
            trb.scope(ScopeMode::Auto, |trb| {
                let arg = Arg::new().input(&carry).create(&i32s(8)?).scalar(0);
                let next = *trb.submit_aiv(MOVE, arg)?.tensor(0)?;
                trb.submit_aiv(MOVE, shift(&next, &carry, 0)).map(drop)
            })?;
        }
        trb.submit_aiv(MOVE, shift(&carry, args.tensor(0)?, 0)).map(drop)
    });
    assert_eq!(results(&program, &[&[0; 8]], &tiny_rings(4, 4096)), [[201; 8]]);
}

#[test]
fn more_than_sixty_four_producers_are_all_waited_for() {
    let program = Kernels::standard().trb(|trb, args| {
        let [words, seen] = [args.tensor(0)?, args.tensor(1)?];
        // By overlap: 200 writers of one element each, the last ones slow. Then by name alone.
        for index in 0..200 {
            let delay = if index >= 196 { 20 } else { 0 };
            trb.submit_aiv(FILL, fill(&words.view(&[1], &[index]).unwrap(), index as i32, delay))?;
        }
        trb.submit_aiv(MOVE, shift(words, seen, 0))?;
        let others = args.tensor(2)?.with_manual_dep(true);
        let mut named = Vec::new();
        for index in 0..200 {
            let element = others.view(&[1], &[index]).unwrap().with_manual_dep(true);
            let delay = if index >= 196 { 20 } else { 0 };
            named.push(trb.submit_aiv(BUMP, bump(&element, delay))?.task_id());
        }
        let arg = Arg::new().inout(&others).scalar(0).after(&named);
        trb.submit_aiv(BUMP, arg).map(drop)
    });
    let zeros = [0; 200];
    let results = results(&program, &[&zeros, &zeros, &zeros], &config());
    assert_eq!(results[1], (0..200).map(|index| index + 1).collect::<Vec<i32>>());
    assert_eq!(results[2], [2; 200]);
}

#[test]
fn a_thousand_consumers_all_run_after_their_producer_and_before_the_next_writer() {
    let program = Kernels::standard().trb(|trb, args| {
        let [word, seen] = [args.tensor(0)?, args.tensor(1)?];
        trb.submit_aiv(FILL, fill(word, 41, 30))?;
        for index in 0..1000 {
            trb.submit_aiv(MOVE, shift(word, &seen.view(&[1], &[index]).unwrap(), 0))?;
        }
        trb.submit_aiv(BUMP, bump(word, 0)).map(drop)
    });
    assert_eq!(results(&program, &[&[0], &[0; 1000]], &config()), [vec![42], vec![42; 1000]]);
}

#[test]
fn back_pressure_of_edges_and_of_the_map_delays_and_loses_nothing() {
    let program = Kernels::standard().trb(|trb, args| {
        let words = args.tensor(0)?;
        for round in 0..400 {
            trb.scope(ScopeMode::Auto, |trb| {
                let (a, b) = (round % 8, (round * 5 + 3) % 8);
                let source = words.view(&[1], &[a]).unwrap();
                if a == b {
                    return trb.submit_aiv(BUMP, bump(&source, 0)).map(drop);
                }
                trb.submit_aiv(MOVE, shift(&source, &words.view(&[1], &[b]).unwrap(), 0)).map(drop)
            })?;
        }
        Ok(())
    });
    let mut expected: Vec<i32> = (0..8).map(|value| value * 100).collect();
    for round in 0..400 {
        expected[(round * 5 + 3) % 8] = expected[round % 8] + 1;
    }
    let inputs: Vec<i32> = (0..8).map(|value| value * 100).collect();
    let mut config = RunConfig { tensormap_entries: 4, ..tiny_rings(16, 4096) };
    for ring in &mut config.rings {
        ring.dep_pool = 5;
    }
    assert_eq!(results(&program, &[&inputs], &config), [expected]);
}

#[test]
fn an_empty_tensor_costs_nothing_and_orders_nothing() {
    let kernels = Kernels::standard().own(0, |core, args| {
        assert_eq!((args.tensor(0)?.numel(), args.tensor(0)?.extent), (0, 0));
        core.global(args.tensor(0)?, GlobalShape::nd(0, 0)).map(drop)
    });
    let program = kernels.trb(|trb, args| {
        let made = trb.alloc_tensors(&[TensorCreateInfo::new(&[0, 4], DType::I32)?, i32s(256)?])?;
        let empty = made.tensor(0)?;
        assert_eq!((empty.size, made.tensor(1)?.size), (0, 1024));
        trb.submit_aiv(own(0), Arg::new().inout(empty))?;
        trb.submit_aiv(FILL, fill(made.tensor(1)?, 3, 0))?;
        trb.submit_aiv(MOVE, shift(&made.tensor(1)?.view(&[1], &[255]).unwrap(), args.tensor(0)?, 0))
            .map(drop)
    });
    assert_eq!(results(&program, &[&[0]], &tiny_rings(8, 1024)), [[4]]);
}

/// An empty output has an address but no bytes there: what is tracked at that address belongs to others.
#[test]
fn an_empty_output_does_not_hide_the_writers_of_a_neighbour() {
    let program = Kernels::standard().trb(|trb, args| {
        let made = *trb.alloc_tensors(&[i32s(256)?])?.tensor(0)?;
        trb.submit_aiv(FILL, fill(&made, 6, 50))?;
        let empty = TensorCreateInfo::new(&[0], DType::I32)?;
        trb.submit_dummy(Arg::new().create(&empty))?;
        trb.alloc_tensors(&[empty])?;
        trb.submit_aiv(MOVE, shift(&made.view(&[1], &[255]).unwrap(), args.tensor(0)?, 0)).map(drop)
    });
    assert_eq!(results(&program, &[&[0]], &config()), [[7]]);
}
