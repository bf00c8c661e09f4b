//! Horizontal bars as SVG: a line per name, a panel per quantity.

use std::fmt::Write;

use super::svg::{CHAR_W, INK, colour, text};

/// A bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bar {
    /// Its length; none for no bar.
    pub value: Option<f64>,
    /// Beside it.
    pub text: String,
    /// An outline only, for what is estimated.
    pub hollow: bool,
}

/// Bars of one quantity, each panel to its own scale.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Above it.
    pub title: String,
    /// One per name.
    pub bars: Vec<Bar>,
}

/// Panels side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// Above all.
    pub title: String,
    /// Of the lines.
    pub names: Vec<String>,
    /// Left to right.
    pub panels: Vec<Panel>,
}

/// In pixels: a line, a bar in it, the longest bar, and what surrounds them.
const LINE: f64 = 34.0;
const THICK: f64 = 20.0;
const LONG: f64 = 240.0;
const TOP: f64 = 78.0;
const EDGE: f64 = 16.0;

impl Bars {
    /// The bars as an SVG document.
    pub fn to_svg(&self) -> String {
        let wide = |texts: &mut dyn Iterator<Item = &String>| {
            let longest = texts.map(|t| t.chars().count()).max().unwrap_or(0);
            CHAR_W * longest as f64
        };
        let left = EDGE + wide(&mut self.names.iter()) + 10.0;
        let beside = |p: &Panel| wide(&mut p.bars.iter().map(|b| &b.text)) + 2.0 * EDGE;
        let widths: Vec<f64> = self.panels.iter().map(|p| LONG + beside(p)).collect();
        let all = left + widths.iter().sum::<f64>();
        let width = all.max(wide(&mut [&self.title].into_iter()) * 1.25 + 2.0 * EDGE);
        let height = TOP + LINE * self.names.len() as f64 + EDGE;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" font-family=\"Helvetica, Arial, \
             'Liberation Sans', sans-serif\" font-size=\"13\" fill=\"{INK}\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        text(&mut svg, EDGE, 26.0, "start\" font-size=\"16", &self.title);
        for (i, name) in self.names.iter().enumerate() {
            let y = TOP + LINE * (i as f64 + 0.5) + 4.5;
            text(&mut svg, left - 10.0, y, "end", name);
        }
        let mut x = left;
        for (panel, width) in self.panels.iter().zip(&widths) {
            draw(&mut svg, panel, x);
            x += width;
        }
        svg.push_str("</svg>\n");
        svg
    }
}

fn draw(svg: &mut String, panel: &Panel, x: f64) {
    text(svg, x, TOP - 14.0, "start", &panel.title);
    let values = panel.bars.iter().filter_map(|b| b.value);
    let longest = values.fold(f64::MIN_POSITIVE, f64::max);
    for (i, bar) in panel.bars.iter().enumerate() {
        let y = TOP + LINE * i as f64 + 0.5 * (LINE - THICK);
        let length = bar.value.map_or(0.0, |v| (LONG * v / longest).max(1.0));
        let fill = match bar.hollow {
            true => "white",
            false => colour(i),
        };
        if bar.value.is_some() {
            // Writing to a string cannot fail.
            let _ = writeln!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{length:.1}\" height=\"{THICK}\" \
                 fill=\"{fill}\" stroke=\"{}\" stroke-width=\"1.6\"/>",
                colour(i)
            );
        }
        let beside = x + length + 8.0;
        text(svg, beside, y + 0.5 * THICK + 4.5, "start", &bar.text);
    }
    let bottom = TOP + LINE * panel.bars.len() as f64;
    let _ = writeln!(
        svg,
        "<path d=\"M{x:.1} {TOP}V{bottom:.1}\" stroke=\"{INK}\"/>"
    );
}
