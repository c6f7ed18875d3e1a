/* Sizes come from options, by pointers in a table; a format is made while the program runs. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
struct option {
    char name;
    int *value;
    const char *help;
};
int main(int argc, char **argv)
{
    int rank, n = 200, c;
    double total = 0;
    struct option *options = malloc(2 * sizeof *options);
    options[0].name = 'n'; options[0].value = &n; options[0].help = "elements";
    options[1].name = 'x'; options[1].value = &rank; options[1].help = "nothing";
    char format[32];
    MPI_Init(&argc, &argv);
    while ((c = getopt(argc, argv, "n:x:")) != -1)
        for (int i = 0; i < 2; i++)
            if (options[i].name == c)
                *options[i].value = atoi(optarg);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sprintf(format, "%%%ds %%s\n", 10);
    if (rank == 0)
        for (int i = 0; i < 2; i++)
            printf(format, "option", options[i].help);
    double *out = malloc(n * sizeof *out), *in = malloc(n * sizeof *in);
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                out[i] = i + t;
            MPI_Send(out, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            MPI_Recv(in, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < n; i++)
                total += in[i] * i;
        }
    }
    printf("%d %g\n", rank, total);
    free(options);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
