/* psi <- base + sum_k A_k u_k + sum_k B_k n_k */
__kernel void face_flux_kernel(__global REAL *psi, REPEATED(base),
                               __global const REAL *u0, __global const REAL *u1,
                               __global const REAL *u2, __global const REAL *n0,
                               __global const REAL *n1, __global const REAL *n2, MATRIX(a),
                               __global const REAL *a0, __global const REAL *a1,
                               __global const REAL *a2, MATRIX(b), __global const REAL *b0,
                               __global const REAL *b1, __global const REAL *b2) {
    EACH_ROW(i) {
        realv s = REPEAT(base, i);
        EACH_ENTRY(e, a, i, {
            s = fma(VALUE(a0, e), GATHER(u0, e), s);
            s = fma(VALUE(a1, e), GATHER(u1, e), s);
            s = fma(VALUE(a2, e), GATHER(u2, e), s);
        })
        EACH_ENTRY(e, b, i, {
            s = fma(VALUE(b0, e), GATHER(n0, e), s);
            s = fma(VALUE(b1, e), GATHER(n1, e), s);
            s = fma(VALUE(b2, e), GATHER(n2, e), s);
        })
        STORE(psi, i, s);
    }
}
