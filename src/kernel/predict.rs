//! `s_k <- u_k + c1 r_k + c0 o_k`, `v_k <- s_k - dt g_k`, k = 0, 1, 2: 18 flops and 144 bytes per
//! row (fp64).

use super::{Flops, Kernel, Real, Rows, Shape};

/// out s_0, s_1, s_2, v_0, v_1, v_2; own u_k, r_k (right-hand side now), o_k (at the step before),
/// g_k (pressure gradient); scalars c1, c0, dt.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "predict",
        formula: "s_k <- u_k + c1 r_k + c0 o_k; v_k <- s_k - dt g_k",
        source: include_str!("../../cl/predict.cl"),
        shape: Shape {
            out: 6,
            own: 12,
            scalars: 3,
            ..Shape::NONE
        },
        flops: Flops {
            row: 18.0,
            entry: [0.0; 2],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    let [c1, c0, dt] = [r.scalars[0], r.scalars[1], r.scalars[2]];
    for k in 0..3 {
        for i in 0..r.n {
            let s = c0.fma(r.own[6 + k][i], c1.fma(r.own[3 + k][i], r.own[k][i]));
            r.out[k][i] = s;
            r.out[3 + k][i] = (-dt).fma(r.own[9 + k][i], s);
        }
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let [c1, c0, dt] = [r.scalars[0], r.scalars[1], r.scalars[2]];
    let (sums, velocities) = r.out.split_at_mut(3);
    // One component after the other: fewer streams at a time.
    for (k, (s, v)) in sums.iter_mut().zip(velocities).enumerate() {
        let inputs = r.own[k].iter().zip(r.own[3 + k]).zip(r.own[6 + k]);
        let outputs = s.iter_mut().zip(v.iter_mut());
        for ((((&u, &now), &old), &g), (s, v)) in inputs.zip(r.own[9 + k]).zip(outputs) {
            *s = c0.fma(old, c1.fma(now, u));
            *v = (-dt).fma(g, *s);
        }
    }
}

crate::simd!(fp64 body);
