/* Wide characters of calloc. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#define N 500

int main(int argc, char **argv)
{
    int rank, size;
    long total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    wchar_t *mine = calloc(N, sizeof(wchar_t));
    for (int i = 0; i < N - 9; i++)
        mine[i] = (wchar_t)(33 + (rank + i) % 90);

    for (int t = 0; t < 3; t++) {
        wchar_t *next = calloc(N, sizeof(wchar_t));
        MPI_Request request;
        MPI_Isend(mine, (int)wcslen(mine), MPI_WCHAR, to, 3, MPI_COMM_WORLD, &request);
        MPI_Recv(next, N, MPI_WCHAR, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        total += (long)wcslen(next) + next[t];
        free(mine);
        mine = next;
    }

    printf("%d: %ld\n", rank, total);
    free(mine);
    MPI_Finalize();
    return 0;
}
