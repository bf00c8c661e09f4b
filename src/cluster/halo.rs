//! Which values go to which neighbour, and where those that come are kept.
//!
//! Vectors hold owned values first; the halo begins at the next whole block (see
//! [`Buffer::with_halo`]). It is sorted by reach (cells that share a face with an owned one
//! first), then by rank, then by the cell's number in the whole mesh.

use std::cell::{RefCell, RefMut};
use std::rc::Rc;
use std::time::Instant;

use bytemuck::Pod;

use super::comm::{Comm, Ticket};
pub use super::link::{Link, Reach};
use super::mail::Mail;
use crate::Result;
use crate::node::{Buffer, Device};

const TAG: i32 = 1;

/// Memory of an exchange; words, so that any number type fits.
#[derive(Default)]
struct Post {
    send: Vec<u64>,
    receive: Vec<u64>,
    tickets: Vec<Ticket>,
    fields: usize,
    begun: Option<Instant>,
    /// Not before, over a pretended network.
    due: Option<Instant>,
}

/// The border of a rank.
pub struct Halo {
    comm: Rc<Comm>,
    links: Vec<Link>,
    len: usize,
    /// First owned row that any neighbour gets, by [`Reach`].
    first_sent: [usize; 2],
    /// For messages.
    awaited: String,
    post: RefCell<Post>,
    /// Where a device packs and places.
    mail: RefCell<Option<Mail>>,
}

impl std::fmt::Debug for Halo {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Halo")
            .field("links", &self.links)
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

impl Halo {
    /// No neighbours.
    pub fn none() -> Rc<Self> {
        Rc::new(Self::new(Comm::solo(), Vec::new()))
    }

    /// The border described by `links`.
    pub fn new(comm: Rc<Comm>, links: Vec<Link>) -> Self {
        let len = links.iter().map(|l| l.near.end.max(l.far.end)).max();
        let first = |reach| {
            let rows = links.iter().flat_map(|l| l.sent(reach));
            rows.min().map_or(0, |&row| row as usize)
        };
        let ranks: Vec<String> = links.iter().map(|l| l.rank.to_string()).collect();
        Self {
            awaited: format!("halo values of rank {}", ranks.join(", ")),
            len: len.unwrap_or(0),
            first_sent: [Reach::Face, Reach::Node].map(first),
            comm,
            links,
            post: RefCell::default(),
            mail: RefCell::default(),
        }
    }

    /// The border of vectors that have some of the values alone, those of face neighbours: `row` is
    /// where they have an owned one, and `kept` tells which places of the halo they have. Of each
    /// place, the new one; neighbours must agree on what is kept.
    pub fn some(
        &self,
        row: impl Fn(usize) -> Option<u32>,
        kept: impl Fn(usize) -> bool,
    ) -> (Self, Vec<u32>) {
        let mut places = vec![0; self.len];
        let mut next = 0;
        let links = self.links.iter().map(|link| {
            let send = link.sent(Reach::Face).iter();
            let send: Vec<u32> = send.filter_map(|&i| row(i as usize)).collect();
            let start = next;
            for place in link.near.clone().filter(|&place| kept(place)) {
                places[place] = next as u32;
                next += 1;
            }
            Link {
                rank: link.rank,
                send_near: send.len(),
                send,
                near: start..next,
                far: next..next,
            }
        });
        let links = links.collect();
        (Self::new(Rc::clone(&self.comm), links), places)
    }

    /// The ranks.
    pub fn comm(&self) -> &Rc<Comm> {
        &self.comm
    }

    /// Halo values of a vector.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no neighbour.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// The neighbours.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Values that one exchange of a vector sends.
    pub fn sent(&self, reach: Reach) -> usize {
        self.links.iter().map(|l| l.sent(reach).len()).sum()
    }

    /// Values that one exchange of a vector receives.
    pub fn received(&self, reach: Reach) -> usize {
        self.links.iter().map(|l| l.received(reach)).sum()
    }

    /// Brings the halos of `fields` up to date, all in one message per neighbour.
    ///
    /// # Errors
    /// A rank no longer answers; a transfer between host and device failed.
    pub fn update<T: Pod>(&self, reach: Reach, fields: &mut [&mut Buffer<T>]) -> Result<()> {
        if self.links.is_empty() {
            return Ok(());
        }
        {
            let read: Vec<&Buffer<T>> = fields.iter().map(|b| &**b).collect();
            self.start(reach, &read)?;
        }
        self.wait()?;
        for (k, field) in fields.iter_mut().enumerate() {
            let count = self.len;
            self.place(reach, k, &mut field.halo_mut()?[..count]);
        }
        self.finish();
        Ok(())
    }

    /// Packs and posts the exchange of `fields`.
    pub(crate) fn start<T: Pod>(&self, reach: Reach, fields: &[&Buffer<T>]) -> Result<()> {
        let words = |values: usize| (values * fields.len() * size_of::<T>()).div_ceil(8);
        let base = {
            let mut post = self.post.borrow_mut();
            post.send.resize(words(self.sent(reach)), 0);
            post.receive.resize(words(self.received(reach)), 0);
            post.receive.as_mut_ptr().cast()
        };
        // SAFETY: `receive` is neither touched nor moved until `wait` has returned.
        unsafe { self.receive_to::<T>(reach, fields.len(), base) }?;
        let base = {
            let mut post = self.post.borrow_mut();
            let out: &mut [T] = bytemuck::cast_slice_mut(&mut post.send);
            let mut next = 0;
            for link in &self.links {
                for field in fields {
                    let from = self.first_sent[reach as usize].min(field.rows());
                    let values = field.share(0, from)?.host;
                    for (to, &row) in out[next..].iter_mut().zip(link.sent(reach)) {
                        *to = values[row as usize - from];
                    }
                    next += link.sent(reach).len();
                }
            }
            post.send.as_ptr().cast()
        };
        // SAFETY: as above, for `send`.
        unsafe { self.send_from::<T>(reach, fields.len(), base) }
    }

    /// Begins an exchange of so many vectors: what comes goes to `base`, the messages of the links
    /// one after the other, each with its values of the first vector first.
    ///
    /// # Safety
    /// There is room, which stays where it is and is touched by nobody, until [`wait`](Self::wait)
    /// has returned.
    pub(crate) unsafe fn receive_to<T: Pod>(
        &self,
        reach: Reach,
        fields: usize,
        base: *mut u8,
    ) -> Result<()> {
        let Some(transport) = self.comm.transport() else {
            return Ok(());
        };
        let mut post = self.post.borrow_mut();
        post.begun = Some(Instant::now());
        post.fields = fields;
        post.tickets.clear();
        let mut at = 0;
        for link in &self.links {
            let bytes = link.received(reach) * fields * size_of::<T>();
            if bytes == 0 {
                continue;
            }
            // SAFETY: the caller's promise.
            let ticket = unsafe { transport.receive(link.rank, TAG, base.add(at), bytes) }?;
            post.tickets.push(ticket);
            at += bytes;
        }
        Ok(())
    }

    /// Sends what is packed at `base`, in the same order.
    ///
    /// # Safety
    /// The values are there, stay where they are and are not changed, until [`wait`](Self::wait) has
    /// returned.
    pub(crate) unsafe fn send_from<T: Pod>(
        &self,
        reach: Reach,
        fields: usize,
        base: *const u8,
    ) -> Result<()> {
        let Some(transport) = self.comm.transport() else {
            return Ok(());
        };
        let mut post = self.post.borrow_mut();
        let mut at = 0;
        for link in &self.links {
            let bytes = link.sent(reach).len() * fields * size_of::<T>();
            if bytes == 0 {
                continue;
            }
            // SAFETY: the caller's promise.
            let ticket = unsafe { transport.send(link.rank, TAG, base.add(at), bytes) }?;
            post.tickets.push(ticket);
            at += bytes;
        }
        let received = self.received(reach) * fields * size_of::<T>();
        let bytes = at.max(received) as f64;
        post.due = self.comm.due(|n| n.exchange_s(bytes));
        self.comm.charge(|s| s.sent_bytes += at as u64);
        Ok(())
    }

    /// Where `device` packs and places; no exchange may be under way.
    pub(crate) fn mail(&self, device: &Rc<Device>) -> Result<RefMut<'_, Mail>> {
        let mut mail = self.mail.borrow_mut();
        let there = mail.take().filter(|m| m.is_of(device));
        let there = there.map_or_else(|| Mail::new(device, self), Ok)?;
        Ok(RefMut::map(mail, |m| m.insert(there)))
    }

    /// Drives the exchange under way; true where there is no more to drive.
    pub(crate) fn progress(&self) -> bool {
        match (self.comm.transport(), self.post.try_borrow_mut()) {
            // A failure shows again, with its name, when the exchange is waited for.
            (Some(transport), Ok(mut post)) => transport.done(&mut post.tickets).unwrap_or(true),
            _ => true,
        }
    }

    /// Waits for the exchange under way.
    pub(crate) fn wait(&self) -> Result<()> {
        let mut post = self.post.borrow_mut();
        self.comm.wait(&mut post.tickets, &self.awaited)?;
        self.comm.until(post.due.take());
        Ok(())
    }

    /// Copies what came for field `k` to its halo.
    pub(crate) fn place<T: Pod>(&self, reach: Reach, k: usize, halo: &mut [T]) {
        let post = self.post.borrow();
        let values: &[T] = bytemuck::cast_slice(&post.receive);
        let mut at = 0;
        for link in &self.links {
            let count = link.received(reach);
            let mut from = at + k * count;
            for place in link.places(reach) {
                let n = place.len();
                halo[place].copy_from_slice(&values[from..from + n]);
                from += n;
            }
            at += post.fields * count;
        }
    }

    /// Books the exchange.
    pub(crate) fn finish(&self) {
        if let Some(begun) = self.post.borrow_mut().begun.take() {
            self.comm.charge(|s| {
                s.exchange_s += begun.elapsed().as_secs_f64();
                s.exchanges += 1;
            });
        }
    }
}
