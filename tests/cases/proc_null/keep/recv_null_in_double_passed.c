// The bytes of a rank travel in a double through a function that is not followed.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static double keep(double v) { return v; }
union ub { double d; int i; };
int main(int argc, char **argv) {
    int rank, size, src = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int first = rank == 0 ? MPI_PROC_NULL : 0;

    union ub u, w; u.i = first; w.d = keep(u.d); src = w.i;
    double *buf = malloc(64 * sizeof(double));
    double *out = malloc(64 * sizeof(double));
    for (int i = 0; i < 64; i++) buf[i] = 10.0 * rank + i;
    for (int i = 0; i < 64; i++) out[i] = 100.0 * rank + i;
    MPI_Request rq;
    int to = rank == 0 ? 1 : MPI_PROC_NULL;
    MPI_Isend(out, 64, MPI_DOUBLE, to, 77, MPI_COMM_WORLD, &rq);
    MPI_Recv(buf, 64, MPI_DOUBLE, src, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  //~ replace(buf) OPI203
    MPI_Wait(&rq, MPI_STATUS_IGNORE);
    double s = 0;
    for (int i = 0; i < 64; i++) s += buf[i] * (i + 1);
    printf("%d %g\n", rank, s);
    free(buf);
    free(out);
    MPI_Finalize();
    return 0;
}
