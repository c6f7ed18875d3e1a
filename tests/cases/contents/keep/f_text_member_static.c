/* The text in a record may come without its end: static memory has a zero. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 64

struct line {
    int number;
    char text[N];
};

static struct line in[2];

int main(int argc, char **argv)
{
    int rank;
    long sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        int n = 8 + 9 * t;
        if (rank == 0) {
            struct line out;
            out.number = n;
            memset(out.text, 97 + t, N);
            MPI_Send(&out, sizeof(int) + n, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(in, sizeof in, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in) OPI210
            sum += in[0].number + strlen(in[0].text);
        }
    }
    printf("%d %ld\n", rank, sum);
    MPI_Finalize();
    return 0;
}
