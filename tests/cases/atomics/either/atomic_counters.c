/* A program counts its messages in atomic variables. */
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

static _Atomic int flag;
static atomic_int counter = ATOMIC_VAR_INIT(3);
static atomic_long sums[4];
static atomic_flag lock = ATOMIC_FLAG_INIT;
static double u[N];

int main(int argc, char **argv)
{
    int rank, expected = 4;
    double total = 0.0;
    double *in = malloc(N * sizeof *in), *out = malloc(N * sizeof *out);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 2 * i;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                out[i] = u[i] + step;
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
            atomic_fetch_add(&counter, 1);
            atomic_store_explicit(&flag, 1, memory_order_release);
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                total += in[i] * (i + 1);
            flag++;
            if (!atomic_compare_exchange_strong(&counter, &expected, 5) && atomic_load(&flag))
                total += atomic_exchange(&sums[1], 3);
            while (atomic_flag_test_and_set(&lock))
                ;
            atomic_flag_clear(&lock);
        }
    }
    free(in);
    free(out);
    printf("%d: %.17g %d %d\n", rank, total, atomic_load(&counter), flag);
    MPI_Finalize();
    return 0;
}
