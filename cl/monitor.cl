/* rate = w/2 |M| |phi|, net = |M phi|: per block sum and maximum of rate, sum of net, maximum of
   w net */
__kernel void monitor_kernel(__global REAL *rate_sum, __global REAL *rate_max,
                             __global REAL *net_sum, __global REAL *div_max,
                             REPEATED(w), __global const REAL *phi, MATRIX(m),
                             ONE_PLANE(m)) {
    REDUCTION(s);
    REDUCTION(t);
    REDUCTION(u);
    REDUCTION(v);
    EACH_ROW(i) {
        realv through = (realv)(0), net = (realv)(0);
        EACH_ENTRY(e, m, i, {
            const realv x = GATHER(phi, e);
            const realv sign = VALUE(m_val, e);
            through = fma(fabs(sign), fabs(x), through);
            net = fma(sign, x, net);
        })
        const realv c = REPEAT(w, i), rate = c * ((realv)(0.5f) * through);
        net = fabs(net);
        ADD(s, i, rate);
        MAXIMUM(t, i, rate);
        ADD(u, i, net);
        MAXIMUM(v, i, c * net);
    }
    FINISH_SUMS_AND_MAXIMA(rate_sum, s, rate_max, t, net_sum, u, div_max, v)
}
