/* The buffer is a member, and the broadcast in a function of its own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

struct halo {
    double *buf;
};

static void tell(struct halo *h)
{
    MPI_Bcast(h->buf, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct halo h;
    h.buf = malloc(N * sizeof *h.buf);
    if (h.buf == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank > 0) {
        for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
            h.buf[i] = 2.0 * u[i];
        MPI_Send(h.buf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD); //~ give(h.buf)
    } else if (rank == 0) {
        MPI_Recv(h.buf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(h.buf)
        for (int i = 0; i < N; i++)
            v[i] = h.buf[i];
        for (int i = 0; i < N; i++)
            h.buf[i] = 3.0 * v[i];
    }
    tell(&h);
    for (int i = 0; i < N; i++)
        v[i] += h.buf[i];
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(h.buf);
    MPI_Finalize();
    return 0;
}
