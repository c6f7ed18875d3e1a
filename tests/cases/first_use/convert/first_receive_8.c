/* Quick sort over halves of a communicator: each level receives into memory of its own, by one of two receives. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 600

static long sorted(MPI_Comm comm, int *mine, int n)
{
    int rank, size, pivot = 500, low = 0, coming, *theirs, *both;
    MPI_Status status;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (size < 2) {
        long total = 0;
        for (int i = 0; i < n; i++)
            total += (long)mine[i] * (i % 3 + 1);
        free(mine);
        return total;
    }
    for (int i = 0; i < n; i++)
        if (mine[i] < pivot) {
            int t = mine[i];
            mine[i] = mine[low];
            mine[low++] = t;
        }
    int half = size / 2, other = rank < half ? rank + half : rank - half;
    if (rank < half) {
        MPI_Send(mine + low, n - low, MPI_INT, other, 1, comm);
        MPI_Probe(other, 2, comm, &status);
        MPI_Get_count(&status, MPI_INT, &coming);
        theirs = (int *)malloc(coming * sizeof(int));
        MPI_Recv(theirs, coming, MPI_INT, other, 2, comm, &status); //~ take(theirs)
        both = malloc((low + coming) * sizeof(int));
        memcpy(both, mine, low * sizeof(int));
        memcpy(both + low, theirs, coming * sizeof(int));
    }
    if (rank >= half) {
        MPI_Probe(other, 1, comm, &status);
        MPI_Get_count(&status, MPI_INT, &coming);
        theirs = (int *)malloc(coming * sizeof(int));
        MPI_Recv(theirs, coming, MPI_INT, other, 1, comm, &status); //~ take(theirs)
        MPI_Send(mine, low, MPI_INT, other, 2, comm);
        both = malloc((n - low + coming) * sizeof(int));
        memcpy(both, mine + low, (n - low) * sizeof(int));
        memcpy(both + n - low, theirs, coming * sizeof(int));
    }
    n = rank < half ? low + coming : n - low + coming;
    free(mine);
    free(theirs);

    MPI_Comm part;
    MPI_Comm_split(comm, rank < half, rank, &part);
    return sorted(part, both, n);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int *mine = malloc(N * sizeof(int));
    for (int i = 0; i < N; i++)
        mine[i] = (i * 37 + rank * 11) % 1000;
    printf("%d: %ld\n", rank, sorted(MPI_COMM_WORLD, mine, N));
    MPI_Finalize();
    return 0;
}
