/*
 * memory.h - what the programs of the benchmark `memory` share. They are plain MPI programs, with variables of static storage
 * as programs have them; each does its work, and holds still where its memory is read.
 */
#ifndef MEMORY_H
#define MEMORY_H

#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int rank, size;

static void start(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* All ranks have done their work. Rank 0 makes the file that the first argument names; all go on when it is gone. They
 * sleep until then: many ranks on few cores that waited inside MPI would only be in each other's way. */
static int finish(int argc, char **argv, long wrong)
{
    long all = 0;

    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (argc > 1) {
        if (rank == 0) {
            FILE *file = fopen(argv[1], "w");
            if (!file) {
                perror(argv[1]);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
            fclose(file);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        while (access(argv[1], F_OK) == 0)
            nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    if (rank == 0)
        printf("memory wrong=%ld\n", all);
    MPI_Finalize();
    return all != 0;
}

#endif
