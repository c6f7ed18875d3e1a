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
OPI_API_ int MPIX_Usleep(unsigned long long microseconds_);

/* How many ranks of MPI_COMM_WORLD share the caller's process; the lowest of them. */
OPI_API_ int MPIX_Get_collocated_size(int *size_);
OPI_API_ int MPIX_Get_collocated_startrank(int *rank_);

/* The ranks that members of one communicator have in another; MPI_UNDEFINED for those that are not in it. */
OPI_API_ int MPIX_Comm_translate_ranks(MPI_Comm from_, int n_, const int ranks_[], MPI_Comm to_, int translated_[]);

/* Other names for OPI_Give, OPI_Take, OPI_Igive, OPI_Itake. */
OPI_API_ int MPIX_Zsend(void *bufp_, int count_, MPI_Datatype type_, int dest_, int tag_, MPI_Comm comm_);
OPI_API_ int MPIX_Zrecv(void *bufp_, int count_, MPI_Datatype type_, int source_, int tag_, MPI_Comm comm_, MPI_Status *status_);
OPI_API_ int MPIX_Izsend(void *bufp_, int count_, MPI_Datatype type_, int dest_, int tag_, MPI_Comm comm_, MPI_Request *request_);
OPI_API_ int MPIX_Izrecv(void *bufp_, int count_, MPI_Datatype type_, int source_, int tag_, MPI_Comm comm_, MPI_Request *request_);

/* A program may define this: it is called once for each rank, before MPI_Init, and what it returns is run in the place of main; NULL stands for main. */
typedef int (*MPIX_Main)(int argc_, char **argv_);
OPI_API_ MPIX_Main MPIX_Main_of_rank(int argc_, char **argv_, int rank_, int size_) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#endif
