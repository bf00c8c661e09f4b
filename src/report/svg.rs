//! Line charts as SVG, without a plotting library.

use std::fmt::Write;
use std::path::Path;

use super::vtu::escape;
use super::write::write_file;
use crate::Result;

/// How a series is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// A solid line through the points.
    #[default]
    Line,
    /// A dashed line through the points.
    Dashed,
    /// Hollow circles at the points.
    Points,
}

/// One named set of points. A point that is not finite (or above 1e300) interrupts the line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// In the legend.
    pub name: String,
    /// (x, y).
    pub points: Vec<(f64, f64)>,
    /// How it is drawn.
    pub style: Style,
}

/// A chart of lines over common linear axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// Above the plot.
    pub title: String,
    /// Below the x axis, with its unit.
    pub x_label: String,
    /// Beside the y axis, with its unit.
    pub y_label: String,
    /// Drawn in this order.
    pub series: Vec<Series>,
}

/// Colours that people with colour blindness tell apart (Okabe and Ito 2008), dark enough
/// on white.
const COLOURS: [&str; 6] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9",
];
pub(super) const INK: &str = "#222222";

/// Plot area and its surroundings, in pixels.
const PLOT_W: f64 = 520.0;
const PLOT_H: f64 = 340.0;
const LEFT: f64 = 78.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = 58.0;
/// Mean width of a character of the 13-pixel font.
pub(super) const CHAR_W: f64 = 7.2;

/// Beyond this, and below its inverse, the arithmetic of the axes would overflow.
const VALUE_MAX: f64 = 1e300;

fn drawable(value: f64) -> bool {
    value.abs() <= VALUE_MAX
}

/// The range of an axis and its ticks.
struct Axis {
    low: f64,
    high: f64,
    ticks: Vec<f64>,
    /// Digits after the point; `None` for powers of ten.
    decimals: Option<usize>,
}

impl Axis {
    /// The finite values' range, widened to whole ticks; about `wanted` of them.
    fn over(values: impl Iterator<Item = f64>, wanted: f64) -> Self {
        let finite = values.filter(|&v| drawable(v));
        let (mut low, mut high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| {
            (l.min(v), h.max(v))
        });
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        // A constant gets room around it; so do values apart by round-off alone.
        let size = low.abs().max(high.abs());
        if high - low <= (1e-12 * size).max(1.0 / VALUE_MAX) {
            let room = if size > 1.0 / VALUE_MAX {
                0.1 * size
            } else {
                1.0
            };
            (low, high) = (low - room, high + room);
        }
        let raw = (high - low) / wanted;
        let power = 10f64.powf(raw.log10().floor());
        let factor = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .find(|f| f * power >= 0.75 * raw)
            .unwrap_or(10.0);
        let step = factor * power;
        // A tick that is nearly reached already is not exceeded for round-off's sake.
        let first = (low / step + 1e-9).floor();
        let last = (high / step - 1e-9).ceil();
        let count = (last - first).clamp(1.0, 100.0) as usize;
        let ticks: Vec<f64> = (0..=count).map(|i| (first + i as f64) * step).collect();
        let plain = (1e-4..1e6).contains(&size.max(step)) && step >= 1e-5;
        let decimals = (-(step.log10() + 1e-9).floor()).clamp(0.0, 6.0) as usize;
        Self {
            low: first * step,
            high: last * step,
            ticks,
            decimals: plain.then_some(decimals),
        }
    }

    /// 0 at the low end, 1 at the high end.
    fn part(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }

    fn label(&self, tick: f64) -> String {
        // No "-0".
        let tick = if tick.abs() < 1e-9 * (self.high - self.low) {
            0.0
        } else {
            tick
        };
        let text = match self.decimals {
            Some(decimals) => format!("{tick:.decimals$}"),
            None if tick == 0.0 => "0".into(),
            None => {
                let text = format!("{tick:.2e}");
                match text.split_once('e') {
                    Some((digits, exponent)) => {
                        let digits = digits.trim_end_matches('0').trim_end_matches('.');
                        format!("{digits}e{exponent}")
                    }
                    None => text,
                }
            }
        };
        // The sign that typesetters use.
        text.replace('-', "\u{2212}")
    }
}

impl Chart {
    /// Writes the chart to an SVG file.
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub fn write(&self, path: &Path) -> Result<()> {
        write_file(path, |out| out.write_all(self.to_svg().as_bytes()))
    }

    /// The chart as an SVG document.
    pub fn to_svg(&self) -> String {
        let all = || self.series.iter().flat_map(|s| &s.points);
        let x = Axis::over(all().map(|p| p.0), 6.0);
        let y = Axis::over(all().map(|p| p.1), 6.0);
        let longest = self.series.iter().map(|s| s.name.chars().count()).max();
        let legend_w = longest.map_or(20.0, |n| 58.0 + CHAR_W * n as f64);
        let width = LEFT + PLOT_W + legend_w;
        let height = TOP + PLOT_H + BOTTOM;

        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" font-family=\"Helvetica, Arial, \
             'Liberation Sans', sans-serif\" font-size=\"13\" fill=\"{INK}\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        let middle = LEFT + 0.5 * PLOT_W;
        text(
            &mut svg,
            middle,
            26.0,
            "middle\" font-size=\"16",
            &self.title,
        );
        draw_axes(&mut svg, &x, &y);
        text(
            &mut svg,
            middle,
            TOP + PLOT_H + 44.0,
            "middle",
            &self.x_label,
        );
        let (at_x, at_y) = (20.0, TOP + 0.5 * PLOT_H);
        let turned = format!("middle\" transform=\"rotate(-90 {at_x:.1} {at_y:.1})");
        text(&mut svg, at_x, at_y, &turned, &self.y_label);
        for (i, series) in self.series.iter().enumerate() {
            draw(&mut svg, &x, &y, series, colour(i));
            legend(&mut svg, i, series);
        }
        if all().next().is_none() {
            text(&mut svg, middle, TOP + 0.5 * PLOT_H, "middle", "no data");
        }
        svg.push_str("</svg>\n");
        svg
    }
}

pub(super) fn colour(series: usize) -> &'static str {
    COLOURS.get(series % COLOURS.len()).copied().unwrap_or(INK)
}

/// Adds a line to the document; writing to a string cannot fail.
macro_rules! put {
    ($svg:expr, $($format:tt)*) => {{
        let _ = writeln!($svg, $($format)*);
    }};
}

pub(super) fn text(svg: &mut String, x: f64, y: f64, anchor: &str, text: &str) {
    let text = escape(text);
    put!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
    );
}

/// Grid, frame, ticks and their labels.
fn draw_axes(svg: &mut String, x: &Axis, y: &Axis) {
    let (right, bottom) = (LEFT + PLOT_W, TOP + PLOT_H);
    let mut grid = String::new();
    for &tick in &x.ticks {
        let at = LEFT + x.part(tick) * PLOT_W;
        let _ = write!(grid, "M{at:.1} {TOP}V{bottom}");
        text(svg, at, bottom + 20.0, "middle", &x.label(tick));
    }
    for &tick in &y.ticks {
        let at = bottom - y.part(tick) * PLOT_H;
        let _ = write!(grid, "M{LEFT} {at:.1}H{right}");
        text(svg, LEFT - 8.0, at + 4.5, "end", &y.label(tick));
    }
    put!(svg, "<path d=\"{grid}\" fill=\"none\" stroke=\"#e4e4e4\"/>");
    let frame = format!("M{LEFT} {TOP}V{bottom}H{right}");
    put!(svg, "<path d=\"{frame}\" fill=\"none\" stroke=\"{INK}\"/>");
}

fn draw(svg: &mut String, x: &Axis, y: &Axis, series: &Series, colour: &str) {
    let at = |p: &(f64, f64)| {
        let inside = drawable(p.0) && drawable(p.1);
        let (px, py) = (
            LEFT + x.part(p.0) * PLOT_W,
            TOP + (1.0 - y.part(p.1)) * PLOT_H,
        );
        inside.then_some((px, py))
    };
    if series.style == Style::Points {
        put!(
            svg,
            "<g fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\">"
        );
        for (px, py) in series.points.iter().filter_map(at) {
            put!(svg, "<circle cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"4\"/>");
        }
        put!(svg, "</g>");
        return;
    }
    let mut path = String::new();
    let mut pen_down = false;
    for point in series.points.iter().map(at) {
        if let Some((px, py)) = point {
            let step = if pen_down { 'L' } else { 'M' };
            let _ = write!(path, "{step}{px:.1} {py:.1}");
        }
        pen_down = point.is_some();
    }
    put!(svg, "<path d=\"{path}\" {}/>", stroke(series.style, colour));
}

fn stroke(style: Style, colour: &str) -> String {
    let dashes = if style == Style::Dashed {
        " stroke-dasharray=\"7 4\""
    } else {
        ""
    };
    format!(
        "fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.9\" stroke-linejoin=\"round\"{dashes}"
    )
}

/// A sample of the series and its name, to the right of the plot.
fn legend(svg: &mut String, i: usize, series: &Series) {
    let colour = colour(i);
    let left = LEFT + PLOT_W + 16.0;
    let y = TOP + 10.0 + 22.0 * i as f64;
    match series.style {
        Style::Points => put!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"none\" stroke=\"{colour}\" \
             stroke-width=\"1.6\"/>",
            left + 12.0
        ),
        style => put!(
            svg,
            "<path d=\"M{left:.1} {y:.1}h24\" {}/>",
            stroke(style, colour)
        ),
    }
    text(svg, left + 32.0, y + 4.5, "start", &series.name);
}
