/* The loop counts what it has done, and the calls get the address of the array. */
#include <mpi.h>
#include <stdio.h>

#define N 400
#define TURNS 5
enum { ASK = 1, RESULT, WORK, STOP };

static void work(int n, long *v)
{
    for (int i = 0; i < n; i++)
        v[i] = 2 * v[i] + i % 5;
}

static void master(int size)
{
    int sent = 0, stopped = 0;
    double total = 0;
    long task[N], got[N];
    MPI_Status st;

    while (stopped < size - 1) {
        MPI_Recv(got, N, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st); //~ take(got)
        if (st.MPI_TAG == RESULT)
            for (int i = 0; i < N; i++)
                total += got[i] * (i + 1);
        if (sent < TURNS) {
            for (int i = 0; i < N; i++)
                task[i] = i + sent;
            MPI_Send(task, N, MPI_LONG, st.MPI_SOURCE, WORK, MPI_COMM_WORLD); //~ give(task)
            sent++;
        } else {
            MPI_Send(NULL, 0, MPI_LONG, st.MPI_SOURCE, STOP, MPI_COMM_WORLD);
            stopped++;
        }
    }
    printf("%.17g\n", total);
}

static void worker(void)
{
    long v[N];
    MPI_Status st;

    st.MPI_TAG = WORK;
    for (int done = 0; st.MPI_TAG != STOP; done++) {
        MPI_Send(&v, N, MPI_LONG, 0, done ? RESULT : ASK, MPI_COMM_WORLD); //~ give(v)
        MPI_Recv(&v, N, MPI_LONG, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &st); //~ take(v)
        if (st.MPI_TAG == WORK)
            work(N, v);
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
