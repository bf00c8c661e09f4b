/* y <- A x. Stored ONCE, y does not drive x from the caches: on an H100 1.6M tetrahedra, RCM, 37.8 ->
   35.0 us, nodes of tetrahedra 66.4 -> 64.9, and as given 88.8 -> 86.5; grids the same. */
#undef EAGER
#define EAGER 1
__kernel void spmv_kernel(__global REAL *y, __global const REAL *x, MATRIX(a), ONE_PLANE(a)) {
    EACH_ROW(i) {
        realv s = (realv)(0);
        EACH_ENTRY(e, a, i, s = fma(VALUE(a_val, e), GATHER(x, e), s))
        STORE_ONCE(y, i, s);
    }
}
#undef EAGER
#define EAGER 0
