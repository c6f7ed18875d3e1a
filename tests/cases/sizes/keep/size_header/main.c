#include <mpi.h>
#include <stdio.h>

#include "face.h"

#define N 600

void face_send(face_t *f, const double *u, int step);

int main(int argc, char **argv)
{
    static double u[N], in[N];
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = 0.5 * i;
    face_t *f = face_make(N, 1 - rank);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            face_send(f, u, step);
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                total += in[i] * (i + 1);
        }
    }
    free(f->out);
    free(f);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
