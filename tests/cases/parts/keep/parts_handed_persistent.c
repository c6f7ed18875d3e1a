/* A receive that was set up before writes what the function looks at. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int limit;

static void *get(size_t bytes)
{
    if (limit) {
        printf("too late\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    void *p = malloc(bytes);

    if (p == NULL)
        exit(1);
    return p;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Request request;
    int one = 1;

    MPI_Recv_init(&limit, 1, MPI_INT, rank, 3, MPI_COMM_SELF, &request);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *b = get(2 * N * sizeof *b), *r;
    MPI_Start(&request);
    MPI_Send(&one, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    r = b + N;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                b[i] = u[i] + step;
            MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(b)
        } else if (rank == 1) {
            MPI_Recv(r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(r)
            for (int i = 0; i < N; i++)
                v[i] += r[i];
        }
    }
    free(b);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
