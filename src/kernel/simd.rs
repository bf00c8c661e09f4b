//! The same Rust loop compiled for several instruction sets, chosen at run time.

/// Makes `host`, which runs the generic, `#[inline(always)]` function `$body` compiled for the
/// best instruction set of the machine. On x86-64 without fused multiply-adds that is with
/// [`Soft`](crate::kernel::soft::Soft) numbers. All of them round alike: fused multiply-adds are in the
/// source.
///
/// After `fp64`, AVX-512 is left to double precision: groups in single fill AVX2's registers.
#[macro_export]
macro_rules! simd {
    (fp64 $body:ident) => {
        $crate::simd!($body, size_of::<T>() == 8);
    };
    ($body:ident) => {
        $crate::simd!($body, true);
    };
    ($body:ident, $wide:expr) => {
        /// The CPU path without fused multiply-adds.
        #[cfg(target_arch = "x86_64")]
        pub(crate) fn soft<T: $crate::kernel::Real>(rows: &mut $crate::kernel::Rows<'_, T>) {
            $crate::kernel::soft::run(rows, $body);
        }
        /// The CPU path, for the best instruction set of this machine.
        pub fn host<T: $crate::kernel::Real>(rows: &mut $crate::kernel::Rows<'_, T>) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx2,fma,bmi1,bmi2,popcnt")]
                fn v4<T: $crate::kernel::Real>(rows: &mut $crate::kernel::Rows<'_, T>) {
                    $body(rows);
                }
                #[target_feature(enable = "avx2,fma,bmi1,bmi2,popcnt")]
                fn v3<T: $crate::kernel::Real>(rows: &mut $crate::kernel::Rows<'_, T>) {
                    $body(rows);
                }
                use std::arch::is_x86_feature_detected as has;
                let v3_is_there =
                    has!("avx2") && has!("fma") && has!("bmi1") && has!("bmi2") && has!("popcnt");
                if $wide && v3_is_there && has!("avx512f") && has!("avx512vl") && has!("avx512dq") {
                    // SAFETY: the features were detected on this machine just now.
                    return unsafe { v4(rows) };
                }
                if v3_is_there {
                    // SAFETY: the features were detected on this machine just now.
                    return unsafe { v3(rows) };
                }
                soft(rows);
            }
            #[cfg(not(target_arch = "x86_64"))]
            $body(rows);
        }
    };
}
