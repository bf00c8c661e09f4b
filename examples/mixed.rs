//! `mixed CELLS [--device auto|none|N] [--threads N] [--tolerance T] [--repeat N]`: the pressure
//! solve in mixed against double precision on CELLS^3 cells, to the same tolerance: iterations,
//! true residual, least time and spread, interleaved.

use std::time::Instant;

use couloir::linear::Solver;
use couloir::node::{Config, DeviceChoice};
use couloir::sparse::Csr;
use couloir::split::cache::Cache;
use couloir::split::{Engine, Policy, Precision};

type Error = Box<dyn std::error::Error>;

/// The seven-point Laplacian of a box of n^3 cells with spacings 1, `y` and `z`, no flow through
/// its sides; where `given`, values are given on them.
fn laplacian(n: usize, [y, z]: [f64; 2], given: bool) -> Csr {
    let per_side = [1.0, 1.0 / (y * y), 1.0 / (z * z)];
    Csr::from_rows(n * n * n, n * n * n, |i, row| {
        let at = [i % n, i / n % n, i / n / n];
        let stride = [1, n, n * n];
        let mut diagonal = 0.0;
        for k in (0..3).rev() {
            if at[k] > 0 {
                row.push(((i - stride[k]) as u32, -per_side[k]));
                diagonal += per_side[k];
            } else if given {
                diagonal += 2.0 * per_side[k];
            }
        }
        let middle = row.len();
        for k in 0..3 {
            if at[k] + 1 < n {
                row.push(((i + stride[k]) as u32, -per_side[k]));
                diagonal += per_side[k];
            } else if given {
                diagonal += 2.0 * per_side[k];
            }
        }
        row.insert(middle, (i as u32, diagonal));
    })
}

struct Run {
    name: &'static str,
    engine: Engine<f64>,
    solver: Solver,
    seconds: Vec<f64>,
    iterations: usize,
    residual: f64,
}

fn main() -> Result<(), Error> {
    let mut args = std::env::args().skip(1);
    let n: usize = args.next().ok_or("CELLS is missing")?.parse()?;
    let (mut config, mut tolerance, mut repeat) = (Config::default(), 1e-8, 5);
    let (mut given, mut spacing) = (false, [1.0, 1.0]);
    while let Some(flag) = args.next() {
        if flag == "--given" {
            given = true;
            continue;
        }
        let value = args.next().ok_or("a value is missing")?;
        match flag.as_str() {
            "--device" => config.device = value.parse::<DeviceChoice>()?,
            "--threads" => config.threads = Some(value.parse()?),
            "--tolerance" => tolerance = value.parse()?,
            "--repeat" => repeat = value.parse()?,
            "--y" => spacing[0] = value.parse()?,
            "--z" => spacing[1] = value.parse()?,
            _ => return Err(format!("unknown flag {flag}").into()),
        }
    }
    let a = laplacian(n, spacing, given);
    let mut rng = fastrand::Rng::with_seed(1);
    let tau = std::f64::consts::TAU;
    let mut b: Vec<f64> = (0..a.rows)
        .map(|i| {
            let s = (i % n) as f64 / n as f64;
            let t = (i / n / n) as f64 / n as f64;
            (tau * s).cos() * (2.0 * tau * t).sin() + 0.1 * (rng.f64() - 0.5)
        })
        .collect();
    if !given {
        let mean = b.iter().sum::<f64>() / b.len() as f64;
        b.iter_mut().for_each(|b| *b -= mean);
    }
    let size = b.iter().map(|b| b * b).sum::<f64>().sqrt();
    let mut runs = Vec::new();
    for precision in [Precision::Fp64, Precision::Mixed] {
        let opened = Engine::open_in(Some(precision), &config, Policy::Auto);
        let alone = Config {
            device: DeviceChoice::None,
            memory: None,
            ..config.clone()
        };
        let mut engine = match opened {
            // A device without fp64: the CPU alone is what it has to beat.
            Err(_) if precision == Precision::Fp64 => {
                Engine::open_in(Some(precision), &alone, Policy::Auto)?
            }
            opened => opened?,
        };
        let bandwidth = engine.bandwidth()?;
        engine.begin_from(&bandwidth, Cache::empty(None));
        let solver = Solver::new(&engine, &a, !given)?;
        for note in &engine.node.notes {
            println!("{}: {note}", precision.name());
        }
        runs.push(Run {
            name: precision.name(),
            engine,
            solver,
            seconds: Vec::new(),
            iterations: 0,
            residual: 0.0,
        });
    }
    // The first round warms up and tunes.
    for round in 0..=repeat {
        for run in &mut runs {
            let node = &run.engine.node;
            let (mut rhs, mut x) = (node.buffer_from(&b)?, node.buffer::<f64>(a.rows)?);
            let start = Instant::now();
            let s = run
                .solver
                .solve(&run.engine, &mut rhs, &mut x, tolerance, 0.0, 100_000)?;
            let seconds = start.elapsed().as_secs_f64();
            if round > 0 {
                run.seconds.push(seconds);
            }
            let product = a.apply(x.read()?);
            let rr: f64 = product.iter().zip(&b).map(|(p, b)| (b - p).powi(2)).sum();
            run.iterations = s.iterations;
            run.residual = rr.sqrt() / size;
            if !s.converged || run.residual > 2.0 * tolerance {
                return Err(format!("{}: {s:?}, true {:.2e}", run.name, run.residual).into());
            }
        }
    }
    let mut medians = Vec::new();
    for run in &mut runs {
        run.seconds.sort_by(f64::total_cmp);
        let (least, most) = (run.seconds[0], run.seconds[run.seconds.len() - 1]);
        let median = run.seconds[run.seconds.len() / 2];
        medians.push(median);
        println!(
            "{:5}: {} iterations, true residual {:.2e}, {median:.4} s ({least:.4} to {most:.4}), \
             {:.2} ns per row and iteration",
            run.name,
            run.iterations,
            run.residual,
            1e9 * median / (a.rows * run.iterations) as f64
        );
        for p in run.solver.sites().iter().filter(|p| p.stats.calls > 0) {
            println!(
                "    {:32} {:6} calls  {:8.4} s  {:7.2} GB/s  split {:.3}",
                p.label,
                p.stats.calls,
                p.stats.seconds_s,
                p.stats.calls as f64 * p.stats.call_bytes / p.stats.seconds_s / 1e9,
                run.engine.ratio(p)
            );
        }
    }
    println!("mixed is {:.2} times as fast", medians[0] / medians[1]);
    Ok(())
}
