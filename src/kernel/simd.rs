//! The same Rust loop compiled for several instruction sets, chosen at run time.

/// Makes `host`, which runs the generic, `#[inline(always)]` function `$body` compiled for the
/// best instruction set of the machine. On x86-64 without fused multiply-adds that is with
/// [`Soft`](crate::kernel::soft::Soft) numbers. All of them round alike: fused multiply-adds are in the
/// source.
///
/// After `readings`, AVX-512 has a path of its own for each [`Reading`](crate::kernel::reading::Reading)
/// of the first matrix.
///
/// After `fp64`, AVX-512 is left to double precision: groups in single fill AVX2's registers, and
/// products are 1.25 times as fast by it (measured on an AMD EPYC with both).
#[macro_export]
macro_rules! simd {
    (fp64 $body:ident) => {
        $crate::simd!($body, size_of::<T>() == 8, false);
    };
    (readings fp64 $body:ident) => {
        $crate::simd!($body, size_of::<T>() == 8, true);
    };
    ($body:ident) => {
        $crate::simd!($body, true, false);
    };
    ($body:ident, $wide:expr, $readings:expr) => {
        /// The CPU path without fused multiply-adds.
        #[cfg(target_arch = "x86_64")]
        pub(crate) fn soft<T: $crate::kernel::Real>(rows: &mut $crate::kernel::Rows<'_, T>) {
            let mut rows = $crate::kernel::wrapped::rows_as(rows);
            $body::<$crate::kernel::soft::Soft<T>>(&mut rows);
        }
        /// The CPU path without AVX-512.
        #[cfg(target_arch = "x86_64")]
        pub(crate) fn narrow<T: $crate::kernel::Real>(rows: &mut $crate::kernel::Rows<'_, T>) {
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,popcnt")]
            fn v3<T: $crate::kernel::Real>(rows: &mut $crate::kernel::Rows<'_, T>) {
                let mut rows = $crate::kernel::wrapped::rows_as(rows);
                $body::<$crate::kernel::medium::Medium<T>>(&mut rows);
            }
            if $crate::kernel::simd::has_v3() {
                // SAFETY: the features were detected on this machine.
                return unsafe { v3(rows) };
            }
            soft(rows);
        }
        /// The CPU path, for the best instruction set of this machine.
        pub fn host<T: $crate::kernel::Real>(rows: &mut $crate::kernel::Rows<'_, T>) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(
                    enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi1,bmi2,popcnt"
                )]
                fn v4<T: $crate::kernel::Real, N: $crate::kernel::Real>(
                    rows: &mut $crate::kernel::Rows<'_, T>,
                ) {
                    let mut rows = $crate::kernel::wrapped::rows_as(rows);
                    $body::<$crate::kernel::wide::Wide<N>>(&mut rows);
                }
                use $crate::kernel::{far::Far, once::Once, reading::Reading};
                if $wide && $crate::kernel::simd::has_v4() {
                    // SAFETY: the features were detected on this machine.
                    return unsafe {
                        match rows.mats[0].reading {
                            Reading::Once if $readings => v4::<T, Once<T>>(rows),
                            Reading::Far if $readings => v4::<T, Far<T>>(rows),
                            _ => v4::<T, T>(rows),
                        }
                    };
                }
                narrow(rows);
            }
            #[cfg(not(target_arch = "x86_64"))]
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
pub(crate) fn has_v4() -> bool {
    false
}
