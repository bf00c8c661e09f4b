//! The closing table of a run, and how numbers are shown.

use super::json::{DeviceKind, EnergyReport, KernelReport, RunReport};

/// What stands for a figure that was not measured.
pub const ABSENT: &str = "n/a";

/// The report in words: the run, a line per kernel, prediction, energy.
pub fn closing(report: &RunReport) -> String {
    let device = match report.device.kind {
        DeviceKind::None => "no device".to_owned(),
        _ => format!("{} ({})", report.device.name, report.device.memory.name()),
    };
    let wall_s = report.wall_per_step_s;
    let mut lines = vec![
        format!(
            "{}: {} cells, {} discretisation, {} steps to t = {:.6} s",
            report.case, report.cells, report.discretisation, report.steps, report.time_s
        ),
        format!(
            "{} CPU thread(s) with {device}; {} copied per step",
            report.threads,
            bytes(report.bytes_copied_per_step)
        ),
        format!(
            "pressure: {:.1} iterations per step, residual at most {:.1e}; divergence at most {:.1e} 1/s; \
             kinetic energy {:.6e}",
            report.poisson.iterations_mean,
            report.poisson.relative_residual_max,
            report.divergence_max,
            report.kinetic_energy
        ),
        String::new(),
    ];
    lines.push(kernel_table(report));
    let fractions = report.kernels.iter().filter_map(|k| k.roofline_fraction);
    if fractions.fold(0.0, f64::max) > 1.0 {
        lines.push(
            "above 100 % of the memory bandwidth, a kernel's data stay in caches".to_string(),
        );
    }
    lines.push(String::new());
    lines.push(match report.predicted_per_step_s {
        Some(predicted_s) => format!(
            "step: {} measured, {} predicted ({:+.1} %)",
            seconds(wall_s),
            seconds(predicted_s),
            100.0 * (predicted_s / wall_s - 1.0)
        ),
        None => format!("step: {} measured, no prediction", seconds(wall_s)),
    });
    lines.extend(report.cluster.as_ref().map(|c| c.line(report.ranks)));
    lines.push(energy(&report.energy));
    lines.join("\n")
}

fn kernel_table(report: &RunReport) -> String {
    let head = [
        "kernel",
        "calls/step",
        "split",
        "time",
        "share",
        "GB/s",
        "roofline",
        "J/step",
        "W",
        "GFLOP/J",
        "EDP, J s",
    ];
    let all_s: f64 = report.kernels.iter().map(|k| k.time_s).sum();
    let mark = |text: String| marked(text, report.energy.measured);
    let costs = |joules_per_step, watts, gflop_per_j, edp_js| {
        [
            mark(joules(joules_per_step)),
            mark(number(watts)),
            mark(number(gflop_per_j)),
            mark(edp(edp_js)),
        ]
    };
    let row = |k: &KernelReport| {
        let [joules, watts, gflop_per_j, edp] =
            costs(k.joules_per_step, k.watts_mean, k.gflop_per_j, k.edp_js);
        [
            k.name.clone(),
            format!("{:.1}", k.calls_per_step),
            format!("{:.3}", k.split_ratio),
            seconds(k.time_s),
            percent(Some(k.time_s / all_s)),
            format!("{:.2}", k.gb_per_s),
            percent(k.roofline_fraction),
            joules,
            watts,
            gflop_per_j,
            edp,
        ]
    };
    let mut rows: Vec<_> = report.kernels.iter().map(row).collect();
    let e = &report.energy;
    let [joules, watts, gflop_per_j, edp] =
        costs(e.joules_per_step, e.watts_mean, e.gflop_per_j, e.edp_js);
    let none = String::new;
    rows.push([
        "all".to_owned(),
        none(),
        none(),
        seconds(report.wall_s),
        none(),
        none(),
        none(),
        joules,
        watts,
        gflop_per_j,
        edp,
    ]);
    columns(&head, &rows)
}

/// A figure of energy: `~` before what is estimated, not measured.
pub fn marked(text: String, measured: bool) -> String {
    match measured || text == ABSENT {
        true => text,
        false => format!("~{text}"),
    }
}

/// One line on energy that says whether it was measured.
pub fn energy(energy: &EnergyReport) -> String {
    let (Some(per_step_j), Some(watts)) = (energy.joules_per_step, energy.watts_mean) else {
        if energy.measured {
            return format!(
                "energy: not known, since {} did not deliver throughout the run: see the log",
                energy.source
            );
        }
        return "energy: not measured, and no estimate without the watts of the node: see \
                node.board and node.nameplate_watts"
            .to_owned();
    };
    let source = match energy.measured {
        true => format!("measured by {}", energy.source),
        false => format!("~ marks an estimate: {}", energy.source),
    };
    let mark = |text: String| marked(text, energy.measured);
    let doubt = energy
        .uncertainty_fraction
        .map_or(String::new(), |f| format!(" ± {:.1} %", 100.0 * f));
    let net = energy.idle_watts.zip(energy.net_joules_per_step);
    let net = net.map_or(String::new(), |(idle_w, net_j)| {
        let net_j = mark(joules(Some(net_j)));
        format!(" (net of {} W idle: {net_j})", number(Some(idle_w)))
    });
    format!(
        "energy: {}{doubt} per step{net}, {} W, {} GFLOP/J, energy-delay product {} J s; {source}",
        mark(joules(Some(per_step_j))),
        mark(number(Some(watts))),
        mark(number(energy.gflop_per_j)),
        mark(edp(energy.edp_js))
    )
}

/// Rows under a head, the first column aligned left, the others right.
pub fn columns<const N: usize>(head: &[&str; N], rows: &[[String; N]]) -> String {
    let mut width = head.map(|name| name.chars().count());
    for row in rows {
        for (width, cell) in width.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: [&str; N]| {
        let mut text = String::new();
        for (i, (cell, width)) in cells.into_iter().zip(width).enumerate() {
            match i {
                0 => text.push_str(&format!("{cell:<width$}")),
                _ => text.push_str(&format!("  {cell:>width$}")),
            }
        }
        text.trim_end().to_owned()
    };
    let mut lines = vec![line(*head)];
    lines.extend(
        rows.iter()
            .map(|row| line(row.each_ref().map(String::as_str))),
    );
    lines.join("\n")
}

/// Three digits and a unit, such as `12.3 ms`.
pub fn seconds(x: f64) -> String {
    scaled(x, &[(1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")])
}

/// Three digits and a unit, such as `310 mJ`; `n/a` for what was not measured.
pub fn joules(x: Option<f64>) -> String {
    let units = [(1e3, "kJ"), (1.0, "J"), (1e-3, "mJ"), (1e-6, "uJ")];
    x.map_or(ABSENT.to_owned(), |x| scaled(x, &units))
}

/// Three digits, such as `15.0`; `n/a` for what was not measured.
pub fn number(x: Option<f64>) -> String {
    let Some(x) = x else {
        return ABSENT.to_owned();
    };
    let digits = match x.abs() {
        a if a >= 99.95 => 0,
        a if a >= 9.995 => 1,
        a if a >= 0.9995 || a == 0.0 => 2,
        a if a >= 0.09995 => 3,
        a if a >= 0.009995 => 4,
        _ => return format!("{x:.2e}"),
    };
    format!("{x:.digits$}")
}

/// An energy-delay product; `n/a` for what was not measured.
pub fn edp(x: Option<f64>) -> String {
    x.map_or(ABSENT.to_owned(), |x| format!("{x:.2e}"))
}

/// Three digits and a unit, such as `1.50 MB`.
pub fn bytes(x: f64) -> String {
    scaled(x, &[(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "bytes")])
}

fn percent(x: Option<f64>) -> String {
    x.map_or(ABSENT.to_owned(), |x| format!("{:.1} %", 100.0 * x))
}

/// `x` in the largest of `units` (largest first) that leaves one digit before the point.
fn scaled(x: f64, units: &[(f64, &str)]) -> String {
    if x == 0.0 || !x.is_finite() {
        let unit = units
            .iter()
            .find(|(size, _)| *size == 1.0)
            .map_or("", |(_, unit)| unit);
        return format!("{x} {unit}");
    }
    // What rounds up to the next unit, such as 999.7 ms, is shown in that unit.
    let fits = |(size, _): &&(f64, &str)| x.abs() >= size * 0.9995;
    let (size, unit) = units
        .iter()
        .find(fits)
        .or(units.last())
        .copied()
        .unwrap_or((1.0, ""));
    let y = x / size;
    match y.abs() {
        a if a >= 99.95 => format!("{y:.0} {unit}"),
        a if a >= 9.995 => format!("{y:.1} {unit}"),
        _ => format!("{y:.2} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        for (x, text) in [
            (0.0, "0 s"),
            (1.0, "1.00 s"),
            (0.0123456, "12.3 ms"),
            (0.9999, "1.00 s"),
            (0.0009, "900 us"),
            (9.996e-3, "10.0 ms"),
            (1234.5, "1234 s"),
            (3e-12, "0.00 ns"),
            (f64::NAN, "NaN s"),
        ] {
            assert_eq!(seconds(x), text);
        }
        for (x, text) in [
            (0.0, "0.00"),
            (0.04, "0.0400"),
            (0.25, "0.250"),
            (1e-3, "1.00e-3"),
        ] {
            assert_eq!(number(Some(x)), text);
        }
        assert_eq!(number(Some(15.0)), "15.0");
        assert_eq!(number(None), "n/a");
        assert_eq!(joules(None), "n/a");
        assert_eq!(joules(Some(0.0)), "0 J");
        assert_eq!(bytes(0.0), "0 bytes");
        assert_eq!(bytes(1.5e6), "1.50 MB");
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [
            ["a".to_owned(), "1.5".to_owned()],
            ["long".to_owned(), "22.25".to_owned()],
        ];
        assert_eq!(
            columns(&["k", "n"], &rows),
            "k         n\na       1.5\nlong  22.25"
        );
    }

    #[test]
    fn estimates_are_marked_and_absence_is_said() {
        let mut report = EnergyReport {
            source: "none".to_owned(),
            ..Default::default()
        };
        assert!(energy(&report).contains("not measured"));
        (report.source, report.measured) = ("meter M".to_owned(), true);
        let line = energy(&report);
        assert!(
            line.contains("not known, since meter M did not deliver"),
            "{line}"
        );
        report = EnergyReport {
            source: "nameplate".to_owned(),
            measured: false,
            joules_per_step: Some(1.5),
            watts_mean: Some(15.0),
            edp_js: Some(0.15),
            gflop_per_j: Some(0.333),
            ..EnergyReport::default()
        };
        let line = energy(&report);
        let shown = "~1.50 J per step, ~15.0 W, ~0.333 GFLOP/J, energy-delay product ~1.50e-1 J s";
        assert!(line.contains(shown), "{line}");
        assert!(line.ends_with("~ marks an estimate: nameplate"), "{line}");
        report.measured = true;
        report.source = "powercap package-0".to_owned();
        report.uncertainty_fraction = Some(0.0123);
        (report.idle_watts, report.net_joules_per_step) = (Some(5.0), Some(1.0));
        let line = energy(&report);
        let shown = "energy: 1.50 J ± 1.2 % per step (net of 5.00 W idle: 1.00 J), 15.0 W";
        assert!(line.contains(shown), "{line}");
        assert!(line.ends_with("measured by powercap package-0") && !line.contains('~'));
    }
}
