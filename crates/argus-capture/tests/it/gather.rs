//! Views of every type and kind come out in logical order: against a gather that does it one by one.

use std::sync::Arc;

use argus_abi::capture::{argument_flags, skip_reason};
use argus_abi::{DType, Tensor};
use argus_capture::{Recorded, TransportKind};
use argus_gm::{Fill, GlobalMemory};

use crate::support::{Item, Memory, Random, STREAMING, argument, buffer, capture, capture_in, config};

/// Element by element, from the definition of a view.
fn naive(memory: &GlobalMemory, view: &Tensor) -> Vec<u8> {
    let bits = view.dtype().unwrap().bits() as u64;
    let mut out = vec![0u8; view.packed_bytes().unwrap() as usize];
    for linear in 0..view.numel() {
        let (mut rest, mut element) = (linear, view.start_offset);
        for dim in (0..view.rank()).rev() {
            let len = u64::from(view.shapes[dim]);
            element += rest % len * u64::from(view.strides[dim]);
            rest /= len;
        }
        if bits == 4 {
            let mut byte = [0];
            memory.read(view.addr + element / 2, &mut byte).unwrap();
            let nibble = if element % 2 == 0 { byte[0] & 15 } else { byte[0] >> 4 };
            out[linear as usize / 2] |= nibble << (4 * (linear % 2));
        } else {
            let (size, at) = (bits / 8, (linear * bits / 8) as usize);
            memory.read(view.addr + element * size, &mut out[at..at + size as usize]).unwrap();
        }
    }
    out
}

/// Every way of looking at a box: whole, slices with and without steps, transposed, permuted, odd starts.
fn views(base: &Tensor) -> Vec<Tensor> {
    vec![
        *base,
        base.view(&[3, 5, 6, 7], &[0, 0, 0, 0]).unwrap(),
        base.view(&[2, 3, 4, 4], &[1, 1, 1, 2]).unwrap(),
        base.view(&[2, 3, 3, 5], &[1, 2, 3, 1]).unwrap(),
        base.view(&[1, 1, 1, 5], &[2, 3, 1, 1]).unwrap(),
        base.view(&[1, 1, 6, 8], &[2, 3, 0, 0]).unwrap(),
        base.slice(3, 1, 8, 2).unwrap(),
        base.slice(3, 0, 8, 8).unwrap(),
        base.slice(0, 0, 3, 2).unwrap(),
        base.transpose(2, 3).unwrap(),
        base.transpose(0, 1).unwrap(),
        base.permute(&[3, 1, 0, 2]).unwrap(),
        base.permute(&[1, 0, 2, 3]).unwrap().slice(1, 1, 3, 1).unwrap(),
        base.view(&[0, 5, 6, 8], &[0, 0, 0, 0]).unwrap(),
        base.reshape(&[90, 8]).unwrap().view(&[90, 1], &[0, 3]).unwrap(),
    ]
}

#[test]
fn every_type_and_kind_of_view_equals_the_naive_gather() {
    for transport in STREAMING {
        for dtype in DType::ALL {
            let memory = Arc::new(GlobalMemory::new());
            let bytes = Random(7 + dtype as u64).bytes(dtype.packed_bytes(3 * 5 * 6 * 8).unwrap() as usize);
            let addr = buffer(&memory, &bytes).addr;
            let base = Tensor::contiguous(addr, dtype, &[3, 5, 6, 8]).unwrap();
            let views = views(&base);
            let (sink, account) =
                capture_in(&memory, config(transport, 1), Memory::default(), |ring, memory| {
                    for view in &views {
                        assert_eq!(
                            ring.argument(argument(1, Some(view)), Some(view), memory),
                            Recorded::Whole
                        );
                    }
                });
            assert!(account.is_complete(), "{account:?}");
            let items = sink.unwrap().items;
            assert_eq!(items.len(), views.len());
            for (item, view) in items.iter().zip(&views) {
                let Item::Argument(entry, payload) = item else { panic!("{item:?}") };
                assert_eq!(*payload, naive(&memory, view), "{dtype} {:?} {:?}", view.shape(), view.stride());
                assert_eq!(entry.shapes, view.shapes);
            }
        }
    }
}

/// Random boxes of random types, in rings so small that every payload wraps and streams.
#[test]
fn random_views_through_tiny_rings() {
    let mut random = Random(99);
    let memory = Arc::new(GlobalMemory::new());
    let bytes = random.bytes(64 * 1024);
    let addr = buffer(&memory, &bytes).addr;
    let mut views = Vec::new();
    while views.len() < 300 {
        let dtype = DType::ALL[random.below(15) as usize];
        let shape: Vec<u32> = (0..1 + random.below(5)).map(|_| 1 + random.below(9) as u32).collect();
        let mut view = Tensor::contiguous(addr, dtype, &shape).unwrap();
        if view.size > bytes.len() as u64 {
            continue;
        }
        for _ in 0..random.below(4) {
            let dim = random.below(view.rank() as u64) as usize;
            let len = view.shapes[dim];
            let start = random.below(u64::from(len)) as u32;
            view = match random.below(2) {
                0 => view.transpose(dim, random.below(view.rank() as u64) as usize).unwrap(),
                _ => view.slice(dim, start, len, 1 + random.below(3) as u32).unwrap(),
            };
        }
        views.push(view);
    }
    let mut tiny = config(TransportKind::Mapped, 1);
    (tiny.entries_per_ring, tiny.payload_bytes_per_ring) = (2, 64);
    let (sink, account) = capture_in(&memory, tiny, Memory::default(), |ring, memory| {
        for view in &views {
            assert_eq!(ring.argument(argument(1, Some(view)), Some(view), memory), Recorded::Whole);
        }
    });
    assert!(account.is_complete(), "{account:?}");
    for (item, view) in sink.unwrap().items.iter().zip(&views) {
        let Item::Argument(_, payload) = item else { panic!("{item:?}") };
        assert_eq!(*payload, naive(&memory, view), "{:?} {:?}", view.shape(), view.stride());
    }
}

#[test]
fn what_cannot_be_read_is_skipped_with_its_reason() {
    let mut good = Tensor::contiguous(0, DType::F32, &[8]).unwrap();
    let (sink, account) = capture(TransportKind::Mapped, Memory::default(), |ring, memory| {
        good = buffer(memory, &[5; 32]);
        let mut beyond = good;
        beyond.shapes[0] = 33;
        let mut nowhere = good;
        nowhere.addr = 16;
        let mut unknown = good;
        unknown.dtype = 200;
        let mut huge = good;
        (huge.ndims, huge.shapes) = (5, [u32::MAX; 5]);
        let mut far = good;
        far.start_offset = u64::MAX - 2;
        let mut lying = good.slice(0, 0, 32, 31).unwrap();
        lying.strides[0] = 1000;
        let expected = [
            (beyond, skip_reason::UNREADABLE),
            (nowhere, skip_reason::UNREADABLE),
            (unknown, skip_reason::METADATA_MISMATCH),
            (huge, skip_reason::METADATA_MISMATCH),
            (far, skip_reason::METADATA_MISMATCH),
            (lying, skip_reason::UNREADABLE),
        ];
        for (view, reason) in expected {
            let mut entry = argument(3, Some(&good));
            (entry.arg_index, entry.stage) = (4, 1);
            assert_eq!(ring.argument(entry, Some(&view), memory), Recorded::Skipped(reason));
        }
        let whole = ring.argument(argument(4, Some(&good)), Some(&good), memory);
        assert_eq!(whole, Recorded::Whole);
    });
    assert!(account.is_complete());
    let items = sink.unwrap().items;
    assert_eq!(items.len(), 7);
    for item in &items[..6] {
        let Item::Skip(skip) = item else { panic!("{item:?}") };
        assert_eq!((skip.task_id, skip.arg_index, skip.stage, skip.func_id), (3, 4, 1, -1));
    }
    assert!(matches!(&items[6], Item::Argument(_, bytes) if *bytes == [5; 32]));
}

#[test]
fn scalars_and_unwanted_payloads_carry_none() {
    let (sink, account) = capture(TransportKind::Copied, Memory::default(), |ring, memory| {
        let view = buffer(memory, &[1; 100]);
        let mut unwanted = argument(1, Some(&view));
        unwanted.flags = argument_flags::NO_PAYLOAD;
        assert_eq!(ring.argument(argument(2, None), None, memory), Recorded::Whole);
        assert_eq!(ring.argument(unwanted, Some(&view), memory), Recorded::Whole);
        // Not even looked at.
        let mut nowhere = view;
        nowhere.addr = 8;
        assert_eq!(ring.argument(unwanted, Some(&nowhere), memory), Recorded::Whole);
    });
    assert!(account.is_complete());
    assert_eq!(account.ledger.total().payload_bytes, 0);
    for (index, item) in sink.unwrap().items.iter().enumerate() {
        let Item::Argument(entry, payload) = item else { panic!("{item:?}") };
        assert!(payload.is_empty() && entry.payload_bytes == 0);
        assert_eq!(entry.header.sequence, index as u64);
        assert_eq!(entry.scalar_bits, entry.task_id.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    }
}

/// The payload is the content at the moment of recording, even if the buffer is freed right after.
#[test]
fn a_payload_is_a_copy() {
    let (sink, account) = capture(TransportKind::Mapped, Memory::default(), |ring, memory| {
        let device = memory.allocate(4096, Fill::Poison).unwrap();
        let view = Tensor::contiguous(device.addr, DType::U8, &[4096]).unwrap();
        assert_eq!(ring.argument(argument(1, Some(&view)), Some(&view), memory), Recorded::Whole);
        memory.write(device.addr, &[0; 4096]).unwrap();
        memory.free(device.addr).unwrap();
    });
    assert!(account.is_complete());
    assert!(matches!(&sink.unwrap().items[0], Item::Argument(_, bytes) if *bytes == [0xFF; 4096]));
}
