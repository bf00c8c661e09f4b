//! The steps of a slice whose columns are too far apart for 16 bits: no pattern that a processor would see
//! leads there, so they are asked for ahead of time, where the vector is large enough for it to pay.

use super::Real;
use super::columns::{ALL, ahead, gather, second_values, values};
use super::group::{Group, WIDTH};
use super::mat::{FAR, GROUPS, Mat, SLICE, Sums, Terms};
use super::steps::{copied, or, places};
use super::stream::{prefetch, prefetch_once, prefetch_second};

/// By how many slices [`Mat::scattered`] asks ahead of the one that it reads.
const AHEAD: usize = 2;

/// How far ahead [`Mat::scattered`] asks for values and for differences that are to come into the second
/// cache. Slices of five steps of doubles have 1280 bytes of values, and a first step along a diagonal asks
/// 4 KiB ahead ([`ahead`]), which is 256 bytes on within a later slice. So is this: every line is asked for.
const VALUES_AHEAD_BYTES: usize = 1536;
const DIFFERENCES_AHEAD_BYTES: usize = 2048;

/// What of a slice is not asked for yet.
struct Asking<'a> {
    /// Mask and base of each step.
    steps: &'a [[u32; 2]],
    /// Differences, from the first step's on.
    differences: &'a [u32],
    is_packed: bool,
    /// First row.
    row: u32,
}

impl Asking<'_> {
    /// Asks for `x` at the columns of the next `steps`, into the first cache or the second.
    #[inline(always)]
    fn ask<T: Real, const X: usize, const FIRST: bool>(&mut self, steps: usize, x: [&[T]; X]) {
        let (now, later) = self.steps.split_at(steps.min(self.steps.len()));
        for &[mask, base] in now {
            let (own, rest) = self.differences.split_at(places(mask, self.is_packed));
            for &difference in own {
                let column = self.row.wrapping_add(base).wrapping_add(difference);
                for x in x {
                    if FIRST {
                        prefetch(x, column as usize);
                    } else {
                        prefetch_second(x, column as usize);
                    }
                }
            }
            self.differences = rest;
        }
        self.steps = later;
    }
}

impl<'a, T: Real> Mat<'a, T> {
    /// What is to be asked for of the slice of row `i`, if there is such a slice and it is [`FAR`].
    #[inline(always)]
    fn asking(&self, i: usize) -> Option<Asking<'a>> {
        self.slices.get(i / SLICE).filter(|s| s[3] & FAR != 0)?;
        let b = self.block(i);
        let (short, wide) = b.steps[b.ones..].split_at(b.short - b.ones);
        let mut halves = 2 * b.differences;
        for &[mask, _] in short {
            halves += places(mask, b.packed);
        }
        Some(Asking {
            steps: wide,
            differences: &self.index[halves.div_ceil(2)..],
            is_packed: b.packed,
            row: i as u32,
        })
    }

    /// Asks for `x` at the columns of the slice after that of row `i`. A first-level cache soon has all
    /// the misses under way that it can have; the second one has room for more (tetrahedra in random
    /// order, 200K on a Zen 4 by AVX2: without, into the first level, into the second 2.8, 2.3, 1.9 ms:
    /// `couloir bench spmv --matrix tet:N --order random --where cpu --device none --threads 1 --flush`).
    /// What this cache holds is not asked for (Xeon by AVX-512 with 2 MiB of it, the same without
    /// `--flush`: 100K 0.59 -> 0.37 ms, 200K 1.16 -> 0.93; with it 200K 1.90 -> 1.75). By AVX-512 slices
    /// that are not packed, for one vector, are left to [`scattered`](Self::scattered), and so are those of
    /// matrices that stay out of the outer caches: see `once.rs`.
    #[inline(always)]
    pub(super) fn fetch_scattered<const X: usize>(&self, i: usize, x: [&[T]; X]) {
        if let Some(mut asking) = self.asking(i + SLICE) {
            asking.ask::<T, X, false>(usize::MAX, x);
        }
    }

    /// `s` with the terms of these `wide` steps, none of them packed, whose values begin at `value` and
    /// differences at `d`: group by group, of [`Once`](super::once::Once) numbers, else step by step, so that
    /// what is stored is read as it lies in memory. Each group or step first asks for its share of the
    /// columns of a later slice; into the first cache, of such numbers, else into the second. A row that
    /// lacks an entry has another's column, so all are read.
    ///
    /// Into the first: Zen 5 with 32 MiB of last cache, `couloir bench K --matrix tet:1600000 --order
    /// random --where cpu --device none --threads T`, medians in turns,
    /// [`fetch_scattered`](Self::fetch_scattered) -> this:
    /// `spmv` 8.2 -> 6.7 ms, by two threads 4.2 -> 3.4, with `--flush` 9.3 -> 7.3 and 4.4 -> 3.8; `pcg`
    /// 9.1 -> 8.0 and 5.4 -> 4.4. One and three slices ahead with `--flush` 7.9 and 8.5, two 7.0. It costs
    /// where memory alone holds the vector: `spmv` of 6.4M (51 MB) by two threads 34.0 -> 36.3.
    ///
    /// Into the second: a Xeon (family 6, model 167) with 2 MiB of it and 480 MiB of last cache, the same
    /// commands: `spmv` 29.7 -> 24.0 ms, by two threads 14.1 -> 10.7, with `--flush` 30.2 -> 24.4 and 14.8
    /// -> 11.2; `pcg` 33.8 -> 26.6 and 16.8 -> 13.4. By trial builds, with `--flush`, one slice ahead, two,
    /// four 24.3, 24.0, 24.5; into the first cache 25.8, 26.0, 26.7; nothing asked for 27.3. Of several
    /// vectors it would cost (`gspmv` 122 -> 138), so they are asked for in one burst. Since then values and
    /// differences come into the second cache, too: `spmv` 21.2 -> 20.3, with `--flush` 22.7 -> 21.7, by two
    /// threads 10.9 -> 10.2, `pcg` 24.4 -> 23.9; and steps come in turn, not groups, with values asked for 1.5
    /// KiB ahead, not 4: with `--flush` 23.7 -> 22.9, by two threads 11.5 -> 11.3, without 22.5 -> 22.4, `pcg`
    /// 26.4 -> 25.9 and 14.4 -> 13.6. Not measured on a Zen 4.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    pub(super) fn scattered<
        Q: Terms<T, P, X, S>,
        const P: usize,
        const X: usize,
        const S: usize,
    >(
        &self,
        wide: &[[u32; 2]],
        d: usize,
        i: usize,
        planes: [&[T]; P],
        value: usize,
        x: [&[T]; X],
        before: &Sums<T, S>,
    ) -> Sums<T, S> {
        let mut s = copied(before);
        let asking = &mut self.asking(i + AHEAD * SLICE);
        if T::ONCE {
            let share = share(asking, GROUPS);
            for g in 0..GROUPS {
                if let Some(asking) = asking {
                    asking.ask::<T, X, true>(share, x);
                }
                let mut sum = s[g];
                for (k, &step) in wide.iter().enumerate() {
                    let at = k * SLICE + g * WIDTH;
                    sum = self.entries::<Q, P, X, S>(step, d, at, i, planes, value, x, sum);
                }
                s[g] = sum;
            }
            return s;
        }
        let share = share(asking, wide.len().max(1));
        for (k, &step) in wide.iter().enumerate() {
            if let Some(asking) = asking {
                asking.ask::<T, X, false>(share, x);
            }
            for g in 0..GROUPS {
                let at = k * SLICE + g * WIDTH;
                s[g] = self.entries::<Q, P, X, S>(step, d, at, i, planes, value, x, s[g]);
            }
        }
        s
    }

    /// `sum` with what the entries of a group add, the `at`th ones of the steps whose values begin at `value`
    /// and differences at `d`.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn entries<Q: Terms<T, P, X, S>, const P: usize, const X: usize, const S: usize>(
        &self,
        [mask, base]: [u32; 2],
        d: usize,
        at: usize,
        i: usize,
        planes: [&[T]; P],
        value: usize,
        x: [&[T]; X],
        sum: [Group<T>; S],
    ) -> [Group<T>; S] {
        let v = if T::ONCE {
            let later = ahead::<T>() * size_of::<T>() / size_of::<u32>();
            prefetch_once(self.index, d + at + later);
            values::<T, P, true, false>(planes, value + at, ALL)
        } else {
            if at.is_multiple_of(2 * WIDTH) {
                prefetch_second(
                    self.index,
                    d + at + DIFFERENCES_AHEAD_BYTES / size_of::<u32>(),
                );
            }
            second_values(planes, value + at, VALUES_AHEAD_BYTES)
        };
        let base = (i as u32).wrapping_add(base);
        let xs = gather::<T, u32, X, true>(x, base, self.index, d + at, ALL);
        or(mask >> (at % SLICE), Q::add(v, xs, sum), sum)
    }
}

/// How many steps of a later slice are asked for at a time, `times` in all.
#[inline(always)]
fn share(asking: &Option<Asking<'_>>, times: usize) -> usize {
    asking.as_ref().map_or(0, |a| a.steps.len().div_ceil(times))
}
