//! Some of the ranks at work among themselves, while the others rest.

use std::rc::Rc;
use std::time::{Duration, Instant};

use super::{Comm, REDUCE_MOST};
use crate::{Error, Result};

/// Between two looks of a rank that rests.
const REST: Duration = Duration::from_micros(100);

impl Comm {
    /// The first `ranks` of these among themselves, for those; nothing for the others. All must call
    /// it together.
    ///
    /// # Errors
    /// [`Error::Input`] for more ranks than there are.
    pub fn first(self: &Rc<Self>, ranks: usize) -> Result<Option<Rc<Self>>> {
        if !(1..=self.size).contains(&ranks) {
            return Err(Error::input(
                format!("{ranks} ranks"),
                format!("{} process(es) were started", self.size),
                "start as many as the most ranks that are asked for",
            ));
        }
        let Some(transport) = self.transport.as_ref().filter(|_| ranks < self.size) else {
            return Ok(Some(Rc::clone(self)));
        };
        let part = transport.first(ranks)?;
        if self.rank >= ranks {
            return Ok(None);
        }
        let comm = Self::over(part.filter(|t| t.size() > 1));
        comm.hosts.replace(self.hosts()[..ranks].to_vec());
        comm.patience.set(self.patience.get());
        comm.polite.set(self.polite.get());
        comm.pretended.set(self.pretended.get());
        Ok(Some(Rc::new(comm)))
    }

    /// As [`Comm::barrier`]; who waits sleeps, and leaves caches and memory to those at work.
    ///
    /// # Errors
    /// As [`Comm::combine`].
    pub fn rest(&self) -> Result<()> {
        let Some(transport) = &self.transport else {
            return Ok(());
        };
        let mut values = [[0.0; 2 * REDUCE_MOST]; 2];
        // SAFETY: `values` outlives the wait below, which returns when the message is done or the
        // job is about to end.
        let mut ticket = [unsafe { transport.reduce(&raw mut values) }?];
        let start = Instant::now();
        while !transport.done(&mut ticket)? && start.elapsed() < self.patience.get() {
            std::thread::sleep(REST);
        }
        self.wait(&mut ticket, "the others")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_ranks_than_there_are_are_refused() {
        let alone = Comm::solo();
        for ranks in [0, 2] {
            let e = alone.first(ranks).map(|_| ()).expect_err("no such part");
            assert!(e.to_string().contains("start as many"), "{e}");
        }
        let all = alone.first(1).expect("itself").expect("a part");
        assert!(Rc::ptr_eq(&all, &alone));
        alone.rest().expect("nobody is waited for");
    }
}
