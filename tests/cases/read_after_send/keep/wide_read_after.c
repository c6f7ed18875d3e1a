/* The text is turned into wide characters after the send: it is read there, through the address of a pointer. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#define N 700

int main(int argc, char **argv)
{
    int rank;
    static char b[N], in[N];
    static wchar_t text[N];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < 3; k++) {
        if (rank == 0) {
            const char *at;
            mbstate_t state;
            memset(&state, 0, sizeof state);
            memset(b, 'a' + k, N);
            b[N - 1] = 0;
            MPI_Send(b, N, MPI_CHAR, 1, 0, MPI_COMM_WORLD); //~ keep(b)
            at = b;
            int n = (int)mbsrtowcs(text, &at, N, &state);
            printf("%d %d\n", n, (int)text[5]);
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            printf("%d %d\n", in[0], in[N - 2]);
        }
    }
    MPI_Finalize();
    return 0;
}
