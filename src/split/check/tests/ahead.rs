//! Kernels that load at the usual columns before they know the slice.

use super::{device, mistaken, open, plain};
use crate::kernel::pcg_scalars::STOP;
use crate::kernel::{Kernel, pcg_product, pcg_residual};
use crate::node::{Buffer, Config, DeviceChoice, Node, Tuning};
use crate::sparse::{Csr, Repeated, Sell};
use crate::split::launch::Programs;
use crate::split::{Engine, Operands, Site};

/// Cells of a box along each axis: most lines of slices are inside.
const BOX: [usize; 3] = [161, 11, 9];

/// What each cell of a box has of its six neighbours: `value`, by row and column.
fn beside(value: impl Fn(usize, usize) -> f64 + Sync) -> Csr {
    let [x, y, z] = BOX;
    let n = x * y * z;
    let steps = [(x * y, z), (x, y), (1, x)];
    Csr::from_rows(n, n, |i, row| {
        let below = steps.iter().filter(|(s, k)| i / s % k > 0);
        let above = steps.iter().rev().filter(|(s, k)| i / s % k + 1 < *k);
        let columns = below.map(|(s, _)| i - s).chain(above.map(|(s, _)| i + s));
        row.extend(columns.map(|j| (j as u32, value(i, j))));
    })
}

/// Those that have such a form.
fn kernels() -> [Kernel<f64>; 2] {
    [pcg_product::kernel(), pcg_residual::kernel()]
}

/// The bits of what a kernel makes of `p`, in the place of each of its vectors, and of its two sums.
fn bits(engine: &Engine<f64>, mut site: Site<f64>, p: &Buffer<f64>, a: &Sell<f64>) -> Vec<u64> {
    let shape = site.kernel.shape;
    let mut s = engine.node.buffer(a.rows()).unwrap();
    let mut state = engine.node.buffer(shape.state.max(1)).unwrap();
    if shape.state > 0 {
        state.write().unwrap()[STOP] = 0.0;
    }
    let root: Vec<f64> = (0..a.rows()).map(|i| 1.0 + (i % 3) as f64).collect();
    let root = Repeated::new(&engine.node, &root).unwrap();
    let operands = Operands {
        out: &mut [&mut s],
        own: &vec![p; shape.own],
        repeated: &vec![&root; shape.repeated],
        gather: &[p],
        mats: &[a],
        scalars: &[0.7],
        state: (shape.state > 0).then_some(&state),
        ..Operands::default()
    };
    let sums = engine.run(&mut site, operands).unwrap();
    let all = s.read().unwrap().iter().chain(&sums[..2]);
    all.map(|v| v.to_bits()).collect()
}

/// Matrices of boxes by what they are called, and whether devices load ahead there.
fn boxes(engine: &Engine<f64>) -> Vec<(&'static str, Sell<f64>, bool)> {
    let mut rng = fastrand::Rng::with_seed(5);
    let own: Vec<f64> = (0..BOX.iter().product()).map(|_| rng.f64() - 0.5).collect();
    let like = |i: usize, j: usize| if i < j { -0.25 } else { -0.125 };
    // Here and there a row that is not like others, and a zero of either sign.
    let odd = |i: usize, j: usize| match i % 700 {
        0 => own[i],
        9 => 0.0,
        19 => -0.0,
        _ => like(i, j),
    };
    // Slices at a wall lack the same steps with other values than those that are given.
    let walled = |i: usize, j: usize| match i < BOX[0] * BOX[1] {
        true => -0.5,
        false => like(i, j),
    };
    let all = [
        ("like cells", beside(like), true),
        ("a wall of its own", beside(walled), true),
        ("odd cells", beside(odd), true),
        ("cells of their own", beside(|i, j| own[i] * own[j]), false),
    ];
    let fixed = |a: &Csr| Sell::fixed(&engine.node, a).unwrap();
    all.map(|(what, a, same)| (what, fixed(&a), same)).into()
}

fn vector(engine: &Engine<f64>) -> Buffer<f64> {
    let mut rng = fastrand::Rng::with_seed(7);
    let p: Vec<f64> = (0..BOX.iter().product()).map(|_| rng.f64() - 0.5).collect();
    engine.node.buffer_from(&p).unwrap()
}

#[test]
fn boxes_of_like_cells_are_told_from_others() {
    let node = Config {
        device: DeviceChoice::None,
        ..Config::default()
    };
    let engine = Engine::on(Node::open(&node).unwrap(), Default::default());
    for (what, a, same) in boxes(&engine) {
        assert_eq!(a.is_same(), same, "{what}");
    }
}

/// An engine on the device, and programs of `compiled` for launches by `tuning`, or as the device's.
fn on_device(compiled: &[Kernel<f64>], tuning: Option<Tuning>) -> Option<(Engine<f64>, Programs)> {
    let engine = open(DeviceChoice::Index(device()?.index), &kernels()).unwrap();
    let device = engine.node.device.as_ref().unwrap();
    let tuning = tuning.unwrap_or(device.tuning);
    let programs = Engine::compile_as(device, tuning, compiled, None).unwrap();
    Some((engine, programs))
}

#[test]
fn kernels_that_load_ahead_have_the_bits_of_the_cpu() {
    let Some((engine, programs)) = on_device(&kernels(), Some(plain())) else {
        return;
    };
    let (p, boxes) = (vector(&engine), boxes(&engine));
    let all = kernels().map(|k| boxes.iter().map(move |b| (k, b)));
    for (kernel, (what, a, _)) in all.into_iter().flatten() {
        let made = |on_device: bool| {
            let mut site = engine.site(kernel, "ahead", a.rows()).unwrap();
            engine.set_ratio(&mut site, if on_device { 1.0 } else { 0.0 });
            if on_device {
                // Of matrices that it is not meant for, too.
                site.handle = Some(programs.ahead(&kernel).unwrap().unwrap());
                (site.long, site.ahead, site.tuning) = (None, None, Some(plain()));
            }
            bits(&engine, site, &p, a)
        };
        assert!(made(true) == made(false), "{}, {what}", kernel.name);
    }
}

/// A kernel that gives another result there is told from the one that other matrices get.
#[test]
fn matrices_of_the_same_slices_have_a_kernel_of_their_own() {
    let kernel = pcg_product::kernel();
    let wrong = mistaken(kernel, "STORE(s, i, t)", "STORE(s, i, t + t)");
    let Some((engine, programs)) = on_device(&[wrong], None) else {
        return;
    };
    let p = vector(&engine);
    for (what, a, same) in boxes(&engine) {
        let site = |ahead: bool| {
            let mut site = engine.site(kernel, "ahead", a.rows()).unwrap();
            engine.set_ratio(&mut site, 1.0);
            let own = || programs.handle(kernel.name, &kernel.shape).unwrap();
            site.ahead = ahead.then(own);
            bits(&engine, site, &p, &a)
        };
        assert_eq!(site(true) != site(false), same, "{what}");
    }
}
