//~ analyse main.c
/* Some library calls MAIN__, but nothing says that it is Fortran's: it may call what it likes, and see `out`. */
#include <mpi.h>
#include <stdio.h>

#define N 300

double out[N];

int MAIN__(void)
{
    int me;
    double in[N];

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (me == 0) {
        for (int i = 0; i < N; i++)
            out[i] = i;
        MPI_Send(out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep OPI112
    } else if (me == 1) {
        MPI_Recv(in, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%g\n", in[7]);
    }
    MPI_Finalize();
    return 0;
}
