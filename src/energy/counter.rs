//! From a rail's readings to its energy.

use super::RailKind;

/// No rail delivers more than this; what looks like more is a counter that was reset.
pub const RAIL_WATTS_MAX: f64 = 5000.0;

/// A counter may be stale by this much when read, so two reads close to each other may
/// differ by the energy of this many seconds.
const STALE_S: f64 = 1.0;

/// The energy since the last reading cannot be known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap(
    /// Why, as a clause.
    pub String,
);

/// Energy of one rail since its first reading.
///
/// Energy rails: `E += count - last`, modulo the wrap; kept as an integer. One wrap between
/// two readings is seen; several are not, and cannot be. So a pause longer than
/// `wraps_at / RAIL_WATTS_MAX` (52 s for a usual RAPL range of 262 kJ) is a gap, not a
/// number, and so is a step that would need more than [`RAIL_WATTS_MAX`].
/// Power rails: trapezoidal rule, `E += (P + P_last) / 2 * dt`.
#[derive(Clone, Debug)]
pub struct Counter {
    kind: RailKind,
    last: Option<(f64, i64)>,
    counted_uj: u64,
    integrated_uj: f64,
}

impl Counter {
    /// A counter without readings.
    pub fn new(kind: RailKind) -> Self {
        Self {
            kind,
            last: None,
            counted_uj: 0,
            integrated_uj: 0.0,
        }
    }

    /// Joules since the first reading, without what fell into gaps.
    pub fn joules(&self) -> f64 {
        1e-6 * (self.counted_uj as f64 + self.integrated_uj)
    }

    /// The last reading is too old to go on from.
    pub fn forget(&mut self) {
        self.last = None;
    }

    /// Takes a reading (micro-joules or micro-watts) made at `t_s` seconds.
    ///
    /// # Errors
    /// [`Gap`]: the energy since the last reading is unknown; counting goes on from here.
    pub fn advance(&mut self, t_s: f64, reading: i64) -> Result<(), Gap> {
        let Some((t_last_s, last)) = self.last.replace((t_s, reading)) else {
            return Ok(());
        };
        let dt_s = (t_s - t_last_s).max(0.0);
        match self.kind {
            RailKind::Power => {
                self.integrated_uj += 0.5 * (reading as f64 + last as f64) * dt_s;
                Ok(())
            }
            RailKind::Energy { wraps_at_uj } => {
                self.counted_uj += energy_step_uj(last, reading, dt_s, wraps_at_uj)?;
                Ok(())
            }
        }
    }
}

/// Micro-joules from counter value `last` to `now`, `dt_s` seconds later.
fn energy_step_uj(last: i64, now: i64, dt_s: f64, wraps_at_uj: Option<u64>) -> Result<u64, Gap> {
    let (Ok(last), Ok(now)) = (u64::try_from(last), u64::try_from(now)) else {
        return Err(Gap("its energy counter is negative".into()));
    };
    if let Some(range_uj) = wraps_at_uj {
        let pause_max_s = 1e-6 * range_uj as f64 / RAIL_WATTS_MAX;
        if dt_s > pause_max_s.max(STALE_S) {
            return Err(Gap(format!(
                "{dt_s:.0} s passed between two readings, and its counter may wrap more than \
                 once in {pause_max_s:.0} s"
            )));
        }
    }
    let step_uj = match (now.checked_sub(last), wraps_at_uj) {
        (Some(step), _) => step,
        (None, Some(range_uj)) if last <= range_uj => range_uj - last + now,
        (None, _) => return Err(Gap("its energy counter went backwards".into())),
    };
    let limit_uj = 1e6 * RAIL_WATTS_MAX * (dt_s + STALE_S);
    if step_uj as f64 > limit_uj {
        return Err(Gap(format!(
            "its energy counter jumped by {:.0} J in {dt_s:.3} s",
            1e-6 * step_uj as f64
        )));
    }
    Ok(step_uj)
}
