/* opix.h - extensions for ranks that share a process: programs linked by `opicc --ranks`, with threads as with fibers. */
#ifndef OPIX_H
#define OPIX_H

#include <mpi.h>

#include "opi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Lets the other ranks of the process run, then goes on. */
OPI_API_ int MPIX_Yield(void);

/* The same for at least `microseconds`. */
OPI_API_ int MPIX_Usleep(unsigned long long microseconds);

/* How many ranks of MPI_COMM_WORLD share the caller's process; the lowest of them. */
OPI_API_ int MPIX_Get_collocated_size(int *size);
OPI_API_ int MPIX_Get_collocated_startrank(int *rank);

/* The ranks that members of one communicator have in another; MPI_UNDEFINED for those that are not in it. */
OPI_API_ int MPIX_Comm_translate_ranks(MPI_Comm from, int n, const int ranks[], MPI_Comm to, int translated[]);

/* Other names for OPI_Give, OPI_Take, OPI_Igive, OPI_Itake. */
OPI_API_ int MPIX_Zsend(void *bufp, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
OPI_API_ int MPIX_Zrecv(void *bufp, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status);
OPI_API_ int MPIX_Izsend(void *bufp, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request);
OPI_API_ int MPIX_Izrecv(void *bufp, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request);

/* A program may define this: it is called once for each rank, before MPI_Init, and what it returns is run in the place of main; NULL stands for main. */
typedef int (*MPIX_Main)(int argc, char **argv);
OPI_API_ MPIX_Main MPIX_Main_of_rank(int argc, char **argv, int rank, int size) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#endif
