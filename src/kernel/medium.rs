//! Numbers of a processor with AVX2 but without AVX-512: rows that lack an entry leave no gap where
//! values and differences are packed, and what a compiler makes of a table of places is a load and an
//! address for each row. Here four rows' are loaded at once and put in place by one instruction; where
//! columns are packed, too, it is entry by entry (`single.rs`).

use std::arch::x86_64::*;

use bytemuck::{Pod, Zeroable};

use super::Real;
use super::columns::Difference;
use super::group::WIDTH;
use super::wrapped::{members, operators};

/// A number that computes to the same bits. Only where the processor has the instruction sets that
/// [`simd`](super::simd) asks for.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Zeroable, Pod)]
#[repr(transparent)]
pub struct Medium<T>(T);

operators!(Medium);

/// Rows whose numbers are put in place at once.
const FOUR: usize = WIDTH / 2;
/// Sets of them.
const SETS: usize = 1 << FOUR;
/// A byte that [`_mm_shuffle_epi8`] sets to 0.
const NONE: u8 = 0x80;

/// By the set of rows that have one: as many as there are, at least one, from the lowest on.
static FIRST: [[i32; FOUR]; SETS] = {
    let mut all = [[0; FOUR]; SETS];
    let mut set = 0;
    while set < SETS {
        let (mut k, count) = (
            0,
            if set == 0 {
                1
            } else {
                (set as u32).count_ones()
            },
        );
        while k < count {
            all[set][k as usize] = -1;
            k += 1;
        }
        set += 1;
    }
    all
};

/// By the set of rows that have one: where the bytes of each row's number are, of `from` bytes, as
/// one of `to`; the first number's to a row that lacks it.
const fn spread_bytes<const BYTES: usize>(from: usize, to: usize) -> [[u8; BYTES]; SETS] {
    let mut all = [[NONE; BYTES]; SETS];
    let mut set = 0;
    while set < SETS {
        let (mut row, mut place) = (0, 0);
        while row < FOUR {
            let has = set >> row & 1;
            let mut byte = 0;
            while byte < from {
                all[set][row * to + byte] = (has * place * from + byte) as u8;
                byte += 1;
            }
            place += has;
            row += 1;
        }
        set += 1;
    }
    all
}

static SHORTS: [[u8; 16]; SETS] = spread_bytes(2, 4);
static WORDS: [[u8; 16]; SETS] = spread_bytes(4, 4);

/// By the set of rows that have one: the halves of each row's number of 8 bytes.
static HALVES: [[i32; WIDTH]; SETS] = {
    let mut all = [[0; WIDTH]; SETS];
    let mut set = 0;
    while set < SETS {
        let (mut row, mut place) = (0, 0);
        while row < FOUR {
            let has = set >> row & 1;
            all[set][2 * row] = 2 * has as i32 * place;
            all[set][2 * row + 1] = all[set][2 * row] + 1;
            place += has as i32;
            row += 1;
        }
        set += 1;
    }
    all
};

impl<T: Real> Real for Medium<T> {
    members!();
    const AVX2: bool = true;
    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        Self(self.0.fma(b.0, c.0))
    }
    /// Half a cache line at once (Zen 4, the elements of K of an earlier build, which stored them, least of
    /// three runs 7.1 -> 5.7 ms, by the command in `affine.rs`).
    #[inline(always)]
    fn stream(group: &[Self; WIDTH], to: &mut [Self; WIDTH]) {
        let (from, at) = (group.as_ptr().cast::<__m256i>(), to.as_mut_ptr());
        if !at.cast::<__m256i>().is_aligned() {
            *to = *group;
            return;
        }
        for k in 0..size_of_val(group) / size_of::<__m256i>() {
            // SAFETY: both are WIDTH numbers of 8 or 4 bytes, `at` is aligned; the instructions are
            // there (see `Medium`).
            unsafe {
                let part = _mm256_loadu_si256(from.add(k));
                _mm256_stream_si256(at.cast::<__m256i>().add(k), part);
            }
        }
    }
    #[inline(always)]
    // SAFETY: what the caller promises is told at `Real`.
    unsafe fn spread<const EACH: bool>(values: &[Self], at: usize, placed: u32) -> [Self; WIDTH] {
        // SAFETY: the caller's promise.
        let from = unsafe { values.as_ptr().add(at) };
        if EACH {
            // SAFETY: the caller's promise.
            return unsafe { *from.cast() };
        }
        let mut v = [Self::ZERO; WIDTH];
        let (low, high) = fours(placed);
        for (k, set, skip) in [(0, low, 0), (FOUR, high, low.count_ones() as usize)] {
            // SAFETY: no more values are read than there are places, and those lie in `values`; of an
            // empty set the first one is, as in `fours`; FOUR numbers of 8 or 4 bytes are written to
            // `v`; the instructions are there (see `Medium`).
            unsafe {
                let (from, to) = (
                    from.add(if set == 0 { 0 } else { skip }),
                    v.as_mut_ptr().add(k),
                );
                let first = _mm_loadu_si128(FIRST[set].as_ptr().cast());
                if size_of::<T>() == 8 {
                    let packed = _mm256_maskload_pd(from.cast(), _mm256_cvtepi32_epi64(first));
                    let halves = _mm256_loadu_si256(HALVES[set].as_ptr().cast());
                    let spread = _mm256_permutevar8x32_ps(_mm256_castpd_ps(packed), halves);
                    _mm256_storeu_ps(to.cast(), spread);
                } else {
                    let packed = _mm_maskload_epi32(from.cast(), first);
                    let bytes = _mm_loadu_si128(WORDS[set].as_ptr().cast());
                    _mm_storeu_si128(to.cast(), _mm_shuffle_epi8(packed, bytes));
                }
            }
        }
        v
    }
    #[inline(always)]
    // SAFETY: what the caller promises is told at `Real`.
    unsafe fn gather<D: Difference, const X: usize, const EACH: bool>(
        x: [&[Self]; X],
        base: u32,
        differences: &[D],
        d: usize,
        placed: u32,
    ) -> [[Self; WIDTH]; X] {
        let mut places = [0u32; WIDTH];
        // SAFETY: the caller's promise.
        unsafe {
            if EACH {
                for l in 0..WIDTH {
                    places[l] = (*differences.get_unchecked(d + l)).into();
                }
            } else {
                spread_places(differences, d, placed, &mut places);
            }
        }
        let mut xs = [[Self::ZERO; WIDTH]; X];
        for k in 0..X {
            for l in 0..WIDTH {
                let column = base.wrapping_add(places[l]) as usize;
                // SAFETY: the caller's promise.
                xs[k][l] = unsafe { *x[k].get_unchecked(column) };
            }
        }
        xs
    }
}

/// The sets of the lower and of the upper FOUR rows of `placed`.
#[inline(always)]
fn fours(placed: u32) -> (usize, usize) {
    let placed = placed as usize;
    (placed % SETS, placed / SETS % SETS)
}

/// The difference of each row of `placed`, not 0, which follow each other from `d` on; one of them to
/// a row that lacks it.
///
/// # Safety
/// All of them lie in `differences`.
#[inline(always)]
// SAFETY: what the caller promises is above.
unsafe fn spread_places<D: Difference>(
    differences: &[D],
    d: usize,
    placed: u32,
    places: &mut [u32; WIDTH],
) {
    let (low, high) = fours(placed);
    // SAFETY: the caller's promise.
    let all = unsafe { differences.as_ptr().add(d) };
    for (k, set, skip) in [(0, low, 0), (FOUR, high, low.count_ones() as usize)] {
        // The first one of all to rows of an empty set.
        let skip = if set == 0 { 0 } else { skip };
        // SAFETY: of 32 bits no more are read than there are, of an empty set one, of 16 bits FOUR,
        // of which all lie in `differences` or are copied to where they can be read; FOUR are
        // written; the instructions are there (see `Medium`).
        let spread = unsafe {
            let from = all.add(skip);
            if size_of::<D>() == 2 {
                let mut end = [0u16; FOUR];
                let left = differences.len() - d - skip;
                let from: *const u16 = if left >= FOUR {
                    from.cast()
                } else {
                    std::ptr::copy_nonoverlapping(from.cast(), end.as_mut_ptr(), left);
                    end.as_ptr()
                };
                let packed = _mm_loadl_epi64(from.cast());
                _mm_shuffle_epi8(packed, _mm_loadu_si128(SHORTS[set].as_ptr().cast()))
            } else {
                let first = _mm_loadu_si128(FIRST[set].as_ptr().cast());
                let packed = _mm_maskload_epi32(from.cast(), first);
                _mm_shuffle_epi8(packed, _mm_loadu_si128(WORDS[set].as_ptr().cast()))
            }
        };
        // SAFETY: FOUR numbers of 4 bytes.
        unsafe { _mm_storeu_si128(places.as_mut_ptr().add(k).cast(), spread) };
    }
}
