/* The source is what MPI_Graph_neighbors gives. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    int ends[2] = { 1, 2 }, edges[2] = { 1, 0 }, near;
    MPI_Comm graph;
    MPI_Graph_create(MPI_COMM_WORLD, 2, ends, edges, 0, &graph);
    MPI_Graph_neighbors(graph, rank, 1, &near);
    for (int i = 0; i < N; i++)
        sbuf[i] = 2.0 * u[i];
    for (int i = 0; i < N; i++)
        rbuf[i] = 0.5 * i;
    MPI_Sendrecv(sbuf, N, MPI_DOUBLE, near, 7, rbuf, N, MPI_DOUBLE, near, 7, graph, MPI_STATUS_IGNORE); //~ keep(rbuf) OPI203
    for (int i = 0; i < N; i++)
        v[i] = rbuf[i];
    MPI_Comm_free(&graph);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
//~ silent: the neighbours of this graph are real ranks
