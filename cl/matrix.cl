/* A compressed sliced-ELLPACK matrix; the format is described in src/sparse/sell/mod.rs, and
   src/kernel/mat.rs is the twin of this file. EACH_ENTRY(e, m, i) takes the entries of the rows
   i .. i + VECTOR of matrix m in turn, the diagonal first and then by ascending column; VALUE(p, e)
   is their value in plane p, GATHER(x, e) is x at their columns. Where a row lacks an entry they
   are -0 and 0, which adds nothing.

   A loop for each kind of slice: the loop over kinds is unrolled, and then what differs between
   them is known to the compiler. */
#define MATRIX(m) __global const uint4 *PASTE(m, _slices), __global const uint *PASTE(m, _index)
#define FULL_ (1u << 31)
#define PACKED_ (1u << 30)
#define INLINE_ static inline __attribute__((always_inline))
#define UNROLL_ _Pragma("unroll")
/* What follows, once, with a variable. */
#define WITH_(type, name, value) for (type name = value; name.more; name.more = 0)

#if __OPENCL_VERSION__ >= 120
#define COUNT_(mask) popcount(mask)
#else
INLINE_ uint COUNT_(uint m) {
    m = m - ((m >> 1) & 0x55555555u);
    m = (m & 0x33333333u) + ((m >> 2) & 0x33333333u);
    return (((m + (m >> 4)) & 0x0f0f0f0fu) * 0x01010101u) >> 24;
}
#endif

typedef struct {
    __global const uint *index;
    uint block, differences;           /* first word of the steps; of the differences */
    uint affine, ones, shorts, end;    /* where each kind of step ends */
    uint flags;
    uint first, lane;                  /* first row of the slice; row in it */
    uint values;                       /* first value of the next step */
    uint taken;                        /* differences so far: words, of packed ones halves of words */
    uint2 step;                        /* the next step */
    uint word;                         /* the word of its difference */
    uint more;
} Slice_;

/* Mask and base of step k, and differences, by words and by halves of words. */
#define STEP_(s, k) (*(__global const uint2 *)((s).index + ((s).block + 2 * (k))))
#define WORD_(s, k) ((s).index[(s).differences + (k)])
#define HALF_(s, k) (((__global const ushort *)(s).index)[2 * (s).differences + (k)])

INLINE_ Slice_ slice_(__global const uint4 *slices, __global const uint *index, size_t i) {
    const uint4 at = slices[i / SLICE];
    Slice_ s;
    s.index = index;
    s.affine = at.s2 & 0xff;
    s.ones = s.affine + ((at.s2 >> 8) & 0xff);
    s.shorts = s.ones + (at.s2 >> 16);
    s.end = s.shorts + (at.s3 & ~(FULL_ | PACKED_));
    s.flags = at.s3;
    s.block = at.s1;
    s.differences = at.s1 + 2 * s.end;
    s.lane = (uint)(i % SLICE);
    s.first = (uint)i - s.lane;
    s.values = at.s0;
    s.taken = 0;
    s.more = 1;
    return s;
}

#if VECTOR == 1
/* One row. What a row lacks is read from elsewhere, so that nothing branches, and the registers of
   a work-item are few, so that many are under way: a program for matrices of which all slices are
   affine or packed (REGULAR 1) takes two steps at once, one for all others takes one and reads the
   next one's column meanwhile. */
#define FULL_KIND_ 0   /* every row has every entry */
#define GAPS_KIND_ 1   /* some have not */
#define PACKED_KIND_ 2 /* and no place for it either */
#define TOGETHER_(kind) (REGULAR && (kind) != PACKED_KIND_ ? 2 : 1)
#define EACH_ENTRY(e, m, i)                                                                       \
    WITH_(Slice_, PASTE(e, _s), begun_(PASTE(m, _slices), PASTE(m, _index), i))                   \
        UNROLL_ for (uint PASTE(e, _kind) = 0; PASTE(e, _kind) < 3; ++PASTE(e, _kind))            \
            if (PASTE(e, _kind) == kind_(&PASTE(e, _s)))                                          \
                _Pragma("unroll 1") for (uint PASTE(e, _k) = 0;                                   \
                                         PASTE(e, _k) < PASTE(e, _s).end;                         \
                                         PASTE(e, _k) += TOGETHER_(PASTE(e, _kind)))              \
                    UNROLL_ for (uint PASTE(e, _j) = 0;                                           \
                                 PASTE(e, _j) < TOGETHER_(PASTE(e, _kind)); ++PASTE(e, _j))       \
                        WITH_(Entry, e, entry_(&PASTE(e, _s), PASTE(e, _kind),                    \
                                               PASTE(e, _k) + PASTE(e, _j)))

typedef struct {
    uint has, value, column, more;
} Entry;

INLINE_ uint kind_(const Slice_ *s) {
    return s->flags & PACKED_ ? PACKED_KIND_ : s->flags & FULL_ ? FULL_KIND_ : GAPS_KIND_;
}

/* Reads what step k needs. Beyond the last one there are words, though of no meaning. */
INLINE_ void ahead_(Slice_ *s, uint k) {
    s->step = STEP_(*s, k);
    s->word = WORD_(*s, s->taken + (k >= s->shorts ? s->lane : s->lane / 2));
}

INLINE_ Slice_ begun_(__global const uint4 *slices, __global const uint *index, size_t i) {
    Slice_ s = slice_(slices, index, i);
    if (!REGULAR)
        ahead_(&s, 0);
    return s;
}

/* Steps are affine; one beyond the last is read as the last, and no row has it. */
INLINE_ Entry affine_(const Slice_ *s, bool full, uint step) {
    const uint k = min(step, s->end - 1);
    const uint2 at = STEP_(*s, k);
    Entry e;
    e.more = 1;
    e.has = step < s->end && (full || (at.s0 >> s->lane & 1));
    e.value = s->values + (k < s->affine ? SLICE * k + s->lane : (SLICE - 1) * s->affine + k);
    e.column = s->first + at.s1 + s->lane;
    if (!full)
        e.column = e.has ? e.column : 0;
    return e;
}

/* Steps are of all kinds, and were read ahead. */
INLINE_ Entry mixed_(Slice_ *s, bool full, uint k) {
    const bool affine = k < s->ones, wide = k >= s->shorts, one = affine && k >= s->affine;
    const uint2 at = s->step;
    const uint word = s->word, part = (s->lane & 1 ? word >> 16 : word) & 0xffff;
    s->taken += affine ? 0 : wide ? SLICE : SLICE / 2;
    ahead_(s, k + 1);
    Entry e;
    e.more = 1;
    e.has = full || (at.s0 >> s->lane & 1);
    e.value = s->values + (one ? 0 : s->lane);
    s->values += one ? 1 : SLICE;
    e.column = s->first + at.s1 + (affine ? s->lane : wide ? word : part);
    if (!full)
        e.column = e.has ? e.column : 0;
    return e;
}

INLINE_ Entry packed_(Slice_ *s, uint k) {
    const uint2 step = STEP_(*s, k);
    const uint all = COUNT_(step.s0), before = COUNT_(step.s0 & ((1u << s->lane) - 1u));
    const bool one = k >= s->affine && k < s->ones, wide = k >= s->shorts;
    Entry e;
    e.more = 1;
    e.has = step.s0 >> s->lane & 1;
    e.value = s->values + (one || !e.has ? 0 : before);
    s->values += one ? 1 : all;
    uint difference = s->lane;
    if (k >= s->ones) {
        if (k == s->shorts)
            s->taken += s->taken & 1;
        const uint at = e.has ? before : 0;
        difference = wide ? WORD_(*s, s->taken / 2 + at) : HALF_(*s, s->taken + at);
        s->taken += wide ? 2 * all : all;
    }
    e.column = e.has ? s->first + step.s1 + difference : 0;
    return e;
}

INLINE_ Entry entry_(Slice_ *s, uint kind, uint k) {
    return kind == PACKED_KIND_ ? packed_(s, k)
           : REGULAR            ? affine_(s, kind == FULL_KIND_, k)
                                : mixed_(s, kind == FULL_KIND_, k);
}

#define VALUE(p, e) has_((p)[(e).value], (e).has, (REAL)(-0.0f))
#define GATHER(x, e) has_((x)[(e).column], (e).has, (REAL)(0))
INLINE_ REAL has_(REAL v, uint has, REAL other) { return has ? v : other; }

#else
/* Several rows, of a device that is a core with vector instructions. */
#define ALL_ROWS (0xffffffffu >> (32 - VECTOR))
#define FULL_KIND_ 0 /* every row has every entry */
#define GAPS_KIND_ 1 /* some have not */
#define EACH_ENTRY(e, m, i)                                                                       \
    WITH_(Slice_, PASTE(e, _s), slice_(PASTE(m, _slices), PASTE(m, _index), i))                   \
        UNROLL_ for (uint PASTE(e, _kind) = 0; PASTE(e, _kind) < 2; ++PASTE(e, _kind))            \
            if (PASTE(e, _kind) == (PASTE(e, _s).flags & FULL_ ? FULL_KIND_ : GAPS_KIND_))        \
                for (uint PASTE(e, _k) = 0; PASTE(e, _k) < PASTE(e, _s).end; ++PASTE(e, _k))      \
                    WITH_(Entry, e, entry_(&PASTE(e, _s), PASTE(e, _kind), PASTE(e, _k)))         \
                        if (e.mask)

typedef struct {
    uint mask;   /* of the rows at hand, those that have the entry */
    uint value;  /* the first one's value */
    uint one;    /* it stands for all */
    uint gaps;   /* rows that lack the entry have a place, too */
    uint affine; /* columns follow each other from base on; else they are base and a difference */
    uint wide;   /* of a word, not half of one */
    uint base;
    __global const uint *words;
    __global const ushort *halves;
    uint more;
} Entry;

INLINE_ Entry entry_(Slice_ *s, uint kind, uint k) {
    const uint2 step = STEP_(*s, k);
    const bool full = kind == FULL_KIND_, packed = !full && (s->flags & PACKED_), affine = k < s->ones, wide = k >= s->shorts;
    const uint all = packed ? COUNT_(step.s0) : SLICE;
    const uint before = packed ? COUNT_(step.s0 & ((1u << s->lane) - 1u)) : s->lane;
    if (k == s->shorts)
        s->taken += s->taken & 1;
    Entry e;
    e.more = 1;
    e.mask = full ? ALL_ROWS : step.s0 >> s->lane & ALL_ROWS;
    e.one = affine && k >= s->affine;
    e.gaps = !packed;
    e.value = s->values + (e.one ? 0 : before);
    e.affine = affine;
    e.wide = wide;
    e.base = s->first + step.s1 + (affine ? s->lane : 0);
    e.words = &WORD_(*s, s->taken / 2 + before);
    e.halves = &HALF_(*s, s->taken + before);
    s->values += e.one ? 1 : all;
    s->taken += affine ? 0 : wide ? 2 * all : all;
    return e;
}

#define VALUE(p, e) value_(p, &(e))
#define GATHER(x, e) gather_(x, &(e))

INLINE_ realv value_(__global const REAL *p, const Entry *e) {
    if (e->mask == ALL_ROWS)
        return e->one ? (realv)(p[e->value]) : LOAD(p, e->value);
    REAL v[VECTOR];
    for (uint l = 0, at = e->value; l < VECTOR; ++l) {
        const bool has = e->mask >> l & 1;
        v[l] = (REAL)(-0.0f);
        if (has)
            v[l] = p[at];
        at += !e->one && (has || e->gaps);
    }
    return LOAD(v, 0);
}

INLINE_ realv gather_(__global const REAL *x, const Entry *e) {
    REAL v[VECTOR];
    if (e->mask == ALL_ROWS) {
        if (e->affine)
            return LOAD(x, e->base);
        if (e->wide)
            for (uint l = 0; l < VECTOR; ++l)
                v[l] = x[e->base + e->words[l]];
        else
            for (uint l = 0; l < VECTOR; ++l)
                v[l] = x[e->base + e->halves[l]];
        return LOAD(v, 0);
    }
    for (uint l = 0, at = 0; l < VECTOR; ++l) {
        const bool has = e->mask >> l & 1;
        v[l] = (REAL)(0);
        if (has)
            v[l] = x[e->base + (e->affine ? l : e->wide ? e->words[at] : (uint)e->halves[at])];
        at += has || e->gaps;
    }
    return LOAD(v, 0);
}
#endif
