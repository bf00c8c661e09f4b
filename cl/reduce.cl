/* Reductions: row r of a block belongs to lane r % LANES; a lane adds its rows in ascending
   order; lanes are added pairwise. The CPU does the same, so partial sums agree bit for bit. */
#define REDUCTION(s) CASE_(REDUCTION_, STREAMED)(s)
#define ADD(s, i, v) CASE_(ADD_, STREAMED)(s, i, v)
#define MAXIMUM(s, i, v) CASE_(MAXIMUM_, STREAMED)(s, i, v)
#define FINISH_SUM(out, s) CASE_(FINISH_, STREAMED)(out, s, PLUS_)
#define FINISH_MAXIMUM(out, s) CASE_(FINISH_, STREAMED)(out, s, fmax)
#define FINISH_TWO_SUMS(o, s, o2, s2) CASE_(FINISH_TWO_, STREAMED)(o, s, o2, s2)
#define FINISH_THREE_SUMS(o, s, o2, s2, o3, s3) CASE_(FINISH_THREE_, STREAMED)(o, s, o2, s2, o3, s3)
#define FINISH_SUM_AND_MAXIMUM(o, s, o2, m) CASE_(FINISH_BOTH_, STREAMED)(o, s, o2, m)
#define FINISH_SUMS_AND_MAXIMA(o, s, o2, m, o3, s3, o4, m4)                 \
    CASE_(FINISH_FOUR_, STREAMED)(o, s, o2, m, o3, s3, o4, m4)
#define PLUS_(a, b) ((a) + (b))

#define REDUCTION_1(s)                                                      \
    __local REAL PASTE(s, _lanes)[2 * LANES];                               \
    realv s = (realv)(0)
#define ADD_1(s, i, v) ((s) = (s) + (v))
#define MAXIMUM_1(s, i, v) ((s) = fmax((s), (v)))
#define FINISH_1(out, s, OP)                                                \
    {                                                                       \
        const uint l_ = get_local_id(0) % (LANES / VECTOR);                 \
        __local REAL *t_ = PASTE(s, _lanes) + get_local_id(0) / (LANES / VECTOR) * LANES; \
        STORE(t_, l_ * VECTOR, s);                                          \
        for (uint w_ = LANES / 2; w_ > 0; w_ /= 2) {                        \
            barrier(CLK_LOCAL_MEM_FENCE);                                   \
            for (uint a_ = l_; a_ < w_; a_ += LANES / VECTOR)               \
                t_[a_] = OP(t_[a_], t_[a_ + w_]);                           \
        }                                                                   \
        if (l_ == 0)                                                        \
            (out)[get_global_id(0) / (LANES / VECTOR)] = t_[0];             \
    }

/* One after the other, by FINISH; or, by the work-items of a group, all by as many barriers as one
   takes. */
#define TWO_BY_(FINISH, o, s, o2, s2) FINISH(o, s, PLUS_) FINISH(o2, s2, PLUS_)
#define BOTH_BY_(FINISH, o, s, o2, m) FINISH(o, s, PLUS_) FINISH(o2, m, fmax)
#define FINISH_TWO_1(o, s, o2, s2) TWO_BY_(FINISH_1, o, s, o2, s2)
#define FINISH_THREE_1(o, s, o2, s2, o3, s3)                                \
    TWO_BY_(FINISH_1, o, s, o2, s2) FINISH_1(o3, s3, PLUS_)
#define FINISH_BOTH_1(o, s, o2, m) BOTH_BY_(FINISH_1, o, s, o2, m)
#define FINISH_FOUR_1(o, s, o2, m, o3, s3, o4, m4)                          \
    BOTH_BY_(FINISH_1, o, s, o2, m) BOTH_BY_(FINISH_1, o3, s3, o4, m4)
#define LISTS_AT_ONCE_ (BLOCK / ITEM / LANES)
#if LISTS_AT_ONCE_ >= 2
#define FINISH_TWO_0(o, s, o2, s2)                                          \
    FINISH_LISTS_(2, PLUS_, OF_FOUR_(s, s2, s2, s2), OF_FOUR_(o, o2, o2, o2))
#define FINISH_BOTH_0(o, s, o2, m)                                          \
    FINISH_LISTS_(2, IN_TURNS_, OF_FOUR_(s, m, m, m), OF_FOUR_(o, o2, o2, o2))
#else
#define FINISH_TWO_0(o, s, o2, s2) TWO_BY_(FINISH_0, o, s, o2, s2)
#define FINISH_BOTH_0(o, s, o2, m) BOTH_BY_(FINISH_0, o, s, o2, m)
#endif
#if LISTS_AT_ONCE_ >= 4
#define FINISH_THREE_0(o, s, o2, s2, o3, s3)                                \
    FINISH_LISTS_(3, PLUS_, OF_FOUR_(s, s2, s3, s3), OF_FOUR_(o, o2, o3, o3))
#define FINISH_FOUR_0(o, s, o2, m, o3, s3, o4, m4)                          \
    FINISH_LISTS_(4, IN_TURNS_, OF_FOUR_(s, m, s3, m4), OF_FOUR_(o, o2, o3, o4))
#else
#define FINISH_THREE_0(o, s, o2, s2, o3, s3)                                \
    FINISH_TWO_0(o, s, o2, s2) FINISH_0(o3, s3, PLUS_)
#define FINISH_FOUR_0(o, s, o2, m, o3, s3, o4, m4)                          \
    FINISH_BOTH_0(o, s, o2, m) FINISH_BOTH_0(o3, s3, o4, m4)
#endif

#if ITEM == BLOCK
#define REDUCTION_0(s)                                                      \
    realv s[LANES / VECTOR];                                                \
    for (uint l_ = 0; l_ < LANES / VECTOR; ++l_)                            \
    s[l_] = (realv)(0)
#define TERM_(s, i) s[((i) % LANES) / VECTOR]
#define ADD_0(s, i, v) (TERM_(s, i) = TERM_(s, i) + (v))
#define MAXIMUM_0(s, i, v) (TERM_(s, i) = fmax(TERM_(s, i), (v)))
#define FINISH_0(out, s, OP)                                                \
    {                                                                       \
        for (uint w_ = LANES / VECTOR / 2; w_ > 0; w_ /= 2)                 \
            for (uint l_ = 0; l_ < w_; ++l_)                                \
                s[l_] = OP(s[l_], s[l_ + w_]);                              \
        (out)[THIS_] = PASTE(PAIRWISE_, VECTOR)(s[0], OP);                  \
    }
#define PAIRWISE_1(v, OP) (v)
#define PAIRWISE_2(v, OP) OP((v).lo, (v).hi)
#define PAIRWISE_4(v, OP) PAIRWISE_2(OP((v).lo, (v).hi), OP)
#define PAIRWISE_8(v, OP) PAIRWISE_4(OP((v).lo, (v).hi), OP)
#define PAIRWISE_16(v, OP) PAIRWISE_8(OP((v).lo, (v).hi), OP)
#else
#define REDUCTION_0(s) __local REAL s[BLOCK]
/* A group is a block; the first group of a launch need not be the first block. */
#define BLOCK_OF_THIS_ ((Row_number)THIS_ / (BLOCK / ITEM))
#define ADD_0(s, i, v) STORE(s, (i) % BLOCK, v)
#define MAXIMUM_0(s, i, v) STORE(s, (i) % BLOCK, v)
#define FINISH_0(out, s, OP) FINISH_LISTS_(1, OP, s, out)
/* Of n lists number j_, and how it is added up, and where the result goes. */
#define OF_FOUR_(a, b, c, d) (j_ < 2 ? j_ < 1 ? (a) : (b) : j_ < 3 ? (c) : (d))
#define IN_TURNS_(a, b) (j_ & 1 ? fmax((a), (b)) : (a) + (b))
#ifdef __NV_CL_C_VERSION
/* LANES work-items of this compiler's devices run in step, and see each other's registers: they are one
   warp. The one that began last adds all lists up. The others need not wait for it, and leave what they
   held to other groups (`couloir bench pcg`, an H100, us an iteration, medians: 6.4M tetrahedra in RCM order
   213 -> 208, 1.6M 53 -> 52, grid:160 99.7 -> 98.6, nodes in RCM order 87.4 -> 86.4); but where a group has
   several blocks in turn, all meet, for the lists come into use again (grid:100 21.9 -> 21.1). */
#define SUMMING_ (BLOCK / ITEM / LANES - 1)
#if LEG
#define ALL_LEFT_ barrier(CLK_LOCAL_MEM_FENCE)
#define LEAVE_ barrier(CLK_LOCAL_MEM_FENCE)
#else
#define ALL_LEFT_ asm volatile("bar.sync 1, %0;" : : "r"(BLOCK / ITEM) : "memory")
#define LEAVE_ asm volatile("bar.arrive 1, %0;" : : "r"(BLOCK / ITEM) : "memory")
#endif
inline REAL down_(REAL v, uint by) {
    union {
        REAL all;
        uint word[sizeof(REAL) / sizeof(uint)];
    } u;
    u.all = v;
    _Pragma("unroll") for (uint k = 0; k < sizeof(REAL) / sizeof(uint); ++k)
        asm volatile("shfl.sync.down.b32 %0, %0, %1, 31, 0xffffffff;" : "+r"(u.word[k]) : "r"(by));
    return u.all;
}
#define EACH_LIST_(n) UNROLL_ for (uint j_ = 0; j_ < (n); ++j_)
#define FINISH_LISTS_(n, OP, list, out)                                     \
    if (get_local_id(0) / LANES == SUMMING_) {                              \
        const uint l_ = get_local_id(0) % LANES;                            \
        REAL t_[n];                                                         \
        ALL_LEFT_;                                                          \
        EACH_LIST_(n) {                                                     \
            __local const REAL *z_ = list;                                  \
            t_[j_] = 0;                                                     \
            UNROLL_ for (uint k_ = 0; k_ < BLOCK / LANES; ++k_)             \
                t_[j_] = OP(t_[j_], z_[l_ + k_ * LANES]);                   \
        }                                                                   \
        UNROLL_ for (uint w_ = LANES / 2; w_ > 0; w_ /= 2)                  \
            EACH_LIST_(n) t_[j_] = OP(t_[j_], down_(t_[j_], w_));           \
        if (l_ == 0)                                                        \
            EACH_LIST_(n) KEEP((out) + BLOCK_OF_THIS_, t_[j_]);             \
    } else                                                                  \
        LEAVE_;
#else
/* LANES work-items for each of the lists: the first of them gets in t_ what comes of z_, by lanes, then of
   these pairwise. */
#define FINISH_LISTS_(n, OP, list, out)                                     \
    {                                                                       \
        const uint l_ = get_local_id(0), j_ = l_ / LANES;                   \
        const bool adds_ = j_ < (n);                                        \
        __local REAL *z_ = list;                                            \
        REAL t_ = 0;                                                        \
        barrier(CLK_LOCAL_MEM_FENCE);                                       \
        if (adds_)                                                          \
            UNROLL_ for (uint k_ = 0; k_ < BLOCK / LANES; ++k_)             \
                t_ = OP(t_, z_[l_ % LANES + k_ * LANES]);                   \
        barrier(CLK_LOCAL_MEM_FENCE);                                       \
        if (adds_)                                                          \
            z_[l_ % LANES] = t_;                                            \
        for (uint w_ = LANES / 2; w_ > 0; w_ /= 2) {                        \
            barrier(CLK_LOCAL_MEM_FENCE);                                   \
            if (adds_ && l_ % LANES < w_)                                   \
                t_ = z_[l_ % LANES] = OP(t_, z_[l_ % LANES + w_]);          \
        }                                                                   \
        if (adds_ && l_ % LANES == 0)                                       \
            KEEP((out) + BLOCK_OF_THIS_, t_);                               \
    }
#endif
#endif
