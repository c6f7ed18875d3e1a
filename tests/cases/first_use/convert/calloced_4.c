/* A function asks how much comes, and returns the block that it has received it into. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int *receive(int *n, int from, int tag)
{
    MPI_Status status;
    int *message;
    MPI_Probe(from, tag, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, n);
    message = (int *)calloc(*n, sizeof(int));
    MPI_Recv(message, *n, MPI_INT, from, tag, MPI_COMM_WORLD, &status); //~ take(message)
    return message;
}

int main(int argc, char **argv)
{
    int rank, size, n;
    long sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        for (int from = 1; from < size; from++)
            for (int tag = 7; tag < 9; tag++) {
                int *message = receive(&n, from, tag);
                for (int i = 0; i < n; i++)
                    sum += (i + 1) * message[i];
                free(message);
            }
    } else {
        static int packed[200];
        for (int tag = 7; tag < 9; tag++) {
            for (int i = 0; i < 200; i++)
                packed[i] = rank + i * tag;
            MPI_Send(packed, 100 + rank, MPI_INT, 0, tag, MPI_COMM_WORLD);
        }
    }
    printf("%d %ld\n", rank, sum);
    MPI_Finalize();
    return 0;
}
