/* The transposition between slabs and columns: every rank sends every other one
 * block.  Either MPI does it (the blocks in one array, MPI_Alltoall), or pairs
 * of messages do (a buffer for each). */
#include "ft.h"

#include <stdlib.h>

int rank, size;

static int pointwise;
static int block;                               /* numbers in a block */
static double complex *sendall, *recvall;       /* for MPI_Alltoall */
static double complex *sendbuf[MAXRANKS], *recvbuf[MAXRANKS];

void transpose_init(const grid_t *g, int by_messages)
{
    pointwise = by_messages;
    block = g->planes * g->columns;
    if (!pointwise) {
        sendall = allocate((size_t)size * block * sizeof *sendall);
        recvall = allocate((size_t)size * block * sizeof *recvall);
        return;
    }
    for (int p = 0; p < size; p++) {
        sendbuf[p] = allocate(block * sizeof(double complex));
        recvbuf[p] = allocate(block * sizeof(double complex));
    }
}

void transpose_finish(void)
{
    if (!pointwise) {
        free(sendall);
        free(recvall);
        return;
    }
    for (int p = 0; p < size; p++) {
        free(sendbuf[p]);
        free(recvbuf[p]);
    }
}

/* A block holds, for each of the slab's planes, the columns of one rank. */
static void pack_slab(const grid_t *g, const double complex *slabs, int p, double complex *to)
{
    size_t plane = (size_t)g->nx * g->ny;
    for (int k = 0; k < g->planes; k++)
        for (int c = 0; c < g->columns; c++)
            to[k * g->columns + c] = slabs[k * plane + (size_t)p * g->columns + c];
}

static void unpack_slab(const grid_t *g, double complex *slabs, int p, const double complex *from)
{
    size_t plane = (size_t)g->nx * g->ny;
    for (int k = 0; k < g->planes; k++)
        for (int c = 0; c < g->columns; c++)
            slabs[k * plane + (size_t)p * g->columns + c] = from[k * g->columns + c];
}

static void pack_columns(const grid_t *g, const double complex *columns, int p, double complex *to)
{
    for (int k = 0; k < g->planes; k++)
        for (int c = 0; c < g->columns; c++)
            to[k * g->columns + c] = columns[(size_t)c * g->nz + (size_t)p * g->planes + k];
}

static void unpack_columns(const grid_t *g, double complex *columns, int p, const double complex *from)
{
    for (int k = 0; k < g->planes; k++)
        for (int c = 0; c < g->columns; c++)
            columns[(size_t)c * g->nz + (size_t)p * g->planes + k] = from[k * g->columns + c];
}

static void columns_by_alltoall(const grid_t *g, const double complex *slabs, double complex *columns)
{
    for (int p = 0; p < size; p++)
        pack_slab(g, slabs, p, sendall + (size_t)p * block);
    MPI_Alltoall(sendall, block, MPI_C_DOUBLE_COMPLEX, recvall, block, MPI_C_DOUBLE_COMPLEX, MPI_COMM_WORLD);
    for (int p = 0; p < size; p++)
        unpack_columns(g, columns, p, recvall + (size_t)p * block);
}

static void slabs_by_alltoall(const grid_t *g, const double complex *columns, double complex *slabs)
{
    for (int p = 0; p < size; p++)
        pack_columns(g, columns, p, sendall + (size_t)p * block);
    MPI_Alltoall(sendall, block, MPI_C_DOUBLE_COMPLEX, recvall, block, MPI_C_DOUBLE_COMPLEX, MPI_COMM_WORLD);
    for (int p = 0; p < size; p++)
        unpack_slab(g, slabs, p, recvall + (size_t)p * block);
}

static void columns_by_messages(const grid_t *g, const double complex *slabs, double complex *columns)
{
    MPI_Request request[2 * MAXRANKS];

    for (int p = 0; p < size; p++)
        MPI_Irecv(recvbuf[p], block, MPI_C_DOUBLE_COMPLEX, p, 1, MPI_COMM_WORLD, &request[p]);
    for (int p = 0; p < size; p++) {
        pack_slab(g, slabs, p, sendbuf[p]);
        MPI_Isend(sendbuf[p], block, MPI_C_DOUBLE_COMPLEX, p, 1, MPI_COMM_WORLD, &request[size + p]);
    }
    MPI_Waitall(2 * size, request, MPI_STATUSES_IGNORE);
    for (int p = 0; p < size; p++)
        unpack_columns(g, columns, p, recvbuf[p]);
}

static void slabs_by_messages(const grid_t *g, const double complex *columns, double complex *slabs)
{
    MPI_Request request[2 * MAXRANKS];

    for (int p = 0; p < size; p++)
        MPI_Irecv(recvbuf[p], block, MPI_C_DOUBLE_COMPLEX, p, 2, MPI_COMM_WORLD, &request[p]);
    for (int p = 0; p < size; p++) {
        pack_columns(g, columns, p, sendbuf[p]);
        MPI_Isend(sendbuf[p], block, MPI_C_DOUBLE_COMPLEX, p, 2, MPI_COMM_WORLD, &request[size + p]);
    }
    MPI_Waitall(2 * size, request, MPI_STATUSES_IGNORE);
    for (int p = 0; p < size; p++)
        unpack_slab(g, slabs, p, recvbuf[p]);
}

void to_columns(const grid_t *g, const double complex *slabs, double complex *columns)
{
    if (pointwise)
        columns_by_messages(g, slabs, columns);
    else
        columns_by_alltoall(g, slabs, columns);
}

void to_slabs(const grid_t *g, const double complex *columns, double complex *slabs)
{
    if (pointwise)
        slabs_by_messages(g, columns, slabs);
    else
        slabs_by_alltoall(g, columns, slabs);
}
