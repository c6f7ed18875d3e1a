/* Two functions send from one buffer, each what it has packed itself: the size of one message is added up where it is
 * packed. */
#include <mpi.h>
#include <stdio.h>

#define N 1024
#define FACES 4

static double u[N], v[N];
static double out[N], in[N], part[N];
static int begin[FACES], length[FACES];

static void add_face(int f, int size)
{
    length[f] = size;
}

static void send_all(void)
{
    for (int i = 0; i < N; i++)
        out[i] = u[i];
    MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(out)
}

static void send_faces(void)
{
    int at = 0;
    for (int f = 0; f < FACES; f++)
        for (int i = 0; i < length[f]; i++)
            out[at++] = 2 * u[begin[f] + i];
    MPI_Send(out, at, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD); //~ give(out)
}

int main(int argc, char **argv)
{
    int rank, total;
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int f = 0; f < FACES; f++) {
        begin[f] = f * 200;
        add_face(f, 100);
    }
    add_face(0, 150);
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < N; i++)
            u[i] = rank + 0.5 * i + turn;
        if (rank == 0) {
            send_all();
            send_faces();
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                v[i] += in[i];
            MPI_Recv(part, N, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD, &status); //~ take(part) no-stale-count
            MPI_Get_count(&status, MPI_DOUBLE, &total);
            for (int i = 0; i < total; i++)
                v[i] -= part[i];
        }
    }
    if (rank == 1) {
        double sum = 0.0;
        for (int i = 0; i < N; i++)
            sum += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, sum);
    }
    MPI_Finalize();
    return 0;
}
