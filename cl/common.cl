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
typedef uint uintv;
#define LOAD(p, i) ((p)[i])
#define STORE(p, i, v) ((p)[i] = (v))
#define GATHER(x, j) ((x)[j])
#else
typedef PASTE(REAL, VECTOR) realv;
typedef PASTE(uint, VECTOR) uintv;
#define LOAD(p, i) PASTE(vload, VECTOR)(0, (p) + (i))
#define STORE(p, i, v) PASTE(vstore, VECTOR)((v), 0, (p) + (i))
#if VECTOR == 2
#define GATHER(x, j) ((realv)((x)[(j).s0], (x)[(j).s1]))
#elif VECTOR == 4
#define GATHER(x, j) ((realv)((x)[(j).s0], (x)[(j).s1], (x)[(j).s2], (x)[(j).s3]))
#else
#define GATHER(x, j)                                                                    \
    ((realv)((x)[(j).s0], (x)[(j).s1], (x)[(j).s2], (x)[(j).s3], (x)[(j).s4], (x)[(j).s5], \
             (x)[(j).s6], (x)[(j).s7]))
#endif
#endif

/* The rows i, i+1, .., i+VECTOR-1 of this work-item, in turn. */
#define EACH_ROW(i)                                                         \
    for (size_t i = get_global_id(0) * ITEM, PASTE(i, _end) = i + ITEM;     \
         i < PASTE(i, _end); i += VECTOR)

/* A sliced-ELLPACK matrix: element k of row i is at slice_ptr[i / SLICE] + k SLICE + i % SLICE. */
#define MATRIX(m) __global const uint *PASTE(m, _ptr), __global const uint *PASTE(m, _col)
#define EACH_ENTRY(e, m, i)                                                 \
    for (uint e = PASTE(m, _ptr)[(i) / SLICE] + (uint)((i) % SLICE),        \
              PASTE(e, _end) = PASTE(m, _ptr)[(i) / SLICE + 1];             \
         e < PASTE(e, _end); e += SLICE)
#define COLUMN(m, e) LOAD(PASTE(m, _col), e)

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
