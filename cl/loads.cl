/* Loads of what is read once: matrices. They leave the first cache to the vectors, whose values are
   read again by other rows; a hint, no more. */
#ifdef __NV_CL_C_VERSION
#define ONCE(p) once_(p)
#define ONCE_WORD(p) once_word_(p)
#define ONCE_HALF(p) once_half_(p)
inline REAL once_(__global const REAL *p) {
    union {
        REAL all;
        ulong two;
        uint one;
    } u;
    if (sizeof(REAL) == sizeof(ulong))
        asm("ld.global.cs.b64 %0, [%1];" : "=l"(u.two) : "l"(p));
    else
        asm("ld.global.cs.b32 %0, [%1];" : "=r"(u.one) : "l"(p));
    return u.all;
}
inline uint once_word_(__global const uint *p) {
    uint v;
    asm("ld.global.cs.b32 %0, [%1];" : "=r"(v) : "l"(p));
    return v;
}
inline uint once_half_(__global const ushort *p) {
    ushort v;
    asm("ld.global.cs.u16 %0, [%1];" : "=h"(v) : "l"(p));
    return v;
}
#else
#define ONCE(p) (*(p))
#define ONCE_WORD(p) (*(p))
#define ONCE_HALF(p) ((uint)*(p))
#endif
