/* A macro checks what calls return, and shows them as they are written. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 200
#define MPI_CHECK(call) do { \
        int code_ = (call); \
        if (code_ != MPI_SUCCESS) { \
            fprintf(stderr, "%s:%d: %s gives %d\n", __FILE__, __LINE__, #call, code_); \
            MPI_Abort(MPI_COMM_WORLD, code_); \
        } \
    } while (0)

int main(int argc, char **argv)
{
    int rank;
    MPI_CHECK(MPI_Init(&argc, &argv));
    MPI_CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    double *out = malloc(N * sizeof *out), *in = malloc(N * sizeof *in);
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                out[i] = i + t;
            MPI_CHECK(MPI_Send(out, N, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD)); //~ give(out)
        } else if (rank == 1) {
            double sum = 0;
            MPI_CHECK(MPI_Recv(in, N, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, //~ take(in)
                               MPI_STATUS_IGNORE));
            for (int i = 0; i < N; i++)
                sum += in[i];
            printf("%g\n", sum);
        }
    }
    free(out);
    free(in);
    MPI_CHECK(MPI_Finalize());
    return 0;
}
