/* A compressed sliced-ELLPACK matrix; the format is described in src/sparse/sell/mod.rs, and
   src/kernel/mat.rs is the twin of this file. EACH_ENTRY(e, m, i) takes the entries of the rows
   i .. i + VECTOR of matrix m in turn, the diagonal first and then by ascending column; VALUE(p, e)
   is their value in plane p, GATHER(x, e) is x at their columns. Where a row lacks an entry they
   are -0 and 0, which adds nothing. */
#define MATRIX(m) __global const uint2 *PASTE(m, _slices), __global const uint *PASTE(m, _index)
#define EACH_ENTRY(e, m, i)                                                      \
    for (Entry e = entries_(PASTE(m, _slices), PASTE(m, _index), i); next_(&e);) \
        if (e.mask)
#define ALL_ROWS (0xffffffffu >> (32 - VECTOR))

#if __OPENCL_VERSION__ >= 120
#define COUNT_(mask) popcount(mask)
#else
static uint COUNT_(uint m) {
    m = m - ((m >> 1) & 0x55555555u);
    m = (m & 0x33333333u) + ((m >> 2) & 0x33333333u);
    return (((m + (m >> 4)) & 0x0f0f0f0fu) * 0x01010101u) >> 24;
}
#endif

typedef struct {
    __global const uint *steps;            /* mask and base of each step */
    __global const ushort *differences;    /* of the next step */
    uint next, affine, ones, shorts, end;  /* the next step; where each kind of step ends */
    uint first, lane;                      /* first row of the slice; row in it */
    uint values;                           /* first value of the next step */
    uint full;                             /* no row lacks any entry */
    uint odd;                              /* 16-bit differences taken so far, modulo 2 */
    /* The entry at hand: its rows, their first value, whether that stands for all. */
    uint mask, value, one;
#if VECTOR == 1
    uint column;
#else
    uint contiguous; /* columns follow each other, and no row lacks the entry */
    uint column[VECTOR];
#endif
} Entry;

static Entry entries_(__global const uint2 *slices, __global const uint *index, size_t i) {
    const uint2 slice = slices[i / SLICE];
    __global const uint *block = index + slice.s1;
    const uint counts = block[0];
    Entry e;
    e.next = 0;
    e.affine = counts & 0xff;
    e.ones = e.affine + ((counts >> 8) & 0xff);
    e.shorts = e.ones + (counts >> 16);
    e.end = e.shorts + (block[1] & 0x7fffffffu);
    e.full = block[1] >> 31;
    e.steps = block + 2;
    e.differences = (__global const ushort *)(e.steps + 2 * e.end);
    e.lane = (uint)(i % SLICE);
    e.first = (uint)i - e.lane;
    e.values = slice.s0;
    e.odd = 0;
    return e;
}

static bool next_(Entry *e) {
    const uint k = e->next++;
    if (k >= e->end)
        return false;
    const uint mask = e->steps[2 * k], base = e->first + e->steps[2 * k + 1];
    const uint before = e->full ? e->lane : COUNT_(mask & ((1u << e->lane) - 1u));
    const uint all = e->full ? SLICE : COUNT_(mask);
    e->mask = e->full ? ALL_ROWS : (mask >> e->lane) & ALL_ROWS;
    e->one = k >= e->affine && k < e->ones;
    e->value = e->values + (e->one ? 0 : before);
    e->values += e->one ? 1 : all;
    const bool wide = k >= e->shorts;
    __global const ushort *halves = e->differences + before;
    __global const uint *words = (__global const uint *)(e->differences + (k == e->shorts ? e->odd : 0)) + before;
#if VECTOR == 1
    if (k < e->ones)
        e->column = base + e->lane;
    else if (e->mask)
        e->column = base + (wide ? words[0] : (uint)halves[0]);
#else
    e->contiguous = k < e->ones && e->mask == ALL_ROWS;
    if (k < e->ones)
        for (uint l = 0; l < VECTOR; ++l)
            e->column[l] = base + e->lane + l;
    else if (e->mask == ALL_ROWS)
        for (uint l = 0; l < VECTOR; ++l)
            e->column[l] = base + (wide ? words[l] : (uint)halves[l]);
    else
        for (uint l = 0, d = 0; l < VECTOR; ++l)
            if (e->mask >> l & 1) {
                e->column[l] = base + (wide ? words[d] : (uint)halves[d]);
                ++d;
            }
#endif
    if (wide) {
        e->differences = (__global const ushort *)(words - before + all);
    } else if (k >= e->ones) {
        e->differences += all;
        e->odd ^= all & 1;
    }
    return true;
}

#if VECTOR == 1
#define VALUE(p, e) ((p)[(e).value])
#define GATHER(x, e) ((x)[(e).column])
#else
#define VALUE(p, e) value_(p, &(e))
#define GATHER(x, e) gather_(x, &(e))

static realv value_(__global const REAL *p, const Entry *e) {
    if (e->mask == ALL_ROWS)
        return e->one ? (realv)(p[e->value]) : LOAD(p, e->value);
    REAL v[VECTOR];
    for (uint l = 0, at = e->value; l < VECTOR; ++l) {
        v[l] = (REAL)(-0.0f);
        if (e->mask >> l & 1) {
            v[l] = p[at];
            at += !e->one;
        }
    }
    return LOAD(v, 0);
}

static realv gather_(__global const REAL *x, const Entry *e) {
    if (e->contiguous)
        return LOAD(x, e->column[0]);
    REAL v[VECTOR];
    for (uint l = 0; l < VECTOR; ++l)
        v[l] = e->mask >> l & 1 ? x[e->column[l]] : (REAL)(0);
    return LOAD(v, 0);
}
#endif
