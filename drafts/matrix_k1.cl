#define MATRIX(m) __global const uint4 *PASTE(m, _slices), __global const uint *PASTE(m, _index)
#define ALL_ROWS (0xffffffffu >> (32 - VECTOR))
#define INLINE static inline __attribute__((always_inline))
#if __OPENCL_VERSION__ >= 120
#define COUNT_(mask) popcount(mask)
#else
INLINE uint COUNT_(uint m) {
    m = m - ((m >> 1) & 0x55555555u);
    m = (m & 0x33333333u) + ((m >> 2) & 0x33333333u);
    return (((m + (m >> 4)) & 0x0f0f0f0fu) * 0x01010101u) >> 24;
}
#endif
/* Steps of one kind after the other: a loop each once the compiler has unrolled the kinds. */
#define EACH_ENTRY(e, m, i)                                                                   \
    for (Slice PASTE(e, _s) = slice_(PASTE(m, _slices), PASTE(m, _index), i);                 \
         PASTE(e, _s).more; PASTE(e, _s).more = 0)                                            \
        _Pragma("unroll") for (uint PASTE(e, _kind) = 0; PASTE(e, _kind) < 4; ++PASTE(e, _kind)) \
             for (uint PASTE(e, _k) = PASTE(e, _s).begin[PASTE(e, _kind)];          \
                          PASTE(e, _k) < PASTE(e, _s).begin[PASTE(e, _kind) + 1]; ++PASTE(e, _k)) \
                for (Entry e = entry_(&PASTE(e, _s), PASTE(e, _kind), PASTE(e, _k)); e.mask; e.mask = 0)

typedef struct {
    __global const uint2 *steps;        /* mask and base of each */
    __global const ushort *differences; /* of the next step */
    uint begin[5];                      /* first step of each kind, and the end */
    uint first, lane;                   /* first row of the slice; row in it */
    uint values;                        /* first value of the next step */
    uint odd;                           /* 16-bit differences taken so far, modulo 2 */
    uint more;
} Slice;

typedef struct {
    uint mask;  /* of the rows at hand, those that have the entry */
    uint value; /* the first one's value */
    uint one;   /* it stands for all */
#if VECTOR == 1
    uint has, column;
#else
    uint contiguous; /* columns follow each other, and no row lacks the entry */
    uint column[VECTOR];
#endif
} Entry;

INLINE Slice slice_(__global const uint4 *slices, __global const uint *index, size_t i) {
    const uint4 at = slices[i / SLICE];
    Slice s;
    s.begin[0] = 0;
    s.begin[1] = at.s2 & 0xff;
    s.begin[2] = s.begin[1] + ((at.s2 >> 8) & 0xff);
    s.begin[3] = s.begin[2] + (at.s2 >> 16);
    s.begin[4] = s.begin[3] + at.s3;
    s.steps = (__global const uint2 *)(index + at.s1);
    s.differences = (__global const ushort *)(s.steps + s.begin[4]);
    s.lane = (uint)(i % SLICE);
    s.first = (uint)i - s.lane;
    s.values = at.s0;
    s.odd = 0;
    s.more = 1;
    return s;
}

INLINE Entry entry_(Slice *s, uint kind, uint k) {
    Entry e;
    const uint2 step = s->steps[k];
    const uint base = s->first + step.s1, all = COUNT_(step.s0);
    const uint before = COUNT_(step.s0 & ((1u << s->lane) - 1u));
    e.mask = (step.s0 >> s->lane) & ALL_ROWS;
    e.one = kind == 1;
    if (kind == 3 && k == s->begin[3])
        s->differences += s->odd;
    __global const ushort *halves = s->differences;
    __global const uint *words = (__global const uint *)s->differences;
#if VECTOR == 1
    /* What another row has is read where this one lacks the entry, so that nothing branches. */
    e.has = e.mask;
    e.mask = 1;
    const uint at = e.has ? before : 0;
    e.value = s->values + (kind == 1 ? 0 : at);
    if (kind < 2)
        e.column = base + (e.has ? s->lane : COUNT_((step.s0 & -step.s0) - 1u));
    else
        e.column = base + (kind == 2 ? (uint)halves[at] : words[at]);
#else
    e.value = s->values + (kind == 1 ? 0 : before);
    e.contiguous = kind < 2 && e.mask == ALL_ROWS;
    if (kind < 2)
        for (uint l = 0; l < VECTOR; ++l)
            e.column[l] = base + s->lane + l;
    else if (e.mask == ALL_ROWS)
        for (uint l = 0; l < VECTOR; ++l)
            e.column[l] = base + (kind == 2 ? (uint)halves[before + l] : words[before + l]);
    else
        for (uint l = 0, at = before; l < VECTOR; ++l)
            if (e.mask >> l & 1) {
                e.column[l] = base + (kind == 2 ? (uint)halves[at] : words[at]);
                ++at;
            }
#endif
    s->values += kind == 1 ? 1 : all;
    if (kind == 2) {
        s->differences += all;
        s->odd ^= all & 1;
    }
    if (kind == 3)
        s->differences += 2 * all;
    return e;
}

#if VECTOR == 1
#define VALUE(p, e) value_((p)[(e).value], (e).has)
#define GATHER(x, e) gather_((x)[(e).column], (e).has)
INLINE REAL value_(REAL v, uint has) { return has ? v : (REAL)(-0.0f); }
INLINE REAL gather_(REAL x, uint has) { return has ? x : (REAL)(0); }
#else
#define VALUE(p, e) value_(p, &(e))
#define GATHER(x, e) gather_(x, &(e))

INLINE realv value_(__global const REAL *p, const Entry *e) {
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

INLINE realv gather_(__global const REAL *x, const Entry *e) {
    if (e->contiguous)
        return LOAD(x, e->column[0]);
    REAL v[VECTOR];
    for (uint l = 0; l < VECTOR; ++l)
        v[l] = e->mask >> l & 1 ? x[e->column[l]] : (REAL)(0);
    return LOAD(v, 0);
}
#endif
