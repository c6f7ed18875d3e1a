/* A wrapper around a wrapper; each does something besides. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int depth, most;
static void *inner(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p)
        MPI_Abort(MPI_COMM_WORLD, 2);
    most++;
    return p;
}

static double *get(const char *who, size_t count)
{
    double *p;
    if (getenv("TALK"))
        printf("%s\n", who);
    depth += 10;
    p = inner(count);
    return p;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *b = get("b", sizeof(double) * N);
    double *r = get("r", sizeof(double) * N);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                b[i] = u[i] + step;
            MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(b)
        } else if (rank == 1) {
            MPI_Recv(r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(r)
            for (int i = 0; i < N; i++)
                v[i] += r[i];
        }
    }
    free(b);
    free(r);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g %d\n", rank, total, depth + most);
    MPI_Finalize();
    return 0;
}
