/*
 * opbench: time of pack + exchange + unpack between two ranks, by message size.
 *
 * A nearest-neighbour stencil with one neighbour that stands for four. One iteration computes on the field once, then
 * four times packs the field into a communication buffer, exchanges it with the other rank and unpacks what came into
 * the ghost strip of that side. The next computation reads every ghost cell, and its result is checked at the end, so a
 * byte that was lost, stale or out of place in any exchange shows.
 *
 *   mpiexec -n 2 ./opbench [max_iterations [max_bytes]]
 *
 * One line per size, microseconds per pack + exchange + unpack, the mean of both ranks:
 *   opbench bytes=8 iterations=5000 median_us=0.512 mean_us=0.530 min_us=0.490
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MIN_BYTES 8
#define MAX_BYTES (4 << 20)
#define MAX_COUNT (MAX_BYTES / (int)sizeof(double))
#define SIDES 4
#define MAX_ITERATIONS 5000
#define MIN_ITERATIONS 20
#define WARM_UP 10
#define BYTES_PER_SIZE (256 << 20) /* fewer iterations for large messages: about this many bytes per size */

static double field[MAX_COUNT];
static double ghost[SIDES][MAX_COUNT];
static double sendbuf[MAX_COUNT];
static double recvbuf[MAX_COUNT];

static double start_value(int rank, int i)
{
    return (double)(i + 1) + 0.5 * rank;
}

/* The mean of the four ghosts plus one: the ranks swap fields each iteration and every cell grows by one. */
static void compute(int n)
{
    for (int i = 0; i < n; i++)
        field[i] = 0.25 * (ghost[0][i] + ghost[1][i] + ghost[2][i] + ghost[3][i]) + 1.0;
}

static void exchange(int n, int side, int peer)
{
    MPI_Request request[2];

    MPI_Irecv(recvbuf, n, MPI_DOUBLE, peer, side, MPI_COMM_WORLD, &request[0]);
    for (int i = 0; i < n; i++)
        sendbuf[i] = field[i];
    MPI_Isend(sendbuf, n, MPI_DOUBLE, peer, side, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        ghost[side][i] = recvbuf[i];
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int iterations_for(int bytes, int most)
{
    long fit = (long)BYTES_PER_SIZE / (SIDES * (long)bytes);
    if (fit > most)
        fit = most;
    return fit < MIN_ITERATIONS ? MIN_ITERATIONS : (int)fit;
}

/* Returns the number of wrong cells on this rank. */
static int run_size(int n, int iterations, int rank, double *samples)
{
    int peer = 1 - rank;
    int steps = WARM_UP + iterations;

    for (int i = 0; i < n; i++)
        for (int side = 0; side < SIDES; side++)
            ghost[side][i] = start_value(peer, i);

    for (int step = 0; step < steps; step++) {
        compute(n);
        double t0 = MPI_Wtime();
        for (int side = 0; side < SIDES; side++)
            exchange(n, side, peer);
        double t1 = MPI_Wtime();
        if (step >= WARM_UP)
            samples[step - WARM_UP] = (t1 - t0) / SIDES;
    }

    int wrong = 0;
    int from = steps % 2 == 0 ? peer : rank;
    for (int i = 0; i < n; i++)
        for (int side = 0; side < SIDES; side++)
            if (ghost[side][i] != start_value(from, i) + steps)
                wrong++;
    return wrong;
}

static void print_size(int bytes, int iterations, double *samples, int rank)
{
    double mine[3] = {0, 0, 0}, both[3];

    for (int i = 0; i < iterations; i++)
        mine[1] += samples[i] / iterations;
    qsort(samples, (size_t)iterations, sizeof samples[0], by_value);
    mine[0] = samples[iterations / 2];
    mine[2] = samples[0];
    MPI_Reduce(mine, both, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("opbench bytes=%d iterations=%d median_us=%.4f mean_us=%.4f min_us=%.4f\n", bytes, iterations,
               0.5e6 * both[0], 0.5e6 * both[1], 0.5e6 * both[2]);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    static double samples[MAX_ITERATIONS];
    int rank, size, wrong = 0, all_wrong = 0;
    int most = MAX_ITERATIONS, max_bytes = MAX_BYTES;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1)
        most = atoi(argv[1]);
    if (argc > 2)
        max_bytes = atoi(argv[2]);
    if (size != 2 || most < 1 || most > MAX_ITERATIONS || max_bytes < MIN_BYTES || max_bytes > MAX_BYTES) {
        if (rank == 0)
            fprintf(stderr, "usage: mpiexec -n 2 opbench [iterations, 1 to %d [bytes, %d to %d]]\n", MAX_ITERATIONS,
                    MIN_BYTES, MAX_BYTES);
        MPI_Finalize();
        return 2;
    }

    for (int bytes = MIN_BYTES; bytes <= max_bytes; bytes *= 2) {
        int iterations = iterations_for(bytes, most);
        wrong += run_size(bytes / (int)sizeof(double), iterations, rank, samples);
        print_size(bytes, iterations, samples, rank);
    }

    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("opbench wrong=%d\n", all_wrong);
    MPI_Finalize();
    return rank == 0 && all_wrong != 0;
}
