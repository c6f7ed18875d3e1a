/* Built-in atomic operations on plain numbers, and on elements of the buffer before the send. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>

#define N 3000
#define LOADED(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)


static long in[N], out[N];
static int flag;
static long sum;
static bool busy;

int main(int argc, char **argv)
{
    int rank, seen = 0, expected = 0;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                out[i] = 2 * i + step;
            __atomic_fetch_add(&out[5], 3, __ATOMIC_SEQ_CST);
            __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
            MPI_Send(out, N, MPI_LONG, 1, 7, MPI_COMM_WORLD); //~ give(out)
            __sync_fetch_and_add(&sum, 2);
            __sync_synchronize();
            __atomic_load(&flag, &seen, __ATOMIC_SEQ_CST);
            if (LOADED(&flag) && seen)
                total += __atomic_exchange_n(&flag, 0, __ATOMIC_ACQ_REL);
        } else if (rank == 1) {
            while (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE))
                ;
            MPI_Recv(in, N, MPI_LONG, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                total += in[i] * (i + 1);
            __atomic_clear(&busy, __ATOMIC_RELEASE);
            if (__atomic_compare_exchange_n(&flag, &expected, 2, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
                total += __sync_val_compare_and_swap(&flag, 2, 0);
        }
    }
    printf("%d: %.17g %ld\n", rank, total, __atomic_load_n(&sum, __ATOMIC_SEQ_CST));
    MPI_Finalize();
    return 0;
}
