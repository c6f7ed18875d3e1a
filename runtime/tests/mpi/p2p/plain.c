/*
 * A program that knows nothing of opi.h: Send, Isend, Ssend, Recv, Irecv, Sendrecv, Probe, wildcards, in all sizes. It is
 * linked with libopi, and run with OPI_DISABLE=1 too, where everything is left to the MPI.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 1, 8, 40, 41, 500, 4096, 70000, 1 << 20};
    int rank, ranks, wrong = 0, all = 0;
    unsigned char *out = malloc(1 << 20), *in = malloc(1 << 20);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    for (int s = 0; s < 9; s++)
        for (int way = 0; way < 6; way++) {
            MPI_Request request[2];
            MPI_Status status;
            int n = sizes[s], count = -1;

            for (int i = 0; i < n; i++)
                out[i] = (unsigned char)(i * 7 + rank + way);
            memset(in, 0, (size_t)n);
            switch (way) {
            case 0: MPI_Sendrecv(out, n, MPI_BYTE, to, s, in, 1 << 20, MPI_BYTE, from, s, MPI_COMM_WORLD, &status); break;
            case 1:
                MPI_Irecv(in, 1 << 20, MPI_BYTE, from, s, MPI_COMM_WORLD, &request[0]);
                MPI_Send(out, n, MPI_BYTE, to, s, MPI_COMM_WORLD);
                MPI_Wait(&request[0], &status);
                break;
            case 2:
                MPI_Isend(out, n, MPI_BYTE, to, s, MPI_COMM_WORLD, &request[0]);
                MPI_Recv(in, 1 << 20, MPI_BYTE, MPI_ANY_SOURCE, s, MPI_COMM_WORLD, &status);
                MPI_Wait(&request[0], MPI_STATUS_IGNORE);
                break;
            case 3:
                MPI_Irecv(in, 1 << 20, MPI_BYTE, from, MPI_ANY_TAG, MPI_COMM_WORLD, &request[0]);
                MPI_Ssend(out, n, MPI_BYTE, to, s, MPI_COMM_WORLD);
                MPI_Wait(&request[0], &status);
                break;
            case 4:
                MPI_Isend(out, n, MPI_BYTE, to, s, MPI_COMM_WORLD, &request[0]);
                MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
                MPI_Get_count(&status, MPI_BYTE, &count);
                wrong += count != n;
                MPI_Recv(in, count, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
                MPI_Wait(&request[0], MPI_STATUS_IGNORE);
                break;
            default:
                MPI_Irecv(in, 1 << 20, MPI_BYTE, from, s, MPI_COMM_WORLD, &request[0]);
                MPI_Isend(out, n, MPI_BYTE, to, s, MPI_COMM_WORLD, &request[1]);
                MPI_Wait(&request[0], &status);
                MPI_Wait(&request[1], MPI_STATUS_IGNORE);
            }
            MPI_Get_count(&status, MPI_BYTE, &count);
            wrong += count != n || status.MPI_SOURCE != from || status.MPI_TAG != s;
            for (int i = 0; i < n; i++)
                wrong += in[i] != (unsigned char)(i * 7 + from + way);
            MPI_Barrier(MPI_COMM_WORLD); /* wildcards must not see the next message */
        }
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("plain: %s, %d failures\n", all ? "FAILED" : "ok", all);
    MPI_Finalize();
    free(out);
    free(in);
    return all != 0;
}
