//! What the ranks of a run tell together: times, halos, and the energy of every machine once.

use crate::Result;
use crate::cli::ranks::Ranks;
use crate::cluster::comm::Spent;
use crate::cluster::pack::{Pack, Unpack};
use crate::flow::case::Overlap;
use crate::flow::simulation::Simulation;
use crate::node::resident;
use crate::report::cluster::{ClusterReport, Spread};
use crate::report::json::RunReport;

/// Adds what all ranks have to say to rank 0's report; nothing where there is one.
///
/// # Errors
/// A rank no longer answers.
pub(super) fn join(
    report: &mut RunReport,
    sim: &Simulation,
    ranks: &Ranks,
    start: Spent,
) -> Result<()> {
    let comm = &ranks.comm;
    if comm.size() == 1 {
        return Ok(());
    }
    let steps = report.steps.max(1) as f64;
    let spent = comm.spent();
    let [_, peak] = resident::memory_bytes();
    let unknown = |x: Option<f64>| x.unwrap_or(f64::NAN);
    let mine = [
        sim.owned as f64,
        sim.halo.len() as f64,
        report.wall_s / steps,
        (spent.exchange_s - start.exchange_s) / steps,
        (spent.reduce_s - start.reduce_s) / steps,
        (spent.sent_bytes - start.sent_bytes) as f64 / steps,
        unknown(report.energy.joules_per_step),
        unknown(report.energy.watts_mean),
        f64::from(u8::from(report.energy.measured)),
        unknown(report.resident_bytes),
        peak,
        unknown(report.energy.idle_watts),
        unknown(report.energy.net_joules_per_step),
        unknown(report.energy.uncertainty_fraction) * unknown(report.energy.joules_per_step),
    ];
    let mut pack = Pack::default();
    pack.put(&mine);
    let all = comm.collect(&pack.bytes())?;
    if !comm.leads() {
        return Ok(());
    }
    let all: Vec<Vec<f64>> = all
        .iter()
        .map(|bytes| Unpack(bytes).take())
        .collect::<Result<_>>()?;
    let column = |i: usize| -> Vec<f64> { all.iter().map(|v| v[i]).collect() };
    let spread = |i: usize| Spread::of(&column(i));
    // One rank of each machine reads its meters.
    let machines = &ranks.place.machines;
    let first = |r: &usize| !machines[..*r].contains(&machines[*r]);
    let leaders: Vec<usize> = (0..all.len()).filter(first).collect();
    let of_machines = |i: usize| -> Option<Vec<f64>> {
        let values: Vec<f64> = leaders.iter().map(|&r| all[r][i]).collect();
        values.iter().all(|x| x.is_finite()).then_some(values)
    };
    let sum = |i: usize| of_machines(i).map(|v| v.iter().sum::<f64>());
    let joules = of_machines(6);
    let energy = &mut report.energy;
    energy.joules_per_step = sum(6);
    energy.watts_mean = sum(7);
    energy.idle_watts = sum(11);
    energy.net_joules_per_step = sum(12);
    // Of like sensors, so that errors add up.
    let uncertain = sum(13).zip(energy.joules_per_step.filter(|&j| j > 0.0));
    energy.uncertainty_fraction = uncertain.map(|(u, joules)| u / joules);
    energy.edp_js = energy.joules_per_step.map(|j| j * report.wall_s / steps);
    energy.measured = of_machines(8).is_some_and(|m| m.iter().all(|&m| m == 1.0));
    report.cluster = Some(ClusterReport {
        machines: leaders.len(),
        overlap: sim.case.cluster.overlap == Overlap::On,
        owned_cells: spread(0),
        halo_cells: spread(1),
        step_s: spread(2),
        exchange_s: spread(3),
        reduce_s: spread(4),
        sent_bytes: spread(5),
        resident_bytes: spread(9),
        peak_bytes: spread(10),
        machine_joules: joules.map(|j| Spread::of(&j)),
    });
    Ok(())
}
