//! Matrix Market files: what is read, what is refused with its line, and that nothing panics.

use couloir::sparse::{Csr, matrix_market};

fn parse(text: &str) -> Csr {
    matrix_market::parse("a.mtx", text.as_bytes()).unwrap_or_else(|e| panic!("{e}"))
}

fn refused(text: &[u8]) -> String {
    let error = matrix_market::parse("a.mtx", text).expect_err("a matrix");
    assert_eq!(error.exit_code(), 2, "{error}");
    let text = error.to_string();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

/// A random matrix with empty rows.
fn random(rows: usize, cols: usize, seed: u64) -> Csr {
    let mut rng = fastrand::Rng::with_seed(seed);
    let triplets: Vec<_> = (0..3 * rows)
        .map(|_| {
            let value = f64::from(rng.i32(1..9)) / 3.0;
            (rng.usize(..rows) as u32, rng.usize(..cols) as u32, value)
        })
        .collect();
    Csr::from_triplets(rows, cols, &triplets)
}

fn written(a: &Csr) -> Vec<u8> {
    let mut text = Vec::new();
    matrix_market::write(a, &mut text).unwrap();
    text
}

#[test]
fn what_is_written_is_read_back_exactly() {
    for (rows, cols) in [(1, 1), (7, 5), (5, 300), (257, 31)] {
        let a = random(rows, cols, rows as u64);
        assert_eq!(matrix_market::parse("a", &written(&a)).unwrap(), a);
    }
}

#[test]
fn real_integer_and_pattern_general_and_symmetric_are_read() {
    let general = Csr::from_triplets(2, 3, &[(0, 0, 1.5), (1, 2, -2e-3)]);
    let text = "%%MatrixMarket matrix coordinate real general\n% a comment\n%\n\n2 3 2\n\
                2 3 -2e-3\n 1\t1  1.5\n\n";
    assert_eq!(parse(text), general);
    assert_eq!(parse(&text.replace('\n', "\r\n")), general);
    assert_eq!(parse(text.trim_end()), general);
    assert_eq!(
        parse(
            &text
                .replace("%%MatrixMarket", "%%matrixmarket")
                .replace("real", "REAL")
        ),
        general
    );

    let symmetric = [
        (0, 0, 4.0),
        (0, 2, -1.0),
        (2, 0, -1.0),
        (2, 1, 7.0),
        (1, 2, 7.0),
    ];
    let symmetric = Csr::from_triplets(3, 3, &symmetric);
    let head = "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n";
    assert_eq!(parse(&format!("{head}1 1 4\n3 1 -1\n3 2 +7\n")), symmetric);
    assert_eq!(
        parse(&format!("{head}1 1 4\n1 3 -1\n2 3 7\n")),
        symmetric,
        "upper triangle"
    );

    let ones = Csr::from_triplets(2, 2, &[(0, 1, 1.0), (1, 0, 1.0)]);
    let text = "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n";
    assert_eq!(parse(text), ones);
    let empty = parse("%%MatrixMarket matrix coordinate real general\n4 5 0\n");
    assert_eq!(empty, Csr::zero(4, 5));
}

#[test]
fn bad_files_are_refused_with_line_and_remedy() {
    let real = |rest: &str| format!("%%MatrixMarket matrix coordinate real general\n{rest}");
    let symmetric = |rest: &str| real(rest).replace("general", "symmetric");
    let cases = [
        (
            String::new(),
            "a.mtx:1: this is no Matrix Market header; the first line must read",
        ),
        (
            "2 2 1\n1 1 1\n".into(),
            "a.mtx:1: this is no Matrix Market header",
        ),
        (
            real("").replace("matrix", "vector"),
            "`vector` is not a matrix",
        ),
        (
            real("").replace("coordinate", "array"),
            "reads no `array` matrices; a full matrix: write it as coordinate",
        ),
        (
            real("").replace("real", "complex"),
            "reads no `complex` matrices; write its real part",
        ),
        (
            real("").replace("real", "quaternion"),
            "no kind of number `quaternion`",
        ),
        (
            real("").replace("general", "skew-symmetric"),
            "reads no `skew-symmetric` matrices; write all its entries as general",
        ),
        (
            real("").replace("general", "hermitian"),
            "reads no `hermitian` matrices",
        ),
        (real("").replace("general", "odd"), "no symmetry `odd`"),
        (
            real("% only\n"),
            "a.mtx:2: the file ends before its sizes; the file is truncated",
        ),
        (
            real("2 2\n"),
            "a.mtx:2: `2 2` are no sizes; give the numbers",
        ),
        (real("2 -2 1\n"), "`2 -2 1` are no sizes"),
        (real("0 2 0\n"), "a matrix of 0 x 2"),
        (real("5000000000 1 1\n"), "beyond 32-bit indices"),
        (real("2 2 5\n"), "5 entries are more than 2 x 2 places"),
        (symmetric("2 3 1\n1 1 1\n"), "a symmetric matrix of 2 x 3"),
        (
            real("4000000000 4000000000 4000000000000000\n"),
            "a.mtx:2: the matrix needs ",
        ),
        (
            real("3 3 3\n"),
            "the file ends before its 3 entries; the file is truncated",
        ),
        (
            real("3 3 3\n1 1 1.0\n2 2 2.0\n"),
            "a.mtx:4: the file ends after 2 of its 3 entries",
        ),
        (
            real("3 3 2\n1 1 1.0\n2 2\n"),
            "a.mtx:4: the value is missing; the file is truncated",
        ),
        (
            real("3 3 1\n1 1 1.0\n2 2 2.0\n"),
            "a.mtx:4: a line more than the 1 entries announced",
        ),
        (
            real("3 3 1\n1 1 1.0 7\n"),
            "a.mtx:3: `7` is one word too many",
        ),
        (
            real("3 3 1\n\n\n4 1 1.0\n"),
            "a.mtx:5: row 4 is outside of 1 to 3; correct the index",
        ),
        (
            real("3 3 1\n1 0 1.0\n"),
            "column 0 is outside of 1 to 3; rows and columns count from 1",
        ),
        (real("3 3 1\n1 x 1.0\n"), "`x` is not a column number"),
        (
            real("3 3 1\n99999999999999999999 1 1.0\n"),
            "is not a row number",
        ),
        (
            real("3 3 1\n1 1 nan\n"),
            "a.mtx:3: `nan` is not finite; a matrix must hold finite",
        ),
        (real("3 3 1\n1 1 -Inf\n"), "`-Inf` is not finite"),
        (real("3 3 1\n1 1 1e999\n"), "`1e999` is not finite"),
        (real("3 3 1\n1 1 one\n"), "`one` is not a number"),
        (
            real("3 3 1\n1 1 1.5\n").replace("real", "integer"),
            "`1.5` is not an integer",
        ),
        (
            real("3 3 3\n1 2 1.0\n2 2 3.0\n1 2 2.0\n"),
            "a.mtx:5: entry (1, 2) is listed twice, first in line 3; add the two",
        ),
        (
            symmetric("3 3 2\n1 2 1.0\n2 1 1.0\n"),
            "a.mtx:4: entry (1, 2) is listed twice, first in line 3",
        ),
    ];
    for (text, message) in cases {
        let error = refused(text.as_bytes());
        assert!(error.contains(message), "{error}\nfor\n{text}");
    }
    assert_eq!(
        refused(&[0x1f, 0x8b, 8, 8, 0]),
        "a.mtx:1: the file is packed by gzip; unpack it by gunzip, or tar -xzf, and give the .mtx file"
    );
}

#[test]
fn a_missing_file_is_bad_input() {
    let error = matrix_market::read(std::path::Path::new("/no/such.mtx")).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert!(
        error
            .to_string()
            .starts_with("/no/such.mtx: the matrix cannot be read"),
        "{error}"
    );
}

/// Cut short, with bytes changed, removed and repeated: an error or a matrix, never a panic.
#[test]
fn broken_files_never_panic() {
    let mut rng = fastrand::Rng::with_seed(7);
    let symmetric =
        b"%%MatrixMarket matrix coordinate integer symmetric\n9 9 4\n1 1 3\n9 2 -4\n7 7 1\n3 2 5\n";
    for text in [written(&random(40, 30, 3)), symmetric.to_vec()] {
        for end in 0..text.len() {
            let whole = matrix_market::parse("a", &text[..end]).is_ok();
            // Only digits of the last value, or the last line break, can be missing unnoticed.
            assert!(
                !whole
                    || text[end..]
                        .trim_ascii()
                        .iter()
                        .all(|b| !b.is_ascii_whitespace())
            );
        }
        for _ in 0..4000 {
            let mut broken = text.clone();
            for _ in 0..rng.usize(1..6) {
                let at = rng.usize(..broken.len());
                match rng.usize(..4) {
                    0 => broken[at] = rng.u8(..),
                    1 => broken[at] = b"0123456789 .-+e\n%"[rng.usize(..17)],
                    2 => drop(broken.remove(at)),
                    _ => broken.insert(at, broken[rng.usize(..broken.len())]),
                }
            }
            match matrix_market::parse("a", &broken) {
                Ok(a) => assert!(
                    a.col.iter().all(|&j| (j as usize) < a.cols)
                        && a.val.iter().all(|v| v.is_finite())
                ),
                Err(e) => assert_eq!(e.exit_code(), 2, "{e}"),
            }
        }
    }
}
