/* A message that begins at a computed place in an array goes on in the member after it. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define N 300

struct set {
    int cells[3], from, more;
};

static struct set s;
static int next, given[4];
static double in[N], out[N];
int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    s.from = (rank - 1 + size) % size;
    if (sscanf(argc > 64 ? argv[1] : "3 -1 -2 -1", "%d %d %d %d", &given[0], &given[1], &given[2], &given[3]) != 4)
        return 1;
    given[1] = MPI_PROC_NULL;
    next = given[1];
    int at = argc > 64 ? 0 : 2;
    int *place = &s.cells[at];
    MPI_Sendrecv(given, 2, MPI_INT, rank, 3, place, 2, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int t = 0; t < 3; t++) {
        MPI_Request rq[2];
        for (int i = 0; i < N; i++)
            out[i] = i + t + rank;
        MPI_Irecv(in, N, MPI_DOUBLE, s.from, 0, MPI_COMM_WORLD, &rq[0]); //~ replace(in) OPI203
        MPI_Isend(out, N, MPI_DOUBLE, next, 0, MPI_COMM_WORLD, &rq[1]); //~ give(out)
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++)
            sum += in[i];
    }
    printf("%d %g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
