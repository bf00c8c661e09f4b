//! The files of a run: fields for ParaView, centreline profiles.

use std::path::PathBuf;

use super::with_last_good;
use crate::flow::case::{Case, Component, Profile, Reference};
use crate::flow::simulation::{Simulation, Snapshot};
use crate::report::profile::{Sample, write_csv};
use crate::report::reference::ghia;
use crate::report::svg::{Chart, Series, Style};
use crate::report::vtu::{Collection, Field, Values, write_pvtu, write_vtu};
use crate::report::write::write_file;
use crate::{Error, Result};

/// Where results go, and what was written.
pub(super) struct Output {
    directory: PathBuf,
    collection: Collection,
    interval_s: Option<f64>,
    next_s: f64,
    written_step: Option<usize>,
    files: Vec<PathBuf>,
}

impl Output {
    /// Nothing is written yet.
    pub fn new(case: &Case) -> Self {
        let directory = case.output.directory.clone();
        let file = directory.join(format!("{}.pvd", case.name));
        Self {
            collection: Collection::new(&file),
            files: vec![file],
            directory,
            interval_s: case.output.interval_s,
            next_s: 0.0,
            written_step: None,
        }
    }

    /// Files written, the series first.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The field at the start, where an interval asks for a series.
    pub fn initial(&mut self, sim: &Simulation) -> Result<()> {
        self.step(sim)
    }

    /// The field, if its time has come.
    pub fn step(&mut self, sim: &Simulation) -> Result<()> {
        let Some(interval) = self.interval_s else {
            return Ok(());
        };
        // Half a hair below the mark counts: dt rarely divides the interval.
        if sim.time_s + 1e-9 * interval < self.next_s {
            return Ok(());
        }
        while self.next_s <= sim.time_s + 1e-9 * interval {
            self.next_s += interval;
        }
        self.field(sim)
    }

    /// The last field and the profiles.
    pub fn last(&mut self, sim: &Simulation) -> Result<()> {
        if self.written_step != Some(sim.step) {
            self.field(sim)?;
        }
        if sim.case.output.profiles.is_empty() {
            return Ok(());
        }
        let Some(drawn) = sim.profiles()? else {
            return Ok(());
        };
        for (profile, samples) in sim.case.output.profiles.iter().zip(&drawn) {
            self.profile(sim, profile, samples)?;
        }
        Ok(())
    }

    fn field(&mut self, sim: &Simulation) -> Result<()> {
        let stem = format!("{}_{:06}", sim.case.name, sim.step);
        let (velocity, pressure) = (sim.stepper.velocity()?, sim.stepper.pressure()?);
        let velocity = velocity.each_ref().map(AsRef::as_ref);
        let file = self.write(sim, &stem, &fields(velocity, &pressure))?;
        if sim.engine.comm().leads() {
            self.collection.add(sim.time_s, &file)?;
        }
        self.written_step = Some(sim.step);
        Ok(())
    }

    /// One file, or a piece by each rank and a file that names them; returns its name.
    fn write(&self, sim: &Simulation, stem: &str, fields: &[Field]) -> Result<String> {
        let comm = sim.engine.comm();
        if comm.size() == 1 {
            let file = format!("{stem}.vtu");
            write_vtu(&self.directory.join(&file), &sim.mesh, fields)?;
            return Ok(file);
        }
        let piece = |rank: usize| format!("{stem}_{rank:04}.vtu");
        write_vtu(&self.directory.join(piece(comm.rank())), &sim.mesh, fields)?;
        // The file that names the pieces appears when all of them are there.
        comm.barrier()?;
        let file = format!("{stem}.pvtu");
        if comm.leads() {
            let pieces: Vec<String> = (0..comm.size()).map(piece).collect();
            write_pvtu(&self.directory.join(&file), &pieces, fields)?;
        }
        Ok(file)
    }

    /// Writes what a diverged run falls back to, and says where, in the error.
    pub fn diverged(&mut self, sim: &Simulation, e: Error) -> Error {
        let Some(good) = sim
            .last_good()
            .filter(|_| matches!(e, Error::Diverged { .. }))
        else {
            return e;
        };
        match self.last_good(sim, good) {
            Ok(file) => with_last_good(e, file),
            Err(why) => why,
        }
    }

    fn last_good(&self, sim: &Simulation, good: &Snapshot) -> Result<PathBuf> {
        let stem = format!("{}_last_good_{:06}", sim.case.name, good.step);
        let [u, v, w] = &good.velocity;
        let file = self.write(sim, &stem, &fields([u, v, w], &good.pressure))?;
        Ok(self.directory.join(file))
    }

    fn profile(&mut self, sim: &Simulation, p: &Profile, samples: &[Sample<3>]) -> Result<()> {
        let csv = self.directory.join(format!("{}.csv", p.name));
        write_csv(&csv, &["u_m_s", "v_m_s", "w_m_s"], samples)?;
        let svg = self.directory.join(format!("{}.svg", p.name));
        let text = chart(sim, p, samples).to_svg();
        write_file(&svg, |out| out.write_all(text.as_bytes()))?;
        self.files.extend([csv, svg]);
        Ok(())
    }
}

fn fields<'a>(velocity: [&'a [f64]; 3], pressure: &'a [f64]) -> [Field<'a>; 2] {
    [
        Field {
            name: "velocity",
            values: Values::Components(velocity),
        },
        Field {
            name: "pressure",
            values: Values::Scalar(pressure),
        },
    ]
}

fn chart(sim: &Simulation, p: &Profile, samples: &[Sample<3>]) -> Chart {
    let (component, name) = match p.component {
        Component::X => (0, "u"),
        Component::Y => (1, "v"),
        Component::Z => (2, "w"),
    };
    let points = samples
        .iter()
        .filter_map(|s| s.value.map(|v| (s.s_m, v[component])))
        .collect();
    let mut series = vec![Series {
        name: format!("couloir, {} cells", sim.whole.cells),
        points,
        style: Style::Line,
    }];
    if let Some((source, points)) = p.reference.and_then(|r| published(r, p.component)) {
        series.push(Series {
            name: source.to_string(),
            points,
            style: Style::Points,
        });
    }
    Chart {
        title: format!("{}: {name} at t = {:.4} s", sim.case.name, sim.time_s),
        x_label: "distance along the line, m".to_string(),
        y_label: format!("{name}, m/s"),
        series,
    }
}

fn published(r: Reference, component: Component) -> Option<(&'static str, Vec<(f64, f64)>)> {
    let re = match r {
        Reference::Ghia100 => 100,
        Reference::Ghia400 => 400,
        Reference::Ghia1000 => 1000,
        Reference::Ghia3200 => 3200,
    };
    let tables = ghia(re)?;
    match component {
        Component::X => Some((tables.source, tables.u_vertical)),
        Component::Y => Some((tables.source, tables.v_horizontal)),
        Component::Z => None,
    }
}
