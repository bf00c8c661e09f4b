//! The source that the compiler of a device is given.

use super::{carry, convert, first, lanes, leg, rule};
use crate::kernel::scalars;
use crate::kernel::{Kernel, Real, Shape};
use crate::node::{BLOCK, Tuning};

/// Whether a kernel reads and reduces vectors and does nothing else: then a device whose work-items
/// are no loops has a few [`LANES`](crate::kernel::LANES) of them for each block, and no local memory
/// but for the sums.
pub(super) fn streamed(shape: &Shape, item: usize) -> bool {
    let writes = shape.out + shape.inout > 0;
    item < BLOCK && shape.mats.is_empty() && !writes && !shape.reduce.is_empty()
}

/// What the compiler of a device is given. Only a program in double precision names `double`:
/// there are compilers that refuse the word.
pub(super) fn source<T: Real>(kernels: &[Kernel<T>], t: &Tuning) -> String {
    let double = T::CL == "double";
    let mut source = String::new();
    if double {
        source.push_str("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
    }
    source.push_str(include_str!("../../cl/common.cl"));
    source.push_str(include_str!("../../cl/reduce.cl"));
    source.push_str(include_str!("../../cl/loads.cl"));
    source.push_str(include_str!("../../cl/matrix.cl"));
    source.push_str(include_str!("../../cl/usual.cl"));
    source.push_str(include_str!("../../cl/tetrahedra.cl"));
    source.push_str(include_str!("../../cl/ahead.cl"));
    source.push_str(include_str!("../../cl/several.cl"));
    source.push_str(include_str!("../../cl/masked.cl"));
    source.push_str(include_str!("../../cl/total.cl"));
    source.push_str(first::SOURCE);
    let scalars = scalars::list::<T>();
    scalars.iter().for_each(|s| source.push_str(s.source));
    for k in kernels {
        let streamed = u8::from(streamed(&k.shape, t.item));
        let begin = |waiting| {
            format!(
                "#undef STREAMED\n#define STREAMED {streamed}\n#undef BACKWARD\n#define BACKWARD 0\n\
                 #undef WAITING\n#define WAITING {waiting}\n"
            )
        };
        source.push_str(&begin(0));
        source.push_str(k.source);
        for s in scalars.iter().filter(|s| t.waits && s.within == k.name) {
            let own = format!("{}_kernel", k.name);
            source.push_str(&begin(1));
            source.push_str(&k.source.replace(&own, &s.waiting()));
        }
    }
    source.push_str("#undef WAITING\n#define WAITING 0\n");
    let parts = |name: &&str| kernels.iter().any(|k| k.name == *name);
    if t.together.is_some() && leg::PARTS.iter().all(parts) {
        source.push_str("#if LEG\n");
        source.push_str(leg::SOURCE);
        source.push_str("#endif\n");
    }
    source.push_str(lanes::SOURCE);
    source.push_str(carry::SOURCE);
    if double {
        source.push_str(convert::SOURCE);
        rule::SOURCES.iter().for_each(|rule| source.push_str(rule));
    }
    source
}
