/* A pointer to a function beside a function of our own with `...`: the buffer is read after the send through its va_list. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], rbuf[N];

static double twice(double x)
{
    return x + x;
}

static double square(double x)
{
    return x * x;
}

static char text[64];

static void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
}

int main(int argc, char **argv)
{
    int rank;
    double (*f)(double) = argc > 3 ? square : twice;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = f(u[i]);
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(sbuf) OPI103
        say("%.5s", (char *)sbuf);
        printf("%s\n", text[0] ? "read" : "empty");
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
        for (int i = 0; i < N; i++)
            v[i] = rbuf[i];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        say("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
