/* The program has a main of its own, which calls MAIN__ twice: what the first call packed is sent by the second, too. */
#include <mpi.h>
#include <stdio.h>
#include "f2c.h"

#define N 300

doublereal out[N];
integer round_ = 0;

int MAIN__(void)
{
    int me;
    doublereal in[N];

    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (me == 0) {
        if (round_++ == 0)
            for (int i = 0; i < N; i++)
                out[i] = i;
        MPI_Send(out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep OPI102
    } else if (me == 1) {
        MPI_Recv(in, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%g\n", in[7]);
    }
    return 0;
}

int main(void)
{
    MPI_Init(NULL, NULL);
    MAIN__();
    MAIN__();
    MPI_Finalize();
    return 0;
}
