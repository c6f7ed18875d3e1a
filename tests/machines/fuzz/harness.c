/*
 * Runs the programs of a batch one after the other inside one MPI job.
 *
 * Each program has a main of the name that programs.c lists; it calls fuzz_init and fuzz_finalize for MPI_Init and
 * MPI_Finalize (batch.ONCE): the job is initialised once.  Arguments: a prefix for output files, then the numbers of the programs
 * to run.  What rank R prints in program P goes to PREFIX.R.P; PREFIX.R.done gets a line "P code" when it has returned.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct {
    const char *name;
    int (*run)(int argc, char **argv);
} Program;

extern const Program fuzz_programs[];

int fuzz_init(int *argc, char ***argv);
int fuzz_finalize(void);
void oracle_reset(void) __attribute__((weak));

int fuzz_init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return MPI_SUCCESS;
}

int fuzz_finalize(void)
{
    fflush(stdout);
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char name[4096];
    snprintf(name, sizeof name, "%s.%d.done", argv[1], rank);
    FILE *done = fopen(name, "w");
    for (int i = 2; done && i < argc; i++) {
        const Program *program = &fuzz_programs[atoi(argv[i])];
        snprintf(name, sizeof name, "%s.%d.%s", argv[1], rank, program->name);
        if (!freopen(name, "w", stdout))
            return 3;
        if (oracle_reset)
            oracle_reset();
        char *arguments[] = {argv[0], NULL};
        int code = program->run(1, arguments);
        fflush(stdout);
        fprintf(done, "%s %d\n", program->name, code);
        fflush(done);
        PMPI_Barrier(MPI_COMM_WORLD);
    }
    return MPI_Finalize();
}
