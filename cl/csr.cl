/* y <- A x in compressed sparse rows, the format of others: LANES_OF_ROW work-items take the entries
   of a row in turn and add up what they have; a group has GROUP work-items. */
__kernel void csr_kernel(__global REAL *y, __global const uint *row_ptr, __global const uint *col,
                         __global const REAL *val, __global const REAL *x, const uint rows) {
    __local REAL part[GROUP];
    const uint l = get_local_id(0), lane = l % LANES_OF_ROW;
    const uint row = (uint)(get_global_id(0) / LANES_OF_ROW);
    REAL s = 0;
    if (row < rows) {
        const uint end = row_ptr[row + 1];
        for (uint e = row_ptr[row] + lane; e < end; e += LANES_OF_ROW)
            s = fma(val[e], x[col[e]], s);
    }
    part[l] = s;
    for (uint w = LANES_OF_ROW / 2; w > 0; w /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < w)
            part[l] += part[l + w];
    }
    if (lane == 0 && row < rows)
        y[row] = part[l];
}
