//! Strong and weak scaling as a table, JSON and charts (thesis figures 3.5 to 3.8).

mod table;

use std::path::Path;

use serde::Serialize;

use table::{beside, table};

use super::svg::{Chart, Series, Style};
use super::table::seconds;
use super::write::write_file;
use crate::Result;
use crate::flow::scaling::{Cost, Scaling};

/// One measurement beside the first of its series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The measurement.
    #[serde(flatten)]
    pub measured: Scaling,
    /// `(T_N - T_O) / T_comm`; `null` on one rank.
    pub hidden_share: Option<f64>,
    /// Time of inner rows over that of the exchange, at most 1: no more can be hidden.
    pub hidden_most: Option<f64>,
    /// Parallel efficiency of the product with its exchange hidden, AXPY, DOT, the step
    /// and its iterations: of the medians.
    pub efficiency: Efficiency,
    /// The same of the least times, which are those without what else the machines had to do.
    pub efficiency_least: Efficiency,
    /// Times of as many ranks that have nothing to do with each other over these, medians: what their
    /// exchange and their waits leave; `null` where that was not measured.
    pub against_apart: Option<Efficiency>,
    /// The most time of any of these over its median: what else they had to do.
    pub spread: f64,
}

/// Parallel efficiencies against the first measurement of a series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Efficiency {
    /// Product.
    pub spmv: f64,
    /// AXPY.
    pub axpy: f64,
    /// DOT.
    pub dot: f64,
    /// Time step; `null` where none was done.
    pub step: Option<f64>,
    /// An iteration of its pressure solve.
    pub iteration: Option<f64>,
}

impl Efficiency {
    /// Of `m` against `first`, by `time`.
    fn of(first: &Scaling, m: &Scaling, time: impl Fn(Cost) -> f64) -> Self {
        let work = |m: &Scaling| m.rows as f64 / m.ranks.max(1) as f64;
        let load = work(m) / work(first);
        let of = |a: Cost, b: Cost| load * time(a) / time(b);
        Self {
            spmv: of(first.hidden, m.hidden),
            axpy: of(first.axpy, m.axpy),
            dot: of(first.dot, m.dot),
            step: first.step.zip(m.step).map(|(a, b)| of(a, b)),
            iteration: first.iteration.zip(m.iteration).map(|(a, b)| of(a, b)),
        }
    }
}

/// Scaling over numbers of ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ScalingReport {
    /// As many rows per rank in all runs.
    pub weak: Vec<Point>,
    /// As many rows in all runs.
    pub strong: Vec<Point>,
}

/// A series: efficiency is `T_1 w_N / T_N`, with `w_N` the work per rank over that of the first.
pub fn series(measured: Vec<Scaling>) -> Vec<Point> {
    let Some(first) = measured.first().cloned() else {
        return Vec::new();
    };
    let apart: Vec<Scaling> = measured.iter().filter(|m| m.apart).cloned().collect();
    let point = |m: Scaling| {
        let beside = apart.iter().find(|a| a.ranks == m.ranks && !m.apart);
        let all = [Some(m.hidden), Some(m.axpy), Some(m.dot), m.step];
        let spreads = all.into_iter().flatten().map(|c| c.max_s / c.median_s);
        Point {
            hidden_share: m.hidden_share(),
            hidden_most: m.hidden_most(),
            efficiency: Efficiency::of(&first, &m, |c| c.median_s),
            efficiency_least: Efficiency::of(&first, &m, |c| c.min_s),
            against_apart: beside.map(|a| Efficiency::of(a, &m, |c| c.median_s)),
            spread: spreads.fold(1.0, f64::max),
            measured: m,
        }
    };
    measured.into_iter().map(point).collect()
}

/// One measurement in a line.
pub fn line(m: &Scaling) -> String {
    let time = |c: Cost| seconds(c.median_s);
    let step = m
        .step
        .map_or(String::new(), |s| format!(", step {}", time(s)));
    format!(
        "{} rank(s){}, {} rows: SpMV {}, AXPY {}, DOT {}{step}",
        m.ranks,
        if m.apart { " apart" } else { "" },
        m.rows,
        time(m.hidden),
        time(m.axpy),
        time(m.dot)
    )
}

impl ScalingReport {
    /// Both tables.
    pub fn table(&self) -> String {
        let parts = [("weak", &self.weak), ("strong", &self.strong)];
        let parts = parts.into_iter().filter(|(_, points)| !points.is_empty());
        let texts: Vec<String> = parts
            .map(|(name, points)| {
                let fixed = points.iter().find_map(|p| p.measured.fixed_iterations);
                let fixed = fixed.map(|n| format!(" (steps of {n} pressure iterations each)"));
                let fixed = fixed.unwrap_or_default();
                let others = points.iter().skip(1).filter(|p| !p.measured.apart);
                let least: Vec<String> = others.flat_map(beside).collect();
                let name = format!("{name} scaling{fixed}");
                [name, table(points)]
                    .into_iter()
                    .chain(least)
                    .collect::<Vec<_>>()
                    .join("\n")
            })
            .collect();
        texts.join("\n\n")
    }

    /// Writes the report as JSON.
    ///
    /// # Errors
    /// As [`write_file`].
    pub fn write(&self, path: &Path) -> Result<()> {
        write_file(path, |out| {
            serde_json::to_writer_pretty(&mut *out, self)?;
            writeln!(out)
        })
    }

    /// Efficiency over ranks, a chart for each series.
    pub fn charts(&self) -> Vec<(&'static str, Chart)> {
        let parts = [("weak", &self.weak), ("strong", &self.strong)];
        let parts = parts.into_iter().filter(|(_, points)| points.len() > 1);
        parts
            .map(|(name, points)| (name, chart(name, points)))
            .collect()
    }
}

fn chart(name: &str, points: &[Point]) -> Chart {
    let line = |what: &str, value: &dyn Fn(&Efficiency) -> Option<f64>| Series {
        name: what.to_owned(),
        points: points
            .iter()
            .filter(|p| !p.measured.apart)
            .filter_map(|p| Some((p.measured.ranks as f64, value(&p.efficiency)?)))
            .collect(),
        style: Style::Line,
    };
    Chart {
        title: format!("{name} scaling: parallel efficiency"),
        x_label: "ranks".to_owned(),
        y_label: "efficiency".to_owned(),
        series: vec![
            line("SpMV, exchange hidden", &|e| Some(e.spmv)),
            line("AXPY", &|e| Some(e.axpy)),
            line("DOT", &|e| Some(e.dot)),
            line("time step", &|e| e.step),
            line("its iterations", &|e| e.iteration),
        ]
        .into_iter()
        .filter(|s| !s.points.is_empty())
        .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(ranks: usize, rows: usize, t: f64) -> Scaling {
        let cost = |s: f64| Cost {
            median_s: s,
            min_s: s,
            max_s: s,
        };
        Scaling {
            ranks,
            rows,
            hidden: cost(t),
            first: cost(1.5 * t),
            exchange: cost(t),
            axpy: cost(t),
            dot: cost(2.0 * t),
            ..Scaling::default()
        }
    }

    #[test]
    fn efficiencies_weigh_the_rows_of_a_rank() {
        let strong = series(vec![measured(1, 1000, 4.0), measured(4, 1000, 1.25)]);
        assert_eq!(strong[0].hidden_share, None);
        assert_eq!(strong[1].hidden_share, Some(0.5));
        assert!((strong[1].efficiency.spmv - 0.8).abs() < 1e-12);
        let weak = series(vec![measured(1, 1000, 4.0), measured(2, 2000, 5.0)]);
        assert!((weak[1].efficiency.dot - 0.8).abs() < 1e-12);
        // A machine that was busy half of the time shows in the medians, not in the least times.
        let mut busy = measured(2, 2000, 5.0);
        busy.axpy.median_s *= 2.0;
        busy.axpy.max_s *= 3.0;
        let seen = series(vec![measured(1, 1000, 4.0), busy]);
        assert!((seen[1].efficiency.axpy - 0.4).abs() < 1e-12);
        assert!((seen[1].efficiency_least.axpy - 0.8).abs() < 1e-12);
        assert!((seen[1].spread - 1.5).abs() < 1e-12 && seen[0].spread == 1.0);
        assert_eq!(weak[1].efficiency.step, None);
        // Two that have nothing to do with each other lose 10 of the 20 % that two ranks lose.
        let apart = Scaling {
            apart: true,
            ..measured(2, 2000, 4.5)
        };
        let three = vec![measured(1, 1000, 4.0), measured(2, 2000, 5.0), apart];
        let three = series(three);
        let against = three[1].against_apart.as_ref().expect("measured");
        assert!((against.dot - 0.9).abs() < 1e-12);
        assert!(three[0].against_apart.is_none() && three[2].against_apart.is_none());
        assert!((three[2].efficiency.dot - 4.0 / 4.5).abs() < 1e-12);
        let steps = |ranks, rows, t, k| {
            let step = measured(ranks, rows, t).hidden;
            let median_s = t / k;
            Scaling {
                step: Some(step),
                iterations: Some(k),
                fixed_iterations: (k == 50.0).then_some(50),
                iteration: Some(Cost { median_s, ..step }),
                ..measured(ranks, rows, t)
            }
        };
        // Half of what the longer step costs more is iterations that the mesh asks for.
        let grown = series(vec![steps(1, 1000, 1.0, 100.0), steps(2, 2000, 2.5, 200.0)]);
        assert!((grown[1].efficiency.step.expect("steps") - 0.4).abs() < 1e-12);
        assert!((grown[1].efficiency.iteration.expect("steps") - 0.8).abs() < 1e-12);
        let fixed = series(vec![steps(1, 1000, 1.0, 50.0), steps(2, 2000, 1.25, 50.0)]);
        assert!((fixed[1].efficiency.step.expect("steps") - 0.8).abs() < 1e-12);
        let of = |weak| ScalingReport {
            weak,
            ..ScalingReport::default()
        };
        let said = "steps of 50 pressure iterations each";
        assert!(of(fixed).table().contains(said) && !of(grown).table().contains(said));
        let report = ScalingReport { weak, strong };
        let text = report.table();
        assert!(
            text.contains("weak scaling") && text.contains("80.0 %"),
            "{text}"
        );
        assert_eq!(report.charts().len(), 2);
    }
}
