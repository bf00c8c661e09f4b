//! Numbers of a processor with AVX-512, which has masks in registers of their own. What plain loops
//! say of masks, of packed values and of columns is written out for it: a compiler makes dozens of
//! instructions of the first two, and of the last one a gather, which is slower than single loads.

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
pub struct Wide<T>(T);

operators!(Wide);

impl<T: Real> Real for Wide<T> {
    members!();
    const WIDE: bool = true;
    const ONCE: bool = T::ONCE;
    const FAR: bool = T::FAR;
    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        Self(self.0.fma(b.0, c.0))
    }
    #[inline(always)]
    fn fma_all(a: &[Self; WIDTH], b: &[Self; WIDTH], c: &mut [Self; WIDTH]) {
        let (a, b, c) = (a.as_ptr(), b.as_ptr(), c.as_mut_ptr());
        // SAFETY: all are WIDTH numbers of 8 or 4 bytes; the instructions are there (see `Wide`).
        unsafe {
            if size_of::<T>() == 8 {
                let (a, b) = (_mm512_loadu_pd(a.cast()), _mm512_loadu_pd(b.cast()));
                _mm512_storeu_pd(c.cast(), _mm512_fmadd_pd(a, b, _mm512_loadu_pd(c.cast())));
            } else {
                let (a, b) = (_mm256_loadu_ps(a.cast()), _mm256_loadu_ps(b.cast()));
                _mm256_storeu_ps(c.cast(), _mm256_fmadd_ps(a, b, _mm256_loadu_ps(c.cast())));
            }
        }
    }
    #[inline(always)]
    fn max_all(a: &mut [Self; WIDTH], b: &[Self; WIDTH]) {
        let (to, b) = (a.as_mut_ptr(), b.as_ptr());
        // SAFETY: both are WIDTH numbers of 8 or 4 bytes; the instructions are there (see `Wide`).
        unsafe {
            // Where either is not a number, the instruction gives its second operand, `a`; if that is none, `b`.
            if size_of::<T>() == 8 {
                let (a, b) = (_mm512_loadu_pd(to.cast()), _mm512_loadu_pd(b.cast()));
                let none = _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(a, a);
                let max = _mm512_mask_mov_pd(_mm512_max_pd(b, a), none, b);
                _mm512_storeu_pd(to.cast(), max);
            } else {
                let (a, b) = (_mm256_loadu_ps(to.cast()), _mm256_loadu_ps(b.cast()));
                let none = _mm256_cmp_ps_mask::<_CMP_UNORD_Q>(a, a);
                let max = _mm256_mask_mov_ps(_mm256_max_ps(b, a), none, b);
                _mm256_storeu_ps(to.cast(), max);
            }
        }
    }
    #[inline(always)]
    fn or_all(a: &mut [Self; WIDTH], mask: u32, other: &[Self; WIDTH]) {
        let (to, other) = (a.as_mut_ptr(), other.as_ptr());
        // SAFETY: both are WIDTH numbers of 8 or 4 bytes; the instructions are there (see `Wide`).
        unsafe {
            if size_of::<T>() == 8 {
                let to = to.cast();
                let new = _mm512_loadu_pd(to);
                let old = _mm512_loadu_pd(other.cast());
                _mm512_storeu_pd(to, _mm512_mask_mov_pd(old, mask as u8, new));
            } else {
                let to = to.cast();
                let new = _mm256_loadu_ps(to);
                let old = _mm256_loadu_ps(other.cast());
                _mm256_storeu_ps(to, _mm256_mask_mov_ps(old, mask as u8, new));
            }
        }
    }
    #[inline(always)]
    fn stream(group: &[Self; WIDTH], to: &mut [Self; WIDTH]) {
        let from = group.as_ptr();
        let at = to.as_mut_ptr();
        // SAFETY: both are WIDTH numbers of 8 or 4 bytes, `at` is aligned to as many; the
        // instructions are there (see `Wide`).
        unsafe {
            if size_of::<T>() == 8 && at.cast::<__m512i>().is_aligned() {
                _mm512_stream_si512(at.cast(), _mm512_loadu_si512(from.cast()));
            } else if size_of::<T>() == 4 && at.cast::<__m256i>().is_aligned() {
                _mm256_stream_si256(at.cast(), _mm256_loadu_si256(from.cast()));
            } else {
                *to = *group;
            }
        }
    }
    #[inline(always)]
    // SAFETY: what the caller promises is told at `Real`.
    unsafe fn spread<const EACH: bool>(values: &[Self], at: usize, placed: u32) -> [Self; WIDTH] {
        let mut v = [Self::ZERO; WIDTH];
        let (rows, places) = (placed as u8, first(placed));
        // SAFETY: as many values as there are places are read, which lie in `values`; `v` is WIDTH
        // numbers of 8 or 4 bytes; the instructions are there (see `Wide`).
        unsafe {
            let from = values.as_ptr().add(at);
            if EACH || placed == ALL {
                v = *from.cast();
            } else if size_of::<T>() == 8 {
                let packed = _mm512_maskz_loadu_pd(places, from.cast());
                _mm512_storeu_pd(v.as_mut_ptr().cast(), _mm512_maskz_expand_pd(rows, packed));
            } else {
                let packed = _mm256_maskz_loadu_ps(places, from.cast());
                _mm256_storeu_ps(v.as_mut_ptr().cast(), _mm256_maskz_expand_ps(rows, packed));
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
        // Differences of 16 bits begin at the lowest column; others wrap.
        let is_short = size_of::<D>() == size_of::<u16>();
        let (origin, base) = if is_short {
            (base as usize, 0)
        } else {
            (0, base)
        };
        let mut places = [0; WIDTH];
        // SAFETY: the caller's promise.
        let from = unsafe { differences.as_ptr().add(d) };
        if is_short {
            // SAFETY: as above: of a group, or of as many as there are rows.
            let words = unsafe {
                if EACH || placed == ALL {
                    words(from.cast())
                } else {
                    spread_words(from.cast(), placed)
                }
            };
            for l in 0..WIDTH {
                places[l] = words[l / FOUR] >> (u16::BITS as usize * (l % FOUR)) & 0xffff;
            }
        } else if EACH || placed == ALL {
            for l in 0..WIDTH {
                // SAFETY: as above.
                let difference: u32 = unsafe { *from.add(l) }.into();
                places[l] = u64::from(base.wrapping_add(difference));
            }
        } else {
            // SAFETY: as above, of as many as there are rows.
            unsafe { spread_places(from.cast(), base, placed, &mut places) };
        }
        let mut xs = [[Self::ZERO; WIDTH]; X];
        for k in 0..X {
            for l in 0..WIDTH {
                // SAFETY: the caller's promise. Volatile: eight loads, not a gather.
                xs[k][l] = unsafe {
                    x[k].as_ptr()
                        .add(origin + places[l] as usize)
                        .read_volatile()
                };
            }
        }
        xs
    }
}

/// As many bits as `mask` has, from the lowest on.
#[inline(always)]
fn first(mask: u32) -> u8 {
    ((1u32 << mask.count_ones()) - 1) as u8
}

/// Differences of 16 bits in a word.
const FOUR: usize = size_of::<u64>() / size_of::<u16>();

/// Those of a group, by two loads: eight would be as many as those of `x`, and a core has three at once
/// (Zen 4, `couloir bench spmv --matrix nodes:40000 --where cpu --device none --threads 1`, medians in
/// turns: 0.28 -> 0.26 ms; a Xeon (Emerald Rapids), with the other changes of that day, `tet:1600000`
/// 3.45 -> 3.26). By name, for a compiler makes eight of two.
///
/// # Safety
/// They can be read.
#[inline(always)]
// SAFETY: what the caller promises is above.
unsafe fn words(from: *const u16) -> [u64; 2] {
    let (low, high): (u64, u64);
    // SAFETY: reads 16 bytes, as promised, and does nothing else.
    unsafe {
        std::arch::asm!(
            "mov {low}, qword ptr [{from}]",
            "mov {high}, qword ptr [{from} + 8]",
            from = in(reg) from,
            low = out(reg) low,
            high = lateout(reg) high,
            options(pure, readonly, nostack, preserves_flags)
        );
    }
    [low, high]
}

/// The same of the rows of `placed`, not 0, whose differences follow each other at `from`; 0 where a
/// row lacks it. By the command at [`words`], where a quarter of the slices were packed: 0.26 -> 0.23 ms
/// with this in place of [`spread_places`] and with sums that a mask leaves, as `steps.rs` has them.
///
/// # Safety
/// As many can be read as there are rows.
#[inline(always)]
// SAFETY: what the caller promises is above.
unsafe fn spread_words(from: *const u16, placed: u32) -> [u64; 2] {
    // SAFETY: as many are read as `placed` has rows; the instructions are there (see `Wide`).
    unsafe {
        let packed = _mm_maskz_loadu_epi16(first(placed), from.cast());
        let spread = _mm256_maskz_expand_epi32(placed as u8, _mm256_cvtepu16_epi32(packed));
        let spread = _mm256_cvtepi32_epi16(spread);
        [
            _mm_cvtsi128_si64(spread) as u64,
            _mm_extract_epi64::<1>(spread) as u64,
        ]
    }
}

/// `base` and the difference of each row of `placed`, not 0, which follow each other at `from`; that
/// of the first one where a row lacks it.
///
/// # Safety
/// The differences can be read.
#[inline(always)]
// SAFETY: what the caller promises is above.
unsafe fn spread_places(from: *const u32, base: u32, placed: u32, to: &mut [u64; WIDTH]) {
    // SAFETY: as many differences are read as `placed` has rows; `to` is as long as the vector that
    // is written there; the instructions are there (see `Wide`).
    unsafe {
        let packed = _mm256_maskz_loadu_epi32(first(placed), from.cast());
        let packed = _mm256_add_epi32(packed, _mm256_set1_epi32(base as i32));
        let packed = _mm512_cvtepu32_epi64(packed);
        let one = _mm512_broadcastq_epi64(_mm512_castsi512_si128(packed));
        let spread = _mm512_mask_expand_epi64(one, placed as u8, packed);
        _mm512_storeu_si512(to.as_mut_ptr().cast(), spread);
    }
}
