/* The buffer of a struct grows behind its pointer. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
struct halo {
    int room;
    double *out;
};

static void fit(struct halo *h, int n)
{
    if (n > h->room) {
        free(h->out);
        h->out = malloc(n * sizeof *h->out);
        h->room = n;
    }
}

static struct halo side;

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    side.room = 16;
    side.out = malloc(side.room * sizeof(double));
    for (int step = 0; step < 6; step++) {
        int n = (step % 3 + 1) * (N / 4);
        if (rank == 0) {
            fit(&side, n);
            for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                side.out[i] = u[i] + step;
            MPI_Send(side.out, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(side.out)
        } else if (rank == 1) {
            MPI_Recv(v, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    free(side.out);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
