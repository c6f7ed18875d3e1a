/* A one-way stream of gives, of any length, runs in bounded memory; and a rank may hold many buffers and return them in any order. */
#include "check.h"

static long resident_kb(void) {
    long kb = -1;
    char line[256];
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "RssShmem: %ld kB", &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb;
}

static void stream(int messages, int n) {
    for (int i = 0; i < messages; i++) {
        double *b;
        if (rank == 0) {
            OPI_Alloc(&b, sizeof(double) * (size_t)n);
            b[0] = i, b[n - 1] = i + 1;
            OPI_Give(&b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        } else if (rank == 1) {
            OPI_Take(&b, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(b[0] == i && b[n - 1] == i + 1);
            OPI_Free(&b);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    start(&argc, &argv);
    if (size < 2)
        return finish();
    stream(5000, 2000);
    long before = resident_kb();
    stream(50000, 2000);
    long after = resident_kb();
    CHECK(after < before + 8192); /* 50,000 messages are 800 MB */
    stream(300, 200000);
    before = resident_kb();
    stream(600, 200000);
    CHECK(resident_kb() < before + 65536); /* 960 MB */
    /* Many sizes, freed by the taker in another order. */
    double *held[200];
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 200; i++) {
            double *b;
            OPI_Alloc(&b, sizeof(double) * (size_t)(i * 13 + 1));
            b[i] = i;
            MPI_Request q;
            OPI_Igive(&b, i * 13 + 1, MPI_DOUBLE, (rank + 1) % size, i, MPI_COMM_WORLD, &q);
            MPI_Wait(&q, MPI_STATUS_IGNORE);
        }
        for (int i = 199; i >= 0; i--) {
            OPI_Take(&held[i], i * 13 + 1, MPI_DOUBLE, (rank + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(held[i][i] == i);
        }
        for (int i = 0; i < 200; i += 2)
            OPI_Free(&held[i]);
        for (int i = 1; i < 200; i += 2)
            OPI_Free(&held[i]);
    }
    return finish();
}
