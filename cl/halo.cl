/* Values of vector `field` of so many `fields` to the message for neighbours, and from one that has
   come to its halo, which begins at row `first`. See src/cluster/mail.rs for the words. */
#define PLACE_(w) ((w).s1 * fields + (w).s2 * field + (w).s3)
__kernel void pack_kernel(__global REAL *message, __global const REAL *x,
                          __global const uint4 *words, const uint count, const uint fields,
                          const uint field) {
    const uint k = (uint)get_global_id(0);
    if (k < count) {
        const uint4 w = words[k];
        message[PLACE_(w)] = x[w.s0];
    }
}
__kernel void place_kernel(__global REAL *x, __global const REAL *message,
                           __global const uint4 *words, const uint count, const uint fields,
                           const uint field, const uint first) {
    const uint k = (uint)get_global_id(0);
    if (k < count) {
        const uint4 w = words[k];
        x[first + w.s0] = message[PLACE_(w)];
    }
}
