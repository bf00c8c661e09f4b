//! Devices that miscompute are found out.

mod ahead;
mod elements;
#[cfg(target_arch = "x86_64")]
mod readings;
mod steps;

use std::path::Path;

use crate::kernel::pcg_scalars::{KEPT, LATER, OWED, STOP};
use crate::kernel::{Kernel, Real, axpy, dot, list, pcg_step};
use crate::node::opencl::{self, DeviceInfo};
use crate::node::topology::allowed_cores;
use crate::node::{BLOCK, Config, DeviceChoice, Node, Tuning, Turn};
use crate::split::launch::is_small;
use crate::split::source::source;
use crate::split::{Engine, Policy};
use crate::{Error, Result};

use super::random_case;

/// The device that `auto` takes.
fn device() -> Option<DeviceInfo> {
    let mut notes = Vec::new();
    let found = opencl::best(true, &mut notes, Turn::default(), 2);
    if found.is_none() {
        eprintln!("SKIPPED: {notes:?}");
    }
    found
}

fn open(device: DeviceChoice, kernels: &[Kernel<f64>]) -> Result<Engine<f64>> {
    let config = Config {
        device,
        ..Config::default()
    };
    Engine::open_with(&config, Policy::default(), kernels, None::<&Path>)
}

/// `kernel` with `right` in its device source made `wrong`.
fn mistaken(kernel: Kernel<f64>, right: &str, wrong: &str) -> Kernel<f64> {
    assert!(kernel.source.contains(right), "{}", kernel.source);
    let source = kernel.source.replace(right, wrong).leak();
    Kernel { source, ..kernel }
}

fn caller_is_pinned() -> bool {
    let set = nix::sched::sched_getaffinity(nix::unistd::Pid::from_raw(0)).unwrap();
    let allowed = allowed_cores().iter();
    allowed.filter(|&&c| set.is_set(c).unwrap()).count() == 1
}

#[test]
fn a_device_that_computes_well_is_taken() {
    if device().is_none() {
        return;
    }
    let engine = open(DeviceChoice::Auto, &[axpy::kernel(), dot::kernel()]).unwrap();
    assert!(engine.node.device.is_some(), "{:?}", engine.node.notes);
    assert!(caller_is_pinned());
}

#[test]
fn a_device_that_miscomputes_is_left_out() {
    let Some(info) = device() else { return };
    let wrong = [
        mistaken(axpy::kernel(), "LOAD(y, i))", "-LOAD(y, i))"),
        // Not a number compares as neither less nor greater than the tolerance.
        mistaken(axpy::kernel(), "LOAD(y, i))", "(realv)(NAN))"),
        // Small, but far above rounding.
        mistaken(axpy::kernel(), "LOAD(y, i))", "LOAD(y, i) * 1.0000000001)"),
    ];
    for kernel in wrong {
        let kernels = [dot::kernel(), kernel];
        let engine = open(DeviceChoice::Auto, &kernels).unwrap();
        assert!(engine.node.device.is_none() && engine.program.is_none());
        assert_eq!(engine.node.pool.threads(), allowed_cores().len());
        assert!(caller_is_pinned());
        let notes = engine.node.notes.join("\n");
        for part in [
            &info.name,
            "kernel axpy miscomputes",
            "update the driver",
            "going on with the CPU alone",
        ] {
            assert!(notes.contains(part), "{part}: {notes}");
        }
        assert!(!notes.contains("emulated"), "{notes}");

        let error = open(DeviceChoice::Index(info.index), &kernels)
            .map(|_| ())
            .unwrap_err();
        assert!(matches!(error, Error::Device { .. }), "{error}");
        assert!(error.to_string().contains("axpy miscomputes"), "{error}");
        assert_eq!(error.exit_code(), 1);
    }
}

#[test]
fn a_device_that_does_not_compile_the_kernels_is_left_out() {
    let Some(info) = device() else { return };
    let kernels = [mistaken(axpy::kernel(), "STORE(", "NO_SUCH_THING(")];
    let engine = open(DeviceChoice::Auto, &kernels).unwrap();
    assert!(engine.node.device.is_none());
    let notes = engine.node.notes.join("\n");
    assert!(notes.contains("NO_SUCH_THING"), "{notes}");
    assert!(notes.contains("going on with the CPU alone"), "{notes}");
    let error = open(DeviceChoice::Index(info.index), &kernels)
        .map(|_| ())
        .unwrap_err();
    assert!(error.to_string().contains("NO_SUCH_THING"), "{error}");
}

/// One row per work-item, with all that a device can be given.
fn plain() -> Tuning {
    Tuning {
        vector: 1,
        item: 1,
        group: BLOCK,
        matrix_group: BLOCK,
        registers: None,
        long_registers: None,
        ahead: true,
        adding: None,
        waits: true,
        together: None,
        together_registers: None,
        together_ahead_registers: None,
        together_mb: None,
        together_large_mb: None,
        together_large_registers: None,
        beside: false,
        flush: true,
    }
}

/// The words of a source, comments left out.
fn words(source: &str) -> Vec<String> {
    let mut code = String::new();
    for (i, part) in source.split("/*").enumerate() {
        code.push_str(if i == 0 {
            part
        } else {
            part.split_once("*/").expect("a comment ends").1
        });
    }
    let word = |c: char| !(c.is_alphanumeric() || "_.".contains(c));
    code.split(word).map(str::to_owned).collect()
}

#[test]
fn the_source_in_single_precision_has_no_double() {
    let double = |w: &String| w.contains("double") || w.contains("fp64");
    // 0.5 is a double, 0.5f is not.
    let literal = |w: &String| w.contains('.') && w.parse::<f64>().is_ok();
    let single = words(&source(&list::<f32>(), &plain()));
    assert!(single.len() > 1000);
    let found: Vec<_> = single.iter().filter(|w| double(w) || literal(w)).collect();
    assert!(found.is_empty(), "{found:?}");
    let both = words(&source(&list::<f64>(), &plain()));
    assert!(both.iter().any(double));
}

/// Section 6.9 of the OpenCL C specification; most compilers take it all the same.
#[test]
fn the_source_has_no_macros_of_any_number_of_arguments() {
    let all = words(&source(&list::<f64>(), &plain()));
    assert!(all.iter().any(|w| w == "EACH_ENTRY"));
    let found: Vec<_> = all
        .iter()
        .filter(|w| *w == "..." || *w == "__VA_ARGS__")
        .collect();
    assert!(found.is_empty(), "{found:?}");
}

/// Devices of one row per work-item have code for slices that share their steps and their values,
/// full ones and others: tests/node/kernels.rs runs it with these seeds.
#[test]
fn some_random_matrices_have_values_that_devices_are_given() {
    let node = Node::open(&Config {
        device: DeviceChoice::None,
        ..Config::default()
    })
    .unwrap();
    let small: Vec<_> = list::<f64>()
        .into_iter()
        .filter(|k| is_small(&k.shape))
        .collect();
    let mut given = 0;
    for kernel in &small {
        for (seed, rows) in [257, 7 * BLOCK + 31].into_iter().enumerate() {
            let case = random_case(&node, *kernel, rows, seed as u64).unwrap();
            let [start, values] = [case.mats[0].usual()[9], case.mats[0].same()[0]];
            given += usize::from(start != u32::MAX);
            assert!(start != u32::MAX || values == 0);
        }
    }
    println!("{given} of {}", 2 * small.len());
    assert!(given >= 2 && given < 2 * small.len(), "{given}");
}

/// What processors without AVX-512, and those without fused multiply-adds, run.
#[cfg(target_arch = "x86_64")]
#[test]
fn older_processors_compute_the_same_bits() {
    use crate::kernel::older_lists;
    fn compare<T: Real>() {
        let config = Config {
            device: DeviceChoice::None,
            threads: Some(1),
            ..Config::default()
        };
        let engine = Engine::<T>::open(&config, Policy::default()).unwrap();
        let [narrow, soft] = older_lists();
        for ((fast, narrow), soft) in list::<T>().into_iter().zip(narrow).zip(soft) {
            for (seed, rows) in [77, 2 * crate::node::BLOCK + 77, 3000]
                .into_iter()
                .enumerate()
            {
                let results = [fast, narrow, soft].map(|kernel| {
                    let mut case = random_case(&engine.node, kernel, rows, seed as u64).unwrap();
                    case.run(&engine, 0.0).unwrap()
                });
                assert!(results[0] == results[1], "{}, {rows} rows, AVX2", fast.name);
                assert!(results[0] == results[2], "{}, {rows} rows, soft", fast.name);
            }
        }
    }
    compare::<f64>();
    compare::<f32>();
}

#[test]
fn a_step_after_the_end_pays_what_is_owed_and_leaves_the_sum_for_any_cut() {
    if device().is_none() {
        return;
    }
    let engine = open(DeviceChoice::Auto, &[pcg_step::kernel()]).unwrap();
    assert!(engine.node.device.is_some(), "{:?}", engine.node.notes);
    let n = 4 * BLOCK;
    let mut case = super::random_case(&engine.node, pcg_step::kernel(), n, 1).unwrap();
    let state = case.state.as_mut().unwrap().write().unwrap();
    (state[STOP], state[LATER], state[OWED]) = (2.0, 0.0, 0.0);
    let kept = state[KEPT];
    let before: Vec<Vec<f64>> = (case.inout.iter())
        .map(|b| b.share(0, 0).unwrap().host.to_vec())
        .collect();
    let p = case.own[0].share(0, 0).unwrap().host.to_vec();
    let residuals = p.iter().zip(&before[1]).map(|(p, o)| p - kept * o);
    let sum: f64 = residuals.map(|r| r * r).sum();
    let first = case.run(&engine, 0.0).unwrap();
    for cut in [0.0, 0.5, 1.0] {
        let got = case.run(&engine, cut).unwrap();
        assert_eq!(got.vectors, before, "cut {cut}");
        assert_eq!(got, first, "cut {cut}");
        assert!((got.reductions[0] - sum).abs() < 1e-12 * sum, "cut {cut}");
    }
    assert_eq!(case.reference().unwrap().vectors, before);

    let mut after = before.clone();
    for (i, y) in after[0].iter_mut().enumerate() {
        *y = 0.3f64.mul_add(before[1][i], *y);
    }
    case.state.as_mut().unwrap().write().unwrap()[OWED] = 0.3;
    assert_eq!(case.reference().unwrap().vectors, after);
    for cut in [0.0, 0.5, 1.0] {
        assert_eq!(case.run(&engine, cut).unwrap().vectors, after, "cut {cut}");
    }
}
