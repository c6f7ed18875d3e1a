/* The partners are told by functions; the receiver's block goes to another name. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int calls;

static int receiver(int rank)
{
    return rank + 1;
}

static int sender(void)
{
    calls++;
    return 0;
}

static double *made(int n, int k)
{
    double *c = malloc((n + 1) * sizeof *c);
    for (int i = 0; i <= n; i++)
        c[i] = k + i;
    return c;
}

int main(int argc, char **argv)
{
    int rank, n = 100;
    double s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            double *a = made(n + t, rank + t);
            MPI_Send(a, n, MPI_DOUBLE, receiver(rank), 0, MPI_COMM_WORLD); //~ give(a)
            free(a);
        } else if (rank == 1) {
            double *b = malloc(200 * sizeof *b), *c;
            MPI_Recv(b, 200, MPI_DOUBLE, sender(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
            c = b;
            s += c[n - 3];
            free(c);
        }
    }
    printf("%d %.17g %d\n", rank, s, calls);
    MPI_Finalize();
    return 0;
}
