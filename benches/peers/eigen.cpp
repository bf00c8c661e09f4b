// Eigen: compressed rows; conjugate gradients with its diagonal preconditioner.
#include "peer.h"
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/Sparse>

typedef Eigen::SparseMatrix<double, Eigen::RowMajor> Sparse;
typedef Eigen::Map<Eigen::VectorXd> Vector;

struct Self {
    Sparse a; // a copy of its own: a mapped matrix has no solver
    Vector x, y;
    Eigen::ConjugateGradient<Sparse, Eigen::Lower | Eigen::Upper> cg;
};

static void product(void *with) {
    Self *s = (Self *)with;
    s->y.noalias() = s->a * s->x;
}

static void solve(void *with) {
    Self *s = (Self *)with;
    s->y = s->cg.solve(s->x);
}

int main(int argc, char **argv) {
    int flush;
    const char *kernel = usage(argc, argv, &flush);
    Matrix m = load(argv[1]);
    Self s = {Eigen::Map<Sparse>(m.rows, m.cols, m.nnz, m.row_ptr, m.col, m.val),
              Vector(m.x, m.cols), Vector(m.y, m.rows), {}};
    if (!strcmp(kernel, "spmv")) {
        product(&s);
        verified(&m, "Eigen");
        report("eigen", product, &s, 1, flush);
    } else {
        s.cg.setMaxIterations(ITERATIONS);
        s.cg.setTolerance(1e-30);
        s.cg.compute(s.a);
        report("eigen", solve, &s, ITERATIONS, flush);
    }
    return 0;
}
