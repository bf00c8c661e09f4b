//! Published centreline profiles of the lid-driven square cavity.

/// Velocities on the centrelines of the unit cavity whose lid at y = 1 moves in +x, as
/// fractions of the lid speed.
#[derive(Clone, Debug, PartialEq)]
pub struct Profiles {
    /// Where the numbers are from.
    pub source: &'static str,
    /// (y, u) on x = 1/2, from the lid down.
    pub u_vertical: Vec<(f64, f64)>,
    /// (x, v) on y = 1/2, from the right wall.
    pub v_horizontal: Vec<(f64, f64)>,
}

/// Ghia, Ghia and Shin (1982), tables I and II, for Re = 100, 400, 1000 and 3200, without
/// known misprints (the files say which). `None` for any other Reynolds number.
pub fn ghia(re: u32) -> Option<Profiles> {
    Some(Profiles {
        source: "Ghia et al. (1982)",
        u_vertical: column(include_str!("reference/ghia_u.csv"), &format!("u_Re{re}"))?,
        v_horizontal: column(include_str!("reference/ghia_v.csv"), &format!("v_Re{re}"))?,
    })
}

/// Botella and Peyret (1998), tables 9 and 10, for Re = 1000: a spectral solution.
pub fn botella_peyret(re: u32) -> Option<Profiles> {
    if re != 1000 {
        return None;
    }
    Some(Profiles {
        source: "Botella & Peyret (1998)",
        u_vertical: column(include_str!("reference/botella_u.csv"), "u")?,
        v_horizontal: column(include_str!("reference/botella_v.csv"), "v")?,
    })
}

/// The pairs of a table's first column and the one called `name`; rows where that one is
/// empty are left out.
fn column(csv: &str, name: &str) -> Option<Vec<(f64, f64)>> {
    let mut rows = csv.lines().filter(|l| !l.starts_with('#'));
    let wanted = rows.next()?.split(',').position(|title| title == name)?;
    let pair = |row: &str| {
        let first = row.split(',').next()?.parse().ok()?;
        Some((first, row.split(',').nth(wanted)?.parse().ok()?))
    };
    Some(rows.filter_map(pair).collect())
}
