/* Shared by all kernels. Constants given by -D:
   REAL     float or double
   VECTOR   rows of one vector instruction, or of two: 1, 2, 4, 8, 16
   ITEM     rows per work-item: VECTOR, or BLOCK
   BLOCK    rows per block; every row count is a multiple of it
   LANES    partial sums per block
   SLICE    rows per slice of a sliced-ELLPACK matrix
   ELEMENTS elements of a slice, at most, where a kernel computes them for itself
   PAIRED   1 where a sum of partial results is a pair of numbers: single precision
   ADDING   work-items of a group that adds partial results up; may be left out
   UNROLL_  what stands before a loop to unroll; nothing for a software device
   STREAMED 1 in kernels that only reduce vectors, where ITEM is less than BLOCK
   BACKWARD 1 in kernels whose groups take the rows from the last to the first; 2 where a group has
            several blocks in turn, and `this_` is the number
   SMALL    1 in a program of kernels that need few registers: one matrix, one vector
   LONG     1 in the program of the same for matrices of long rows
   LEG      1 in the program of which all iterations of a solve may be one launch
   LEG_PLACES   places where its groups ask: see pcg_leg.cl
   AHEAD    steps of a slice that are loaded before it is known: see ahead.cl; may be left out
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

/* a / b, rounded correctly, as double division is by the standard. */
#define DIVIDE(a, b) ((a) / (b))
