/* Macros in the bodies of macros: only what has an edit is written out. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 128
#define TAG 3
#define DIE(text) do { fprintf(stderr, "%s\n", text); exit(1); } while (0)
#define CHECKED(call) do { if ((call) != MPI_SUCCESS) DIE("no message"); } while (0)
#define ALLOCATE(p, n, type) do { (p) = (type *)malloc((n) * sizeof(type)); if (!(p)) DIE("no memory"); } while (0)
#define PASS(p, to) CHECKED(MPI_Send(p, N, MPI_DOUBLE, to, TAG, MPI_COMM_WORLD))
#define FETCH(p, from) CHECKED(MPI_Recv(p, N, MPI_DOUBLE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE))

static double *sent, *got;

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    CHECKED(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    ALLOCATE(sent, N, double);
    ALLOCATE(got, N, double);
    for (int i = 0; i < N; i++)
        sent[i] = 2.0 * i + rank;
    if (rank == 0)
        PASS(sent, 1); //~ give(sent)
    else if (rank == 1)
        FETCH(got, 0); //~ take(got)
    if (rank == 1)
        printf("%g %g\n", got[0], got[N - 1]);
    free(sent);
    free(got);
    MPI_Finalize();
    return 0;
}
