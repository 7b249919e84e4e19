//! Keys and what they show.

use std::collections::BTreeMap;

use argus_abi::{DType, Role, Stage};
use argus_dump::LastVerdict;
use argus_dump::read::Record;
use argus_facts::FuncIds;
use ratatui::style::Color;

use super::rig::{Memory, Rig, f32s, record, scalar};
use crate::colours::Colours;
use crate::layout::Pane;

/// Two kernels, three tasks; the second has an in/out argument and a scalar, the third NaN and Inf.
fn small() -> Memory {
    let mut memory = Memory::with(&["QK", "softmax"]);
    memory.add(record(1, 0, &[2, 3]), f32s(&[0.0, 1.0, 2.5, -3.0, 4.0, 0.1]));
    let softmax = |record: Record| Record { func_ids: FuncIds::from_iter([1]), ..record };
    let inout = |stage| Record { role: Role::Inout, stage, ..softmax(record(2, 0, &[2])) };
    memory.add(inout(Stage::BeforeDispatch), f32s(&[1.0, 2.0]));
    memory.add(softmax(scalar(2, 1, DType::F32, u64::from(f32::NAN.to_bits()))), Vec::new());
    memory.add(inout(Stage::AfterCompletion), f32s(&[1.0, 2.5]));
    let mut values = vec![0.0; 2 * 2 * 2];
    (values[3], values[6]) = (f32::NAN, f32::NEG_INFINITY);
    memory.add(record(0x1_0000_0003, 0, &[2, 2, 2]), f32s(&values)).partial = true;
    memory
}

#[test]
fn a_small_dump_looks_like_this() {
    let mut rig = Rig::new(small(), 100, 22);
    rig.press("j");
    assert_eq!(
        rig.text(),
        "\
argus tui  memory  5 records  complete
┏ Tasks ━━━━━━━━━━━━━━━━━━━━ 2 of 3 ┓┌ Arguments of 0x0000000000000002 softmax ──────────── 1 of 3 ┐
┃ 0x0000000000000001 done QK        ┃│ STAGE  ROLE   ARG DTYPE     SHAPE  BYTES  VALUES            │
┃>0x0000000000000002 done softmax   ┃│>before inout    0 FLOAT32   [2]        8  1. … 2.           │
┃ 0x0000000100000003 done QK NaN Inf┃│ before input    1 FLOAT32   scalar        nan               │
┃                                   ┃│ after  inout    0 FLOAT32   [2]        8  1. … 2.5          │
┃                                   ┃└─────────────────────────────────────────────────────────────┘
┃                                   ┃┌ before inout 0 ────[values] heat map  histogram  statistics ┐
┃                                   ┃│FLOAT32 [2]                                                  │
┃                                   ┃│            0           1                                    │
┃                                   ┃│0          1.          2.                                    │
┃                                   ┃│                                                             │
┃                                   ┃│                                                             │
┃                                   ┃│                                                             │
┃                                   ┃│                                                             │
┃                                   ┃│                                                             │
┃                                   ┃│                                                             │
┃                                   ┃│                                                             │
┃                                   ┃│[0] = 1.0                                                    │
┗━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┛└─────────────────────────────────────────────────────────────┘

? help  q quit  Tab pane  Enter open  Esc back  m mode  f F NaN/Inf  / n N search  & filter  [ ] pla
"
    );
}

#[test]
fn an_in_out_argument_shows_both_stages_and_their_difference() {
    let mut rig = Rig::new(small(), 100, 24);
    rig.press("jb");
    assert_eq!(rig.line("0          1."), "0          1.         2.5");
    rig.press("b");
    assert_eq!(rig.line("0          0."), "0          0.         0.5");
    rig.press("\t\tl");
    assert_eq!(rig.line("[1] ="), "[1] = 0.5");
    rig.press("mmm");
    assert_eq!(rig.line("changed"), "changed  1");
    assert_eq!(rig.line("largest change"), "largest change  0.5 at [1]");
    assert_eq!(rig.line("mean |change|"), "mean |change|  0.25");
    rig.press("b");
    assert_eq!(rig.line("max"), "max  2.0");
    rig.press("\tb");
    rig.press("k");
    rig.press("b");
    assert_eq!(rig.state.message, "this argument was captured at one stage only");
}

#[test]
fn statistics_are_those_of_the_numbers() {
    let mut rig = Rig::new(small(), 100, 30);
    rig.press("mmm");
    for line in [
        "elements  6",
        "min  -3.0",
        "max  4.0",
        "largest |x|  4.0",
        // (0 + 1 + 2.5 - 3 + 4 + 0.1) / 6, with the f32 nearest to 0.1.
        "mean  0.7666666669150",
        "zeros  1",
        "NaN  0",
        "distinct  6 values",
    ] {
        assert!(rig.line(line.split("  ").next().unwrap()).starts_with(line), "{line}: {}", rig.text());
    }
    rig.press("Gmm");
    assert_eq!(rig.state.task(), 2);
}

#[test]
fn not_finite_values_are_found_in_the_order_of_the_dump() {
    let mut rig = Rig::new(small(), 100, 30);
    let mut spots = Vec::new();
    for _ in 0..4 {
        rig.press("f");
        spots.push(rig.state.message.clone());
    }
    let task = "not finite: task 0x0000000000000002, argument 1 before, a scalar";
    let third = "not finite: task 0x0000000100000003, argument 0 before, ";
    assert_eq!(
        spots,
        [
            task.to_owned(),
            format!("{third}[0, 1, 1]"),
            format!("{third}[1, 1, 0]"),
            format!("{task}; continued from the start"),
        ]
    );
    rig.press("fF");
    assert_eq!(rig.state.message, format!("{task}; continued from the start"));
    rig.press("f");
    assert_eq!(rig.state.focus, Pane::Tensor);
    assert_eq!(rig.line("[0, 1, 1]"), "[0, 1, 1] = NaN");
}

#[test]
fn a_dump_without_nan_says_so_and_an_element_under_the_cursor_counts() {
    let mut memory = Memory::with(&["k"]);
    memory.add(record(1, 0, &[2]), f32s(&[1.0, 2.0]));
    memory.add(Record { dtype: Some(DType::U8), ..record(1, 1, &[2]) }, vec![255, 255]);
    let mut rig = Rig::new(memory, 80, 24);
    rig.press("f");
    assert_eq!(rig.state.message, "no NaN and no Inf in the whole dump");
    let mut memory = Memory::with(&["k"]);
    memory.add(record(1, 0, &[2]), f32s(&[f32::NAN, 2.0]));
    let mut rig = Rig::new(memory, 80, 24);
    rig.press("f");
    assert_eq!(rig.state.message, "not finite: task 0x0000000000000001, argument 0 before, [0]");
    rig.press("f");
    assert!(rig.state.message.ends_with("[0]; continued from the start"));
}

#[test]
fn a_hunt_is_shown_and_can_be_stopped() {
    let mut rig = Rig::new(small(), 100, 24);
    let effect = rig.state.update(crate::keys::Action::Hunt);
    let Some(crate::state::Effect::Hunt { from, hunt }) = effect else { panic!("no hunt") };
    assert!(rig.text().contains("looking for NaN and Inf: 0 of 5 records; Esc stops"));
    rig.press("j\x1b");
    let source = rig.state.source.clone();
    let hunted = crate::nonfinite::next(&*source, &rig.state.index, from, &hunt);
    rig.state.hunted(hunted);
    assert_eq!((rig.state.message.as_str(), rig.state.task()), ("stopped", 1));
}

#[test]
fn planes_are_chosen_and_shown_as_an_index() {
    let mut rig = Rig::new(small(), 100, 24);
    rig.press("G");
    assert_eq!(rig.line("FLOAT32 [2, 2, 2]"), "FLOAT32 [2, 2, 2]  plane [0, :, :], 1 of 2  partial");
    assert_eq!(rig.line("1     "), "1          0.         nan");
    rig.press("]]]");
    assert_eq!(rig.line("FLOAT32 [2, 2, 2]"), "FLOAT32 [2, 2, 2]  plane [1, :, :], 2 of 2  partial");
    assert_eq!(rig.line("1     "), "1        -inf          0.");
    rig.press("\t\tG");
    assert_eq!(rig.line("[1, 1, 1]"), "[1, 1, 1] = 0.0");
    rig.press("[g");
    assert_eq!(rig.line("[0, 0, 0]"), "[0, 0, 0] = 0.0");
}

#[test]
fn search_goes_round_and_filters_keep_the_task() {
    let mut rig = Rig::new(small(), 100, 24);
    rig.press("/qK\n");
    assert_eq!(rig.state.task(), 2, "the next one, in any letter case");
    rig.press("n");
    assert_eq!(rig.state.task(), 0, "round");
    rig.press("N");
    assert_eq!(rig.state.task(), 2, "back");
    rig.press("/100000003\n");
    assert_eq!(rig.state.task(), 2, "the only one");
    rig.press("/nobody\n");
    assert_eq!(rig.state.message, "no task has 'nobody' in its id or kernels");
    rig.press("&qk\n");
    assert_eq!((rig.state.task(), rig.state.task_count()), (2, 2));
    assert!(rig.text().contains("Tasks with 'qk'"));
    rig.press("k");
    assert_eq!(rig.state.task(), 0);
    rig.press("f");
    assert_eq!((rig.state.task(), rig.state.filter()), (1, None), "a find outside ends the filter");
    rig.press("&nobody\n&\n/\x1b");
    assert_eq!(rig.state.task_count(), 3);
}

#[test]
fn typed_letters_are_letters() {
    let mut rig = Rig::new(small(), 100, 24);
    rig.press("/q?fm");
    assert!(rig.text().contains("\n/q?fm▏\n"));
    rig.press_code(ratatui::crossterm::event::KeyCode::Backspace);
    assert!(rig.text().contains("\n/q?f▏\n"));
    rig.press("\x1bq");
    assert!(rig.state.over);
}

#[test]
fn panes_are_walked_opened_and_left() {
    let mut rig = Rig::new(small(), 100, 24);
    let mut seen = Vec::new();
    for key in ["\t", "\t", "\t", "\n", "\n", "\n", "\x1b", "\x1b", "\x1b", "\x1b"] {
        rig.press(key);
        seen.push((rig.state.focus, rig.state.zoomed));
    }
    use Pane::{Arguments, Tasks, Tensor};
    let small = |pane| (pane, false);
    assert_eq!(
        seen,
        [
            small(Arguments),
            small(Tensor),
            small(Tasks),
            small(Arguments),
            small(Tensor),
            (Tensor, true),
            small(Tensor),
            small(Arguments),
            small(Tasks),
            small(Tasks),
        ]
    );
    rig.press("?");
    assert!(rig.text().contains("┃ arrows, h j k l  move "));
    rig.press("\x1b");
    assert!(!rig.text().contains("arrows, h j k l"));
}

#[test]
fn no_size_and_no_mode_is_too_small() {
    let mut rig = Rig::new(small(), 100, 24);
    for (width, height) in
        (0..26).map(|size| (size, size)).chain([(1, 1), (20, 5), (300, 2), (2, 60), (72, 19)])
    {
        rig.resize(width, height);
        for keys in
            ["\t", "\t", "\t", "m", "G", "m", "g", "m", "f", "m", "?", "\x1b", "\n", "\x1b", "jb", "b", "b"]
        {
            rig.press(keys);
            rig.text();
        }
    }
    rig.resize(20, 5);
    rig.press("\x1b\x1b\x1bg");
    assert_eq!(
        rig.text(),
        "argus tui  memory  5\n>0x0000000000000001\n 0x0000000000000002\n\n? help  q quit  Tab\n"
    );
}

/// A search that found the first task of [`small`] wrong.
fn judged() -> Memory {
    let of =
        |verdict: &str, ids: &[&str]| (verdict.to_owned(), ids.iter().map(|&id| id.to_owned()).collect());
    let verdict = LastVerdict {
        task_id: Some("0x0000000000000001".to_owned()),
        kernel: Some("QK".to_owned()),
        looks_like: Some("one element: [0, 2] is 2.5".to_owned()),
        tasks: Some(BTreeMap::from([
            of("introduced", &["0x0000000000000001"]),
            of("inherited", &["0x0000000000000002"]),
        ])),
        ..LastVerdict::new("find", "differ")
    };
    Memory { verdict: Some(verdict), ..small() }
}

#[test]
fn the_last_verdict_is_in_the_first_line() {
    let text = Rig::new(judged(), 100, 22).text();
    let first = text.lines().next().unwrap();
    assert_eq!(first, "argus tui  find: differ, first at QK 0x0000000000000001  memory  5 records  complete");
}

#[test]
fn tasks_have_their_verdicts_in_the_words_and_colours_of_the_page() {
    let mut rig = Rig::new(judged(), 120, 22);
    assert_eq!(rig.line(">0x"), ">0x0000000000000001 introduced QK");
    assert_eq!(rig.line("0x0000000000000002"), "0x0000000000000002 inherited  softmax");
    assert_eq!(rig.line("0x0000000100000003"), "0x0000000100000003 clean      QK NaN Inf p");
    assert!(
        rig.text()
            .contains("0x0000000000000001 introduced the error; looks like one element: [0, 2] is 2.5\n")
    );
    // The colour of the verdict, from its first letter on.
    let colour = |rig: &mut Rig, row: u16| rig.buffer()[(21, row)].fg;
    assert_eq!(colour(&mut rig, 2), Color::Rgb(0xf0, 0x47, 0x3d));
    assert_eq!(colour(&mut rig, 3), Color::Rgb(0xc0, 0x7f, 0x22));
    rig.press("j");
    assert!(rig.text().contains("0x0000000000000002 inherited the error\n"));
    rig.press("w");
    assert_eq!(rig.state.task(), 0);
    // Without colours and without room the signs remain.
    let mut narrow = Rig::coloured(judged(), 80, 22, Colours::Shades);
    assert_eq!(narrow.line(">0x"), ">0x0000000000000001 ! QK");
    assert_eq!(narrow.line("0x0000000000000002"), "0x0000000000000002 ~ softm…");
    let mut clean = small();
    clean.verdict = Some(LastVerdict { tasks: Some(BTreeMap::new()), ..LastVerdict::new("find", "agree") });
    let mut rig = Rig::new(clean, 120, 22);
    rig.press("w");
    assert_eq!(rig.state.message, "no task of this dump is known to be wrong");
    let mut rig = Rig::new(small(), 120, 22);
    rig.press("W");
    assert_eq!(rig.state.message, "the tasks of this dump have not been judged yet");
}

#[test]
fn what_was_never_written_is_not_called_nan() {
    let mut memory = Memory::with(&["QK"]);
    memory.add(record(1, 0, &[3]), [f32s(&[1.0, f32::NAN]), vec![0xff; 4]].concat());
    let text = Rig::new(memory, 130, 22).text();
    assert!(text.contains("1. unwritten 1 NaN 1") || text.contains("all 1. unwritten 1 NaN 1"), "{text}");
}
