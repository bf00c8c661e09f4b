//! The CPU's side of a call: the rows from the cut on, dealt out to threads.

use std::ops::Range;

use crate::cluster::Halo;
use crate::kernel::group::flush_streams;
use crate::kernel::repeats::Repeats;
use crate::kernel::{
    MAX_GATHER, MAX_INOUT, MAX_MATS, MAX_OUT, MAX_OWN, MAX_REDUCTIONS, MAX_REPEATED, Mat, Real,
    Rows,
};
use crate::node::{BLOCK, Pool, Shares};

/// A mutable slice whose disjoint parts are handed to threads. Element 0 is row (or block)
/// `first`.
#[derive(Clone, Copy)]
pub(super) struct Span<T> {
    pointer: *mut T,
    len: usize,
    first: usize,
}

// SAFETY: shared between threads a span does nothing but hand out parts, whose ranges the caller
// of `part` keeps apart; T is sent with them.
unsafe impl<T: Send> Sync for Span<T> {}

impl<T> Default for Span<T> {
    fn default() -> Self {
        Self {
            pointer: std::ptr::dangling_mut(),
            len: 0,
            first: 0,
        }
    }
}

impl<T> Span<T> {
    pub(super) fn new(slice: &mut [T], first: usize) -> Self {
        Self {
            pointer: slice.as_mut_ptr(),
            len: slice.len(),
            first,
        }
    }

    /// Elements `from..to` by global number; empty for an unused operand.
    ///
    /// # Safety
    /// The slice that the span was made from is borrowed for `'a`, and ranges handed out at the
    /// same time do not overlap.
    pub(super) unsafe fn part<'a>(self, from: usize, to: usize) -> &'a mut [T] {
        if self.len == 0 {
            return &mut [];
        }
        assert!(self.first <= from && from <= to && to - self.first <= self.len);
        // SAFETY: in range by the assertion; unaliased by the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.add(from - self.first), to - from) }
    }
}

/// Operands of the CPU's rows.
pub(super) struct HostCall<'a, T: Real> {
    pub out: [Span<T>; MAX_OUT],
    pub inout: [Span<T>; MAX_INOUT],
    pub partial: [Span<T>; MAX_REDUCTIONS],
    /// Element 0 is the row of the cut.
    pub own: [&'a [T]; MAX_OWN],
    pub repeated: [Repeats<'a, T>; MAX_REPEATED],
    pub gather: [&'a [T]; MAX_GATHER],
    pub mats: [Mat<'a, T>; MAX_MATS],
    pub scalars: &'a [T],
    pub state: &'a [T],
    /// See [`Rows::stream`].
    pub stream: bool,
}

/// What only the thread that made this may touch.
struct Main<'a>(Option<(&'a Halo, std::thread::ThreadId)>);

// SAFETY: `get` gives the halo to the thread that made this alone.
unsafe impl Sync for Main<'_> {}

impl<'a> Main<'a> {
    fn get(&self) -> Option<&'a Halo> {
        let (halo, maker) = self.0?;
        (std::thread::current().id() == maker).then_some(halo)
    }
}

// SAFETY: shared between the pool's threads for one call; spans are only used through `part`
// with each thread's own range, everything else is read.
unsafe impl<T: Real> Sync for HostCall<'_, T> {}

/// Blocks that the calling thread computes between two looks at messages under way.
const BLOCKS_PER_POLL: usize = 16;

impl<T: Real> HostCall<'_, T> {
    /// Runs `path` on `rows`, a contiguous part per thread; row `cut` is element 0 of spans and own
    /// operands. The calling thread calls `poll` now and then.
    pub(super) fn run(
        &self,
        pool: &Pool,
        shares: &Shares,
        path: fn(&mut Rows<'_, T>),
        cut: usize,
        rows: Range<usize>,
        poll: Option<&Halo>,
    ) {
        let poll = Main(poll.map(|halo| (halo, std::thread::current().id())));
        pool.deal(shares, rows.start / BLOCK..rows.end / BLOCK, &|blocks| {
            let mut poll = poll.get();
            let mut start = blocks.start;
            while start < blocks.end {
                let end = match poll {
                    Some(_) => (start + BLOCKS_PER_POLL).min(blocks.end),
                    None => blocks.end,
                };
                self.part(path, cut, start..end);
                start = end;
                poll = poll.filter(|halo| !halo.progress());
            }
        });
    }

    fn part(&self, path: fn(&mut Rows<'_, T>), cut: usize, blocks: Range<usize>) {
        let (from, to) = (blocks.start * BLOCK, blocks.end * BLOCK);
        // SAFETY: the spans were made from slices that the caller of `run` borrows until the
        // pool has finished, and the threads' block ranges do not overlap.
        let mut r = unsafe {
            Rows {
                first: from,
                n: to - from,
                out: self.out.map(|s| s.part(from, to)),
                inout: self.inout.map(|s| s.part(from, to)),
                partial: self.partial.map(|s| s.part(blocks.start, blocks.end)),
                own: self.own.map(|o| o.get(from - cut..to - cut).unwrap_or(&[])),
                repeated: self.repeated,
                gather: self.gather,
                mats: self.mats,
                scalars: self.scalars,
                state: self.state,
                stream: self.stream,
            }
        };
        path(&mut r);
        if self.stream {
            flush_streams();
        }
    }
}
