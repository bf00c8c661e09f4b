//! What `couloir bench` refuses, with the remedy.

use crate::bench::couloir;
use crate::folder::{Folder, refused};

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = Folder::new();
    let banner = "%%MatrixMarket matrix coordinate real general\n";
    let wide = folder.write("wide.mtx", &format!("{banner}2 3 1\n1 1 1.0\n"));
    let skew = folder.write(
        "skew.mtx",
        &format!("{banner}2 2 3\n1 1 1.0\n2 2 1.0\n1 2 1.0\n"),
    );
    let zero = folder.write("zero.mtx", &format!("{banner}2 2 1\n1 1 1.0\n"));
    let nan = folder.write("nan.mtx", &format!("{banner}2 2 1\n1 1 nan\n"));
    let cases: &[(&[&str], &str)] = &[
        (
            &["bench", "smpv"],
            "smpv: there is no such bench; did you mean spmv?",
        ),
        (&["bench", "sort"], "choose one of: spmv, gspmv,"),
        (
            &["bench", "spmv", "--rows", "0"],
            "--rows 0: 0 is not a number of at least 1",
        ),
        (
            &["bench", "spmv", "--threads", "0"],
            "--threads 0: not a number of threads; give \"auto\", or 1 to 4096",
        ),
        (
            &["bench", "spmv", "--threads", "4097"],
            "--threads 4097: not a number of threads; give \"auto\", or 1 to 4096",
        ),
        (
            &["bench", "spmv", "--rows", "many"],
            "--rows many: many is not a number",
        ),
        (
            &["bench", "spmv", "--rows", "1000000000000"],
            "GB of memory are available; take fewer rows",
        ),
        (
            &["bench", "dot", "--rows", "1000000000000"],
            "GB of memory are available; take fewer rows",
        ),
        (
            &["bench", "spmv", "--matrix", "grid:x"],
            "--matrix grid:x: x is not a number",
        ),
        (
            &["bench", "spmv", "--rows", "9", "--matrix", "grid:3"],
            "more than one of --rows, --mesh and --matrix",
        ),
        (
            &["bench", "spmv", "--matrix", "no.mtx"],
            "no.mtx: the matrix cannot be read",
        ),
        (
            &["bench", "spmv", "--mesh", "no.msh"],
            "no.msh: the mesh cannot be read",
        ),
        (
            &["bench", "spmv", "--matrix", &nan],
            "nan.mtx:3: `nan` is not finite",
        ),
        (
            &["bench", "pcg", "--matrix", &wide],
            "pcg needs a square matrix, and this is 2 x 3",
        ),
        (
            &["bench", "pcg", "--matrix", &skew],
            "pcg needs a symmetric matrix; take another",
        ),
        (
            &["bench", "pcg", "--matrix", &zero],
            "pcg needs a positive diagonal",
        ),
        (
            &["bench", "spmv", "--matrix", &wide, "--order", "rcm"],
            "2 x 3 has no symmetric order",
        ),
        (
            &["bench", "spmv", "--order", "best"],
            "--order best: there is no such choice; choose one of: none, rcm, random",
        ),
        (
            &["bench", "spmv", "--where", "gpu"],
            "choose one of: cpu, device, split, all",
        ),
        (
            &["bench", "spmv", "--format", "ell"],
            "choose one of: sell, csr",
        ),
        (
            &["bench", "spmv", "--format", "csr", "--where", "split"],
            "csr is not split; use --where cpu or device, or --format sell",
        ),
        (&["bench", "spmv", "--threads", "0"], "--threads 0"),
        (
            &["bench", "spmv", "--device", "fast"],
            "'fast' is neither auto, none nor a number",
        ),
        (
            &["bench", "spmv", "--where", "device", "--device", "none"],
            "there is nothing to measure on",
        ),
        (&["bench", "spmv", "dot"], "dot: this word is one too many"),
        (
            &["bench", "axpy", "--meter", "tcp:here"],
            "--meter tcp:here: \"tcp:here\" names no host and port; give serial:DEVICE@BAUD",
        ),
        (
            &["bench", "axpy", "--meter", "tcp:127.0.0.1:1"],
            "--meter tcp:127.0.0.1:1: ",
        ),
        (
            &["bench", "axpy", "--meter", "tcp:h:1", "--meter-column", "0"],
            "--meter-column 0: columns are counted from 1",
        ),
        (
            &["bench", "axpy", "--meter", "tcp:h:1", "--meter-unit", "V"],
            "--meter-unit V: \"V\" is no unit of a meter; give one of W, mW",
        ),
    ];
    for (args, message) in cases {
        let mut args = args.to_vec();
        if !args.contains(&"--where") {
            args.extend(["--where", "cpu"]);
        }
        let error = refused(couloir(&args), 2);
        assert!(error.contains(message), "{args:?}: {error}");
    }
}
