//! `mixed MATRIX [--order none|rcm] [--uneven] [--device auto|none|N] [--threads N] [--split R]
//! [--tolerance T] [--repeat N] [--preconditioner jacobi|fsai]`: the pressure solve in mixed against
//! double precision, to the same tolerance: iterations, true residual, median time and spread,
//! interleaved.
//!
//! MATRIX is as for `couloir bench`, such as `tet:1000000`, or a number: the singular Laplacian of
//! that many cells along each axis. With `--uneven` every link has a weight of its own, as on a
//! mesh whose cells differ, so that nothing of the matrix can be left out.

use std::time::{Duration, Instant};

use couloir::bench::{Ordering, Origin, closed_box};
use couloir::linear::{Preconditioner, Solver};
use couloir::node::{Config, DeviceChoice};
use couloir::sparse::Csr;
use couloir::split::cache::Cache;
use couloir::split::{Engine, Policy, Precision};

/// Searches for cuts end after this time, too.
const TUNING_MOST: Duration = Duration::from_secs(20);

type Error = Box<dyn std::error::Error>;

/// `a` with weights of 0.5 to 1.5 on its links; what its rows lack to a sum of zero stays.
fn uneven(a: &Csr) -> Csr {
    let weight = |i: usize, j: usize| {
        let pair = ((i.min(j) as u64) << 32) | i.max(j) as u64;
        0.5 + fastrand::Rng::with_seed(pair).f64()
    };
    Csr::from_rows(a.rows, a.cols, |i, row| {
        let mut diagonal = 0.0;
        for (j, v) in a.row(i) {
            if j == i {
                diagonal += v;
                continue;
            }
            let new = v * weight(i, j);
            diagonal += v - new;
            row.push((j as u32, new));
        }
        row.push((i as u32, diagonal));
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

impl Run {
    /// One solve, from zero; it is also a step to the tuner.
    fn solve(&mut self, a: &Csr, b: &[f64], tolerance: f64) -> Result<(), Error> {
        let node = &self.engine.node;
        let (mut rhs, mut x) = (node.buffer_from(b)?, node.buffer::<f64>(a.rows)?);
        // In a flow both are where the solver computes; a device with memory of its own is given
        // them here, not in the time of a solve.
        self.engine.settle()?;
        if node.device.is_some() {
            rhs.share(usize::MAX, 0)?;
            x.share(usize::MAX, 0)?;
        }
        let start = Instant::now();
        let s = (self.solver).solve(&self.engine, &mut rhs, &mut x, tolerance, 0.0, 100_000)?;
        let seconds = start.elapsed().as_secs_f64();
        self.engine.step_done(seconds);
        self.seconds.push(seconds);
        let product = a.apply(x.read()?);
        let rr: f64 = product.iter().zip(b).map(|(p, b)| (b - p).powi(2)).sum();
        let bb: f64 = b.iter().map(|b| b * b).sum();
        (self.iterations, self.residual) = (s.iterations, (rr / bb).sqrt());
        if !s.converged || self.residual > 2.0 * tolerance {
            return Err(format!("{}: {s:?}, true {:.2e}", self.name, self.residual).into());
        }
        Ok(())
    }
}

fn main() -> Result<(), Error> {
    let mut args = std::env::args().skip(1);
    let matrix = args.next().ok_or("MATRIX is missing")?;
    let (mut config, mut tolerance, mut repeat) = (Config::default(), 1e-8, 5);
    let (mut order, mut weighted, mut policy) = (Ordering::None, false, Policy::Auto);
    let mut preconditioner = Preconditioner::Jacobi;
    while let Some(flag) = args.next() {
        if flag == "--uneven" {
            weighted = true;
            continue;
        }
        let value = args.next().ok_or("a value is missing")?;
        match flag.as_str() {
            "--order" => {
                let named = Ordering::ALL.into_iter().find(|o| o.name() == value);
                order = named.ok_or("no such order")?;
            }
            "--device" => config.device = value.parse::<DeviceChoice>()?,
            "--threads" => config.threads = Some(value.parse()?),
            "--split" => policy = Policy::Fixed(value.parse()?),
            "--tolerance" => tolerance = value.parse()?,
            "--preconditioner" => {
                preconditioner = match value.as_str() {
                    "jacobi" => Preconditioner::Jacobi,
                    "fsai" => Preconditioner::Fsai,
                    _ => return Err("no such preconditioner".into()),
                }
            }
            "--repeat" => repeat = value.parse()?,
            _ => return Err(format!("unknown flag {flag}").into()),
        }
    }
    let cells: Option<usize> = matrix.parse().ok();
    let mut a = match cells {
        Some(n) => closed_box(n),
        None => order.apply(&Origin::parse(&matrix)?.matrix()?, &matrix)?,
    };
    if weighted {
        a = uneven(&a);
    }
    let singular = cells.is_some();
    println!("{matrix}: {} rows, {} entries", a.rows, a.entries());
    let mut rng = fastrand::Rng::with_seed(1);
    let wave = |i: usize| (20.0 * i as f64 / a.rows as f64).sin();
    let mut b: Vec<f64> = (0..a.rows)
        .map(|i| wave(i) + 0.1 * (rng.f64() - 0.5))
        .collect();
    if singular {
        let mean = b.iter().sum::<f64>() / b.len() as f64;
        b.iter_mut().for_each(|b| *b -= mean);
    }
    let mut runs = Vec::new();
    for precision in [Precision::Fp64, Precision::Mixed] {
        let opened = Engine::open_in(Some(precision), &config, policy);
        let alone = Config {
            device: DeviceChoice::None,
            memory: None,
            ..config.clone()
        };
        let mut engine = match opened {
            // A device without fp64: the CPU alone is what it has to beat.
            Err(_) if precision == Precision::Fp64 => {
                Engine::open_in(Some(precision), &alone, policy)?
            }
            opened => opened?,
        };
        let bandwidth = engine.bandwidth()?;
        engine.begin_from(&bandwidth, Cache::empty(None));
        let solver = Solver::with(&engine, &a, singular, preconditioner)?;
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
    for run in &mut runs {
        // Until the cuts are found: where memory is discrete a solve is one measurement of them.
        let start = Instant::now();
        run.solve(&a, &b, tolerance)?;
        while run.engine.is_tuning(&run.solver.sites()) && start.elapsed() < TUNING_MOST {
            run.solve(&a, &b, tolerance)?;
        }
        run.seconds.clear();
    }
    for _ in 0..repeat {
        for run in &mut runs {
            run.solve(&a, &b, tolerance)?;
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
                p.seconds_s(),
                p.stats.calls as f64 * p.stats.call_bytes / p.seconds_s() / 1e9,
                run.engine.ratio(p)
            );
        }
    }
    println!("mixed is {:.2} times as fast", medians[0] / medians[1]);
    Ok(())
}
