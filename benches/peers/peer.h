/* What all peers share: the matrix that `couloir bench --write-matrix` wrote, huge pages, cache
   sweeps, timing, and the check against a plain loop. */
#ifndef PEER_H
#define PEER_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define HUGE_PAGE (2ul << 20)
#define SWEEP_BYTES (320ul << 20)
#define ITERATIONS 50

typedef struct {
    int rows, cols;
    int64_t nnz;
    int *row_ptr, *col;
    double *val, *x, *y;
} Matrix;

static void die(const char *what) {
    fprintf(stderr, "peer: %s\n", what);
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Zeroed memory in huge pages. */
static void *pages(size_t bytes) {
    char *p = (char *)mmap(0, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == (char *)MAP_FAILED)
        die("out of memory");
    p = (char *)(((uintptr_t)p + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
    madvise(p, bytes, MADV_HUGEPAGE);
    memset(p, 0, bytes);
    return p;
}

static void take(void *to, size_t size, size_t count, FILE *file) {
    if (fread(to, size, count, file) != count)
        die("the matrix file is truncated");
}

static Matrix load(const char *path) {
    FILE *file = fopen(path, "rb");
    char magic[8];
    uint64_t size[3];
    if (!file)
        die("the matrix file cannot be opened");
    take(magic, 1, 8, file);
    take(size, 8, 3, file);
    if (memcmp(magic, "CSR-1\n\0\0", 8) || size[2] > INT32_MAX)
        die("this is no matrix that peers can read");
    Matrix a = {(int)size[0], (int)size[1], (int64_t)size[2], 0, 0, 0, 0, 0};
    uint64_t *wide = (uint64_t *)malloc(8 * (size[0] + 1));
    take(wide, 8, size[0] + 1, file);
    a.row_ptr = (int *)pages(4 * (size[0] + 1));
    for (uint64_t i = 0; i <= size[0]; ++i)
        a.row_ptr[i] = (int)wide[i];
    free(wide);
    a.col = (int *)pages(4 * size[2]);
    a.val = (double *)pages(8 * size[2]);
    a.x = (double *)pages(8 * size[1]);
    a.y = (double *)pages(8 * size[0]);
    take(a.col, 4, size[2], file);
    take(a.val, 8, size[2], file);
    fclose(file);
    uint64_t s = 1;
    for (int j = 0; j < a.cols; ++j) {
        s = s * 6364136223846793005ull + 1442695040888963407ull;
        a.x[j] = (double)(s >> 11) / (double)(1ull << 52) - 1.0;
    }
    return a;
}

static void sweep(void) {
    static double *cold;
    size_t n = SWEEP_BYTES / 8;
    double sum = 0;
    if (!cold)
        cold = (double *)pages(SWEEP_BYTES);
#pragma omp parallel for reduction(+ : sum)
    for (size_t i = 0; i < n; i += 8)
        sum += cold[i];
    if (sum != 0)
        die("memory is broken");
}

/* Largest error of y = A x, relative to |A| |x|. */
static double error_of(const Matrix *a) {
    double worst = 0;
    for (int i = 0; i < a->rows; ++i) {
        double sum = 0, size = 1e-300;
        for (int e = a->row_ptr[i]; e < a->row_ptr[i + 1]; ++e) {
            sum += a->val[e] * a->x[a->col[e]];
            size += fabs(a->val[e] * a->x[a->col[e]]);
        }
        worst = fmax(worst, fabs(sum - a->y[i]) / size);
    }
    return worst;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Calls `f` for a second and prints `NAME median min`: seconds per unit, `units` in a call. */
static void report(const char *name, void (*f)(void *), void *with, double units, int flush) {
    double times[1000], spent = 0;
    int n = 0;
    f(with);
    while (n < 1000 && (n < 3 || (spent < 1.0 && n < 400))) {
        if (flush)
            sweep();
        double start = now();
        f(with);
        times[n] = now() - start;
        spent += times[n++];
    }
    qsort(times, n, sizeof *times, ascending);
    printf("%s %.9e %.9e\n", name, times[n / 2] / units, times[0] / units);
    fflush(stdout);
}

static void verified(const Matrix *a, const char *name) {
    if (!(error_of(a) < 1e-12)) {
        fprintf(stderr, "peer: %s computes something else\n", name);
        exit(1);
    }
}

/* Usage of every peer: PROGRAM MATRIX spmv|cg 0|1 (flush). A number of rows stands for the matrix
   where vectors alone are asked for. */
static const char *usage(int argc, char **argv, int *flush) {
    if (argc != 4)
        die("usage: PROGRAM MATRIX|ROWS spmv|cg|dot|axpy 0|1");
    *flush = atoi(argv[3]);
    return argv[2];
}
#endif
