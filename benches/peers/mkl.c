/* MKL's optimised product (inspector-executor), through dlopen: $MKL_RT is the library. */
#include "peer.h"
#include <dlfcn.h>

struct matrix_descr {
    int type, mode, diag;
};
typedef void *sparse_matrix_t;
enum { GENERAL = 20, NON_TRANSPOSE = 10 };

static int (*create)(sparse_matrix_t *, int, int, int, int *, int *, int *, double *);
static int (*hint)(sparse_matrix_t, int, struct matrix_descr, int);
static int (*optimize)(sparse_matrix_t);
static int (*mv)(int, double, sparse_matrix_t, struct matrix_descr, const double *, double, double *);

static struct {
    sparse_matrix_t a;
    Matrix *m;
} self;

static void product(void *unused) {
    struct matrix_descr d = {GENERAL, 0, 0};
    (void)unused;
    if (mv(NON_TRANSPOSE, 1.0, self.a, d, self.m->x, 0.0, self.m->y))
        die("mkl_sparse_d_mv failed");
}

int main(int argc, char **argv) {
    int flush;
    const char *kernel = usage(argc, argv, &flush);
    if (strcmp(kernel, "spmv"))
        return 0;
    void *lib = dlopen(getenv("MKL_RT") ? getenv("MKL_RT") : "libmkl_rt.so", RTLD_NOW | RTLD_GLOBAL);
    if (!lib)
        die(dlerror());
    *(void **)&create = dlsym(lib, "mkl_sparse_d_create_csr");
    *(void **)&hint = dlsym(lib, "mkl_sparse_set_mv_hint");
    *(void **)&optimize = dlsym(lib, "mkl_sparse_optimize");
    *(void **)&mv = dlsym(lib, "mkl_sparse_d_mv");
    if (!create || !hint || !optimize || !mv)
        die("a function is missing from MKL");
    Matrix m = load(argv[1]);
    struct matrix_descr d = {GENERAL, 0, 0};
    self.m = &m;
    if (create(&self.a, 0, m.rows, m.cols, m.row_ptr, m.row_ptr + 1, m.col, m.val) ||
        hint(self.a, NON_TRANSPOSE, d, 100000) || optimize(self.a))
        die("MKL refuses the matrix");
    product(0);
    verified(&m, "MKL");
    report("mkl", product, 0, 1, flush);
    return 0;
}
