/* Sums or maxima of partial results by lanes: part b belongs to lane b % TOTAL_LANES, which takes
   its parts in ascending order. TOTAL_LANES work-items each; loads go ahead of additions, for
   there is little else to hide their time behind. See src/split/lanes.rs. */
#define AHEAD_ 16
#define LANE_(lanes, parts, count, OP)                                       \
    {                                                                        \
        const uint l_ = (uint)get_global_id(0) % TOTAL_LANES;                \
        REAL s_ = 0;                                                         \
        uint i_ = l_;                                                        \
        for (; i_ + (AHEAD_ - 1) * TOTAL_LANES < (count); i_ += AHEAD_ * TOTAL_LANES) { \
            REAL v_[AHEAD_];                                                 \
            UNROLL_ for (uint k_ = 0; k_ < AHEAD_; ++k_)                     \
                v_[k_] = (parts)[i_ + k_ * TOTAL_LANES];                     \
            UNROLL_ for (uint k_ = 0; k_ < AHEAD_; ++k_)                     \
                s_ = OP(s_, v_[k_]);                                         \
        }                                                                    \
        for (; i_ < (count); i_ += TOTAL_LANES)                              \
            s_ = OP(s_, (parts)[i_]);                                        \
        (lanes)[l_] = s_;                                                    \
    }
__kernel void sum_lanes_kernel(__global REAL *lanes, __global const REAL *parts, const uint count) {
    LANE_(lanes, parts, count, PLUS_)
}
__kernel void maximum_lanes_kernel(__global REAL *lanes, __global const REAL *parts,
                                   const uint count) {
    LANE_(lanes, parts, count, fmax)
}
/* Three sums at once, TOTAL_LANES work-items for each. */
__kernel void three_lanes_kernel(__global REAL *a, __global REAL *b, __global REAL *c,
                                 __global const REAL *pa, __global const REAL *pb,
                                 __global const REAL *pc, const uint count) {
    const uint which = (uint)get_global_id(0) / TOTAL_LANES;
    __global REAL *lanes = which == 0 ? a : which == 1 ? b : c;
    __global const REAL *parts = which == 0 ? pa : which == 1 ? pb : pc;
    LANE_(lanes, parts, count, PLUS_)
}
