//! The heat map: two pixels in a cell where there are colours, one shade in two cells where there are none.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};

use super::{Look, counted, put};
use crate::colours::{Colours, shade};
use crate::heat::{Dot, Heat};
use crate::layout::Pane;
use crate::state::State;

/// Pixels grow until they are so large.
const LARGEST_PIXEL: u64 = 8;

pub fn draw(state: &State, heat: &Heat, look: Look, area: Rect, frame: &mut Frame<'_>) {
    let colours = state.colours;
    let rows_per_cell = colours.rows_per_cell();
    let room = (u64::from(area.width), u64::from(area.height.saturating_sub(1)) * rows_per_cell);
    let size = (room.0 / heat.width.max(1)).min(room.1 / heat.height.max(1)).clamp(1, LARGEST_PIXEL);
    let cursor = heat.pixel_of(state.sheet.row, state.sheet.column);
    let signed = heat.is_signed();
    // Cells are twice as high as wide; halves of them are squares, whole ones are better taken in pairs.
    let pair = colours == Colours::Shades && heat.width * size * 2 <= room.0;
    let size_x = if pair { size * 2 } else { size };
    let (wide, high) = (heat.width * size_x, heat.height * size);
    let buffer = frame.buffer_mut();
    for y in 0..high.div_ceil(rows_per_cell).min(u64::from(area.height.saturating_sub(1))) {
        for x in 0..wide.min(room.0) {
            let pixel = |row: u64| (row < high).then_some((x / size_x, row / size));
            let upper = pixel(y * rows_per_cell);
            let lower = if rows_per_cell == 2 { pixel(y * 2 + 1) } else { None };
            let position = (area.x + x as u16, area.y + y as u16);
            let Some(cell) = buffer.cell_mut(position) else { continue };
            let dot = |pixel: (u64, u64)| heat.dot(pixel.0, pixel.1);
            if colours == Colours::Shades {
                cell.set_char(upper.map_or(' ', |upper| shade(dot(upper))));
            } else {
                cell.set_char('▀');
                cell.set_fg(upper.map_or(Color::Reset, |it| colours.colour(dot(it), signed)));
                if let Some(lower) = lower {
                    cell.set_bg(colours.colour(dot(lower), signed));
                }
            }
            // The middle of the pixel under the cursor is marked, so that its colour still shows when it is large.
            let middle = (x % size_x == size_x / 2)
                && (y * rows_per_cell % size) / rows_per_cell == size / 2 / rows_per_cell;
            let under = upper == Some(cursor) || lower == Some(cursor);
            if under && (middle || size < 3) && state.focus == Pane::Tensor {
                cell.set_char('┼');
                cell.set_style(match colours {
                    Colours::Shades => look.selected(true),
                    _ => Style::new().fg(Color::Black).bg(Color::White),
                });
            }
        }
    }
    if area.height > 0 {
        put(frame, area, area.height - 1, legend(heat, colours));
    }
}

fn legend(heat: &Heat, colours: Colours) -> Line<'static> {
    let swatch = |dot: Dot| match colours {
        Colours::Shades => Span::raw(shade(dot).to_string()),
        _ => Span::styled("█", Style::new().fg(colours.colour(dot, heat.is_signed()))),
    };
    let mut spans = Vec::new();
    let (low, high) = heat.ends();
    if low <= high {
        spans.push(Span::raw(format!("{} ", argus_text::float(low, 4))));
        spans.extend((0..16).map(|step| swatch(Dot::Value(f64::from(step) / 15.0))));
        spans.push(Span::raw(format!(" {}", argus_text::float(high, 4))));
    }
    let others =
        [(heat.nan, Dot::Nan, "NaN"), (heat.inf, Dot::Inf, "Inf"), (heat.missing, Dot::Missing, "missing")];
    for (_, dot, name) in others.into_iter().filter(|other| other.0) {
        spans.extend([Span::raw("  "), swatch(dot), Span::raw(format!(" {name}"))]);
    }
    let (looked_at, elements) = (heat.looked_at, heat.elements());
    if looked_at < elements {
        spans.push(Span::raw(format!("  looked at {} of {}", counted(looked_at), counted(elements))));
    }
    Line::from(spans)
}
