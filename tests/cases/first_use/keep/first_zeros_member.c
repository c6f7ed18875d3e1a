/* A text in a struct: the zeros of calloc are its end. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 500

struct line {
    char text[N];
};

int main(int argc, char **argv)
{
    int rank, size;
    long total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    struct line *mine = calloc(1, sizeof(struct line));
    for (int i = 0; i < N - 9; i++)
        mine->text[i] = (char)(33 + (rank + i) % 90);

    for (int t = 0; t < 3; t++) {
        struct line *next = calloc(1, sizeof(struct line));
        MPI_Request request;
        MPI_Isend(mine, (int)strlen(mine->text), MPI_CHAR, to, 3, MPI_COMM_WORLD, &request);
        MPI_Recv(next, N, MPI_CHAR, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        total += (long)strlen(next->text) + next->text[t];
        free(mine);
        mine = next;
    }

    printf("%d: %ld\n", rank, total);
    free(mine);
    MPI_Finalize();
    return 0;
}
