//~ analyse main.c
/* As f2c writes it: a string is copied, and filled with blanks, by a function of Fortran's run-time library. */
#include <mpi.h>
#include <stdio.h>
#include "f2c.h"

extern void s_copy(char *, char *, ftnlen, ftnlen);

#define N 2048

static char out[N], in[N], text[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        text[i] = 'a' + (i + rank) % 26;
    if (rank == 0) {
        for (int turn = 0; turn < 3; turn++) {
            s_copy(out, text + turn, N, N - 3);
            MPI_Send(out, N, MPI_CHAR, 1, 7, MPI_COMM_WORLD); //~ give(out)
        }
    } else if (rank == 1) {
        for (int turn = 0; turn < 3; turn++) {
            MPI_Recv(in, N, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                text[i] = in[N - 1 - i];
        }
    }
    printf("%d: %.20s\n", rank, text);
    MPI_Finalize();
    return 0;
}
