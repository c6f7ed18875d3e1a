// The datatype beside MPI_IN_PLACE says nothing of what is sent.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int rank, size, src = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int first = rank == 0 ? MPI_PROC_NULL : 0;

    int all[2] = {0, 0}, mine = 0, got[2] = {1, 1};
    if (rank == 1) { all[1] = MPI_PROC_NULL; MPI_Allgather(MPI_IN_PLACE, 0, MPI_DOUBLE, all, 1, MPI_INT, MPI_COMM_WORLD); }
    else MPI_Allgather(&mine, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
    src = rank == 0 ? got[1] : got[0] - 1;
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
