/* y <- a x, from double to single precision; a is a power of two */
__kernel void narrow_kernel(__global float *y, __global const double *x, const double a) {
    const size_t from = get_global_id(0) * ITEM;
    for (uint k = 0; k < ITEM; ++k)
        y[from + k] = (float)(a * x[from + k]);
}

/* x <- x + a d, d <- 0; a is a power of two, so the product is exact */
__kernel void widen_kernel(__global double *x, __global float *d, const double a) {
    const size_t from = get_global_id(0) * ITEM;
    for (uint k = 0; k < ITEM; ++k) {
        x[from + k] += a * (double)d[from + k];
        d[from + k] = 0;
    }
}
