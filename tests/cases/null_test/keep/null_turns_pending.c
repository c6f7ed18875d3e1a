/* A send that stays is pending where the pointer is set anew: nothing is freed there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, sent = 0;
    double total = 0.0;
    double *a = NULL;
    double in[20000];
    MPI_Request q = MPI_REQUEST_NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 7; t++) {
        int m = (t + 2) % 3 > 0 ? 10000 : 0;
        a = NULL;
        if (m > 0)
            a = malloc(m * sizeof *a);
        if (rank == 0) {
            for (int i = 0; i < m; i++)
                a[i] = i + t;
            MPI_Send(a, m, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(a) OPI106
            if (sent) {
                MPI_Recv(in, 20000, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                total += in[5];
            }
        } else if (rank == 1) {
            MPI_Recv(a, m, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(a) OPI206
        }
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        sent = m > 0;
        if (m > 0) {
            if (rank == 1)
                MPI_Issend(a, m, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD, &q); //~ keep(a) OPI107
        }
    }
    if (rank == 0 && sent) {
        MPI_Recv(in, 20000, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        total += in[5];
    }
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
