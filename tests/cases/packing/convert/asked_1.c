/* A worker asks for work with the array that it receives into; the result goes from there, too. */
#include <mpi.h>
#include <stdio.h>

#define N 400
#define TURNS 5
enum { ASK = 1, RESULT, WORK, STOP };

static void work(int n, int *v)
{
    for (int i = 0; i < n; i++)
        v[i] = 2 * v[i] + i % 5;
}

static void master(int size)
{
    int sent = 0, stopped = 0;
    double total = 0;
    int task[N], got[N];
    MPI_Status st;

    while (stopped < size - 1) {
        MPI_Recv(got, N, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st); //~ take(got)
        if (st.MPI_TAG == RESULT)
            for (int i = 0; i < N; i++)
                total += got[i] * (i + 1);
        if (st.MPI_TAG == RESULT)
            continue;
        if (sent < TURNS) {
            for (int i = 0; i < N; i++)
                task[i] = i + sent;
            MPI_Send(task, N, MPI_INT, st.MPI_SOURCE, WORK, MPI_COMM_WORLD); //~ give(task)
            sent++;
        } else {
            MPI_Send(NULL, 0, MPI_INT, st.MPI_SOURCE, STOP, MPI_COMM_WORLD);
            stopped++;
        }
    }
    printf("%.17g\n", total);
}

static void worker(void)
{
    int v[N];
    MPI_Status st;

    while (1) {
        MPI_Send(v, N, MPI_INT, 0, ASK, MPI_COMM_WORLD); //~ give(v)
        MPI_Recv(v, N, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &st); //~ take(v)
        if (st.MPI_TAG == STOP)
            return;
        work(N, v);
        MPI_Send(v, N, MPI_INT, 0, RESULT, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        master(size);
    else
        worker();
    MPI_Finalize();
    return 0;
}
