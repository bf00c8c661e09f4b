//! The ways to ask ahead of time for what is read: a matrix's values, vectors.

use super::super::random_case;
use crate::kernel::reading::Reading::{self, Far, Near, Once};
use crate::kernel::{gspmv, pcg_product, pcg_step, simd, spmv, spmv_add, stream};
use crate::node::{BLOCK, Config, DeviceChoice};
use crate::split::{Engine, Policy};

fn engine() -> Engine<f64> {
    let config = Config {
        device: DeviceChoice::None,
        threads: Some(1),
        ..Config::default()
    };
    Engine::open(&config, Policy::default()).unwrap()
}

/// Each way to ask for values, of matrices with columns near and far.
#[test]
fn matrices_give_the_same_bits_however_they_are_read() {
    if !simd::has_v4() {
        return eprintln!("SKIPPED: this processor has no AVX-512");
    }
    let mut engine = engine();
    // Columns that are far apart are asked for, too.
    (engine.node.caches.second_bytes, engine.node.caches.bypassed) = (0, false);
    for kernel in [
        spmv::kernel(),
        spmv_add::kernel(),
        gspmv::kernel(),
        pcg_product::kernel(),
    ] {
        for (rows, seed) in [77, 2 * BLOCK + 77, 3000]
            .iter()
            .flat_map(|&n| [(n, 4), (n, 5)])
        {
            let [near, once, far] = [Near, Once, Far].map(|reading| {
                let mut case = random_case(&engine.node, kernel, rows, seed).unwrap();
                for a in &mut case.mats {
                    a.read_as(reading);
                    assert_eq!(a.view(false, true).unwrap().reading, reading);
                }
                let got = case.run(&engine, 0.0).unwrap();
                assert!(
                    got.distance(&case.reference().unwrap(), 1.0) < 1e-12,
                    "{}",
                    kernel.name
                );
                got
            });
            assert!(
                near == once && near == far,
                "{}, {rows} rows, seed {seed}",
                kernel.name
            );
        }
    }
}

/// A step reads several vectors at once, which are asked for or not: by a path that the engine takes.
#[test]
fn steps_give_the_same_bits_whether_their_vectors_are_asked_for_or_not() {
    let mut engine = engine();
    for (rows, seed) in [(1, 1), (77, 2), (2 * BLOCK + 77, 3), (3000, 4), (3000, 5)] {
        let [plain, ahead] = [false, true].map(|asked| {
            engine.node.caches.streams_asked = asked;
            let kernel = pcg_step::kernel();
            assert_eq!(stream::ahead(&kernel, !asked, asked).is_some(), asked);
            let mut case = random_case(&engine.node, kernel, rows, seed).unwrap();
            let got = case.run(&engine, 0.0).unwrap();
            assert!(got.distance(&case.reference().unwrap(), 1.0) < 1e-12);
            got
        });
        assert!(plain == ahead, "{rows} rows, seed {seed}");
    }
}

/// What [`Reading::Once`](crate::kernel::reading::Reading) is chosen by.
#[test]
fn matrices_are_read_once_where_outer_caches_are_bypassed_and_columns_far() {
    let mut node = engine().node;
    node.caches.second_bytes = 0;
    for (bypassed, seed) in [(false, 4), (false, 5), (true, 4), (true, 5)] {
        node.caches.bypassed = bypassed;
        // Those of odd seeds have columns too far apart for 16 bits.
        let case = random_case::<f64>(&node, spmv::kernel(), 3000, seed).unwrap();
        let reading = case.mats[0].view(false, true).unwrap().reading;
        assert_eq!(reading == Reading::Once, bypassed && seed == 5);
    }
}
