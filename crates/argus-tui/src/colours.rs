//! Colours of pixels, in as many as the terminal has.

use ratatui::style::Color;

use crate::heat::Dot;

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// 24 bits.
    True,
    /// The 256 of xterm.
    Indexed,
    /// None that could be relied on: pixels are shades.
    Shades,
}

impl Colours {
    /// What the environment promises: `NO_COLOR`, `COLORTERM` and `TERM`.
    pub fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Colours {
        let set = |name: &str| variable(name).unwrap_or_default();
        if !set("NO_COLOR").is_empty() {
            Colours::Shades
        } else if matches!(set("COLORTERM").as_str(), "truecolor" | "24bit") {
            Colours::True
        } else if set("TERM").contains("256color") {
            Colours::Indexed
        } else {
            Colours::Shades
        }
    }

    /// Rows of pixels in a cell of the terminal: with colours its upper and its lower half.
    pub const fn rows_per_cell(self) -> u64 {
        match self {
            Colours::True | Colours::Indexed => 2,
            Colours::Shades => 1,
        }
    }

    /// The colour of a dot; shades have none.
    pub fn colour(self, dot: Dot, signed: bool) -> Color {
        self.of_rgb(rgb(dot, signed))
    }

    /// The nearest colour that there is.
    pub fn of_rgb(self, (red, green, blue): (u8, u8, u8)) -> Color {
        match self {
            Colours::True => Color::Rgb(red, green, blue),
            Colours::Indexed => Color::Indexed(nearest(red, green, blue)),
            Colours::Shades => Color::Reset,
        }
    }
}

/// A character instead of a colour.
pub fn shade(dot: Dot) -> char {
    const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];
    match dot {
        Dot::Value(warmth) => SHADES[((warmth * 5.0) as usize).min(4)],
        Dot::Nan => 'N',
        Dot::Inf => 'I',
        Dot::Missing => '?',
    }
}

/// From dark blue over green to yellow: brightness alone tells the order, so it can be read without color.
const ONE_SIDED: [(u8, u8, u8); 5] =
    [(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)];
/// Blue is negative, white is zero, red is positive.
const TWO_SIDED: [(u8, u8, u8); 5] =
    [(33, 102, 172), (146, 197, 222), (247, 247, 247), (244, 165, 130), (178, 24, 43)];

fn rgb(dot: Dot, signed: bool) -> (u8, u8, u8) {
    match dot {
        Dot::Value(warmth) => between(if signed { &TWO_SIDED } else { &ONE_SIDED }, warmth),
        Dot::Nan => (255, 0, 255),
        Dot::Inf => (0, 255, 255),
        Dot::Missing => (64, 64, 64),
    }
}

fn between(stops: &[(u8, u8, u8); 5], share: f64) -> (u8, u8, u8) {
    let place = share.clamp(0.0, 1.0) * 4.0;
    let below = (place as usize).min(3);
    let (from, to, rest) = (stops[below], stops[below + 1], place - below as f64);
    let mix = |from: u8, to: u8| (f64::from(from) + (f64::from(to) - f64::from(from)) * rest).round() as u8;
    (mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

/// The nearest colour of xterm's cube of 6 by 6 by 6.
fn nearest(red: u8, green: u8, blue: u8) -> u8 {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let level = |part: u8| {
        let distance = |level: usize| LEVELS[level].abs_diff(part);
        (0..6).min_by_key(|&level| distance(level)).unwrap_or(0) as u8
    };
    16 + 36 * level(red) + 6 * level(green) + level(blue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_decides() {
        let with = |pairs: &[(&str, &str)]| {
            Colours::of_environment(|name| {
                pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned())
            })
        };
        assert_eq!(with(&[("COLORTERM", "truecolor"), ("TERM", "xterm")]), Colours::True);
        assert_eq!(with(&[("TERM", "screen-256color")]), Colours::Indexed);
        assert_eq!(with(&[("TERM", "vt100")]), Colours::Shades);
        assert_eq!(with(&[("COLORTERM", "24bit"), ("NO_COLOR", "1")]), Colours::Shades);
        assert_eq!(with(&[]), Colours::Shades);
    }

    #[test]
    fn known_values_have_known_colours() {
        let colour = |dot, signed| Colours::True.colour(dot, signed);
        assert_eq!(colour(Dot::Value(0.0), false), Color::Rgb(68, 1, 84));
        assert_eq!(colour(Dot::Value(0.125), false), Color::Rgb(64, 42, 112));
        assert_eq!(colour(Dot::Value(1.0), false), Color::Rgb(253, 231, 37));
        assert_eq!(colour(Dot::Value(0.5), true), Color::Rgb(247, 247, 247));
        assert_eq!(colour(Dot::Nan, true), Color::Rgb(255, 0, 255));
        assert_eq!(Colours::Indexed.colour(Dot::Nan, true), Color::Indexed(201));
        assert_eq!(Colours::Indexed.colour(Dot::Value(0.5), true), Color::Indexed(231));
        assert_eq!(Colours::Shades.colour(Dot::Inf, true), Color::Reset);
        let shades: String =
            [0.0, 0.3, 0.5, 0.7, 1.0].map(|warmth| shade(Dot::Value(warmth))).iter().collect();
        assert_eq!(shades, "·░▒▓█");
    }
}
