//! Which task: found by id, name or set, or refused with a list of what there is.

use argus_abi::{RuntimeKind, TaskId};
use argus_chip::A2A3SIM;
use argus_facts::TaskSelector;
use argus_replay::{Hint, Listing, TaskChoice};

use crate::setup::Recorded;

#[test]
fn tasks_are_found_by_id_by_name_and_by_their_exact_set() {
    let recorded = Recorded::named("paged_attention", "CaseSmall1", RuntimeKind::Trb, &A2A3SIM);
    let listing = Listing::from_dump(&recorded.dump());
    let find = |selection: TaskChoice| listing.select(&selection).map(|listed| listed.task);
    let kernel =
        |name: &str, nth| find(TaskChoice { kernel: Some(name.into()), nth, ..TaskChoice::default() });
    let set = |ids: &[i32]| find(TaskChoice { func_ids: Some(ids.into()), ..TaskChoice::default() });
    let task = |id: TaskId| find(TaskChoice { task: Some(id.into()), ..TaskChoice::default() });
    let typed = |text: &str| {
        let task = TaskSelector::parse(text);
        find(TaskChoice { task, ..TaskChoice::default() })
    };

    // Three blocks of context: three rounds of QK, SF, PV, UP.
    let all: Vec<TaskId> = (0..3).map(|nth| kernel("SF", nth).unwrap()).collect();
    assert!(all.is_sorted() && all[0] < all[1] && all[1] < all[2], "{all:?}");
    assert_eq!(task(all[1]), Ok(all[1]));
    assert_eq!(set(&[1]), Ok(all[0]));
    assert_eq!(kernel("sf", 1), Ok(all[1]));

    // The same names as everywhere.
    let dump = recorded.dump();
    let running = dump.graph().unwrap().tasks.iter().filter(|task| !task.func_ids.is_empty());
    let ids: Vec<TaskId> = running.map(|task| task.id).collect();
    let number = ids.iter().position(|&id| id == all[2]).unwrap();
    assert_eq!(typed("SF:2"), Ok(all[2]));
    assert_eq!(typed(&number.to_string()), Ok(all[2]));
    assert_eq!(typed(&format!("{:#x}*", all[2])), Ok(all[2]));

    let says = |result: Result<TaskId, argus_replay::SelectError>| result.unwrap_err().to_string();
    assert_eq!(says(kernel("SF", 3)), "there is no task number 3; tasks that fit: 3, counted from 0");
    assert_eq!(says(typed("SF:3")), says(kernel("SF", 3)));
    assert_eq!(says(typed("XX:0")), says(kernel("XX", 0)));
    let beyond =
        format!("there is no task 99: there are {} tasks, counted from 0; an id begins with 0x", ids.len());
    assert_eq!(says(typed("99")), beyond);
    let unknown = says(kernel("XX", 0));
    assert_eq!(unknown, "no task runs a kernel 'XX'; the kernels of the dump are PV, QK, SF, UP");
    let unset = says(set(&[0, 1]));
    assert_eq!(unset, "no task runs exactly the kernels {0,1}; the sets in the dump are {0}, {1}, {2}, {3}");
    let missing = says(task(TaskId::new(0, 0xdead)));
    assert!(missing.starts_with("there is no task 0xdead; there are 0x"), "{missing}");
    assert!(missing.contains("(QK)"), "{missing}");
    let nothing = find(TaskChoice::default()).unwrap_err();
    assert!(nothing.to_string().starts_with("no task is named; there are 0x"), "{nothing}");
    assert_eq!(nothing.hint(), Some(Hint::NameTask));
    let other = says(find(TaskChoice {
        task: Some(all[0].into()),
        kernel: Some("QK".into()),
        ..TaskChoice::default()
    }));
    assert_eq!(other, format!("task {:#x} runs SF, not 'QK'", all[0]));
}

#[test]
fn a_mix_is_found_by_one_of_its_kernels_by_all_and_by_its_set() {
    let recorded = Recorded::named("pipe_mix", "default", RuntimeKind::Trb, &A2A3SIM);
    let listing = Listing::from_dump(&recorded.dump());
    let find = |selection: TaskChoice| listing.select(&selection).map(|listed| listed.task);
    let by_name =
        |name: &str| find(TaskChoice { kernel: Some(name.into()), nth: 2, ..TaskChoice::default() });
    let one = by_name("pop_add_bias").unwrap();
    assert_eq!(by_name("matmul_push"), Ok(one));
    assert_eq!(by_name("matmul_push+pop_add_bias"), Ok(one));
    let by_set =
        |ids: &[i32]| find(TaskChoice { func_ids: Some(ids.into()), nth: 2, ..TaskChoice::default() });
    assert_eq!(by_set(&[0, 1, 1]), Ok(one));
    assert_eq!(by_set(&[1, 0]), Ok(one));
    assert!(by_set(&[0]).is_err());
}
