/* p <- d r + beta p */
__kernel void pcg_direction_kernel(__global REAL *p, __global const REAL *r,
                                   __global const REAL *d, const REAL beta) {
    EACH_ROW(i) STORE(p, i, fma((realv)(beta), LOAD(p, i), LOAD(d, i) * LOAD(r, i)));
}
