/* The sum of what has come and what was there is a new block, in a tree; both are freed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 500

static int *joined(const int *a, int n, const int *b, int m)
{
    int *c = malloc((n + m) * sizeof(int));
    for (int i = 0; i < n; i++)
        c[i] = a[i];
    for (int i = 0; i < m; i++)
        c[n + i] = b[i];
    return c;
}

int main(int argc, char **argv)
{
    int rank, size;
    long total = 0;
    int n = N;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *mine = malloc(n * sizeof(int));
    for (int i = 0; i < n; i++)
        mine[i] = i * size + rank;
    for (int step = 1; step < size; step *= 2) {
        if (rank % (2 * step) == 0) {
            if (rank + step >= size)
                continue;
            MPI_Status status;
            int m;
            MPI_Probe(rank + step, 4, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_INT, &m);
            int *theirs = malloc(m * sizeof(int));
            MPI_Recv(theirs, m, MPI_INT, rank + step, 4, MPI_COMM_WORLD, &status); //~ take(theirs)
            int *both = joined(mine, n, theirs, m);
            free(mine);
            free(theirs);
            mine = both;
            n += m;
        } else {
            MPI_Send(mine, n, MPI_INT, rank - step, 4, MPI_COMM_WORLD); //~ give(mine)
            free(mine);
            mine = NULL;
            break;
        }
    }
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            total += (long)mine[i] * (i % 11);
        printf("%d %ld\n", n, total);
    }
    free(mine);
    MPI_Finalize();
    return 0;
}
