/* psi <- base + sum_k A_k u_k + c (A_3 p) */
__kernel void predicted_flux_kernel(__global REAL *psi, REPEATED(base),
                                    __global const REAL *u0, __global const REAL *u1,
                                    __global const REAL *u2, __global const REAL *p, MATRIX(a),
                                    __global const REAL *a0, __global const REAL *a1,
                                    __global const REAL *a2, __global const REAL *a3,
                                    const REAL c) {
    EACH_ROW(i) {
        realv s = REPEAT(base, i), t = (realv)(0);
        EACH_ENTRY(e, a, i, {
            s = fma(VALUE(a0, e), GATHER(u0, e), s);
            s = fma(VALUE(a1, e), GATHER(u1, e), s);
            s = fma(VALUE(a2, e), GATHER(u2, e), s);
            t = fma(VALUE(a3, e), GATHER(p, e), t);
        })
        STORE(psi, i, fma((realv)(c), t, s));
    }
}
