//! Which task: found by id, name or set, or refused with a list of what there is.

use argus_chip::A2A3SIM;
use argus_replay::{Listing, Selection};
use argus_scenes::registry::RuntimeKind;

use crate::setup::Recorded;

#[test]
fn tasks_are_found_by_id_by_name_and_by_their_exact_set() {
    let recorded = Recorded::named("paged_attention", "CaseSmall1", RuntimeKind::Trb, &A2A3SIM);
    let listing = Listing::of(&recorded.dump());
    let find = |selection: Selection| listing.select(&selection).map(|listed| listed.task);
    let kernel = |name: &str, nth| find(Selection { kernel: Some(name.into()), nth, ..Selection::default() });
    let set = |ids: &[i32]| find(Selection { func_ids: Some(ids.into()), ..Selection::default() });
    let task = |id| find(Selection { task: Some(id), ..Selection::default() });

    // Three blocks of context: three rounds of QK, SF, PV, UP.
    let all: Vec<u64> = (0..3).map(|nth| kernel("SF", nth).unwrap()).collect();
    assert!(all.is_sorted() && all[0] < all[1] && all[1] < all[2], "{all:x?}");
    assert_eq!(task(all[1]), Ok(all[1]));
    assert_eq!(set(&[1]), Ok(all[0]));

    let says = |result: Result<u64, argus_replay::SelectError>| result.unwrap_err().to_string();
    assert_eq!(says(kernel("SF", 3)), "--nth 3 is too large: 3 tasks fit, counted from 0");
    let unknown = says(kernel("XX", 0));
    assert_eq!(unknown, "no task runs a kernel 'XX'; the kernels of the dump are PV, QK, SF, UP");
    let unset = says(set(&[0, 1]));
    assert_eq!(unset, "no task runs exactly the kernels {0,1}; the sets in the dump are {0}, {1}, {2}, {3}");
    let missing = says(task(0xdead));
    assert!(missing.starts_with("there is no task 0xdead; there are 0x"), "{missing}");
    assert!(missing.contains("(QK)"), "{missing}");
    let nothing = says(find(Selection::default()));
    assert!(nothing.contains("--task ID, --kernel NAME or --func-id"), "{nothing}");
    let other =
        says(find(Selection { task: Some(all[0]), kernel: Some("QK".into()), ..Selection::default() }));
    assert_eq!(other, format!("task {:#x} runs SF, not 'QK'", all[0]));
}

#[test]
fn a_mix_is_found_by_one_of_its_kernels_by_all_and_by_its_set() {
    let recorded = Recorded::named("pipe_mix", "default", RuntimeKind::Trb, &A2A3SIM);
    let listing = Listing::of(&recorded.dump());
    let find = |selection: Selection| listing.select(&selection).map(|listed| listed.task);
    let by_name = |name: &str| find(Selection { kernel: Some(name.into()), nth: 2, ..Selection::default() });
    let one = by_name("pop_add_bias").unwrap();
    assert_eq!(by_name("matmul_push"), Ok(one));
    assert_eq!(by_name("matmul_push+pop_add_bias"), Ok(one));
    let by_set = |ids: &[i32]| find(Selection { func_ids: Some(ids.into()), nth: 2, ..Selection::default() });
    assert_eq!(by_set(&[0, 1, 1]), Ok(one));
    assert_eq!(by_set(&[1, 0]), Ok(one));
    assert!(by_set(&[0]).is_err());
}
