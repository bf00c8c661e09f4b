//! The same Rust loop compiled for several instruction sets, chosen at run time.

/// Makes `host`, which runs the generic, `#[inline(always)]` function `$body` compiled for the
/// best instruction set of the machine. On x86-64 without fused multiply-adds that is with
/// [`Soft`](crate::kernel::soft::Soft) numbers. All of them round alike: fused multiply-adds are in the
/// source.
///
/// What is compiled for an instruction set is not generic: it is compiled with this crate, not again with
/// each that uses it. (`cargo test --no-run --features mpi`, as `.ci/run` sets it up, by two cores: 3 min
/// 18 s for 4 min 59.)
///
/// After `readings`, AVX-512 has a path of its own for each [`Reading`](crate::kernel::reading::Reading)
/// of the first matrix.
///
/// After `fp64`, AVX-512 is left to double precision: groups in single fill AVX2's registers, and
/// products are 1.25 times as fast by it (measured on an AMD EPYC with both).
#[macro_export]
macro_rules! simd {
    ($body:ident) => {
        $crate::simd!(@both $body wide wide);
    };
    (fp64 $body:ident) => {
        $crate::simd!(@both $body wide narrow);
    };
    (readings fp64 $body:ident) => {
        $crate::simd!(@both $body readings narrow);
    };
    (@both $body:ident $double:ident $single:ident) => {
        $crate::simd!(@precision fp64 f64 $body $double);
        $crate::simd!(@precision fp32 f32 $body $single);

        /// The CPU path without fused multiply-adds.
        #[cfg(all(test, target_arch = "x86_64"))]
        #[allow(dead_code, reason = "of the kernels of the list alone")]
        pub(crate) fn soft<T: $crate::kernel::Real>(rows: &mut $crate::kernel::Rows<'_, T>) {
            match size_of::<T>() {
                8 => fp64::soft(&mut $crate::kernel::wrapped::rows_as(rows)),
                _ => fp32::soft(&mut $crate::kernel::wrapped::rows_as(rows)),
            }
        }
        /// The CPU path without AVX-512.
        #[cfg(all(test, target_arch = "x86_64"))]
        #[allow(dead_code, reason = "of the kernels of the list alone")]
        pub(crate) fn narrow<T: $crate::kernel::Real>(rows: &mut $crate::kernel::Rows<'_, T>) {
            match size_of::<T>() {
                8 => fp64::narrow(rows),
                _ => fp32::narrow(rows),
            }
        }
        /// The CPU path, for the best instruction set of this machine.
        pub fn host<T: $crate::kernel::Real>(rows: &mut $crate::kernel::Rows<'_, T>) {
            #[cfg(target_arch = "x86_64")]
            match size_of::<T>() {
                8 => fp64::host(rows),
                _ => fp32::host(rows),
            }
            #[cfg(not(target_arch = "x86_64"))]
            $body(rows);
        }
    };
    (@precision $name:ident $number:ident $body:ident $best:ident) => {
        #[cfg(target_arch = "x86_64")]
        mod $name {
            use super::$body;
            use $crate::kernel::{Real, Rows, medium::Medium, simd, soft::Soft, wrapped::rows_as};

            #[inline(never)]
            pub fn soft(rows: &mut Rows<'_, Soft<$number>>) {
                $body(rows);
            }
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,popcnt")]
            #[inline(never)]
            fn v3(rows: &mut Rows<'_, Medium<$number>>) {
                $body(rows);
            }
            pub fn narrow<T: Real>(rows: &mut Rows<'_, T>) {
                if simd::has_v3() {
                    // SAFETY: the features were detected on this machine.
                    return unsafe { v3(&mut rows_as(rows)) };
                }
                soft(&mut rows_as(rows));
            }
            $crate::simd!(@$best $number $body);
        }
    };
    (@narrow $number:ident $body:ident) => {
        pub use narrow as host;
    };
    (@wide $number:ident $body:ident) => {
        $crate::simd!(@v4 v4 $body $crate::kernel::wide::Wide<$number>);

        pub fn host<T: Real>(rows: &mut Rows<'_, T>) {
            if simd::has_v4() {
                // SAFETY: the features were detected on this machine.
                return unsafe { v4(&mut rows_as(rows)) };
            }
            narrow(rows);
        }
    };
    (@readings $number:ident $body:ident) => {
        use $crate::kernel::{far::Far, once::Once, reading::Reading, wide::Wide};
        $crate::simd!(@v4 v4 $body Wide<$number>);
        $crate::simd!(@v4 v4_once $body Wide<Once<$number>>);
        $crate::simd!(@v4 v4_far $body Wide<Far<$number>>);

        pub fn host<T: Real>(rows: &mut Rows<'_, T>) {
            if simd::has_v4() {
                // SAFETY: the features were detected on this machine.
                return unsafe {
                    match rows.mats[0].reading {
                        Reading::Once => v4_once(&mut rows_as(rows)),
                        Reading::Far => v4_far(&mut rows_as(rows)),
                        Reading::Near => v4(&mut rows_as(rows)),
                    }
                };
            }
            narrow(rows);
        }
    };
    (@v4 $name:ident $body:ident $wide:ty) => {
        #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi1,bmi2,popcnt")]
        #[inline(never)]
        fn $name(rows: &mut Rows<'_, $wide>) {
            $body(rows);
        }
    };
}

/// Whether this machine has the x86-64 instruction sets up to AVX2 that kernels are compiled for.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_v3() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx2") && has!("fma") && has!("bmi1") && has!("bmi2") && has!("popcnt")
}

/// Whether it has those of AVX-512, too.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_v4() -> bool {
    use std::arch::is_x86_feature_detected as has;
    let basic = has_v3() && has!("avx512f") && has!("avx512vl");
    basic && has!("avx512dq") && has!("avx512bw")
}

/// No other machine has them.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn has_v3() -> bool {
    false
}

/// The same.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn has_v4() -> bool {
    false
}
