/* Two functions that call one another, over a list. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double out[N], in[N];
struct item {
    double value;
    struct item *next;
};
static void odd(struct item *at, double *sums);

static void even(struct item *at, double *sums)
{
    if (at) {
        sums[0] += at->value;
        odd(at->next, sums);
    }
}

static void odd(struct item *at, double *sums)
{
    if (at) {
        sums[1] += at->value;
        even(at->next, sums);
    }
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    struct item list[5];
    double sums[2] = {0.0, 0.0};
    for (int i = 0; i < 5; i++) {
        list[i].value = i + rank;
        list[i].next = i < 4 ? &list[i + 1] : NULL;
    }
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                out[i] = u[i] + step;
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(out)
            even(list, sums);
            u[1] += sums[0] - sums[1];
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                v[i] += in[i];
        }
    }
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
