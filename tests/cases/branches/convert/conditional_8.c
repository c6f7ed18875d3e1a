/* Guards are joined by `|` and `&`, nested, and written otherwise where the message is read. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double out[N], in[N];

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = rank - 1, right = rank + 1 < size ? rank + 1 : -1;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;

    for (int step = 0; step < 4; step++) {
        if (!(right < 0 | step > 2)) {
            for (int i = 0; i < N; i++)
                out[i] = u[i] + step;
            MPI_Send(out, N, MPI_DOUBLE, right, 7, MPI_COMM_WORLD); //~ give(out)
        }
        if ((left >= 0) & ((step == 0) | (step == 1 | step == 2)))
            MPI_Recv(in, N, MPI_DOUBLE, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
        if (left >= 0 && step < 3)
            for (int i = 0; i < N; i++)
                v[i] = in[i];
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
