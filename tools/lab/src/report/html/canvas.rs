//! Drawing: an SVG image whose colours the page's style sheet translates for dark and light.

use std::fmt::Debug;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::text::{shortened, shown};

/// Width of a chart: the window of a small phone without its margins.
pub(super) const WIDTH: i32 = 344;
/// Width of a column of the charts' font: its height times the widest ratio among common fixed-width fonts.
const COLUMN: f64 = FONT * 0.603;
/// Height of the charts' font.
const FONT: f64 = 11.0;
/// plotters' SVG backend divides sizes by this.
const FONT_SCALE: f64 = 1.24;

/// A colour by its place in the style sheet.
pub(super) type Ink = RGBColor;
/// Text.
pub(super) const TEXT: Ink = RGBColor(0x1b, 0x1f, 0x24);
/// Text of less weight.
pub(super) const MUTED: Ink = RGBColor(0x57, 0x60, 0x6a);
/// Lines that guide the eye.
pub(super) const LINE: Ink = RGBColor(0xd0, 0xd7, 0xde);
/// Background of an image where no page gives it a colour.
pub(super) const PAPER: Ink = RGBColor(0xff, 0xff, 0xff);
/// Shown to be faster.
pub(super) const FASTER: Ink = RGBColor(0x0a, 0x5f, 0x9e);
/// Shown to be slower.
pub(super) const SLOWER: Ink = RGBColor(0xa8, 0x46, 0x00);
/// Nothing shown.
pub(super) const PLAIN: Ink = RGBColor(0x8c, 0x95, 0x9f);
/// Time in user mode.
pub(super) const USER: Ink = RGBColor(0x3b, 0x2c, 0x7a);
/// Time in the kernel.
pub(super) const SYSTEM: Ink = RGBColor(0x8e, 0x7c, 0xc3);

/// Where a label's given point is.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Left,
    Middle,
    Right,
}

/// An area to draw on, in pixels from the upper left.
pub(super) struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
}

/// Draws an image and returns its markup, for use in a page.
pub(super) fn draw(height: i32, label: &str, paint: impl FnOnce(&Canvas)) -> String {
    let mut markup = String::new();
    {
        let size = (WIDTH as u32, height as u32);
        let canvas = Canvas { area: SVGBackend::with_string(&mut markup, size).into_drawing_area() };
        paint(&canvas);
        done(canvas.area.present());
    }
    // A screen reader is told what the image shows; its figures are in the tables.
    markup.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{}\" ", super::text::escape(label)), 1)
}

/// A string as target never fails.
fn done<T, E: Debug>(outcome: Result<T, E>) {
    debug_assert!(outcome.is_ok(), "{:?}", outcome.err());
}

impl Canvas<'_> {
    /// A filled rectangle.
    pub(super) fn rectangle(&self, from: (i32, i32), to: (i32, i32), ink: Ink) {
        done(self.area.draw(&Rectangle::new([from, to], ink.filled())));
    }

    /// A line through points.
    pub(super) fn path(&self, points: Vec<(i32, i32)>, ink: Ink, width: u32) {
        done(self.area.draw(&PathElement::new(points, ink.stroke_width(width))));
    }

    /// A dot.
    pub(super) fn dot(&self, at: (i32, i32), ink: Ink) {
        done(self.area.draw(&Circle::new(at, 3, ink.filled())));
    }

    /// A label whose middle is at this height.
    pub(super) fn label(&self, text: &str, at: (i32, i32), side: Side, ink: Ink) {
        let anchor = match side {
            Side::Left => HPos::Left,
            Side::Middle => HPos::Center,
            Side::Right => HPos::Right,
        };
        let font = ("monospace", FONT * FONT_SCALE).into_font();
        let style = TextStyle::from(font).color(&ink).pos(Pos::new(anchor, VPos::Center));
        let text: String = text.chars().map(shown).collect();
        done(self.area.draw(&Text::new(text, at, style)));
    }

    /// A name at the left and a figure at the right of one line; the name is shortened to the room that is
    /// left.
    pub(super) fn heading(&self, name: &str, figure: &str, middle: i32) {
        // Signs outside of ASCII come from other fonts and may be wider.
        let wide = figure.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum::<usize>();
        let columns = (f64::from(WIDTH) / COLUMN) as usize;
        self.label(&shortened(name, columns.saturating_sub(wide + 1)), (0, middle), Side::Left, TEXT);
        self.label(figure, (WIDTH, middle), Side::Right, TEXT);
    }
}

/// Width of a label of ASCII, at most.
pub(super) fn width_of(text: &str) -> i32 {
    (text.len() as f64 * COLUMN).ceil() as i32
}
