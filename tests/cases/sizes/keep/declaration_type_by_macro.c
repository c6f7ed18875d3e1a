/* Another array has the buffer's type, which a macro asks for: it would become a pointer that is not set. */
#include <mpi.h>
#include <stdio.h>

#define N 2048
#define LIKE(a) __typeof__(a)

static double u[N], v[N];
static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    static LIKE(sbuf) doubled;
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
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(sbuf) OPI113
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] = rbuf[i];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g %zu\n", rank, total, sizeof doubled);
    }
    MPI_Finalize();
    return 0;
}
