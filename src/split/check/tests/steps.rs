//! Rows of few and of many steps.

use std::collections::BTreeSet;

use super::{device, mistaken, open, plain};
use crate::kernel::mat::PACKED;
use crate::kernel::{SLICE, axpy, spmv};
use crate::node::opencl::DeviceInfo;
use crate::node::{BLOCK, Buffer, Config, DeviceChoice, Node, Tuning};
use crate::sparse::{Csr, Sell};
use crate::split::{Engine, Operands, Site};

/// `a x` by that site.
fn product(engine: &Engine<f64>, mut site: Site<f64>, x: &Buffer<f64>, a: &Sell<f64>) -> Vec<f64> {
    let mut y = engine.node.buffer(a.rows()).unwrap();
    let operands = Operands {
        out: &mut [&mut y],
        gather: &[x],
        mats: &[a],
        ..Operands::default()
    };
    engine.run(&mut site, operands).unwrap();
    y.read().unwrap().to_vec()
}

/// A kernel that gives another result there is told from the one that other matrices get.
#[test]
fn long_rows_have_a_kernel_of_their_own() {
    let Some(info) = device() else { return };
    let right = [spmv::kernel(), axpy::kernel()];
    let engine = open(DeviceChoice::Index(info.index), &right).unwrap();
    let device = engine.node.device.as_ref().unwrap();
    let wrong = [mistaken(
        spmv::kernel(),
        "STORE_ONCE(y, i, s)",
        "STORE_ONCE(y, i, s + s)",
    )];
    let tuning = Tuning {
        long_registers: device.tuning.registers,
        ..device.tuning
    };
    let programs = Engine::compile_as(device, tuning, &wrong, None).unwrap();
    let n = 4 * BLOCK;
    let x = engine.node.buffer_from(&vec![1.0; n + 12]).unwrap();
    for of_a_row in [2, 12] {
        let a = Csr::from_rows(n, n + 12, |i, row| {
            row.extend((0..of_a_row).map(|k| ((i + k) as u32, 1.0 + (k % 2) as f64)));
        });
        let a = Sell::from_csr(&engine.node, &a).unwrap();
        let mut site = engine.site(spmv::kernel(), "long", n).unwrap();
        engine.set_ratio(&mut site, 1.0);
        let kernel = &site.kernel;
        site.long = Some(programs.handle(kernel.name, &kernel.shape).unwrap());
        let right = 1.5 * of_a_row as f64;
        let expected = if of_a_row == 2 { right } else { 2.0 * right };
        let y = product(&engine, site, &x, &a);
        assert!(y.iter().all(|&v| v == expected), "{of_a_row}");
    }
}

/// Rows of so many values, near the diagonal, which is one; with gaps, here and there one less.
fn near(n: usize, of_a_row: usize, gaps: bool) -> Csr {
    Csr::from_rows(n, n, |i, row| {
        let mut rng = fastrand::Rng::with_seed((100 * i + of_a_row) as u64);
        let less = gaps && rng.usize(..40) == 0;
        let mut columns = BTreeSet::from([i]);
        while columns.len() + usize::from(less) < of_a_row {
            columns.insert((i + rng.usize(1..200)) % n);
        }
        row.extend(columns.iter().map(|&j| (j as u32, rng.f64() - 0.5)));
    })
}

/// Whether the device has the bits of the CPU where a work-item has one row, in the programs of short
/// and of long rows; the matrices with what they are called.
fn have_the_bits_of_the_cpu(info: &DeviceInfo, matrices: &[(String, Csr)]) {
    let kernels = [spmv::kernel()];
    let engine = open(DeviceChoice::Index(info.index), &kernels).unwrap();
    let device = engine.node.device.as_ref().unwrap();
    for long in [0, 1] {
        let source = format!("#undef LONG\n#define LONG {long}\n{}", kernels[0].source);
        let kernel = crate::kernel::Kernel {
            source: source.leak(),
            ..kernels[0]
        };
        let programs = Engine::compile_as(device, plain(), &[kernel], None).unwrap();
        for (what, a) in matrices {
            let n = a.rows;
            let mut rng = fastrand::Rng::with_seed(11);
            let x: Vec<f64> = (0..n).map(|_| rng.f64() - 0.5).collect();
            let x = engine.node.buffer_from(&x).unwrap();
            let a = Sell::from_csr(&engine.node, a).unwrap();
            let bits = |on_device: bool| {
                let mut site = engine.site(spmv::kernel(), "steps", n).unwrap();
                engine.set_ratio(&mut site, if on_device { 1.0 } else { 0.0 });
                if on_device {
                    let of = &site.kernel;
                    site.handle = Some(programs.handle(of.name, &of.shape).unwrap());
                    (site.long, site.tuning) = (None, Some(plain()));
                }
                let y = product(&engine, site, &x, &a);
                y.iter().map(|v| v.to_bits()).collect::<Vec<_>>()
            };
            assert!(bits(true) == bits(false), "{what}, {long}");
        }
    }
}

/// It takes steps one to eight at once, and those of five in another way.
#[test]
fn rows_of_any_number_of_steps_have_the_bits_of_the_cpu() {
    let Some(info) = device() else { return };
    let all = (1..20).flat_map(|k| [(k, false), (k, k > 1)]);
    let name = |k, gaps| format!("{k} of a row, {gaps}");
    let matrices: Vec<_> = all
        .map(|(k, gaps)| (name(k, gaps), near(4 * BLOCK, k, gaps)))
        .collect();
    have_the_bits_of_the_cpu(&info, &matrices);
}

/// A diagonal, the column next to it, and three near it, one of which one row in `gaps` lacks.
fn beside(n: usize, gaps: usize) -> Csr {
    Csr::from_rows(n, n, |i, row| {
        let mut rng = fastrand::Rng::with_seed(i as u64);
        let mut columns = BTreeSet::from([i, (i + 1).min(n - 1)]);
        while columns.len() < 5 - usize::from(i % gaps == 1) && i + 9 < n {
            columns.insert((i + rng.usize(2..200)).min(n - 1));
        }
        row.extend(columns.iter().map(|&j| (j as u32, rng.f64() - 0.5)));
    })
}

/// The diagonal and, of six distances, the four that row `i` has by `lacks(i)`.
fn five_of_seven(n: usize, lacks: impl Fn(usize) -> [usize; 2] + Sync) -> Csr {
    Csr::from_rows(n, n, |i, row| {
        let mut rng = fastrand::Rng::with_seed(i as u64);
        let distances = [-70, -9, -1, 1, 9, 70].into_iter().enumerate();
        let others = distances.filter(|(k, _)| !lacks(i).contains(k));
        let columns = others.map(|(_, d)| i as i64 + d).chain([i as i64]);
        let inside = columns.filter(|j| (0..n as i64).contains(j));
        row.extend(inside.map(|j| (j as u32, rng.f64() - 0.5)));
    })
}

/// How many slices of `a` have so many steps of each kind, and are packed or not.
fn slices(a: &Csr, steps: u32, packed: bool) -> usize {
    let node = Node::open(&Config {
        device: DeviceChoice::None,
        ..Config::default()
    });
    let a = Sell::<f64>::from_csr(&node.unwrap(), a).unwrap();
    let all = a.view(false, true).unwrap().slices;
    let like = |s: &&[u32; 4]| s[2] == steps && (s[3] & PACKED != 0) == packed;
    all.iter().filter(like).count()
}

/// Those of tetrahedra have code of their own.
#[test]
fn slices_of_tetrahedra_have_the_bits_of_the_cpu() {
    let n = 7 * BLOCK + 31;
    let two = 2 | 3 << 16;
    let [whole, gaps] = [usize::MAX, 40].map(|g| beside(n, g));
    let turns = five_of_seven(n, |i| [i % 6, (i + 1 + i / 7 % 5) % 6]);
    // No row of the slice has one of the steps' first or last entries.
    let ends = five_of_seven(n, |i| [5 * (i / 16 % 2), 1 + i % 4]);
    for (a, steps, packed) in [(&whole, two, false), (&gaps, two, false), (&turns, 7, true)] {
        assert!(slices(a, steps, packed) > n / SLICE / 2, "{steps:x}");
    }
    assert!(slices(&ends, 7, true) > n / SLICE / 2);
    let Some(info) = device() else { return };
    let named = [
        ("whole", whole),
        ("gaps", gaps),
        ("turns", turns),
        ("ends", ends),
    ];
    have_the_bits_of_the_cpu(&info, &named.map(|(name, a)| (name.to_owned(), a)));
}
