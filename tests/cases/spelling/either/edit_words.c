/* Sizes whose words mean something else where the buffer is allocated: macros that change, names that a scope hides; and
   arguments that the preprocessor would count as several. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define LENGTH 700
typedef double real;
enum { wide_bytes = 3, WIDE = 600 };

static double changing[LENGTH];
static real wide[WIDE];
static real typed[WIDE];
static int asked = 500;
static int rank;

#undef LENGTH
#define LENGTH 7

static void pass(double *got, int tag)
{
    if (rank == 1) {
        MPI_Recv(got, 800, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%d %g\n", tag, got[0] + got[450]);
    }
}

static void send_wide(int WIDE)
{
    if (rank != 0)
        return;
    for (int i = 0; i < 600; i++)
        wide[i] = WIDE + i;
    MPI_Send(wide, (int[]){1, 600}[1], MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
}

static void send_typed(int real)
{
    if (rank != 0)
        return;
    for (int i = 0; i < 600; i++)
        typed[i] = real + i;
    MPI_Send(typed, 600, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static double got[800];
    double *sized, *wide_again;
    int n = 500;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sized = malloc(n * sizeof(real));
    wide_again = malloc(asked * sizeof *wide_again);
    asked = 5;
    for (int turn = 0; turn < 2; turn++) {
        if (rank == 0) {
            for (int i = 0; i < 700; i++)
                changing[i] = turn + 0.5 * i;
            MPI_Send(changing, 700, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        }
        pass(got, 0);
        send_wide(turn);
        pass(got, 1);
        send_typed(turn);
        pass(got, 2);
        if (rank == 0) {
            int n = 3;
            for (int i = 0; i < 500; i++)
                sized[i] = turn + n + i;
            MPI_Send(sized, 500, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD);
        }
        pass(got, 3);
        if (rank == 0) {
            for (int i = 0; i < 500; i++)
                wide_again[i] = turn * i;
            MPI_Send(wide_again, 500, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD);
        }
        pass(got, 4);
    }
    free(sized);
    free(wide_again);
    printf("%d %d %d\n", (int)sizeof changing, (int)sizeof typed, wide_bytes + LENGTH);
    MPI_Finalize();
    return 0;
}
