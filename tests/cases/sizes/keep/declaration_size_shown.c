/* A macro prints the text that asks for the buffer's size, which would be written otherwise. */
#include <mpi.h>
#include <stdio.h>

#define N 2048
#define SHOW(x) printf("%s = %d\n", #x, (int)(x))

static double u[N], v[N];
static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    static double doubled[N];
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        for (int i = 0; i < N; i++) {
            doubled[i] = 2.0 * u[i];
            sbuf[i] = doubled[i];
        }
        SHOW(sizeof(sbuf) / sizeof(sbuf[0]));
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(sbuf) OPI109
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] = rbuf[i];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g %zu\n", rank, total, sizeof doubled / sizeof doubled[0]);
    }
    MPI_Finalize();
    return 0;
}
