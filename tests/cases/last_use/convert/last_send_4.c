/* Levels of a tree by bits of the rank; the number of the level ends the loop after the send. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int height = 0, id, p, n = 400, h = 0;
    int *half1, *half2, *result;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &id);
    while ((1 << height) < p)
        height++;
    half1 = (int *)malloc(n * sizeof(int));
    for (int i = 0; i < n; i++)
        half1[i] = i * (id + 1);
    while (h < height) {
        int parent = id & ~(1 << h);
        if (parent == id) {
            half2 = (int *)malloc(n * sizeof(int));
            MPI_Recv(half2, n, MPI_INT, id | (1 << h), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            result = (int *)malloc(2 * n * sizeof(int));
            for (int i = 0; i < 2 * n; i++)
                result[i] = i % 2 ? half1[i / 2] : half2[i / 2];
            free(half1);
            half1 = result;
            free(half2);
            n = 2 * n;
            h++;
        } else {
            MPI_Send(half1, n, MPI_INT, parent, 0, MPI_COMM_WORLD); //~ give(half1)
            if (h != 0)
                free(half1);
            h = height;
        }
    }
    if (id == 0) {
        long s = 0;
        for (int i = 0; i < n; i++)
            s += (long)half1[i] * (i % 7);
        printf("%d %ld\n", n, s);
        free(half1);
    }
    MPI_Finalize();
    return 0;
}
