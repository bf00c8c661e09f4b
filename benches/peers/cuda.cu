/* cuSPARSE's products, CSR and sliced ELL, each by the quickest of its algorithms and slices,
   cuBLAS' sums and updates of vectors, and conjugate gradients from both: the product in sliced
   ELL, scaled to unit diagonal, all scalars on the card, no wait within a solve. Calls that leave nothing to the host follow each other, as
   couloir's do; a dot product's result is the host's before the next. */
#include "peer.h"
#include <cublas_v2.h>
#include <cusparse.h>

#define ROW_S 2e-3
#define ROW_CALLS 64
#define CALLS 100

static void check(int failed, const char *what) {
    if (failed)
        die(what);
}

static void *on_card(const void *from, size_t bytes) {
    void *p;
    check(cudaMalloc(&p, bytes), "the card has too little memory");
    if (from)
        check(cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice), "copying to the card");
    else
        check(cudaMemset(p, 0, bytes), "clearing the card's memory");
    return p;
}

/* Median and least seconds per call of `f`, in rows of `row` that are waited for once. */
template <class F> static void time_calls(F f, int row, double result[2]) {
    double times[CALLS];
    for (int k = -5; k < CALLS; ++k) {
        double start = now();
        for (int i = 0; i < row; ++i)
            f();
        check(cudaDeviceSynchronize(), "the card failed");
        times[k < 0 ? 0 : k] = (now() - start) / row;
    }
    qsort(times, CALLS, sizeof *times, ascending);
    result[0] = times[CALLS / 2];
    result[1] = times[0];
}

/* As long a row as couloir's. */
template <class F> static int row_of(F f) {
    double result[2];
    time_calls(f, 1, result);
    return (int)fmin(fmax(ROW_S / result[1], 1), ROW_CALLS);
}

static void print(const char *name, const double result[2]) {
    printf("%s %.9e %.9e\n", name, result[0], result[1]);
}

/* Keeps the quicker product in `best`, once it is verified. */
static void product(cusparseHandle_t handle, cusparseSpMatDescr_t a, cusparseSpMVAlg_t how,
                    Matrix *m, double *y_card, cusparseDnVecDescr_t x, cusparseDnVecDescr_t y,
                    const char *name, double best[2]) {
    double one = 1, zero = 0, result[2];
    size_t bytes = 0;
    auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
    check(cusparseSpMV_bufferSize(handle, op, &one, a, x, &zero, y, CUDA_R_64F, how, &bytes), name);
    void *room = on_card(0, bytes + 8);
#if CUSPARSE_VERSION >= 12400
    check(cusparseSpMV_preprocess(handle, op, &one, a, x, &zero, y, CUDA_R_64F, how, room), name);
#endif
    auto f = [&] {
        check(cusparseSpMV(handle, op, &one, a, x, &zero, y, CUDA_R_64F, how, room), name);
    };
    check(cudaMemset(y_card, 0xff, 8ul * m->rows), name);
    f();
    check(cudaMemcpy(m->y, y_card, 8ul * m->rows, cudaMemcpyDeviceToHost), name);
    verified(m, name);
    time_calls(f, row_of(f), result);
    if (result[0] < best[0])
        memcpy(best, result, sizeof result);
    cudaFree(room);
}

/* Slices of `height` rows on the card, filled up with columns of -1. */
static cusparseSpMatDescr_t sliced(const Matrix *m, int height) {
    int slices = (m->rows + height - 1) / height;
    int *first = (int *)malloc(4ul * (slices + 1));
    int64_t size = 0;
    for (int s = 0; s <= slices; ++s) {
        first[s] = (int)size;
        int most = 0;
        for (int i = s * height; i < (s + 1) * height && i < m->rows; ++i)
            most = m->row_ptr[i + 1] - m->row_ptr[i] > most ? m->row_ptr[i + 1] - m->row_ptr[i] : most;
        size += s < slices ? (int64_t)most * height : 0;
    }
    if (size > INT32_MAX)
        die("the slices are too large");
    int *col = (int *)malloc(4 * size);
    double *val = (double *)calloc(size, 8);
    memset(col, 0xff, 4 * size);
    for (int i = 0; i < m->rows; ++i)
        for (int e = m->row_ptr[i]; e < m->row_ptr[i + 1]; ++e) {
            int64_t at = first[i / height] + (int64_t)(e - m->row_ptr[i]) * height + i % height;
            col[at] = m->col[e];
            val[at] = m->val[e];
        }
    cusparseSpMatDescr_t a;
    check(cusparseCreateSlicedEll(&a, m->rows, m->cols, m->nnz, size, height,
                                  on_card(first, 4ul * (slices + 1)), on_card(col, 4 * size),
                                  on_card(val, 8 * size), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                  CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
          "sliced ELL");
    free(first);
    free(col);
    free(val);
    return a;
}

static void products(Matrix *m) {
    cusparseHandle_t handle;
    check(cusparseCreate(&handle), "cuSPARSE does not start");
    double *x_card = (double *)on_card(m->x, 8ul * m->cols);
    double *y_card = (double *)on_card(0, 8ul * m->rows);
    cusparseDnVecDescr_t x, y;
    check(cusparseCreateDnVec(&x, m->cols, x_card, CUDA_R_64F), "x");
    check(cusparseCreateDnVec(&y, m->rows, y_card, CUDA_R_64F), "y");
    cusparseSpMatDescr_t csr;
    check(cusparseCreateCsr(&csr, m->rows, m->cols, m->nnz,
                            on_card(m->row_ptr, 4ul * (m->rows + 1)), on_card(m->col, 4 * m->nnz),
                            on_card(m->val, 8 * m->nnz), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
          "CSR");
    double best[2] = {INFINITY, INFINITY};
    cusparseSpMVAlg_t algorithms[] = {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2};
    for (auto how : algorithms)
        product(handle, csr, how, m, y_card, x, y, "cusparse-csr", best);
    print("cusparse-csr", best);
    best[0] = best[1] = INFINITY;
    int heights[] = {32, 64};
    for (int height : heights)
        product(handle, sliced(m, height), CUSPARSE_SPMV_SELL_ALG1, m, y_card, x, y, "cusparse-sell", best);
    print("cusparse-sell", best);
}

__global__ void divide(double *quotient, double *negative, const double *a, const double *b) {
    *quotient = *a / *b;
    *negative = -*quotient;
}

/* ITERATIONS of the solve of A x = 1, per iteration. */
static void solve(Matrix *m) {
    double *root = (double *)pages(8ul * m->rows), *b = (double *)pages(8ul * m->rows);
    for (int i = 0; i < m->rows; ++i)
        for (int e = m->row_ptr[i]; e < m->row_ptr[i + 1]; ++e)
            if (m->col[e] == i)
                root[i] = sqrt(m->val[e]);
    for (int i = 0; i < m->rows; ++i) {
        for (int e = m->row_ptr[i]; e < m->row_ptr[i + 1]; ++e)
            m->val[e] /= root[i] * root[m->col[e]];
        b[i] = 1 / root[i];
    }
    cusparseHandle_t sparse;
    cublasHandle_t blas;
    check(cusparseCreate(&sparse) || cublasCreate(&blas), "the libraries do not start");
    cusparseSetPointerMode(sparse, CUSPARSE_POINTER_MODE_DEVICE);
    cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE);
    int n = m->rows;
    size_t bytes = 8ul * n, room_bytes = 0;
    double *b_card = (double *)on_card(b, bytes), *x = (double *)on_card(0, bytes);
    double *r = (double *)on_card(0, bytes), *p = (double *)on_card(0, bytes), *s = (double *)on_card(0, bytes);
    double start[8] = {1, 0};
    double *scalars = (double *)on_card(start, sizeof start), *one = scalars, *zero = scalars + 1;
    double *rr = scalars + 2, *ps = scalars + 3, *next = scalars + 4;
    double *alpha = scalars + 5, *minus = scalars + 6, *beta = scalars + 7;
    cusparseSpMatDescr_t a = sliced(m, 32);
    cusparseDnVecDescr_t p_vec, s_vec;
    cusparseCreateDnVec(&p_vec, n, p, CUDA_R_64F);
    cusparseCreateDnVec(&s_vec, n, s, CUDA_R_64F);
    auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
    auto how = CUSPARSE_SPMV_SELL_ALG1;
    check(cusparseSpMV_bufferSize(sparse, op, one, a, p_vec, zero, s_vec, CUDA_R_64F, how, &room_bytes), "room");
    void *room = on_card(0, room_bytes + 8);
    auto f = [&] {
        cudaMemsetAsync(x, 0, bytes);
        cudaMemcpyAsync(r, b_card, bytes, cudaMemcpyDeviceToDevice);
        cudaMemcpyAsync(p, b_card, bytes, cudaMemcpyDeviceToDevice);
        cublasDdot(blas, n, r, 1, r, 1, rr);
        for (int k = 0; k < ITERATIONS; ++k) {
            check(cusparseSpMV(sparse, op, one, a, p_vec, zero, s_vec, CUDA_R_64F, how, room), "product");
            cublasDdot(blas, n, p, 1, s, 1, ps);
            divide<<<1, 1>>>(alpha, minus, rr, ps);
            cublasDaxpy(blas, n, alpha, p, 1, x, 1);
            cublasDaxpy(blas, n, minus, s, 1, r, 1);
            cublasDdot(blas, n, r, 1, r, 1, next);
            divide<<<1, 1>>>(beta, minus, next, rr);
            cudaMemcpyAsync(rr, next, 8, cudaMemcpyDeviceToDevice);
            cublasDscal(blas, n, beta, p, 1);
            cublasDaxpy(blas, n, one, r, 1, p, 1);
        }
    };
    f();
    /* The recurrence's residual against that of the solution. */
    double *y = (double *)pages(bytes), *r_host = (double *)pages(bytes), error = 0, size = 0;
    check(cudaMemcpy(y, x, bytes, cudaMemcpyDeviceToHost), "copying from the card");
    check(cudaMemcpy(r_host, r, bytes, cudaMemcpyDeviceToHost), "copying from the card");
    for (int i = 0; i < n; ++i) {
        double left = b[i];
        for (int e = m->row_ptr[i]; e < m->row_ptr[i + 1]; ++e)
            left -= m->val[e] * y[m->col[e]];
        error = fmax(error, fabs(left - r_host[i]));
        size = fmax(size, fabs(b[i]));
    }
    if (!(error < 1e-9 * size))
        die("the libraries' solve goes astray");
    double result[2];
    time_calls(f, 1, result);
    result[0] /= ITERATIONS;
    result[1] /= ITERATIONS;
    print("cuda-libraries", result);
}

/* On vectors of as many ones as the matrix has rows. */
static void vectors(int n, int is_dot) {
    cublasHandle_t handle;
    check(cublasCreate(&handle), "cuBLAS does not start");
    double *ones = (double *)pages(8ul * n), result[2], sum = 0, factor = 1e-9;
    for (int i = 0; i < n; ++i)
        ones[i] = 1;
    double *x = (double *)on_card(ones, 8ul * n), *y = (double *)on_card(ones, 8ul * n);
    auto dot = [&] { check(cublasDdot(handle, n, x, 1, y, 1, &sum), "dot"); };
    auto axpy = [&] { check(cublasDaxpy(handle, n, &factor, x, 1, y, 1), "axpy"); };
    dot();
    if (sum != n)
        die("cublas computes something else");
    if (is_dot)
        time_calls(dot, 1, result);
    else
        time_calls(axpy, row_of(axpy), result);
    print("cublas", result);
}

/* Usage: PROGRAM MATRIX spmv|cg 0, or PROGRAM ROWS dot|axpy 0. */
int main(int argc, char **argv) {
    int flush;
    const char *kernel = usage(argc, argv, &flush);
    if (!strcmp(kernel, "spmv")) {
        Matrix m = load(argv[1]);
        products(&m);
    } else if (!strcmp(kernel, "cg")) {
        Matrix m = load(argv[1]);
        solve(&m);
    } else if (!strcmp(kernel, "dot") || !strcmp(kernel, "axpy")) {
        vectors(atoi(argv[1]), !strcmp(kernel, "dot"));
    }
    return 0;
}
