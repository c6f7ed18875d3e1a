/* The first thread of a region waits until the second one has said which element is read. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

static double in[2 * N], out[N];
static volatile int turn;

//~ flags -fopenmp

int main(int argc, char **argv)
{
    int rank, place = 0;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        in[i] = i;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                out[i] = step + i;
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in)
            turn = 0;
#pragma omp parallel num_threads(2)
            {
                if (omp_get_thread_num() == 0) {
                    place = 0;
                    turn = 1;
                    while (turn != 0)
                        ;
                    total += in[place];
                } else {
                    while (turn != 1)
                        ;
                    place = N + 1;
                    turn = 0;
                }
            }
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
