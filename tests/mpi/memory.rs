//! Memory that ranks hold.

use crate::folder::Folder;
use crate::ranks::run;

/// Memory of a case after the start-up: least and most over ranks.
fn held(case: &str, ranks: usize) -> Option<[f64; 2]> {
    let folder = Folder::new();
    let text = format!("fluid.viscosity = 1\ntime = {{ steps = 1, dt = 1e-3 }}\n{case}");
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

/// A box with walls around. The cells' layers grow by `stretch`; those of uniform boxes are stored
/// once.
fn walled(cells: usize, stretch: f64) -> String {
    let walls = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];
    let walls = walls.map(|name| format!("boundary.{name}.type = \"wall\"\n"));
    format!(
        "mesh.box.cells = [{cells}, {cells}, {cells}]\n\
         mesh.box.stretch = [{stretch:?}, {stretch:?}, {stretch:?}]\n{}",
        walls.concat()
    )
}

/// A box without walls.
fn periodic(cells: usize, shape: &str) -> String {
    let pairs = ["x", "y", "z"].map(|axis| {
        let side = |a: &str, b: &str| {
            format!("boundary.{axis}{a} = {{ type = \"periodic\", with = \"{axis}{b}\" }}\n")
        };
        side("min", "max") + &side("max", "min")
    });
    format!(
        "mesh.box.cells = [{cells}, {cells}, {cells}]\nmesh.box.shape = \"{shape}\"\n\
         initial.field = \"taylor-green-3d\"\n{}",
        pairs.concat()
    )
}

/// Beyond what a process holds anyhow, memory goes by the cells of a rank; rank 0, which has dealt
/// out the mesh, has given it back. (The ratios are 0.74 and 0.54: one rank keeps its mesh whole, for
/// profiles, parts no more of theirs than output needs.) Whole uniform boxes store less per cell than their parts,
/// whose lines are short, and those less than others' parts.
#[test]
fn memory_goes_by_the_cells_of_a_rank() {
    let Some([least, _]) = held(&walled(4, 0.0), 4) else {
        return;
    };
    let beyond = |stretch, ranks| {
        let held = held(&walled(64, stretch), ranks).expect("MPI is here");
        held.map(|bytes| bytes - least)
    };
    let [[one, _], [_, four]] = [1, 4].map(|ranks| beyond(1.0, ranks));
    let [[alone, _], [_, uniform]] = [1, 4].map(|ranks| beyond(0.0, ranks));
    eprintln!(
        "a process {least:.3e} B; beyond it 1 rank {one:.3e}, the most of 4 {four:.3e}; of a \
         uniform box {alone:.3e}, {uniform:.3e} B"
    );
    assert!(4.0 * four < 0.79 * one, "{one} {four}");
    assert!(4.0 * uniform < 0.59 * one, "{one} {uniform}");
}

/// All that a process holds, MPI's share of it, too, comes to no more than a fifth above a quarter
/// on 4 ranks, also where all sides of a part have neighbours.
#[test]
fn four_ranks_hold_a_quarter_each_within_a_fifth() {
    for (cells, shape) in [(64, "hexahedra"), (35, "tetrahedra")] {
        let case = periodic(cells, shape);
        let Some([one, _]) = held(&case, 1) else {
            return;
        };
        let [_, four] = held(&case, 4).expect("MPI is here");
        let ratio = 4.0 * four / one;
        eprintln!("{shape}: 1 rank {one:.3e} B, the most of 4 {four:.3e}, ratio {ratio:.3}");
        assert!(ratio < 1.2, "{shape}: {one} {four}");
    }
}
