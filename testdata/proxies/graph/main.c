/* Searches from several roots; the levels must be those that a search on one's
 * own finds. */
#define _POSIX_C_SOURCE 200112L
#include "graph.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ROOTS 4

static void *room(size_t count, size_t size)
{
    void *p = calloc(count + 1, size);
    if (!p) {
        fprintf(stderr, "graph: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

static void make_graph(graph *g, long n)
{
    g->n = n;
    g->block = (n + g->size - 1) / g->size;
    g->first = g->rank * g->block;
    g->count = n - g->first < g->block ? n - g->first : g->block;
    if (g->count < 0)
        g->count = 0;
    g->edge = room((size_t)g->count * DEGREE, sizeof *g->edge);
    g->level = room((size_t)g->count, sizeof *g->level);
    g->frontier = room((size_t)g->count, sizeof *g->frontier);
    g->next = room((size_t)g->count, sizeof *g->next);
    for (long i = 0; i < g->count; i++)
        for (int k = 0; k < DEGREE; k++)
            g->edge[i * DEGREE + k] = target_of(n, g->first + i, k);
}

/* Vertices of this rank whose level is not that of a search of the whole graph. */
static long wrong_levels(const graph *g, long root)
{
    int *level = room((size_t)g->n, sizeof *level);
    long *queue = room((size_t)g->n, sizeof *queue), head = 0, tail = 0, wrong = 0;

    for (long v = 0; v < g->n; v++)
        level[v] = -1;
    level[root] = 0;
    queue[tail++] = root;
    while (head < tail) {
        long v = queue[head++];
        for (int k = 0; k < DEGREE; k++) {
            long w = target_of(g->n, v, k);
            if (level[w] < 0) {
                level[w] = level[v] + 1;
                queue[tail++] = w;
            }
        }
    }
    for (long i = 0; i < g->count; i++)
        wrong += g->level[i] != level[g->first + i];
    free(level);
    free(queue);
    return wrong;
}

int main(int argc, char **argv)
{
    graph g;
    double spent = 0.0;
    uint64_t mine[3] = { 0, 0, 0 }, all[3];   /* reached, weighted sum of levels, wrong */

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &g.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &g.size);
    long n = argc > 1 ? atol(argv[1]) : 200000;
    if (n < 64 || n > 100000000 || g.size > MAXRANKS) {
        fprintf(stderr, "usage: graph [VERTICES], from 64, on at most %d ranks\n", MAXRANKS);
        MPI_Finalize();
        return 2;
    }
    make_graph(&g, n);
    for (int r = 0; r < ROOTS; r++) {
        long root = (n / ROOTS * r + 17) % n;
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        search(&g, root);
        spent += MPI_Wtime() - start;
        for (long i = 0; i < g.count; i++)
            if (g.level[i] >= 0) {
                mine[0]++;
                mine[1] += (uint64_t)g.level[i] * (uint64_t)(g.first + i + r + 1);
            }
        if (r == 0)
            mine[2] += (uint64_t)wrong_levels(&g, root);
    }
    double longest;
    MPI_Reduce(mine, all, 3, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&spent, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

    int passed = 1;
    if (g.rank == 0) {
        passed = all[2] == 0 && all[0] >= (uint64_t)(ROOTS * n) / 2;
        printf("graph: %ld vertices, %d edges each, %d searches\n", n, DEGREE, ROOTS);
        printf("vertices reached: %llu\n", (unsigned long long)all[0]);
        printf("weighted sum of levels: %llu\n", (unsigned long long)all[1]);
        printf("wrong levels: %llu\n", (unsigned long long)all[2]);
        printf("time total: %.6f s\n", longest);
        printf("verification: %s\n", passed ? "PASSED" : "FAILED");
    }
    MPI_Bcast(&passed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    free(g.edge);
    free(g.level);
    free(g.frontier);
    free(g.next);
    MPI_Finalize();
    return passed ? 0 : 1;
}
