//! A network by a few numbers, known or measured: an exchange of b bytes takes `t(b) = l + b / w`,
//! with the latency l and the bandwidth w of a link, and a sum over P ranks `h log2 P`. Of an
//! exchange the processor itself is busy for `o(b) = l' + b / w'`, whatever else there is to do.

use std::time::Instant;

use super::comm::Comm;
use crate::{Error, Result};

/// Bytes of the messages that are measured.
const SIZES: [usize; 6] = [8, 1 << 10, 1 << 13, 1 << 16, 1 << 18, 1 << 20];
/// Rounds of a measurement, and what one lasts at least.
const ROUNDS: usize = 7;
const ROUND_S: f64 = 0.01;
const TAG: i32 = 2;
/// Operations of a piece of work: as long as the CPU computes rows between two looks at messages.
const PIECE: usize = 1000;

/// What messages cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Network {
    /// Latency of an exchange, s.
    pub latency_s: f64,
    /// Bytes per second of a link, in each direction.
    pub bandwidth_bytes_s: f64,
    /// A sum over all ranks, per doubling of their number, s.
    pub hop_s: f64,
    /// Time that an exchange takes from the processor, s.
    pub busy_s: f64,
    /// The same per byte.
    pub busy_per_byte_s: f64,
}

impl Network {
    /// Networks known by name: Gigabit Ethernet over TCP, and InfiniBand QDR (32 Gbit/s of data, of
    /// which PCI Express of its time passes 3.2 GB/s).
    pub const KNOWN: [(&'static str, Self); 2] = [
        ("gige", Self::plain(50e-6, 117e6)),
        ("ib-qdr", Self::plain(1.7e-6, 3.2e9)),
    ];

    /// A network whose sums take its latency per doubling.
    pub const fn plain(latency_s: f64, bandwidth_bytes_s: f64) -> Self {
        Self {
            latency_s,
            bandwidth_bytes_s,
            hop_s: latency_s,
            busy_s: 0.0,
            busy_per_byte_s: 0.0,
        }
    }

    /// Seconds of an exchange of `bytes` with all neighbours at once.
    pub fn exchange_s(&self, bytes: f64) -> f64 {
        self.latency_s + bytes / self.bandwidth_bytes_s
    }

    /// Seconds of it that the processor is busy.
    pub fn busy_s(&self, bytes: f64) -> f64 {
        self.busy_s + bytes * self.busy_per_byte_s
    }

    /// Seconds of a sum over `ranks` ranks.
    pub fn reduce_s(&self, ranks: usize) -> f64 {
        f64::from(doublings(ranks)) * self.hop_s
    }

    /// The line nearest to measured `(bytes, seconds)`, each weighed by its own size.
    pub fn fit(points: &[(f64, f64)], hop_s: f64) -> Self {
        // Least squares of (l + b r - t) / t in l and r = 1 / w.
        let (mut a, mut b, mut c, mut d, mut e) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for &(bytes, seconds) in points {
            let weight = seconds.recip().powi(2);
            a += weight;
            b += weight * bytes;
            c += weight * bytes * bytes;
            d += weight * seconds;
            e += weight * seconds * bytes;
        }
        let determinant = a * c - b * b;
        let latency_s = (c * d - b * e) / determinant;
        let per_byte_s = (a * e - b * d) / determinant;
        Self {
            hop_s,
            ..Self::plain(
                latency_s.max(0.0),
                per_byte_s.max(f64::MIN_POSITIVE).recip(),
            )
        }
    }

    /// Measures between the ranks of `comm`: pairs exchange messages both ways, all at once.
    ///
    /// # Errors
    /// [`Error::Input`] for one rank; a rank no longer answers.
    pub fn measure(comm: &Comm) -> Result<Self> {
        if comm.size() < 2 {
            return Err(Error::input(
                "--network this",
                "one process has no network to measure",
                "start several with mpirun, or name a network",
            ));
        }
        let most = SIZES[SIZES.len() - 1];
        let mut buffers = [vec![0u8; most], vec![0u8; most]];
        let alone = |pieces| {
            median(comm, &mut || {
                toil(pieces, || ());
                Ok(())
            })
        };
        let piece_s = alone(1)?;
        let (mut points, mut busy) = (Vec::new(), Vec::new());
        for bytes in SIZES {
            let seconds = median(comm, &mut || swap(comm, &mut buffers, bytes, 0))?;
            points.push((bytes as f64, seconds));
            // Work that hides the message, but for what the processor itself does for it.
            let pieces = (2.0 * seconds / piece_s).ceil() as usize;
            let beside_s = median(comm, &mut || swap(comm, &mut buffers, bytes, pieces))?;
            let own_s = beside_s - alone(pieces)?;
            busy.push((bytes as f64, own_s.clamp(1e-9, seconds)));
        }
        let sum_s = median(comm, &mut || comm.barrier())?;
        let own = Self::fit(&busy, 0.0);
        Ok(Self {
            busy_s: own.latency_s,
            busy_per_byte_s: own.bandwidth_bytes_s.recip(),
            ..Self::fit(&points, sum_s / f64::from(doublings(comm.size())))
        })
    }
}

/// The least k with `2^k >= ranks`.
fn doublings(ranks: usize) -> u32 {
    ranks.max(1).next_power_of_two().trailing_zeros()
}

/// A few microseconds of work, `pieces` times, each followed by a look at messages.
fn toil(pieces: usize, mut look: impl FnMut()) {
    let mut x = 1.0f64;
    for _ in 0..pieces {
        for _ in 0..PIECE {
            x = std::hint::black_box(x * 0.999 + 1.0);
        }
        look();
    }
}

/// One message each way between the ranks of a pair, beside `pieces` of work; the last of an odd
/// number has the work alone.
fn swap(comm: &Comm, [out, into]: &mut [Vec<u8>; 2], bytes: usize, pieces: usize) -> Result<()> {
    let other = comm.rank() ^ 1;
    let (Some(transport), true) = (comm.transport(), other < comm.size()) else {
        toil(pieces, || ());
        return Ok(());
    };
    // SAFETY: both buffers are longer than `bytes`, and neither is touched before the wait ends.
    let mut tickets = unsafe {
        [
            transport.receive(other, TAG, into.as_mut_ptr(), bytes)?,
            transport.send(other, TAG, out.as_ptr(), bytes)?,
        ]
    };
    toil(pieces, || {
        // A failure shows again in the wait.
        let _ = transport.done(&mut tickets);
    });
    comm.wait(&mut tickets, "a message of a measurement")
}

/// Median over rounds of the slowest rank's time of a call.
fn median(comm: &Comm, call: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
    let mut round = |calls: usize| {
        comm.barrier()?;
        let start = Instant::now();
        (0..calls).try_for_each(|_| call())?;
        comm.largest(start.elapsed().as_secs_f64())
    };
    let mut calls = 4;
    loop {
        let seconds = round(calls)?;
        if seconds >= ROUND_S || calls >= 100_000 {
            break;
        }
        // All ranks have seen the same time.
        calls = (calls as f64 * (ROUND_S / seconds.max(1e-9)).clamp(1.5, 50.0)).ceil() as usize;
    }
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        times.push(round(calls)? / calls as f64);
    }
    times.sort_unstable_by(f64::total_cmp);
    Ok(times[ROUNDS / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fit_finds_the_line_that_it_is_given() {
        let truth = Network::plain(30e-6, 110e6);
        let near = |n: Network, part: f64| {
            assert!((n.latency_s / truth.latency_s - 1.0).abs() < part, "{n:?}");
            let ratio = n.bandwidth_bytes_s / truth.bandwidth_bytes_s;
            assert!((ratio - 1.0).abs() < part, "{n:?}");
        };
        let points = SIZES.map(|b| (b as f64, truth.exchange_s(b as f64)));
        near(Network::fit(&points, 1e-5), 1e-9);
        let noise = [1.05, 0.95].into_iter().cycle();
        let noisy: Vec<_> = points
            .iter()
            .zip(noise)
            .map(|(p, f)| (p.0, p.1 * f))
            .collect();
        near(Network::fit(&noisy, 1e-5), 0.1);
    }

    #[test]
    fn sums_go_by_doublings() {
        let n = Network::plain(1e-6, 1e9);
        assert_eq!([1, 2, 3, 4, 64].map(doublings), [0, 1, 2, 2, 6]);
        assert_eq!(n.reduce_s(1), 0.0);
        assert!((n.reduce_s(64) - 6e-6).abs() < 1e-18);
    }

    #[test]
    fn one_process_has_no_network() {
        let e = Network::measure(&Comm::solo()).expect_err("no network");
        assert!(e.to_string().contains("mpirun"), "{e}");
    }
}
