/* The same; the macro that asks for the size is pasted together, and another one writes the buffer's name. */
#include <mpi.h>
#include <stdio.h>

#define N 2048
#define LEN_ALL(a) ((int)(sizeof(a) / sizeof((a)[0])))
#define LEN(how, a) LEN_##how(a)
#define BUFFER sbuf

static double u[N], v[N];
static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    enum { COUNT = LEN(ALL, BUFFER) };
    static double doubled[N];
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        for (int i = 0; i < COUNT; i++) {
            doubled[i] = 2.0 * u[i];
            sbuf[i] = doubled[i];
        }
        MPI_Send(sbuf, COUNT, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(sbuf) OPI113
    } else if (rank == 1) {
        MPI_Recv(rbuf, COUNT, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] = rbuf[i];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g %d\n", rank, total, COUNT);
    }
    MPI_Finalize();
    return 0;
}
