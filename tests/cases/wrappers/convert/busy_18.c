/* The pointer of the caller is set from a local variable; the largest size is kept. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static long given;

static void grab(double **p, int n)
{
    double *made = malloc(sizeof(double) * n);
    *p = made;
    if (n > given)
        given = n;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    double *b, *r;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    grab(&b, N);
    grab(&r, N);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                b[i] = u[i] + step;
            MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(b)
        } else if (rank == 1) {
            MPI_Recv(r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(r)
            for (int i = 0; i < N; i++)
                v[i] += r[i];
        }
    }
    free(b);
    free(r);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g %ld\n", rank, total, given);
    MPI_Finalize();
    return 0;
}
