/* A loop with its test at the end. */
#include <mpi.h>
#include <stdio.h>

#define N 400
#define TURNS 5
enum { ASK = 1, RESULT, WORK, STOP };

static void work(int n, float *v)
{
    for (int i = 0; i < n; i++)
        v[i] = 2 * v[i] + i % 5;
}

static void master(int size)
{
    int sent = 0, stopped = 0;
    double total = 0;
    float task[N], got[N];
    MPI_Status st;

    while (stopped < size - 1) {
        MPI_Recv(got, N, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st); //~ take(got)
        if (st.MPI_TAG == RESULT)
            for (int i = 0; i < N; i++)
                total += got[i] * (i + 1);
        if (sent < TURNS) {
            for (int i = 0; i < N; i++)
                task[i] = i + sent;
            MPI_Send(task, N, MPI_FLOAT, st.MPI_SOURCE, WORK, MPI_COMM_WORLD); //~ give(task)
            sent++;
        } else {
            MPI_Send(NULL, 0, MPI_FLOAT, st.MPI_SOURCE, STOP, MPI_COMM_WORLD);
            stopped++;
        }
    }
    printf("%.17g\n", total);
}

static void worker(void)
{
    float v[N];
    int tag = ASK;
    MPI_Status st;

    do {
        MPI_Send(v, N, MPI_FLOAT, 0, tag, MPI_COMM_WORLD); //~ give(v)
        MPI_Recv(v, N, MPI_FLOAT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &st); //~ take(v)
        if (st.MPI_TAG == WORK)
            work(N, v);
        tag = RESULT;
    } while (st.MPI_TAG != STOP);
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
