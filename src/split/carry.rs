//! The exchange of a halo where a device has memory of its own and does all rows: it packs what is
//! sent and places what has come, and of the vectors nothing else crosses the bus. The host drives
//! the messages while the device computes inner rows, and interface rows come last, on the device.

use opencl3::kernel::Kernel as ClKernel;

use super::engine::Engine;
use super::launch::{Programs, set_args};
use crate::Result;
use crate::cluster::{Halo, Reach};
use crate::kernel::Real;
use crate::node::memory::Arg;
use crate::node::{Buffer, Device, MemoryKind, Node};

/// The device's side, part of every program.
pub(super) const SOURCE: &str = include_str!("../../cl/halo.cl");

/// Work-items per group.
const GROUP: usize = 64;

/// The kernels.
pub(super) struct Carrier {
    pack: ClKernel,
    place: ClKernel,
}

impl Carrier {
    /// For a device with memory of its own; elsewhere the host packs and places.
    pub fn new(node: &Node, program: &Programs) -> Result<Option<Self>> {
        if node.memory != MemoryKind::Discrete {
            return Ok(None);
        }
        Ok(Some(Self {
            pack: program.kernel("pack_kernel")?,
            place: program.kernel("place_kernel")?,
        }))
    }
}

impl<T: Real> Engine<T> {
    /// Brings the halos of `fields` up to date, all in one message per neighbour.
    ///
    /// # Errors
    /// A rank no longer answers; the device failed.
    pub fn update(&self, halo: &Halo, reach: Reach, fields: &mut [&mut Buffer<T>]) -> Result<()> {
        let remote = self.carrier.is_some() && fields.iter().all(|f| f.is_remote());
        if halo.is_empty() || !remote {
            return halo.update(reach, fields);
        }
        let fields: Vec<&Buffer<T>> = fields.iter().map(|f| &**f).collect();
        self.collect(halo, reach, &fields)?;
        // SAFETY: the caller has lent the buffers to this call alone.
        unsafe { self.deliver(halo, reach, &fields) }
    }

    /// Where a buffer ends for a device that takes rows `[0, cut)` of so many: one with memory of its
    /// own that does all keeps the halo, too.
    pub(super) fn ends(&self, cut: usize, rows: usize) -> usize {
        match self.carrier {
            Some(_) if cut == rows => usize::MAX,
            _ => cut,
        }
    }

    /// Starts to pack what the exchange of `fields` sends, once all that was started is done.
    pub(super) fn collect(&self, halo: &Halo, reach: Reach, fields: &[&Buffer<T>]) -> Result<()> {
        let (Some(d), Some(carrier)) = (&self.node.device, &self.carrier) else {
            return Ok(());
        };
        let mut mail = halo.mail(d)?;
        let bytes = |values: usize| values * fields.len() * size_of::<T>();
        let lengths = [halo.sent(reach), halo.received(reach)].map(bytes);
        mail.fit(d, lengths)?;
        // SAFETY: the memory is as long as the message, and stays as it is until `deliver` has
        // waited for that, or for as long as the job does that fails before.
        unsafe { halo.receive_to::<T>(reach, fields.len(), mail.into.host.at()) }?;
        let list = mail.sent(reach);
        let (words, count) = (list.words.share(usize::MAX, usize::MAX)?.device, list.count);
        if count == 0 {
            return Ok(());
        }
        let out = mail.out.device.split_at(usize::MAX, false)?.0.arg;
        for (k, field) in fields.iter().enumerate() {
            let x = field.share(usize::MAX, usize::MAX)?.device;
            let values = [count, fields.len(), k].map(|n| n as u32);
            start(d, &carrier.pack, &[out, x, words], &values)?;
            field.count(count);
        }
        // SAFETY: both hold so many bytes, and live until `deliver` has waited, or are dropped
        // together, the one that waits first.
        unsafe { mail.out.host.fetch(out, lengths[0]) }
    }

    /// Sends what [`collect`](Self::collect) has packed, waits for what neighbours send, and starts
    /// to place it: what is started from now on finds it.
    ///
    /// # Safety
    /// No host's view of `fields` is in use from now on.
    pub(super) unsafe fn deliver(
        &self,
        halo: &Halo,
        reach: Reach,
        fields: &[&Buffer<T>],
    ) -> Result<()> {
        let (Some(d), Some(carrier)) = (&self.node.device, &self.carrier) else {
            return Ok(());
        };
        let mut mail = halo.mail(d)?;
        mail.out.host.wait()?;
        // SAFETY: the values have come from the device, and nobody changes them before the wait
        // below has ended.
        unsafe { halo.send_from::<T>(reach, fields.len(), mail.out.host.at()) }?;
        halo.wait()?;
        let count = mail.received(reach).count;
        if count > 0 {
            let into = mail.into.device.split_at(usize::MAX, false)?.0.arg;
            let bytes = count * fields.len() * size_of::<T>();
            // SAFETY: as in `collect`; the next exchange waits for the end before it begins.
            unsafe { mail.into.host.bring(into, bytes) }?;
            let words = mail.received(reach).words.share(usize::MAX, usize::MAX)?;
            for (k, field) in fields.iter().enumerate() {
                let x = field.share(usize::MAX, usize::MAX)?.device;
                let values = [count, fields.len(), k, field.rows()].map(|n| n as u32);
                start(d, &carrier.place, &[x, into, words.device], &values)?;
                // SAFETY: the caller's promise.
                unsafe { field.device_wrote() };
                field.count(count);
            }
        }
        halo.finish();
        Ok(())
    }
}

/// Starts `kernel` on as many values as the first of `values` says.
fn start(d: &Device, kernel: &ClKernel, args: &[Arg], values: &[u32]) -> Result<()> {
    let fail = |code| d.link.error("halo", code);
    let queue = &d.link.queue;
    queue.order().map_err(fail)?;
    set_args(kernel.get(), 0, args, values).map_err(fail)?;
    let items = (values[0] as usize).next_multiple_of(GROUP);
    queue.start(kernel.get(), items, GROUP).map_err(fail)
}

#[cfg(test)]
mod tests;
