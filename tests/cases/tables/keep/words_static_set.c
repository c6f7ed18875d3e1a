/* A word of a static table of texts is the buffer itself, which is printed after the send. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 300

static const char *words[2] = {"even", "odd"};

static void say(const char *word, int rank)
{
    printf("%d: %s\n", rank, word);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    
    char *out = malloc(N), *in = malloc(N);
    MPI_Request rq;
    for (int i = 0; i < N; i++)
        out[i] = i < N - 1 ? 'a' + (i + rank) % 26 : '\0';
    words[1] = out;
    MPI_Irecv(in, N, MPI_CHAR, size - 1 - rank, 7, MPI_COMM_WORLD, &rq); //~ take(in)
    MPI_Send(out, N, MPI_CHAR, size - 1 - rank, 7, MPI_COMM_WORLD); //~ keep
    say(words[rank % 2], rank);
    MPI_Wait(&rq, MPI_STATUS_IGNORE);
    long s = 0;
    for (int i = 0; i < N; i++)
        s += in[i] * (i + 1);
    printf("%d %ld\n", rank, s);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
