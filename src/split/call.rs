//! What surrounds a call: its arguments, checks, counts and reductions.

use super::engine::Operands;
use super::site::{Site, Traffic};
use crate::kernel::elements::ELEMENTS;
use crate::kernel::scalars::{total, total_from};
use crate::kernel::total::Total;
use crate::kernel::{MAX_MATS, MAX_REDUCTIONS, Real};
use crate::node::memory::Arg;
use crate::node::{BLOCK, Buffer};
use crate::{Error, Result};

/// Device arguments of a call, in order.
pub(super) struct Args {
    list: [Arg; 48],
    n: usize,
}

impl Default for Args {
    fn default() -> Self {
        Self {
            list: [Arg::None; 48],
            n: 0,
        }
    }
}

impl Args {
    pub fn push(&mut self, a: Arg) {
        self.list[self.n] = a;
        self.n += 1;
    }

    pub fn all(&self) -> &[Arg] {
        &self.list[..self.n]
    }
}

/// The reductions of a call; see [`reduction`].
pub(super) fn reductions<T: Real>(
    site: &Site<T>,
    added: bool,
) -> Result<[Total<T>; MAX_REDUCTIONS]> {
    let mut all = [Total::ZERO; MAX_REDUCTIONS];
    for (k, value) in all[..site.kernel.shape.reduce.len()].iter_mut().enumerate() {
        *value = reduction(site, k, added)?;
    }
    Ok(all)
}

/// Adds the partial results of the k-th reduction of both sides, in the order of the blocks; the
/// device's by lanes where it has [added them up](Engine::add_up).
///
/// [`Engine`]: super::engine::Engine
pub(super) fn reduction<T: Real>(site: &Site<T>, k: usize, added: bool) -> Result<Total<T>> {
    let kind = site.kernel.shape.reduce[k];
    let blocks = match site.device_partial.get(k) {
        Some(_) => site.cut.min(site.counted) / BLOCK,
        None => 0,
    };
    let host = &site.host_partial[k][blocks..site.counted / BLOCK];
    Ok(if added {
        let lanes = site.device_lanes[k].share(0, 0)?.host;
        total_from(kind, lanes, blocks, host)
    } else if blocks > 0 {
        let device = site.device_partial[k].share(0, 0)?.host;
        total(kind, [&device[..blocks], host])
    } else {
        total(kind, [&[], host])
    })
}

/// Do the operands fit the kernel's shape and the site's rows?
pub(super) fn fits<T: Real>(site: &Site<T>, o: &Operands<'_, '_, T>) -> Result<()> {
    let s = &site.kernel.shape;
    let counts = o.out.len() == s.out
        && o.inout.len() == s.inout
        && o.own.len() == s.own
        && o.repeated.len() == s.repeated
        && o.gather.len() == s.gather
        && o.mats.len() == s.mats.len()
        && o.mats
            .iter()
            .zip(s.mats)
            .all(|(m, &p)| m.planes().len() == p)
        && o.scalars.len() == s.scalars
        && o.state.map_or(0, Buffer::len) == s.state;
    let long = o
        .out
        .iter()
        .chain(o.inout.iter())
        .all(|b| b.rows() == site.rows)
        && o.own.iter().all(|b| b.rows() == site.rows)
        && (o
            .repeated
            .iter()
            .take(s.repeated - usize::from(s.by_element)))
        .all(|b| b.rows() == site.rows)
        && o.mats
            .iter()
            .take(if s.by_element { 1 } else { MAX_MATS })
            .all(|m| crate::node::padded(m.rows().max(1)) == site.rows);
    let wide = o.gather.iter().enumerate().all(|(g, b)| {
        let m = o.mats.get(s.gathers(g)).or(o.mats.last());
        m.is_some_and(|m| b.extent() >= m.cols())
    });
    // No halo: which elements' rows read one is not known to be those at the end.
    let elements = match o.mats {
        [a, c] if s.by_element => {
            let values = o.repeated.last().map_or(0, |v| v.len());
            o.halo.is_none()
                && c.rows() == a.elements()
                && values == a.elements()
                && a.most_of_a_slice() <= ELEMENTS
        }
        _ => !s.by_element,
    };
    if counts && long && wide && elements {
        return Ok(());
    }
    Err(Error::failure(
        format!(
            "operands of {} ({}) do not fit its shape",
            site.kernel.name, site.label
        ),
        "report this as a defect",
    ))
}

/// Flops and least bytes of one call.
pub(super) fn count<T: Real>(site: &mut Site<T>, o: &Operands<'_, '_, T>) {
    let size = size_of::<T>() as f64;
    let rows = o
        .out
        .iter()
        .chain(o.inout.iter())
        .map(|b| b.len())
        .chain(o.own.iter().map(|b| b.len()))
        .chain(o.repeated.iter().map(|b| b.len()))
        .chain(o.mats.iter().map(|m| m.rows()))
        .next()
        .unwrap_or(0) as f64;
    let also_gathered = |b: &&&Buffer<T>| o.gather.iter().any(|g| std::ptr::eq(*g, **b));
    let own = o.own.iter().filter(|b| !also_gathered(b)).count();
    let gathered: f64 = o.gather.iter().map(|b| b.len() as f64 * size).sum();
    let repeated: f64 = o.repeated.iter().map(|b| b.bytes()).sum();
    let mats: f64 = o.mats.iter().map(|m| m.bytes()).sum();
    let entries: f64 = o
        .mats
        .iter()
        .zip(site.kernel.flops.entry)
        .map(|(m, f)| m.nnz() as f64 * f)
        .sum();
    let traffic = Traffic {
        read_bytes: rows * size * own as f64 + repeated + gathered + mats,
        written_bytes: rows * size * o.out.len() as f64,
        updated_bytes: rows * size * o.inout.len() as f64,
    };
    site.stats.call_traffic = traffic;
    site.stats.call_bytes = traffic.bytes();
    site.stats.call_flops = rows * site.kernel.flops.row + entries;
}
