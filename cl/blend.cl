/* psi <- psi + kappa (phi - old), kappa = max(0, 1 - w (a + b w)) */
__kernel void blend_kernel(__global REAL *psi, __global const REAL *phi,
                           __global const REAL *old, __global const REAL *w, const REAL a,
                           const REAL b) {
    EACH_ROW(i) {
        const realv v = LOAD(w, i);
        const realv kappa =
            fmax((realv)(0), fma(-v, fma((realv)(b), v, (realv)(a)), (realv)(1)));
        STORE(psi, i, fma(kappa, LOAD(phi, i) - LOAD(old, i), LOAD(psi, i)));
    }
}
