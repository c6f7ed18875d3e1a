/* fork while the helper thread of the rank receives: what a child allocates is its own, and nobody else's. */
#include "../forms.h"

#include <sys/wait.h>
#include <unistd.h>

enum { TAKES = 64, BLOCK = 4096, BLOCKS = 400, FORKS = 4, LARGE = 3 << 20 };

static int by_address(const void *a, const void *b)
{
    const char *p = *(char *const *)a, *q = *(char *const *)b;
    return (p > q) - (p < q);
}

/* In the child: 0 when all blocks are apart from each other. */
static int allocates_well(void)
{
    static char *block[BLOCKS];

    for (int i = 0; i < BLOCKS; i++)
        if (OPI_Alloc(&block[i], BLOCK) != MPI_SUCCESS || block[i] == NULL)
            return 2;
        else
            fill(block[i], BLOCK, (unsigned)i);
    for (int i = 0; i < BLOCKS; i++)
        if (differs(block[i], BLOCK, (unsigned)i))
            return 3;
    qsort(block, BLOCKS, sizeof block[0], by_address);
    for (int i = 1; i < BLOCKS; i++)
        if (block[i] - block[i - 1] < BLOCK)
            return 4;
    for (int i = 0; i < BLOCKS; i++)
        OPI_Free(&block[i]);
    return 0;
}

static int all_zero(const char *block)
{
    for (size_t i = 0; i < LARGE; i++)
        if (block[i] != 0)
            return 0;
    return 1;
}

/* Large blocks that parent and child allocate after the fork: each has its own, at the same address perhaps. */
static void fork_large(void)
{
    char *before[3], *block, byte = 0;
    int there[2], back[2], status = -1;

    for (int i = 0; i < 3; i++)
        OPI_Alloc(&before[i], LARGE);
    CHECK(pipe(there) == 0 && pipe(back) == 0);
    pid_t child = fork();
    if (child == 0) {
        block = OPI_Calloc(LARGE, 1);
        int bad = block == NULL || !all_zero(block);
        if (!bad)
            fill(block, LARGE, 1);
        bad += write(back[1], &byte, 1) != 1 || read(there[0], &byte, 1) != 1;
        _exit(bad || differs(block, LARGE, 1));
    }
    CHECK(child > 0 && read(back[0], &byte, 1) == 1);
    block = OPI_Calloc(1, LARGE);
    CHECK(block != NULL && all_zero(block));
    fill(block, LARGE, 2);
    CHECK(write(there[1], &byte, 1) == 1);
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    OPI_Free(&block);
    for (int i = 0; i < 3; i++)
        OPI_Free(&before[i]);
    for (int i = 0; i < 2; i++) {
        close(there[i]);
        close(back[i]);
    }
}

static void fork_once(void)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0)
        _exit(allocates_well());
    CHECK(child > 0);
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(int argc, char **argv)
{
    static char *taken[TAKES];
    MPI_Request requests[TAKES];
    int rounds, peer;

    start(&argc, &argv);
    fork_large();
    rounds = argc > 1 ? atoi(argv[1]) : 20;
    peer = world_rank ^ 1;
    for (int round = 0; round < rounds; round++) {
        trying("round %d", round);
        if (world_rank == 0)
            for (int i = 0; i < TAKES; i++)
                OPI_Itake(&taken[i], BLOCK, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[i]);
        MPI_Barrier(MPI_COMM_WORLD);
        if (world_rank == 0) { /* what comes now is the helper's, which needs memory for it, and gets back what the peer has freed */
            for (int i = 0; i < FORKS; i++)
                fork_once();
            MPI_Waitall(TAKES, requests, MPI_STATUSES_IGNORE);
            for (int i = 0; i < TAKES; i++) {
                CHECK(differs(taken[i], 16, (unsigned)i) == 0);
                OPI_Give(&taken[i], BLOCK, MPI_BYTE, peer, 2, MPI_COMM_WORLD);
            }
        } else {
            char small[16];
            for (int i = 0; i < TAKES; i++) {
                fill(small, sizeof small, (unsigned)i);
                MPI_Ssend(small, sizeof small, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
            }
            for (int i = 0; i < TAKES; i++) {
                OPI_Take(&taken[i], BLOCK, MPI_BYTE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                CHECK(differs(taken[i], 16, (unsigned)i) == 0);
            }
            for (int i = 0; i < TAKES; i++)
                OPI_Free(&taken[i]);
        }
    }
    return finish("forking");
}
