/* Six faces of a block; the size of a part is a variable of its own, its elements are integers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define FACES 6
#define EDGE 20

static int u[EDGE * EDGE], v[FACES * EDGE * EDGE];

int main(int argc, char **argv)
{
    int rank, edge = argc > 5 ? 3 : EDGE;
    const int face = edge * edge;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < EDGE * EDGE; i++)
        u[i] = 10 * rank + i;
    int *out = malloc(FACES * face * sizeof(int)), *in;
    MPI_Request rq[FACES];
    in = malloc(FACES * face * sizeof(int));
    for (int f = 0; f < FACES; f++) {
        MPI_Irecv(in + f * face, face, MPI_INT, 1 - rank, f, MPI_COMM_WORLD, rq + f); //~ take(in + f * face)
    }
    for (int f = 0; f < FACES; f++) {
        int *to = &out[f * face];
        int k = 0;
        for (int a = 0; a < edge; a++)
            for (int b = 0; b < edge; b++)
                to[k++] = u[a * edge + b] * (f + 1);
        MPI_Send(out + f * face, face, MPI_INT, 1 - rank, f, MPI_COMM_WORLD); //~ give(out + f * face)
    }
    MPI_Waitall(FACES, rq, MPI_STATUSES_IGNORE);
    for (int f = 0; f < FACES; f++)
        for (int a = 0; a < face; a++)
            v[f * EDGE * EDGE + a] = in[f * face + a];
    long long total = 0;
    for (int i = 0; i < FACES * EDGE * EDGE; i++)
        total += (long long)v[i] * (i + 1);
    printf("%d: %lld\n", rank, total);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
//~ points 4
