//! Checks of a case beyond the types of its keys.

use std::collections::BTreeSet;

use super::{Boundary, Case, InitialField, MeshSource, Profile, StepSize};
use crate::input::{nearest, shown};
use crate::mesh::BoxSpec;
use crate::{Error, Result};

/// Cells, faces and points of a box are numbered with 32 bits, whatever its shape.
const MOST_BRICKS: f64 = 1e8;

impl Case {
    /// Checks what needs no mesh: numbers in range, keys that fit together.
    pub(super) fn check(&self) -> Result<()> {
        self.number(
            "fluid.viscosity",
            self.fluid.viscosity,
            |x| x >= 0.0,
            "0 or more",
        )?;
        if self.time.end_s != f64::INFINITY || self.given("time.end") {
            self.number("time.end", self.time.end_s, |x| x > 0.0, "more than 0")?;
        }
        if self.time.steps == Some(0) {
            return Err(self.wrong("time.steps", "0 steps are no run", "give 1 or more"));
        }
        match self.time.step {
            StepSize::Fixed { dt_s } => self.number("time.dt", dt_s, |x| x > 0.0, "more than 0")?,
            StepSize::Courant { max } => {
                self.number(
                    "time.max_courant",
                    max,
                    |x| x > 0.0,
                    "more than 0, such as 0.5",
                )?;
            }
        }
        if let MeshSource::Box(shape) = &self.mesh {
            self.check_box(shape)?;
        }
        self.check_initial()?;
        for (name, boundary) in &self.boundary {
            self.check_boundary(name, boundary)?;
        }
        self.vector("force.acceleration", self.force.acceleration)?;
        let tolerance = self.poisson.tolerance;
        self.number(
            "poisson.tolerance",
            tolerance,
            |x| x > 0.0 && x < 1.0,
            "more than 0, less than 1",
        )?;
        if self.poisson.max_iterations == 0 {
            let what = "without iterations nothing is solved";
            return Err(self.wrong("poisson.max_iterations", what, "give 1 or more"));
        }
        if let Some(interval_s) = self.output.interval_s {
            self.number("output.interval", interval_s, |x| x > 0.0, "more than 0")?;
        }
        let mut stems = BTreeSet::new();
        for (i, profile) in self.output.profiles.iter().enumerate() {
            let key = format!("output.profiles[{i}]");
            self.check_profile(&key, profile)?;
            if !stems.insert(&profile.name) {
                let what = format!("a second profile is called \"{}\"", profile.name);
                return Err(self.wrong(&format!("{key}.name"), what, "give each its own name"));
            }
        }
        self.number(
            "energy.idle_seconds",
            self.energy.idle_s,
            |x| (0.0..=3600.0).contains(&x),
            "0 to 3600",
        )?;
        let patience = self.cluster.timeout_s;
        self.number("cluster.timeout_s", patience, |x| x >= 1.0, "1 or more")?;
        if let Some(watts) = self.node.nameplate_w {
            self.number("node.nameplate_watts", watts, |x| x > 0.0, "more than 0")?;
        }
        Ok(())
    }

    /// Checks the sections `[boundary.NAME]` against the mesh's boundaries: each needs the
    /// other.
    ///
    /// # Errors
    /// [`Error::Input`] that names the boundary without counterpart.
    pub fn match_patches(&self, patches: &[&str]) -> Result<()> {
        if let Some(missing) = patches
            .iter()
            .find(|name| !self.boundary.contains_key(**name))
        {
            let what = format!("the mesh's boundary \"{missing}\" has no section");
            let remedy = format!("add [boundary.{missing}] with a type, such as \"wall\"");
            return Err(Error::input(self.file.display().to_string(), what, remedy));
        }
        if let Some(unknown) = self
            .boundary
            .keys()
            .find(|name| !patches.contains(&name.as_str()))
        {
            let what = format!("the mesh has no boundary \"{unknown}\"");
            let near = nearest(unknown, patches.iter().copied());
            let remedy = match near {
                Some(name) => format!("did you mean {name}? It has: {}", patches.join(", ")),
                None => format!("remove the section; the mesh has: {}", patches.join(", ")),
            };
            return Err(self.wrong(&format!("boundary.{unknown}"), what, remedy));
        }
        Ok(())
    }

    fn check_box(&self, shape: &BoxSpec) -> Result<()> {
        if shape.cells.contains(&0) {
            let what = "a direction has no cells";
            return Err(self.wrong("mesh.box.cells", what, "give 1 or more in each"));
        }
        let bricks: f64 = shape.cells.iter().map(|n| *n as f64).product();
        if bricks > MOST_BRICKS {
            let what = format!("{bricks:.2e} bricks are more than one mesh can hold");
            return Err(self.wrong("mesh.box.cells", what, "give a product of at most 1e8"));
        }
        self.vector("mesh.box.min", shape.min)?;
        self.vector("mesh.box.max", shape.max)?;
        if (0..3).any(|k| shape.min[k] >= shape.max[k]) {
            let what = "the box has no volume";
            return Err(self.wrong("mesh.box", what, "give max > min in each direction"));
        }
        for g in shape.stretch {
            let in_range = |x| (0.0..=8.0).contains(&x);
            self.number(
                "mesh.box.stretch",
                g,
                in_range,
                "0 (uniform) to 8 in each direction",
            )?;
        }
        Ok(())
    }

    fn check_initial(&self) -> Result<()> {
        match (self.initial.field, self.initial.velocity) {
            (InitialField::Uniform, Some(velocity)) => self.vector("initial.velocity", velocity),
            (InitialField::Uniform, None) => {
                let what = "a uniform field needs a velocity";
                Err(self.wrong("initial.field", what, "add velocity = [x, y, z]"))
            }
            (_, Some(_)) => {
                let what = "only a uniform field has this key";
                Err(self.wrong(
                    "initial.velocity",
                    what,
                    "remove it, or set field = \"uniform\"",
                ))
            }
            (_, None) => Ok(()),
        }
    }

    fn check_boundary(&self, name: &str, boundary: &Boundary) -> Result<()> {
        let key = |key: &str| format!("boundary.{name}.{key}");
        match boundary {
            Boundary::Wall { velocity } | Boundary::Inlet { velocity } => {
                self.vector(&key("velocity"), *velocity)
            }
            Boundary::Outlet { pressure } => {
                self.number(&key("pressure"), *pressure, |_| true, "a finite number")
            }
            Boundary::Slip | Boundary::Exact { .. } => Ok(()),
            Boundary::Periodic { with } => {
                let partner = self.boundary.get(with);
                let what = match partner {
                    _ if with == name => "a boundary cannot be its own partner".to_owned(),
                    None => format!("there is no [boundary.{with}]"),
                    Some(Boundary::Periodic { with: back }) if back == name => return Ok(()),
                    Some(Boundary::Periodic { with: back }) => {
                        format!("\"{with}\" is periodic with \"{back}\", not with \"{name}\"")
                    }
                    Some(_) => format!("\"{with}\" is not periodic"),
                };
                let remedy = "let two boundaries of type \"periodic\" name each other";
                Err(self.wrong(&key("with"), what, remedy))
            }
        }
    }

    fn check_profile(&self, key: &str, profile: &Profile) -> Result<()> {
        let plain = |c: char| c.is_alphanumeric() || "_-".contains(c);
        if profile.name.is_empty() || !profile.name.chars().all(plain) {
            let what = format!("\"{}\" cannot name a file", profile.name);
            let remedy = "use letters, digits, - and _";
            return Err(self.wrong(&format!("{key}.name"), what, remedy));
        }
        self.vector(&format!("{key}.from"), profile.from)?;
        self.vector(&format!("{key}.to"), profile.to)?;
        if profile.from == profile.to {
            let what = "the line has no length";
            return Err(self.wrong(&format!("{key}.to"), what, "let from and to differ"));
        }
        if !(2..=100_000).contains(&profile.points) {
            let what = format!("{} is not a number of samples", profile.points);
            return Err(self.wrong(&format!("{key}.points"), what, "give 2 to 100000"));
        }
        Ok(())
    }

    fn number(&self, key: &str, x: f64, ok: impl Fn(f64) -> bool, range: &str) -> Result<()> {
        if x.is_finite() && ok(x) {
            return Ok(());
        }
        let what = format!("{} is out of range", shown(x));
        Err(self.wrong(key, what, format!("give {range}")))
    }

    fn vector(&self, key: &str, vector: [f64; 3]) -> Result<()> {
        vector
            .iter()
            .try_for_each(|x| self.number(key, *x, |_| true, "finite numbers"))
    }

    fn given(&self, key: &str) -> bool {
        self.places.contains_key(key)
    }

    fn wrong(&self, key: &str, what: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::input(self.place(key), what, remedy)
    }
}
