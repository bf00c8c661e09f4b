//! Iterations by one launch, where the device does all of them and its groups run at once: see
//! [`Leg`].

use super::Pcg;
use super::beyond::Beyond;
use super::iterate::{Begin, State};
use crate::Result;
use crate::kernel::Real;
use crate::kernel::pcg_scalars::{ALPHA, ITERATIONS, LENGTH};
use crate::split::{Engine, Leg};

/// Calls of the step between a state and `now`. That which shows that there is nothing left to do is
/// one, too.
pub(super) fn calls_of<T: Real>(now: &State<T>, before: &State<T>) -> usize {
    let ends = usize::from(now[ALPHA] <= T::ZERO);
    (now[ITERATIONS] - before[ITERATIONS]).f64() as usize + ends
}

impl<T: Real> Pcg<T> {
    /// From that `state`, which the device has or is `given`, as many iterations as are left after `calls`
    /// and are not to be measured one by one; what the state is then, with the true residual under way if
    /// it is asked for, and what comes `beyond` it, if that is likely to be of use. None where they are to be
    /// called one by one.
    pub(super) fn leg(
        &mut self,
        engine: &Engine<T>,
        begin: Begin,
        calls: usize,
        (state, given): (&State<T>, bool),
        beyond: Option<&mut Beyond<'_, '_, T>>,
    ) -> Result<Option<State<T>>> {
        let multiplied = begin.multiplied && calls == 0;
        let steps = match begin.leg.filter(|_| calls == 0) {
            Some(steps) => steps,
            None => {
                let steps = self.steps_of_a_leg(begin.most - calls);
                let (given, anew) = (given.then_some(*state), begin.anew && calls == 0);
                if steps == 0 || !self.start_leg(engine, anew, given, steps, multiplied)? {
                    return Ok(None);
                }
                steps
            }
        };
        self.begin_look(engine, begin.checked)?;
        if let Some(beyond) = beyond {
            beyond.forget();
            if beyond.likely.is_some_and(|most| most <= steps) {
                beyond.asked = Some(self.go_beyond(engine, beyond)?);
            }
        }
        let mut now = [T::ZERO; LENGTH];
        if let (Some(watch), Some(legs)) = (&mut self.watch, &mut self.legs) {
            now.copy_from_slice(watch.looked()?);
            if !watch.knows(&now) {
                return Err(engine.stuck(legs));
            }
        }
        let calls = calls_of(&now, state);
        let products = calls.saturating_sub(usize::from(multiplied));
        engine.count_leg(&mut self.product, products);
        engine.count_leg(&mut self.step, calls);
        Ok(Some(now))
    }

    /// How many steps, of those that are left, a leg may have: none that is to be measured.
    pub(super) fn steps_of_a_leg(&self, left: usize) -> usize {
        let unmeasured = self.product.unmeasured().min(self.step.unmeasured());
        left.min(unmeasured as usize)
    }

    /// Starts a leg of so many steps at most, from the beginning of a solve where it is `anew`; of the state
    /// that is `given`, or that the device has. Returns whether the device does it.
    pub(super) fn start_leg(
        &mut self,
        engine: &Engine<T>,
        anew: bool,
        given: Option<State<T>>,
        steps: usize,
        multiplied: bool,
    ) -> Result<bool> {
        let Some(legs) = &mut self.legs else {
            return Ok(false);
        };
        let leg = Leg {
            vectors: [&mut self.system.y, &mut self.old, &mut self.p, &mut self.s],
            matrix: (&self.system.beside, self.system.share),
            state: &mut self.state,
            given,
            before: anew.then_some(&self.begin),
            steps,
            multiplied,
        };
        engine.start_leg(legs, [&mut self.product, &mut self.step], leg)
    }
}

#[cfg(test)]
mod tests {
    use crate::Result;
    use crate::kernel::Real;
    use crate::linear::pcg::watch::tests::{laplacian, of_box};
    use crate::linear::{Pcg, Solution};
    use crate::node::tuning::tests::{device, launched};
    use crate::node::{Config, DeviceChoice, MemoryKind, Tuning, opencl};
    use crate::sparse::Csr;
    use crate::split::{Engine, Policy};

    /// Set in the process whose groups run together.
    const TOGETHER: &str = "COULOIR_TEST_TOGETHER";

    /// Right-hand sides, tolerances and most iterations of solves, one after the other, each from the one
    /// before; the last but one begins at its solution.
    const SOLVES: [(usize, f64, usize); 6] = [
        (0, 1e-6, 500),
        (1, 1e-12, 9),
        (2, 1e-12, 9),
        (3, 1e-6, 500),
        (3, 1e-6, 500),
        (4, 1e-6, 500),
    ];

    fn on(device: DeviceChoice) -> Config {
        Config {
            device,
            threads: Some(1),
            memory: (device != DeviceChoice::None).then_some(MemoryKind::Discrete),
            ..Config::default()
        }
    }

    /// Devices of which groups may run together.
    fn devices() -> impl Iterator<Item = opencl::DeviceInfo> {
        let all = opencl::devices().unwrap_or_default().into_iter();
        let together = |d: &opencl::DeviceInfo| Tuning::of(d).unwrap().together.is_some();
        all.filter(move |d| {
            d.compiles_legs() && together(d) && d.fp64 && d.offers(MemoryKind::Discrete)
        })
    }

    /// A solve from 0 with 1 in every row, whose vectors go as soon as it has returned.
    fn from_zero(engine: &Engine<f64>, solver: &mut Pcg<f64>, n: usize) -> Result<Solution> {
        let mut b = engine.node.buffer_from(&vec![1.0; n])?;
        let mut x = engine.node.buffer(n)?;
        solver.solve(engine, &mut b, &mut x, 1e-8, 0.0, 500)
    }

    /// Solves with `a`, and the bits of their solutions; by legs of so many groups at most. A solver that
    /// remembers begins along the steps of those before.
    fn solves<T: Real>(
        config: &Config,
        a: &Csr,
        remembers: bool,
        groups: Option<usize>,
    ) -> (Vec<Solution>, Vec<u64>) {
        let engine = Engine::<T>::open(config, Policy::Fixed(1.0)).unwrap();
        let mut solver = Pcg::new(&engine, a, false).unwrap();
        if remembers {
            solver.remember(&engine).unwrap();
        }
        assert_eq!(solver.legs.is_some(), groups.is_some());
        if let (Some(legs), Some(groups)) = (&mut solver.legs, groups) {
            legs.limit(groups, None);
        }
        let mut x = engine.node.buffer(a.rows).unwrap();
        let (mut all, mut bits) = (Vec::new(), Vec::new());
        // Of many rows those of few iterations.
        let some = if a.rows < 1_000_000 { 0..6 } else { 1..3 };
        for &(n, tolerance, most) in &SOLVES[some] {
            let value = |i: usize| T::of((1.7 * i as f64 + n as f64).sin());
            let b: Vec<T> = (0..a.rows).map(value).collect();
            let mut b = engine.node.buffer_from(&b).unwrap();
            let solved = solver.solve(&engine, &mut b, &mut x, tolerance, 0.0, most);
            all.push(solved.unwrap());
            bits.extend(x.read().unwrap().iter().map(|x| x.f64().to_bits()));
        }
        assert!(solver.legs.iter().all(|legs| legs.left_clear()));
        let calls = |what: &str| {
            let sites = solver.sites();
            sites.iter().find(|s| s.label == what).unwrap().stats.calls
        };
        // One product is started before it is known that it is the first.
        let iterations: usize = all.iter().map(|s| s.iterations).sum();
        let products = calls("poisson product") - iterations as u64;
        assert!(products <= SOLVES.len() as u64, "{products} more, {all:?}");
        assert_eq!(calls("poisson step"), iterations as u64);
        (all, bits)
    }

    fn same_bits<T: Real>(a: &Csr, remembers: bool, all_groups: &[usize]) {
        let want = solves::<T>(&on(DeviceChoice::None), a, remembers, None);
        let takes = |n: usize| want.0.iter().any(|s| s.iterations == n);
        let all = want.0.len() == SOLVES.len();
        assert!(takes(9) && takes(0) == all, "{:?}", want.0);
        for d in devices() {
            for &groups in all_groups {
                let config = on(DeviceChoice::Index(d.index));
                let got = solves::<T>(&config, a, remembers, Some(groups));
                let what = format!("{}, {} rows, {groups} groups", d.name, a.rows);
                assert_eq!(got.0, want.0, "{what}");
                assert!(got.1 == want.1, "{what}");
            }
        }
    }

    /// More groups than cores never meet.
    fn who_waits_in_vain_gives_up() {
        for d in devices().filter(|d| d.software && d.units < 64) {
            let config = on(DeviceChoice::Index(d.index));
            let engine = Engine::<f64>::open(&config, Policy::Fixed(1.0)).unwrap();
            let a = laplacian(32);
            let mut solver = Pcg::new(&engine, &a, false).unwrap();
            let solve = |solver: &mut Pcg<f64>| from_zero(&engine, solver, a.rows);
            let want = solve(&mut solver).unwrap();
            let legs = solver.legs.as_mut().unwrap();
            let met = [1, 1 << 12, 1].map(|groups| legs.meet(&engine, groups));
            assert_eq!(met, [true, false, true]);
            let groups = legs.limit(usize::MAX, Some(1 << 12));
            let error = solve(&mut solver).unwrap_err();
            assert!(error.to_string().contains("together = 0"), "{error}");
            assert_eq!(error.exit_code(), 1);
            assert!(solver.legs.as_ref().unwrap().left_clear());
            // Who has heard of it may go on with fewer, or one by one.
            solver.legs.as_mut().unwrap().limit(groups, Some(1 << 30));
            assert_eq!(solve(&mut solver).unwrap(), want);
            let legs = solver.legs.as_mut().unwrap();
            legs.limit(usize::MAX, Some(1 << 12));
            legs.refuse();
            assert_eq!(solve(&mut solver).unwrap(), want);
        }
    }

    /// An iteration that is measured and turns out to be the last comes after a leg that it cuts short.
    fn the_last_one_may_be_measured() {
        for d in devices() {
            let config = on(DeviceChoice::Index(d.index));
            let engine = Engine::<f64>::open(&config, Policy::Fixed(1.0)).unwrap();
            let a = laplacian(12);
            let mut solver = Pcg::new(&engine, &a, false).unwrap();
            let solve = |solver: &mut Pcg<f64>| from_zero(&engine, solver, a.rows);
            let want = solve(&mut solver).unwrap();
            // Calls are measured at multiples of some power of two.
            let turn = 1 << 20;
            for before in 1..4 {
                solver.product.stats.calls = turn + 9;
                solver.step.stats.calls = turn - (want.iterations - before) as u64;
                assert_eq!(solve(&mut solver).unwrap(), want, "{}, {before}", d.name);
            }
        }
    }

    #[test]
    fn a_leg_leaves_the_bits_of_its_iterations() {
        let together = std::env::var_os(TOGETHER).is_some();
        let groups: &[usize] = if together { &[1, 5, usize::MAX] } else { &[] };
        // Slices of many kinds, and mostly the same ones.
        for a in [laplacian(12), of_box([161, 11, 9], |_| 1.0)] {
            same_bits::<f64>(&a, false, groups);
            same_bits::<f64>(&a, true, groups);
            same_bits::<f32>(&a, false, groups);
        }
        if together {
            // More blocks than a lane takes at once.
            same_bits::<f64>(&laplacian(103), false, &[usize::MAX]);
            the_last_one_may_be_measured();
            who_waits_in_vain_gives_up();
        }
    }

    #[test]
    fn compilers_that_fail_on_legs_are_not_given_them() {
        let mut pocl = device("cpu", "basic");
        assert!(pocl.compiles_legs());
        pocl.platform = "Portable Computing Language".into();
        for (driver, takes) in [("3.1+debian", true), ("5.0+debian", false), ("", false)] {
            pocl.driver = driver.into();
            assert_eq!(pocl.compiles_legs(), takes, "{driver}");
        }
    }

    #[test]
    fn groups_of_any_device_may_run_together() {
        // PoCL 3.1 mixes up what larger groups add on 32-bit ARM.
        let mixed_up = cfg!(target_arch = "arm");
        if mixed_up || !opencl::devices().is_ok_and(|all| !all.is_empty()) {
            return eprintln!("SKIPPED: no device");
        }
        let all = opencl::devices().unwrap();
        for d in all.iter().filter(|d| !d.compiles_legs()) {
            eprintln!("SKIPPED on {}: {} {}", d.name, d.platform, d.driver);
        }
        // More groups than run at once are found out; of a software device, one does.
        let launch =
            "vector = 1\nrows = \"vector\"\nadding = 1\nwaits = true\nahead = true\ntogether = 3";
        let own = "linear::pcg::leg::tests::a_leg_leaves_the_bits_of_its_iterations";
        launched(launch, own, TOGETHER);
    }
}
