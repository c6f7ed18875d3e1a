/* Wide characters: what is received is turned into wide text, compared and printed; no address is kept. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#define N 700

int main(int argc, char **argv)
{
    int rank;
    static wchar_t b[N], text[N], line[40];
    const char *word = "wide";
    mbstate_t state;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memset(&state, 0, sizeof state);
    size_t n = mbsrtowcs(text, &word, N, &state);
    if (n > N - 1)
        n = N - 1;
    for (int k = 0; k < 3; k++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                b[i] = i == N - 1 ? 0 : btowc('a' + k);
            MPI_Send(b, N * sizeof(wchar_t), MPI_BYTE, 1, 0, MPI_COMM_WORLD); //~ give(b)
        } else if (rank == 1) {
            MPI_Recv(b, N * sizeof(wchar_t), MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
            swprintf(line, 40, L"%d", wcscmp(b, text) < 0);
            printf("%d %d %d %d\n", k, (int)wcsnlen(b, N), (int)wcstol(line, NULL, 10), wmemcmp(b, text, N) < 0);
        }
    }
    printf("%d: %d\n", rank, (int)n);
    MPI_Finalize();
    return 0;
}
