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
    uint taken, halves;                /* differences so far: words; packed ones, halves of words */
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
    s.taken = s.halves = 0;
    s.more = 1;
    return s;
}

#if VECTOR == 1
/* One row. What a row lacks is read from elsewhere, so that nothing branches, and a work-item has
   few registers, so that many are under way. A program for matrices of which all slices are affine
   or packed (REGULAR 1) takes two affine steps at once; one for all others reads the next step's
   column while it takes a step. The kinds of slices and their order were measured: another order
   of the same loops, or fewer of them, costs a tenth on an H200. */
#define WHOLE_KIND_ 0    /* affine steps of every row; REGULAR only */
#define AFFINE_KIND_ 1   /* affine steps; REGULAR only */
#define GAPS_KIND_ 2     /* steps of all kinds */
#define PACKED_KIND_ 3   /* packed steps of all kinds */
#define FULL_KIND_ 4     /* steps of all kinds, of every row; not REGULAR */
#define TOGETHER_(kind) ((kind) < GAPS_KIND_ ? 2 : 1)
#define EACH_ENTRY(e, m, i)                                                                       \
    WITH_(Slice_, PASTE(e, _s), begun_(PASTE(m, _slices), PASTE(m, _index), i))                   \
        UNROLL_ for (uint PASTE(e, _kind) = 0; PASTE(e, _kind) < 5 - REGULAR; ++PASTE(e, _kind))  \
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
    if (!REGULAR)
        return s->flags & PACKED_ ? PACKED_KIND_ : s->flags & FULL_ ? FULL_KIND_ : GAPS_KIND_;
    return s->flags & PACKED_ ? PACKED_KIND_
           : s->ones < s->end ? GAPS_KIND_
           : s->flags & FULL_ ? WHOLE_KIND_
                              : AFFINE_KIND_;
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

/* Difference of column and base in step k: a lane, half of a word or a word. */
INLINE_ uint difference_(const Slice_ *s, uint k) {
    const bool affine = k < s->ones, wide = k >= s->shorts;
    const uint step = k - s->ones + (wide ? k - s->shorts : 0);
    const uint at = affine ? 0 : SLICE / 2 * step + (wide ? s->lane : s->lane / 2);
    const uint word = WORD_(*s, at), part = (s->lane & 1 ? word >> 16 : word) & 0xffff;
    return affine ? s->lane : wide ? word : part;
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
            s->halves += s->halves & 1;
        const uint at = e.has ? before : 0;
        difference = wide ? WORD_(*s, s->halves / 2 + at) : HALF_(*s, s->halves + at);
        s->halves += wide ? 2 * all : all;
    }
    e.column = e.has ? s->first + step.s1 + difference : 0;
    return e;
}

/* A step of any kind that was read ahead. */
INLINE_ Entry mixed_(Slice_ *s, uint k, bool full) {
    const bool affine = k < s->ones, wide = k >= s->shorts, one = affine && k >= s->affine;
    const uint2 at = s->step;
    const uint word = s->word;
    s->taken += affine ? 0 : wide ? SLICE : SLICE / 2;
    ahead_(s, k + 1);
    const uint part = (s->lane & 1 ? word >> 16 : word) & 0xffff;
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

/* A step that was not; one beyond the last is read as the last, and no row has it. */
INLINE_ Entry entry_(Slice_ *s, uint kind, uint step) {
    if (kind == PACKED_KIND_)
        return packed_(s, step);
    if (!REGULAR)
        return mixed_(s, step, kind == FULL_KIND_);
    const uint k = min(step, s->end - 1);
    const uint2 at = STEP_(*s, k);
    Entry e;
    e.more = 1;
    e.has = step < s->end && (kind == WHOLE_KIND_ || (at.s0 >> s->lane & 1));
    e.value = s->values + (k < s->affine ? SLICE * k + s->lane : (SLICE - 1) * s->affine + k);
    uint difference = s->lane;
    if (kind == GAPS_KIND_) {
        if (k >= s->ones)
            e.value = s->values + SLICE * k - (SLICE - 1) * (s->ones - s->affine) + s->lane;
        difference = difference_(s, k);
    }
    e.column = s->first + at.s1 + difference;
    if (kind != WHOLE_KIND_)
        e.column = e.has ? e.column : 0;
    return e;
}

#define VALUE(p, e) has_((p)[(e).value], (e).has, (REAL)(-0.0f))
#define GATHER(x, e) has_((x)[(e).column], (e).has, (REAL)(0))
INLINE_ REAL has_(REAL v, uint has, REAL other) { return has ? v : other; }

#else
/* Several rows, of a device that is a core with vector instructions. */
#define ALL_ROWS (0xffffffffu >> (32 - VECTOR))
#define EACH_ENTRY(e, m, i)                                                           \
    WITH_(Slice_, PASTE(e, _s), slice_(PASTE(m, _slices), PASTE(m, _index), i))       \
        for (uint PASTE(e, _k) = 0; PASTE(e, _k) < PASTE(e, _s).end; ++PASTE(e, _k))  \
            WITH_(Entry, e, entry_(&PASTE(e, _s), PASTE(e, _k)))                      \
                if (e.mask)

typedef struct {
    uint mask;       /* of the rows at hand, those that have the entry */
    uint value;      /* the first one's value */
    uint one;        /* it stands for all */
    uint gaps;       /* rows that lack the entry have a value, too */
    uint contiguous; /* columns follow each other, and no row lacks the entry */
    uint column[VECTOR];
    uint more;
} Entry;

INLINE_ Entry entry_(Slice_ *s, uint k) {
    const uint2 step = STEP_(*s, k);
    const bool packed = s->flags & PACKED_, affine = k < s->ones, wide = k >= s->shorts;
    const uint all = packed ? COUNT_(step.s0) : SLICE;
    const uint before = packed ? COUNT_(step.s0 & ((1u << s->lane) - 1u)) : s->lane;
    const uint base = s->first + step.s1;
    if (k == s->shorts)
        s->halves += s->halves & 1;
    __global const ushort *halves = &HALF_(*s, s->halves + before);
    __global const uint *words = &WORD_(*s, s->halves / 2 + before);
    Entry e;
    e.more = 1;
    e.mask = step.s0 >> s->lane & ALL_ROWS;
    e.one = affine && k >= s->affine;
    e.gaps = !packed;
    e.value = s->values + (e.one ? 0 : before);
    e.contiguous = affine && e.mask == ALL_ROWS;
    if (affine)
        for (uint l = 0; l < VECTOR; ++l)
            e.column[l] = base + s->lane + l;
    else if (e.gaps || e.mask == ALL_ROWS)
        for (uint l = 0; l < VECTOR; ++l)
            e.column[l] = base + (wide ? words[l] : (uint)halves[l]);
    else
        for (uint l = 0, at = 0; l < VECTOR; ++l)
            if (e.mask >> l & 1) {
                e.column[l] = base + (wide ? words[at] : (uint)halves[at]);
                ++at;
            }
    s->values += e.one ? 1 : all;
    s->halves += affine ? 0 : wide ? 2 * all : all;
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
    if (e->contiguous)
        return LOAD(x, e->column[0]);
    REAL v[VECTOR];
    for (uint l = 0; l < VECTOR; ++l)
        v[l] = e->mask >> l & 1 ? x[e->column[l]] : (REAL)(0);
    return LOAD(v, 0);
}
#endif
