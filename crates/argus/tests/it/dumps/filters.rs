//! Filters of the commands that read dumps: each alone, several together, and those that match nothing.

use std::collections::BTreeSet;

use serde_json::Value;

use super::raw::Raw;
use super::{APRIL, AUGUST, Home};

/// Records that a filter lets through, by index.
fn selected(home: &Home, dump: &str, filter: &str) -> BTreeSet<u64> {
    let object = home.json(&format!("view {dump} {filter}"));
    let records = object["records"].as_array().unwrap();
    assert_eq!(object["matching"], records.len());
    records.iter().map(|record| record["index"].as_u64().unwrap()).collect()
}

fn task(record: &Value) -> u64 {
    u64::from_str_radix(record["task_id"].as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
}

#[test]
fn each_filter_means_the_records_that_the_manifest_says() {
    let home = Home::new();
    let raw = Raw::read(&home.path("ours/tensor_dump"));
    let all = home.json("view ours");
    let all = all["records"].as_array().unwrap();
    let not_finite =
        |entry: &Value| raw.values(entry).is_some_and(|values| values.iter().any(|value| !value.is_finite()));
    type Holds<'a> = &'a dyn Fn(&Value, &Value) -> bool;
    // In the second place what must hold of the record as it is listed and of its entry in the manifest.
    let filters: [(&str, Holds<'_>); 27] = [
        ("--task 0x0000000200000001", &|_, entry| task(entry) == 0x2_0000_0001),
        ("--task 0x200000001", &|_, entry| task(entry) == 0x2_0000_0001),
        ("--task 0x000000020000000*", &|_, entry| task(entry) >> 4 == 0x2000_0000),
        ("--task 0x200000002..0x200000005", &|_, entry| {
            (0x2_0000_0002..=0x2_0000_0005).contains(&task(entry))
        }),
        // Before 0x200000000 there is a task without kernels, which is not counted.
        ("--task 0x2*", &|_, entry| task(entry) >> 32 == 2),
        ("--task SF:1", &|_, entry| task(entry) == 0x2_0000_0005),
        ("--task sf:1", &|_, entry| task(entry) == 0x2_0000_0005),
        ("--task 5", &|_, entry| task(entry) == 0x2_0000_0005),
        ("--kernel sf", &|_, entry| entry["func_id"].as_array().unwrap().contains(&1.into())),
        ("--dtype bf16", &|_, entry| entry["dtype"] == "BFLOAT16"),
        ("--min-size 1k", &|_, entry| {
            entry["kind"] == "tensor"
                && entry["numel"].as_u64().unwrap() * if entry["dtype"] == "BFLOAT16" { 2 } else { 4 } >= 1024
        }),
        ("--kernel SF", &|_, entry| entry["func_id"].as_array().unwrap().contains(&1.into())),
        ("--func-id 3", &|_, entry| entry["func_id"].as_array().unwrap().contains(&3.into())),
        ("--stage before", &|_, entry| entry["stage"] == "before_dispatch"),
        ("--stage after_completion", &|_, entry| entry["stage"] == "after_completion"),
        ("--role inout", &|_, entry| entry["role"] == "inout"),
        ("--arg 2", &|_, entry| entry["arg_index"] == 2),
        ("--arg 3..5", &|_, entry| (3..=5).contains(&entry["arg_index"].as_u64().unwrap())),
        ("--kind scalar", &|_, entry| entry["kind"] == "scalar"),
        ("--dtype bfloat16", &|_, entry| entry["dtype"] == "BFLOAT16"),
        ("--nan", &|_, entry| not_finite(entry)),
        ("--index 7", &|record, _| record["index"] == 7),
        ("--index 10..20", &|record, _| (10..=20).contains(&record["index"].as_u64().unwrap())),
        ("--min-size 1KiB", &|_, entry| {
            entry["kind"] == "tensor"
                && entry["numel"].as_u64().unwrap() * if entry["dtype"] == "BFLOAT16" { 2 } else { 4 } >= 1024
        }),
        ("--max-size 64", &|_, entry| entry["kind"] == "scalar" || entry["numel"].as_u64().unwrap() <= 16),
        (
            "--kernel SF --stage after --arg 2..3 --dtype FLOAT32 --task 0x0000000200000001..0x0000000200000006",
            &|_, entry| {
                entry["func_id"][0] == 1
                    && entry["stage"] == "after_completion"
                    && [2, 3].iter().any(|&arg| entry["arg_index"] == arg)
                    && entry["dtype"] == "FLOAT32"
                    && (0x2_0000_0001..=0x2_0000_0006).contains(&task(entry))
            },
        ),
        ("--role input --kind tensor --nan --func-id 3", &|_, entry| {
            entry["role"] == "input"
                && entry["kind"] == "tensor"
                && entry["func_id"][0] == 3
                && not_finite(entry)
        }),
    ];
    for (filter, holds) in filters {
        let expected: BTreeSet<u64> = all
            .iter()
            .filter(|record| holds(record, raw.entry(record)))
            .map(|record| record["index"].as_u64().unwrap())
            .collect();
        let found = if expected.is_empty() {
            // The scene has no such records; then that is said.
            home.bad(&format!("view ours {filter}"), 2);
            BTreeSet::new()
        } else {
            selected(&home, "ours", filter)
        };
        assert_eq!(found, expected, "{filter}");
        // All tasks of the scene begin alike.
        assert!(expected.len() < all.len() || filter.ends_with('*'), "{filter} leaves nothing out");
    }
}

#[test]
fn what_the_table_calls_a_kernel_is_its_name() {
    let home = Home::foreign();
    assert_eq!(selected(&home, APRIL, "--kernel 7"), [3, 4].into());
    assert_eq!(selected(&home, AUGUST, "--kernel 0+1"), (0..14).collect());
    assert_eq!(selected(&home, AUGUST, "--kernel 1"), (0..14).collect());
    assert_eq!(selected(&home, APRIL, "--nan"), [2, 4].into());
    assert_eq!(selected(&home, AUGUST, "--nan"), [3, 4, 5].into());
}

#[test]
fn what_matches_nothing_says_what_there_is() {
    let home = Home::new();
    for (filter, message) in [
        ("--task 0x99", "no record has task=0x99; there are 0x0000000200000000, 0x0000000200000001, "),
        ("--task zebra", "task=zebra is not valid: a task is an id such as 0x200000001, "),
        (
            "--task 200000001",
            "no record has task=200000001; there are 12 tasks, counted from 0; an id begins with 0x",
        ),
        ("--task SF:3", "no record has task=SF:3; there are 3 tasks of SF, counted from 0\n"),
        ("--task XX:0", "no record has task=XX:0; there are PV, QK, SF, UP\n"),
        ("--kernel SFF", "no record has kernel=SFF; there are PV, QK, SF, UP\n\nhint: did you mean 'SF'?\n"),
        ("--func-id 9", "no record has func-id=9; there are 0, 1, 2, 3\n"),
        ("--func-id -1", "func-id=-1 is not valid: a func_id is a number from 0 to 1023"),
        ("--stage during", "stage=during is not valid: a stage is before, after, "),
        ("--role out", "role=out is not valid: a role is input, output or inout"),
        ("--arg 99", "no record has arg=99; there are 0, 1, 2, 3, 4, 5, 6, 7, 8\n"),
        ("--kind x", "kind=x is not valid: a kind is tensor or scalar"),
        ("--dtype FLOAT16", "no record has dtype=FLOAT16; there are BFLOAT16, FLOAT32, "),
        ("--index 100", "no record has index=100; there are 0 to 71\n"),
        ("--min-size 1GiB", "no record has min-size=1GiB; they have 0 to 1024 bytes\n"),
        (
            "--stage after --role input",
            "no record of the 27 with stage=after has role=input; there are inout, output\n",
        ),
    ] {
        let before = home.listing();
        for command in ["view ours", "stats ours", "export ours --format npy -o copy"] {
            let said = home.bad(&format!("{command} {filter}"), 2);
            assert!(said.starts_with(&format!("error: {message}")), "{command} {filter}: {said}");
        }
        assert_eq!(home.listing(), before, "nothing is written for {filter}");
    }
}
