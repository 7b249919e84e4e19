//! Pixels and bars of known values.

use argus_abi::DType;
use argus_dump::read::Record;
use ratatui::style::Color;

use super::rig::{Memory, Rig, f32s, record};
use crate::colours::Colours;
use crate::heat::{BUDGET, Dot, Heat};
use crate::source::Source;
use crate::tensor::{Subject, Tensor};

fn memory(shape: &[u64], values: &[f32]) -> Memory {
    let mut memory = Memory::with(&["k"]);
    memory.add(record(1, 0, shape), f32s(values));
    memory
}

/// A picture on the whole screen: the sheet begins in column 1 of line 3.
fn picture(memory: Memory, colours: Colours) -> Rig {
    let mut rig = Rig::coloured(memory, 60, 20, colours);
    rig.press("m\t\t\n\t");
    rig.press("\t\t");
    rig
}

#[test]
fn two_pixels_share_a_cell_in_true_colours() {
    let values = [0.0, 4.0, 1.0, f32::NAN, f32::INFINITY, 2.0];
    let mut rig = picture(memory(&[3, 2], &values), Colours::True);
    let buffer = rig.buffer();
    // Pixels grow to 8 by 8: four lines of cells each. The cursor marks one cell of the first.
    let colour = |x: u16, y: u16| {
        let cell = &buffer[(1 + 8 * x, 3 + y)];
        assert_eq!(cell.symbol(), "▀");
        (cell.fg, cell.bg)
    };
    let both = |colour| (colour, colour);
    assert_eq!(colour(0, 0), both(Color::Rgb(68, 1, 84)), "0 of 0 to 4 is the coldest");
    assert_eq!(colour(1, 0), both(Color::Rgb(253, 231, 37)), "4 is the hottest");
    assert_eq!(colour(0, 4), both(Color::Rgb(59, 82, 139)), "1 is a quarter");
    assert_eq!(colour(1, 4), both(Color::Rgb(255, 0, 255)), "NaN");
    assert_eq!(colour(0, 8), both(Color::Rgb(0, 255, 255)), "Inf");
    assert_eq!(colour(1, 8), both(Color::Rgb(33, 145, 140)), "2 is the middle");
    assert_eq!(rig.line("0. █"), "0. ████████████████ 4.  █ NaN  █ Inf");
}

#[test]
fn small_pixels_are_halves_of_cells() {
    let values: Vec<f32> = (0..19).map(|value| value as f32).collect();
    let mut rig = picture(memory(&[19, 1], &values), Colours::True);
    let buffer = rig.buffer();
    let cell = |row: u16| {
        let cell = &buffer[(1, 3 + row / 2)];
        assert_eq!(cell.symbol(), "▀");
        (cell.fg, cell.bg)
    };
    // 2 and 3 of 18 lie between the first two colours, (68, 1, 84) and (59, 82, 139): 4/9 and 6/9 of the way.
    assert_eq!(cell(2), (Color::Rgb(64, 37, 108), Color::Rgb(62, 55, 121)));
    assert_eq!(cell(18), (Color::Rgb(253, 231, 37), Color::Reset), "nothing below the last row");
}

#[test]
fn fewer_colours_still_tell_values_apart() {
    let values = [-1.0, 0.0, 1.0, f32::NAN];
    let mut indexed = picture(memory(&[2, 2], &values), Colours::Indexed);
    let buffer = indexed.buffer();
    // Blue, white, red and magenta of the cube.
    let colours = [(1, 3), (9, 3), (1, 7), (9, 7)].map(|place| buffer[place].fg);
    assert_eq!(colours, [25, 231, 124, 201].map(Color::Indexed));
    let mut shades = picture(memory(&[2, 2], &values), Colours::Shades);
    let buffer = shades.buffer();
    let symbols = [(1, 3), (17, 3), (1, 11), (17, 11)].map(|place| buffer[place].symbol().to_owned());
    assert_eq!(symbols, ["·", "▒", "█", "N"]);
    for cell in &buffer.content {
        assert_eq!((cell.fg, cell.bg), (Color::Reset, Color::Reset), "no colour anywhere");
    }
}

#[test]
fn one_outlier_among_many_shows() {
    let mut values = vec![1.0f32; 1000 * 1000];
    values[123_456] = 50.0;
    values[777_777] = f32::NAN;
    let source = memory(&[1000, 1000], &values);
    let tensor = Tensor::open(&source as &dyn Source, Subject::Record(0)).unwrap();
    let heat = Heat::new(&tensor, 0, 100, 50, &|| true).unwrap();
    assert_eq!((heat.low, heat.high, heat.looked_at), (1.0, 50.0, 1_000_000));
    // Pixels are 10 columns wide and 20 rows high.
    for y in 0..50 {
        for x in 0..100 {
            let expected = match (x, y) {
                (45, 6) => Dot::Value(1.0),
                (77, 38) => Dot::Nan,
                _ => Dot::Value(0.0),
            };
            assert_eq!(heat.dot(x, y), expected, "{x} {y}");
        }
    }
    assert_eq!(heat.pixel_of(123, 456), (45, 6));
}

#[test]
fn large_planes_are_sampled_everywhere_and_it_is_told() {
    let mut memory = Memory::with(&["k"]);
    let bytes: Vec<u8> = (0..4 << 20u32).map(|index| (index % 251) as u8).collect();
    memory.add(Record { dtype: Some(DType::U8), ..record(1, 0, &[2048, 2048]) }, bytes);
    let tensor = Tensor::open(&memory as &dyn Source, Subject::Record(0)).unwrap();
    let heat = Heat::new(&tensor, 0, 64, 64, &|| true).unwrap();
    assert_eq!(heat.looked_at, BUDGET);
    // A pixel has 32 by 32 elements of which 256 are looked at: of 251 values, spread evenly, most are seen.
    for y in 0..64 {
        for x in 0..64 {
            let pixel = heat.pixel(x, y).unwrap();
            assert!(pixel.min < 25.0 && pixel.max > 225.0, "{x} {y}: {pixel:?}");
        }
    }
    let mut rig = Rig::new(memory, 120, 40);
    rig.press("m");
    assert!(rig.text().contains("250.  looked at 996,992 of 4,194,304"), "{}", rig.text());
    assert!(
        Heat::new(&Tensor::open(&*rig.state.source, Subject::Record(0)).unwrap(), 0, 9, 9, &|| false)
            .is_none()
    );
}

#[test]
fn keys_move_by_pixels_in_a_picture() {
    let values = vec![0.0f32; 200 * 200];
    let mut rig = picture(memory(&[200, 200], &values), Colours::True);
    rig.press("ljj");
    // 58 columns and 24 rows of pixels for 200: the borders lie at 3.4, at 8.3 and at 16.7.
    assert_eq!((rig.state.sheet.row, rig.state.sheet.column), (16, 3));
    assert_eq!(rig.line("[16, 3]"), "[16, 3] = 0.0   rows 16..25, columns 3..6: 0. … 0.");
    rig.press("Ghk");
    assert_eq!((rig.state.sheet.row, rig.state.sheet.column), (183, 193));
}

#[test]
fn bars_are_as_long_as_their_counts() {
    let mut rig = Rig::new(memory(&[2, 4], &[0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 4.0]), 24, 11);
    rig.press("\t\tmm");
    assert_eq!(
        rig.text(),
        "\
argus tui  memory  1 rec
┏ before inp[histogram]┓
┃FLOAT32 [2, 4]        ┃
┃0. … 1. │███████████ 4┃
┃1. … 2. │█████▌ 2     ┃
┃2. … 3. │██▊ 1        ┃
┃3. … 4. │██▊ 1        ┃
┃[0, 0] = 0.0          ┃
┗━━━━━━━━━━━━━━━━━━━━━━┛

? help  q quit  Tab pane
"
    );
}
