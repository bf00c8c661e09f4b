//! A series of measurements in words and columns.

use super::{Efficiency, Point};
use crate::flow::scaling::Cost;
use crate::report::table::{columns, seconds};

fn percent(x: Option<f64>) -> String {
    x.map_or("n/a".to_owned(), |x| format!("{:.1} %", 100.0 * x))
}

/// What is said of a measurement beside the table's medians: its least times, and how it does against
/// ranks that have nothing to do with each other.
pub(super) fn beside(p: &Point) -> Vec<String> {
    let ranks = p.measured.ranks;
    let least = each(&p.efficiency_least);
    let mut lines = vec![format!(
        "efficiency on {ranks} ranks by least times: {least}; times reach {:.2} times their median",
        p.spread
    )];
    lines.extend(p.against_apart.as_ref().map(|e| {
        let each = each(e);
        format!("{ranks} ranks against {ranks} that have nothing to do with each other: {each}")
    }));
    lines
}

fn each(e: &Efficiency) -> String {
    let step = e
        .step
        .map_or(String::new(), |e| format!(", step {}", percent(Some(e))));
    format!(
        "SpMV {}, AXPY {}, DOT {}{step}",
        percent(Some(e.spmv)),
        percent(Some(e.axpy)),
        percent(Some(e.dot)),
    )
}

/// One row per measurement.
pub(super) fn table(points: &[Point]) -> String {
    let head = [
        "ranks",
        "rows",
        "halo",
        "OSpMV",
        "NSpMV",
        "product",
        "exchange",
        "hidden",
        "at most",
        "N/O",
        "AXPY",
        "DOT",
        "sum",
        "step",
        "iterations",
        "each",
        "eff. SpMV",
        "AXPY",
        "DOT",
        "step",
        "iteration",
    ];
    let rows: Vec<_> = points
        .iter()
        .map(|p| {
            let m = &p.measured;
            let time = |c: Cost| seconds(c.median_s);
            [
                format!("{}{}", m.ranks, if m.apart { " apart" } else { "" }),
                m.rows.to_string(),
                m.halo_most.to_string(),
                time(m.hidden),
                time(m.first),
                time(m.alone),
                time(m.exchange),
                percent(p.hidden_share),
                percent(p.hidden_most),
                format!("{:.2}", m.first.median_s / m.hidden.median_s),
                time(m.axpy),
                time(m.dot),
                time(m.reduce),
                m.step.map_or("n/a".to_owned(), time),
                m.iterations.map_or("n/a".to_owned(), |k| format!("{k:.1}")),
                m.iteration.map_or("n/a".to_owned(), time),
                percent(Some(p.efficiency.spmv)),
                percent(Some(p.efficiency.axpy)),
                percent(Some(p.efficiency.dot)),
                percent(p.efficiency.step),
                percent(p.efficiency.iteration),
            ]
        })
        .collect();
    columns(&head, &rows)
}
