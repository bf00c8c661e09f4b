//! Charts: their content, and data that would break them.

use couloir::report::svg::{Chart, Series, Style};

fn chart(points: &[(f64, f64)]) -> String {
    let series = |name: &str, style| Series {
        name: name.into(),
        points: points.to_vec(),
        style,
    };
    Chart {
        title: "u < v & \"w\"".into(),
        x_label: "x / L".into(),
        y_label: "u / U".into(),
        series: vec![
            series("line", Style::Line),
            series("dashed", Style::Dashed),
            series("points", Style::Points),
        ],
    }
    .to_svg()
}

#[test]
fn charts_hold_their_series_and_escape_text() {
    let svg = chart(&[(0.0, -0.4), (0.5, 0.1), (1.0, 1.0)]);
    assert!(svg.contains("u &lt; v &amp; &quot;w&quot;"), "{svg}");
    // Three circles for the points and one in the legend.
    assert_eq!(svg.matches("<circle").count(), 4);
    assert_eq!(svg.matches("stroke-dasharray").count(), 2);
    for tick in ["\u{2212}0.4", "0.0", "0.2", "1.0"] {
        assert!(svg.contains(&format!(">{tick}</text>")), "{tick}: {svg}");
    }
    // x = 0.5 is in the middle, between x = 0 and x = 1 at the ends of the axis.
    assert!(
        svg.contains("M78.0 ") && svg.contains("L338.0 ") && svg.contains("L598.0 "),
        "{svg}"
    );
}

#[test]
fn charts_survive_any_data() {
    assert!(chart(&[]).contains("no data"));
    let broken = chart(&[
        (0.0, 0.0),
        (1.0, 1.0),
        (2.0, f64::NAN),
        (3.0, 1.0),
        (4.0, 0.0),
    ]);
    let path = broken
        .lines()
        .find(|l| l.contains("stroke-width=\"1.9\""))
        .unwrap();
    let parts = (path.matches('M').count(), path.matches('L').count());
    assert_eq!(parts, (2, 2), "{path}");
    for points in [
        vec![(1.0, 5.0)],
        vec![(0.0, 0.0); 3],
        vec![(f64::INFINITY, f64::NAN)],
        vec![(1e-300, -1e300), (1e300, 1e300)],
        vec![(0.0, 1.0), (1.0, 1.0 + 1e-16)],
        vec![(-f64::MAX, f64::MIN_POSITIVE), (f64::MAX, 0.0)],
        vec![(0.0, 1e9), (1e-7, 2e9)],
    ] {
        let svg = chart(&points);
        assert!(
            !svg.contains("NaN") && !svg.contains("inf"),
            "{points:?}: {svg}"
        );
        assert!(svg.len() < 20_000);
    }
    assert!(chart(&[(0.0, 1e9), (1e-7, 2e9)]).contains(">1.2e9</text>"));
}

#[test]
fn charts_are_written_whole_or_not_at_all() {
    let name = format!("couloir-chart-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let path = folder.join("a/chart.svg");
    let chart = Chart::default();
    chart.write(&path).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), chart.to_svg());
    let error = chart.write(&path.join("b.svg")).unwrap_err();
    assert!(error.to_string().contains("in the way"), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}
