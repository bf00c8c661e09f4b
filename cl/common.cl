/* Shared by all kernels. Constants given by -D:
   REAL     float or double
   VECTOR   rows per vector instruction: 1, 2, 4, 8
   ITEM     rows per work-item: VECTOR, or BLOCK
   BLOCK    rows per block; every row count is a multiple of it
   LANES    partial sums per block
   SLICE    rows per slice of a sliced-ELLPACK matrix
   PAIRED   1 where a sum of partial results is a pair of numbers: single precision
   ADDING   work-items of a group that adds partial results up; may be left out
   UNROLL_  what stands before a loop to unroll; nothing for a software device
   STREAMED 1 in kernels that only reduce vectors, where ITEM is less than BLOCK
   BACKWARD 1 in kernels whose groups take the rows from the last to the first; 2 where a group has
            several blocks in turn, and `this_` is the number
   SMALL    1 in a program of kernels that need few registers: one matrix, one vector
   LONG     1 in the program of the same for matrices of long rows
   LEG      1 in the program of which all iterations of a solve may be one launch
   WAITING  1 in kernels whose first groups add up what the others wait for
   ADDERS   how many groups that is; LANES_LEFT, ROOM_TOLD, TOLD_ROOM, TOTAL_LANES: see first.cl
   KEEPS    1 where the second cache can be told what to keep
   Results must not depend on the device: fused multiply-adds are written out, and the compiler
   may not make others. */
#pragma OPENCL FP_CONTRACT OFF

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define CASE_(a, b) PASTE_(a, b)

/* Only there are the loads and loops of a software device known to be compiled well: PoCL 3.1 on ARM
   miscomputes some loops that it is told to unroll. */
#ifdef __x86_64__
#define ON_X86 1
#else
#define ON_X86 0
#endif
#if VECTOR == 1
typedef REAL realv;
#define LOAD(p, i) ((p)[i])
#define STORE(p, i, v) ((p)[i] = (v))
#else
typedef PASTE(REAL, VECTOR) realv;
#if ON_X86
/* A vector anywhere, for PoCL makes vloads of eight numbers out of two at a time. */
typedef realv realv_anywhere_ __attribute__((aligned(sizeof(REAL))));
#define OF_SPACE_(space)                                                                          \
    inline __attribute__((always_inline, overloadable)) realv load_(space const REAL *p) {        \
        return *(space const realv_anywhere_ *)p;                                                 \
    }                                                                                             \
    inline __attribute__((always_inline, overloadable)) void store_(space REAL *p, realv v) {     \
        *(space realv_anywhere_ *)p = v;                                                          \
    }
OF_SPACE_(__global)
OF_SPACE_(__local)
OF_SPACE_(__private)
#define LOAD(p, i) load_((p) + (i))
#define STORE(p, i, v) store_((p) + (i), (v))
#else
#define LOAD(p, i) PASTE(vload, VECTOR)(0, (p) + (i))
#define STORE(p, i, v) PASTE(vstore, VECTOR)((v), 0, (p) + (i))
#endif
#endif

/* The number of a row. Those of a matrix have 32 bits, and registers are few there: in 32 of them
   (this source through clang and ptxas) the product of an iteration spilled 76 bytes a work-item with
   64 bits, and none so. */
#if SMALL
typedef uint Row_number;
#else
typedef size_t Row_number;
#endif

/* The number of this work-item, in the order of its rows. */
#define THIS_ CASE_(THIS_, BACKWARD)
#define THIS_0 (get_global_id(0) - WAITING * ADDERS * get_local_size(0))
#if ITEM == VECTOR
#define THIS_1                                                              \
    (get_global_offset(0) + get_local_id(0) +                               \
     (get_num_groups(0) - 1 - get_group_id(0)) * get_local_size(0))
#else
#define THIS_1 THIS_0
#endif
#define THIS_2 this_

/* The rows of this work-item, VECTOR at a time: i, .., i+VECTOR-1. Where a kernel is STREAMED (1),
   LANES / VECTOR work-items have a block, each the rows of its lanes; a group has one block or two. */
#define EACH_ROW(i) CASE_(EACH_ROW_, STREAMED)(i)
#if ITEM == VECTOR
#define EACH_ROW_0(i)                                                       \
    for (Row_number i = (Row_number)THIS_ * ITEM, PASTE(i, _more) = 1;      \
         PASTE(i, _more); PASTE(i, _more) = 0)
#elif ON_X86 && ITEM == BLOCK
/* LANES rows at a time, so that the compiler sees which lanes they are, and keeps these in registers:
   `couloir bench dot --rows 1000000 --where device`, PoCL 3.1 on a core of a Zen 4, 253, 301, 327 us ->
   197, 222, 276. */
#define EACH_ROW_0(i)                                                       \
    for (size_t PASTE(i, _from) = THIS_ * ITEM, PASTE(i, _end) = PASTE(i, _from) + ITEM; \
         PASTE(i, _from) < PASTE(i, _end); PASTE(i, _from) += LANES)        \
        _Pragma("unroll") for (size_t i = PASTE(i, _from); i < PASTE(i, _from) + LANES; i += VECTOR)
#else
#define EACH_ROW_0(i)                                                       \
    for (size_t i = THIS_ * ITEM, PASTE(i, _end) = i + ITEM;                \
         i < PASTE(i, _end); i += VECTOR)
#endif
#define EACH_ROW_1(i)                                                       \
    for (size_t i = get_global_id(0) / (LANES / VECTOR) * BLOCK +           \
                    get_global_id(0) % (LANES / VECTOR) * VECTOR,           \
                PASTE(i, _end) = i + BLOCK;                                 \
         i < PASTE(i, _end); i += LANES)

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
#else
#define REDUCTION_0(s) __local REAL s[BLOCK]
/* A group is a block; the first group of a launch need not be the first block. */
#define BLOCK_OF_THIS_ ((Row_number)THIS_ / (BLOCK / ITEM))
#define ADD_0(s, i, v) STORE(s, (i) % BLOCK, v)
#define MAXIMUM_0(s, i, v) STORE(s, (i) % BLOCK, v)
#define FINISH_0(out, s, OP) FINISH_LISTS_(1, OP, s, out)
/* LANES work-items for each of n lists, which every work-item has, as it has where the list's result
   goes. */
#define OF_FOUR_(a, b, c, d) (l_ < 2 * LANES ? l_ < LANES ? (a) : (b) : l_ < 3 * LANES ? (c) : (d))
#define IN_TURNS_(a, b) (l_ / LANES & 1 ? fmax((a), (b)) : (a) + (b))
#define FINISH_LISTS_(n, OP, list, out)                                     \
    {                                                                       \
        const uint l_ = get_local_id(0);                                    \
        __local REAL *z_ = list;                                            \
        REAL t_ = 0;                                                        \
        barrier(CLK_LOCAL_MEM_FENCE);                                       \
        LANES_SUM_((n) * LANES, OP)                                         \
        if (l_ < (n) * LANES && l_ % LANES == 0)                            \
            KEEP((out) + BLOCK_OF_THIS_, t_);                               \
    }
/* LANES work-items have a list each, of the first n: the first of them gets in t_ what comes of z_,
   by lanes, then of these pairwise. */
#define LANES_SUM_(n, OP)                                                   \
    if (l_ < (n))                                                           \
        UNROLL_ for (uint k_ = 0; k_ < BLOCK / LANES; ++k_)                 \
            t_ = OP(t_, z_[l_ % LANES + k_ * LANES]);                       \
    TREE_(n, OP)
#ifdef __NV_CL_C_VERSION
/* LANES work-items of this compiler's devices run in step, and see each other's registers. */
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
#define TREE_(n, OP)                                                        \
    if (l_ < (n))                                                           \
        for (uint w_ = LANES / 2; w_ > 0; w_ /= 2)                          \
            t_ = OP(t_, down_(t_, w_));
#else
#define TREE_(n, OP)                                                        \
    barrier(CLK_LOCAL_MEM_FENCE);                                           \
    if (l_ < (n))                                                           \
        z_[l_ % LANES] = t_;                                                \
    for (uint w_ = LANES / 2; w_ > 0; w_ /= 2) {                            \
        barrier(CLK_LOCAL_MEM_FENCE);                                       \
        if (l_ < (n) && l_ % LANES < w_)                                    \
            t_ = z_[l_ % LANES] = OP(t_, z_[l_ % LANES + w_]);              \
    }
#endif
#endif

/* a / b, rounded correctly, as double division is by the standard. */
#define DIVIDE(a, b) ((a) / (b))
