/* Two arrays whose variables would have one name: `east.x_out` and `east_x.out`. */
#include <mpi.h>
#include <stdio.h>
#define N 24

static struct {
    double x_out[N];
    int n;
} east;
static struct {
    double out[N];
    int n;
} east_x;
static double u[N];

int main(int argc, char **argv)
{
    static double got[N];
    int rank;
    double total = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                east_x.out[i] = u[i] - t;
            MPI_Send(east_x.out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
            for (int i = 0; i < N; i++)
                east.x_out[i] = u[i] + t;
            MPI_Send(east.x_out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
            for (int i = 0; i < N; i++)
                east_x.out[i] = 0.25 * u[i];
            u[t] += east.x_out[t + 1] + east_x.out[t];
        } else if (rank == 1) {
            for (int k = 0; k < 2; k++) {
                MPI_Recv(got, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                for (int i = 0; i < N; i++)
                    u[i] += (k + 1) * got[i];
            }
        }
    }
    for (int i = 0; i < N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
