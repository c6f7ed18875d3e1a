/* A counter that a thread keeps for itself. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>

#define N 600

static pthread_key_t key;
static int count;

int main(int argc, char **argv)
{
    int rank, size;
    double s = 0, *out = malloc(N * sizeof *out), *in = malloc(N * sizeof *in);
    pthread_key_create(&key, NULL);
    pthread_setspecific(key, &count);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!out || !in)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int step = 0; step < 3; step++) {
        if (rank % 2 == 0 && rank + 1 < size) {
            *(int *)pthread_getspecific(key) += 1;
            for (int i = 0; i < N; i++)
                out[i] = i * step + 1;
            MPI_Send(out, N, MPI_DOUBLE, rank + 1, 4, MPI_COMM_WORLD); //~ give(out)
            s += *(int *)pthread_getspecific(key);
        } else if (rank % 2 == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, rank - 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                s += in[i];
        }
    }
    printf("%d %g\n", rank, s);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
