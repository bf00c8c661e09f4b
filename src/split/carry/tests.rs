//! The exchange by a device with memory of its own, against that by the host.

use std::rc::Rc;

use super::*;
use crate::cluster::Comm;
use crate::cluster::halo::Link;
use crate::kernel::pcg_product;
use crate::kernel::pcg_scalars::LENGTH;
use crate::node::{BLOCK, Config, DeviceChoice, Tuning, opencl};
use crate::sparse::{Csr, Sell};
use crate::split::{Operands, Policy};

const ROWS: usize = 5 * BLOCK - 7;

/// Two neighbours, with near values and far ones.
fn halo() -> Halo {
    let rows = |from: usize, by: usize, n: usize| (0..n).map(move |k| (from + by * k) as u32);
    let first = Link {
        rank: 1,
        send: rows(3 * BLOCK, 3, 70).chain(rows(5, 7, 30)).collect(),
        send_near: 70,
        near: 0..70,
        far: 81..111,
    };
    let second = Link {
        rank: 2,
        send: rows(ROWS - 11, 1, 11).chain(rows(0, 1, 4)).collect(),
        send_near: 11,
        near: 70..81,
        far: 111..115,
    };
    Halo::new(Comm::echo(), vec![first, second])
}

/// The CPU alone, and each device with memory of its own, which takes all rows.
fn engines<T: Real>() -> Vec<Engine<T>> {
    let open = |device, memory| {
        let config = Config {
            device,
            memory,
            threads: Some(2),
            ..Config::default()
        };
        Engine::<T>::open(&config, Policy::Fixed(1.0)).expect("an engine")
    };
    let mut engines = vec![open(DeviceChoice::None, None)];
    match opencl::devices() {
        Err(why) => eprintln!("SKIPPED on devices: {why}"),
        Ok(all) => {
            let all = all.iter().filter(|d| d.fp64 || T::CL == "float");
            let all = all.filter(|d| d.offers(MemoryKind::Discrete));
            let index = |d: &opencl::DeviceInfo| DeviceChoice::Index(d.index);
            engines.extend(all.map(|d| open(index(d), Some(MemoryKind::Discrete))));
        }
    }
    engines
}

fn vector<T: Real>(engine: &Engine<T>, halo: &Halo, k: usize) -> Buffer<T> {
    let mut x = engine.node.buffer_with_halo(ROWS, halo.len()).unwrap();
    let values = (0..ROWS).map(|i| T::of(1.0 / (1.0 + i as f64 + 0.37 * k as f64)));
    let all = x.write().unwrap();
    all.iter_mut().zip(values).for_each(|(x, v)| *x = v);
    // The device alone has them, as after a kernel there; elsewhere this changes nothing.
    x.share(usize::MAX, usize::MAX).unwrap();
    x.split_at(usize::MAX, true).unwrap();
    x
}

fn updates<T: Real>() {
    let engines = engines::<T>();
    for fields in [1, 2, 6] {
        for reach in [Reach::Face, Reach::Node, Reach::Face] {
            let mut first: Option<Vec<Vec<T>>> = None;
            for engine in &engines {
                let halo = halo();
                let mut all: Vec<_> = (0..fields).map(|k| vector(engine, &halo, k)).collect();
                let remote = engine.carrier.is_some();
                assert!(all.iter().all(|x| x.is_remote() == remote));
                let mut lent: Vec<_> = all.iter_mut().collect();
                engine.update(&halo, reach, &mut lent).unwrap();
                // Nothing but messages was copied: 8 bytes a value at most, each way.
                let moved = halo.sent(reach) + halo.received(reach);
                for x in all.iter().filter(|_| remote) {
                    let begun = (x.extent() * size_of::<T>()) as u64;
                    let most = 2 * begun + (moved * size_of::<T>()) as u64;
                    assert!(x.is_remote() && x.copied_bytes() <= most);
                }
                let got = all.iter().map(|x| x.share(0, 0).unwrap().host.to_vec());
                let got: Vec<Vec<T>> = got.collect();
                let near = got[0][padded_rows()..][..70].iter().any(|&v| v != T::ZERO);
                assert!(near, "nothing came");
                assert!(
                    *first.get_or_insert_with(|| got.clone()) == got,
                    "{reach:?}"
                );
            }
        }
    }
}

fn padded_rows() -> usize {
    crate::node::padded(ROWS)
}

#[test]
fn a_device_packs_and_places_what_the_host_would() {
    updates::<f64>();
    updates::<f32>();
}

#[test]
fn rows_that_wait_for_values_are_the_same_bits_on_a_device() {
    let halo = halo();
    let behind = padded_rows();
    // The last two blocks wait.
    let a = Csr::from_rows(ROWS, behind + halo.len(), |i, row| {
        let all = [i.wrapping_sub(1), i + 1].into_iter().filter(|&j| j < ROWS);
        row.extend(all.map(|j| (j as u32, -0.3 - 0.001 * (i % 7) as f64)));
        if i >= 3 * BLOCK && i % 5 == 0 {
            row.push(((behind + i % 81) as u32, -0.7));
        }
    });
    let mut first = None;
    let mut engines = engines::<f64>();
    let as_tuned = engines.len();
    engines.extend(self::engines::<f64>().split_off(1));
    for (n, engine) in engines.iter_mut().enumerate() {
        engine.join(halo.comm(), true);
        let one_row = match &engine.node.device {
            // One row per work-item, as on a GPU: a group is a block.
            Some(d) if n >= as_tuned => {
                let t = Tuning {
                    vector: 1,
                    item: 1,
                    adding: None,
                    ..d.tuning
                };
                let kernels = [pcg_product::kernel::<f64>()];
                let program = Engine::compile_as(d, t, &kernels, None).unwrap();
                engine.program = Some(program);
                Some(t)
            }
            _ => None,
        };
        let halo = Rc::new(self::halo());
        let matrix: Sell<f64> = Sell::from_csr(&engine.node, &a).unwrap();
        assert_eq!(matrix.inner_rows(), 3 * BLOCK);
        let mut site = engine.site(pcg_product::kernel(), "product", ROWS).unwrap();
        site.tuning = one_row;
        engine.keep_border(&mut site, &halo, &matrix);
        let mut x = vector(engine, &halo, 0);
        let mut s = engine.node.buffer(ROWS).unwrap();
        let state = engine.node.buffer_from(&[0.0; LENGTH]).unwrap();
        let mut got = Vec::new();
        for _ in 0..5 {
            let waits = engine.exchange(&halo, &mut x).unwrap();
            assert!(waits.is_some());
            let operands = Operands {
                out: &mut [&mut s],
                own: &[&x],
                gather: &[&x],
                mats: &[&matrix],
                scalars: &[1.0],
                state: Some(&state),
                halo: waits,
                ..Operands::default()
            };
            let sums = engine.run(&mut site, operands).unwrap();
            assert_eq!(site.cut == site.rows, engine.carrier.is_some());
            got.push((sums, s.read().unwrap().to_vec()));
        }
        assert!(got.iter().all(|g| *g == got[0]));
        assert!(*first.get_or_insert_with(|| got.clone()) == got, "bits");
    }
}
