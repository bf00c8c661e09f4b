/* PETSc: AIJ and SELL products; conjugate gradients with Jacobi's preconditioner on AIJ. */
#include "peer.h"
#include <petscksp.h>

typedef struct {
    Mat a;
    Vec x, y;
    KSP ksp;
} Self;

static void product(void *with) {
    Self *s = (Self *)with;
    if (MatMult(s->a, s->x, s->y))
        die("MatMult failed");
}

static void solve(void *with) {
    Self *s = (Self *)with;
    if (VecSet(s->y, 0) || KSPSolve(s->ksp, s->x, s->y))
        die("KSPSolve failed");
}

int main(int argc, char **argv) {
    int flush, none = 1;
    const char *kernel = usage(argc, argv, &flush);
    char *program[] = {argv[0], 0}, **args = program;
    Self s;
    PC pc;
    if (PetscInitialize(&none, &args, 0, 0))
        die("PETSc does not start");
    Matrix m = load(argv[1]);
    MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, m.rows, m.cols, m.row_ptr, m.col, m.val, &s.a);
    VecCreateSeqWithArray(PETSC_COMM_SELF, 1, m.cols, m.x, &s.x);
    VecCreateSeqWithArray(PETSC_COMM_SELF, 1, m.rows, m.y, &s.y);
    if (!strcmp(kernel, "spmv")) {
        product(&s);
        verified(&m, "PETSc AIJ");
        report("petsc-aij", product, &s, 1, flush);
        MatConvert(s.a, MATSEQSELL, MAT_INITIAL_MATRIX, &s.a);
        product(&s);
        verified(&m, "PETSc SELL");
        report("petsc-sell", product, &s, 1, flush);
    } else {
        KSPCreate(PETSC_COMM_SELF, &s.ksp);
        KSPSetOperators(s.ksp, s.a, s.a);
        KSPSetType(s.ksp, KSPCG);
        KSPGetPC(s.ksp, &pc);
        PCSetType(pc, PCJACOBI);
        KSPSetTolerances(s.ksp, 1e-30, 1e-300, 1e30, ITERATIONS);
        KSPSetUp(s.ksp);
        report("petsc-aij", solve, &s, ITERATIONS, flush);
    }
    return 0;
}
