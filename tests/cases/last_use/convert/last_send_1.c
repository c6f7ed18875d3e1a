/* Merge sort in a tree: the pointer stands for one block after the other, and the last one is sent. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int *merge(int *a, int n, int *b, int m)
{
    int i = 0, j = 0, k = 0;
    int *c = (int *)malloc((n + m) * sizeof(int));
    while (i < n && j < m)
        c[k++] = a[i] <= b[j] ? a[i++] : b[j++];
    while (i < n)
        c[k++] = a[i++];
    while (j < m)
        c[k++] = b[j++];
    return c;
}

int main(int argc, char **argv)
{
    int id, p, s, m, step, *chunk, *other;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &id);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    s = 1000 / p;
    chunk = (int *)malloc(s * sizeof(int));
    for (int i = 0; i < s; i++)
        chunk[i] = i * p + id;
    for (step = 1; step < p; step = step * 2) {
        if (id % (2 * step) == 0) {
            if (id + step < p) {
                MPI_Recv(&m, 1, MPI_INT, id + step, 0, MPI_COMM_WORLD, &status);
                other = (int *)malloc(m * sizeof(int));
                MPI_Recv(other, m, MPI_INT, id + step, 0, MPI_COMM_WORLD, &status);
                int *both = merge(chunk, s, other, m);
                free(chunk);
                free(other);
                chunk = both;
                s = s + m;
            }
        } else {
            MPI_Send(&s, 1, MPI_INT, id - step, 0, MPI_COMM_WORLD);
            MPI_Send(chunk, s, MPI_INT, id - step, 0, MPI_COMM_WORLD); //~ give(chunk)
            break;
        }
    }
    if (id == 0) {
        long sum = 0;
        for (int i = 0; i < s; i++)
            sum += (long)chunk[i] * i;
        printf("%d %ld\n", s, sum);
    }
    free(chunk);
    MPI_Finalize();
    return 0;
}
