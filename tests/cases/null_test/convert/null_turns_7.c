/* Nothing is allocated for an empty message, and nothing is freed then: a block that is taken there is freed in the next turn. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *a;

static double *get(int n)
{
    double *p;
    if (n == 0)
        return NULL;
    p = malloc(n * sizeof(double));
    if (p == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return p;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 4; t++) {
        int m = t * 100;
        a = get(m);
        if (rank == 0) {
            for (int i = 0; i < m; i++)
                a[i] = i + t;
            MPI_Send(a, m, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(a)
        } else if (rank == 1) {
            MPI_Recv(a, m, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(a) no-stale-count
        }
        if (rank == 1 && m > 3)
            total += a[3];
        if (m > 0) {
            printf("%d\n", m);
            free(a);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
