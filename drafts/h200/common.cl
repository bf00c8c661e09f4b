/* Shared by all kernels. Constants given by -D:
   REAL     float or double
   VECTOR   rows per vector instruction: 1, 2, 4, 8
   ITEM     rows per work-item: VECTOR, or BLOCK
   BLOCK    rows per block; every row count is a multiple of it
   LANES    partial sums per block
   SLICE    rows per slice of a sliced-ELLPACK matrix
   Results must not depend on the device: fused multiply-adds are written out, and the compiler
   may not make others. */
#pragma OPENCL FP_CONTRACT OFF

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

#if VECTOR == 1
typedef REAL realv;
#define LOAD(p, i) ((p)[i])
#define STORE(p, i, v) ((p)[i] = (v))
#else
typedef PASTE(REAL, VECTOR) realv;
#define LOAD(p, i) PASTE(vload, VECTOR)(0, (p) + (i))
#define STORE(p, i, v) PASTE(vstore, VECTOR)((v), 0, (p) + (i))
#endif


#ifndef LANEWISE
/* The rows i, i+1, .., i+VECTOR-1 of this work-item, in turn. */
#define EACH_ROW(i)                                                         \
    for (size_t i = get_global_id(0) * ITEM, PASTE(i, _end) = i + ITEM;     \
         i < PASTE(i, _end); i += VECTOR)

/* Reductions: row r of a block belongs to lane r % LANES; a lane adds its rows in ascending
   order; lanes are added pairwise. The CPU does the same, so partial sums agree bit for bit. */
#if ITEM == BLOCK
#define REDUCTION(s)                                                        \
    realv s[LANES / VECTOR];                                                \
    for (uint l_ = 0; l_ < LANES / VECTOR; ++l_)                            \
    s[l_] = (realv)(0)
#define TERM_(s, i) s[((i) % LANES) / VECTOR]
#define ADD(s, i, v) (TERM_(s, i) = TERM_(s, i) + (v))
#define MAXIMUM(s, i, v) (TERM_(s, i) = fmax(TERM_(s, i), (v)))
#define FINISH_(out, s, OP)                                                 \
    {                                                                       \
        REAL t_[LANES];                                                     \
        for (uint l_ = 0; l_ < LANES / VECTOR; ++l_)                        \
            STORE(t_, l_ * VECTOR, s[l_]);                                  \
        for (uint w_ = LANES / 2; w_ > 0; w_ /= 2)                          \
            for (uint l_ = 0; l_ < w_; ++l_)                                \
                t_[l_] = OP(t_[l_], t_[l_ + w_]);                           \
        (out)[get_global_id(0)] = t_[0];                                    \
    }
#else
#define REDUCTION(s) __local REAL s[BLOCK]
#define ADD(s, i, v) STORE(s, (i) % BLOCK, v)
#define MAXIMUM(s, i, v) STORE(s, (i) % BLOCK, v)
#define FINISH_(out, s, OP)                                                 \
    {                                                                       \
        const uint l_ = get_local_id(0);                                    \
        REAL t_ = 0;                                                        \
        barrier(CLK_LOCAL_MEM_FENCE);                                       \
        if (l_ < LANES)                                                     \
            for (uint r_ = l_; r_ < BLOCK; r_ += LANES)                     \
                t_ = OP(t_, s[r_]);                                         \
        barrier(CLK_LOCAL_MEM_FENCE);                                       \
        if (l_ < LANES)                                                     \
            s[l_] = t_;                                                     \
        for (uint w_ = LANES / 2; w_ > 0; w_ /= 2) {                        \
            barrier(CLK_LOCAL_MEM_FENCE);                                   \
            if (l_ < w_)                                                    \
                s[l_] = OP(s[l_], s[l_ + w_]);                              \
        }                                                                   \
        if (l_ == 0)                                                        \
            (out)[get_group_id(0)] = s[0];                                  \
    }
#endif
#define PLUS_(a, b) ((a) + (b))
#define FINISH_SUM(out, s) FINISH_(out, s, PLUS_)
#define FINISH_MAXIMUM(out, s) FINISH_(out, s, fmax)


#else
#define STEPS_ (BLOCK / LANES)
#define EACH_ROW(i)                                                                   \
    __attribute__((opencl_unroll_hint(8))) for (size_t i = get_global_id(0) / (LANES / VECTOR) * BLOCK + get_global_id(0) % (LANES / VECTOR) * VECTOR, \
         PASTE(i, _end) = i + BLOCK; i < PASTE(i, _end); i += LANES)
#define REDUCTION(s) __local REAL PASTE(s, _lanes)[GROUP * VECTOR]; realv s = (realv)(0)
#define ADD(s, i, v) ((s) = (s) + (v))
#define MAXIMUM(s, i, v) ((s) = fmax((s), (v)))
#define FINISH_(out, s, OP)                                                 \
    {                                                                       \
        const uint l_ = get_local_id(0);                                    \
        __local REAL *t_ = PASTE(s, _lanes) + l_ / (LANES / VECTOR) * LANES; \
        const uint j_ = l_ % (LANES / VECTOR);                              \
        STORE(t_, j_ * VECTOR, s);                                          \
        for (uint w_ = LANES / 2; w_ > 0; w_ /= 2) {                        \
            barrier(CLK_LOCAL_MEM_FENCE);                                   \
            for (uint a_ = j_; a_ < w_; a_ += LANES / VECTOR)               \
                t_[a_] = OP(t_[a_], t_[a_ + w_]);                           \
        }                                                                   \
        if (j_ == 0)                                                        \
            (out)[get_global_id(0) / (LANES / VECTOR)] = t_[0];             \
    }
#define PLUS_(a, b) ((a) + (b))
#define FINISH_SUM(out, s) FINISH_(out, s, PLUS_)
#define FINISH_MAXIMUM(out, s) FINISH_(out, s, fmax)
#endif
/* Three sums of partial results by one group: part b belongs to lane b % TOTAL_LANES, which adds
   its parts in ascending order; lanes are added pairwise. The CPU does the same. Loads go ahead of
   additions, for there is little else to hide their time behind. */
#define EACH_LANE_(l, n) for (uint l = get_local_id(0); l < (n); l += get_local_size(0))
#define TOTALS(a, b, c, parts)                                              \
    __local REAL t_[3 * TOTAL_LANES];                                       \
    EACH_LANE_(l_, TOTAL_LANES) {                                           \
        REAL s_[3] = {0, 0, 0};                                             \
        uint i_ = l_;                                                       \
        for (; i_ + 3 * TOTAL_LANES < (parts); i_ += 4 * TOTAL_LANES) {     \
            REAL v_[12];                                                    \
            for (uint k_ = 0; k_ < 4; ++k_) {                               \
                v_[3 * k_] = (a)[i_ + k_ * TOTAL_LANES];                    \
                v_[3 * k_ + 1] = (b)[i_ + k_ * TOTAL_LANES];                \
                v_[3 * k_ + 2] = (c)[i_ + k_ * TOTAL_LANES];                \
            }                                                               \
            for (uint k_ = 0; k_ < 12; ++k_)                                \
                s_[k_ % 3] = s_[k_ % 3] + v_[k_];                           \
        }                                                                   \
        for (; i_ < (parts); i_ += TOTAL_LANES) {                           \
            s_[0] = s_[0] + (a)[i_];                                        \
            s_[1] = s_[1] + (b)[i_];                                        \
            s_[2] = s_[2] + (c)[i_];                                        \
        }                                                                   \
        for (uint k_ = 0; k_ < 3; ++k_)                                     \
            t_[k_ * TOTAL_LANES + l_] = s_[k_];                             \
    }                                                                       \
    for (uint w_ = TOTAL_LANES / 2; w_ > 0; w_ /= 2) {                      \
        barrier(CLK_LOCAL_MEM_FENCE);                                       \
        EACH_LANE_(l_, 3 * w_) {                                            \
            const uint i_ = l_ / w_ * TOTAL_LANES + l_ % w_;                \
            t_[i_] = t_[i_] + t_[i_ + w_];                                  \
        }                                                                   \
    }                                                                       \
    barrier(CLK_LOCAL_MEM_FENCE);
#define SUM_OF(k) t_[(k) * TOTAL_LANES]

/* a / b, rounded correctly, as double division is by the standard. */
#define DIVIDE(a, b) ((a) / (b))
