/* A function that MPI calls back cancels a copy of the request. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 400

static double out[N];
static MPI_Request last;

static int dropped(MPI_Comm comm, int key, void *value, void *state)
{
    MPI_Cancel(&last);
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int rank, key;
    double sum = 0, *in = calloc(N, sizeof *in);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, dropped, &key, NULL);
    for (int t = 0; t < 2; t++) {
        if (rank == 0 && t == 0) {
            for (int i = 0; i < N; i++)
                out[i] = i;
            MPI_Send(out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Request one;
            MPI_Irecv(in, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &one); //~ keep(in) OPI206
            last = one;
            if (t > 0) {
                MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
                MPI_Comm_delete_attr(MPI_COMM_SELF, key);
            }
            MPI_Wait(&one, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                sum += in[i];
        }
    }
    printf("%d %g\n", rank, sum);
    free(in);
    MPI_Finalize();
    return 0;
}
