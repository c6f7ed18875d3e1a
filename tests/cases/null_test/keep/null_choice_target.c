/* A call finds the struct whose pointer is allocated or NULL, and counts. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
struct halo {
    double *b, *r;
};
static struct halo all[2];
static int asked;
static int first(void)
{
    asked++;
    return 0;
}


int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    int some = argc > 0;
    all[first()].b = some ? malloc(N * sizeof(double)) : NULL;
    all[first()].r = some ? malloc(N * sizeof(double)) : NULL;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                all[0].b[i] = u[i] + step;
            MPI_Send(all[0].b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(all[0].b)
        } else if (rank == 1) {
            MPI_Recv(all[0].r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(all[0].r)
            for (int i = 0; i < N; i++)
                v[i] += all[0].r[i];
        }
    }
    free(all[0].b);
    free(all[0].r);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    printf("%d\n", asked);
    MPI_Finalize();
    return 0;
}
