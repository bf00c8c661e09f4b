//! `mpirun` of the built program, and the fields that it leaves.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use crate::folder::{Folder, Said, said};

/// Held while ranks run: they would only be in each other's way.
pub static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// `mpirun` with `ranks` ranks of the program in `folder`, or `None`, said loudly, where this
/// machine or build cannot.
pub fn mpirun(folder: &Folder, ranks: usize) -> Option<Command> {
    let program = env!("CARGO_BIN_EXE_couloir");
    let mut command = launcher(folder, ranks)?;
    command.arg(program);
    Some(command)
}

/// The same, without the program.
pub fn launcher(folder: &Folder, ranks: usize) -> Option<Command> {
    let program = env!("CARGO_BIN_EXE_couloir");
    let version = Command::new(program).arg("--version").output().ok()?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    if version.contains("without MPI") {
        eprintln!("SKIPPED: this build has no MPI (cargo test --features mpi)");
        return None;
    }
    let mpirun = couloir::cluster::launcher::launcher();
    if Command::new(mpirun).arg("--version").output().is_err() {
        eprintln!("SKIPPED: mpirun is not installed");
        return None;
    }
    let mut command = Command::new(mpirun);
    // MPICH's launcher knows none of these flags, and needs none.
    if version.contains("Open MPI") {
        command.args([
            "--oversubscribe",
            "--allow-run-as-root",
            "--bind-to",
            "none",
        ]);
        // Each test is a job of its own.
        command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
    }
    command
        .args(["-n", &ranks.to_string()])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("XDG_CACHE_HOME", folder.path(""))
        .stdin(Stdio::null());
    Some(command)
}

/// `couloir run ARGS` on `ranks` ranks with its results in the folder `out` and the report in
/// `report.json`.
pub fn run(folder: &Folder, ranks: usize, args: &[&str]) -> Option<Said> {
    let mut command = mpirun(folder, ranks)?;
    command
        .arg("run")
        .args(args)
        .arg("--out")
        .arg(folder.path("out"))
        .arg("--json")
        .arg(folder.path("report.json"));
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    Some(said(&mut command))
}

/// Velocity and pressure by the place of the cell, from all pieces of the last step in `out`.
pub type Fields = BTreeMap<[i64; 3], [f64; 4]>;

/// Reads the `.vtu` files of `folder/out` (one step's).
pub fn fields(folder: &Folder) -> Fields {
    let mut all = Fields::new();
    for name in folder.list("out") {
        if name.ends_with(".vtu") {
            read(&folder.path("out").join(name), &mut all);
        }
    }
    all
}

fn read(path: &Path, all: &mut Fields) {
    let bytes = std::fs::read(path).expect("a file");
    let mark = b"<AppendedData encoding=\"raw\">\n_";
    let at = bytes
        .windows(mark.len())
        .position(|w| w == mark)
        .expect("data")
        + mark.len();
    let mut rest = &bytes[at..];
    let mut block = || {
        let (size, tail) = rest.split_at(8);
        let size = u64::from_le_bytes(size.try_into().expect("8 bytes")) as usize;
        let (body, tail) = tail.split_at(size);
        rest = tail;
        body
    };
    let words = |b: &[u8]| -> Vec<u64> {
        let chunks = b.chunks_exact(8);
        chunks
            .map(|c| u64::from_le_bytes(c.try_into().expect("8 bytes")))
            .collect()
    };
    let numbers = |b: &[u8]| -> Vec<f64> { words(b).into_iter().map(f64::from_bits).collect() };
    let points = numbers(block());
    let (corners, ends) = (words(block()), words(block()));
    block();
    let (velocity, pressure) = (numbers(block()), numbers(block()));
    let mut start = 0;
    for (c, &end) in ends.iter().enumerate() {
        let corners = &corners[start as usize..end as usize];
        let mut centre = [0.0; 3];
        for &p in corners {
            for k in 0..3 {
                centre[k] += points[3 * p as usize + k] / corners.len() as f64;
            }
        }
        let place = centre.map(|x| (x * 1e7).round() as i64);
        let u = &velocity[3 * c..3 * c + 3];
        let twice = all.insert(place, [u[0], u[1], u[2], pressure[c]]);
        assert!(
            twice.is_none(),
            "{}: a cell is written twice",
            path.display()
        );
        start = end;
    }
}

/// Largest differences of velocity and pressure, relative to the largest values; pressures are
/// compared up to a constant.
pub fn difference(a: &Fields, b: &Fields) -> [f64; 2] {
    assert_eq!(a.len(), b.len(), "numbers of cells");
    // Centres may round either way.
    let find = |place: &[i64; 3]| {
        let near = |q: &[i64; 3]| (0..3).all(|k| (q[k] - place[k]).abs() <= 2);
        let from = [place[0] - 2, i64::MIN, i64::MIN];
        let to = [place[0] + 3, i64::MIN, i64::MIN];
        b.range(from..to).find(|(q, _)| near(q)).map(|(_, v)| v)
    };
    let pairs: Vec<([f64; 4], [f64; 4])> = a
        .iter()
        .map(|(place, v)| (*v, *find(place).expect("the same cells")))
        .collect();
    let n = pairs.len() as f64;
    let shift = pairs.iter().map(|(v, w)| v[3] - w[3]).sum::<f64>() / n;
    let (mut off, mut size) = ([0.0f64; 2], [1e-300f64; 2]);
    for (v, w) in &pairs {
        for k in 0..3 {
            off[0] = off[0].max((v[k] - w[k]).abs());
            size[0] = size[0].max(v[k].abs());
        }
        off[1] = off[1].max((v[3] - w[3] - shift).abs());
        size[1] = size[1].max(v[3].abs());
    }
    [off[0] / size[0], off[1] / size[1]]
}
