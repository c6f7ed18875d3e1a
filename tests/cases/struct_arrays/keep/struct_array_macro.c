/* Another system has a macro that names the array of a function's own struct, after whose send it is used. */
#include <mpi.h>
#include <stdio.h>
#define N 24

struct sides {
    double out[N];
    int n;
};
#ifdef _WIN32
#define LOOK halo.out[1]
#else
#define LOOK 0.0
#endif
static double u[N];

int main(int argc, char **argv)
{
    struct sides halo;
    int rank;
    double total = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                halo.out[i] = u[i] + t;
            MPI_Send(halo.out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
            u[t] += LOOK;
        } else if (rank == 1) {
            MPI_Recv(u, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    for (int i = 0; i < N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
