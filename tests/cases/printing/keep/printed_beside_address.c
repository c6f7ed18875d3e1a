/* One print makes text of an address, and reads what is sent as a text. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define N 2048

static char sbuf[N], rbuf[N];
static char line[N + 64];

int main(int argc, char **argv)
{
    int rank, at = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < N - 1; i++)
            sbuf[i] = (char)('a' + i % 26);
        sbuf[N - 1] = '\0';
        MPI_Send(sbuf, N, MPI_CHAR, 1, 7, MPI_COMM_WORLD); //~ keep(sbuf) OPI101
        snprintf(line, sizeof line, "%p%% %s", (void *)&at, sbuf);
        printf("%s\n", strchr(line, ' '));
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int total = 0;
        for (int i = 0; i < N; i++)
            total += rbuf[i];
        printf("%d: %d\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
