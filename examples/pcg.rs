//! Time of the pressure solver on the Laplacian of a cube, `n^3` unknowns, values given on the
//! sides, right-hand side 1: `cargo run --release --example pcg -- N [DEVICE|none] [RATIO]
//! [THREADS] [TOLERANCE] [RUNS] [POWER] [DROP]`; with POWER 1 or more, behind a factorised sparse
//! approximate inverse.

use std::time::Instant;

use couloir::linear::Pcg;
use couloir::linear::precond::Pattern;
use couloir::node::{Config, DeviceChoice};
use couloir::sparse::Csr;
use couloir::split::{Engine, Policy};

/// 7-point Laplacian of `n^3` cells.
fn laplacian(n: usize) -> Csr {
    Csr::from_rows(n * n * n, n * n * n, |i, row| {
        let (x, y, z) = (i % n, i / n % n, i / (n * n));
        let mut beside = |inside: bool, j: usize| {
            if inside {
                row.push((j as u32, -1.0));
            }
        };
        beside(z > 0, i.wrapping_sub(n * n));
        beside(y > 0, i.wrapping_sub(n));
        beside(x > 0, i.wrapping_sub(1));
        beside(x + 1 < n, i + 1);
        beside(y + 1 < n, i + n);
        beside(z + 1 < n, i + n * n);
        row.push((i as u32, 6.0));
    })
}

fn main() -> couloir::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, or: f64| args.get(i).and_then(|a| a.parse().ok()).unwrap_or(or);
    let n = number(0, 100.0) as usize;
    let config = Config {
        device: args.get(1).map_or(Ok(DeviceChoice::None), |a| a.parse())?,
        memory: None,
        threads: Some(number(3, 1.0) as usize),
        ..Config::default()
    };
    let engine: Engine<f64> = Engine::open(&config, Policy::Fixed(number(2, 0.0)))?;
    let name = engine.node.device.as_ref().map_or("CPU", |d| &d.info.name);
    let bandwidth = engine.bandwidth()?;
    let a = laplacian(n);
    let fsai = (number(6, 0.0) >= 1.0).then(|| Pattern {
        power: number(6, 1.0) as usize,
        drop: number(7, 0.0),
        by_colour: number(8, 1.0) > 0.0,
    });
    let start = Instant::now();
    let mut solver = Pcg::with(&engine, &a, false, fsai)?;
    println!("prepared in {:.3} s", start.elapsed().as_secs_f64());
    let (mut times, mut last) = (Vec::new(), None);
    for _ in 0..number(5, 5.0) as usize {
        let mut b = engine.node.buffer_from(&vec![1.0; a.rows])?;
        let mut x = engine.node.buffer(a.rows)?;
        let start = Instant::now();
        let s = solver.solve(&engine, &mut b, &mut x, number(4, 1e-8), 0.0, 5000)?;
        engine.settle()?;
        times.push(start.elapsed().as_secs_f64());
        let ax = a.apply(x.read()?);
        let rr: f64 = ax.iter().map(|ax| (1.0 - ax) * (1.0 - ax)).sum();
        last = Some((s, (rr / a.rows as f64).sqrt()));
    }
    times.sort_by(f64::total_cmp);
    let (s, residual) = last.expect("at least one run");
    let per = |t: f64| t / s.iterations as f64;
    let once = ["mean", "scaling", "residual", "start", "solution", "end"];
    let bytes: f64 = solver
        .sites()
        .iter()
        .filter(|s| !once.iter().any(|o| s.label.contains(o)))
        .map(|s| s.stats.call_bytes)
        .sum();
    let (best, median) = (per(times[0]), per(times[times.len() / 2]));
    println!(
        "{name}: {n}^3, {} iterations, residual {residual:.2e} (said {:.2e}), {:.3} to {:.3} s",
        s.iterations,
        s.residual,
        times[0],
        times[times.len() - 1]
    );
    println!(
        "per row and iteration: {:.3} ns (median {:.3}), {:.1} bytes, {:.1} GB/s; axpy {:.1} / {:.1} GB/s",
        best * 1e9 / a.rows as f64,
        median * 1e9 / a.rows as f64,
        bytes / a.rows as f64,
        bytes / best / 1e9,
        bandwidth.cpu_gb_s,
        bandwidth.device_gb_s.unwrap_or(0.0)
    );
    for s in solver.sites() {
        let t = s.seconds_s();
        println!(
            "{:20} {:6} calls {:9.3} ms {:8.1} GB/s",
            s.label,
            s.stats.calls,
            t * 1e3,
            s.stats.calls as f64 * s.stats.call_bytes / t / 1e9
        );
    }
    Ok(())
}
