/* Packed all-to-all with point-to-point messages: every pair of ranks exchanges
 * one block of the matrix. */
#include "transpose.h"

#include <stdio.h>
#include <stdlib.h>

int rows[MAXRANKS], first_row[MAXRANKS];

static MPI_Comm comm;
static int rank, size, order;

/* One buffer per peer in each direction. */
static double complex *sendbuf[MAXRANKS], *recvbuf[MAXRANKS];

static double complex *new_block(int count)
{
    double complex *b = malloc(count * sizeof *b);
    if (!b) {
        fprintf(stderr, "fft2d: out of memory\n");
        MPI_Abort(comm, 1);
    }
    return b;
}

void transpose_init(int n, MPI_Comm c)
{
    comm = c;
    order = n;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);

    int next = 0;
    for (int p = 0; p < size; p++) {
        rows[p] = n / size + (p < n % size);
        first_row[p] = next;
        next += rows[p];
    }
    for (int p = 0; p < size; p++) {
        sendbuf[p] = new_block(rows[rank] * rows[p]);
        recvbuf[p] = new_block(rows[rank] * rows[p]);
    }
}

void transpose_finish(void)
{
    for (int p = 0; p < size; p++) {
        free(sendbuf[p]);
        free(recvbuf[p]);
    }
}

/* The block of a that belongs to peer p after the transpose. */
static void pack_block(const double complex *a, int p)
{
    int mine = rows[rank], theirs = rows[p];
    double complex *block = sendbuf[p];

    for (int i = 0; i < mine; i++)
        for (int j = 0; j < theirs; j++)
            block[i * theirs + j] = a[i * order + first_row[p] + j];
}

static void unpack_block(double complex *b, int p)
{
    int mine = rows[rank], theirs = rows[p];
    const double complex *block = recvbuf[p];

    for (int i = 0; i < mine; i++)
        for (int j = 0; j < theirs; j++)
            b[i * order + first_row[p] + j] = block[j * mine + i];
}

static void own_block(const double complex *a, double complex *b)
{
    int mine = rows[rank], start = first_row[rank];

    for (int i = 0; i < mine; i++)
        for (int j = 0; j < mine; j++)
            b[i * order + start + j] = a[j * order + start + i];
}

void transpose(const double complex *a, double complex *b, double *seconds)
{
    MPI_Request req[2 * MAXRANKS];
    int nreq = 0;

    /* Start together, so that the time is that of the exchange. */
    MPI_Barrier(comm);
    double start = MPI_Wtime();

    for (int k = 1; k < size; k++) {
        int p = (rank + size - k) % size;
        MPI_Irecv(recvbuf[p], rows[rank] * rows[p], MPI_C_DOUBLE_COMPLEX, p, 0,
                  comm, &req[nreq++]);
    }
    for (int k = 1; k < size; k++) {
        int p = (rank + k) % size;
        pack_block(a, p);
        MPI_Isend(sendbuf[p], rows[rank] * rows[p], MPI_C_DOUBLE_COMPLEX, p, 0,
                  comm, &req[nreq++]);
    }
    own_block(a, b);
    MPI_Waitall(nreq, req, MPI_STATUSES_IGNORE);
    for (int k = 1; k < size; k++)
        unpack_block(b, (rank + k) % size);

    *seconds += MPI_Wtime() - start;
}
