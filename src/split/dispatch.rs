//! One call on both sides: the device's rows are started, the host does its own meanwhile, and the
//! exchange of a halo with them.

use super::call::{Args, count, fits};
use super::engine::{Engine, Operands};
use super::host::{HostCall, Span};
use super::launch::is_small;
use super::site::Site;
use crate::cluster::Reach;
use crate::kernel::{Mat, Real, Shape};
use crate::node::memory::Arg;
use crate::sparse::Sell;
use crate::{Error, Result};

impl<T: Real> Engine<T> {
    /// Starts the device's part and does the host's.
    pub(super) fn dispatch(&self, site: &mut Site<T>, o: Operands<'_, '_, T>) -> Result<()> {
        fits(site, &o)?;
        if site.stats.calls == 0 {
            count(site, &o);
        }
        let rows = site.rows;
        let hidden = o.halo.filter(|h| !h.is_empty());
        // Without a halo to wait for, all rows are inner ones.
        let inner = match (hidden, o.mats.first()) {
            (Some(_), Some(m)) => m.inner_rows().min(rows),
            _ => rows,
        };
        let wanted = match site.handle.is_some() {
            true => self.cut(site),
            false => 0,
        };
        // Border rows are the host's, but where the device does all rows and keeps the halo.
        let carried = hidden.filter(|_| wanted == rows && self.carrier.is_some());
        let hidden = hidden.filter(|_| carried.is_none());
        let cut = match carried {
            Some(_) => rows,
            None => wanted.min(inner),
        };
        site.cut = cut;
        if o.first.is_some() && cut < rows {
            return Err(Error::failure(
                format!(
                    "{} ({}) was to be the device's alone",
                    site.kernel.name, site.label
                ),
                "report this as a defect",
            ));
        }
        let (device, host) = (cut > 0, cut < rows || hidden.is_some());
        let ends = self.ends(cut, rows);
        let to = if device { usize::MAX } else { 0 };
        let from = if host { 0 } else { usize::MAX };

        let mut args = Args::default();
        let mut call = HostCall {
            out: Default::default(),
            inout: Default::default(),
            partial: Default::default(),
            own: Default::default(),
            repeated: Default::default(),
            gather: Default::default(),
            mats: [Mat::default(); 2],
            scalars: o.scalars,
            state: &[],
            stream: site.stats.call_bytes > self.node.caches.last_bytes as f64,
        };
        // What is gathered is shared first: `share_parts` below must come after every `share`.
        for (g, (view, b)) in call.gather.iter_mut().zip(o.gather).enumerate() {
            let [reach_to, reach_from] = reach(&site.kernel.shape, o.mats, cut, g);
            // The host's view is whole even where its rows have no entries.
            let from = if host {
                reach_from.min(b.extent() - 1)
            } else {
                from
            };
            *view = b.share_reach(to.min(reach_to), from)?;
        }
        if let Some(halo) = hidden {
            // Before the launch: values that the device has left are read without waiting for it.
            halo.start(Reach::Face, o.gather)?;
        }
        if let Some(halo) = carried {
            self.collect(halo, Reach::Face, o.gather)?;
        }
        for (view, m) in call.mats.iter_mut().zip(o.mats) {
            *view = m.view(device, host)?;
        }
        if let Some(b) = o.state {
            call.state = b.share(to, from)?.host;
        }
        for (span, b) in call.out.iter_mut().zip(o.out.iter_mut()) {
            let (d, h) = b.split_at(ends, false)?;
            args.push(d.arg);
            *span = Span::new(h.rows, cut);
        }
        for (span, b) in call.inout.iter_mut().zip(o.inout.iter_mut()) {
            let (d, h) = b.split_at(ends, true)?;
            args.push(d.arg);
            *span = Span::new(h.rows, cut);
        }
        for b in &mut site.device_partial {
            args.push(b.split_at(usize::MAX, false)?.0.arg);
        }
        for (span, p) in call.partial.iter_mut().zip(&mut site.host_partial) {
            *span = Span::new(p, 0);
        }
        for (view, b) in call.own.iter_mut().zip(o.own) {
            // SAFETY: no `share` follows while this call uses the view; a buffer that is also
            // gathered is wholly shared already, and stays so.
            let s = unsafe { b.share_parts(ends) }?;
            args.push(s.device);
            *view = &s.host[..b.rows().saturating_sub(s.first).min(s.host.len())];
        }
        for (view, b) in call.repeated.iter_mut().zip(o.repeated) {
            *view = b.view(device, host)?;
            b.args().into_iter().for_each(|a| args.push(a));
        }
        for b in o.gather {
            args.push(b.arg());
        }
        for m in o.mats {
            args.push(m.slices().arg());
            args.push(m.index().arg());
            args.push(Arg::Words(m.usual()));
            for plane in m.planes() {
                args.push(plane.arg());
            }
            if is_small(&site.kernel.shape) {
                args.push(Arg::Words(m.same()));
            }
        }
        if device {
            self.launch(site, &args, &o, 0..cut.min(inner))?;
        }
        if let Some(halo) = carried {
            // SAFETY: the host takes no rows, and has no view of what it gathers.
            unsafe { self.deliver(halo, Reach::Face, o.gather) }?;
            self.launch(site, &args, &o, inner..rows)?;
        }
        if host {
            let (pool, path) = (&self.node.pool, site.kernel.host);
            if let Some(halo) = hidden {
                for (view, b) in call.gather.iter_mut().zip(o.gather) {
                    *view = &view[..b.rows()];
                }
                let mats = call.mats;
                for (view, m) in call.mats.iter_mut().zip(o.mats) {
                    *view = m.inner(*view);
                }
                call.run(pool, &site.shares, path, cut, cut..inner, Some(halo));
                if !site.border.is_empty() {
                    for (k, view) in call.gather.iter().take(o.gather.len()).enumerate() {
                        site.border.fill(k, view);
                    }
                }
                halo.wait()?;
                for (k, b) in o.gather.iter().enumerate() {
                    // SAFETY: the views of the call end at the owned rows, and the device computes
                    // inner rows, which read no further: nobody reads the halo now.
                    match unsafe { b.open_halo() } {
                        Some(values) => halo.place(Reach::Face, k, values),
                        None => halo.place(Reach::Face, k, site.border.halo_mut(k, b.rows())),
                    }
                }
                halo.finish();
                for (k, (view, b)) in call.gather.iter_mut().zip(o.gather).enumerate() {
                    *view = match site.border.is_empty() {
                        // SAFETY: the host shares all of it since before the launch; shared anew
                        // it would wait for the device.
                        true => unsafe { b.shared_before() },
                        false => site.border.vector(k),
                    };
                }
                call.mats = mats;
                call.run(pool, &site.shares, path, cut, inner..rows, None);
            } else {
                call.run(pool, &site.shares, path, cut, cut..rows, None);
            }
            site.shares.call_done();
        }
        Ok(())
    }
}

/// See [`Sell::reach`], of what gathers vector `g`: all of `mats`, everything where there is none. Where the
/// second has a row for each element of the first, its cut is where these rows' elements end, and each
/// reads vectors of its own.
fn reach<T: Real>(shape: &Shape, mats: &[&Sell<T>], cut: usize, g: usize) -> [usize; 2] {
    if let ([a, c], true) = (mats, shape.by_element) {
        return match shape.gathers(g) {
            0 => a.reach(cut),
            _ => c.reach(a.elements_before(cut)),
        };
    }
    let each = mats.iter().map(|m| m.reach(cut));
    each.reduce(|[a, b], [c, d]| [a.max(c), b.min(d)])
        .unwrap_or([usize::MAX, 0])
}
