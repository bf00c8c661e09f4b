//! Rows of few and of many steps.

use std::collections::BTreeSet;

use super::{device, mistaken, open, plain};
use crate::kernel::{axpy, spmv};
use crate::node::{BLOCK, Buffer, DeviceChoice, Tuning};
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

/// Where a work-item has one row it takes steps one to eight at once, and those of five in another way.
#[test]
fn rows_of_any_number_of_steps_have_the_bits_of_the_cpu() {
    let Some(info) = device() else { return };
    let kernels = [spmv::kernel()];
    let engine = open(DeviceChoice::Index(info.index), &kernels).unwrap();
    let device = engine.node.device.as_ref().unwrap();
    let mut rng = fastrand::Rng::with_seed(11);
    let n = 4 * BLOCK;
    let x: Vec<f64> = (0..n).map(|_| rng.f64() - 0.5).collect();
    let x = engine.node.buffer_from(&x).unwrap();
    for long in [0, 1] {
        let source = format!("#undef LONG\n#define LONG {long}\n{}", kernels[0].source);
        let kernel = crate::kernel::Kernel {
            source: source.leak(),
            ..kernels[0]
        };
        let programs = Engine::compile_as(device, plain(), &[kernel], None).unwrap();
        for (of_a_row, gaps) in (1..20).flat_map(|k| [(k, false), (k, k > 1)]) {
            let a = near(n, of_a_row, gaps);
            let a = Sell::from_csr(&engine.node, &a).unwrap();
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
            assert!(
                bits(true) == bits(false),
                "{of_a_row} of a row, {gaps}, {long}"
            );
        }
    }
}
