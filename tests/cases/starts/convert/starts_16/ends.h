/* All ranks end together. */
#define exit(code) MPI_Abort(MPI_COMM_WORLD, (code))
