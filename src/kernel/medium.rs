//! Numbers of a processor with AVX2 but without AVX-512: rows that lack an entry leave no gap where
//! values and differences are packed, and what a compiler makes of a table of places is a load and an
//! address for each row. Here four rows' are loaded at once and put in place by one instruction; where
//! columns are packed, too, it is entry by entry (`medium_steps.rs`).

use std::arch::x86_64::*;

use bytemuck::{Pod, Zeroable};

use super::Real;
use super::columns::{ALL, Difference};
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
    /// Written out: of groups in plain loops, a compiler may move single numbers between registers (Zen 3, the
    /// monitor of the flow below: 0.41 ms in one trial build, 0.59 in another).
    #[inline(always)]
    fn fma_all(a: &[Self; WIDTH], b: &[Self; WIDTH], c: &mut [Self; WIDTH]) {
        let (a, b, c) = (a.as_ptr(), b.as_ptr(), c.as_mut_ptr());
        // SAFETY: all are WIDTH numbers of 8 or 4 bytes; the instructions are there (see `Medium`).
        unsafe {
            if size_of::<T>() == 8 {
                for k in [0, FOUR] {
                    let (a, b) = (
                        _mm256_loadu_pd(a.add(k).cast()),
                        _mm256_loadu_pd(b.add(k).cast()),
                    );
                    let c = c.add(k).cast();
                    _mm256_storeu_pd(c, _mm256_fmadd_pd(a, b, _mm256_loadu_pd(c)));
                }
            } else {
                let (a, b) = (_mm256_loadu_ps(a.cast()), _mm256_loadu_ps(b.cast()));
                _mm256_storeu_ps(c.cast(), _mm256_fmadd_ps(a, b, _mm256_loadu_ps(c.cast())));
            }
        }
    }
    /// Written out, too: see `Wide`.
    #[inline(always)]
    fn max_all(a: &mut [Self; WIDTH], b: &[Self; WIDTH]) {
        let (to, b) = (a.as_mut_ptr(), b.as_ptr());
        // SAFETY: both are WIDTH numbers of 8 or 4 bytes; the instructions are there (see `Medium`).
        unsafe {
            // Where either is not a number, the instruction gives its second operand, `a`; if that is none, `b`.
            if size_of::<T>() == 8 {
                for k in [0, FOUR] {
                    let to = to.add(k).cast();
                    let (a, b) = (_mm256_loadu_pd(to), _mm256_loadu_pd(b.add(k).cast()));
                    let none = _mm256_cmp_pd::<_CMP_UNORD_Q>(a, a);
                    _mm256_storeu_pd(to, _mm256_blendv_pd(_mm256_max_pd(b, a), b, none));
                }
            } else {
                let (a, b) = (_mm256_loadu_ps(to.cast()), _mm256_loadu_ps(b.cast()));
                let none = _mm256_cmp_ps::<_CMP_UNORD_Q>(a, a);
                let max = _mm256_blendv_ps(_mm256_max_ps(b, a), b, none);
                _mm256_storeu_ps(to.cast(), max);
            }
        }
    }
    /// By a sign for each row: of plain loops a compiler takes each bit by itself (Zen 3, the product of PCG in
    /// the flow of a box of 48^3 by one thread, least of seven runs of a trial program, with the shorter way of
    /// `spread`: 0.232 -> 0.181 ms).
    #[inline(always)]
    fn or_all(a: &mut [Self; WIDTH], mask: u32, other: &[Self; WIDTH]) {
        let (to, other) = (a.as_mut_ptr(), other.as_ptr());
        // SAFETY: both are WIDTH numbers of 8 or 4 bytes; the instructions are there (see `Medium`).
        unsafe {
            if size_of::<T>() == 8 {
                let bits = _mm256_set1_epi64x(i64::from(mask));
                let (low, high) = (
                    _mm256_setr_epi64x(63, 62, 61, 60),
                    _mm256_setr_epi64x(59, 58, 57, 56),
                );
                for (k, shift) in [(0, low), (FOUR, high)] {
                    let signs = _mm256_castsi256_pd(_mm256_sllv_epi64(bits, shift));
                    let (new, old) = (to.add(k).cast(), other.add(k).cast());
                    let (new, old) = (_mm256_loadu_pd(new), _mm256_loadu_pd(old));
                    _mm256_storeu_pd(to.add(k).cast(), _mm256_blendv_pd(old, new, signs));
                }
            } else {
                let shift = _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24);
                let signs = _mm256_sllv_epi32(_mm256_set1_epi32(mask as i32), shift);
                let signs = _mm256_castsi256_ps(signs);
                let (new, old) = (_mm256_loadu_ps(to.cast()), _mm256_loadu_ps(other.cast()));
                _mm256_storeu_ps(to.cast(), _mm256_blendv_ps(old, new, signs));
            }
        }
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
    /// Whole groups, which are most of a packed slice, take the shorter way; not measured by itself.
    #[inline(always)]
    // SAFETY: what the caller promises is told at `Real`.
    unsafe fn spread<const EACH: bool>(values: &[Self], at: usize, placed: u32) -> [Self; WIDTH] {
        // SAFETY: the caller's promise.
        let from = unsafe { values.as_ptr().add(at) };
        if EACH || placed == ALL {
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
            if EACH && size_of::<D>() == 2 {
                // Two loads, not eight: see `medium_steps.rs`.
                for k in [0, FOUR] {
                    let from = differences.as_ptr().add(d + k).cast::<u64>();
                    let four = from.read_unaligned();
                    for l in 0..FOUR {
                        places[k + l] = (four >> (16 * l)) as u16 as u32;
                    }
                }
            } else if EACH {
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
                let column = D::column(base, places[l]);
                // Volatile: a compiler else loads all groups' first, and puts halves of them on the stack (Zen 3,
                // `couloir bench spmv --matrix nodes:1000000 --order rcm --where cpu --device none --threads 1
                // --flush`, medians in turns: 17.9, 20.6, 21.1, 20.2 -> 14.2, 15.3, 13.9, 14.4 ms).
                // SAFETY: the caller's promise.
                xs[k][l] = unsafe { x[k].as_ptr().add(column).read_volatile() };
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
