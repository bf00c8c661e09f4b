/* y_k <- b_k + A' x_k, where element e of A' is a_e + (C phi)_e; s_k <- u_k + c1 y_k + c0 o_k; v_k <- s_k -
   dt g_k. A group has a block of rows. Its work-items compute the elements of their slices first, into
   local memory; where one has the whole block, it does so slice by slice, into memory of its own. Slices of
   A have each its own elements, and no more than ELEMENTS. `couloir bench step --rows 1000000 --device 1
   --where device`, an H200, by events, without s_k and v_k, and when each element of A and each row had a
   number of its own: this 69 us; without the path for slices of one step 72, and with a_e asked for last 79;
   with two kernels, A' stored by the first, 61 and 41. Groups of 64 or 128 rows the same; four elements of a
   row at once, 80 registers for 43, 106. Without those numbers, by events of `couloir run` on a box of
   100^3, 57 to 68; with each row's elements computed as its sum asks for them, without local memory, 66 to
   69 beside 68: it is not memory that this waits for. With s_k and v_k 79 and 83, where o_k and g_k are asked
   for before the elements are waited for, else 84 to 87; u_k so, too, 91 and 93; by a kernel of their own 37
   more. */
#if VECTOR == 1
/* One value and columns that follow each other for all rows: three of four slices on a box. */
#define IS_ONE_(at) (((at).s3 & FULL_) && (at).s2 == 0x100 && !WIDE_STEPS_(at))
#define SUM_(t, e)                                                            \
    {                                                                         \
        const uint4 at = KEPT_WORDS(c_slices + (e) / SLICE);                  \
        if (IS_ONE_(at))                                                      \
            t = fma(c_val[at.s0], phi[(e) + c_index[at.s1 + 1]], t);          \
        else                                                                  \
            EACH_ENTRY(f, c, e, { t = fma(VALUE(c_val, f), GATHER(phi, f), t); }) \
    }
#else
#define SUM_(t, e)                                                            \
    EACH_ENTRY(f, c, e, { t = fma(VALUE(c_val, f), GATHER(phi, f), t); })
#endif
#define COMPUTED(to, e, first)                                                \
    {                                                                         \
        const realv own = REPEAT(a, e);                                     \
        realv t = (realv)(0);                                                 \
        SUM_(t, e)                                                            \
        STORE(to, (e) - (first), own + t);                                    \
    }
/* What a row's sum waits for least. */
#define OWN_OF(i)                                                             \
    const realv old0 = LOAD(o0, i), old1 = LOAD(o1, i), old2 = LOAD(o2, i);   \
    const realv slope0 = LOAD(g0, i), slope1 = LOAD(g1, i), slope2 = LOAD(g2, i);
#define MULTIPLIED(i, values, first)                                          \
    {                                                                         \
        realv t0 = REPEAT(b0, i), t1 = REPEAT(b1, i), t2 = REPEAT(b2, i);     \
        EACH_ENTRY(e, a, i, {                                                 \
            OWN_VALUE(v, values, e, first)                                    \
            t0 = fma(v, GATHER(x0, e), t0);                                   \
            t1 = fma(v, GATHER(x1, e), t1);                                   \
            t2 = fma(v, GATHER(x2, e), t2);                                   \
        })                                                                    \
        PREDICTED(0, i, t0)                                                   \
        PREDICTED(1, i, t1)                                                   \
        PREDICTED(2, i, t2)                                                   \
    }
#define PREDICTED(k, i, t)                                                    \
    {                                                                         \
        STORE(PASTE(y, k), i, t);                                             \
        t = fma((realv)(c1), t, LOAD(PASTE(u, k), i));                        \
        t = fma((realv)(c0), PASTE(old, k), t);                               \
        STORE(PASTE(s, k), i, t);                                             \
        STORE(PASTE(v, k), i, fma((realv)(-dt), PASTE(slope, k), t));         \
    }
__kernel void convect_kernel(__global REAL *y0, __global REAL *y1, __global REAL *y2,
                             __global REAL *s0, __global REAL *s1, __global REAL *s2,
                             __global REAL *v0, __global REAL *v1, __global REAL *v2,
                             __global const REAL *u0, __global const REAL *u1,
                             __global const REAL *u2, __global const REAL *o0,
                             __global const REAL *o1, __global const REAL *o2,
                             __global const REAL *g0, __global const REAL *g1,
                             __global const REAL *g2, REPEATED(b0), REPEATED(b1), REPEATED(b2),
                             REPEATED(a), __global const REAL *x0, __global const REAL *x1,
                             __global const REAL *x2, __global const REAL *phi, MATRIX(a),
                             MATRIX(c), __global const REAL *c_val, const REAL c1,
                             const REAL c0, const REAL dt) {
#if ITEM == VECTOR
    __local REAL all[BLOCK / SLICE * ELEMENTS];
    const size_t i = (size_t)THIS_ * VECTOR;
    __local REAL *values = all + (i % BLOCK) / SLICE * ELEMENTS;
    const uint first = a_slices[i / SLICE].s0, end = a_slices[i / SLICE + 1].s0;
    for (uint e = first + i % SLICE; e < end; e += SLICE)
        COMPUTED(values, e, first)
    OWN_OF(i)
    barrier(CLK_LOCAL_MEM_FENCE);
    MULTIPLIED(i, values, first)
#else
    const size_t block = (size_t)THIS_ * ITEM;
    for (size_t slice = block; slice < block + ITEM; slice += SLICE) {
        REAL values[ELEMENTS];
        const uint first = a_slices[slice / SLICE].s0, end = a_slices[slice / SLICE + 1].s0;
        for (uint e = first; e < end; e += VECTOR)
            COMPUTED(values, e, first)
        for (size_t i = slice; i < slice + SLICE; i += VECTOR) {
            OWN_OF(i)
            MULTIPLIED(i, values, first)
        }
    }
#endif
}
#undef IS_ONE_
#undef SUM_
#undef COMPUTED
#undef OWN_OF
#undef MULTIPLIED
#undef PREDICTED
