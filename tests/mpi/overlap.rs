//! The exchange is hidden behind inner rows, as far as these last.

use std::path::Path;

use couloir::cluster::network::Network;
use couloir::cluster::place::Place;
use couloir::cluster::{Comm, mpi_library};
use couloir::flow::case::Case;
use couloir::flow::scaling::{Steps, measure};
use couloir::node::Turn;

use crate::ranks::ONE_AT_A_TIME;

/// Measurements, at most: one in which others take the core away says nothing.
const ATTEMPTS: usize = 6;

/// The second of four cubes in a row sends two faces over Gigabit Ethernet, its neighbours being as
/// quick: of small cubes inner rows hide a part of that, of larger ones all. (Quiet: 24^3 39 of 39 %
/// that can be, 40^3 69 of 68 %, 58^3 at least 97 of 100 %.)
#[test]
fn what_inner_rows_take_is_hidden() {
    if mpi_library().is_none() {
        eprintln!("SKIPPED: a build without MPI cannot cut a mesh into parts");
        return;
    }
    let (ranks, rank) = (4, 1);
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    for n in [24, 48] {
        let walls = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];
        let walls = walls.map(|name| format!("boundary.{name}.type = \"wall\"\n"));
        let text = format!(
            "mesh.box = {{ cells = [{}, {n}, {n}], max = [{ranks}, 1, 1] }}\n\
             fluid.viscosity = 1\ntime = {{ steps = 1, dt = 1e-3 }}\n\
             node = {{ device = \"none\", threads = 1 }}\n{}",
            ranks * n,
            walls.concat()
        );
        let case = Case::parse(&text, Path::new("row.toml"), &[]).expect("a case");
        let comm = Comm::absent(rank, ranks);
        let (_, gige) = Network::KNOWN[0];
        comm.pretend(Some(gige));
        let place = Place {
            turn: Turn { index: 0, of: 1 },
            cores: Vec::new(),
            crowded: false,
            machines: (0..ranks).collect(),
        };
        let mut seen = Vec::new();
        let hidden = (0..ATTEMPTS).any(|_| {
            let costs = measure(&case, &comm, &place, Steps::default()).expect("costs");
            let exchange_s = gige.exchange_s(8.0 * costs.halo_most as f64);
            assert!(costs.exchange.min_s > 0.99 * exchange_s, "{costs:?}");
            let shares = [costs.hidden_share(), costs.hidden_most()].map(|s| s.expect("ranks"));
            seen.push(shares);
            shares[0] > 0.8 * shares[1]
        });
        eprintln!("{n}^3 a rank, hidden and at most: {seen:.3?}");
        assert!(hidden, "{n}: {seen:.3?}");
    }
}
