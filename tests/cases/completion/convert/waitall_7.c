/* The request is copied into an array that is waited for; another request is freed. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    MPI_Request mine, note = MPI_REQUEST_NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                sbuf[i] = 2.0 * u[i] + step;
            MPI_Isend(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, &mine); //~ give(sbuf)
        } else if (rank == 1) {
            MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
        }
        if (rank == 0) {
            MPI_Request all[] = {mine};
            MPI_Isend(&rank, 1, MPI_INT, rank, 8, MPI_COMM_WORLD, &note);
            MPI_Request_free(&note);
            MPI_Recv(&(int){0}, 1, MPI_INT, rank, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Waitall(1, all, MPI_STATUSES_IGNORE);
        }
        if (rank == 1)
            for (int i = 0; i < N; i++)
                v[i] += rbuf[i];
    }
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
