/* The marks are structs, copied from a constant one. */
#include <mpi.h>
#include <stdio.h>

#define N 600

struct item {
    int id;
    float weight;
};

static struct item in[N], out[N];
static const struct item none = { -1, 0 };

int main(int argc, char **argv)
{
    int rank;
    double sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 4; step++) {
        int n = step % 2 ? 150 : N;
        if (rank == 0) {
            for (int i = 0; i < n; i++)
                out[i] = (struct item){ i, step + 1 };
            MPI_Send(out, n, MPI_2INT, 1, 3, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            for (int i = 0; i < N; i++)
                in[i] = none;
            MPI_Recv(in, N, MPI_2INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in) OPI210
            for (int i = 0; i < N; i++)
                if (in[i].id >= 0)
                    sum += in[i].weight;
        }
    }
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
