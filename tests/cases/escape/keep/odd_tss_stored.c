/* A store through what pthread_getspecific returns: one of the addresses that were put away. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>

#define N 600

static pthread_key_t key;
static struct state {
    int on;
} state;

int main(int argc, char **argv)
{
    int rank;
    double s = 0, *out = malloc(N * sizeof *out), *in = malloc(N * sizeof *in);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!out || !in)
        MPI_Abort(MPI_COMM_WORLD, 1);
    pthread_key_create(&key, NULL);
    pthread_setspecific(key, &state);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            out[i] = i + 1;
        MPI_Send(out, N, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD); //~ keep(out) OPI101
        state.on = 0;
        ((struct state *)pthread_getspecific(key))->on = 1;
        if (state.on)
            s = out[5];
    } else if (rank == 1) {
        MPI_Recv(in, N, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            s += in[i];
    }
    if (rank < 2)
        printf("%d %g\n", rank, s);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
