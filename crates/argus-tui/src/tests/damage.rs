//! What is wrong with a dump is shown, and breaks nothing.

use argus_dump::read::Record;
use argus_dump::stats::Statistics;
use argus_facts::number::Number;

use super::rig::{Memory, Rig, f32s, record};

fn rig(record: Record, payload: Vec<u8>) -> Rig {
    let mut memory = Memory::with(&["k"]);
    memory.add(record, payload);
    let mut rig = Rig::new(memory, 100, 30);
    // Every mode is looked at once.
    for _ in 0..4 {
        rig.press("m");
        rig.text();
    }
    rig
}

#[test]
fn a_dump_without_records() {
    let mut rig = Rig::new(Memory::default(), 80, 24);
    assert!(rig.text().contains("this dump has no records"));
    rig.press("jGgf/x\nnN&x\n\t\tjlmmmm[]b\n?\x1b\x1b\x1b\x1b");
    assert!(rig.text().contains("this dump has no records"));
}

#[test]
fn a_truncated_payload_shows_what_is_there() {
    let mut rig = rig(Record { truncated: true, ..record(1, 0, &[2, 2]) }, f32s(&[1.0, 2.0, 3.0]));
    assert_eq!(rig.line("FLOAT32"), "FLOAT32 [2, 2]  truncated, only 3 of 4 elements are there");
    assert_eq!(rig.line("1     "), "1          3.           ?");
    assert!(rig.line(">0x").ends_with(" bad"), "{}", rig.text());
    rig.press("\t\tG");
    assert_eq!(rig.line("[1, 1]"), "[1, 1] is not in the payload");
}

#[test]
fn a_record_without_payload_says_why() {
    let mut none = rig(record(1, 0, &[2, 2]), Vec::new());
    assert_eq!(none.line("no values"), "no values: record 0 was captured without its payload");
    assert!(none.line(">before").ends_with("no payload"));
    none.press("f");
    assert_eq!(none.state.message, "no NaN and no Inf found; tensors without values to look at: 1");
    let mut gone = rig(Record { overwritten: true, ..record(1, 0, &[2]) }, f32s(&[1.0, 2.0]));
    assert_eq!(gone.line("no values"), "no values: the payload of record 0 was overwritten on the");
    assert!(gone.line(">before").ends_with("overwritten"));
}

#[test]
fn an_unknown_dtype_shows_bytes() {
    let mut rig = rig(Record { dtype: None, ..record(1, 0, &[9]) }, vec![1, 254]);
    assert_eq!(rig.line("0   1 2"), "0   1 254");
    assert_eq!(rig.line("UNKNOWN"), "UNKNOWN [9]  the dtype is unknown: these are bytes");
}

#[test]
fn shapes_that_cannot_be_are_no_trouble() {
    let mut endless = rig(record(1, 0, &[u64::MAX, 2]), f32s(&[1.0]));
    assert_eq!(endless.line("no values"), "no values: the shape [18446744073709551615, 2] has more");
    let mut long = rig(record(1, 0, &[u64::MAX / 4]), f32s(&[1.0]));
    assert_eq!(long.line("FLOAT32"), "FLOAT32 [4611686018427387903]  only 1 of 4,611,686,018,427,38");
    long.press("\t\tGmmf");
    long.text();
    let mut wide = rig(record(1, 0, &[1 << 31, 1 << 31]), f32s(&[1.0]));
    wide.press("\t\tGmjlkh");
    wide.text();
    let mut planes = rig(record(1, 0, &[1 << 40, 2, 2]), f32s(&[1.0]));
    planes.press("]]]]\t\tG");
    planes.text();
    let mut empty = rig(record(1, 0, &[0, 4]), Vec::new());
    assert_eq!(empty.line("a tensor"), "a tensor without elements");
    empty.press("\t\tGjlfb");
    let mut zero = rig(record(1, 0, &[]), f32s(&[7.0]));
    assert_eq!(zero.line("[] ="), "[] = 7.0");
}

#[test]
fn notes_about_the_dump_come_first_and_all_are_in_the_help() {
    let mut memory = Memory::with(&["k"]);
    memory.add(record(1, 0, &[1]), f32s(&[1.0]));
    memory.notes = vec!["the journal has no end".to_owned(), "12 captures were skipped".to_owned()];
    let mut rig = Rig::new(memory, 100, 30);
    assert_eq!(rig.line("note:"), "note: the journal has no end (and 1 more, see ?)");
    rig.press("?");
    assert!(rig.text().contains("note: 12 captures were skipped"));
}

#[test]
fn names_cannot_command_the_terminal() {
    let mut memory = Memory::with(&["\u{1b}[2Jred\u{7}\u{9b}31m\n"]);
    memory.add(record(1, 0, &[1]), f32s(&[1.0]));
    memory.notes = vec!["\u{1b}]0;title\u{7}".to_owned()];
    let mut rig = Rig::new(memory, 100, 30);
    rig.press("/\u{1b}");
    for keys in ["", "?"] {
        rig.press(keys);
        let buffer = rig.buffer();
        for cell in &buffer.content {
            assert!(!cell.symbol().contains(|letter: char| letter.is_control()), "{:?}", cell.symbol());
        }
    }
}

#[test]
fn records_out_of_order_are_gathered_by_task() {
    let mut memory = Memory::with(&["k"]);
    for (task, value) in [(5, 1.0), (2, 2.0), (5, 3.0)] {
        let argument = memory.records.len() as u32;
        memory.add(record(task, argument, &[1]), f32s(&[value]));
    }
    let mut rig = Rig::new(memory, 100, 30);
    assert_eq!(rig.state.task_count(), 2);
    assert_eq!(rig.line("[0] ="), "[0] = 2.0");
    rig.press("j\tj");
    assert_eq!((rig.state.argument_count(), rig.line("[0] =")), (2, "[0] = 3.0".to_owned()));
}

#[test]
fn statistics_without_a_payload_are_shown_and_found() {
    let statistics = Statistics {
        unwritten: 0,
        min: Some(Number::Float(-1.0)),
        max: Some(Number::Float(2.0)),
        mean: Some(0.5),
        nan: 3,
        inf: 0,
        zero: 0,
    };
    let mut rig = rig(Record { statistics: Some(statistics), ..record(1, 0, &[9]) }, Vec::new());
    assert!(rig.line(">before").ends_with("36  -1. … 2. NaN 3, sta"), "{}", rig.text());
    assert!(rig.line(">0x").ends_with("k      NaN"), "{}", rig.text());
    for line in ["min  -1.0", "max  2.0", "mean  0.5", "zeros  0", "NaN  3", "Inf  0"] {
        assert_eq!(rig.line(line.split("  ").next().unwrap()), line);
    }
    rig.press("f");
    assert!(rig.state.message.starts_with("not finite: task 0x0000000000000001, argument 0"));
}
