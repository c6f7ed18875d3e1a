/* The requests lie in memory that grows where there are more of them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static MPI_Request *request;
static double *b;
static int room, requests;

static void *get(size_t size)
{
    void *p = malloc(size);
    if (p == NULL) {
        printf("no memory\n");
        exit(1);
    }
    return p;
}

static void fit(int n, int more)
{
    if (n > room) {
        if (room)
            free(b);
        room = n;
        b = get(room * sizeof *b);
    }
    if (more > requests) {
        free(request);
        requests = (int)(2.0 * (double)more);
        request = (MPI_Request *)get(requests * sizeof(MPI_Request));
    }
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    requests = 1;
    request = (MPI_Request *)get(requests * sizeof(MPI_Request));
    for (int step = 0; step < 6; step++) {
        int n = (step % 3 + 1) * (N / 4);
        fit(n, step);
        if (rank == 0) {
            for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                b[i] = u[i] + step;
            MPI_Send(b, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(b)
        } else if (rank == 1) {
            MPI_Irecv(b, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &request[0]); //~ take(b)
            MPI_Wait(&request[0], MPI_STATUS_IGNORE);
            for (int i = 0; i < n; i++)
                v[i] += b[i];
        }
    }
    if (room)
        free(b);
    free(request);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
