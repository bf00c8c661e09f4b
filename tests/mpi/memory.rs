//! Memory that ranks hold.

use crate::folder::Folder;
use crate::ranks::run;

/// Memory after the start-up: least and most over ranks.
fn held(cells: usize, ranks: usize) -> Option<[f64; 2]> {
    let folder = Folder::new();
    let walls = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];
    let walls = walls.map(|name| format!("boundary.{name}.type = \"wall\"\n"));
    let text = format!(
        "mesh.box.cells = [{cells}, {cells}, {cells}]\nfluid.viscosity = 1\n\
         time = {{ steps = 1, dt = 1e-3 }}\n{}",
        walls.concat()
    );
    let case = folder.write("case.toml", &text);
    let said = run(
        &folder,
        ranks,
        &[&case, "--device=none", "--threads=1", "--quiet"],
    )?;
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    let report = folder.json("report.json");
    let bytes = |name| report["cluster"]["resident_bytes"][name].as_f64();
    let own = report["resident_bytes"].as_f64().expect("bytes");
    Some(["min", "max"].map(|name| bytes(name).unwrap_or(own)))
}

/// Beyond what a process holds anyhow, memory goes by the cells of a rank; rank 0, which has dealt
/// out the mesh, has given it back. (The ratio is 1.11; 1.16 where threads keep what they freed, 1.35
/// where freed memory is not given back at all.)
#[test]
fn memory_goes_by_the_cells_of_a_rank() {
    let Some([least, _]) = held(4, 4) else {
        return;
    };
    let [[one, _], [_, four]] = [held(44, 1), held(44, 4)].map(|h| h.expect("MPI is here"));
    let (one, four) = (one - least, four - least);
    eprintln!("a process {least:.3e} B; beyond it 1 rank {one:.3e}, the most of 4 {four:.3e} B");
    assert!(4.0 * four < 1.15 * one, "{one} {four}");
}
