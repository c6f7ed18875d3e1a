/* Errors of files return by themselves, also where a request is waited for. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_File file;
    MPI_Request rq;
    static int room[4];
    MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                sbuf[i] = t + 0.5 * i;
            if (argc > 5)
                MPI_File_iwrite(file, room, 4, MPI_INT, &rq);
            else
                MPI_Isend(sbuf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &rq); //~ keep(sbuf) OPI101
            if (MPI_Wait(&rq, MPI_STATUS_IGNORE) != MPI_SUCCESS)
                sum += sbuf[1];
        } else if (rank == 1) {
            MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                sum += (t + 1) * rbuf[i];
        }
    }
    MPI_File_close(&file);
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
