/* A deeper level changes the number of elements in a struct that a message is as long as. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

struct list {
    double *items;
    int count;
};
static double v[N + 6];

static void shrink(struct list *l, int depth)
{
    if (depth == 3)
        l->count -= 2;
    else
        shrink(l, depth + 1);
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        struct list l = {malloc((N + 6) * sizeof(double)), N};
        for (int step = 0; step < 3; step++) {
            shrink(&l, 0);
            for (int i = 0; i < l.count; i++)
                l.items[i] = i + step;
            shrink(&l, argc > 5 ? 3 : 2);
            MPI_Send(l.items, l.count + 6, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
        }
        free(l.items);
    } else if (rank == 1) {
        for (int step = 0; step < 3; step++) {
            MPI_Recv(v, N + 6, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N - 12; i++)
                total += v[i] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
