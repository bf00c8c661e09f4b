//! Bytes from rank to rank at the start and end of a run, where nothing is in a hurry.

use super::{Comm, Ticket};
use crate::Result;

const LENGTH: i32 = 11;
const BODY: i32 = 12;
/// Bytes of one message at most: MPI counts them with 32 bits.
const CHUNK: usize = 1 << 30;

impl Comm {
    /// Sends `data` to rank `to`, which calls [`Comm::receive`].
    ///
    /// # Errors
    /// A rank no longer answers.
    pub fn send(&self, to: usize, data: &[u8]) -> Result<()> {
        let Some(transport) = self.transport() else {
            return Ok(());
        };
        let length = (data.len() as u64).to_le_bytes();
        let mut tickets = Vec::new();
        // SAFETY: `length` and `data` outlive the wait, which returns when all is sent (or the
        // job is about to end).
        unsafe {
            tickets.push(transport.send(to, LENGTH, length.as_ptr(), length.len())?);
            for part in data.chunks(CHUNK) {
                tickets.push(transport.send(to, BODY, part.as_ptr(), part.len())?);
            }
        }
        self.wait(&mut tickets, &format!("a message to {}", self.name_of(to)))
    }

    /// What rank `from` sends.
    ///
    /// # Errors
    /// A rank no longer answers.
    pub fn receive(&self, from: usize) -> Result<Vec<u8>> {
        let Some(transport) = self.transport() else {
            return Ok(Vec::new());
        };
        let what = format!("a message from {}", self.name_of(from));
        let mut length = [0u8; 8];
        // SAFETY: `length` outlives the wait and is read after it.
        let ticket = unsafe { transport.receive(from, LENGTH, length.as_mut_ptr(), 8) }?;
        self.wait(&mut [ticket], &what)?;
        let mut data = vec![0u8; u64::from_le_bytes(length) as usize];
        let mut tickets: Vec<Ticket> = Vec::new();
        for part in data.chunks_mut(CHUNK) {
            // SAFETY: `data` outlives the wait and is read after it; chunks do not overlap.
            tickets.push(unsafe { transport.receive(from, BODY, part.as_mut_ptr(), part.len()) }?);
        }
        self.wait(&mut tickets, &what)?;
        Ok(data)
    }

    /// Rank 0's `data` on every rank.
    ///
    /// # Errors
    /// A rank no longer answers.
    pub fn broadcast(&self, data: Vec<u8>) -> Result<Vec<u8>> {
        if !self.leads() {
            return self.receive(0);
        }
        (1..self.size()).try_for_each(|to| self.send(to, &data))?;
        Ok(data)
    }

    /// What each rank gives, on rank 0, by rank; empty on the others.
    ///
    /// # Errors
    /// A rank no longer answers.
    pub fn collect(&self, data: &[u8]) -> Result<Vec<Vec<u8>>> {
        if !self.leads() {
            self.send(0, data)?;
            return Ok(Vec::new());
        }
        let others = (1..self.size()).map(|from| self.receive(from));
        std::iter::once(Ok(data.to_vec())).chain(others).collect()
    }

    /// What each rank gives, on every rank, by rank.
    ///
    /// # Errors
    /// A rank no longer answers.
    pub fn gather(&self, data: &[u8]) -> Result<Vec<Vec<u8>>> {
        let all = self.collect(data)?;
        let lengths: Vec<u64> = all.iter().map(|d| d.len() as u64).collect();
        let lengths = self.broadcast(bytemuck::cast_slice(&lengths).to_vec())?;
        let joined = self.broadcast(all.concat())?;
        let mut rest = joined.as_slice();
        let lengths = lengths.chunks_exact(8).map(|c| {
            c.iter()
                .rev()
                .fold(0u64, |n, &byte| n << 8 | u64::from(byte)) as usize
        });
        Ok(lengths
            .map(|n| {
                let (head, tail) = rest.split_at(n.min(rest.len()));
                rest = tail;
                head.to_vec()
            })
            .collect())
    }
}
