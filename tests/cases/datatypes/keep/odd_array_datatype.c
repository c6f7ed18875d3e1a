/* MPI is given an array by its name, and a datatype that reaches after the array. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

struct numbers {
    int few[4];
    int many;
};

static double u[N], v[N];
static double sbuf[N], rbuf[N];
static struct numbers counts;

int main(int argc, char **argv)
{
    int rank;
    MPI_Datatype whole;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(5, MPI_INT, &whole);
    MPI_Type_commit(&whole);
    for (int i = 0; i < N; i++) {
        u[i] = rank + 0.5 * i;
        sbuf[i] = 7;
    }
    struct numbers other = {{1, 2, 3, 4}, 300};
    counts.many = 2000;
    MPI_Sendrecv(other.few, 1, whole, rank, 0, counts.few, 1, whole, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int turn = 0; turn < 3; turn++) {
        if (rank == 0) {
            for (int i = 0; i < counts.many; i++)
                sbuf[i] = u[i] + turn;
            MPI_Send(sbuf, 2000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep
        } else if (rank == 1) {
            MPI_Recv(rbuf, 2000, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < 2000; i++)
                v[i] += rbuf[i];
        }
    }
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += v[i] * (i % 5);
    printf("%d %.17g\n", rank, sum);
    MPI_Type_free(&whole);
    MPI_Finalize();
    return 0;
}
