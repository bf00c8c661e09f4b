//! What two neighbours exchange.

use std::ops::Range;

/// How far an exchange reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Cells that share a face with an owned one.
    Face,
    /// All that the operators of this rank read.
    Node,
}

/// What one neighbour gets and gives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Link {
    /// The neighbour.
    pub rank: usize,
    /// Owned rows that it gets; the first `send_near` are those that share a face.
    pub send: Vec<u32>,
    /// See `send`.
    pub send_near: usize,
    /// Halo places of what it gives, near ones.
    pub near: Range<usize>,
    /// The same for those beyond.
    pub far: Range<usize>,
}

impl Link {
    pub(super) fn sent(&self, reach: Reach) -> &[u32] {
        match reach {
            Reach::Face => &self.send[..self.send_near],
            Reach::Node => &self.send,
        }
    }

    pub(super) fn places(&self, reach: Reach) -> [Range<usize>; 2] {
        match reach {
            Reach::Face => [self.near.clone(), 0..0],
            Reach::Node => [self.near.clone(), self.far.clone()],
        }
    }

    pub(super) fn received(&self, reach: Reach) -> usize {
        self.places(reach).map(|r| r.len()).iter().sum()
    }
}
