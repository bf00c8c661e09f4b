//! All numbers of ranks are measured in one job, in turns.

use std::process::Command;

use crate::folder::{Folder, said};
use crate::ranks::{ONE_AT_A_TIME, launcher};

#[test]
fn numbers_of_ranks_take_turns_in_one_job() {
    let folder = Folder::new();
    let Some(one) = launcher(&folder, 1) else {
        return;
    };
    let words = std::iter::once(one.get_program()).chain(one.get_args());
    let words: Vec<_> = words.map(|w| w.to_string_lossy()).collect();
    // Without the number of ranks, which is the command's to say.
    let start = words[..words.len() - 2].join(" ");
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    let scale = |args: &[&str], json: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_couloir"));
        command.arg("scale").args(args).args(["--launcher", &start]);
        command.args(["--device", "none", "--threads", "1"]);
        command.current_dir(env!("CARGO_MANIFEST_DIR"));
        command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
        command.arg("--json").arg(folder.path(json));
        said(command.arg("--out").arg(folder.path("scale")))
    };
    let ran = scale(&["1000", "--ranks", "1,3", "--steps", "2"], "both.json");
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(
        ran.out
            .contains("efficiency on 3 ranks by least times: SpMV"),
        "{}",
        ran.out
    );
    let report = folder.json("both.json");
    for (series, rows) in [("weak", [1000, 3000]), ("strong", [3000, 3000])] {
        for (i, ranks) in [1, 3].into_iter().enumerate() {
            let point = &report[series][i];
            assert_eq!(point["ranks"], ranks, "{report}");
            assert_eq!(point["rows"], rows[i], "{report}");
            assert_eq!(point["fixed_iterations"], 50, "{report}");
            let time = |what: &str, which: &str| point[what][which].as_f64().expect("a time");
            for what in ["hidden", "axpy", "dot", "step"] {
                let [least, median, most] =
                    ["min_s", "median_s", "max_s"].map(|which| time(what, which));
                assert!(0.0 < least && least <= median && median <= most, "{report}");
            }
            assert!(point["spread"].as_f64().is_some_and(|s| s >= 1.0));
            let first = &report[series][0]["axpy"]["min_s"];
            let load = rows[i] as f64 / ranks as f64 / rows[0] as f64;
            let want = load * first.as_f64().expect("a time") / time("axpy", "min_s");
            let least = point["efficiency_least"]["axpy"].as_f64().expect("a share");
            assert!((least / want - 1.0).abs() < 1e-9, "{report}");
        }
    }
    let apart = [
        "1000", "--ranks", "1,2", "--series", "weak", "--apart", "--steps", "1",
    ];
    let ran = scale(&apart, "apart.json");
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(
        ran.out
            .contains("2 ranks against 2 that have nothing to do with each other: SpMV")
    );
    let points = &folder.json("apart.json")["weak"];
    for (point, apart, halo) in [(0, false, false), (1, false, true), (2, true, false)] {
        let point = &points[point];
        assert_eq!(point["apart"], apart, "{points}");
        let others = point["halo_most"].as_u64().expect("a number");
        assert_eq!(others > 0, halo, "{points}");
        assert_eq!(
            point["rows"].as_u64(),
            point["ranks"].as_u64().map(|n| 1000 * n)
        );
    }
    let time = |point: usize| points[point]["step"]["median_s"].as_f64().expect("a time");
    let share = points[1]["against_apart"]["step"]
        .as_f64()
        .expect("a share");
    assert!((share * time(1) / time(2) - 1.0).abs() < 1e-9, "{points}");
    assert!(points[0]["against_apart"].is_null() && points[2]["against_apart"].is_null());
    let args = ["1000", "--ranks", "2", "--series", "weak"];
    let ran = scale(&args, "weak.json");
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let report = folder.json("weak.json");
    assert_eq!(report["weak"][0]["ranks"], 2);
    assert_eq!(report["strong"].as_array().map(Vec::len), Some(0));
}
