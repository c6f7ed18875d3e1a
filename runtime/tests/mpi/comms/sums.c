/*
 * Sums of doubles on every kind of communicator, between other collectives, as hashes of their bits. Printed by rank 0: linked with libopi and without it must
 * be the same, since the MPI chooses how to add by what a communicator has seen.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 4096

static int rank, ranks;
static double mine[MOST], root[MOST], all[MOST];

static uint64_t hash(const double *a, int n)
{
    uint64_t h = 5381;
    for (int i = 0; i < n; i++) {
        uint64_t u;
        memcpy(&u, a + i, sizeof u);
        h = h * 33 + u;
    }
    return h;
}

static void sums(const char *where, MPI_Comm c)
{
    int me;
    MPI_Comm_rank(c, &me);
    for (int n = 1; n <= MOST; n *= 4) {
        for (int i = 0; i < n; i++)
            mine[i] = rand() / 3.0e9 * (i % 7 ? 1 : 1e9);
        memset(root, 0, sizeof root);
        MPI_Reduce(mine, root, n, MPI_DOUBLE, MPI_SUM, 0, c);
        MPI_Allreduce(mine, all, n, MPI_DOUBLE, MPI_SUM, c);
        uint64_t h[3] = {hash(root, n), hash(all, n), 0}, *every = calloc((size_t)ranks, sizeof h);
        MPI_Scan(mine, all, n, MPI_DOUBLE, MPI_SUM, c);
        h[2] = hash(all, n);
        MPI_Gather(h, 3, MPI_UINT64_T, every, 3, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        for (int r = 0; rank == 0 && r < ranks; r++)
            printf("%s %d rank %d: %016llx %016llx %016llx\n", where, n, r, (unsigned long long)every[3 * r], (unsigned long long)every[3 * r + 1],
                   (unsigned long long)every[3 * r + 2]);
        free(every);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm c, d;
    MPI_Group g;
    MPI_Request q;
    int a[64] = {0}, b[64], periodic = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    srand((unsigned)rank + 1);
    sums("world", MPI_COMM_WORLD);
    for (int k = 0; k < 8; k++) { /* new communicators, with a few collectives more each time */
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        for (int i = 0; i < k; i++) {
            MPI_Barrier(c);
            MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, c);
        }
        sums("dup", c);
        MPI_Comm_split(c, rank / 2, -rank, &d);
        sums("split", d);
        MPI_Comm_free(&d);
        MPI_Cart_create(c, 1, &ranks, &periodic, 0, &d);
        sums("cart", d);
        MPI_Comm_free(&d);
        MPI_Comm_free(&c);
    }
    MPI_Comm_group(MPI_COMM_WORLD, &g);
    MPI_Comm_create_group(MPI_COMM_WORLD, g, 1, &c);
    sums("group", c);
    MPI_Comm_free(&c);
    MPI_Comm_create(MPI_COMM_WORLD, g, &c);
    sums("created", c);
    MPI_Comm_free(&c);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c);
    sums("shared", c);
    MPI_Comm_free(&c);
    MPI_Comm_idup(MPI_COMM_WORLD, &c, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    sums("idup", c);
    MPI_Comm_free(&c);
    sums("world", MPI_COMM_WORLD);
    MPI_Group_free(&g);
    MPI_Finalize();
    return 0;
}
